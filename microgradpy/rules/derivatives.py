"""Rules from derivatives: what is declared is the formula, and the rule is written from its text.

    @derivative(np.tan)                     def tan_rrule(x):
    def tan_derivative(x, *, z):                z = np.tan(x)
        return 1.0 + z * z                      def tan_pullback(z_bar):
                                                    return NoTangent(), z_bar * conj(1.0 + z * z)
                                                return z, tan_pullback

    @pullback(np.flip)                      def flip_rrule(m, axis=None):
    def flip_pullback(y_bar, m, axis=None):     def flip_pullback(y_bar):
        return np.flip(y_bar, axis)                 return NoTangent(), np.flip(y_bar, axis)
                                                return np.flip(m, axis=axis), flip_pullback

A parameter that can only be given by name and has no default is the value of the function, or, if it is called `f`, the
function: one formula may be declared for several, by as many decorators. The cotangent is the first factor of the derivative,
as one writes it by hand: of `-np.sin(x)` it makes `-z_bar * conj(np.sin(x))`, and of `divide(1.0, x)` `divide(z_bar, conj(x))`.
The text is written when somebody first asks for the rule. Forward mode has no text of its own: it is the transpose of this one,
compiled in like it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Set
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from microgradpy.codegen.loading import load
from microgradpy.originals import BUILTINS
from microgradpy.rules.entries import Rule, Unwritten
from microgradpy.rules.nested import by_text
from microgradpy.rules.registry import frule, rrule
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.types import NoTangent, ZeroTangent

_Formula = TypeVar("_Formula", bound=Callable[..., Any])
_HELPERS = {each.__name__: each for each in (NoTangent, ZeroTangent, by_text, conj, divide, unbroadcast)}
_REVERSE = """\
def {name}_rrule({parameters}):
    {before}def {name}_pullback({seed}):
        {steps}return NoTangent(), {cotangents}

    return {value}, {name}_pullback
"""
_FORWARD = """\
def {name}_frule({parameters}):
    {before}def {name}_pushforward(f_dot, {dots}):
        return {tangent}

    return {value}, {name}_pushforward
"""
_APART, _DEEPER = "\n\n    ", "\n        "


def derivative(f: Any, *types: type, arity: int | None = None) -> Callable[[_Formula], _Formula]:
    """Declare the decorated function as the derivative of `f`, which works on numbers and, element by element, on arrays: of
    several arguments it returns one partial derivative for each. It may use the value of `f`, by the name of a parameter that
    can only be given by name. The other arguments of the decorator are those of `rrule.register`."""
    return _declaring(f, types, arity, _written_from_derivative)


def pullback(f: Any, *types: type, arity: int | None = None) -> Callable[[_Formula], _Formula]:
    """Declare the decorated function, of a cotangent of the value of `f` and the arguments of `f`, as what returns the
    cotangents of these arguments; those at the end that have none may be left out. It may use the value of `f` as a
    derivative may. In the place of a cotangent, `...` is what the text of `f` gives, differentiated."""
    return _declaring(f, types, arity, _written_from_pullback)


def _declaring(f: Any, types: tuple[type, ...], arity: int | None, write: Any) -> Callable[[_Formula], _Formula]:
    def declare(formula: _Formula) -> _Formula:
        rule: Any = Unwritten(partial(write, f, formula))
        rrule.register(f, *types, arity=arity)(rule)
        return formula

    return declare


def scalar_rule(f: Callable[..., Any], *partials: Any) -> None:
    """Declare the reverse and the forward rule of a function of numbers that works on arrays element by element, from its
    partial derivatives: one per positional argument, as a function of all of them or as a number. A derivative with a
    parameter `y` is given the function's value by that name:

        scalar_rule(np.arctan2, lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b))
        scalar_rule(special.expit, lambda x, *, y: y * (1.0 - y))

    Complex arguments are differentiated as those of a holomorphic function. Raises TypeError for a derivative that is neither
    callable nor a number."""
    if not partials:
        raise TypeError("scalar_rule needs the derivative with respect to each argument")
    name = re.sub(r"\W+", "_", str(getattr(f, "__name__", type(f).__name__))).strip("_") or "f"
    arguments = [f"x{number}" for number in range(1, 1 + len(partials))]
    factors = [ast.parse(_called(f"d{n}", each, arguments), mode="eval").body for n, each in enumerate(partials, 1)]
    given = ", ".join(arguments)
    before = f"y = {name}({given}){_APART}"
    parts = {"name": name, "parameters": given, "before": before, "value": "y", "seed": "y_bar", "steps": ""}
    bars = (f"unbroadcast({_scaled('y_bar', factor)}, {x})" for factor, x in zip(factors, arguments, strict=True))
    dots = [f"{x}_dot" for x in arguments]
    total = " + ".join(f"{ast.unparse(factor)} * {dot}" for factor, dot in zip(factors, dots, strict=True))
    text = _REVERSE.format(cotangents=", ".join(bars), **parts)
    text += "\n\n" + _FORWARD.format(dots=", ".join(dots), tangent=total, **parts)
    meanings = {f"d{number}": each for number, each in enumerate(partials, 1)}
    namespace = load(text, f"{name}_rules", {**_HELPERS, **meanings, name: f})
    rrule.register(f)(namespace[f"{name}_rrule"])
    frule.register(f)(namespace[f"{name}_frule"])


def _called(name: str, factor: Any, arguments: list[str]) -> str:
    """The text that computes a partial derivative of a user's."""
    if isinstance(factor, int | float | complex):
        return name
    if not callable(factor):
        raise TypeError(f"a partial derivative is a function or a number, and this is a {type(factor).__name__}")
    return f"{name}({', '.join([*arguments, *(['y=y'] if 'y' in _named_only(factor) else [])])})"


