"""The intermediate representation: structured SSA as plain frozen data.

A function is a tree of regions. A region is a sequence of statements that ends in one terminator; `If`, `While`, `For`
and `Try` hold regions. A variable is assigned exactly once, and is visible in the rest of its region and in the regions
nested there. Values leave a region only through terminators:

- `Yield` ends an arm of an `If`, the body or a handler of a `Try` (one value per result of the statement) or the condition
  of a `While` (exactly one value);
- `Continue` and `Break` go to the innermost loop and carry one value per loop parameter (the *loop state*);
- `Return` and `Raise` leave the function from any depth;
- `Unreachable` ends a region whose last statement never falls through.

Loop state: on entry `parameters[k]` is `initial[k]`; `Continue` gives the next iteration's; when the condition of a
`While` is false or the items of a `For` are exhausted, `results[k]` is the current `parameters[k]`; `Break` gives
`results[k]` its own k-th value. The condition of a `While` sees the parameters. What is defined inside a loop body or
an arm is not visible after it, except through results.

An exception may leave the body of a `Try` anywhere. What the handlers see of the body is what the last `MARK` before the
exception says: it carries one value per parameter of the `Try`. So the edges from a body to its handlers are the marks,
and they are as explicit as those of a loop. A body starts with a mark.

The same IR holds the user's function, its primal and its adjoint.
"""

from __future__ import annotations

import enum
import itertools
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, final

from microgradpy.dataclasses import field, nodeclass
from microgradpy.ir.kinds import Kind

_ids = itertools.count(1)


@final
@nodeclass(frozen=True, slots=True)
class Location:
    """A place in the user's source. `line` counts from 1, columns from 0, in bytes of UTF-8 as in syntax trees; `text` is
    the statement's first line, stripped (it becomes the comment over the adjoint of that statement); `source` is the line
    itself. Prints as a traceback shows a place, with carets under the construct:

        model.py:7, in loss
            return np.unwrap(x) * k
                   ^^^^^^^^^^^^
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    text: str = ""
    source: str = ""
    called_at: Location | None = None
    """The call in the place of which an operation of another file was written."""

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}" + (f", in {self.function}" if self.function else "")
        if not self.source.strip():
            return f"{head}\n    {self.text}" if self.text else head
        encoded = self.source.rstrip().encode()
        # A construct of several lines is underlined to the end of its first.
        end = self.end_column if self.end_line == self.line else len(encoded)
        before, marked = (encoded[a:b].decode() for a, b in ((0, self.column), (self.column, end)))
        text = encoded.decode()
        indent = len(text) - len(text.lstrip())
        return f"{head}\n    {text.strip()}\n    {' ' * (len(before) - indent)}{'^' * max(1, len(marked.rstrip()))}"


NOWHERE = Location("<microgradpy>", 0)


@final
@nodeclass(frozen=True, slots=True, eq=False)
class Var(float):
    """An SSA variable. Equality and hash are by `id`; `hint` is the name it would like to have in emitted source;
    `user_named` says that the user's program gives this value that name, so emission keeps the assignment."""

    # Passes over long functions ask for its hash by the million: it is that of a number, which no function of Python's gives.
    # (An int would be one, but has no slots.)

    id: int
    hint: str = ""
    user_named: bool = False

    def __new__(cls, id: int, hint: str = "", user_named: bool = False) -> Var:
        return float.__new__(cls, id)

    def __bool__(self) -> bool:
        return True


def fresh(hint: str = "", user_named: bool = False) -> Var:
    """A variable that exists nowhere else."""
    return Var(next(_ids), hint, user_named)


_LITERALS = (str, int, float, complex, bytes)


@final
@nodeclass(frozen=True, slots=True, eq=False)
class Const:
    """A value known when the IR is made. `path` is the text it is written as (`np.sin`), and `root` the object bound to
    the path's first name (the module `np`); both are empty for literals, which are None, bool, int, float, complex,
    str, bytes, Ellipsis. Two constants are equal if they have the same type and are the same literal or object."""

    value: Any
    path: str = ""
    root: Any = None

    def __eq__(self, other: object) -> bool:
        if type(other) is not Const:
            return False
        value, given = self.value, other.value
        if value is given:
            return True
        return type(value) is type(given) and isinstance(value, _LITERALS) and repr(value) == repr(given)

    def __hash__(self) -> int:
        value = self.value
        if not isinstance(value, _LITERALS):
            return id(value)
        return hash(value) if value == value else 0  # NaN is equal to NaN here


def operator_constant(name: str) -> Const:
    """The constant `operator.<name>`."""
    return Const(getattr(operator, name), f"operator.{name}", operator)


def function_constant(function: Callable[..., Any]) -> Const:
    """The constant for a builtin or a function of this package, which generated code calls by its own name."""
    return Const(function, function.__name__, function)


