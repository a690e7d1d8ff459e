"""What stands for `gradient`, `jvp` and the like inside of differentiated code: functions of the same meaning, by the calls
that `rules.nested` has rules of. They are differentiated through their own source."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import api, forward, hessians, jacobians
from microgradpy.api import Pullback, check_unchanged
from microgradpy.argnums import numbered, positional
from microgradpy.errors import DifferentiationError
from microgradpy.gradient_functions import held_by, held_gradient
from microgradpy.heads import Form
from microgradpy.rules import nested
from microgradpy.rules.nested import Asked, bars_of_call, units_of, values_of_call
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.write_detection import watched
from microgradpy.tangents.types import NoTangent

_ARGUMENTS, _OF_PAIR = Asked(), Asked(has_aux=True)
_FIRST = Asked((0,), is_filled=True)
_SEEDED = Asked(own=True, is_seeded=True)
_ONE = Asked(own=True)


def gradient_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return bars_of_call(0, _ARGUMENTS, (f, None, args, kwargs))[2]


def value_and_gradient_of_call(f: Any, /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    y, _, bars = bars_of_call(0, _OF_PAIR if has_aux else _ARGUMENTS, (f, None, args, kwargs))
    return y, bars


def held_gradient_of_call(f: Any, asked: Asked, is_single: bool, has_value: bool, /, *args: Any, **kwargs: Any) -> Any:
    """What a function that `grad` or `value_and_grad` made of `f` returns."""
    if asked.names:
        moved = by_name(f, asked.names, len(args), tuple(kwargs))
        args = (*args, *[kwargs[name] for name in moved])
        kwargs = {name: value for name, value in kwargs.items() if name not in moved}
    y, _, bars = bars_of_call(0, asked, (f, None, args, kwargs))
    numbers: Any = asked.numbers
    found = bars[numbers[0]] if is_single else tuple([bars[number] for number in numbers])
    if has_value:
        return y, found
    return (found, y[1]) if asked.has_aux else found


def by_name(f: Any, names: tuple[str, ...], count: int, given: tuple[str, ...]) -> tuple[str, ...]:
    """The parameters from the first one on that is not among `count` positions to the last one with one of these names, if such
    a one is given by name."""
    known = positional(f)
    last = max((known.index(name) + 1 for name in names if name in given), default=0)
    moved = tuple(known[count:last])
    if not set(moved) <= set(given):
        found = "an argument that argnums names is given by name, and one before it is not given"
        raise DifferentiationError(found, None, "Give those that are differentiated by position.")
    return moved


non_differentiable(by_name)
non_differentiable(numbered)


def jvp_of_call(f: Any, primals: Any, tangents: Any, *, batched: bool = False) -> Any:
    if batched:
        _refuse_option("batched")
    return values_of_call(1, None, ((f, None, primals, None), (None, None, tangents, None)))


def hvp_of_call(f: Any, x: Any, v: Any, /, *args: Any, **kwargs: Any) -> Any:
    return bars_of_call(1, _FIRST, ((f, None, (x, *args), kwargs), (None, None, (v,), None)))[2][0]


def hessian_of_call(f: Any, x: Any, /, *args: Any, sparsity: Any = None, **kwargs: Any) -> Any:
    if sparsity is not None:
        _refuse_option("sparsity")
    columns = [hvp_of_call(f, x, unit, *args, **kwargs) for unit in units_of(x)]
    return np.stack(columns, axis=-1).reshape(np.shape(x) + np.shape(x)) if isinstance(x, np.ndarray) else columns[0]


def diaghessian_of_call(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any:
    found = [np.sum(unit * hvp_of_call(f, x, unit, *args, **kwargs)) for unit in units_of(x)]
    return np.stack(found).reshape(x.shape) if isinstance(x, np.ndarray) else found[0]


def held_product_of_call(f: Any, x: Any, p: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a function that `hessp` made of `f` returns."""
    return hvp_of_call(f, x, p, *args, **kwargs)


def value_and_jacobian_of_call(f: Any, /, *args: Any, argnums: Any = 0, sparsity: Any = None, **kwargs: Any) -> Any:
    if sparsity is not None:
        _refuse_option("sparsity")
    return _dense_value_and_jacobian(f, argnums, args, kwargs)


def _dense_value_and_jacobian(f: Any, argnums: Any, args: Any, kwargs: Any) -> Any:
    y = f(*args, **kwargs)
    argnums = numbered(f, argnums)
    if isinstance(argnums, tuple):
        return y, tuple([_jacobian_by_columns(f, number, y, args, kwargs) for number in argnums])
    return y, _jacobian_by_columns(f, argnums, y, args, kwargs)


def jacobian_of_call(f: Any, /, *args: Any, argnums: Any = 0, sparsity: Any = None, **kwargs: Any) -> Any:
    return value_and_jacobian_of_call(f, *args, argnums=argnums, sparsity=sparsity, **kwargs)[1]


