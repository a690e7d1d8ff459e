'''Every piece of Python's syntax, as a small program that is differentiated, or refused.

`python -m tests.syntax_corpus` writes docs/syntax.md from this table; `tests/test_syntax.py` runs it, and fails if the
running Python has a kind of syntax that no entry shows. An entry that is no longer refused loses its `refused=` line.
'''

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from microgradpy.errors import DifferentiationError, SourceNotFoundError, UnsupportedSyntaxError

COMMAND = "python -m tests.syntax_corpus"
PAGE = Path(__file__).parent.parent / "docs" / "syntax.md"


@dataclass(frozen=True)
class Refused:
    """The error, the reason as the page gives it, and words of the message."""

    error: type[DifferentiationError]
    reason: str
    words: str


@dataclass(frozen=True)
class Entry:
    """A program whose function `f` shows some kinds of syntax: names of classes in `ast`."""

    id: str
    title: str
    shows: tuple[str, ...]
    text: str
    args: tuple[Any, ...]
    refused: Refused | None
    since: tuple[int, int]

    def __str__(self) -> str:
        return self.id


SECTIONS: dict[str, list[Entry]] = {}


def section(title: str) -> None:
    SECTIONS[title] = []


def entry(
    id: str,
    title: str,
    shows: str,
    text: str,
    *args: Any,
    refused: Refused | None = None,
    since: tuple[int, int] = (3, 11),
) -> None:
    """Enter a program into the section begun last; without arguments it is tried at 2.0."""
    kinds = tuple(shows.split())
    last = next(reversed(SECTIONS.values()))
    last.append(Entry(id, title, kinds, text.lstrip("\n"), args or (2.0,), refused, since))


def entries() -> list[Entry]:
    return [entry for rows in SECTIONS.values() for entry in rows]


ASYNC = Refused(UnsupportedSyntaxError, "a coroutine only starts when somebody awaits it", "async await outside")
STAR = Refused(UnsupportedSyntaxError, "several handlers may run", "`except*` one by one")


# Statements -----------------------------------------------------------------------------------------------------------

section("Statements")

entry("expression", "expression statement, docstring, `pass`", "Expr Pass Constant", '''
def f(x):
    """A docstring."""
    pass
    x * 5.0
    return x * x
''')

entry("return", "`return` with and without a value, at any depth", "Return", '''
def helper(x):
    if x < 0.0:
        return

def f(x):
    helper(x)
    for i in range(3):
        if i > 1:
            return x**i
    return
''')

entry("assign", "assignment to names: chained, unpacked, starred, nested", "Assign Tuple List Starred Store", '''
def f(x):
    a = b = x * x
    c, (d, *e), [g] = a, (b, x, 3.0), [x]
    return a * b * c * d * e[0] * e[1] * g
''')

entry("annotated", "annotated assignment, with and without a value", "AnnAssign", '''
def f(x):
    y: float
    y: float = x * x
    (z): int = 3
    return y * z
''')

entry("augmented", "augmented assignment to a name", "AugAssign", '''
def f(x):
    y = 3.0
    y += x
    y *= y
    y -= x ** 2
    y /= x
    y **= 2
    return y
''')

entry("item write", "assignment to an item", "Assign Subscript", '''
def f(x):
    values = [x, 1.0]
    values[1] = x * x
    return values[1] * x
''')

entry("attribute write", "assignment to an attribute", "Assign Attribute", '''
class Box:
    value = 0.0

def f(x):
    box = Box()
    box.value = x * x
    return box.value
''')

entry("augmented item", "augmented assignment to an item or attribute", "AugAssign Subscript", '''
def f(x):
    values = [x, 1.0]
    values[1] += x * x
    return values[1] * x
''')

entry("delete name", "`del` of names", "Delete Del", '''
def f(x):
    y = x * x
    z = y * x
    del y, (x,)
    return z
''')

entry("delete item", "`del` of items and attributes", "Delete", '''
def f(x):
    values = [x, 1.0]
    del values[1]
    return values[0] * x
''')

entry("if", "`if`, `elif`, `else`", "If", '''
def f(x):
    if x < 0.0:
        y = -x
    elif x < 3.0:
        y = x * x
    else:
        y = x
    return y
''')

entry("for", "`for` with `break`, `continue` and `else`", "For Break Continue", '''
def f(x):
    y = x
    for i, k in enumerate([1.0, 2.0, 3.0, 4.0]):
        if i == 1:
            continue
        if i == 3:
            break
        y = y * x * k
    else:
        y = 0.0
    for a, *b in [(x, y, 1.0)]:
        y = a * b[0]
    else:
        y = y * 2.0
    return y
''')