@final
class Undefined(enum.Enum):
    """The value of a variable that is not assigned on this path; emitted as no assignment at all."""

    UNDEFINED = "undefined"
    __hash__ = object.__hash__  # no function of Python's, as sets of values are made by the thousand


UNDEFINED = Undefined.UNDEFINED


class Form(enum.Enum):
    """How the text of a call is written, as its payload."""

    STATEMENT = "statement"  # operator.setitem(x, i, y) as `x[i] = y`, which evaluates y first


STATEMENT = Form.STATEMENT


@final
@nodeclass(frozen=True, slots=True)
class Augmented:
    """As the payload of `operator.setitem(x, i, y)`: `x[i] += y`, by the operator of this sign."""

    sign: str


class SelfReference(enum.Enum):
    """As a constant among the captured values of a `CLOSURE`: the function that is being made."""

    SELF = "self"


SELF = SelfReference.SELF


@final
class Unassigned:
    """What stands for the value of a variable that has none."""

    def __repr__(self) -> str:
        return "<unassigned>"


UNASSIGNED = Unassigned()

RAISED = "raised"
"""The payload of the call that makes an exception where it is raised."""
KEYS_CHECKED = "keys checked"
"""The payload of the call that makes a dict of pairs whose keys have been looked at."""
FROM_FRONT = "from front"
"""The payload of a `STORE` whose index says the same place however long the list becomes."""
KEPT = "kept"
"""The payload of a call that the compiler makes for its effect, so that it is not removed though nobody reads its value."""
Value = Var | Const | Undefined


class Opcode(enum.Enum):
    """Operations that are not calls of a Python callable."""

    TUPLE = "tuple"  # (*items)                 -> a tuple
    LIST = "list"  # (*items)                 -> a new list
    DICT = "dict"  # (k1, v1, k2, v2, ...)    -> a new dict
    SET = "set"  # (*items)                 -> a new set
    UNPACK = "unpack"  # (iterable,)              -> n results, as `a, b = iterable`
    JOIN = "join"  # (*strings)               -> an f-string's parts, already formatted, joined
    APPEND = "append"  # (list, item)             -> the same list, item added (only lists the compiler made)
    APPLY = "apply"  # (callee, args, kwargs)   -> callee(*args, **kwargs); args a tuple, kwargs a dict
    STORE = "store"  # (list, *indices, item)   -> the same list, with another item there; added to it with `Augmented`.
    #                With several indices, there is an item of an item.
    CLOSURE = "closure"  # (*captured values)       -> a function made of `payload`, an ir.Function, over its captured
    SUSPEND = "suspend"  # (value,), payload: whether code runs if it is left -> what is sent in; a generator yields the value
    GLOBAL = "global"  # ()                       -> the module variable named by `payload`, read when executed; with an
    #                argument, that of another module
    # made by instrumenting nothing yet: operators, attributes and items before `instrument`
    INFIX = "infix"  # (x, y), payload "+" ...   "not", "-x", "+x", "~x" have one argument
    GETATTR = "getattr"  # (x,), payload the name
    GETITEM = "getitem"  # (x, index)
    # made by the derivative transforms
    TAPE = "tape"  # ()                       -> an empty tape (a list)
    MARK = "mark"  # (*values), payload the scope of a Try -> no result; what its handlers see if an exception comes now.
    #                `UNDEFINED` among the values leaves a parameter as it is
    RECORD = "record"  # (tape, *fields)          -> no result; appends the fields (one: bare, several: a tuple)
    __hash__ = object.__hash__


CHANGING = (Opcode.APPEND, Opcode.STORE)
"""Operations whose result is their first argument, changed."""


@final
@nodeclass(frozen=True, slots=True)
class Op:
    """results = callee(*arguments, **keywords). A callee is an `Opcode`, or the value of a Python callable.
    An operation on a Python callable has exactly one result. `from_user` marks the user's own operations: they may
    raise, print or write, and are neither removed nor reordered against each other."""

    callee: Opcode | Value
    arguments: tuple[Value, ...]
    results: tuple[Var, ...]
    keywords: tuple[tuple[str, Value], ...] = ()
    payload: Any = None
    from_user: bool = True
    where: Location = field(default=NOWHERE, compare=False)

    @property
    def result(self) -> Var:
        (result,) = self.results
        return result


@final
@nodeclass(frozen=True, slots=True)
class If:
    """Runs one of two arms. `results` are what the arm taken yields; an arm that leaves the loop or function yields
    nothing."""

    condition: Value
    then: Region
    orelse: Region
    results: tuple[Var, ...]
    where: Location = field(default=NOWHERE, compare=False)


@final
@nodeclass(frozen=True, slots=True)
class While:
    """Repeats `body` while `condition` (a region that yields one value) is true."""

    condition: Region
    body: Region
    parameters: tuple[Var, ...]
    initial: tuple[Value, ...]
    results: tuple[Var, ...]
    where: Location = field(default=NOWHERE, compare=False)


