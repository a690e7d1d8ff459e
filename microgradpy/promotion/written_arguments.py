"""Arguments that a function writes into: a field that is assigned is a variable, like those of an object made inside, and the
object is written into as well, at the place and in the order of the program, and read no more.

    sim.v -= sim.k * sim.x * dt                 v = v - k * x * dt
    sim.history.append(sim.x)                   sim.v = v
                                                history.append(x)

A list or dict that the program also reads is computed with as one of its own, which begins as a copy; the user's gets what is
written. So what is saved for the adjoint is nobody else's, and an exception leaves the argument as the plain program does.
"""

from __future__ import annotations

import operator
import types
from abc import abstractmethod
from typing import Any

from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import map_axes
from microgradpy.ir.nodes import (
    FROM_FRONT,
    STATEMENT,
    Const,
    Continue,
    DictItems,
    Each,
    For,
    Function,
    Items,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.promotion import classes
from microgradpy.promotion.calls import Calls
from microgradpy.promotion.findings import Assigned, Changes, Escapes, Facts
from microgradpy.promotion.functions import Lower
from microgradpy.promotion.given import holds_objects
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    CONTENTS,
    THERE,
    Frame,
    Known,
    ListOf,
    Object,
    Part,
    Row,
    Step,
    View,
    first_origin,
    origin_of,
)
from microgradpy.runtime.fields import IS_MEANT, assign, dict_of, list_of, put
from microgradpy.runtime.keyed import CLASSES

_ASSIGN, _PUT = function_constant(assign), function_constant(put)
_LIST_OF, _DICT_OF = function_constant(list_of), function_constant(dict_of)


