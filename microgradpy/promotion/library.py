"""Which functions of the standard library are written where they are called, and with what (`runtime/written_out.py`).

    levels = list(itertools.accumulate(rates, lambda level, rate: level * (1 + rate), initial=start))

is a loop that appends, as the iterator is a generator that is used up on the spot, and the lambda a function made inside.
"""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import types
from collections.abc import Callable, Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.nodes import Const, Location, Op, Opcode, Region, Statement
from microgradpy.ir.rewrite import map_statements
from microgradpy.promotion.places import Element, Known, Object
from microgradpy.rules.registry import rrule
from microgradpy.runtime import arranged, dict_objects, heaps, keyed, queues, written_out

Named = Mapping[str, Known]
DRAWS = ("choice", "choices", "sample")
"""The methods of `random.Random` that give items of a list."""


@final
@dataclass(frozen=True, slots=True)
class WrittenOut:
    """The text of a call, and what it is given: those of its arguments that are called, those that are run over, and others. If
    the text takes items by their places (`by_place`), they have to be in a list, or there is another text (`otherwise`). The
    `present` are not to be None, and the `numbers` are whole. Some are for generators (`of_generators`), which they leave."""

    text: Any
    functions: tuple[Known, ...]
    sources: tuple[Known, ...]
    others: tuple[Known, ...] = ()
    by_place: bool = False
    otherwise: Any = None
    functions_first: bool = True
    present: tuple[Known, ...] = ()
    numbers: tuple[Known, ...] = ()
    of_generators: bool = False

    @property
    def arguments(self) -> tuple[Known, ...]:
        first, second = (self.functions, self.sources) if self.functions_first else (self.sources, self.functions)
        return (*first, *second, *self.others)


_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, type)
Given = tuple[Known, ...]
Choose = Callable[[Given, Named], WrittenOut | None]


def written(function: Any, arguments: Given, keywords: Named) -> WrittenOut | None:
    """The text that a call of a function of the library stands for; None if it has none with such arguments."""
    choose = _CHOICES.get(function) if isinstance(function, _FUNCTIONS) else None
    return None if choose is None or rrule.has_others(function) else choose(arguments, keywords)


def _reduce(given: Given, named: Named) -> WrittenOut | None:
    if named or len(given) not in (2, 3):
        return None
    if len(given) == 2:
        return WrittenOut(written_out.reduced_items, given[:1], given[1:], by_place=True)
    return WrittenOut(written_out.reduced, given[:1], given[1:2], given[2:])


def _sum(given: Given, named: Named) -> WrittenOut | None:
    """A sum that begins with an object, which says what `+` means; others are sums of numbers, for which there are rules."""
    start = (*given[1:], *named.values())
    if len(given) + len(named) != 2 or not given or not named.keys() <= {"start"} or not isinstance(start[0], Object | Element):
        return None
    return WrittenOut(written_out.added_up, (), given[:1], start)


def _accumulate(given: Given, named: Named) -> WrittenOut | None:
    if len(given) == 2 and named.keys() == {"initial"} and named["initial"] != Const(None):
        initial = (named["initial"],)
        return WrittenOut(written_out.accumulated, given[1:], given[:1], initial, functions_first=False, present=initial)
    if len(given) not in (1, 2) or named:
        return None
    text = written_out.accumulated_items if len(given) == 2 else written_out.sums
    return WrittenOut(text, given[1:], given[:1], by_place=True, functions_first=False)


def _pairwise(given: Given, named: Named) -> WrittenOut | None:
    return WrittenOut(written_out.pairs, (), given, by_place=True) if len(given) == 1 and not named else None


def _map(given: Given, named: Named) -> WrittenOut | None:
    if named or len(given) not in (2, 3):
        return None
    return WrittenOut(written_out.mapped if len(given) == 2 else written_out.mapped_pairs, given[:1], given[1:])


def _filter(given: Given, named: Named) -> WrittenOut | None:
    if named or len(given) != 2:
        return None
    return WrittenOut(written_out.filtered, given[:1], given[1:])


def _by_number(texts: Mapping[int, Any], *, by_place: bool = False) -> Choose:
    """The texts of a function that runs over what it is given, by how many that are."""

    def choose(given: Given, named: Named) -> WrittenOut | None:
        return WrittenOut(texts[len(given)], (), given, by_place=by_place) if len(given) in texts and not named else None

    return choose


