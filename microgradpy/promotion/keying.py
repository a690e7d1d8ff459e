"""Dicts of which keys are taken away or change places (`runtime/keyed.py`).

    total += d.pop(key)        n = taken_under(order, key);  total += values[n]

A dict that the program makes is an object of a class there, whose methods are written where they are called.
"""

from __future__ import annotations

import collections
import operator
import types
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, Inert, Sequence, TupleOf, is_key, is_ordered, item_kind
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    For,
    Items,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import regions, walk
from microgradpy.promotion.findings import HELD, Escapes, Keys, Origin, Shrinks
from microgradpy.promotion.fusing import as_step, run_over
from microgradpy.promotion.grouping import Grouping
from microgradpy.promotion.object_keys import has_objects, may_be_key, number_of_key, objects_of_keys
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    DictOf,
    Frame,
    Generator,
    Known,
    ListOf,
    Method,
    Object,
    Packing,
    first_origin,
)
from microgradpy.runtime import keyed
from microgradpy.runtime.keyed import (
    BY_KEYS,
    FUNCTIONS,
    KEYED,
    OF_CONTAINERS,
    ORDER,
    PUT_KEYS,
    TAKE_KEYS,
    Counted,
    Defaulted,
    Grouped,
    Keyed,
    Members,
    Ordered,
    keys_by_value,
    keys_of,
    put_within,
    shared_dict,
    shared_list,
)
from microgradpy.runtime.keys import constant_key

_GETITEM, _SETITEM = operator_constant("getitem"), operator_constant("setitem")
_LIST = Const(list, "list", list)
_CONSTANT_KEY = function_constant(constant_key)
_WATCH, _STEP = function_constant(keyed.watch_over), function_constant(keyed.step)
_FINISH = function_constant(keyed.finish)
_MADE = {collections.Counter: Counted, collections.OrderedDict: Ordered, set: Members}
_WITHIN = "within"
_VIEWS = frozenset({"keys", "values", "items"})
_OF_SETS = frozenset({"add", "discard", "remove", "clear", "update"})
WRITING = frozenset({"pop", "setdefault", "update", "popitem", "clear"})
"""The methods of dicts that write."""
_SIZES = {"get": (1, 2), "pop": (1, 2), "setdefault": (1, 2), "__getitem__": (1, 1)}
_SIZES |= dict.fromkeys(("popitem", "clear", "copy", "keys", "values", "items"), (0, 0))
"""How many arguments methods take."""
Named = Mapping[str, Known]