entry("while", "`while` with `else`", "While", '''
def f(x):
    n = 0
    while x < 50.0:
        x = x * x
        n += 1
    else:
        x = x * n
    return x
''')

entry("assert", "`assert`, with a message", "Assert", '''
def f(x):
    assert x > 0.0
    assert x < 5.0, f"{x} is too large"
    return x * x
''')

entry("raise", "`raise`, with a cause", "Raise", '''
def f(x):
    if x < 0.0:
        raise ValueError(x)
    if x > 5.0:
        raise ValueError from KeyError(x)
    return x * x
''')

entry("import", "`import` inside a function", "Import alias", '''
def f(x):
    import math
    import os.path as paths
    assert paths.join("a", "b")
    return math.sin(x)
''')

entry("from import", "`from ... import` inside a function", "ImportFrom alias", '''
def f(x):
    from math import pi, sin as sine
    return sine(x) * pi
''')

entry("function", "nested functions, with defaults and decorators", "FunctionDef arguments arg", '''
def twice(g):
    return lambda y: 2.0 * g(y)

def f(x):
    def inner(y, k=3.0):
        return y * x * k
    @twice
    def decorated(y):
        return y * x
    return inner(x) * decorated(x)
''')

entry("recursion", "nested functions that call themselves and each other", "FunctionDef", '''
def f(x):
    def even(n):
        return 1.0 if n == 0 else odd(n - 1) * x
    def odd(n):
        return x if n == 0 else even(n - 1) * x
    def power(n):
        return x * power(n - 1) if n else 1.0
    return even(3) + odd(2) * power(3)
''')

entry("class", "a class inside a function whose methods use nothing active", "ClassDef", '''
def f(x):
    class Scale:
        factor = 3.0
        def of(self, y):
            return self.factor * y * y
    return Scale().of(x)
''')

entry("class over active values", "a class inside a function whose body does arithmetic with active values", "ClassDef", '''
def f(x):
    class Scale:
        factor = 2.0 * x
    return Scale.factor * x
''')

entry("class by active values", "a class inside a function whose body reads active values otherwise", "ClassDef", '''
def f(x):
    class Scale:
        factor = abs(x)
    return Scale.factor * x
''', refused=Refused(UnsupportedSyntaxError, "Python runs the body", "class Scale differentiated outside"))

entry("global", "`global` with an assignment", "Global", '''
rate = 3.0

def f(x):
    global rate
    rate = 2.0 * x
    return x * rate
''')

entry("nonlocal", "`nonlocal` with an assignment", "Nonlocal", '''
def f(x):
    total = 0.0
    def add(y):
        nonlocal total
        total = total + y
    add(x * x)
    return total
''')

entry("rebound capture", "a closure over a variable that gets a new value", "FunctionDef", '''
def f(x):
    def g():
        return x
    x = x * 3.0
    return g()
''')

entry("try", "`try` with `except`, `else`, `finally`", "Try ExceptHandler", '''
def f(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError as error:
        y = 0.0
    else:
        y = y * x * x
    finally:
        pass
    return y
''')

entry("try star", "`try` with `except*`", "TryStar ExceptHandler", '''
def f(x):
    try:
        y = x * x
    except* ValueError:
        y = 0.0
    return y
''', refused=STAR)

entry("with", "`with`", "With withitem", '''
from contextlib import nullcontext

def f(x):
    with nullcontext(x) as y, nullcontext():
        return y * x
''')

entry("async function", "`async def`, `await`, `async for`, `async with`", "AsyncFunctionDef Await AsyncFor AsyncWith", '''
async def f(x):
    async with x as a:
        async for b in a:
            await b
    return x
''', refused=ASYNC)

entry("type alias", "`type` inside a function", "TypeAlias", '''
def f(x):
    type Number = float | Other
    Other = int
    assert Number.__name__ == "Number"
    return x * x
''', since=(3, 12))


# Expressions ----------------------------------------------------------------------------------------------------------

section("Expressions")

entry("constants", "constants: numbers, strings, bytes, `None`, `...`", "Constant Name Load", '''
def f(x):
    a = (1, 2.5, 2j, "s", b"b", None, True, ...)
    return x * a[1] * (a[2] * x).imag
''')

entry("conditional", "conditional expression", "IfExp", '''
def f(x):
    return x * x if x > 1.0 else x
''')

entry("walrus", "`:=`, in conditions and comprehensions too", "NamedExpr", '''
def f(x):
    if (y := x * x) > 1.0:
        x = y * x
    while (x := x / 2.0) > 0.7:
        pass
    values = [(last := x * k) for k in range(4)]
    return y * x * last + values[2]
''')

entry("lambda", "`lambda`, several in a line", "Lambda", '''
def f(x):
    g, h = (lambda a: a * x), (lambda a, k=2.0: a + k * x)
    return g(x) * h(x)
''')

