"""Methods of what is in sight, and what builtins make of lists."""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ir.nodes import Const, Op, fresh, function_constant
from microgradpy.promotion import keying
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.entries import is_dict_object
from microgradpy.promotion.findings import Escapes, Shrinks, Writes
from microgradpy.promotion.functions import Named
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import AnyOf, DictOf, Display, Element, Frame, Known, ListOf, Method, Object, Table, origin_of
from microgradpy.promotion.rounds import Rounds
from microgradpy.runtime.keyed import CLASSES, Keyed
from microgradpy.runtime.suspension import is_generator

_GETATTR = function_constant(getattr)
_MAKE_LISTS = (operator.mul, operator.add, list, sorted)
"""What gives a new list for a list. Their pullbacks take as many cotangents as there were items, so it may not grow."""
_READ_DICTS = frozenset({"values", "items", "keys", "get", "copy"})
_READ_LISTS = frozenset({"index", "count", "copy"})


class Methods(Rounds):
    """What is done with a method that was read from something in sight."""

    def method(self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        receiver = method.receiver
        if isinstance(receiver, Object) and receiver.cls in CLASSES:
            return self.method_of_arranged(op, method, arguments, keywords, frame)
        if isinstance(receiver, DictOf) or is_dict_object(receiver):
            found = self.method_of_entries(op, method, arguments, keywords, frame)
            if found is not None:
                return found
        if isinstance(receiver, ListOf | DictOf | Table):
            return self.method_of_container(op, method, arguments, keywords, frame)
        if method.name == "_replace" and method.function is None and not arguments:
            return self.replaced(method, keywords)
        if method.function is None:  # of `object`
            return NONE
        if is_generator(method.function.__code__):
            found = self.generator(op, method.function, (receiver, *arguments), keywords, frame)
            if found is not None:
                return found
        return self.inline(op, method.function, (receiver, *arguments), keywords, frame, origin_of(receiver))

    def method_of_container(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        receiver = method.receiver
        if isinstance(receiver, ListOf) and receiver.sort == "array":
            return self.method_of_array(op, method, arguments, keywords, frame)
        is_list = isinstance(receiver, Table) or (isinstance(receiver, ListOf) and receiver.sort == "list")
        if is_list and method.name == "append" and len(arguments) == 1 and not keywords:
            self.helped = True
            self.appended.add(receiver.origin)
            self.append(op, receiver, arguments[0])
            return NONE
        found = self.method_of_list(op, method, arguments, keywords, frame) if is_list else None
        if isinstance(receiver, Table):
            raise Escapes(receiver.origin)
        if found is not None:
            return found
        is_dict = isinstance(receiver, ListOf) and receiver.sort == "dict"
        if is_dict and method.name == "get" and 1 <= len(arguments) <= 2 and not keywords:
            return self.get(op, receiver, arguments[0], arguments[1] if len(arguments) == 2 else NONE, frame)
        if is_dict and method.name in keying.WRITING:
            raise Shrinks(receiver.origin, Keyed)
        is_of_numbers = is_dict and receiver.of is not None
        found = self.method_of_numbers(op, receiver, method.name, arguments, frame) if is_of_numbers else None
        if found is not None:
            return found
        if method.name not in (_READ_LISTS if is_list else _READ_DICTS):
            raise Escapes(receiver.origin)
        self.check_objects(receiver, method.name)
        read = fresh("")
        self.add(Op(_GETATTR, (self.plain(receiver, hands=False), Const(method.name)), (read,), where=op.where))
        self.emit(op, read, arguments, keywords, frame)
        return self.known_result(op, frame)

    def check_objects(self, receiver: Known, name: str) -> None:
        """Let a dict of objects whose values are asked for be one under computed keys, which has their numbers."""
        if isinstance(receiver, DictOf) and name == "values" and receiver.origin not in self.facts.written:
            held = fields_of(self.fields, receiver).values()
            if not self.facts.beside_writes and held and all(isinstance(each, Object | Element | AnyOf) for each in held):
                raise Writes(receiver.origin)

    def made_of_list(
        self, op: Op, function: Any, first: ListOf, arguments: tuple[Known, ...], frame: Frame
    ) -> Known | None:
        """What a builtin or an operator makes of a list in sight."""
        origin = (*frame.path, *op.results)
        if function is tuple and self.now(first) in self.contents:
            items = self.contents[self.now(first)]  # type: ignore[index]
            if first.of is not None and not first.depth:
                return Display(origin, tuple(self.as_item(first, each) for each in items))  # type: ignore[arg-type]
            self.emit(op, op.callee, arguments, {}, frame)  # type: ignore[arg-type]
            result = self.known_result(op, frame)
            self.contents[result] = items  # type: ignore[index]
            return result
        if first.sort != "list":
            return None
        if function is dict and len(arguments) == 1:
            return self.dict_of_pairs(op, first, frame)
        is_changed = origin in self.facts.grown or origin in self.facts.shrinking
        if function is list and is_changed and origin not in self.facts.kept:
            return self.copied_list(op, first, origin, frame)
        if function not in _MAKE_LISTS:
            return None
        self.lent |= {known for known in arguments if isinstance(known, ListOf) and known not in self.shown}
        if any(isinstance(known, ListOf) and known.origin in self.facts.asked for known in arguments):
            given = tuple(self.apart(known, op, frame) for known in arguments)
            self.emit(op, op.callee, given, {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        if origin not in self.facts.kept and origin not in self.facts.grown:
            self.new_list_of(op, arguments, frame)
            return self.known_result(op, frame)
        return None
