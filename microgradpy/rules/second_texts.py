"""What the pullback of a rule computes, as a function of the arguments too: differentiated, that is a second derivative.

    def norm_rrule(x, ord=None):                                def norm_bars(y_bar, y, x, ord=None):
        y = np.linalg.norm(x, ord)
                                                      ->            return (None, norm_bar(y_bar, x, y, ord))
        def norm_pullback(y_bar):
            return NoTangent(), norm_bar(y_bar, x, y, ord)

        return y, norm_pullback

The value is an argument as well, so that the function itself is not called again: it may draw random numbers. The text of a
forward rule is read in the same way.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from microgradpy.codegen.loading import load
from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.nested import differentiated_text
from microgradpy.rules.results import place_of
from microgradpy.tangents.thunks import computed
from microgradpy.tangents.types import NotImplementedTangent, is_structural_zero

Wanted = tuple[bool, ...]
_made: dict[tuple[Any, Wanted | None], FunctionType] = {}


def bars_and_back(
    rule: Rule, wanted: Wanted | None, y_bar: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], Back]:
    """The cotangents of the arguments of a call with the value `y` by the text of its rule, and what gives for their own
    cotangents those of the seed, of the value, and a tuple of those of the arguments: of all of these, since arguments without
    a tangent may be differentiated, too. Where that cannot be, theirs is not implemented."""
    count, chosen = len(args), wanted or (True,) * len(args)
    text, given = bars_of(rule, wanted), (y_bar, y, *args)
    others = tuple(not flag and _has_numbers(x) for flag, x in zip(chosen, args, strict=True))
    tried = tuple(flag or (other and not _is_whole(x)) for flag, other, x in zip(chosen, others, args, strict=True))

    def of(flags: tuple[bool, ...]) -> tuple[Any, Any]:
        return differentiated_text(text, (True, True, *flags), given, kwargs)

    def second(flags: tuple[bool, ...], seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        bars, back = (found, first) if flags == tried else of(flags)
        seeded = (None if is_structural_zero(bar) else seed for bar, seed in zip(bars[1:], seeds, strict=False))
        seed_bar, value_bar, *arg_bars = back(filled((None, *seeded), len(bars)))
        known = zip(filled(arg_bars, count), others, flags, strict=True)
        return seed_bar, value_bar, tuple(_NOT_IMPLEMENTED if other and not flag else bar for bar, other, flag in known)

    def second_back(seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return second(tried, seeds)
        except DifferentiationError:
            if tried == chosen:
                raise
            return second(chosen, seeds)

    try:
        found, first = of(tried)
    except DifferentiationError:
        if tried == chosen:
            raise
        tried = chosen
        found, first = of(chosen)
    return filled(found[1:], count), second_back


_NOT_IMPLEMENTED = NotImplementedTangent("it would be a second derivative, with respect to an argument that has no tangent")


def _has_numbers(x: Any) -> bool:
    """Whether an argument may be differentiated."""
    if isinstance(x, list | tuple):
        return any(map(_has_numbers, x))
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fciuO"
    return isinstance(x, int | float | complex | np.number) and not isinstance(x, bool)


def _is_whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) or (isinstance(x, np.ndarray) and x.dtype.kind in "iu")


Back = Callable[[tuple[Any, ...]], tuple[Any, Any, tuple[Any, ...]]]


def filled(bars: Sequence[Any], count: int) -> tuple[Any, ...]:
    """The cotangents of so many arguments, of which the last ones may be left out."""
    given = [None if is_structural_zero(bar) else computed(bar) for bar in bars[:count]]
    return (*given, *(None,) * (count - len(given)))


def bars_of(rule: Any, wanted: Wanted | None) -> FunctionType:
    """The function of the seed, the value and the arguments that returns what the pullback of a rule does: of the arguments
    those that are `wanted`, and None for the others; all if that is None. Refuses a rule of another form than the usual one."""
    key = (rule, wanted)
    if key not in _made:
        _made[key] = _written(rule, wanted)
    return _made[key]


def _written(rule: Any, wanted: Wanted | None) -> FunctionType:
    try:
        tree = _tree_of(rule)
        text = ast.unparse(ast.fix_missing_locations(_merged(tree, wanted)))
    except (_OtherForm, OSError, TypeError, SyntaxError) as error:
        raise MissingRuleError(
            f"{place_of(rule)} has no text by which there is a second derivative",
            None,
            "Let it end in `return y, pullback`, with one function `pullback` that is defined in it.",
        ) from error
    cells = zip(rule.__code__.co_freevars, (cell.cell_contents for cell in rule.__closure__ or ()), strict=True)
    namespace = load(text, f"{tree.name}_bars", {**rule.__globals__, **dict(cells)})
    namespace["__name__"] = rule.__module__
    made = namespace[f"{tree.name}_bars"]
    assert isinstance(made, FunctionType)
    made.__module__, made.__defaults__, made.__kwdefaults__ = rule.__module__, rule.__defaults__, rule.__kwdefaults__
    return made


class _OtherForm(Exception):
    """The text of a rule is not read."""


def _tree_of(rule: Any) -> ast.FunctionDef:
    text = getattr(rule, "text", None) or textwrap.dedent(inspect.getsource(rule))
    (tree,) = ast.parse(text).body
    if not isinstance(tree, ast.FunctionDef):
        raise _OtherForm
    return tree


def _merged(tree: ast.FunctionDef, wanted: Wanted | None) -> ast.Module:
    """The text of a rule with that of its pullback in the place of its last line."""
    last = tree.body[-1]
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) and len(last.value.elts) == 2):
        raise _OtherForm
    value, pullback = last.value.elts
    steps, (parameters, body) = _without_pullback(tree.body[:-1], pullback)
    steps = [_with_value_given(step, value) for step in steps]
    names = (parameters.posonlyargs + parameters.args)[:1]
    if not names or _returns(steps):
        raise _OtherForm
    arguments = _with_first(tree.args, parameters)
    own = _Own(wanted)
    tree.body = [_Computed().visit(step) for step in [*steps, *(own.visit(step) for step in body)]]
    return ast.Module([ast.FunctionDef(f"{tree.name}_bars", arguments, tree.body, [])], [])


_VALUE = "value_of_the_call"


def _without_pullback(steps: list[ast.stmt], pullback: ast.expr) -> tuple[list[ast.stmt], tuple[ast.arguments, list[ast.stmt]]]:
    """The steps without the definition of the pullback, and its parameters and body."""
    if isinstance(pullback, ast.Lambda):
        return steps, (pullback.args, [ast.Return(pullback.body)])
    if not isinstance(pullback, ast.Name):
        raise _OtherForm
    found = [step for step in steps if isinstance(step, ast.FunctionDef) and step.name == pullback.id]
    if len(found) != 1 or found[0].decorator_list:
        raise _OtherForm
    return [step for step in steps if step is not found[0]], (found[0].args, found[0].body)


def _with_value_given(step: ast.stmt, value: ast.expr) -> ast.stmt:
    """A step, or what assigns the value that is given."""
    if isinstance(step, ast.Assign) and len(step.targets) == 1 and ast.unparse(step.targets[0]) == ast.unparse(value):
        step.value = ast.Name(_VALUE, ast.Load())
    return step


def _returns(steps: list[ast.stmt]) -> bool:
    rest = (step for step in steps if not isinstance(step, ast.FunctionDef))
    return any(isinstance(node, ast.Return) for step in rest for node in ast.walk(step))


def _with_first(arguments: ast.arguments, parameters: ast.arguments) -> ast.arguments:
    """The parameters of a rule after the first ones of its pullback and the value, without their defaults, which are set."""
    first = [ast.arg(each.arg) for each in (*parameters.posonlyargs, *parameters.args)] + [ast.arg(_VALUE)]
    only_by_place = [*first, *arguments.posonlyargs] if arguments.posonlyargs else []
    return ast.arguments(
        only_by_place,
        arguments.args if only_by_place else [*first, *arguments.args],
        arguments.vararg,
        arguments.kwonlyargs,
        [ast.Constant(None) if default is not None else None for default in arguments.kw_defaults],
        arguments.kwarg,
        [ast.Constant(None) for _ in arguments.defaults],
    )


class _Own(ast.NodeTransformer):
    """What a pullback returns, as far as it is wanted."""

    def __init__(self, wanted: Wanted | None) -> None:
        self.wanted = wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if self.wanted is None or not isinstance(node.value, ast.Tuple):
            return node
        items = node.value.elts
        if not any(isinstance(item, ast.Starred) for item in items[: 1 + len(self.wanted)]):
            flags = (False, *self.wanted)
            items = [item if flag else ast.Constant(None) for item, flag in zip(items, flags, strict=False)]
        return ast.Return(ast.Tuple(items, ast.Load()))


class _Computed(ast.NodeTransformer):
    """What thunks compute, in their places."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("thunk", "InplaceableThunk"):
            inner = node.args[-1]
            return inner.body if isinstance(inner, ast.Lambda) else ast.Call(inner, [], [])
        return node