entry("attribute", "reading attributes", "Attribute", '''
def f(z):
    return z.real * z.imag
''', 1.0 + 2.0j)

entry("subscript", "reading items and slices", "Subscript Slice", '''
import numpy as np

def f(x):
    return np.sum(x[0] * x[1:3] * x[-1:0:-1][0]) + x[..., None][2, 0] * x[(0, *[],)]
''', np.array([1.0, 2.0, 3.0, 4.0]))

entry("displays", "tuple, list, set and dict displays, with stars", "Tuple List Set Dict Starred", '''
def f(x):
    a = (x, *[x * x, 3.0])
    b = [*a, *(x,)]
    c = {1, *{2, 3}}
    d = {"p": x, **{"q": x * x}}
    return a[1] * b[3] * len(c) * d["q"]
''')

entry("set of active values", "a set of active values", "Set", '''
def f(x):
    return sum({x, x * x})
''', refused=Refused(UnsupportedSyntaxError, "which of two equal items stays is arbitrary", "set list tuple"))

entry("list comprehension", "list comprehension, nested, with conditions", "ListComp comprehension", '''
def f(x):
    rows = [[x * i * j for j in range(3) if j] for i in range(4) if i > 1 if i < 3]
    return sum([y for row in rows for y in row])
''')

entry("set comprehension", "set comprehension", "SetComp", '''
def f(x):
    return x ** len({k % 3 for k in range(9)})
''')

entry("dict comprehension", "dict comprehension", "DictComp", '''
def f(x):
    powers = {k: x**k for k in range(4)}
    return powers[3] * powers[2]
''')

entry("generator expression", "generator expression that a builtin consumes at once", "GeneratorExp", '''
def f(x):
    return sum(x * k for k in range(4)) + max(x / k for k in (1.0, 2.0)) if any(k > x for k in range(9)) else x
''')

entry("lazy generator", "generator expression that is kept", "GeneratorExp", '''
def f(x):
    items = (x * k for k in range(4))
    return sum(items) * x
''')

entry("yield", "`yield`, as a statement and as an expression", "Yield", '''
def products(x):
    y = x
    while y < 9.0:
        factor = yield y
        y = y * (x if factor is None else factor)

def f(x):
    items = products(x)
    return next(items) * items.send(x * x) + sum(items) if x > 1.0 else x
''')

entry("yield from", "`yield from`", "YieldFrom", '''
def items(x):
    yield from [x, x]
    return x * x

def both(x):
    y = yield from items(x)
    yield y

def f(x):
    return sum(both(x)) * x
''')

entry("call", "calls with stars and keywords", "Call keyword Starred", '''
def g(a, b, *c, k, **d):
    return a * b * c[0] * k * d["m"]

def f(x):
    args, options = (x, 3.0), {"m": x}
    return g(x, *args, k=x, **options)
''')

entry("f-string", "f-strings with conversions and nested specifications", "JoinedStr FormattedValue", '''
def f(x):
    width = 8
    text = f"{x!r:>{width}.3}{x:{width}.2f}{width=}"
    return x * len(text)
''')

entry("boolean operators", "`and`, `or`, `not`", "BoolOp And Or UnaryOp Not", '''
def f(x):
    y = x and x * x or 0.0
    return y if not x < 0.0 else x
''')

entry("unary operators", "`-`, `+`, `~`", "UnaryOp USub UAdd Invert", '''
def f(x):
    return -x * +x * ~2
''')

entry("arithmetic", "arithmetic operators", "BinOp Add Sub Mult Div FloorDiv Mod Pow", '''
def f(x):
    return (x + 1.0) * (x - 3.0) / x + x // 0.7 + x % 0.7 + x**3
''')

entry("matrix product", "`@`", "BinOp MatMult", '''
def f(x):
    return x @ x
''', np.array([1.0, 2.0, 3.0]))

entry("bit operators", "`<<`, `>>`, `&`, `|`, `^` on whole numbers", "BinOp LShift RShift BitAnd BitOr BitXor", '''
def f(x):
    return x * ((3 << 2) + (9 >> 1) + (6 & 3) + (6 | 3) + (6 ^ 3))
''')

entry("comparisons", "comparisons, chained", "Compare Lt LtE Gt GtE Eq NotEq", '''
def f(x):
    return x * x if 0.0 < x <= 5.0 != x >= 1.0 > -1.0 == -1.0 else x
''')

entry("identity and membership", "`is`, `is not`, `in`, `not in`", "Compare Is IsNot In NotIn", '''
def f(x):
    y = None
    return x * x if y is None is not x and 1 in [1, 2] and 3 not in [1, 2] else x
''')

