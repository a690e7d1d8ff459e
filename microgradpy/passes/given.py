"""The arguments of a call by the names of the parameters, as the rules of `passes/kind_table.py` read them.

    "a shape order~"            `order` may be anything: the kind of the result does not depend on it
    "a axis=None out=None!"     of a call that gives `out` another value than its default nothing is proven
    "subscripts *operands"      any number of them
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.axes import Axes
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import UNKNOWN, Array, Kind
from microgradpy.ir.nodes import Const, Value
from microgradpy.passes.broadcasting import MISSING

LengthsOf = Callable[[Value, bool], Axes | None]


@final
@dataclass(frozen=True, slots=True)
class Parameters:
    """Names in order, `count` of which can be given by position; their defaults, those that may be anything, and those that
    have to be at their default. `rest`: there may be more positional arguments."""

    names: tuple[str, ...]
    count: int
    defaults: Mapping[str, Any]
    ignored: frozenset[str]
    fixed: frozenset[str]
    rest: bool

    @classmethod
    def of(cls, text: str) -> Parameters:
        words = text.split()
        parts = [word.rstrip("~!").partition("=") for word in words if not word.startswith("*")]
        names = tuple(name for name, _, _ in parts)
        rest = [place for place, word in enumerate(words) if word.startswith("*")]
        defaults = {name: ast.literal_eval(default) for name, _, default in parts if default}
        marked = {mark: frozenset(word.rstrip(mark).partition("=")[0] for word in words if word[-1] == mark) for mark in "~!"}
        return cls(names, rest[0] if rest else len(names), defaults, marked["~"], marked["!"], bool(rest))


@final
@dataclass(frozen=True, slots=True)
class Given:
    """`kinds` and `values` by name, of those that are given; `rest` are the further ones. `lengths_of` says which symbols the
    lengths in a shape have, if asked for those only that are surely not below zero."""

    parameters: Parameters
    kinds: Mapping[str, Kind]
    values: Mapping[str, Value]
    rest: tuple[Kind, ...]
    rest_values: tuple[Value, ...]
    lengths_of: LengthsOf = field(repr=False)

    def kind(self, name: str) -> Kind:
        """The kind of an argument, or of the default."""
        if name in self.kinds:
            return self.kinds[name]
        return kind_of(self.parameters.defaults[name]) if name in self.parameters.defaults else UNKNOWN

    def constant(self, name: str) -> Any:
        """The value of an argument, or the default; MISSING if it is not known now."""
        if name not in self.values:
            return self.parameters.defaults.get(name, MISSING)
        value = self.values[name]
        return value.value if isinstance(value, Const) else MISSING

    def array(self, name: str) -> Array | None:
        """The kind of an argument that is an array of known rank, which is not 0."""
        kind = self.kind(name)
        return kind if isinstance(kind, Array) and kind.ndim else None

    def lengths(self, name: str, *, sure: bool = False) -> Axes | None:
        """The symbols of the lengths in a shape; None if it is not known how many there are."""
        return self.lengths_of(self.values[name], sure) if name in self.values else None

    def axis(self, name: str, ndim: int) -> int | None:
        """An axis as a number from 0 on; None if it is not known, or none."""
        axis = self.constant(name)
        return axis % ndim if type(axis) is int and -ndim <= axis < ndim else None


def bind(
    parameters: Parameters,
    kinds: tuple[Kind, ...],
    values: tuple[Value, ...],
    keywords: Mapping[str, Value],
    kind_of_value: Callable[[Value], Kind],
    lengths_of: LengthsOf,
) -> Given | None:
    """The arguments by name; None if nothing is known of such a call."""
    count = min(len(values), parameters.count)
    if (len(values) > count and not parameters.rest) or not keywords.keys() <= set(parameters.names[count:]):
        return None
    by_name = {**dict(zip(parameters.names, values[:count], strict=False)), **keywords}
    if any(
        name not in by_name and name not in parameters.defaults for name in parameters.names if name not in parameters.ignored
    ):
        return None
    for name in parameters.fixed & by_name.keys():
        value = by_name[name]
        if not isinstance(value, Const) or not _is(value.value, parameters.defaults[name]):
            return None
    known = dict(zip(parameters.names, kinds[:count], strict=False))
    known |= {name: kind_of_value(value) for name, value in keywords.items()}
    return Given(parameters, known, by_name, kinds[count:], values[count:], lengths_of)


def _is(value: Any, default: Any) -> bool:
    if value is default or value is np._NoValue:
        return True
    return type(value) is type(default) and type(value) in (int, float, str, tuple) and bool(value == default)
