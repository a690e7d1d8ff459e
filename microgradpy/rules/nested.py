"""Differentiation inside of differentiated code, and of rules: what the calls in it are of, and their rules.

    bars_of_call(0, asked, (f, seed, args, kwargs))     (y, f_bar, args_bar): what a pullback of `f` gives for a seed
    bars_of_call(1, asked, (inputs, inputs_dot))        the tangent of that, in the direction of the tangents of its inputs
    bars_of_call(2, asked, ((inputs, inputs_dot), (inputs_dot2, inputs_dot3)))      the tangent of that ...

    values_of_call(1, None, (inputs, inputs_dot))       (y, y_dot)
    values_of_call(2, ...)                              ((y, y_dot), (y_dot2, y_dot3))

The tangent of either is the same function one level higher, and the cotangents of its inputs come from the pushforward of `f`
of that level, differentiated in reverse: <w, J' s> = <J w, s> for all w. So there are texts for all orders, each of forward
mode, the last one differentiated once in reverse. What makes them is the compiler, which is above the rules in the order of
imports: it is handed down, and loaded when a program needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from microgradpy.rules.registry import non_differentiable, rrule
from microgradpy.tangents.helpers import cotangents_in_base, pair_of_kind
from microgradpy.tangents.types import NoTangent, Tangent, accumulate, is_structural_zero


@final
class Asked(NamedTuple):
    """What is asked of a pullback: the cotangents of the positional arguments with these numbers (None: of all), and that of
    the function itself; with zeros for None if `is_filled`. The seed is that of the call if it is `is_seeded`; otherwise it is
    one, for a real number, or for the first of a pair if `has_aux`. `known` is what is proven: the kind of the value, and
    which arguments have a gradient for certain; nobody wants to know how the outcome depends on those that are `still`.
    Arguments that `argnums` has named may be given by these `names`."""

    numbers: tuple[int, ...] | None = None
    own: bool = False
    is_filled: bool = False
    has_aux: bool = False
    is_seeded: bool = False
    known: Any = None
    still: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@final
class Known(NamedTuple):
    """What is proven of a call whose value is asked for with its tangent: the `kind` of the value; and nobody wants to know how
    the outcome depends on the arguments with the numbers `still`, and on the tangents with the numbers `steady`."""

    kind: Any = None
    still: tuple[int, ...] = ()
    steady: tuple[int, ...] = ()


class Towers(Protocol):
    """What makes derivatives of derivatives (`microgradpy.nested`)."""

    def bars_of_inputs(self, level: int, asked: Asked, inputs: Any) -> Any: ...

    def values_of_inputs(self, level: int, inputs: Any) -> Any: ...

    def bars_of_bars(self, level: int, asked: Asked, before: Any, bars: Any) -> Any: ...

    def bars_of_values(self, level: int, known: Known | None, before: Any, bars: Any) -> Any: ...

    def as_it_is(self, level: int, inputs: Any) -> Any: ...

    def opened(self, f: Any, args: tuple[Any, ...]) -> Any: ...

    def pushforward_of(self, back: Any) -> Any: ...

    def check_opened(self, back: Any) -> None: ...

    def unit_of_held(self, f: Any, args: tuple[Any, ...]) -> Any: ...

    def held_again(self, f: Any, options: tuple[Any, ...]) -> Any: ...

    @property
    def held_gradient_of_call(self) -> Callable[..., Any]: ...

    def definition(self, f: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None: ...


_loads: list[Callable[[], Towers]] = []


def install(load: Callable[[], Towers]) -> None:
    """Called once, with what loads the module."""
    _loads[:] = [load]


def definition(f: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The function that is differentiated in the place of one that differentiates, with what it is given before the arguments
    of that: `gradient_of_call(f, x)` for `gradient(f, x)`; None for one that has none."""
    return _loads[0]().definition(f)