# Patterns -------------------------------------------------------------------------------------------------------------

section("Patterns of `match`")

entry("match value", "values, guards, wildcard", "Match match_case MatchValue MatchAs", '''
def f(x):
    match 3:
        case 1:
            y = x
        case 3 if x > 5.0:
            y = x * 2.0
        case n if n == 3:
            y = x * x * n
        case _:
            y = 0.0
    return y
''')

entry("match singleton", "`None`, `True`, `False`", "MatchSingleton", '''
def f(x):
    match None:
        case True | False:
            return x
        case None:
            return x * x
''')

entry("match sequence", "sequences, with a star", "MatchSequence MatchStar", '''
def f(x):
    match [x, (x * x, 3.0), 1.0, 2.0]:
        case [a, (b, 3.0), *rest]:
            return a * b * rest[1]
''')

entry("match mapping", "mappings, with the rest", "MatchMapping", '''
def f(x):
    match {"kind": "square", "side": x, "scale": x * x}:
        case {"kind": "square", "side": side, **rest}:
            return side * rest["scale"]
''')

entry("match class", "classes, by position and by keyword", "MatchClass", '''
from collections import namedtuple

Point = namedtuple("Point", "x y")

def f(z):
    match z:
        case float():
            return z
        case complex(real=a, imag=b):
            point = Point(a * b, b)
    match point:
        case Point(0.0, y):
            return y
        case Point(x, y=float(y)):
            return x * x * y
''', 1.0 + 2.0j)

entry("match or", "alternatives, and names for parts of the subject", "MatchOr MatchAs", '''
def f(x):
    match (x, x * x):
        case [a] | (a, 1.0) | [_, float() as a]:
            return a * x
''')


# Functions ------------------------------------------------------------------------------------------------------------

section("Parameters and methods")

entry("parameters", "positional-only, keyword-only, `*args`, `**kwargs`, defaults", "arguments arg", '''
def g(a, /, b, c=2.0, *args, k, m=3.0, **options):
    return a * b * c * args[0] * k * m * options["n"]

def f(x, y=3.0, *rest):
    return g(x, y, x, rest[0], k=x, n=y)
''', 2.0, 3.0, 4.0)

entry("super", "`super()`, private names, `__class__`", "Call Attribute", '''
class Base:
    def __init__(self):
        self.__rate = 3.0
    def of(self, x):
        return x * self.__rate

class Derived(Base):
    def of(self, x):
        return super().of(x) * x + len(__class__.__name__) * x

def f(x):
    return Derived().of(x)
''')

entry("type parameters", "type parameters of functions", "TypeVar TypeVarTuple ParamSpec", '''
def g[T, *Ts, **P](x: T) -> T:
    return x * x

def f(x):
    def h[S](y: S):
        assert S.__name__ == "S"
        return y * x
    return g(x) * h(x)
''', since=(3, 12))

entry("type parameter defaults", "defaults of type parameters", "TypeVar", '''
def g[T = int](x: T) -> T:
    return x * x

def f(x):
    return g(x) * x
''', since=(3, 13))

entry("generic class", "a generic class inside a function", "ClassDef TypeVar", '''
def f(x):
    class Box[T]:
        pass
    return x * x
''', since=(3, 12), refused=Refused(UnsupportedSyntaxError, "its parameters are a scope of their own", "generic class top"))

entry("no text", "a function without text (`exec`, `eval`)", "Call", '''
space = {}
exec("def made(x): return x * x", space)
f = space["made"]
''', refused=Refused(SourceNotFoundError, "there is nothing to read", "no source text made file"))


# The page -------------------------------------------------------------------------------------------------------------

HEAD = """# Syntax

What is differentiated of Python's syntax, from 3.11 to 3.13, and what is refused. Each row is a program in
[tests/syntax_corpus.py](../tests/syntax_corpus.py), found by its name there, whose gradient or refusal is checked by
`tests/test_syntax.py`; a kind of syntax that no row shows fails that test. The page is written by
`python -m tests.syntax_corpus`.

A refusal fires when it is reached with data that is differentiated. [Limits](limits.md) says what to do instead.
"""


def page() -> str:
    """The text of docs/syntax.md."""
    parts = [HEAD]
    for title, rows in SECTIONS.items():
        lines = ["| syntax | classes of `ast` | differentiated | program |", "|---|---|---|---|"]
        for row in rows:
            version = "" if row.since == (3, 11) else f" ({row.since[0]}.{row.since[1]})"
            status = "yes" if row.refused is None else f"`{row.refused.error.__name__}`: {row.refused.reason}"
            kinds = ", ".join(f"`{kind}`" for kind in row.shows)
            cells = (row.title + version, kinds, status, row.id)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
