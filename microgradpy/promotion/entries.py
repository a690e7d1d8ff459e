"""Dicts whose keys are texts that stand in the program, as objects: their entries are fields.

    rows.append({"a": x, "b": k})       row_a.append(x);  row_b.append(k)
    for row in rows:                    for row in range(len(row_a)):
        row["c"] = row["a"] * 2             row_c[row] = row_a[row] * 2;  row_has_c[row] = True

A dict that is a variable for each of its entries becomes an object where that is not enough: a container gets it, a loop
carries another one in each iteration, or a key is there on one path only. Such a key has a field that says whether it is.
"""

from __future__ import annotations

import operator
import types
from typing import Any, cast

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Sequence
from microgradpy.ir.nodes import Const, Op, Opcode, Var, fresh, function_constant, operator_constant
from microgradpy.promotion.base import column_hint, fields_of
from microgradpy.promotion.class_members import class_constant
from microgradpy.promotion.findings import Enters, Escapes, Origin
from microgradpy.promotion.functions import Named
from microgradpy.promotion.keying import Keying
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    THERE,
    DictOf,
    Element,
    Frame,
    Known,
    ListOf,
    Method,
    Object,
    first_origin,
    origin_of,
)
from microgradpy.runtime.dict_objects import check_entry, entry_or, is_class_of_dicts, may_be_field, presence_of

_CHECK_ENTRY = function_constant(check_entry)
_GETITEM, _ENTRY_OR = operator_constant("getitem"), cast("types.FunctionType", entry_or)
_TRUE, _FALSE, _FILLER = Const(True), Const(False), Const(0.0)
Entries = dict[str, Known]


