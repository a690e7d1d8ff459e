"""The parts of arguments in sight, and of variables of modules and classes that are objects: what reading an attribute or an
item of one, or asking for its class or length, gives.

    model.layers[0].w           the part `w` of the part `[0]` of the part `layers` of the argument: an input of the unit
    len(model.layers)           a constant
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from microgradpy.frontend.resolve import rebound_in
from microgradpy.frontend.sharing import rebound_globals
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import Inert, map_axes
from microgradpy.ir.nodes import Const, Op, Value, Var
from microgradpy.promotion import classes
from microgradpy.promotion.class_members import callable_of, class_constant
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Escapes, Facts, Origin, Whole
from microgradpy.promotion.functions import Lower
from microgradpy.promotion.given import (
    CALLED,
    MOST_ROUNDS,
    OF_RECORDS,
    holds_objects,
    known_of,
)
from microgradpy.promotion.objects import NONE, OPERATORS
from microgradpy.promotion.places import (
    THERE,
    Chosen,
    Display,
    Element,
    Frame,
    Known,
    Method,
    Object,
    Part,
    Step,
    Super,
    first_origin,
    is_thing,
)
from microgradpy.promotion.written_arguments import WrittenArguments
from microgradpy.rules.registry import find_attribute_rule
from microgradpy.tangents.fields import dict_of, has_field


class Variable(NamedTuple):
    """A variable of a module, or an attribute of a class, that is in sight."""

    namespace: Mapping[str, Any]
    name: str
    part: Part


class Parts(WrittenArguments):
    """What is read of parts. `variables` are those of modules and classes that are in sight."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts) -> None:
        super().__init__(function, lower, facts)
        self.variables: dict[Origin, Variable] = {}
        self.converted: dict[Part, None] = {}
        """The objects among the parts that others stand for."""

    # Parts

    def enter(self, part: Part) -> Known | None:
        part.known = known_of(part, self.facts.wholes - self.facts.changed.keys())
        if part.known is part and (self.facts.assigned or self.facts.changed):
            first = self.reached.setdefault(id(part.value), part)
            if first is not part:
                part.known = part.first = first
                return first
        if isinstance(part.known, Var):
            self.leaves.add(part.known)
            if part.is_container:
                self.containers[part.known] = part
            self.kinds.builder.know(part.known, map_axes(kind_of(part.value), lambda axis: None))
        elif part.known is part and not part.is_container:
            for name in (*classes.OWN_WAYS, *(OF_RECORDS if classes.is_record(part.cls) else ())):
                self.member(part.cls, name)
        return part.known

    def variable(self, name: str) -> Known | None:
        """A variable of the module that is an object, or holds some; None if it is not in sight."""
        namespace = self.function.__globals__
        if not holds_objects(namespace.get(name)) or name in rebound_globals(namespace):
            return None
        return self.from_outside(namespace, id(namespace), name)

    def of_module(self, arguments: tuple[Known, ...]) -> Known | None:
        """`getattr(module, name)` where that is an object, or holds some; None if it is not in sight."""
        module, name = (each.value if isinstance(each, Const) else None for each in arguments)
        if not isinstance(module, types.ModuleType) or not isinstance(name, str) or not holds_objects(vars(module).get(name)):
            return None
        return None if name in rebound_in(vars(module)) else self.from_outside(vars(module), id(vars(module)), name)

    def attribute_of_class(self, target: Part, name: str) -> Known:
        """What an object has by its class: no part of the object, whose gradient it is not in."""
        base = next(base for base in target.cls.__mro__ if name in vars(base))
        return self.from_outside(vars(base), id(base), name) or self.escape(target)

    def from_outside(self, namespace: Mapping[str, Any], owner: int, name: str) -> Known | None:
        """What a module or class has under a name, as a part; None if it is not in sight."""
        origin = "variable", owner, name
        if origin in self.facts.kept:
            return None
        if origin not in self.variables:
            part = Part(origin, (origin,), name, namespace[name])
            if self.enter(part) is None:
                return None
            self.variables[origin] = Variable(namespace, name, part)
        part = self.variables[origin].part
        return self.places.get(part.first or part, part.known)

    def part(self, holder: Part, step: Step) -> Known:
        """What is reached from a part by a step."""
        if step not in holder.children:
            how, key = step
            value = object.__getattribute__(holder.value, key) if how == "." else holder.value[key]
            is_item = how == "[]" or holder.is_item  # model.layers[0].w is layers_0_w
            hint = f"{holder.hint}_{key}" if is_item else str(key)
            child = Part(holder.origin, (*holder.path, step), hint.strip("_") if hint.isidentifier() else holder.hint, value)
            if self.enter(child) is None:
                raise Escapes(holder.origin)
            holder.children[step] = child
        child = holder.children[step]
        found = self.places.get(child.first or child, child.known)
        assert found is not None
        return found

    def items(self, known: Known) -> tuple[Known, ...] | None:
        """The items of what is in sight and short; None of anything else."""
        if isinstance(known, Display):
            return known.items
        if not isinstance(known, Part):
            return super().items(known)
        if not (known.is_container or classes.is_record(known.cls)):
            return None
        if len(known.value) > MOST_ROUNDS:
            return None
        if known.assigned:
            raise Escapes(known.origin)  # it has other items, or has them in another order
        if known.cls is dict:
            known.children.setdefault(("keys", None), Part(known.origin, known.path, "", tuple(known.value), known=NONE))
            return tuple(map(Const, known.value))
        return tuple(self.part(known, ("[]", index)) for index in range(len(known.value)))

    def pairs(self, known: Known) -> list[tuple[Any, Known]] | None:
        """The keys and values of a dict in sight, which has just these keys."""
        if not isinstance(known, Part):
            return super().pairs(known)
        keys = self.items(known) if known.cls is dict else None
        if keys is None:
            return None
        return [(key, self.part(known, ("[]", key))) for key in known.value]

    def plain(self, known: Known, *, shows: bool = True, hands: bool = True) -> Value:
        if isinstance(known, Part):
            if known.is_container and not holds_objects(known.value):
                raise Whole(known.path)
            raise Escapes(known.origin)
        if isinstance(known, Display):
            raise Escapes(known.origin)
        return super().plain(known, shows=shows, hands=hands)

    def as_object(self, part: Part) -> Object:
        """An object that nobody writes into as its fields: those that objects of its class have which the program makes."""
        if part.is_container or part.cls in self.facts.mutable or part.assigned:
            raise Escapes(part.origin)
        known = [names for cls, names in self.facts.classes.values() if cls is part.cls]
        own = part.cls._fields if classes.is_record(part.cls) else tuple(dict_of(part.value))  # type: ignore[attr-defined]
        names = known[0] if known else own
        if not names:
            raise Escapes(part.origin)
        self.converted[part] = None
        place = Object(part.origin, part.cls, class_constant(part.cls), part.hint, merged=True)
        self.fields[place, THERE] = NONE
        for name in names:
            self.fields[place, name] = self.field_of_part(part, name)
        return place

    def note_shadowed(self) -> None:
        """Note what was read of objects that stand for parts by their class: no part may have a field of its own there."""
        for part in self.converted:
            for (cls, name), found in tuple(self.members.items()):
                is_own = (".", name) in part.children or isinstance(found, property | types.MemberDescriptorType)
                if cls is not part.cls or name[:2] == "__" or classes.is_record(cls) or found is ABSENT or is_own:
                    continue
                if has_field(part.value, name):
                    raise Escapes(part.origin)
                if isinstance(found, types.FunctionType):
                    part.methods[name] = found
                else:
                    part.missing[name] = None

    def field_of_part(self, part: Part, name: str) -> Known:
        if classes.is_record(part.cls):
            return self.part(part, ("[]", part.cls._fields.index(name)))  # type: ignore[attr-defined]
        if not classes.is_field(self.member(part.cls, name)) or not has_field(part.value, name):
            raise Escapes(part.origin)
        return self.part(part, (".", name))

    # Classes

    def function_of_class(self, part: Part, name: str) -> types.FunctionType:
        found = ABSENT if part.is_container else self.member(part.cls, name)
        if not isinstance(found, types.FunctionType):
            raise Escapes(part.origin)
        return found

    def operator_of_part(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known:
        first = arguments[0]
        assert isinstance(first, Part)
        for other in arguments[1:]:
            if isinstance(other, Object | Element | Part) and other.cls is not first.cls and issubclass(other.cls, first.cls):
                raise Escapes(first.origin)  # Python asks the other one
        for name in OPERATORS[function]:
            found = self.member(first.cls, name)
            if isinstance(found, types.FunctionType):
                return self.asked(op, found, arguments, frame)
        raise Escapes(first.origin)

    def gotten(self, receiver: Part, key: Any, default: Known = NONE) -> Known:
        """`part.get(key)`, or with a default"""
        if type(key) not in (str, int):
            return self.escape(receiver)
        if (receiver, ("[]", key)) in self.fields:
            return self.fields[receiver, ("[]", key)]
        if key in receiver.value:
            return self.part(receiver, ("[]", key))
        receiver.missing[key] = None
        return default

    def escape(self, part: Part | Display) -> Known:
        if isinstance(part, Part) and part.is_container and not part.assigned and not holds_objects(part.value):
            raise Whole(part.path)
        raise Escapes(part.origin)

    # Reading

    def attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """`getattr(part, name)`, perhaps with a default"""
        target, name, *default = arguments
        if not isinstance(name, Const) or not isinstance(target, Part | Display):
            raise Escapes(first_origin(arguments))
        if isinstance(target, Display) or target.is_container:
            return Method(target, None, name.value)
        found = self.found(op, target, name.value, frame)
        if found is None and default:
            target.missing[name.value] = None
            return default[0]
        return self.escape(target) if found is None else found

    def found(self, op: Op, target: Part, name: str, frame: Frame) -> Known | None:
        """What an object has under a name; None if nothing."""
        if (target, name) in self.fields:
            return self.fields[target, name]
        cls = target.cls
        member = self.member(cls, name)
        names: tuple[str, ...] = cls._fields if classes.is_record(cls) else ()  # type: ignore[attr-defined]
        if name in names:
            return self.part(target, ("[]", names.index(name)))
        if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
            if find_attribute_rule(cls, name) is None:
                return self.inline(op, member.fget, (target,), {}, frame, target.origin)
        elif isinstance(member, types.MemberDescriptorType):
            return self.part(target, (".", name)) if hasattr(target.value, name) else None
        else:
            return self.found_in_object(target, name, member)
        raise Escapes(target.origin)

    def found_in_object(self, target: Part, name: str, member: Any) -> Known | None:
        """The same where the object's own attributes come before what its class has."""
        is_constant = classes.is_constant(member)
        is_data = is_constant or not hasattr(type(member), "__get__")
        if member is ABSENT or isinstance(member, types.FunctionType | classmethod | staticmethod) or is_data:
            if not classes.is_record(target.cls) and has_field(target.value, name):
                return self.part(target, (".", name))
            if isinstance(member, types.FunctionType):
                target.methods[name] = member
                return Method(target, member, name)
            if member is ABSENT:
                return None
            if (named := callable_of(member, class_constant(target.cls), target.origin)) is not None:
                target.missing[name] = None
                return named
            target.missing[name] = None
            return Const(member) if is_constant else self.attribute_of_class(target, name)
        raise Escapes(target.origin)

    def has_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        target, name = arguments
        if not isinstance(target, Part) or target.is_container or not isinstance(name, Const):
            raise Escapes(first_origin(arguments))
        if isinstance(self.member(target.cls, name.value), property):
            raise Escapes(target.origin)
        found = self.found(op, target, name.value, frame)
        if found is None:
            target.missing[name.value] = None
        return Const(found is not None)

    def item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`part[key]`"""
        target, key = arguments
        if isinstance(target, Part) and not target.is_container and not classes.is_record(target.cls):
            return self.operator_of_part(op, operator.getitem, arguments, frame)
        if isinstance(target, Part) and not isinstance(key, Const):
            return self.chosen_from(target, key) if not is_thing(key) else self.escape(target)
        if isinstance(target, Part) and isinstance(key, Const) and target.cls is dict:
            name = "[]", key.value
            if type(key.value) in (str, int) and (target, name) in self.fields:
                return self.fields[target, name]
            is_there = type(key.value) in (str, int) and key.value in target.value
            return self.part(target, ("[]", key.value)) if is_there else self.escape(target)
        items = self.items(target)
        if items is not None and isinstance(key, Const):
            if type(key.value) is slice:
                return Display(first_origin(arguments), items[key.value])
            if type(key.value) is int and -len(items) <= key.value < len(items):
                return items[key.value]
        raise Escapes(first_origin(arguments))

    def chosen_from(self, target: Part, key: Known) -> Chosen | None:
        """`part[key]` of a dict of functions; None of a whole container, if it may be that."""
        if target.cls is not dict or not 0 < len(target.value) <= _MOST_FUNCTIONS or target.assigned:
            return None
        are_texts = self.kinds.of(key) == Inert("str") and all(type(each) is str for each in target.value)
        if not are_texts or not all(isinstance(each, CALLED) for each in target.value.values()):
            return None
        found = tuple((name, known) for name, known in self.pairs(target) or () if isinstance(known, Const))
        return Chosen(target.origin, key, found) if len(found) == len(target.value) else None  # type: ignore[arg-type]

    def size(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        (target,) = arguments
        if isinstance(target, Part) and not target.is_container and not classes.is_record(target.cls):
            return self.length_of_part(op, target, frame)
        items = self.items(target)
        return None if items is None else Const(len(items))

    def length_of_part(self, op: Op, target: Part, frame: Frame) -> Known:
        found = self.operator_of_part(op, len, (target,), frame)
        if isinstance(found, Const) and type(found.value) is int and found.value >= 0:
            return found
        raise Escapes(target.origin)

    def class_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """`type(part)`, which is the same one in another call."""
        (target,) = arguments
        if not isinstance(target, Part) or target.is_container:
            raise Escapes(first_origin(arguments))
        return class_constant(target.cls)

    def is_one(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """`a is b`: two parts may be one object in another call."""
        a, b = arguments
        if a is b:
            return Const(True)
        if isinstance(b, Const | Object) and not isinstance(a, Display):
            return Const(False)
        raise Escapes(first_origin(arguments))

    def is_none(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        found = self.is_one(op, arguments, frame)
        assert isinstance(found, Const)
        return Const(not found.value)

    def is_of_class(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        target, cls = arguments
        asked = cls.value if isinstance(cls, Const) else None
        if not isinstance(target, Part) or type(asked) is not type:
            raise Escapes(first_origin(arguments))
        if not target.is_container:
            self.members[target.cls, "__mro__"] = target.cls.__mro__
        return Const(asked in target.cls.__mro__)

    def as_row(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """`list(part)`, `tuple(part)`"""
        items = self.items(arguments[0])
        if items is None:
            raise Escapes(first_origin(arguments))
        return Display(first_origin(arguments), items)

    def super_of(self, arguments: tuple[Known, ...]) -> Known | None:
        after, receiver = arguments
        if isinstance(receiver, Part) and isinstance(after, Const) and after.value in receiver.cls.__mro__:
            return Super(receiver, after.value)
        return super().super_of(arguments)


_MOST_FUNCTIONS = 12
READ: dict[Any, Callable[[Parts, Op, tuple[Known, ...], Frame], Known | None]] = {
    getattr: Parts.attribute,
    setattr: Parts.assign,
    operator.setitem: Parts.put,
    hasattr: Parts.has_attribute,
    operator.getitem: Parts.item,
    len: Parts.size,
    operator.is_: Parts.is_one,
    operator.is_not: Parts.is_none,
    isinstance: Parts.is_of_class,
    type: Parts.class_of,
    list: Parts.as_row,
    tuple: Parts.as_row,
}
"""What builtins and operators are for parts."""
