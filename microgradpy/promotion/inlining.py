"""Which functions are written where they are called, rather than units of their own.

    def newton(f, df, x):                      for _ in range(20):
        for _ in range(20):                        x = x - cubic(x) / slope(x)
            x = x - f(x) / df(x)
        return x

    newton(cubic, slope, x)
"""

from __future__ import annotations

import types

from microgradpy.ir.kinds import holds_numbers
from microgradpy.ir.nodes import Const
from microgradpy.ir.traversal import walk
from microgradpy.promotion.class_members import defaults_in, is_function
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.functions import as_expression, is_followed
from microgradpy.promotion.methods import Methods
from microgradpy.promotion.modules import module_of
from microgradpy.promotion.partials import has_captured_functions
from microgradpy.promotion.places import (
    AnyOf,
    ClassMethod,
    Closure,
    DictOf,
    Element,
    Generator,
    Known,
    ListOf,
    Method,
    Object,
    Packed,
    Partial,
    Row,
    Table,
    Values,
    is_thing,
)
from microgradpy.promotion.raising import throws
from microgradpy.promotion.stores import is_array
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.suspension import is_generator

_MOST_WRITTEN = 60
"""Functions of more statements are not written where they are called, unless they have to be."""
_FOLLOWED = (Object, Element, AnyOf, Packed, Table, Values, Closure, Method, ClassMethod, Partial, Generator)


class Inlining(Methods):
    """What is asked of a call before it is one."""

    def is_written_here(self, function: types.FunctionType, arguments: tuple[Known, ...], named: tuple[Known, ...]) -> bool:
        """Whether a function that gets nothing in sight is written where it is called."""
        is_better = self.is_better_here(function, (*arguments, *named)) or throws(self, function)
        self.helped |= is_better
        return is_better or self.is_factory(function) or self.is_decorated(function)

    def is_decorated(self, function: types.FunctionType) -> bool:
        """Whether a function has captured the one that it calls, and may be written where it is called."""
        if not has_captured_functions(function) or is_generator(function.__code__) or rrule.has(function):
            return False
        is_users = function.__globals__ is self.function.__globals__ or module_of(function) is not None
        is_here = is_users and self.is_small(function)
        self.helped |= is_here
        return is_here

    def is_better_here(self, function: types.FunctionType, given: tuple[Known, ...]) -> bool:
        """Whether a function would be slower as a unit of its own."""
        if not is_followed(function, self.function) or is_generator(function.__code__):
            return False
        if rrule.has(function) or is_non_differentiable(function):
            return False
        return self.gets_functions(function, given) or self.reads_items(function, given)

    def gets_functions(self, function: types.FunctionType, given: tuple[Known, ...]) -> bool:
        """Whether a function is given others, or classes, that are known, or has some as defaults. A unit of its own would not
        know what it calls."""
        values = (each.value for each in given if isinstance(each, Const))
        return any(map(is_function, (*values, *defaults_in(function))))

    def reads_items(self, function: types.FunctionType, given: tuple[Known, ...]) -> bool:
        """Whether a function that is called in a loop gets a list or dict of numbers. Its adjoint would return a cotangent of
        all items in each call; written where it is called, it adds to those that it has read. Or whether one gets an array that
        is written into, which it might keep."""
        reads = any(self.has_numbers(each) for each in given) if self.loop is not None else False
        return (reads or any(map(is_array, given))) and self.is_small(function)

    def is_small(self, function: types.FunctionType) -> bool:
        """Whether a function may be written wherever it is called."""
        if function in self.inside_of or function.__name__ in function.__code__.co_names:
            return False
        try:
            ir, _ = self.lowered(function, ())
        except Escapes:
            return False
        return sum(1 for _ in walk(ir.body)) <= _MOST_WRITTEN and as_expression(ir.body) is not None

    def has_numbers(self, known: Known) -> bool:
        """Whether something is a list or dict of numbers, or of such lists and dicts."""
        if isinstance(known, ListOf | Row):
            return not isinstance(known, ListOf) or (known.of is None and known.sort != "array")
        return not is_thing(known) and holds_numbers(self.kinds.of(known))

    def is_followed(self, function: types.FunctionType, given: tuple[Known, ...]) -> bool:
        """Whether a function that gets something in sight is written where it is called, as far as it gets no more than lists
        only if it may write into them."""
        if any(map(is_only_in_sight, given)):
            return True
        is_container = [number for number, each in enumerate(given) if isinstance(each, ListOf | DictOf)]
        return bool(is_container) and not self.written_by(function).isdisjoint(is_container)


def is_only_in_sight(known: Known) -> bool:
    """Whether something is none of Python's values here, so that a function which gets it is written where it is called."""
    place = known.place if isinstance(known, Row) else known
    return isinstance(known, _FOLLOWED) or (isinstance(place, ListOf) and place.of is not None)
