"""Forward mode, as a user calls it: tangents go through a function along with its values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.api import check_unchanged
from microgradpy.batch_entry import directions_at_once, many_outermost, parts_of
from microgradpy.boundary import BOUNDARY
from microgradpy.call_heads import CallHeads, Head, straight, unpacked
from microgradpy.entry import resolve_outermost
from microgradpy.errors import CotangentShapeError
from microgradpy.forward_entry import only_computes, planned, push_outermost
from microgradpy.heads import Constants, test_of_array
from microgradpy.rules.registry import frule
from microgradpy.runtime.bars import Back
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION, PARTS_OF
from microgradpy.runtime.pushforwards import by_pairing, has_text_only
from microgradpy.runtime.texts import noted
from microgradpy.runtime.write_detection import Snapshot, arrays_in, made_since, read_by
from microgradpy.state.outside import called_by_rule
from microgradpy.tangents.projection import check_seed, fields_of, fill_tangent, fill_zeros, project
from microgradpy.tangents.stacks import joined, length_of_stack, stacked, taken
from microgradpy.tangents.types import Tangent, is_structural_zero
from microgradpy.usage import R, check_tuples, refuse_no_function


def jvp(f: Callable[..., R], primals: Any, tangents: Any, *, batched: bool = False) -> tuple[R, Any]:
    """`(y, dy)`: the value of `f(*primals)` and its derivative in the direction `tangents`, a tuple with one tangent per
    argument in its structure and shape, or None for zero. `dy` has the structure of `y`, with None for what has no
    derivative. Raises CotangentShapeError for tangents that do not fit.

    With `batched`, many directions: the arrays in `tangents` have a leading axis for them, as those in `dy` do. They are
    followed at once where the function is one of numbers and arrays of known kinds (`code_pushforward(f, *args, batched=True)`
    says if it is), else one by one; a function that does more than to compute is run once, and its pullback is asked."""
    if not callable(f):
        refuse_no_function(f, "jvp(f, (x,), (x_dot,))", primals, tangents)
    check_tuples(f, primals, tangents)
    with BOUNDARY:
        args, dots = tuple(primals), tuple(tangents)
        head = None if batched else HEADS.heads.get(id(f))
        found: tuple[Any, Any] | None = None if head is None else head(f, args, dots)
        if found is not None:
            return found
        if len(args) != len(dots):
            raise CotangentShapeError(f"there are {len(dots)} tangents for {len(args)} arguments", None, "Give None for zero.")
        if batched:
            return _pushed_batch(f, args, dots)
        checked = _checked(args, dots)
        y, y_dot = push_outermost(f, args, checked)
        found = y, _as_tangent(y, y_dot)
        HEADS.went(_head, f, args, dots, checked, y)
        return found


HEADS = CallHeads()


def _head(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...], checked: tuple[Any, ...], y: Any) -> Head | None:
    """The head for calls of `jvp` like this one, which gave `y`."""
    if not has_text_only(f) or not all(map(operator.is_, dots, checked)):
        return None
    how = planned(f, None, args, checked, {})
    if how is None or how.read is not None:
        return None
    unit, run, _, watches = how.plan
    if watches or unit.active != tuple(dot is not None for dot in how.dots):
        return None
    made = straight(f, how.bound, len(args), unit, run, first=unit)
    if made is None:
        return None
    k, names = made.k, [f"t{index}" for index in range(len(args))]
    made.reads[:0] = [f"{unpacked(names)} = dots", f"{unpacked([f'x{index}' for index in range(len(args))])} = args"]
    made.tests.extend(_test_of_tangent(name, x, dot, k) for name, x, dot in zip(names, args, dots, strict=True))
    given = [name for name, dot in zip(names, dots, strict=True) if dot is not None]
    body = [f"y, dy = {k(run)}({', '.join([*made.inputs, *given])})"]
    if type(y) in _NUMBERS:
        body.append(f"if type(dy) is type(y) is {k(type(y))}: return y, dy")
    return made.head("f, args, dots", [*body, f"return {k(_finished)}(f, args, y, dy)"])


_NUMBERS = (float, np.float64)


def _test_of_tangent(name: str, x: Any, dot: Any, k: Constants) -> str:
    """Whether a tangent moves as this one, for `_checked_one` takes it as it is."""
    if dot is None:
        return f"{name} is None"
    if type(dot) is not np.ndarray:
        return f"type({name}) is {k(type(dot))} and {name}"
    return f"{test_of_array(name, x, k)} and ({name}.item(0) or {name}.any())"


def _finished(f: Any, args: tuple[Any, ...], y: Any, y_dot: Any) -> tuple[Any, Any]:
    """What the general road does with what a pushforward has given."""
    return noted(y, args, f) if is_structural_zero(y_dot) else y, _as_tangent(y, y_dot)


def _pushed_batch(f: Any, args: tuple[Any, ...], stack: tuple[Any, ...]) -> tuple[Any, Any]:
    count = length_of_stack(stack, args, "the tangents")
    if not count:
        y, y_dot = push_outermost(f, args, (None,) * len(args))
        return y, stacked([_as_tangent(y, y_dot)], 0)
    at_once = _pushed_at_once(f, args, stack, count)
    if at_once is not None:
        return at_once
    directions = [_checked(args, taken(stack, number, args)) for number in range(count)]
    if count == 1 or only_computes(f, args, directions[0], {}):
        pairs = [push_outermost(f, args, dots) for dots in directions]
        return pairs[0][0], stacked([_as_tangent(*pair) for pair in pairs], count)
    y, back = resolve_outermost(f, args, {})
    found = [by_pairing(y, (f, *args), back, (None, *dots)) for dots in directions]
    return y, stacked([_as_tangent(y, y_dot) for y_dot in found], count)


def _pushed_at_once(f: Any, args: tuple[Any, ...], stack: tuple[Any, ...], count: int) -> tuple[Any, Any] | None:
    """The same by a text for many directions; None if there is none."""
    step = directions_at_once(args) if count > 1 else 0
    if step < 2:
        return None
    parts = []
    for rows in parts_of(count, step):
        how = many_outermost(f, args, taken(stack, rows, args), {})
        pair = None if how is None else how.pushed(rows.stop - rows.start)
        if pair is None:
            return None
        parts.append((pair[0], _as_stack(*pair, rows.stop - rows.start)))
    return parts[0][0], parts[0][1] if len(parts) == 1 else joined([dots for _, dots in parts])


def _as_stack(y: Any, y_dots: Any, count: int) -> Any:
    is_plain = type(y) is float or (type(y) is np.ndarray and y.dtype == float)
    is_stack = type(y_dots) is np.ndarray and y_dots.dtype == float
    if is_plain and is_stack and y_dots.shape == (count, *np.shape(y)):
        return y_dots
    return stacked([_as_tangent(y, taken(y_dots, number, y)) for number in range(count)], count)


def _checked(args: tuple[Any, ...], dots: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_checked_one(x, dot, f"argument {number}") for number, (x, dot) in enumerate(zip(args, dots, strict=True)))


def _checked_one(x: Any, dot: Any, place: str) -> Any:
    if type(dot) is type(x) in _NUMBERS:
        return dot or None
    if type(dot) is np.ndarray is type(x) and dot.dtype is x.dtype in _REAL and dot.shape == x.shape:
        return dot if dot.any() else None
    try:
        return _filled(x, unless_zero(check_seed(x, dot)))
    except CotangentShapeError as error:
        found = error.found.replace("the seed of the value", f"the tangent of {place}").replace("the value", place)
        raise CotangentShapeError(found, None, "A tangent has the structure and shape of the argument.") from None


_REAL = (np.dtype(np.float64), np.dtype(np.float32))


def unless_zero(dot: Any) -> Any:
    """A tangent, None if it is nothing but zeros: then it is zero whatever the slopes are."""
    is_number = isinstance(dot, float | complex | np.ndarray) and not np.any(dot)
    return None if is_number else dot


def _filled(x: Any, dot: Any) -> Any:
    """A tangent with zeros for None inside of containers."""
    if isinstance(dot, Tangent):
        values = fields_of(x)
        return Tangent(type(x), {name: _filled(values[name], part) for name, part in dot.items()})
    return None if dot is None else fill_tangent(x, dot)


def _as_tangent(y: Any, y_dot: Any) -> Any:
    if type(y_dot) is type(y) in _NUMBERS:
        return y_dot
    return fill_zeros(y, None if is_structural_zero(y_dot) else project(y, y_dot))


@final
class Pushforward:
    """The linear map from the tangents of `f` and its arguments to that of `y`. `push(df, dx1, ..., dxn)` may be called any
    number of times, and changes nothing; `df` is None for a plain function."""

    __slots__ = ("_args", "_back", "_before", "_f", "_y", "seen")
    seen: Snapshot | None

    def __init__(self, f: Any, args: tuple[Any, ...], y: Any, back: Back, before: Snapshot) -> None:
        self.seen = None
        self._f = f
        self._args = args
        self._y = y
        self._back = back
        self._before = before

    def __call__(self, df: Any, /, *tangents: Any) -> Any:
        with BOUNDARY:
            if len(tangents) != len(self._args):
                raise CotangentShapeError(
                    f"there are {len(tangents)} tangents for {len(self._args)} arguments",
                    None,
                    "Call push(df, dx1, ..., dxn), with None for zero and for the df of a plain function.",
                )
            check_unchanged(self._before, "pushforward")
            own = None if is_structural_zero(df) else _checked_one(self._f, df, "the function")
            dots = (own, *_checked(self._args, tangents))
            return _as_tangent(self._y, by_pairing(self._y, (self._f, *self._args), self._back, dots))

    def __repr__(self) -> str:
        return f"<pushforward of {getattr(self._f, '__name__', type(self._f).__name__)}>"


def pushforward(f: Callable[..., R], /, *args: Any, **kwargs: Any) -> tuple[R, Pushforward]:
    """`(y, push)`: `y` is what `f(*args, **kwargs)` gives, and `push(df, dx1, ..., dxn)` the tangent of `y` for tangents of
    `f`'s own fields (None for a plain function) and of each positional argument. `f` runs once: `push` asks the pullback of
    this run, once for every number in `y`. For one direction `jvp` is the faster way."""
    if not callable(f):
        refuse_no_function(f, "pushforward(f, x)", *args)
    with BOUNDARY:
        given = (*args, *kwargs.values())
        seen = read_by(f, given)
        y, back = resolve_outermost(f, args, kwargs)
        before = Snapshot.of(arrays_in((f, *given, y))) + seen.unchanged() + made_since(seen, y)
        return y, Pushforward(f, args, y, back, before)


def frule_via_ad(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
    """`(y, pushforward)` of `f`, by its rule or by differentiating it: what a forward rule calls that gets a function as an
    argument. `pushforward(f_dot, x1_dot, ..., xn_dot)` returns the tangent of `y`."""
    found = frule(f, *args, **kwargs)
    if found is not None:
        return found
    with called_by_rule(f, (*args, *kwargs.values())):
        y, back = resolve_outermost(f, args, kwargs)

    def via_ad_pushforward(f_dot: Any, *dots: Any) -> Any:
        return by_pairing(y, (f, *args), back, (f_dot, *dots))

    return y, via_ad_pushforward


NESTED_DIFFERENTIATION.update((jvp, pushforward, frule_via_ad, Pushforward.__call__))
PARTS_OF[Pushforward] = ("_args", "_f")