def _choosing(texts: Mapping[int, Any]) -> Choose:
    """The texts of a function that takes so many of some items."""

    def choose(given: Given, named: Named) -> WrittenOut | None:
        count = given[1].value if len(given) == 2 and not named and isinstance(given[1], Const) else None
        return WrittenOut(texts[count], (), given[:1], by_place=True) if type(count) is int and count in texts else None

    return choose


def _product(given: Given, named: Named) -> WrittenOut | None:
    times = named.get("repeat", Const(1))
    if not named.keys() <= {"repeat"} or not isinstance(times, Const) or type(times.value) is not int or times.value < 1:
        return None
    return _by_number({2: written_out.product_of_two, 3: written_out.product_of_three}, by_place=True)(given * times.value, {})


def _remember(given: Given, named: Named) -> WrittenOut | None:
    """A function that keeps what it has given, however much that is."""
    return WrittenOut(written_out.remembered, given, ()) if len(given) == 1 and not named else None


def decorator(named: Named) -> Const | None:
    """What `functools.lru_cache(maxsize=None)` gives, which gets the function next. One that forgets calls its function again,
    which may do something besides."""
    is_unlimited = named.keys() == {"maxsize"} and named["maxsize"] == Const(None)
    return Const(written_out.remembered, "remembered", written_out.remembered) if is_unlimited else None


def _longest(given: Given, named: Named) -> WrittenOut | None:
    if len(given) != 2 or not named.keys() <= {"fillvalue"}:
        return None
    return WrittenOut(written_out.longest, (), given, (named.get("fillvalue", Const(None)),), by_place=True)


def _enumerate(given: Given, named: Named) -> WrittenOut | None:
    if len(given) + len(named) > 2 or not given or not named.keys() <= {"start"}:
        return None
    return WrittenOut(written_out.numbered, (), given[:1], (*given[1:], *named.values()) or (Const(0),))


def _first(given: Given, named: Named) -> WrittenOut | None:
    if len(given) != 2 or named:
        return None
    return WrittenOut(written_out.first_of, (), given[:1], given[1:], numbers=given[1:])


def _taken_while(given: Given, named: Named) -> WrittenOut | None:
    return WrittenOut(written_out.taken_while, given[:1], given[1:]) if len(given) == 2 and not named else None


def _leaving(texts: Mapping[int, Any]) -> Choose:
    """The texts of a function that leaves a generator, by how many arguments it has."""

    def choose(given: Given, named: Named) -> WrittenOut | None:
        is_known = len(given) in texts and not named
        return WrittenOut(texts[len(given)], (), given[:1], given[1:], of_generators=True) if is_known else None

    return choose


def _repeated(given: Given, named: Named) -> WrittenOut | None:
    if len(given) != 2 or named:
        return None
    return WrittenOut(written_out.repeated, (), (), given, numbers=given[1:])


def _sorted(given: Given, named: Named) -> WrittenOut | None:
    if len(given) != 1 or not {"key"} <= named.keys() <= {"key", "reverse"}:
        return None
    reverse = named.get("reverse", Const(False))
    text, otherwise = written_out.sorted_by, written_out.sorted_items_by
    return WrittenOut(text, (named["key"],), given, (reverse,), True, otherwise, functions_first=False)


def _groupby(given: Given, named: Named) -> WrittenOut | None:
    if not given or len(given) + len(named) > 2 or not named.keys() <= {"key"}:
        return None
    key = (*given[1:], *named.values())
    itself = Const(written_out.itself, "itself", written_out.itself)
    functions = (itself,) if key in ((), (Const(None),)) else key
    return WrittenOut(written_out.grouped, functions, given[:1], by_place=True, functions_first=False)


