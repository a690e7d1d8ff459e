"""How dicts become objects of the library's classes, and those among them that have lists or dicts as values, or count.

groups[key].append(v)      group = group_or_new(order, key);  values.append(v);  group.append(n)
g[u][v] = w                inner = group_of(order, u);  values.append(w);  inner[v] = n
"""

from __future__ import annotations

import builtins
import collections
from abc import abstractmethod
from collections.abc import Mapping

from microgradpy.ir.nodes import Const, Op, Opcode, Var
from microgradpy.promotion.arranging import Arranging
from microgradpy.promotion.findings import Escapes, Origin, Shrinks, Writes
from microgradpy.promotion.object_keys import are_objects, set_of
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import THERE, DictOf, Frame, Known, ListOf, Method, Object
from microgradpy.promotion.stores import made_by_call
from microgradpy.runtime.arranged import Arranged
from microgradpy.runtime.keyed import OF_CONTAINERS, Counted, Defaulted, Grouped, Keyed, Members, Nested

Named = Mapping[str, Known]


class Grouping(Arranging):
    """What is done with dicts of lists and of dicts, and with Counters."""

    @abstractmethod
    def is_dict(self, known: Known) -> bool:
        """Whether something is known to be a dict."""

    @abstractmethod
    def view(self, op: Op, place: Object, name: str, frame: Frame) -> Known:
        """`d.keys()`, `d.values()`, `d.items()`, to be run over once."""

    def of_class_of_dicts(
        self, op: Op, origin: Origin, cls: type, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """`Counter()`, `Counter(items)`, `OrderedDict()`, `set()`, `set(objects)`; None if it is made of something else."""
        if cls is Members and len(arguments) == 1 and not keywords and are_objects(self, arguments[0]):
            return set_of(self, op, origin, arguments[0], frame)
        counts = cls is Counted and len(arguments) == 1 and self.is_counted(arguments[0])
        if keywords or (arguments and not counts):
            return None
        place = self.new_keyed(op, origin, cls, (), frame)
        if arguments:
            self.of_text(op, place, "count", arguments, frame)
        return place

    def is_counted(self, items: Known) -> bool:
        """Whether a Counter counts each of some items, rather than to take over what a dict says."""
        return self.is_run_over(items) and not self.is_dict(items)

    def defaulted(self, op: Op, origin: Origin, factory: Known, frame: Frame) -> Known | None:
        """`collections.defaultdict` of lists or dicts; None if it is of something else."""
        made = made_by_call(self, factory)
        match made:
            case Op(callee=Opcode.LIST, arguments=()) | Op(callee=Const(value=builtins.list), arguments=()):
                cls: type = Grouped
            case Op(callee=Opcode.DICT, arguments=()) | Op(callee=Const(value=builtins.dict), arguments=()):
                cls = Nested
            case Op(callee=Const(value=collections.defaultdict) as head) if inner := self.default_of_dict(made, head):
                cls = Nested
                self.inner_defaults[origin] = inner
            case _:
                return None
        self.defaults.add(origin)
        return self.new_keyed(op, origin, cls, (), frame)

    def shared(self, items: Known, order: Known, frame: Frame) -> Known:
        """One of the lists or dicts in a dict, as an object that has its values in one with the others."""
        owner = next(known for known in frame.values.values() if isinstance(known, Object) and known.cls in OF_CONTAINERS)
        default = self.inner_defaults.get(owner.origin)
        cls: type = Arranged if owner.cls is Grouped else Keyed if default is None else Defaulted
        place = Object(owner.origin, cls, Const(cls, cls.__name__, cls), owner.hint)
        self.made_in[place] = self.out
        self.fields[place, THERE] = NONE
        self.fields[place, "_items"], self.fields[place, "_order"] = items, order
        if cls is Defaulted:
            self.fields[place, "_default"] = default  # type: ignore[assignment]
        self.owners[place] = self.owners.get(owner, owner)
        return place

    def new_keyed(self, op: Op, origin: Origin, cls: type, arguments: tuple[Known, ...], frame: Frame) -> Object:
        place = self.construct(op, Const(cls, cls.__name__, cls), cls, arguments, {}, frame, origin)
        assert isinstance(place, Object)
        return place

    def check_containers(self, place: Object, given: tuple[Known, ...]) -> None:
        """Let a dict be one of lists or dicts if it gets some."""
        for each in given:
            made = self.kinds.builder.producers.get(each) if isinstance(each, Var) and each in self.fresh else None
            if isinstance(each, ListOf) or (made is not None and made.callee is Opcode.DICT):
                raise Shrinks(place.origin, Grouped if isinstance(each, ListOf) and each.sort == "list" else Nested)

    def method_of_counter(
        self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known:
        """`counter.update(items)`, `counter.most_common(count)`"""
        match name, arguments:
            case "update", (items,) if not keywords and items is not place and self.is_counted(items):
                return self.of_text(op, place, "count", arguments, frame)
            case "most_common", () | (Const(value=None),) if not keywords:
                return self.of_text(op, place, "all_common", (), frame)
            case "most_common", (Const(value=int() as most),) if not keywords and most >= 0:
                return self.of_text(op, place, name, arguments, frame)
        raise Escapes(place.origin)

    def method_of_grouped(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        name, place = method.name, method.receiver
        if keywords:
            raise Escapes(place.origin)
        match name, arguments:
            case "setdefault", (key, ListOf() as items) if place.cls is Grouped and self.contents.get(self.now(items)) == ():  # type: ignore[arg-type]
                self.stands(items, None)
                return self.of_text(op, place, "new_group", (key,), frame)
            case "setdefault", (key, ListOf() | Var() as items) if place.cls is Nested and self.is_new_dict(items):
                return self.of_text(op, place, "new_group", (key,), frame)
            case ("pop", (_,)) | ("clear", ()):
                return self.of_text(op, place, name, arguments, frame)
            case "keys" | "values", ():
                return self.view(op, place, name, frame)
        raise Escapes(place.origin)

    def put_container(self, op: Op, place: Object, key: Known, item: Known, frame: Frame) -> None:
        """The same of a list or dict, which nobody else may have."""
        self.check_written(item)
        if isinstance(item, DictOf):
            raise Writes(item.origin)
        sort = "list" if place.cls is Grouped else "dict"
        if not isinstance(item, ListOf) or item.sort != sort or item in self.shown or item in self.standing or item.depth:
            raise Escapes(place.origin)
        if item.default != self.inner_defaults.get(place.origin):
            raise Escapes(place.origin)
        self.of_text(op, place, "__setitem__", (key, item), frame)
        self.stands(item, None)

    def is_new_dict(self, known: Known) -> bool:
        """Whether something is a dict with nothing in it, that nobody else has from here on."""
        self.check_written(known)
        made = self.kinds.builder.producers.get(self.now(known)) if isinstance(known, ListOf) else None  # type: ignore[arg-type]
        is_empty = made is not None and made.callee is Opcode.DICT and not made.arguments
        if is_empty and known not in self.shown:
            self.stands(known, None)  # type: ignore[arg-type]
            return True
        return False