def _named_only(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C without a signature
        return []
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


# What is declared in this package


def _written_from_derivative(f: Any, formula: FunctionType) -> Rule:
    """The rule of a function that works by elements. One that knows real numbers only needs no conjugates."""
    tree = _tree_of(f, formula)
    value = _taken_value(tree.args) or ("z" if any(x.arg == "y" for x in tree.args.args) else "y")
    real = {name for name, each in formula.__globals__.items() if isinstance(each, float)} if _knows_complex(f) else None
    names = [x.arg for x in (*tree.args.posonlyargs, *tree.args.args)]
    bars = [_scaled(f"{value}_bar", factor, real) for factor in _returned(tree)]
    if len(bars) > 1:
        bars = [bar if bar == _ZERO else f"unbroadcast({bar}, {x})" for bar, x in zip(bars, names, strict=True)]
    return _written(f, formula, tree, value, f"{value}_bar", bars)


def _written_from_pullback(f: Any, formula: FunctionType) -> Rule:
    """The rule of a function by what its pullback returns."""
    tree = _tree_of(f, formula)
    seed = (tree.args.posonlyargs or tree.args.args).pop(0).arg
    value = _taken_value(tree.args) or seed.removesuffix("_bar")
    given = ", ".join(x.arg for x in (*tree.args.posonlyargs, *tree.args.args))
    of_text = f"by_text({_text_of(f, tree, formula)}, {{}}, {seed}, {given})"
    found = enumerate(_returned(tree))
    bars = [of_text.format(place) if _is_left_to_text(bar) else ast.unparse(bar) for place, bar in found]
    if not any(bar.startswith("*") for bar in bars):
        bars += ["NoTangent()"] * (len(tree.args.posonlyargs + tree.args.args) - len(bars))
    return _written(f, formula, tree, value, seed, bars)


def _is_left_to_text(bar: ast.expr) -> bool:
    return isinstance(bar, ast.Constant) and bar.value is ...


def _written(f: Any, formula: FunctionType, tree: ast.FunctionDef, value: str, seed: str, bars: list[str]) -> Rule:
    name = _name_of(f, tree, formula)
    taken = _taken_value(tree.args)
    takes_value, arguments = taken is not None, _without(tree.args, taken)
    call = _call_of(_text_of(f, tree, formula), list(_passed(arguments)))
    steps = map(ast.unparse, tree.body[ast.get_docstring(tree) is not None : -1])
    text = _REVERSE.format(
        name=name,
        parameters=ast.unparse(arguments),
        before=f"{value} = {call}{_APART}" if takes_value else "",
        value=value if takes_value else call,
        seed=seed,
        steps="".join(line + _DEEPER for step in steps for line in step.splitlines()),
        cotangents=", ".join(bars),
    )
    namespace = load(text, f"{name}_rule", {**_HELPERS, **formula.__globals__})
    # It is of the module that declares it: so it is looked at, and shown. Its text is its own, whoever asks for it.
    namespace["__name__"] = formula.__module__
    linecache.lazycache(namespace["__file__"], namespace)
    rule: Any = namespace[f"{name}_rrule"]
    rule.__module__, rule.declaration, rule.text = formula.__module__, formula, text
    return rule


def _tree_of(f: Any, formula: FunctionType) -> ast.FunctionDef:
    """The text of a formula, with the function in the place of a parameter `f`."""
    (tree,) = ast.parse(inspect.getsource(formula)).body
    assert isinstance(tree, ast.FunctionDef)
    if _FUNCTION in (parameter.arg for parameter in tree.args.kwonlyargs):
        tree.args = _without(tree.args, _FUNCTION)
        meant = ast.parse(_text_of(f, tree, formula), mode="eval").body
        tree.body = [_Named(meant).visit(statement) for statement in tree.body]
    return tree


class _Named(ast.NodeTransformer):
    def __init__(self, meant: ast.expr) -> None:
        self.meant = meant

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.meant if node.id == _FUNCTION else node


_FUNCTION = "f"


def _returned(tree: ast.FunctionDef) -> list[ast.expr]:
    """What a formula returns, for each argument."""
    last = tree.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    return last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]


