"""What becomes of an operation on something in sight: a field is read or written, or a function is written where it is called."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, final

from microgradpy.ad.binding import bind_arguments, is_literal
from microgradpy.ad.instrument import instrument_function
from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.nodes import (
    RAISED,
    SELF,
    Const,
    Function,
    If,
    Op,
    Opcode,
    ParameterKind,
    Region,
    Return,
    Unreachable,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import regions
from microgradpy.promotion import classes
from microgradpy.promotion.classes import member
from microgradpy.promotion.fusing import run
from microgradpy.promotion.places import (
    CONTENTS,
    Cell,
    Closure,
    DictOf,
    Escapes,
    Frame,
    Generator,
    Known,
    ListOf,
    Method,
    Object,
    Origin,
    Super,
    is_thing,
    origin_of,
)
from microgradpy.promotion.walker import Walker
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import new_cell, read_captured, read_local, set_contents
from microgradpy.runtime.versions import item_of_growing

MOST_CALLS = 12
"""How deep calls may be inside of each other."""
Lower = Callable[[types.FunctionType], tuple[Function, Any]]
_NONE = Const(None)
_ITEM_OF_GROWING = function_constant(item_of_growing)
_OPERATORS: dict[Any, tuple[str, ...]] = {
    **{
        getattr(operator, name): (f"__{name.rstrip('_')}__",)
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    },
    operator.matmul: ("__matmul__",),
    **{
        getattr(operator, "i" + name): (f"__i{name}__", f"__{name}__")
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    },
    operator.neg: ("__neg__",),
    operator.pos: ("__pos__",),
    abs: ("__abs__",),
    len: ("__len__",),
    operator.getitem: ("__getitem__",),
    operator.setitem: ("__setitem__",),
    operator.lt: ("__lt__",),
    operator.le: ("__le__",),
    operator.gt: ("__gt__",),
    operator.ge: ("__ge__",),
    float: ("__float__",),
}
_REFLECTED = {
    getattr(operator, name): f"__r{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
}
_KEYS = (str, int)


@final
class Calls(Walker):
    """`function` is the one that is promoted; `lower` gives the IR of others, and what that relies on."""

    def __init__(
        self,
        function: types.FunctionType,
        lower: Lower,
        kept: frozenset[Origin],
        mutable: frozenset[type],
        grown: frozenset[Origin],
    ) -> None:
        super().__init__(kept, mutable)
        self.grown = grown
        self.appended: set[Origin] = set()
        self.function = function
        self.lower = lower
        self.members: dict[tuple[type, str], Any] = {}
        self.checks: list[Any] = []
        self.functions: list[types.FunctionType] = []

    def operation(self, op: Op, frame: Frame) -> None:
        if isinstance(op.callee, Opcode):
            self.structure(op, op.callee, frame)
            return
        callee = self.known(op.callee, frame)
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        keywords = {name: self.known(value, frame) for name, value in op.keywords}
        found = self.call(op, callee, arguments, keywords, frame)
        if found is None:
            self.emit(op, callee, arguments, keywords, frame)
        else:
            self.bind(op.results[0], found, frame)

    def emit(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame) -> None:
        """The operation as it is, on values."""
        given = tuple(map(self.plain, arguments))
        named = tuple((name, self.plain(known)) for name, known in keywords.items())
        head = self.plain(callee)
        results = tuple(self.define(result, frame) for result in op.results)
        self.add(replace(op, callee=head, arguments=given, keywords=named, results=results))

    # Operations that are no calls

    def structure(self, op: Op, opcode: Opcode, frame: Frame) -> None:
        origin = (*frame.path, *op.results[:1])
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        if opcode is Opcode.LIST and origin not in self.kept and not any(map(is_thing, arguments)):
            (result,) = op.results
            place = ListOf(origin, result.hint)
            self.fields[place, CONTENTS] = self.define(result, frame)
            self.add(replace(op, arguments=self.values(op.arguments, frame), results=(self.fields[place, CONTENTS],)))
            self.bind(result, place, frame)
        elif opcode is Opcode.APPEND and isinstance(arguments[0], ListOf):
            self.bind(op.results[0], arguments[0], frame)
            self.append(op, arguments[0], arguments[1])
        elif opcode is Opcode.DICT and origin not in self.kept and _has_own_keys(op.arguments[::2]):
            place_of_dict = DictOf(origin, op.results[0].hint, op)
            for key, known in zip(op.arguments[::2], arguments[1::2], strict=True):
                assert isinstance(key, Const)
                self.fields[place_of_dict, key.value] = known
            self.bind(op.results[0], place_of_dict, frame)
        elif opcode is Opcode.CLOSURE and origin not in self.kept and any(map(is_thing, arguments)):
            self.bind(op.results[0], Closure(origin, op.payload, arguments), frame)
        elif opcode is Opcode.UNPACK and isinstance(arguments[0], Object):
            self.unpack(op, arguments[0], frame)
        elif opcode is Opcode.SUSPEND and frame.step is not None:
            frame.step(arguments[0])
            self.bind(op.results[0], _NONE, frame)
        elif opcode is Opcode.MARK:
            scope = self.known(op.payload, frame)
            self.add(replace(op, arguments=self.values(op.arguments, frame), payload=scope))
        else:
            given = tuple(map(self.plain, arguments))
            results = tuple(self.define(result, frame) for result in op.results)
            self.add(replace(op, arguments=given, results=results))

    def unpack(self, op: Op, place: Object, frame: Frame) -> None:
        items = self.items_of_record(place) if classes.is_record(place.cls) else ()
        if len(items) != len(op.results):
            raise Escapes(place.origin)
        for result, known in zip(op.results, items, strict=True):
            self.bind(result, known, frame)

    def append(self, op: Op, place: ListOf, item: Known) -> None:
        version = self.fields[place, CONTENTS]
        given = self.plain(item)
        after = fresh(place.hint, True)
        self.add(Op(Opcode.APPEND, (self.plain(version), given), (after,), where=op.where))
        self.write(place, CONTENTS, after)

    # Calls

    def call(
        self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known | None:
        """What a call gives; None if it is made as it stands."""
        if isinstance(callee, Method):
            return self.method(op, callee, arguments, keywords, frame)
        if isinstance(callee, Closure):
            self.helped = True
            return self.closure(op, callee, arguments, keywords, frame)
        if isinstance(callee, Object):
            function = self.member_function(callee, "__call__")
            return self.inline(op, function, (callee, *arguments), keywords, frame, callee.origin)
        if not isinstance(callee, Const) or op.payload == RAISED:
            return None
        function = callee.value
        if function is new_cell and not arguments:
            return self.new_cell(op, frame)
        if isinstance(function, type) and not isinstance(function, types.GenericAlias):
            if (*frame.path, op.results[0]) in self.kept:
                return None
            if classes.is_record(function):
                return self.record(op, callee, function, arguments, keywords, frame)
            if not classes.is_in_sight(function):
                return None
            return self.construct(op, callee, function, arguments, keywords, frame)
        if isinstance(function, types.FunctionType) and is_generator(function.__code__):
            return self.generator(op, function, arguments, keywords, frame)
        if function is operator.is_ and all(isinstance(each, Const) and not each.path for each in arguments[:1]):
            if isinstance(arguments[1], Const):
                return Const(arguments[0].value is arguments[1].value)  # type: ignore[union-attr]
        if not any(map(is_thing, (*arguments, *keywords.values()))):
            return None
        known = _KNOWN.get(function) if isinstance(function, types.BuiltinFunctionType | types.FunctionType | type) else None
        if known is not None and not keywords:
            return known(self, op, arguments, frame)
        if isinstance(function, type(super)) and function is super and len(arguments) == 2:
            return self.super_of(arguments)
        if function in _OPERATORS and not keywords:
            return self.operator(op, function, arguments, frame)
        if isinstance(function, types.FunctionType) and any(isinstance(a, Object | Closure | Cell) for a in arguments):
            return self.inline(op, function, arguments, keywords, frame, _first_origin(arguments))
        return None

    def new_cell(self, op: Op, frame: Frame) -> Known | None:
        origin = (*frame.path, op.results[0])
        return None if origin in self.kept else Cell(origin, op.results[0].hint.removesuffix("_cell"))

    def method(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known | None:
        receiver = method.receiver
        if isinstance(receiver, ListOf):
            if method.name == "append" and len(arguments) == 1 and not keywords:
                self.helped = True
                self.appended.add(receiver.origin)
                self.append(op, receiver, arguments[0])
                return _NONE
            raise Escapes(receiver.origin)
        if isinstance(receiver, DictOf):
            raise Escapes(receiver.origin)
        if method.name == "_replace" and method.function is None and not arguments:
            return self.replaced(method, keywords)
        if method.function is None:  # of `object`
            return _NONE
        assert isinstance(receiver, Object)
        return self.inline(op, method.function, (receiver, *arguments), keywords, frame, receiver.origin)

    def operator(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """An operator on an object: a method of its class."""
        first = arguments[0]
        if isinstance(first, Object):
            for name in _OPERATORS[function]:
                found = self.member(first.cls, name)
                if isinstance(found, types.FunctionType):
                    given = self.inline(op, found, arguments, {}, frame, first.origin)
                    if isinstance(given, Const) and given.value is NotImplemented:
                        raise Escapes(first.origin)
                    return given if function is not operator.setitem else _NONE
            raise Escapes(first.origin)
        second = arguments[1] if len(arguments) == 2 else None
        if isinstance(second, Object) and function in _REFLECTED and isinstance(first, Const) and is_literal(first.value):
            found = self.member(second.cls, _REFLECTED[function])
            if isinstance(found, types.FunctionType):
                return self.inline(op, found, (second, first), {}, frame, second.origin)
        if isinstance(second, Object):
            raise Escapes(second.origin)
        return None

    # Objects

    def member(self, cls: type, name: str, after: type | None = None) -> Any:
        """What a class has under a name, which has to be so when the code is used again."""
        if after is not None:
            self.members[cls, "__mro__"] = cls.__mro__
            found = member(cls, name, after)
            owner = next((base for base in cls.__mro__[cls.__mro__.index(after) + 1 :] if name in vars(base)), None)
            if owner is not None:
                self.members[owner, name] = found
            return found
        found = self.members[cls, name] = member(cls, name)
        return found

    def member_function(self, place: Object, name: str) -> types.FunctionType:
        found = self.member(place.cls, name)
        if not isinstance(found, types.FunctionType):
            raise Escapes(place.origin)
        return found

    def construct(
        self, op: Op, callee: Const, cls: type, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known | None:
        origin = (*frame.path, op.results[0])
        place = Object(origin, cls, callee, op.results[0].hint)
        constructor = self.member(cls, "__init__")
        self.members[cls, "__mro__"] = cls.__mro__
        self.helped = True
        if constructor is vars(object)["__init__"]:
            return place if not arguments and not keywords else None
        if not isinstance(constructor, types.FunctionType):
            raise Escapes(origin)
        self.constructed.add(place)
        fields = classes.generated_fields(cls, constructor)
        if fields is None:
            self.inline(op, constructor, (place, *arguments), keywords, frame, origin)
        else:
            self.generated(op, place, fields, arguments, keywords, frame)
        self.constructed.discard(place)
        return place

    def record(
        self, op: Op, callee: Const, cls: Any, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known | None:
        """A namedtuple."""
        given = dict(zip(cls._fields, arguments, strict=False)) | dict(keywords)
        for name, default in cls._field_defaults.items():
            if name not in given and is_literal(default):
                given[name] = Const(default)
        if len(arguments) > len(cls._fields) or given.keys() != set(cls._fields):
            return None
        self.helped = True
        place = Object((*frame.path, op.results[0]), cls, callee, op.results[0].hint)
        self.members[cls, "__mro__"] = cls.__mro__
        for name in cls._fields:
            self.fields[place, name] = given[name]
        return place

    def replaced(self, method: Method, keywords: Mapping[str, Known]) -> Known:
        """`record._replace(x=y)`"""
        before = method.receiver
        place = replace(before, merged=True)
        names = before.cls._fields
        if not keywords.keys() <= set(names):
            raise Escapes(before.origin)
        for name in names:
            self.fields[place, name] = keywords.get(name, self.fields[before, name])
        return place

    def items_of_record(self, place: Object) -> tuple[Known, ...]:
        return tuple(self.fields[place, name] for name in place.cls._fields)  # type: ignore[attr-defined]

    def generated(
        self,
        op: Op,
        place: Object,
        fields: tuple[Any, ...],
        arguments: tuple[Known, ...],
        keywords: Mapping[str, Known],
        frame: Frame,
    ) -> None:
        """What the constructor of a dataclass does."""
        given = dict(keywords)
        positional = [each for each in fields if each.init and not each.kw_only]
        if not all(map(classes.is_plain_field, fields)) or len(arguments) > len(positional):
            raise Escapes(place.origin)
        for each, known in zip(positional, arguments, strict=False):
            if each.name in given:
                raise Escapes(place.origin)
            given[each.name] = known
        for each in fields:
            found = self.member(place.cls, each.name)
            if not classes.is_field(found):
                raise Escapes(place.origin)
            if each.name in given and each.init:
                self.fields[place, each.name] = given.pop(each.name)
            elif is_literal(each.default):
                self.fields[place, each.name] = Const(each.default)
            elif each.default_factory is list:
                self.fields[place, each.name] = self.new_list(op, each.name, place.origin, frame)
            else:
                raise Escapes(place.origin)
        if given:
            raise Escapes(place.origin)
        after = self.member(place.cls, "__post_init__")
        if isinstance(after, types.FunctionType):
            self.inline(op, after, (place,), {}, frame, place.origin)

    def new_list(self, op: Op, name: str, origin: Origin, frame: Frame) -> Known:
        result = fresh(name, True)
        place = ListOf((*origin, result), name)
        self.fields[place, CONTENTS] = result
        self.add(Op(Opcode.LIST, (), (result,), where=op.where))
        return place

    def super_of(self, arguments: tuple[Known, ...]) -> Known | None:
        after, receiver = arguments
        if isinstance(receiver, Object) and isinstance(after, Const) and after.value in receiver.cls.__mro__:
            return Super(receiver, after.value)
        raise Escapes(_first_origin(arguments))

    def read_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, name = arguments[0], arguments[1]
        if len(arguments) != 2 or not isinstance(name, Const):
            raise Escapes(_first_origin(arguments))
        if isinstance(target, ListOf | DictOf):
            return Method(target, None, name.value)
        if isinstance(target, Super):
            return self.read_super(target, name.value)
        if not isinstance(target, Object):
            raise Escapes(_first_origin(arguments))
        found = self.member(target.cls, name.value)
        key = (target, name.value)
        if classes.is_record(target.cls):
            if key in self.fields:
                return self.fields[key]
            if name.value == "_replace":
                return Method(target, None, "_replace")
        if isinstance(found, property):
            if not isinstance(found.fget, types.FunctionType):
                raise Escapes(target.origin)
            return self.inline(op, found.fget, (target,), {}, frame, target.origin)
        if key in self.fields and (classes.is_field(found) or isinstance(found, types.FunctionType)):
            return self.fields[key]
        if isinstance(found, types.FunctionType):
            return Method(target, found, name.value)
        if classes.is_constant(found):
            return Const(found)
        raise Escapes(target.origin)

    def read_super(self, target: Super, name: str) -> Known:
        found = self.member(target.receiver.cls, name, target.after)
        if isinstance(found, types.FunctionType):
            return Method(target.receiver, found, name)
        if name == "__init__" and found is vars(object)["__init__"]:
            return Method(target.receiver, None, name)
        raise Escapes(target.receiver.origin)

    def write_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, name, value = arguments
        if not isinstance(target, Object) or not isinstance(name, Const):
            raise Escapes(_first_origin(arguments))
        found = self.member(target.cls, name.value)
        if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
            self.inline(op, found.fset, (target, value), {}, frame, target.origin)
            return _NONE
        if classes.is_frozen(target.cls) or not (classes.is_field(found) or isinstance(found, types.FunctionType)):
            raise Escapes(target.origin)
        self.write(target, name.value, value)
        return _NONE

    # Items

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index = arguments
        if isinstance(target, Object) and classes.is_record(target.cls):
            items = self.items_of_record(target)
            if isinstance(index, Const) and type(index.value) is int and -len(items) <= index.value < len(items):
                return items[index.value]
            raise Escapes(target.origin)
        if isinstance(target, Object):
            return self.operator(op, operator.getitem, arguments, frame)
        if isinstance(target, DictOf) and isinstance(index, Const) and (target, index.value) in self.fields:
            self.helped = True
            return self.fields[target, index.value]
        if isinstance(target, ListOf) and not is_thing(index):
            is_from_front = isinstance(index, Const) and type(index.value) is int and index.value >= 0
            callee = op.callee if is_from_front or target.origin not in self.grown else _ITEM_OF_GROWING
            self.emit(op, callee, (self.fields[target, CONTENTS], index), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        raise Escapes(_first_origin(arguments))

    def known_result(self, op: Op, frame: Frame) -> Known:
        return frame.values.get(op.results[0], op.results[0])

    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index, value = arguments
        if isinstance(target, Object):
            return self.operator(op, operator.setitem, arguments, frame)
        if isinstance(target, DictOf) and isinstance(index, Const) and (target, index.value) in self.fields:
            self.helped = True
            self.write(target, index.value, value)
            return _NONE
        if isinstance(target, ListOf) and not is_thing(index):
            self.helped = True
            after, given = fresh(target.hint, True), self.plain(value)
            changed = (self.plain(self.fields[target, CONTENTS]), self.plain(index), given)
            self.add(Op(Opcode.STORE, changed, (after,), where=op.where))
            self.write(target, CONTENTS, after)
            return _NONE
        raise Escapes(_first_origin(arguments))

    def length(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        (target,) = arguments
        if isinstance(target, Object):
            return self.operator(op, len, arguments, frame)
        if isinstance(target, ListOf):
            self.emit(op, op.callee, (self.fields[target, CONTENTS],), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        return None

    def is_same(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        a, b = arguments
        if any(isinstance(each, Object) and each.merged for each in arguments):
            raise Escapes(_first_origin(arguments))
        if is_thing(a) and is_thing(b):
            return Const(a is b)
        value = b if is_thing(a) else a
        if isinstance(value, Const):
            return Const(False)
        raise Escapes(_first_origin(arguments))

    def is_other(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        found = self.is_same(op, arguments, frame)
        assert isinstance(found, Const)
        return Const(not found.value)

    def is_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, cls = arguments
        if isinstance(target, Object) and isinstance(cls, Const) and type(cls.value) is type:
            self.members[target.cls, "__mro__"] = target.cls.__mro__
            return Const(cls.value in target.cls.__mro__)
        return None

    # Cells

    def write_cell(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        cell, value = arguments
        if not isinstance(cell, Cell):
            return None
        self.helped = True
        self.write(cell, CONTENTS, value)
        return _NONE

    def read_cell(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        cell = arguments[0]
        if isinstance(cell, Cell):
            if (cell, CONTENTS) not in self.fields:
                raise Escapes(cell.origin)
            return self.fields[cell, CONTENTS]
        return None

    def generator(
        self, op: Op, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known | None:
        """A generator, to be run by the loop that is over it."""
        origin = (*frame.path, op.results[0])
        if origin in self.kept or len(frame.path) >= MOST_CALLS:
            return None
        ir, values = self.bound(function, arguments, keywords, origin)
        return Generator(origin, ir.body, Frame(origin, values), self.loop, self.attempts)

    def collected(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`list(g(...))`"""
        (generator,) = arguments
        if not isinstance(generator, Generator):
            return None
        place = self.new_list(op, "items", generator.origin, frame)
        assert isinstance(place, ListOf)
        run(self, generator, lambda value: self.append(op, place, value))
        return place

    def summed(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`sum(g(...))`"""
        if len(arguments) != 1 or not isinstance(arguments[0], Generator):
            return None
        self.emit(op, op.callee, (self.collected(op, arguments, frame),), {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)

    # Functions written where they are called

    def inline(
        self,
        op: Op,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Mapping[str, Known],
        frame: Frame,
        origin: Origin,
    ) -> Known:
        """The body of a function, in the place of its call."""
        if is_generator(function.__code__):
            raise Escapes(origin)
        ir, values = self.bound(function, arguments, keywords, origin)
        return self.body(op, ir, values, frame, origin)

    def bound(
        self, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Mapping[str, Known], origin: Origin
    ) -> tuple[Function, dict[Var, Known]]:
        """A function that is called, and what its variables are when it starts."""
        is_followed = function.__globals__ is self.function.__globals__
        if not is_followed or rrule.has(function) or is_non_differentiable(function):
            raise Escapes(origin)
        ir, checks = self.lower(function)
        given = bind_arguments(function, arguments, keywords, _literal_defaults(function))  # type: ignore[arg-type]
        captured: dict[Var, Known] = {}
        for var, cell in zip(ir.captured, function.__closure__ or (), strict=True):
            if var.hint != "__class__":
                raise Escapes(origin)
            captured[var] = Const(cell.cell_contents, "__class__", cell.cell_contents)
        if given is None:
            raise Escapes(origin)
        self.checks += checks
        self.functions.append(function)
        values = captured | {parameter.var: given[parameter.name] for parameter in ir.parameters}
        return ir, values

    def closure(
        self, op: Op, closure: Closure, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
    ) -> Known:
        body = closure.body
        if not isinstance(body, ClosureBody) or any(each is SELF for each in closure.values):
            raise Escapes(closure.origin)
        function = instrument_function(body.function)
        count = len(function.captured)
        names = [p.name for p in function.parameters if p.kind is ParameterKind.POSITIONAL]
        if len(names) != len(function.parameters) or len(arguments) > len(names) or is_generator(body.code):
            raise Escapes(closure.origin)
        defaults = closure.values[count : count + body.defaults]
        given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        given |= dict(zip(names, arguments, strict=False))
        if not keywords.keys() <= set(names[len(arguments) :]):
            raise Escapes(closure.origin)
        given |= keywords
        if given.keys() != set(names):
            raise Escapes(closure.origin)
        values = dict(zip(function.captured, closure.values[:count], strict=True))
        values |= {p.var: given[p.name] for p in function.parameters}
        return self.body(op, function, values, frame, closure.origin)

    def body(self, op: Op, function: Function, values: dict[Var, Known], frame: Frame, origin: Origin) -> Known:
        if len(frame.path) >= MOST_CALLS:
            raise Escapes(origin)
        inner = Frame((*frame.path, op.results[0]), values)
        region = as_expression(function.body)
        if region is None:
            raise Escapes(origin)
        outer, self.loop = self.loop, None
        try:
            for statement in region.statements:
                self.statement(statement, inner)
        finally:
            self.loop = outer
        if isinstance(region.terminator, Yield):
            (value,) = region.terminator.values
            return self.known(value, inner)
        raise Escapes(origin)  # it always raises


def as_expression(region: Region) -> Region | None:
    """A body that ends with its value instead of returning it; None where it returns from within a loop."""
    match region.terminator:
        case Return(value=value):
            return Region(region.statements, Yield((value,))) if not _returns(region.statements) else None
        case Unreachable() if region.statements and isinstance(last := region.statements[-1], If):
            arms = [_arm(arm) for arm in (last.then, last.orelse)]
            if None in arms or _returns(region.statements[:-1]):
                return None
            result = fresh("")
            made = replace(last, then=arms[0], orelse=arms[1], results=(result,))
            return Region((*region.statements[:-1], made), Yield((result,)))
    return None


def _arm(region: Region) -> Region | None:
    return as_expression(region) if not _only_raises(region) else region


def _only_raises(region: Region) -> bool:
    return not isinstance(region.terminator, Return | Unreachable) and not _returns(region.statements)


def _returns(statements: tuple[Any, ...]) -> bool:
    return any(
        isinstance(inner.terminator, Return) or _returns(inner.statements)
        for statement in statements
        for inner in regions(statement)
    )


def _first_origin(arguments: tuple[Known, ...]) -> Origin:
    return next(origin_of(each) for each in arguments if is_thing(each))  # type: ignore[arg-type]


def _has_own_keys(keys: tuple[Value, ...]) -> bool:
    """Whether the keys of a dict are different literals."""
    literals = [key.value for key in keys if isinstance(key, Const) and type(key.value) in _KEYS]
    return bool(keys) and len(set(literals)) == len(keys)


def _literal_defaults(function: types.FunctionType) -> dict[str, Value]:
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    defaults |= function.__kwdefaults__ or {}
    return {name: Const(value) for name, value in defaults.items() if is_literal(value)}


_KNOWN: dict[Any, Callable[[Calls, Op, tuple[Known, ...], Frame], Known | None]] = {
    getattr: Calls.read_attribute,
    setattr: Calls.write_attribute,
    operator.getitem: Calls.read_item,
    operator.setitem: Calls.write_item,
    len: Calls.length,
    operator.is_: Calls.is_same,
    operator.is_not: Calls.is_other,
    isinstance: Calls.is_of,
    set_contents: Calls.write_cell,
    read_local: Calls.read_cell,
    read_captured: Calls.read_cell,
    list: Calls.collected,
    sum: Calls.summed,
}
