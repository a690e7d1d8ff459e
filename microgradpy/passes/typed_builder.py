"""A builder that proves what it can of each call while it emits it, and emits nothing where folding gives the value."""

from __future__ import annotations

from types import BuiltinFunctionType
from typing import Any

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.axes import Axes
from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import UNKNOWN, Kind, Scalar, TupleOf, python_type
from microgradpy.ir.nodes import Const, Opcode, Value, Var
from microgradpy.ir.random_sources import is_source_class
from microgradpy.passes.expansion import expand
from microgradpy.passes.folding import fold
from microgradpy.passes.lengths import axis_read, length_of, lengths_of
from microgradpy.passes.result_kinds import kinds_of_items, result_kind

Keywords = tuple[tuple[str, Value], ...]


@dataclass
class TypedBuilder(Builder):
    """`active` holds the variables that may depend on a differentiated argument."""

    active: set[Var] = field(default_factory=set)

    def is_active(self, value: Value) -> bool:
        return isinstance(value, Var) and value in self.active

    def call(
        self,
        callee: Value,
        arguments: tuple[Value, ...],
        keywords: Keywords = (),
        *,
        hint: Var | str = "",
        from_user: bool = False,
        kind: Kind | None = None,
    ) -> Value:
        """The value of `callee(*arguments, **keywords)`, by folding if the compiler made the call."""
        if not from_user and not keywords and isinstance(callee, Const):
            folded = fold(callee.value, arguments, self.kind)
            if folded is not None:
                return folded
            expanded = expand(callee.value, arguments, self, hint)
            if expanded is not None:
                return expanded
        proven = self.kind_of_call(callee, arguments, keywords) if kind is None else kind
        (result,) = self.operation(callee, arguments, keywords, kinds=(proven,), hints=(hint,), from_user=from_user)
        return result

    def kind_of_call(self, callee: Value, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        function: object = None
        if isinstance(callee, Const):
            function = callee.value
        elif isinstance(callee, Var) and (of_class := self.function_of_class(callee)) is not None:
            function = of_class
        elif isinstance(callee, Var):
            method = self.method(callee)
            if method is None:
                return UNKNOWN
            function, target = method
            arguments = (target, *arguments)
        return self.kind_of_result(function, arguments, keywords)

    def kind_of_result(self, function: object, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        """What is proven of what a function that is known returns."""
        key = None if keywords else self._arithmetic(function, arguments)
        if key is None:
            return result_kind(function, *self._described(function, arguments, keywords))
        found = _of_arithmetic.get(key)
        if found is None:
            if len(_of_arithmetic) >= _MOST:
                _of_arithmetic.clear()
            found = _of_arithmetic[key] = result_kind(function, *self._described(function, arguments, keywords))
        return found

    def _arithmetic(self, function: object, arguments: tuple[Value, ...]) -> tuple[object, ...] | None:
        """If a call is one of a builtin function of numbers with nothing but numbers: that with their kinds and the constants
        among them, on which it depends what is proven of its result."""
        if type(function) is not BuiltinFunctionType or function.__module__ not in _OF_NUMBERS:
            return None
        key: list[object] = [function]
        for value in arguments:
            kind = self.kind(value)
            if type(kind) is not Scalar:
                return None
            key.append(kind.name if isinstance(value, Var) else value)
        return tuple(key)

    def kinds_of_items(self, function: object, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        """The same of the items of a tuple of a class of its own, as the kind of a plain one."""
        return kinds_of_items(function, *self._described(function, arguments, keywords))

    def _described(self, function: object, arguments: tuple[Value, ...], keywords: Keywords) -> Any:
        is_foreign = not str(getattr(function, "__module__", None) or "numpy").startswith("numpy")
        kinds = tuple(map(self.kind if is_foreign else self.kind_of_display, arguments))
        values = tuple(map(self.as_constant, arguments))
        named = {name: self.as_constant(value) for name, value in keywords}
        return kinds, values, named, self.kind_of_display, self.lengths_of

    def lengths_of(self, shape: Value, sure: bool) -> Axes | None:
        return lengths_of(shape, self, axis_read if sure else length_of)

    def as_constant(self, value: Value) -> Value:
        """A tuple or list of constants that is written as an argument, as a constant."""
        made = self.producers.get(value) if isinstance(value, Var) else None
        if made is None or made.callee is not Opcode.TUPLE or not all(isinstance(item, Const) for item in made.arguments):
            return value
        return Const(tuple(item.value for item in made.arguments if isinstance(item, Const)))

    def kind_of_display(self, parts: Value) -> Kind:
        """What is proven of a list that is written as an argument: nobody else has it, so it is as good as a tuple."""
        made = self.producers.get(parts) if isinstance(parts, Var) and not parts.user_named else None
        if made is None or made.callee is not Opcode.LIST:
            return self.kind(parts)
        return TupleOf(tuple(map(self.kind_of_display, made.arguments)))

    def function_of_class(self, callee: Var) -> object:
        """If `callee` was read from a builtin class, as `dict.values`: the function."""
        read = self.producers.get(callee)
        match read.arguments[:2] if read is not None and is_getattr(read.callee) else ():
            case (Const(value=cls), Const(value=name)) if cls in (dict, list, str):
                return getattr(cls, name, None)
        return None

    def method(self, callee: Var) -> tuple[object, Value] | None:
        """If `callee` was read as a method of an array, or of a dict: the unbound method and the array."""
        producer = self.producers.get(callee)
        if producer is None or not is_getattr(producer.callee):
            return None
        target, name = producer.arguments[:2]
        cls = python_type(self.kind(target))
        if cls is None or not (cls in (np.ndarray, dict, str) or is_source_class(cls)) or not isinstance(name, Const):
            return None
        unbound = getattr(cls, name.value, None)
        return (unbound, target) if callable(unbound) else None


def is_getattr(callee: Opcode | Value) -> bool:
    return isinstance(callee, Const) and callee.value is getattr


_OF_NUMBERS = ("_operator", "math")
_MOST = 4096
_of_arithmetic: dict[tuple[object, ...], Kind] = {}
"""What such calls give, of which there are few, and thousands in long functions."""