def held_jacobian_of_call(f: Any, argnums: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a function that `jac` made of `f` returns."""
    return _dense_value_and_jacobian(f, argnums, args, kwargs)[1]


def _refuse_option(name: str) -> None:
    found = f"{name}= of a derivative inside of differentiated code is not differentiated"
    raise DifferentiationError(found, None, f"Leave it out, or differentiate outside: without {name}= it is.")


def _jacobian_by_columns(f: Any, number: int, y: Any, args: Any, kwargs: Any) -> Any:
    x = args[number]
    before = (None,) * (number % len(args))
    columns = [
        values_of_call(1, None, ((f, None, args, kwargs), (None, None, (*before, unit), None)))[1] for unit in units_of(x)
    ]
    return np.stack(columns, axis=-1).reshape(np.shape(y) + np.shape(x)) if isinstance(x, np.ndarray) else columns[0]


non_differentiable(_refuse_option)


def vjp_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    y, back = nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)
    return y, lambda *dy: pulled_back_of_call(back, *dy)[1:]


def elementwise_grad_of_call(f: Any, argnums: Any = 0) -> Any:
    numbers = numbered(f, argnums)

    def summed(*args: Any, **kwargs: Any) -> Any:
        return np.sum(f(*args, **kwargs))

    return api.grad(summed, numbers)


def pullback_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)


def check_opened(back: Any) -> None:
    """Refuse what a pullback or pushforward is asked for if somebody has written into what its function reads since."""
    if back.seen is not None:
        check_unchanged(back.seen, "pullback" if isinstance(back, Pullback) else "pushforward")


non_differentiable(check_opened)


def pulled_back_of_call(back: Any, dy: Any = None) -> Any:
    """What a pullback returns for a seed. The function runs once more, since what was saved is not known here."""
    check_opened(back)
    asked = _ONE if dy is None else _SEEDED
    _, f_bar, bars = bars_of_call(0, asked, (back._f, dy, back._args, None))
    return f_bar, *bars


def pushforward_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    y, back = nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)
    return y, nested.pushforward_of(back)


def pushed_of_call(push: Any, df: Any, /, *tangents: Any) -> Any:
    """What a pushforward returns for tangents. The function runs once more, as for a pullback."""
    check_opened(push)
    return values_of_call(1, None, ((push._f, None, push._args, None), (df, None, tangents, None)))[1]


def rrule_via_ad_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    y, back = nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)

    def via_ad_pullback(y_bar: Any) -> Any:
        f_bar, *bars = pulled_back_of_call(back, y_bar)
        return or_none(f_bar), *[or_none(bar) for bar in bars]

    return y, via_ad_pullback


def frule_via_ad_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    y, back = nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)
    push = nested.pushforward_of(back)

    def via_ad_pushforward(f_dot: Any, *dots: Any) -> Any:
        return pushed_of_call(push, f_dot, *dots)

    return y, via_ad_pushforward


def or_none(bar: Any) -> Any:
    """A cotangent as rules return them."""
    return NoTangent() if bar is None else bar


def opened(f: Any, args: tuple[Any, ...]) -> Any:
    """`pullback(f, *args)`. What it is asked for later is found by another run, which has to see what this one has seen."""
    y, back = api.pullback(f, *args)
    if not RUN.is_inside:
        back.seen = watched(f, (f, *args))
    return y, back


def pushforward_of(back: Pullback) -> Any:
    """`rules.nested.pushforward_of`."""
    push = forward.Pushforward(back._f, back._args, back._y, back._back, back._before)
    push.seen = back.seen
    return push


def held_again(f: Any, options: tuple[Any, ...]) -> Any:
    """`rules.nested.held_again`."""
    asked, is_single, has_value = options
    return held_gradient(f, Form(asked.numbers, is_single, has_value), asked.has_aux, asked.names)


_STANDS_FOR: dict[Any, Callable[..., Any]] = {
    api.gradient: gradient_of_call,
    api.value_and_gradient: value_and_gradient_of_call,
    api.pullback: pullback_of_call,
    api.vjp: vjp_of_call,
    api.elementwise_grad: elementwise_grad_of_call,
    Pullback.__call__: pulled_back_of_call,
    api.rrule_via_ad: rrule_via_ad_of_call,
    forward.jvp: jvp_of_call,
    forward.pushforward: pushforward_of_call,
    forward.Pushforward.__call__: pushed_of_call,
    forward.frule_via_ad: frule_via_ad_of_call,
    hessians.hvp: hvp_of_call,
    hessians.hessian: hessian_of_call,
    hessians.diaghessian: diaghessian_of_call,
    jacobians.jacobian: jacobian_of_call,
    jacobians.value_and_jacobian: value_and_jacobian_of_call,
}


def definition(f: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """What is differentiated in the place of a function that differentiates, and what it is given first."""
    if getattr(f, "__module__", "") == _FRONT:
        f = getattr(api, f.__name__, f)
        if f in nested.MAKERS:
            return f, ()
    try:
        found = _STANDS_FOR.get(f)
    except TypeError:
        return None
    if found is not None:
        return found, ()
    held = held_by(f)
    return None if held is None else (_HELD[held[0]], held[1:])


_FRONT = "microgradpy.disk.front"
"""The module of what stands for functions of `api` where there is a cache on disk."""
_HELD: dict[str, Callable[..., Any]] = {
    "grad": held_gradient_of_call, "jac": held_jacobian_of_call, "hess": hessian_of_call, "hessp": held_product_of_call,
}  # fmt: skip