class Keying(Grouping):
    """What is done with dicts whose keys are taken away."""

    # How dicts become such objects

    def of_library(self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        origin = (*frame.path, *op.results)
        if self.facts.beside_writes:
            return None  # a text reads a container when it is written down, not when the function does
        if isinstance(function, type) and function in _MADE and origin not in self.facts.kept:
            return self.of_class_of_dicts(op, origin, _MADE[function], arguments, keywords, frame)
        if function is collections.defaultdict and len(arguments) == 1 and not keywords and origin not in self.facts.kept:
            place = self.defaulted(op, origin, arguments[0], frame)
            if place is not None:
                return place
        if function is constant_key and may_be_key(self, arguments[0]):
            return arguments[0]  # it goes by its number, or escapes
        if function in (shared_list, shared_dict):
            return self.shared(arguments[0], arguments[1], frame)
        if isinstance(function, types.FunctionType) and function in FUNCTIONS:
            return self.asks_keys(op, function, arguments, frame)
        return super().of_library(op, function, arguments, keywords, frame)

    def new_filled_dict(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> None:
        """A display of a dict under computed keys: what is in it may be in sight as well."""
        (result,) = op.results
        self.structure(replace(op, arguments=()), Opcode.DICT, frame)
        place = self.known(result, frame)
        for key, value in zip(arguments[::2], arguments[1::2], strict=True):
            put = Op(_SETITEM, (), (fresh(""),), where=op.where)
            self.write_item(put, (place, key, value), frame)

    @abstractmethod
    def structure(self, op: Op, opcode: Opcode, frame: Frame) -> None:
        """Append what becomes of an operation that is none of Python's functions."""

    def keyed_from(self, op: Op, result: Var, origin: Origin, default: Const | None, frame: Frame) -> Known:
        """A dict that has just been made, as an object of a class that is known by the program's own variable."""
        op = replace(op, results=origin[-1:])
        is_display = op.callee is Opcode.DICT
        pairs = item_kind(self.kinds.of(op.arguments[0])) if len(op.arguments) == 1 and not op.keywords else None
        of_pairs = isinstance(pairs, TupleOf) and len(pairs.items) == 2
        if of_pairs or is_display or default is not None or not (op.arguments or op.keywords):
            self.out.pop()  # nobody has it
        if default is not None:
            return self.new_keyed(op, origin, Defaulted, (default,), frame)
        place = self.new_keyed(op, origin, self.facts.shrinking[origin], (), frame)
        if is_display or not (op.arguments or op.keywords):
            for key, value in zip(op.arguments[::2], op.arguments[1::2], strict=True):
                self.put_key(op, place, key, value, frame)
            return place
        if place.cls in OF_CONTAINERS and not (place.cls is Grouped and of_pairs and self.are_of_new_lists(op.arguments[0])):
            raise Escapes(origin)
        if of_pairs:
            self.of_text(op, place, "fill", op.arguments, frame)
            return place
        if not self.is_dict(result):
            raise Escapes(origin)
        self.of_text(op, place, "take_in", (result,), frame)
        return place

    def are_of_new_lists(self, pairs: Value) -> bool:
        """Whether a comprehension has made pairs of keys and displays of lists, each of which is another list."""
        loop = next((each for each in reversed(self.out) if isinstance(each, For) and pairs in each.results), None)
        if loop is None or self.contents.get(loop.initial[loop.results.index(pairs)]) != ():
            return False
        inner = [region for each in walk(loop.body) for region in regions(each)]
        return all(map(_puts_new_lists, (loop.body, *inner)))

    def dict_of_pairs(self, op: Op, pairs: ListOf, frame: Frame) -> Known | None:
        """`dict(pairs)`, of which the keys may be objects."""
        origin = (*frame.path, op.results[0])
        is_of_objects = isinstance(pairs.of, Packing) and len(pairs.of.items) == 2 and pairs.of.items[0] is not None
        if not is_of_objects or origin in self.facts.kept or self.facts.shrinking.get(origin, Keyed) is not Keyed:
            return super().dict_of_pairs(op, pairs, frame)
        place = self.new_keyed(op, origin, Keyed, (), frame)
        self.of_text(op, place, "fill", (pairs,), frame)
        return place

    def is_dict(self, known: Known) -> bool:
        kind = self.kinds.of(known)
        made = self.kinds.builder.producers.get(known) if isinstance(known, Var) else None
        if made is not None and made.callee is Opcode.DICT:
            return True
        is_keyed = isinstance(known, Object) and known.cls in KEYED and known.cls is not Members
        is_one = is_keyed or (isinstance(known, ListOf) and known.sort == "dict")
        return is_one or isinstance(known, DictOf) or (isinstance(kind, Sequence) and kind.name == "dict")

    # What the texts call

    def asks_keys(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known:
        place = self.owner_of_text(frame)
        if function in TAKE_KEYS or function is keyed.step:
            keys = (*place.origin, _WITHIN) if function is put_within else self.keys_of_place(place)
            key = number_of_key(self, function, keys, arguments[1], place.origin)
            arguments = (arguments[0], key, *arguments[2:])
            if function in PUT_KEYS and not has_objects(self, keys):
                kind = self.kinds.of(key)
                if not is_key(kind) and (isinstance(kind, TupleOf) or (isinstance(kind, Sequence) and kind.name == "tuple")):
                    raise Escapes(place.origin)  # `functools.cache` may have numbers as keys that are differentiated
                arguments = (arguments[0], self.checked_key(key, keys, op), *arguments[2:])
        if function not in BY_KEYS:
            return self.arranges(op, function, arguments, frame)
        if function is keys_by_value and not is_ordered(item_kind(self.kinds.of(self.contents_of(arguments[1])))):
            raise Escapes(place.origin)
        callee = self.gives_keys(function, place)
        read = self.arranges(replace(op, callee=callee), callee.value, arguments, frame)
        return objects_of_keys(self, op, function, self.keys_of_place(place), place.origin, read, frame)

    def keys_of_place(self, place: Object) -> Origin:
        """What the keys of a dict are known by: those of all dicts in a dict are alike."""
        is_within = place in self.owners or place.origin[-1:] == (HELD,)
        return (*place.origin, _WITHIN) if is_within else place.origin

    def checked_key(self, key: Value, keys: Origin, op: Op) -> Value:
        """A key as it is put into a dict: a number that may be differentiated is refused. What the keys of a dict are has to be
        known before somebody gets them."""
        kind = self.kinds.of(key)
        known = self.facts.keys.setdefault(keys, kind)
        if known not in (None, kind):
            self.facts.keys[keys] = None
        if self.keys_given.get(keys, self.facts.keys[keys]) != self.facts.keys[keys]:
            raise Keys(keys)
        if is_key(kind):
            return key
        checked = fresh("key")
        self.add(Op(_CONSTANT_KEY, (key,), (checked,), from_user=False, where=op.where))
        return checked

    def gives_keys(self, function: Any, place: Object) -> Const:
        """What gives keys of a dict: it is said of whole numbers and of texts that they are such."""
        keys = self.keys_of_place(place)
        kind = self.keys_given[keys] = INT if has_objects(self, keys) else self.facts.keys.get(keys, INT)
        numbers, names = BY_KEYS[function]
        return function_constant(numbers if kind == INT else names if kind == Inert("str") else function)

    # Methods and operators

    def method_of_arranged(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        if method.receiver.cls in KEYED:
            return self.method_of_keyed(op, method, arguments, keywords, frame)
        return super().method_of_arranged(op, method, arguments, keywords, frame)

    def method_of_keyed(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        name, place = method.name, method.receiver
        if place.cls is Members:
            is_known = name in _OF_SETS and len(arguments) == (name != "clear") and not keywords
            is_known &= name != "update" or (arguments[0] is not place and self.is_run_over(arguments[0]))
            return self.of_text(op, place, name if is_known else "", arguments, frame)
        if place.cls in OF_CONTAINERS:
            return self.method_of_grouped(op, method, arguments, keywords, frame)
        if name == "setdefault" and place.cls is Keyed:
            self.check_containers(place, arguments[1:])
        return self.method_of_dict(op, place, name, arguments, keywords, frame)

    def method_of_dict(
        self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known:
        if name == "update" and place.cls is not Counted:
            return self.update(op, place, arguments, keywords, frame)
        if place.cls is Ordered and name in ("popitem", "move_to_end"):
            return self.move_or_take(op, place, name, arguments, keywords, frame)
        if place.cls is Counted and name in ("update", "most_common"):
            return self.method_of_counter(op, place, name, arguments, keywords, frame)
        least, most = _SIZES.get(name, (1, 0))
        if keywords or not least <= len(arguments) <= most:
            raise Escapes(place.origin)
        if name in _VIEWS:
            return self.view(op, place, name, frame)
        if name == "copy":
            return self.copy_of(op, (place,), frame)
        if name == "pop" and len(arguments) == 2:
            name = "pop_or"
        elif name in ("get", "setdefault"):
            arguments = (*arguments, NONE)[:2]
        return self.of_text(op, place, name, arguments, frame)

    def move_or_take(
        self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known:
        """`d.move_to_end(key, last)`, `d.popitem(last)`"""
        keys = arguments[:1] if name == "move_to_end" else ()
        last = (*arguments[len(keys) :], *keywords.values(), Const(True))
        is_known = isinstance(last[0], Const) and type(last[0].value) is bool and len(last) <= 2
        if not is_known or not keywords.keys() <= {"last"} or (name == "move_to_end" and not keys):
            raise Escapes(place.origin)
        if keys:
            return self.of_text(op, place, name, (*keys, last[0]), frame)
        return self.of_text(op, place, "popitem" if last[0].value else "popitem_first", (), frame)  # type: ignore[union-attr]

    def view(self, op: Op, place: Object, name: str, frame: Frame) -> Known:
        """`d.keys()`, `d.values()`, `d.items()`, to be run over once."""
        function = self.member_function(place, "__iter__" if name == "keys" else name)
        made = self.generator(op, function, (place,), {}, frame)
        if not isinstance(made, Generator):
            raise Escapes(place.origin)
        return replace(made, over=(place,))

    def put_key(self, op: Op, place: Object, key: Known, item: Known, frame: Frame) -> None:
        """`d[key] = item`"""
        if place.cls in OF_CONTAINERS:
            self.put_container(op, place, key, item, frame)
            return
        self.of_text(op, place, "__setitem__", (key, item), frame)

    def update(self, op: Op, place: Object, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        """`d.update(others, key=value)`"""
        for others in arguments:
            if isinstance(others, DictOf):
                for (owner, key), value in list(self.fields.items()):
                    if owner is others:
                        self.of_text(op, place, "__setitem__", (Const(key), value), frame)
                continue
            made = self.kinds.builder.producers.get(others) if isinstance(others, Var) else None
            if made is not None and made.callee is Opcode.DICT:
                for key, value in zip(made.arguments[::2], made.arguments[1::2], strict=True):
                    self.of_text(op, place, "__setitem__", (key, value), frame)
                continue
            if others is place or len(arguments) > 1 or not self.is_dict(others):
                raise Escapes(place.origin)
            self.of_text(op, place, "take_in", (others,), frame)
        for name, value in keywords.items():
            self.of_text(op, place, "__setitem__", (Const(name), value), frame)
        return NONE

    def joined(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`d | e`, of which one at least is such a dict: a new one."""
        if not any(isinstance(each, Object) and each.cls in KEYED for each in arguments):
            return None
        return self.copy_of(op, arguments, frame)

    def copy_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """A new dict with what is in others."""
        origin = (*frame.path, *op.results)
        is_plain = all(not isinstance(each, Object) or each.cls is Keyed for each in arguments)
        if not is_plain or not all(map(self.is_dict, arguments)) or origin in self.facts.kept:
            raise Escapes(first_origin(arguments))
        place = self.new_keyed(op, origin, Keyed, (), frame)
        for each in arguments:
            self.update(op, place, (each,), {}, frame)
        return place

    def in_place(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, other = arguments
        if isinstance(target, Object) and target.cls in KEYED and op.callee.value is operator.ior:  # type: ignore[union-attr]
            if target.cls in (Counted, Members, *OF_CONTAINERS):
                raise Escapes(target.origin)
            self.update(op, target, (other,), {}, frame)
            return target
        if isinstance(target, Object) and target.cls in KEYED:
            raise Escapes(target.origin)
        return super().in_place(op, arguments, frame)

    def gathered(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`dict(d)`"""
        if len(arguments) == 1 and isinstance(arguments[0], Object) and self.is_dict(arguments[0]):
            return self.copy_of(op, arguments, frame)
        return super().gathered(op, arguments, frame)

    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if isinstance(target, Object) and target.cls in KEYED:
            self.put_key(op, target, arguments[1], arguments[2], frame)
            return NONE
        return super().write_item(op, arguments, frame)

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if isinstance(target, Object) and target.cls in KEYED:
            name = "__getitem__"
            if target.cls in OF_CONTAINERS:
                name = "new_group" if target.origin in self.defaults else "group"
            return self.of_text(op, target, name, arguments[1:], frame)
        return super().read_item(op, arguments, frame)

    def delete_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if isinstance(target, ListOf) and target.sort == "dict":
            raise Shrinks(target.origin, Keyed)
        if isinstance(target, Object) and target.cls in KEYED and target.cls is not Members:
            return self.of_text(op, target, "delete", arguments[1:], frame)
        return super().delete_item(op, arguments, frame)

    def contains(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target = arguments[0]
        if isinstance(target, Object) and target.cls in KEYED:
            return self.of_text(op, target, "__contains__", arguments[1:], frame)
        return super().contains(op, arguments, frame)

    def as_list(self, known: Known, op: Op, frame: Frame) -> Known:
        if isinstance(known, Object) and known.cls in KEYED:
            return self.keys_now(known, op, frame)
        return super().as_list(known, op, frame)

    def keys_now(self, place: Object, op: Op, frame: Frame) -> Known:
        """The keys as a list of their own."""
        keys = fresh("keys")
        made = Op(self.gives_keys(keys_of, place), (self.plain(self.fields[place, ORDER]),), (keys,), where=op.where)
        self.add(made)
        return objects_of_keys(self, made, keys_of, self.keys_of_place(place), place.origin, keys, frame)

    # Loops

    def lower_statement(self, statement: Statement, frame: Frame) -> None:
        """A loop over such a dict is one over its keys, as they are when it begins."""
        over: list[tuple[Object, Value, Value | None]] = []
        items = self.over_keys(statement.items, statement, over, frame) if isinstance(statement, For) else None
        if not isinstance(statement, For) or items is None or not over:
            super().lower_statement(statement, frame)
            return
        begins: list[Statement] = []
        loop = self.loop_of(statement, frame)
        watched = [place for place, *_ in over if loop in self.facts.live]
        if watched and (len(over) > 1 or as_step(statement.body) is None):
            raise Escapes(watched[0].origin)
        watches = []
        for place, key, value in over:
            if watched:
                watch = fresh("watch")
                self.add(Op(_WATCH, (self.plain(self.fields[place, ORDER]),), (watch,), where=statement.where))
                watches.append(watch)
                begins.append(Op(_STEP, (watch, key), (fresh(""),), where=statement.where))
            if value is not None:
                source = fresh("")
                self.bind(source, place, frame)
                begins.append(Op(_GETITEM, (source, key), (value,), where=statement.where))  # type: ignore[arg-type]
        body = replace(statement.body, statements=(*begins, *statement.body.statements))
        running = run_over(self, [place for place, *_ in over if not watched], loop)
        super().lower_statement(replace(statement, items=items, body=body), frame)
        self.running, self.running_in = running
        for watch in watches:
            self.add(Op(_FINISH, (watch,), (fresh(""),), where=statement.where))

    def over_keys(self, items: Items, statement: For, over: list[Any], frame: Frame) -> Items:
        match items:
            case Enumerate(inner=inner):
                return replace(items, inner=self.over_keys(inner, statement, over, frame))
            case Each(source=source, item=key) | DictItems(source=source, key=key):
                place = self.known(source, frame)
                if not isinstance(place, Object) or place.cls not in KEYED:
                    return items
                keys = fresh("keys")
                self.bind(keys, self.keys_now(place, Op(_GETITEM, (), (), where=statement.where), frame), frame)
                over.append((place, key, items.value if isinstance(items, DictItems) else None))
                return Each(keys, key)
        return items

    def is_steady(self, known: Known) -> bool:
        return (isinstance(known, Object) and known.cls in KEYED) or super().is_steady(known)

    def run_over_as_lists(self, statement: For, frame: Frame) -> dict[Value, Object]:
        found = super().run_over_as_lists(statement, frame)
        return {value: place for value, place in found.items() if place.cls not in KEYED}


def _puts_new_lists(region: Region) -> bool:
    """Whether what a region appends are tuples with lists that it has just made."""
    made = {each.results[0]: each for each in region.statements if isinstance(each, Op) and each.results}
    tuples = [made.get(each.arguments[1]) for each in made.values() if each.callee is Opcode.APPEND]  # type: ignore[arg-type]
    lists = [made.get(each.arguments[-1]) for each in tuples if each is not None and each.callee is Opcode.TUPLE]  # type: ignore[arg-type]
    return len(lists) == len(tuples) and all(each is not None and each.callee is Opcode.LIST for each in lists)