class WrittenArguments(Calls):
    """What is done with parts of arguments that are written into."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts) -> None:
        super().__init__(function, lower, facts)
        self.roots: dict[int, Part] = {}
        self.leaves: set[Var] = set()
        self.places: dict[Part, ListOf] = {}
        """The lists and dicts that the program computes with in the place of the user's."""
        self.reached: dict[int, Part] = {}
        """The objects and containers that have parts, by identity."""
        self.containers: dict[Known, Part] = {}
        """The lists and dicts that are inputs as they stand."""

    @abstractmethod
    def part(self, holder: Part, step: Step) -> Known:
        """What is reached from a part by a step."""

    @abstractmethod
    def found(self, op: Op, target: Part, name: str, frame: Frame) -> Known | None:
        """What an object has under a name; None if nothing."""

    @abstractmethod
    def variable(self, name: str) -> Known | None:
        """A variable of the module that is an object, or holds some; None if it is not in sight."""

    # Where the program begins

    def begin_writes(self, function: Function, frame: Frame) -> list[Statement]:
        """Let what is going to be written into be variables from the beginning; the statements that make them."""
        outer, self.out = self.out, []
        for path in self.facts.changed:
            if not self.is_inside_a_whole(path):
                self.begin_container(path)
        for number, root in self.roots.items():
            if (root.first or root) in self.places:
                self.bind(function.inputs[number], self.places[root.first or root], frame)
        for path, name in self.facts.assigned:
            if not self.is_inside_a_whole(path):
                self.begin(path, name, frame)
        begun, self.out = self.out, outer
        return begun

    def is_inside_a_whole(self, path: tuple[Any, ...]) -> bool:
        """Whether a part is one of something that is an input as it stands, and so has no parts."""
        return any(path[:count] in self.facts.wholes for count in range(1, len(path)))

    def begin(self, path: tuple[Any, ...], name: Any, frame: Frame) -> None:
        """Let a field, or what is under a key, that is going to be written into be a variable from the beginning."""
        part = self.at_path(path)
        if part in self.places:
            return
        if isinstance(name, tuple):
            known: Known | None = self.part(part, name)
        else:
            known = self.found(Op(NONE, (), ()), part, name, frame)
        self.fields[part, THERE] = NONE
        part.assigned[name] = None
        if known is None:
            part.missing[name] = None
        else:
            self.fields[part, name] = known

    def at_path(self, path: tuple[Any, ...]) -> Part:
        part = self.root_at(path[0])
        for step in path[1:]:
            part = self.part(part.first or part, step) if isinstance(part, Part) else None
        if not isinstance(part, Part):
            raise Escapes(path[0] if isinstance(path[0], tuple) else (path[0],))
        return part.first or part

    def root_at(self, first: Any) -> Known | None:
        """An argument by its number, or a variable of the function's module by where it is."""
        if not isinstance(first, tuple):
            return self.roots.get(first)
        _, owner, name = first
        return self.variable(name) if owner == id(self.function.__globals__) else None

    def begin_container(self, path: tuple[Any, ...]) -> None:
        """Let a list or dict that is going to be written into be one that the program computes with, as it is now."""
        part = self.at_path(path)
        if part in self.places:
            return
        if part.cls not in (list, dict) or holds_objects(part.value) or part.origin in self.facts.shrinking:
            raise Escapes(part.origin)
        part.is_changed = True
        place = ListOf(part.origin, part.hint, sort=part.cls.__name__)
        self.real[place] = self.itself(part)
        self.places[part] = place
        self.made_in[place] = self.out
        version = fresh(part.hint, True)
        if path not in self.facts.read:
            self.unread[place] = path
        elif part.value:
            part.is_read = True
            part.known = leaf = fresh(part.hint, True)
            self.leaves.add(leaf)
            self.kinds.builder.know(leaf, map_axes(kind_of(part.value), lambda axis: None))
            self.copy_items(part, leaf, version)
        else:
            part.is_read = True
            self.add(Op(Opcode.LIST if part.cls is list else Opcode.DICT, (), (version,), from_user=False))
        self.fields[place, CONTENTS] = version

    # Writing

    def check_changes(self, function: Any, arguments: tuple[Known, ...]) -> None:
        """Let a list or dict that a call writes into, or is about to, be one that the program computes with."""
        first = arguments[0] if arguments else None
        target = self.containers.get(first) if isinstance(first, Var) else first
        if not isinstance(target, Part) or not target.is_container:
            return
        is_method = function is getattr and arguments[1] in (Const("append"), Const("extend"))
        is_item = function is operator.setitem and target is not first
        if is_method or is_item or function is operator.iadd:
            raise Changes(target.path)

    def copy_items(self, part: Part, leaf: Var, version: Var) -> None:
        """Put the items of a list or dict into another one, one by one: that gets more, which the first knows nothing of."""
        before, now, after = fresh(part.hint), fresh(part.hint), fresh(part.hint)
        key, item = fresh("key"), fresh("item")
        items: Items
        if part.cls is list:
            empty, put, items = Opcode.LIST, Op(Opcode.APPEND, (now, item), (after,), from_user=False), Each(leaf, item)
        else:
            empty, items = Opcode.DICT, DictItems(leaf, key, item)
            put = Op(Opcode.STORE, (now, key, item), (after,), payload=FROM_FRONT, from_user=False)
        self.add(Op(empty, (), (before,), from_user=False))
        self.add(For(items, Region((put,), Continue((after,))), (now,), (before,), (version,)))
        self.kinds.set(version, lambda: self.kinds.of(leaf))

    def assign(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`part.name = value`, in the variable and in the object."""
        target, name, value = arguments
        if not isinstance(target, Part) or target.is_container or not isinstance(name, Const) or type(name.value) is not str:
            raise Escapes(first_origin(arguments))
        found = self.member(target.cls, name.value)
        if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
            self.inline(op, found.fset, (target, value), {}, frame, target.origin)
            return NONE
        is_field = classes.is_field(found) and classes.takes(target.cls, found)
        if not is_field or classes.is_frozen(target.cls) or classes.is_record(target.cls):
            raise Escapes(target.origin)
        if (target.path, name.value) not in self.facts.assigned:
            raise Assigned(target.path, name.value)
        if isinstance(value, Row | View):
            raise Escapes(origin_of(value))  # the object gets what a variable has a copy of
        made = (self.itself(target), name, self.to_be_kept(op, value, name.value))
        self.add(Op(_ASSIGN, made, (fresh(""),), _meant(value), op.payload, where=op.where))
        self.write(target, name.value, value)
        return NONE

    def put(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`part[key] = value`"""
        target, key, value = arguments
        if not isinstance(target, Part) or target.cls not in (list, dict):
            raise Escapes(first_origin(arguments))
        if target.cls is list or not isinstance(key, Const):
            raise Changes(target.path)
        if type(key.value) not in (str, int) or key.value not in target.value:
            raise Changes(target.path)
        name = "[]", key.value
        if (target.path, name) not in self.facts.assigned:
            raise Assigned(target.path, name)
        made = (self.itself(target), key, self.to_be_kept(op, value, target.hint))
        self.add(Op(_PUT, made, (fresh(""),), _meant(value), STATEMENT, where=op.where))
        self.write(target, name, value)
        return NONE

    def to_be_kept(self, op: Op, value: Known, hint: str) -> Value:
        """What an object of the user's gets of a value."""
        if isinstance(value, Part):
            return self.itself(value)
        if isinstance(value, Object) and value.cls in CLASSES:
            raise Escapes(value.origin)  # its order is changed in place, and the user's list would not follow
        if not isinstance(value, ListOf) or value.sort == "array":
            return self.plain(value)
        if value not in self.real:
            if value.depth or value.of is not None or value.default is not None or self.made_in.get(value) is not self.out:
                raise Escapes(value.origin)
            version, copy = self.plain(self.now(value)), fresh(hint.lstrip("_"))
            is_empty = self.contents.get(version) == ()
            callee = Opcode.LIST if is_empty else _LIST_OF if value.sort == "list" else _DICT_OF
            self.add(Op(callee, () if is_empty else (version,), (copy,), where=op.where))
            self.real[value] = copy
        return self.real[value]

    def itself(self, part: Part) -> Var:
        """A part as the object that it is in the program."""
        if part.itself is None:
            part.itself = fresh(part.hint, True)
        return part.itself


def _meant(value: Known) -> Any:
    """The keywords that say of what an object keeps that it is the very one that it is in the program."""
    return ((IS_MEANT, Const(True)),) if isinstance(value, Part | ListOf) else ()
