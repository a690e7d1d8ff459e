"""Functions of arguments in sight: reading them is reading their parts, which become inputs.

    def loss(model, x):                         loss(w, b, x)
        for layer in model.layers:
            x = layer(x)                        x = np.tanh(x @ w + b)
        return np.sum(x)                        return np.sum(x)

Methods are written where they are called, and loops over items one after the other. What is not followed (a part is returned,
given to code that is not in sight) raises `Escapes`, and the argument it belongs to stays an input as it is. What becomes of
those that are written into is in `written_arguments`.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

from microgradpy.dataclasses import replace
from microgradpy.frontend.resolve import rebound_in
from microgradpy.frontend.sharing import rebound_globals
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import map_axes
from microgradpy.ir.nodes import Const, For, Function, If, Op, Opcode, Return, Terminator, Value, Var
from microgradpy.promotion import classes
from microgradpy.promotion.apart import call_apart, flattened
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Changes, Escapes, Facts, NotInSight, Origin, Whole
from microgradpy.promotion.functions import Lower, Named, is_in_file
from microgradpy.promotion.given import (
    MOST_ROUNDS,
    OF_RECORDS,
    STATIC,
    folded_call,
    holds_objects,
    known_of,
    method_of_class,
    objects_named,
)
from microgradpy.promotion.objects import NONE, OPERATORS
from microgradpy.promotion.places import (
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
from microgradpy.rules.registry import find_attribute_rule, is_non_differentiable, rrule
from microgradpy.runtime.suspension import is_generator
from microgradpy.tangents.fields import has_field

_MOST_INSIDE_ITSELF = 3
_SHARED = ("members", "leaves", "inside", "kinds", "functions", "checks", "appended", "variables", "naming")
_SHARED_OF_WRITES = ("roots", "containers", "places", "unread", "real", "reached")


class Variable(NamedTuple):
    """A variable of a module, or an attribute of a class, that is in sight."""

    namespace: Mapping[str, Any]
    name: str
    part: Part


@final
class Arguments(WrittenArguments):
    """`examples` are arguments that may be in sight, by the number of the input."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts, examples: Mapping[int, Any]) -> None:
        super().__init__(function, lower, facts)
        self.examples = examples
        self.variables: dict[Origin, Variable] = {}
        self.naming: dict[types.FunctionType, bool] = {}
        self.inside: list[types.FunctionType] = []
        self.helped = True
        self.is_within = False
        self.returned: Part | Display | None = None

    def whole(self, function: Function, frame: Frame) -> Function:
        """The function with the inputs standing for their examples."""
        for number, example in self.examples.items():
            var = function.inputs[number]
            part = Part((number,), (number,), var.hint, example)
            if part.origin not in self.facts.kept and (known := self.enter(part)) is not None:
                self.roots[number] = part
                self.bind(var, known, frame)
        if not any(is_thing(part.known) for part in self.roots.values() if part.known is not None):
            if not self.has_names(self.function.__code__):
                raise NotInSight
        begun = self.begin_writes(function, frame)
        made = super().whole(function, frame)
        made = replace(made, body=replace(made.body, statements=(*begun, *made.body.statements)))
        return flattened(made, self.roots, [each.part for each in self.variables.values()])

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

    def within(self, function: types.FunctionType) -> Arguments:
        """The walker over a function of another module, which shares what is found out."""
        inner = Arguments(function, self.lower, self.facts, {})
        for name in (*_SHARED, *_SHARED_OF_WRITES):
            setattr(inner, name, getattr(self, name))
        inner.is_within = True
        return inner

    def terminator(self, terminator: Terminator, frame: Frame) -> Terminator:
        known = self.known(terminator.value, frame) if self.is_within and isinstance(terminator, Return) else None
        if isinstance(known, Part | Display) and frame.is_root:
            self.returned = known
            return Return(NONE)
        return super().terminator(terminator, frame)

    def first_root(self) -> Origin:
        known = (*self.roots.values(), *(variable.part for variable in self.variables.values()))
        return known[0].origin if known else ()

    # Parts

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
        if not isinstance(known, Part) or not (known.is_container or classes.is_record(known.cls)):
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
        keys = self.items(known) if isinstance(known, Part) and known.cls is dict else None
        if keys is None:
            return None
        assert isinstance(known, Part)
        return [(key, self.part(known, ("[]", key))) for key in known.value]

    def plain(self, known: Known, *, shows: bool = True, hands: bool = True) -> Value:
        if isinstance(known, Part):
            if known.is_container and not holds_objects(known.value):
                raise Whole(known.path)
            raise Escapes(known.origin)
        if isinstance(known, Display):
            raise Escapes(known.origin)
        return super().plain(known, shows=shows, hands=hands)

    # Calls

    def call(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        given = (*arguments, *keywords.values())
        if isinstance(callee, Part):
            function = self.function_of_class(callee, "__call__")
            return self.inline(op, function, (callee, *arguments), keywords, frame, callee.origin)
        if isinstance(callee, Method) and isinstance(callee.receiver, Part | Display):
            return self.method_of_part(op, callee, arguments, keywords, frame)
        if isinstance(callee, Const):
            self.check_changes(callee.value, arguments)
            if callee.value is getattr and len(arguments) == 2:
                found = method_of_class(arguments, self.member) or self.of_module(arguments)
                if found is not None:
                    return found
            folded = folded_call(callee.value, arguments, self.leaves) if not keywords else None
            if folded is not None:
                return folded
            if any(isinstance(each, Part | Display) for each in given):
                return self.call_with_parts(op, callee, arguments, keywords, frame)
            if isinstance(callee.value, types.FunctionType) and self.names_objects(callee.value):
                return self.inline(op, callee.value, arguments, keywords, frame, ("call", callee.value))
        return super().call(op, callee, arguments, keywords, frame)

    def has_names(self, code: types.CodeType) -> bool:
        return objects_named(code, self.function.__globals__)

    def names_objects(self, function: types.FunctionType) -> bool:
        """Whether a function of the module is to be written where it is called, as it names objects in sight."""
        if function not in self.naming:
            is_own = is_in_file(function, self.function) and not is_generator(function.__code__)
            is_known = rrule.has(function) or is_non_differentiable(function)
            self.naming[function] = is_own and not is_known and self.has_names(function.__code__)
        return self.naming[function] and ("call", function) not in self.facts.kept

    def call_with_parts(
        self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A call that gets parts of arguments."""
        function = callee.value
        is_hashable = isinstance(function, types.BuiltinFunctionType | types.FunctionType | type)
        known = _KNOWN.get(function) if is_hashable and not keywords else None
        is_whole = function in (getattr, setattr, operator.setitem) or len(arguments) <= 2
        if function is operator.setitem and not (isinstance(arguments[0], Part) and arguments[0].is_container):
            known = None
        if known is not None and isinstance(arguments[0], Part | Display) and is_whole:
            return known(self, op, arguments, frame)
        if function is super:
            return self.super_of(arguments)
        first = arguments[0] if arguments else None
        if is_hashable and function in OPERATORS and isinstance(first, Part) and not first.is_container:
            return self.operator_of_part(op, function, arguments, frame)
        if isinstance(function, types.FunctionType) and not is_generator(function.__code__):
            parts = [each for each in (*arguments, *keywords.values()) if isinstance(each, Part | Display)]
            is_own = is_in_file(function, self.function)
            is_own = is_own or any(isinstance(each, Part) and not each.is_container for each in parts)
            if is_own and not rrule.has(function) and not is_non_differentiable(function):
                return self.inline(op, function, arguments, keywords, frame, parts[0].origin)
        return super().call(op, callee, arguments, keywords, frame)

    def inline(
        self,
        op: Op,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Named,
        frame: Frame,
        origin: Origin,
    ) -> Known:
        """A function that walks down objects which differ from call to call is not written out."""
        if self.inside.count(function) >= _MOST_INSIDE_ITSELF:
            raise Escapes(origin)
        self.inside.append(function)
        try:
            things = [each for each in (*arguments, *keywords.values()) if is_thing(each)]
            is_read = bool(things) and all(isinstance(each, Part | Display) for each in things)
            if is_read and function.__globals__ is not self.function.__globals__:
                return call_apart(self, op, function, arguments, keywords, frame, origin)
            return super().inline(op, function, arguments, keywords, frame, origin)
        finally:
            self.inside.pop()

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

    def method_of_part(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        receiver = method.receiver
        if method.function is not None:
            return self.inline(op, method.function, (receiver, *arguments), keywords, frame, receiver.origin)
        if isinstance(receiver, Part) and receiver.cls is list and method.name in ("append", "extend"):
            raise Changes(receiver.path)
        if keywords or not isinstance(receiver, Part) or receiver.cls is not dict:
            return self.escape(receiver)
        if method.name == "get" and 1 <= len(arguments) <= 2 and isinstance(arguments[0], Const):
            return self.gotten(receiver, arguments[0].value, *arguments[1:])
        if method.name not in ("items", "values", "keys") or arguments:
            return self.escape(receiver)
        pairs = self.pairs(receiver)
        if pairs is None:
            raise Escapes(receiver.origin)
        found: dict[str, tuple[Known, ...]] = {
            "keys": tuple(Const(key) for key, _ in pairs),
            "values": tuple(value for _, value in pairs),
            "items": tuple(Display(receiver.origin, (Const(key), value)) for key, value in pairs),
        }
        return Display(receiver.origin, found[method.name])

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
        if member is ABSENT or isinstance(member, types.FunctionType) or is_constant or not hasattr(type(member), "__get__"):
            if not classes.is_record(target.cls) and has_field(target.value, name):
                return self.part(target, (".", name))
            if isinstance(member, types.FunctionType):
                target.methods[name] = member
                return Method(target, member, name)
            if member is ABSENT:
                return None
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
            return None if not is_thing(key) else self.escape(target)  # of a whole container, if it may be that
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

    # Control flow

    def structure(self, op: Op, opcode: Opcode, frame: Frame) -> None:
        is_own = opcode is Opcode.GLOBAL and not op.arguments  # and not read by a function of another module
        if is_own and (variable := self.variable(str(op.payload))) is not None:
            self.bind(op.results[0], variable, frame)
            return
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        if opcode in (Opcode.LIST, Opcode.TUPLE) and any(isinstance(each, Part | Display) for each in arguments):
            origin = next(each.origin for each in arguments if isinstance(each, Part | Display))
            self.bind(op.results[0], Display(origin, arguments), frame)
            return
        items = self.items(arguments[0]) if opcode is Opcode.UNPACK else None
        if items is None:
            super().structure(op, opcode, frame)
            return
        if len(items) != len(op.results) or op.payload is not None:
            raise Escapes(first_origin(arguments))
        for result, known in zip(op.results, items, strict=True):
            self.bind(result, known, frame)

    def branch(self, statement: If, frame: Frame) -> None:
        condition = self.known(statement.condition, frame)
        if isinstance(condition, Const) and type(condition.value) in STATIC:
            statement = replace(statement, condition=Const(bool(condition.value)))
        elif isinstance(condition, Part | Display):
            items = self.items(condition)
            has_own = isinstance(condition, Part) and any(
                self.member(condition.cls, name) is not ABSENT for name in ("__bool__", "__len__") if items is None
            )
            if has_own:
                raise Escapes(condition.origin)
            statement = replace(statement, condition=Const(items is None or bool(items)))
        super().branch(statement, frame)

    def is_written_out(self, statement: For, frame: Frame) -> bool:
        return True


_KNOWN: dict[Any, Callable[[Arguments, Op, tuple[Known, ...], Frame], Known | None]] = {
    getattr: Arguments.attribute,
    setattr: Arguments.assign,
    operator.setitem: Arguments.put,
    hasattr: Arguments.has_attribute,
    operator.getitem: Arguments.item,
    len: Arguments.size,
    operator.is_: Arguments.is_one,
    operator.is_not: Arguments.is_none,
    isinstance: Arguments.is_of_class,
    list: Arguments.as_row,
    tuple: Arguments.as_row,
}