def drawn(name: str, draw: Known, given: Given, named: Named) -> WrittenOut | None:
    """The text for items that are drawn by a method of a generator of Python's random numbers, all with equal weights."""
    if name == "choice":
        is_plain = len(given) == 1 and not named
        return WrittenOut(written_out.chosen, (), given, (draw,), by_place=True) if is_plain else None
    count = named.get("k", given[1] if name == "sample" and len(given) == 2 else Const(1) if name == "choices" else None)
    most = 2 if name == "sample" and not named else 1
    if count is None or not 1 <= len(given) <= most or not named.keys() <= {"k"}:
        return None
    return WrittenOut(written_out.several_chosen, (), given[:1], (draw, count), by_place=True, numbers=(count,))


def _best(text: Any) -> Choose:
    def choose(given: Given, named: Named) -> WrittenOut | None:
        if len(given) != 1 or named.keys() != {"key"}:
            return None
        return WrittenOut(text, (named["key"],), given, by_place=True, functions_first=False)

    return choose


def _best_of(largest: bool) -> Choose:
    def choose(given: Given, named: Named) -> WrittenOut | None:
        if len(given) == 3 and not named:
            named, given = {"key": given[2]}, given[:2]
        if len(given) != 2 or not named.keys() <= {"key"}:
            return None
        key = () if named.get("key", Const(None)) == Const(None) else (named["key"],)
        text = written_out.best_by if key else written_out.best_of
        return WrittenOut(text, key, given[1:], (given[0], Const(largest)), by_place=True, functions_first=False)

    return choose


_CHOICES: dict[Any, Choose] = {
    functools.reduce: _reduce,
    sum: _sum,
    **dict.fromkeys((functools.cache, written_out.remembered), _remember),
    itertools.accumulate: _accumulate,
    itertools.pairwise: _pairwise,
    itertools.groupby: _groupby,
    map: _map,
    filter: _filter,
    zip: _by_number({2: written_out.zipped, 3: written_out.zipped_three}),
    enumerate: _enumerate,
    itertools.chain: _by_number({2: written_out.chained, 3: written_out.chained_three}),
    reversed: _by_number({1: written_out.backwards}, by_place=True),
    itertools.product: _product,
    itertools.combinations: _choosing({2: written_out.combinations_of_two, 3: written_out.combinations_of_three}),
    itertools.combinations_with_replacement: _choosing({2: written_out.combinations_with_itself}),
    itertools.permutations: _choosing({2: written_out.permutations_of_two}),
    itertools.zip_longest: _longest,
    itertools.islice: _first,
    itertools.takewhile: _taken_while,
    itertools.repeat: _repeated,
    any: _leaving({1: written_out.is_any}),
    all: _leaving({1: written_out.are_all}),
    next: _leaving({1: written_out.first_item, 2: written_out.first_item_or}),
    sorted: _sorted,
    heapq.nsmallest: _best_of(False),
    heapq.nlargest: _best_of(True),
    max: _best(written_out.largest_by),
    min: _best(written_out.smallest_by),
}


def class_for(function: Any, given: Given, named: Named, has_failed: Callable[[type], bool]) -> type | None:
    """The class whose objects stand for what a call makes: the first that has not failed to do it."""
    if function is not collections.deque or not named.keys() <= {"maxlen"} or len(given) + len(named) > 2:
        return None
    is_bounded = any(known != Const(None) for known in (*given[1:], *named.values()))
    classes = (queues.BoundedQueue,) if is_bounded else (queues.Queue, queues.Stack)
    return next((cls for cls in (*classes, arranged.Ring) if not has_failed(cls)), None)


def is_text(function: types.FunctionType) -> bool:
    """Whether a function is one of the library's texts, or a method of such a class."""
    modules = (written_out, queues, arranged, heaps, keyed, dict_objects)
    return any(function.__globals__ is vars(module) for module in modules)


def may_be_written(op: Op) -> bool:
    """Whether a call is of a function that has a text."""
    function = op.callee.value if isinstance(op.callee, Const) else None
    if function in (collections.deque, collections.Counter, collections.OrderedDict, set):
        return True
    if not isinstance(function, _FUNCTIONS):
        return False
    return written(function, op.arguments, dict(op.keywords)) is not None


def placed(region: Region, where: Location) -> Region:
    """A text as it stands at a place in the user's. A tuple that is taken apart on the spot need not be made."""

    def at(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.callee is Opcode.TUPLE:
            return (replace(statement, where=where, from_user=False),)
        return (replace(statement, where=where),)

    return map_statements(region, at)
