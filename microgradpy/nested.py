"""Differentiation inside of differentiated code: what the calls give that `rules.nested` has rules of, and their cotangents."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from microgradpy import forward
from microgradpy.api import check_unchanged, gradient_of, own_gradient
from microgradpy.entry import resolve_outermost
from microgradpy.errors import DifferentiationError, MutationError
from microgradpy.frontend.source import place_of
from microgradpy.gradient_functions import filled, held_by, unit_seed, wanted_by
from microgradpy.rules.nested import Asked, Known
from microgradpy.runtime.modes import RUN, changed_mode
from microgradpy.stand_ins import check_opened as check_opened
from microgradpy.stand_ins import definition as definition
from microgradpy.stand_ins import held_again as held_again
from microgradpy.stand_ins import held_gradient_of_call as held_gradient_of_call
from microgradpy.stand_ins import opened as opened
from microgradpy.stand_ins import pushforward_of as pushforward_of
from microgradpy.state.module_state import module_state
from microgradpy.state.own_copies import Copies
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import check_seed, fields_of, fill_zeros, zeros_for
from microgradpy.tangents.types import Tangent, is_structural_zero
from microgradpy.towers import NotByParts, Place, Tower

# What `rules.nested` asks for



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


def _moved(dots: Any, args: Any) -> Any:
    """The arguments that may have tangents, of which there are some for the first ones."""
    return args if is_structural_zero(dots) else args[: len(dots)]


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
        return _in_structure(level, inputs, tower, found, None)
    wanted = (*wanted, *(False,) * (len(higher.values) - len(wanted)))
    value, found = higher.value_and_bars(wanted, seed_for)
    return _in_structure(level, inputs, tower, found[: len(tower.values)], value[1] if asked.is_seeded else None)


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


def bars_of_values(level: int, known: Known | None, before: Any, bars: Any) -> Any:
    """`rules.nested.bars_of_values`."""
    if is_structural_zero(bars):
        return None
    return _by_parts_or_whole(functools.partial(_bars_of_values, level, known or Known(), _unchanged(before), bars))


def _bars_of_values(level: int, known: Known, inputs: Any, bars: Any, by_parts: bool) -> Any:
    tower, _ = _tower(level, inputs, by_parts)
    _, found = tower.value_and_bars(_all_of(tower, known.still, known.steady), lambda _: bars)
    return _in_structure(level, inputs, tower, found, None)


def as_it_is(level: int, inputs: Any) -> Any:
    """The inputs of a call where something is written: with variables, arrays and objects of the function's own, as those that
    it shares may be assigned and written into later; and what else it sees that others may write into."""
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
    copies = Copies(f, (args, kwargs))
    own, named = copies.given
    return _with_base(level, inputs, (copies.f, seed, own, named)), copies.watched()


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
        f_dot, arg_dots = _of_values(f_dot, tower.place.f, order - 1), _of_values(arg_dots, _moved(arg_dots, args), order - 1)
        found = tower.place.dots(f_dot, arg_dots, named)
        return found if order == 1 else [_of_tangents(dot, order - 1) for dot in found], seed_dot
    assert tower.below is not None
    own, seeds = _dots(level - 1, tower.below, dots[0], args, order)
    higher, seeds_dot = _dots(level - 1, tower.below, dots[1], args, order + 1)
    mask = tower.masks[-1]
    if any(not is_structural_zero(dot) and not flag for dot, flag in zip(higher, mask, strict=True)):
        function = tower.place.callee.function
        still = f"a derivative of {function.__qualname__} in a direction that is zero moves"
        raise DifferentiationError(still, place_of(function), "Give it a number.")
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


def _all_of(tower: Tower, still: tuple[int, ...] = (), steady: tuple[int, ...] = ()) -> tuple[bool, ...]:
    """All inputs of a tower, as far as something may flow to them, but for these arguments and the tangents of those."""
    base = _wanted_but(tower, still)
    dots = itertools.compress(_wanted_but(tower, steady), tower.masks[0]) if steady else ()
    found = (*base, *dots)
    return (*found, *(True,) * (len(tower.values) - len(found)))


def _wanted_but(tower: Tower, numbers: tuple[int, ...]) -> tuple[bool, ...]:
    count = tower.place.count - len(tower.place.callee.leading)
    return tower.place.wanted(tuple(number for number in range(count) if number not in numbers), True)


def _in_structure(level: int, inputs: Any, tower: Tower, bars: list[Any], seed_bars: Any, order: int = 0) -> Any:
    """The cotangents of the inputs of a tower as those of the arguments of a call, or of their tangents of some order, of which
    there may be fewer."""
    if is_structural_zero(inputs):
        return None
    if level == 0:
        if order:
            bars = [_of_values(bar, x, order) for bar, x in zip(bars, tower.values, strict=True)]
        f_bar, arg_bars, named = (_of_tangents(bar, order) for bar in tower.place.bars(bars))
        _, _, given, by_name = inputs
        of_given = None if is_structural_zero(given) else arg_bars[: len(given)]
        return f_bar, _of_tangents(seed_bars, order + 1), of_given, None if is_structural_zero(by_name) else named
    assert tower.below is not None
    count = len(tower.below.values)
    rest = iter(bars[count:])
    higher = [next(rest) if flag else None for flag in tower.masks[-1]]
    of_dots, own = (None, None) if seed_bars is None else seed_bars
    dots = _in_structure(level - 1, inputs[1], tower.below, higher, of_dots, order + 1)
    return _in_structure(level - 1, inputs[0], tower.below, bars[:count], own, order), dots