class Entering(Keying):
    """What is done with dicts that are objects."""

    # How they are made

    def new_dict(self, op: Op, known: tuple[Known, ...], frame: Frame) -> None:
        keys = [key.value for key in op.arguments[::2] if isinstance(key, Const)]
        self.bind(op.results[0], self.new_display(op, dict(zip(keys, known[1::2], strict=True)), frame), frame)

    def new_display(self, op: Op, entries: dict[Any, Known], frame: Frame) -> Known:
        """A dict of which all entries are known, as a variable for each or as an object."""
        (result,) = op.results
        origin: Origin = (*frame.path, result)
        if all(map(may_be_field, entries)):
            self.facts.displays[origin] = tuple(entries)
        cls = self.facts.as_objects.get(origin)
        if cls is None or cls.first != tuple(entries):
            made = DictOf(origin, result.hint, replace(op, callee=Opcode.DICT, arguments=(), keywords=()))
            self.fields |= {(made, key): known for key, known in entries.items()}
            return made
        place = Object(origin, cls, class_constant(cls), result.hint)
        self.made_in[place] = self.out
        self.fields[place, THERE] = NONE
        self.fields |= {(place, key): known for key, known in entries.items()}
        for key in cls.later:
            self.fields[place, key], self.fields[place, presence_of(key)] = _FILLER, _FALSE
        self.helped = True
        return self.made_object(op, place)

    def of_library(self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """`dict(a=x, b=y)`, and `dict(d)` of a dict of which the keys are proven"""
        if function is dict and not arguments and keywords and self.may_be_display(op, frame):
            return self.new_display(op, dict(keywords), frame)
        if function is dict and len(arguments) == 1 and not keywords and isinstance(arguments[0], Var):
            found = self.copied_dict(op, arguments[0], frame)
            if found is not None:
                return found
        return super().of_library(op, function, arguments, keywords, frame)

    def may_be_display(self, op: Op, frame: Frame) -> bool:
        """Whether a dict that a call makes may be one of which all entries are known."""
        origin = (*frame.path, op.results[0])
        return not any(origin in known for known in (self.facts.kept, self.facts.written, self.facts.shrinking))

    def given_to(self, place: ListOf, item: Known) -> Any:
        self.check_entering(item)
        return super().given_to(place, item)

    # What they hold

    def entries_of(self, op: Op, known: Known, frame: Frame) -> Entries | None:
        """What is in a dict now, in the order of its keys; None if that is not known."""
        if any(place is known and (place, name) not in self.fields for place, name in self.unsure):
            return None
        if isinstance(known, DictOf):
            return fields_of(self.fields, known)
        if isinstance(known, Var):
            return self.entries_read(op, known)
        if not is_dict_object(known) or not self.is_present_dict(known):
            return None
        keys = self.keys_there(op, known, frame)  # type: ignore[arg-type]
        return None if keys is None else {key: self.entry(op, known, key, frame) for key in keys}  # type: ignore[arg-type]

    def entries_read(self, op: Op, known: Var) -> Entries | None:
        """What is in a dict of which it is proven which keys it has, in their order."""
        kind = self.kinds.of(known)
        keys = [key for key, _ in kind.entries] if isinstance(kind, Sequence) and kind.name == "dict" else []
        if not keys or not all(map(may_be_field, keys)) or self.facts.beside_writes:
            return None
        found: Entries = {}
        for key in keys:
            read = found[key] = fresh(column_hint("", key).strip("_"), True)
            self.add(Op(_GETITEM, (known, Const(key)), (read,), where=op.where))
        return found

    def keys_there(self, op: Op, target: Object | Element, frame: Frame) -> tuple[str, ...] | None:
        """The keys of a dict in their order; None if that is not known."""
        cls: Any = target.cls
        found = {key: self.presence(op, target, key, frame) for key in cls.later}
        later = tuple(key for key, is_there in found.items() if is_there == _TRUE)
        is_known = all(isinstance(is_there, Const) for is_there in found.values())
        return (*cls.first, *later) if is_known and len(later) <= 1 else None

    def is_present_dict(self, known: Known) -> bool:
        return not isinstance(known, Element) or self.is_there(known)

    def entry(self, op: Op, target: Object | Element, name: str, frame: Frame) -> Known:
        """What a field is now."""
        if isinstance(target, Object):
            if (target, name) not in self.fields:
                raise Escapes(target.origin)
            return self.fields[target, name]
        read = replace(op, callee=_GETITEM, arguments=(), keywords=(), results=(fresh(name.strip("?_"), True),), payload=None)
        found = super().read_item(read, (target.table.columns[name], target.index), Frame((*frame.path, op.results[0], name)))
        assert found is not None
        return found

    def presence(self, op: Op, target: Object | Element, key: str, frame: Frame) -> Known:
        """Whether a key is there: a constant where that is known."""
        if key in target.cls.first:  # type: ignore[attr-defined]
            return _TRUE
        if key not in target.cls.later:  # type: ignore[attr-defined]
            return _FALSE
        if isinstance(target, Element) and (target.table, target.index, key) in self.present:
            return _TRUE
        found = self.entry(op, target, presence_of(key), frame)
        if isinstance(target, Element) and isinstance(found, Var):
            self.tests[found] = frozenset(((target.table, target.index, key),)), frozenset()
        return found

    def key_of(self, target: Object | Element, key: Known) -> str:
        if not self.is_present_dict(target) or not isinstance(key, Const) or not may_be_field(key.value):
            raise Escapes(origin_of(target))
        return key.value  # type: ignore[no-any-return]

    # Reading and writing

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if not is_dict_object(target):
            return super().read_item(op, arguments, frame)
        assert isinstance(target, Object | Element)
        key = self.key_of(target, arguments[1])
        is_there = self.presence(op, target, key, frame)
        if is_there == _FALSE:
            raise Escapes(origin_of(target))
        if is_there != _TRUE:
            if self.trying:
                raise Escapes(origin_of(target), is_tried=True)  # who catches the error would see another one raised
            self.add(Op(_CHECK_ENTRY, (self.plain(is_there), Const(key)), (fresh(""),), where=op.where))
        self.note_there(target, key)
        return self.entry(op, target, key, frame)

    def note_there(self, target: Object | Element, key: str) -> None:
        if isinstance(target, Element) and key in target.cls.later:  # type: ignore[attr-defined]
            self.present |= {(target.table, target.index, key)}

    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if not is_dict_object(target):
            return super().write_item(op, arguments, frame)
        assert isinstance(target, Object | Element)
        self.put_entry(op, target, self.key_of(target, arguments[1]), arguments[2], frame)
        return NONE

    def put_entry(self, op: Op, target: Object | Element, key: str, value: Known, frame: Frame) -> None:
        cls: Any = target.cls
        if key not in (*cls.first, *cls.later):
            raise Enters(cls, key)
        self.helped = True
        names = [(key, value)]
        if key in cls.later and self.presence(op, target, key, frame) != _TRUE:
            names.append((presence_of(key), _TRUE))
        for name, known in names:
            if isinstance(target, Object):
                self.write(target, name, known)
            else:
                self.note_write(target)
                column = target.table.columns[name]
                super().write_item(op, (column, target.index, known), frame)
        self.note_there(target, key)

    def update_entries(self, op: Op, target: Known, others: dict[Any, Known], frame: Frame) -> None:
        """`target.update(others)`"""
        for key, value in others.items():
            self.write_item(op, (target, Const(key), value), frame)

    def contains(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, key = arguments
        if not is_dict_object(target):
            return super().contains(op, arguments, frame)
        return self.presence(op, target, self.key_of(target, key), frame)  # type: ignore[arg-type]

    def length(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        (target,) = arguments
        if not is_dict_object(target):
            return super().length(op, arguments, frame)
        keys = self.keys_there(op, target, frame) if self.is_present_dict(target) else None  # type: ignore[arg-type]
        if keys is None:
            raise Escapes(origin_of(target))  # type: ignore[arg-type]
        return Const(len(keys))

    def is_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, cls = arguments
        if not is_dict_object(target):
            return super().is_of(op, arguments, frame)
        if not self.is_present_dict(target) or not isinstance(cls, Const) or type(cls.value) is not type:
            raise Escapes(origin_of(target))  # type: ignore[arg-type]
        return Const(cls.value in dict.__mro__)

    def class_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        if is_dict_object(arguments[0]):
            raise Escapes(first_origin(arguments))
        return super().class_of(op, arguments, frame)

    # Methods

    def read_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if not is_dict_object(target):
            return super().read_attribute(op, arguments, frame)
        if len(arguments) != 2 or not isinstance(arguments[1], Const) or not self.is_present_dict(target):
            raise Escapes(origin_of(target))  # type: ignore[arg-type]
        return Method(target, None, arguments[1].value)

    def write_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        if is_dict_object(arguments[0]):
            raise Escapes(first_origin(arguments))
        return super().write_attribute(op, arguments, frame)

    def method_of_entries(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A method of a dict of which the entries are known; None if it is called as it stands."""
        target = method.receiver
        match method.name, arguments:
            case "get", (key, *default) if is_dict_object(target) and len(default) <= 1 and not keywords:
                return self.entry_or(op, target, self.key_of(target, key), (*default, NONE)[0], frame)
            case "copy", () if not keywords and (found := self.copied_dict(op, target, frame)) is not None:
                return found
            case "update", () | (_,):
                others = self.entries_of(op, arguments[0], frame) if arguments else {}
                if others is not None:
                    self.update_entries(op, target, {**others, **keywords}, frame)
                    return NONE
        if is_dict_object(target):
            raise Escapes(origin_of(target))
        return None

    def entry_or(self, op: Op, target: Object | Element, key: str, default: Known, frame: Frame) -> Known:
        """`d.get(key, default)`"""
        is_there = self.presence(op, target, key, frame)
        if isinstance(is_there, Const):
            return self.entry(op, target, key, frame) if is_there == _TRUE else default
        given = is_there, self.entry(op, target, key, frame), default
        return self.inline(op, _ENTRY_OR, given, {}, frame, origin_of(target))

    def copied_dict(self, op: Op, known: Known, frame: Frame) -> Known | None:
        """Another dict with the same entries; None if they are not known."""
        if not self.may_be_display(op, frame):
            return None
        entries = self.entries_of(op, known, frame)
        if entries is not None:
            return self.new_display(op, entries, frame)
        if not is_dict_object(known) or not self.is_present_dict(known):
            return None
        cls: Any = known.cls  # type: ignore[union-attr]
        place = Object((*frame.path, op.results[0]), cls, class_constant(cls), op.results[0].hint)
        self.made_in[place] = self.out
        self.fields[place, THERE] = NONE
        names = (*cls.first, *cls.later, *map(presence_of, cls.later))
        self.fields |= {(place, name): self.entry(op, known, name, frame) for name in names}  # type: ignore[arg-type]
        return self.made_object(op, place)

    def gathered(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`dict(d)`"""
        found = self.copied_dict(op, arguments[0], frame) if len(arguments) == 1 else None
        return super().gathered(op, arguments, frame) if found is None else found

    def joined(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`d | e`, which is what `{**d, "k": v}` becomes"""
        first, second = (self.entries_of(op, each, frame) for each in arguments)
        if first is not None and second is not None and self.may_be_display(op, frame):
            return self.new_display(op, {**first, **second}, frame)
        made = self.copied_dict(op, arguments[0], frame) if second is not None else None
        if made is None or second is None:
            return super().joined(op, arguments, frame)
        self.update_entries(op, made, second, frame)
        return made

    def in_place(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`d |= e`"""
        target, other = arguments
        is_union = isinstance(op.callee, Const) and op.callee.value is operator.ior
        if is_union and (isinstance(target, DictOf) or is_dict_object(target)):
            entries = self.entries_of(op, other, frame)
            if entries is not None:
                self.update_entries(op, target, entries, frame)
                return target
        return super().in_place(op, arguments, frame)

    def display_of(self, op: Op, known: Known, frame: Frame) -> Known:
        """A dict that is an object as one with a variable for each entry, to be looked at once."""
        entries = self.entries_of(op, known, frame) if is_dict_object(known) or isinstance(known, Var) else None
        if entries is None:
            return known
        display = DictOf((*frame.path, *op.results), "", op)
        self.fields |= {(display, key): each for key, each in entries.items()}
        return display


def is_dict_object(known: Known) -> bool:
    """Whether something is a dict that is an object."""
    return isinstance(known, Object | Element) and is_class_of_dicts(known.cls)