def unit_of_held(f: Any, args: tuple[Any, ...]) -> Any:
    """What is compiled to differentiate a function that `grad` has made."""
    return _loads[0]().unit_of_held(f, args)


def held_gradient() -> Callable[..., Any]:
    """What stands for a function that `grad` or `value_and_grad` has made."""
    return _loads[0]().held_gradient_of_call


@cotangents_in_base(1, 2)
def bars_of_call(level: int, asked: Asked, inputs: Any) -> Any:
    """`(y, f_bar, args_bar)`: the value of a call and the cotangents of what it is given; at a higher level their tangents."""
    return _loads[0]().bars_of_inputs(level, asked, inputs)


@pair_of_kind(1)
def values_of_call(level: int, known: Known | None, inputs: Any) -> Any:
    """The value of a call, with its tangent at level 1. What is `known` is so of the value of the level below."""
    return _loads[0]().values_of_inputs(level, inputs)


def as_it_is(level: int, inputs: Any) -> Any:
    """The inputs of a call as they are to be when it is differentiated again."""
    return _loads[0]().as_it_is(level, inputs)


def bars_of_bars(level: int, asked: Asked, before: Any, bars: Any) -> Any:
    """The cotangents of the inputs of `bars_of_call` from that of its result."""
    return _loads[0]().bars_of_bars(level, asked, before, bars)


def bars_of_values(level: int, known: Known | None, before: Any, bars: Any) -> Any:
    """The same of `values_of_call`."""
    return _loads[0]().bars_of_values(level, known, before, bars)


@rrule.register(bars_of_call)
def bars_of_call_rrule(level: int, asked: Asked, inputs: Any) -> Any:
    before = as_it_is(level, inputs)
    found = bars_of_call(level, asked, inputs)

    def bars_of_call_pullback(bars: Any) -> tuple[Any, ...]:
        return NoTangent(), NoTangent(), NoTangent(), bars_of_bars(level, asked, before, bars)

    return found, bars_of_call_pullback


@rrule.register(values_of_call)
def values_of_call_rrule(level: int, known: Known | None, inputs: Any) -> Any:
    before = as_it_is(level, inputs)
    found = values_of_call(level, known, inputs)

    def values_of_call_pullback(bars: Any) -> tuple[Any, ...]:
        return NoTangent(), NoTangent(), NoTangent(), bars_of_values(level, known, before, bars)

    return found, values_of_call_pullback


# Inside of rules

Differentiate = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
_differentiate: list[Differentiate] = []
_of_texts: list[Differentiate] = []


def install_differentiate(differentiate: Differentiate, of_text: Differentiate) -> None:
    """Called once, with `rrule_via_ad` and what does the same for some arguments only."""
    _differentiate[:], _of_texts[:] = [differentiate], [of_text]