@final
@nodeclass(frozen=True, slots=True)
class For:
    """Runs `body` once for each of `items`, which bind their own variables."""

    items: Items
    body: Region
    parameters: tuple[Var, ...]
    initial: tuple[Value, ...]
    results: tuple[Var, ...]
    where: Location = field(default=NOWHERE, compare=False)


@final
@nodeclass(frozen=True, slots=True)
class Handler:
    """`except types as exception: body`; without `types` it catches everything."""

    types: tuple[Value, ...] | None
    exception: Var | None
    body: Region


@final
@nodeclass(frozen=True, slots=True)
class Try:
    """Runs `body`; an exception that is raised in it goes to the first of `handlers` that catches it, which sees in
    `parameters` the values of the last `MARK` of this `scope`. `results` are what the body or the handler yields. The scope
    is a label: no value is ever bound to it."""

    body: Region
    handlers: tuple[Handler, ...]
    scope: Var
    parameters: tuple[Var, ...]
    results: tuple[Var, ...]
    where: Location = field(default=NOWHERE, compare=False)


# What a `For` runs over: a tree that says both the iterable and the variables its items are bound to.


@final
@nodeclass(frozen=True, slots=True)
class Each:
    """`for item in source`"""

    source: Value
    item: Var


@final
@nodeclass(frozen=True, slots=True)
class Range:
    """`for item in range(*arguments)`"""

    arguments: tuple[Value, ...]
    item: Var


@final
@nodeclass(frozen=True, slots=True)
class Enumerate:
    """`for index, <inner> in enumerate(<inner>, start)`"""

    inner: Items
    start: Value
    index: Var


@final
@nodeclass(frozen=True, slots=True)
class Zip:
    """`for (<a>, <b>) in zip(<a>, <b>, strict=strict)`"""

    inners: tuple[Items, ...]
    strict: bool = False


@final
@nodeclass(frozen=True, slots=True)
class Reversed:
    """`for <inner> in reversed(<inner>)`; inner is an Each or a Range."""

    inner: Each | Range


@final
@nodeclass(frozen=True, slots=True)
class DictItems:
    """`for key, value in source.items()`"""

    source: Value
    key: Var
    value: Var


@final
@nodeclass(frozen=True, slots=True)
class Records:
    """`for a, b in reversed(tape)`: a tape read backwards (one field: bare; none: `for _ in`)."""

    tape: Value
    fields: tuple[Var, ...]


Items = Each | Range | Enumerate | Zip | Reversed | DictItems | Records


@final
@nodeclass(frozen=True, slots=True)
class Yield:
    values: tuple[Value, ...]


@final
@nodeclass(frozen=True, slots=True)
class Continue:
    values: tuple[Value, ...]


@final
@nodeclass(frozen=True, slots=True)
class Break:
    values: tuple[Value, ...]


@final
@nodeclass(frozen=True, slots=True)
class Return:
    value: Value
    where: Location = field(default=NOWHERE, compare=False)


@final
@nodeclass(frozen=True, slots=True)
class Raise:
    """`raise exception from cause`; without an exception a bare `raise`, without a cause no `from`."""

    exception: Value | None
    cause: Value | None = None
    where: Location = field(default=NOWHERE, compare=False)


@final
@nodeclass(frozen=True, slots=True)
class Unreachable:
    pass


Terminator = Yield | Continue | Break | Return | Raise | Unreachable
Statement = Op | If | While | For | Try


@final
@nodeclass(frozen=True, slots=True)
class Region:
    statements: tuple[Statement, ...]
    terminator: Terminator


class ParameterKind(enum.Enum):
    POSITIONAL = "positional"  # may be given by position (and by keyword unless positional-only)
    VARIADIC = "*"  # bound to a tuple
    KEYWORD = "keyword"  # keyword-only
    KEYWORDS = "**"  # bound to a dict


@final
@nodeclass(frozen=True, slots=True)
class Parameter:
    var: Var
    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL


@final
@nodeclass(frozen=True, slots=True)
class Function:
    """A function in SSA. `captured` are the variables of enclosing functions that it reads, in the order of
    `co_freevars` (hints are their names): they are fields of the function itself, which is `%1` in print.
    `kinds` holds what is proven of a variable; one that is missing is of unknown kind."""

    name: str
    parameters: tuple[Parameter, ...]
    captured: tuple[Var, ...]
    body: Region
    where: Location = field(default=NOWHERE, compare=False)
    kinds: Mapping[Var, Kind] = field(default_factory=lambda: MappingProxyType({}), compare=False)

    @property
    def inputs(self) -> tuple[Var, ...]:
        """The captured variables, then the parameters: what the halves of a differentiated function take."""
        return (*self.captured, *(parameter.var for parameter in self.parameters))