def _taken_value(arguments: ast.arguments) -> str | None:
    """The name by which a formula takes the value of the function, if it does."""
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return next((parameter.arg for parameter, default in pairs if default is None), None)


def _without(arguments: ast.arguments, name: str | None) -> ast.arguments:
    """The parameters without one that can only be given by name."""
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    kept = [(parameter, default) for parameter, default in pairs if parameter.arg != name]
    return ast.arguments(
        arguments.posonlyargs,
        arguments.args,
        arguments.vararg,
        [parameter for parameter, _ in kept],
        [default for _, default in kept],
        arguments.kwarg,
        arguments.defaults,
    )


def _call_of(function: str, given: list[str]) -> str:
    """The text of a call: with a sign if there is one, and as a method of what is called `self`."""
    if function in _SIGNS:
        return _SIGNS[function].format(*given)
    if given[:1] == ["self"]:
        method = function.rpartition(".")[2]
        return f"self{'' if method == '__call__' else f'.{method}'}({', '.join(given[1:])})"
    return f"{function}({', '.join(given)})"


_SIGNS = {
    "operator.add": "{} + {}", "operator.sub": "{} - {}", "operator.mul": "{} * {}", "operator.truediv": "{} / {}",
    "operator.mod": "{} % {}", "operator.pow": "{} ** {}", "operator.neg": "-{}", "operator.pos": "+{}",
    "operator.or_": "{} | {}", "operator.getitem": "{}[{}]",
}  # fmt: skip
"""How Python writes the functions of the module `operator`."""


def _passed(arguments: ast.arguments) -> Iterator[str]:
    """How the parameters of a rule are given to the function: by name those that a call may leave out. That SciPy may
    overwrite an argument is not handed on, as the pullback may read it."""
    yield from (parameter.arg for parameter in arguments.posonlyargs)
    first = len(arguments.args) - len(arguments.defaults)
    for number, parameter in enumerate(arguments.args):
        if not parameter.arg.startswith("overwrite_"):
            yield parameter.arg if number < first else f"{parameter.arg}={parameter.arg}"
    for parameter in arguments.kwonlyargs:
        yield f"{parameter.arg}={parameter.arg}"


def _name_of(f: Any, tree: ast.FunctionDef, formula: FunctionType) -> str:
    """What a rule is called: as its formula, and after the function where that is for several."""
    functions = {ast.unparse(each.args[0]).rpartition(".")[2] for each in tree.decorator_list if isinstance(each, ast.Call)}
    return formula.__name__.rpartition("_")[0] if len(functions) == 1 else _text_of(f, tree, formula).rpartition(".")[2]


def _text_of(f: Any, tree: ast.FunctionDef, formula: FunctionType) -> str:
    """What the declaration calls the function that it is of."""
    names = (ast.unparse(each.args[0]) for each in tree.decorator_list if isinstance(each, ast.Call))
    return next(name for name in names if _meaning(name, formula) == f)


def _meaning(path: str, formula: FunctionType) -> Any:
    first, *rest = path.split(".")
    found = formula.__globals__.get(first, BUILTINS.get(first))
    for name in rest:
        found = getattr(found, name, None)
    return found


def _knows_complex(f: Any) -> bool:
    """Whether a function may be given complex numbers."""
    if isinstance(f, np.ufunc):
        return any("D" in each for each in f.types)
    return getattr(f, "__module__", "") != "math"


_ZERO = "ZeroTangent()"


def _scaled(seed: str, factor: ast.expr, real: Set[str] | None = frozenset()) -> str:
    """The text of the cotangent `seed`, times the conjugate of a derivative: the seed is the first factor. Of the names `real`,
    and of all if there are none, the conjugates are what they are."""
    match factor:
        case ast.Constant(value=1.0):
            return seed
        case ast.Constant(value=0.0):
            return _ZERO
        case ast.Constant(value=number):
            return f"{number!r} * {seed}"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(f"-{seed}", operand, real)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            return f"{_scaled(seed, left, real)} {'*' if isinstance(op, ast.Mult) else '/'} {_factor(right, real)}"
        case ast.Call(func=ast.Name("divide"), args=[above, below]):
            return f"divide({_scaled(seed, above, real)}, {_conjugate(below, real)})"
    return f"{seed} * {_factor(factor, real)}"


def _factor(factor: ast.expr, real: Set[str] | None) -> str:
    text = _conjugate(factor, real)
    return f"({text})" if isinstance(factor, ast.BinOp | ast.UnaryOp) and not text.startswith("conj(") else text


def _conjugate(factor: ast.expr, real: Set[str] | None) -> str:
    text = ast.unparse(factor)
    return text if real is None or isinstance(factor, ast.Constant) or text in real else f"conj({text})"