def differentiated(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """`rrule_via_ad(f, *args, **kwargs)`, for rules of functions that are given functions."""
    return _differentiate[0](f, *args, **kwargs)


def differentiated_text(
    f: Callable[..., Any], wanted: tuple[bool, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of a function of the package, and what takes the cotangent of that to those of the arguments: of the positional
    ones that are `wanted`, and None for the others."""
    return _of_texts[0](f, wanted, args, kwargs)


def by_text(helper: Any, place: int, y_bar: Any, *args: Any) -> Any:
    """The cotangent of the argument at a place, for that of the value of `helper(*args)`, by the text of the helper: whose rule
    does not say it."""
    if helper not in _without_rules:
        _without_rules[helper] = FunctionType(helper.__code__, helper.__globals__, helper.__name__, helper.__defaults__)
    wanted = tuple(each == place for each in range(len(args)))
    return differentiated_text(_without_rules[helper], wanted, args, {})[1](y_bar)[place]


_without_rules: dict[Any, FunctionType] = {}
"""Twins of helpers, in which the compiler finds no rule."""


SECOND_BY_CALLS: dict[Any, Callable[..., Any]] = {}
"""Functions that are given functions, with what gives their value with its tangent, and the pullback of both, by those of the
calls that they make: `second(of_call, args, dots)`, where `of_call(f, f_dot, args, dots, kwargs)` does so for one of these."""


# Pullbacks


def opened(f: Any, args: tuple[Any, ...]) -> Any:
    """`pullback(f, *args)`."""
    return _loads[0]().opened(f, args)


@rrule.register(opened)
def opened_rrule(f: Any, args: tuple[Any, ...]) -> Any:
    y, back = opened(f, args)

    def opened_pullback(bars: Any) -> tuple[Any, ...]:
        return NoTangent(), *_of_opened(args, back, bars)

    return (y, back), opened_pullback


def _of_opened(args: tuple[Any, ...], back: Any, bars: Any) -> tuple[Any, Any]:
    y_bar, back_bar = bars
    if not is_structural_zero(y_bar):
        _loads[0]().check_opened(back)
    f_bar, *own = (None,) * (1 + len(args)) if is_structural_zero(y_bar) else back(y_bar)
    of_back = {} if is_structural_zero(back_bar) else dict(back_bar)
    others = of_back.get("_args") or (None,) * len(args)
    return accumulate(f_bar, of_back.get("_f")), tuple(map(accumulate, own, others))


def pushforward_of(back: Any) -> Any:
    """The pushforward of what a pullback is of, which has the same fields."""
    return _loads[0]().pushforward_of(back)


@rrule.register(pushforward_of)
def pushforward_of_rrule(back: Any) -> Any:
    def pushforward_of_pullback(bar: Any) -> tuple[Any, ...]:
        return NoTangent(), None if is_structural_zero(bar) else Tangent(type(back), dict(bar))

    return pushforward_of(back), pushforward_of_pullback


# Functions that are made of others


MAKERS: set[Any] = set()
"""The functions, such as `grad`, that return one which holds the function that they are given first."""


def holds(maker: Callable[..., Any]) -> None:
    """Declare that a function is one of them."""
    MAKERS.add(maker)

    @rrule.register(maker, options=True)
    def maker_rrule(f: Any, *options: Any, **named: Any) -> Any:
        def maker_pullback(bar: Any) -> tuple[Any, ...]:
            return NoTangent(), of_held(bar), *(NoTangent() for _ in options)

        return maker(f, *options, **named), maker_pullback


def held_again(f: Any, options: tuple[Any, ...]) -> Any:
    """A function that is made of `f` with these options, as `grad` makes it."""
    return _loads[0]().held_again(f, options)


@rrule.register(held_again)
def held_again_rrule(f: Any, options: tuple[Any, ...]) -> Any:
    def held_again_pullback(bar: Any) -> tuple[Any, ...]:
        return NoTangent(), of_held(bar), NoTangent()

    return held_again(f, options), held_again_pullback


def of_held(bar: Any) -> Any:
    """The cotangent of what a function is made of."""
    return None if is_structural_zero(bar) else bar.get("__wrapped__")


def units_of(x: Any) -> list[Any]:
    """A one for each number of `x`, with zeros for the others, in its structure."""
    if not isinstance(x, np.ndarray):
        return [1.0]
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return [*units]


non_differentiable(units_of)

OF_CALLS = frozenset((bars_of_call, values_of_call, held_again))
"""What forward mode knows the tangents of."""


def filled(asked: Asked) -> Asked:
    """The same with zeros for None, as a tangent has them, and without what is known of the text that it is in: that of its
    pushforward may be differentiated with respect to more."""
    return asked._replace(is_filled=True, known=None, still=())


def one_level_higher(f: Callable[..., Any], args: tuple[Any, ...], dots: Any) -> Any:
    """The tangent of a call of one of them, in the direction of the tangents of its inputs."""
    level, option, inputs = args
    if f is values_of_call:
        return values_of_call(level + 1, None, (inputs, dots))[1]
    return bars_of_call(level + 1, filled(option), (inputs, dots))
