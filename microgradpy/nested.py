"""`gradient`, `jvp` and the like inside of differentiated code, by the calls that `rules.nested` has rules of.

The functions that end in `_of_call` stand for those that a user calls; they are differentiated through their own source.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import api, forward, hessians, jacobians
from microgradpy.api import Pullback, check_unchanged, gradient_of, own_gradient
from microgradpy.entry import resolve_outermost
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.frontend.sharing import with_own_cells
from microgradpy.frontend.source import place_of
from microgradpy.gradient_functions import filled, held_by, held_gradient, unit_seed, wanted_by
from microgradpy.heads import Form
from microgradpy.rules import nested
from microgradpy.rules.nested import Asked, bars_of_call, units_of, values_of_call
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.markers import differentiates
from microgradpy.runtime.modes import RUN, changed_mode
from microgradpy.runtime.write_detection import keep, watched
from microgradpy.state.module_state import module_state
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import check_seed, fields_of, fill_zeros, zeros_for
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero
from microgradpy.towers import NotByParts, Place, Tower

# What stands for the functions that differentiate

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
    y, _, bars = bars_of_call(0, asked, (f, None, args, kwargs))
    numbers: Any = asked.numbers
    found = bars[numbers[0]] if is_single else tuple([bars[number] for number in numbers])
    if has_value:
        return y, found
    return (found, y[1]) if asked.has_aux else found


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
    return np.stack(columns, axis=-1).reshape(x.shape + x.shape) if isinstance(x, np.ndarray) else columns[0]


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


def pullback_of_call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return nested.opened(functools.partial(f, **kwargs), args) if kwargs else nested.opened(f, args)


def check_opened(back: Any) -> None:
    """Refuse what a pullback or pushforward is asked for if somebody has written into what its function reads since."""
    check_unchanged(back._before, "pullback" if isinstance(back, Pullback) else "pushforward")


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
        back._before += watched(f, (f, *args))
    return y, back


def pushforward_of(back: Pullback) -> Any:
    """`rules.nested.pushforward_of`."""
    return forward.Pushforward(back._f, back._args, back._y, back._back, back._before)


def held_again(f: Any, options: tuple[Any, ...]) -> Any:
    """`rules.nested.held_again`."""
    asked, is_single, has_value = options
    return held_gradient(f, Form(asked.numbers, is_single, has_value), asked.has_aux)


_STANDS_FOR: dict[Any, Callable[..., Any]] = {
    api.gradient: gradient_of_call,
    api.value_and_gradient: value_and_gradient_of_call,
    api.pullback: pullback_of_call,
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

def unit_of_held(f: Any, args: tuple[Any, ...]) -> Any:
    """`rules.nested.unit_of_held`."""
    asked: list[Asked] = []
    while (held := held_by(f)) is not None and held[0] == "grad":
        f, asked = held[1], [*asked, held[2]]
    tower = Tower.at(Place.of(f, args, by_parts=True))
    base = tower.place.wanted(asked[0].numbers, own=False)
    for each in reversed(asked):
        seeds = [zeros_for(x) if number in each.numbers else None for number, x in enumerate(args)]
        dots = tower.place.dots(None, seeds, None)
        tower = tower.along([*dots, *[None] * (len(tower.values) - len(dots))])
    return tower.unit((*base, *(False,) * (len(tower.values) - len(base))))


# The calls


def bars_of_inputs(level: int, asked: Asked, inputs: Any) -> Any:
    """`rules.nested.bars_of_call`."""
    if level == 0:
        return _plain_bars(asked, *inputs)
    return _by_parts_or_whole(functools.partial(_higher_bars, level, asked, inputs))


def _plain_bars(asked: Asked, f: Any, seed: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    numbers = tuple(range(len(args))) if asked.numbers is None else asked.numbers
    wanted = wanted_by(numbers, len(args))
    y, back = resolve_outermost(f, args, kwargs or {}, None if asked.own else wanted)
    given = check_seed(y, seed) if asked.is_seeded else unit_seed(f, y, asked.has_aux)
    bars = back(check_seed(y, given) if asked.has_aux else given)
    fresh = bars.fresh or (False,) * len(args)
    form = filled if asked.is_filled else gradient_of
    found = (form(*each) if flag else None for *each, flag in zip(args, bars.arguments, fresh, wanted, strict=True))
    return y, own_gradient(f, bars.function) if asked.own else None, tuple(found)


def _higher_bars(level: int, asked: Asked, inputs: Any, by_parts: bool) -> Any:
    tower, seeds = _tower(level, inputs, by_parts)
    place = tower.place
    base = place.wanted(asked.numbers, asked.own)
    wanted = (*base, *(False,) * (len(tower.values) - len(base)))
    value, bars = tower.value_and_bars(wanted, functools.partial(_seed_for, level, asked, place.f, seeds))
    f_bar, found, _ = place.bars(bars[: len(base)])
    args = _base(level, inputs)[2]
    form = filled if asked.is_filled else gradient_of
    numbers = range(len(args)) if asked.numbers is None else {number % len(args) for number in asked.numbers}
    pairs = enumerate(zip(args, found, strict=True))
    shown = (form(x, bar, False) if number in numbers else None for number, (x, bar) in pairs)
    own = own_gradient(place.f, f_bar) if asked.own else None
    return _top(level, value), _of_tangents(own, level), _of_tangents(tuple(shown), level)


def _of_tangents(found: Any, level: int) -> Any:
    """The tangents of gradients, of this level, from those of what these are of: a Tangent is an object with one field."""
    match found:
        case Tangent():
            fields: Any = {name: _of_tangents(part, level) for name, part in found.items()}
            for _ in range(level):
                fields = {"_fields": fields}
            return Tangent(Tangent if level else found.primal_type, fields)
        case list():
            return [_of_tangents(part, level) for part in found]
        case tuple():
            parts = [_of_tangents(part, level) for part in found]
            return named_like(found, parts) if hasattr(found, "_fields") else tuple(parts)
        case dict():
            return {key: _of_tangents(part, level) for key, part in found.items()}
    return found


def _of_values(bar: Any, x: Any, level: int) -> Any:
    """The other way round, for the values `x` of which these are."""
    match bar:
        case Tangent() if bar.primal_type is Tangent:
            fields: Any = bar
            for _ in range(level):
                fields = {} if is_structural_zero(fields) else fields.get("_fields")
            held = fields_of(x)
            of = {} if is_structural_zero(fields) else dict(fields)
            return Tangent(type(x), {name: _of_values(part, held.get(name), level) for name, part in of.items()})
        case list() | tuple() if isinstance(x, list | tuple):
            parts = [_of_values(part, item, level) for part, item in zip(bar, x, strict=True)]
            return parts if isinstance(bar, list) else tuple(parts)
        case dict() if isinstance(x, dict):
            return {key: _of_values(part, x.get(key), level) for key, part in bar.items()}
    return bar


def bars_of_bars(level: int, asked: Asked, before: Any, bars: Any) -> Any:
    """`rules.nested.bars_of_bars`."""
    return _by_parts_or_whole(functools.partial(_bars_of_bars, level, asked, _unchanged(before), bars))


def _bars_of_bars(level: int, asked: Asked, inputs: Any, bars: Any, by_parts: bool) -> Any:
    if is_structural_zero(bars):
        return None
    y_bar, f_bar, arg_bars = bars
    f, _, args, _ = _base(level, inputs)
    f_bar, arg_bars = _of_values(f_bar, f, level + 1), _of_values(arg_bars, args, level + 1)
    tower, seeds = _tower(level, inputs, by_parts)
    base = [forward.unless_zero(dot) for dot in tower.place.dots(f_bar, arg_bars, None)]
    higher = tower.along([*base, *[None] * (len(tower.values) - len(base))])
    of_value = _at_top(level, y_bar)
    wanted = _all_of(tower, asked.still)

    def seed_for(value: Any) -> Any:
        return of_value, _seed_for(level, asked, tower.place.f, seeds, value[0])

    if not any(higher.masks[-1]):
        _, found = tower.value_and_bars(wanted, lambda _: of_value)
        return _in_structure(level, tower, found, None)
    wanted = (*wanted, *(False,) * (len(higher.values) - len(wanted)))
    value, found = higher.value_and_bars(wanted, seed_for)
    return _in_structure(level, tower, found[: len(tower.values)], value[1] if asked.is_seeded else None)


def values_of_inputs(level: int, inputs: Any) -> Any:
    """`rules.nested.values_of_call`."""
    (f, _, args, kwargs), dots = _base(level, inputs), inputs[1]
    if level == 1 and is_structural_zero(dots[0]) and not kwargs:
        given = (*dots[2], *(None,) * (len(args) - len(dots[2])))
        return forward.jvp(f, args, given)
    return _filled(level, _by_parts_or_whole(lambda by_parts: _tower(level, inputs, by_parts)[0].value()))


def _filled(level: int, value: Any) -> Any:
    """Values and tangents with zeros in the place of None."""
    if level == 0:
        return value
    y, y_dot = value
    y = _filled(level - 1, y)
    return y, _zeros_at(level - 1, y) if is_structural_zero(y_dot) else _zero_filled(level - 1, y, y_dot)


def _zero_filled(level: int, y: Any, y_dot: Any) -> Any:
    if is_structural_zero(y_dot):
        return _zeros_at(level, y)
    return fill_zeros(y, y_dot) if level == 0 else tuple(_zero_filled(level - 1, *each) for each in zip(y, y_dot, strict=True))


def _zeros_at(level: int, y: Any) -> Any:
    return fill_zeros(y, None) if level == 0 else tuple(_zeros_at(level - 1, part) for part in y)


def bars_of_values(level: int, before: Any, bars: Any) -> Any:
    """`rules.nested.bars_of_values`."""
    if is_structural_zero(bars):
        return None
    return _by_parts_or_whole(functools.partial(_bars_of_values, level, _unchanged(before), bars))


def _bars_of_values(level: int, inputs: Any, bars: Any, by_parts: bool) -> Any:
    tower, _ = _tower(level, inputs, by_parts)
    _, found = tower.value_and_bars(_all_of(tower), lambda _: bars)
    return _in_structure(level, tower, found, None)


def as_it_is(level: int, inputs: Any) -> Any:
    """The inputs of a call where something is written: with variables and arrays of the function's own, as those that it shares
    may be assigned and written into later; and what else it sees that others may write into."""
    if RUN.is_inside:
        return inputs, None
    f, seed, args, kwargs = _base(level, inputs)
    state = module_state(f)
    if state:
        raise MutationError(
            f"a gradient inside of differentiated code reads `{state}` of its module, which other code of the run names, "
            "too, and may have written something differentiated into",
            None,
            "Give it what it reads as an argument, or capture it.",
        )
    own, given = with_own_variables(f, {}), tuple(map(keep, args))
    named = None if kwargs is None else {name: keep(value) for name, value in kwargs.items()}
    return _with_base(level, inputs, (own, seed, given, named)), watched(own, (own, *given, *(named or {}).values()))


def with_own_variables(f: Any, known: dict[int, Any]) -> Any:
    """A function of the same code with the variables it has captured as they are now."""
    if type(f) is functools.partial:
        held = {name: keep(value) for name, value in f.keywords.items()}
        return functools.partial(with_own_variables(f.func, known), *map(keep, f.args), **held)
    if not isinstance(f, types.FunctionType) or not f.__closure__ or differentiates(f):
        return f
    if id(f) not in known:
        cells = tuple(types.CellType() for _ in f.__closure__)
        code = with_own_cells(f.__code__)
        known[id(f)] = own = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, cells)
        own.__kwdefaults__, own.__qualname__ = f.__kwdefaults__, f.__qualname__
        for cell, shared in zip(cells, f.__closure__, strict=True):
            with contextlib.suppress(ValueError):  # it is not assigned yet
                cell.cell_contents = keep(with_own_variables(shared.cell_contents, known))
    return known[id(f)]


def _with_base(level: int, inputs: Any, base: Any) -> Any:
    return (_with_base(level - 1, inputs[0], base), inputs[1]) if level else base


def _unchanged(before: Any) -> Any:
    """The inputs of a call as they were, if they still are."""
    inputs, seen = before
    if seen is not None:
        check_unchanged(seen, "a gradient inside of differentiated code")
    return inputs


def _by_parts_or_whole(made: Callable[[bool], Any]) -> Any:
    # The texts of derivatives of derivatives are the same in all modes: there are none of calls left to run time.
    with changed_mode(dispatches=False, tracks=False, tells_apart=False):
        try:
            return made(True)
        except NotByParts:
            return made(False)


# Inputs, seeds and cotangents of towers: nested pairs, as deep as the level


def _base(level: int, inputs: Any) -> Any:
    return _base(level - 1, inputs[0]) if level else inputs


def _tower(level: int, inputs: Any, by_parts: bool) -> tuple[Tower, Any]:
    """The pushforward of a call, as often as the level says, and its seeds."""
    if level == 0:
        f, seed, args, kwargs = inputs
        return Tower.at(Place.of(f, args, by_parts, kwargs), runs_again=True), seed
    below, seeds = _tower(level - 1, inputs[0], by_parts)
    dots, seeds_dot = _dots(level - 1, below, inputs[1], _base(level, inputs)[2])
    return below.along(dots), (seeds_dot, seeds)


def _dots(level: int, tower: Tower, dots: Any, args: tuple[Any, ...], order: int = 1) -> tuple[list[Any], Any]:
    """The tangents of the inputs and of the seeds of a tower of a call with these arguments, each of some order."""
    if is_structural_zero(dots):
        return [None] * len(tower.values), None
    if level == 0:
        f_dot, seed_dot, arg_dots, named = dots
        f_dot, arg_dots = _of_values(f_dot, tower.place.f, order - 1), _of_values(arg_dots, args, order - 1)
        return tower.place.dots(f_dot, arg_dots, named), seed_dot
    assert tower.below is not None
    own, seeds = _dots(level - 1, tower.below, dots[0], args, order)
    higher, seeds_dot = _dots(level - 1, tower.below, dots[1], args, order + 1)
    mask = tower.masks[-1]
    if any(not is_structural_zero(dot) and not flag for dot, flag in zip(higher, mask, strict=True)):
        function = tower.place.callee.function
        found = f"a derivative of {function.__qualname__} in a direction that is zero moves"
        raise DifferentiationError(found, place_of(function), "Give it a number.")
    return [*own, *itertools.compress(higher, mask)], (seeds_dot, seeds)


def _seed_for(level: int, asked: Asked, f: Any, seeds: Any, value: Any) -> Any:
    """The seed of a tower whose value is this."""
    return _seed_at(level, asked, f, seeds, _base(level, value))


def _seed_at(level: int, asked: Asked, f: Any, seeds: Any, y: Any) -> Any:
    if level:
        seeds_dot, own = (None, None) if seeds is None else seeds
        of_dot = _seed_at(level - 1, asked, f, seeds_dot, y) if asked.is_seeded else None
        return of_dot, _seed_at(level - 1, asked, f, own, y)
    if asked.is_seeded:
        return check_seed(y, seeds)
    return unit_seed(f, y, asked.has_aux)


def _at_top(level: int, y_bar: Any) -> Any:
    return (None, _at_top(level - 1, y_bar)) if level else y_bar


def _top(level: int, value: Any) -> Any:
    return value if level == 0 or value is None else _top(level - 1, value[1])


def _all_of(tower: Tower, still: tuple[int, ...] = ()) -> tuple[bool, ...]:
    """All inputs of a tower, as far as something may flow to them."""
    count = tower.place.count - len(tower.place.callee.leading)
    base = tower.place.wanted(tuple(number for number in range(count) if number not in still), True)
    return (*base, *(True,) * (len(tower.values) - len(base)))


def _in_structure(level: int, tower: Tower, bars: list[Any], seed_bars: Any, order: int = 0) -> Any:
    """The cotangents of the inputs of a tower as those of the arguments of a call, or of their tangents of some order."""
    if level == 0:
        f_bar, arg_bars, named = (_of_tangents(bar, order) for bar in tower.place.bars(bars))
        return f_bar, _of_tangents(seed_bars, order + 1), arg_bars, named
    assert tower.below is not None
    count = len(tower.below.values)
    rest = iter(bars[count:])
    higher = [next(rest) if flag else None for flag in tower.masks[-1]]
    of_dots, own = (None, None) if seed_bars is None else seed_bars
    dots = _in_structure(level - 1, tower.below, higher, of_dots, order + 1)
    return _in_structure(level - 1, tower.below, bars[:count], own, order), dots
