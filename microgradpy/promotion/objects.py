"""Objects in sight: how they are made, and what reading, writing and calling them means."""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
import types
from abc import abstractmethod
from typing import Any

from microgradpy.ad.binding import is_literal, is_tuple_of_literals
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, Inert
from microgradpy.ir.nodes import Const, Location, Op, Opcode, Value, fresh, function_constant, operator_constant
from microgradpy.promotion import classes
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.class_members import callable_of, class_constant, factory_constant, is_class_variable
from microgradpy.promotion.classes import ABSENT, VARIABLE, member
from microgradpy.promotion.findings import Escapes, Origin, Shares
from microgradpy.promotion.functions import Functions, Named
from microgradpy.promotion.places import (
    CONTENTS,
    NO_OBJECT,
    THERE,
    ClassMethod,
    DictOf,
    Element,
    Frame,
    Known,
    ListOf,
    Method,
    Object,
    Packed,
    Picked,
    Row,
    Super,
    Table,
    Values,
    View,
    first_origin,
    is_of_function,
    is_thing,
    lists_of,
    origin_of,
)
from microgradpy.promotion.thrown import is_of_exceptions
from microgradpy.runtime.keyed import CLASSES, FIELDS
from microgradpy.runtime.queues import Steps

NONE = Const(None)
_BOOL, _GETATTR = function_constant(bool), function_constant(getattr)
_NUMBERS = (bool, int, float, complex)
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")
_OF_NAMES = {name: getattr(operator, f"{name}_" if name in ("and", "or") else name) for name in _BINARY}
OPERATORS: dict[Any, tuple[str, ...]] = {
    **{function: (f"__{name}__",) for name, function in _OF_NAMES.items()},
    **{getattr(operator, "i" + name): (f"__i{name}__", f"__{name}__") for name in _BINARY},
    **{getattr(operator, name): (f"__{name}__",) for name in ("neg", "pos", "lt", "le", "gt", "ge", "getitem", "setitem")},
    **{function: (f"__{function.__name__}__",) for function in (abs, len, float, next)},
}
"""The methods that say what an operator means, in the order in which Python asks for them."""
_SEQUENCES = ("__len__", "__getitem__", "__array__", "__array_ufunc__", "__float__")
_BEHIND_FIELDS = (types.FunctionType, classmethod, staticmethod, functools.cached_property)
"""What an object's own attribute comes before, for what its class has under that name."""
_OF_BUILTINS = (*CLASSES, Steps)
"""What stands for objects of other classes."""
_READ = (Row, View, Packed, Picked, Values)
_REFLECTED = {function: f"__r{name}__" for name, function in _OF_NAMES.items()}


class Objects(Functions):
    """`members` is what classes had under names."""

    members: dict[tuple[type, str], Any]
    contents: dict[Value, tuple[Value, ...]]

    def operator(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """An operator on an object: a method of its class."""
        self.check_there(*arguments)
        first = arguments[0]
        if function is next and self.generators:
            raise Escapes(first_origin(arguments))  # a generator does not come to its end where an iterator does
        if isinstance(first, Object | Element):
            self.check_first(first, arguments[1:])
            if first.cls in CLASSES and len(arguments) > 1 and self.kinds.of(arguments[1]) != INT:
                raise Escapes(origin_of(first))  # a slice
            for name in OPERATORS[function]:
                found = self.member(first.cls, name)
                if isinstance(found, types.FunctionType):
                    given = self.asked(op, found, arguments, frame)
                    return given if function is not operator.setitem else NONE
            raise Escapes(origin_of(first))
        second = arguments[1] if len(arguments) == 2 else None
        if isinstance(second, Object | Element) and function in _REFLECTED and self.is_number(first):
            # NumPy's numbers take sequences for arrays.
            if any(self.member(second.cls, name) is not ABSENT for name in _SEQUENCES):
                raise Escapes(origin_of(second))
            found = self.member(second.cls, _REFLECTED[function])
            if isinstance(found, types.FunctionType):
                return self.asked(op, found, (second, first), frame)
        if isinstance(second, Object | Element):
            raise Escapes(origin_of(second))
        return None

    def check_first(self, first: Object | Element, others: tuple[Known, ...]) -> None:
        """Let an object escape that is not asked first: one of a class derived from its own is."""
        for other in others:
            if isinstance(other, Object | Element) and other.cls is not first.cls and issubclass(other.cls, first.cls):
                raise Escapes(origin_of(first))

    def asked(self, op: Op, method: types.FunctionType, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """What the method of an operator gives, which has to know what to do: else Python would ask the next one."""
        origin = first_origin(arguments)
        before, self.declines = self.declines, False
        given = self.inline(op, method, arguments, {}, frame, origin)
        if self.declines or (isinstance(given, Const) and given.value is NotImplemented):
            raise Escapes(origin)
        self.declines = before
        return given

    def member(self, cls: type, name: str, after: type | None = None) -> Any:
        """What a class has under a name, which has to be so when the code is used again."""
        if after is not None:
            self.members[cls, "__mro__"] = cls.__mro__
            found = member(cls, name, after)
            for base in cls.__mro__[cls.__mro__.index(after) + 1 :]:
                self.members[base, name] = member(base, name)
                if name in vars(base):
                    break
            return found
        found = member(cls, name)
        self.members[cls, name] = VARIABLE if is_class_variable(cls, name, found) else found
        return found

    def member_function(self, place: Object | Element, name: str) -> types.FunctionType:
        found = self.member(place.cls, name)
        if not isinstance(found, types.FunctionType):
            raise Escapes(origin_of(place))
        return found

    def construct(
        self,
        op: Op,
        callee: Const,
        cls: type,
        arguments: tuple[Known, ...],
        keywords: Named,
        frame: Frame,
        origin: Origin = (),
    ) -> Known | None:
        origin = origin or (*frame.path, op.results[0])
        place = Object(origin, cls, callee, op.results[0].hint)
        self.made_in[place] = self.out
        self.fields[place, THERE] = NONE
        for name in classes.OWN_WAYS:
            self.member(cls, name)
        constructor = self.member(cls, "__init__")
        self.members[cls, "__mro__"] = cls.__mro__
        self.helped = True
        if constructor is vars(object)["__init__"]:
            return place if not arguments and not keywords else None  # without fields: nothing is known of it by number
        if not isinstance(constructor, types.FunctionType):
            raise Escapes(origin)
        self.constructed.add(place)
        fields = classes.generated_fields(cls, constructor)
        if fields is None:
            self.inline(op, constructor, (place, *arguments), keywords, frame, origin)
        else:
            self.generated(op, place, fields, arguments, keywords, frame)
        self.constructed.discard(place)
        return self.made_object(op, place)

    def made_object(self, op: Op, place: Object) -> Known:
        """An object that has just been made, with its fields."""
        if place.cls not in CLASSES:
            self.facts.classes[place.origin] = place.cls, tuple(fields_of(self.fields, place))
        return self.pooled(op, place) if place.cls in self.facts.pools else place

    @abstractmethod
    def pooled(self, op: Op, place: Object) -> Known:
        """An object that has just been made, as one of those in the pool of its class."""

    @abstractmethod
    def there(self, op: Op, target: Element, name: str) -> Element:
        """One of the objects of a pool, of which an attribute is asked: Python's error if it is None."""

    @abstractmethod
    def check_there(self, *known: Known) -> None:
        """Let objects escape that may be None."""

    def record(
        self, op: Op, callee: Const, cls: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame
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

    def replaced(self, method: Method, keywords: Named) -> Known:
        """`record._replace(x=y)`"""
        before = method.receiver
        assert isinstance(before, Object)
        place = replace(before, merged=True)
        names = before.cls._fields  # type: ignore[attr-defined]
        if not keywords.keys() <= set(names):
            raise Escapes(before.origin)
        for name in names:
            self.fields[place, name] = keywords.get(name, self.fields[before, name])
        return place

    def is_there(self, target: Element) -> bool:
        """Whether one of the objects of a pool is known not to be None."""
        return not target.may_be_none or target.index in self.present

    def items_of_record(self, place: Object) -> tuple[Known, ...]:
        return tuple(self.fields[place, name] for name in place.cls._fields)  # type: ignore[attr-defined]

    def generated(
        self,
        op: Op,
        place: Object,
        fields: tuple[Any, ...],
        arguments: tuple[Known, ...],
        keywords: Named,
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
            if not classes.is_field(found) and (found is not each.default or hasattr(type(found), "__get__")):
                raise Escapes(place.origin)
            is_given = each.name in given and each.init
            if not each.init and each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING:
                continue  # `__post_init__` may assign it
            self.fields[place, each.name] = given.pop(each.name) if is_given else self.default_of(op, each, place)
        if given:
            raise Escapes(place.origin)
        after = self.member(place.cls, "__post_init__")
        if isinstance(after, types.FunctionType):
            self.inline(op, after, (place,), {}, frame, place.origin)

    def default_of(self, op: Op, each: Any, place: Object) -> Known:
        """The value of a field that is not given."""
        if is_literal(each.default):
            return Const(each.default)
        if isinstance(each.default, enum.Enum):
            cls = type(each.default)
            return Const(each.default, f"{cls.__name__}.{each.default.name}", cls)
        if each.default_factory is list:
            return self.new_list(op, each.name, place.origin)
        if is_tuple_of_literals(each.default):
            return self.made_by(op, Opcode.TUPLE, tuple(map(Const, each.default)), (*place.origin, each.name))
        if each.default_factory is dict:
            return self.made_by(op, Opcode.DICT, (), (*place.origin, each.name))
        if (shared := self.shared_default(op, each, place)) is not None:
            return shared
        factory = factory_constant(each.default_factory, place.origin)
        if factory is None:
            raise Escapes(place.origin)
        return self.made_by(op, factory, (), (*place.origin, each.name))

    def shared_default(self, op: Op, each: Any, place: Object) -> Known | None:
        """A default that is a namedtuple, or a dataclass that is not written into, of literals: one that has the same fields,
        as nobody may ask which one it is."""
        value, cls = each.default, type(each.default)
        is_record = classes.is_record(cls)
        is_plain = is_record or (dataclasses.is_dataclass(cls) and classes.is_frozen(cls) and classes.is_in_sight(cls))
        names = cls._fields if is_record else tuple(getattr(cls, "__dataclass_fields__", ()))
        if not is_plain or not all(is_literal(getattr(value, name, value)) for name in names):
            return None
        if cls not in self.facts.shared:
            raise Shares(cls)
        made = Object((*place.origin, each.name), cls, class_constant(cls), each.name, merged=True)
        self.members[cls, "__mro__"] = cls.__mro__
        self.fields |= {(made, name): Const(getattr(value, name)) for name in names}
        if is_record:
            return made
        self.made_in[made] = self.out
        self.fields[made, THERE] = NONE
        return self.made_object(op, made)

    def made_by(self, op: Op, callee: Opcode | Known, arguments: tuple[Value, ...], path: Origin) -> Known:
        """What an operation of its own gives, in the place of another one."""
        result = op.results[0]
        frame = Frame(path)
        if isinstance(callee, ClassMethod):
            return self.inline(op, callee.function, (callee.cls,), {}, frame, path)
        made = Op(callee, arguments, (result,), where=op.where)  # type: ignore[arg-type]
        self.operation(made, frame)
        return self.known(result, frame)

    def new_list(self, op: Op, name: str, origin: Origin) -> ListOf:
        result = fresh(name, True)
        place = self.list_at((*origin, name), name)
        if place.origin in self.facts.kept:
            raise Escapes(origin)
        self.fields[place, CONTENTS] = result
        self.add(Op(Opcode.LIST, (), (result,), where=op.where))
        self.contents[result] = ()
        return place

    @abstractmethod
    def list_at(self, origin: Origin, hint: str) -> ListOf:
        """A list that is made there, with what is known of its items."""

    def super_of(self, arguments: tuple[Known, ...]) -> Known | None:
        after, receiver = arguments
        is_there = isinstance(receiver, Object) or (isinstance(receiver, Element) and self.is_there(receiver))
        if is_there and isinstance(after, Const) and after.value in receiver.cls.__mro__:  # type: ignore[union-attr]
            return Super(receiver, after.value)
        raise Escapes(first_origin(arguments))

    def read_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, name = arguments[0], arguments[1]
        if len(arguments) != 2 or not isinstance(name, Const):
            raise Escapes(first_origin(arguments))
        if _is_of_library(target, name.value):
            return Method(target, None, name.value)
        match target:
            case Packed() if target.form.cls is not None:
                return self.read_of_tuple(op, target, name, frame)
            case ListOf(sort="array"):
                return self.read_of_array(op, target, name.value, frame)
            case View():
                self.emit(op, op.callee, arguments, {}, frame)  # type: ignore[arg-type]
                return frame.values.get(op.results[0], op.results[0])
            case Super():
                return self.read_super(target, name.value)
            case Element():
                return self.read_field(op, self.there(op, target, name.value), name.value, frame)
            case Object():
                return self.read_field(op, target, name.value, frame)
        raise Escapes(first_origin(arguments))

    def read_of_tuple(self, op: Op, target: Packed, name: Const, frame: Frame) -> Known | None:
        """An attribute of a namedtuple that was read from a container."""
        cls: Any = target.form.cls
        if name.value not in cls._fields:
            return self.read_attribute(op, (self.as_record(target, op), name), frame)
        self.members[cls, "__mro__"] = cls.__mro__
        return self.read_item(op, (target, Const(cls._fields.index(name.value))), frame)

    @abstractmethod
    def as_record(self, packed: Packed, op: Op) -> Object:
        """A namedtuple that was read from a container, with its fields."""

    def read_field(self, op: Op, target: Object | Element, name: str, frame: Frame) -> Known:
        if is_of_function(target):
            raise Escapes(origin_of(target))
        if name == "__class__":
            return class_constant(target.cls)
        found = self.member(target.cls, name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return self.inline(op, found.fget, (target,), {}, frame, origin_of(target))
        is_own = classes.is_record(target.cls) or classes.is_field(found) or isinstance(found, _BEHIND_FIELDS)
        is_own = is_own or not hasattr(type(found), "__get__")
        known = self.field(op, target, name, frame) if is_own else None
        if known is not None:
            return known
        if isinstance(found, types.FunctionType):
            return Method(target, found, name)
        if classes.is_constant(found) and not is_class_variable(target.cls, name, found):
            return Const(found)
        named = callable_of(found, class_constant(target.cls), origin_of(target))
        return self.of_class(op, target, found, name, frame) if named is None else named

    def of_class(self, op: Op, target: Object | Element, found: Any, name: str, frame: Frame) -> Known:
        """What an object has by its class that is no method: a value, read from there; or what is computed once and kept."""
        if isinstance(found, functools.cached_property) and isinstance(found.func, types.FunctionType):
            kept = self.inline(op, found.func, (target,), {}, frame, origin_of(target))
            if not isinstance(target, Object) or (target, name) in self.fields:
                raise Escapes(origin_of(target))
            self.write(target, name, kept)
            return kept
        if found is ABSENT or hasattr(type(found), "__get__"):
            raise Escapes(origin_of(target))
        read = fresh(name)
        self.add(Op(_GETATTR, (class_constant(target.cls), Const(name)), (read,), where=op.where))
        return read

    def field(self, op: Op, target: Object | Element, name: str, frame: Frame) -> Known | None:
        """What a field is now; None if there is none."""
        if isinstance(target, Object):
            if (target, name) in self.unsure and (target, name) not in self.fields:
                raise Escapes(target.origin, is_tried=True)
            return self.fields.get((target, name))
        column = target.table.columns.get(name)
        return None if column is None else self.read_item(op, (column, target.index), frame)

    @abstractmethod
    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`container[index]`"""

    @abstractmethod
    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`container[index] = value`"""

    @abstractmethod
    def read_of_array(self, op: Op, place: ListOf, name: str, frame: Frame) -> Known:
        """An attribute of an array in sight."""

    @abstractmethod
    def emit(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> None:
        """The operation as it is, on values."""

    def read_super(self, target: Super, name: str) -> Known:
        found = self.member(target.receiver.cls, name, target.after)
        if isinstance(found, types.FunctionType):
            return Method(target.receiver, found, name)
        if name == "__init__" and (found is vars(object)["__init__"] or is_of_exceptions(found)):
            return Method(target.receiver, None, name)
        raise Escapes(origin_of(target))

    def write_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, name, value = arguments
        if self.kinds.of(target) == Inert("NoneType"):
            self.emit(op, op.callee, (target, name, NONE), {}, frame)  # type: ignore[arg-type]  # raises, whatever is assigned
            return NONE
        if not isinstance(target, Object | Element) or not isinstance(name, Const):
            raise Escapes(first_origin(arguments))
        if target.cls in CLASSES and name.value not in FIELDS:
            raise Escapes(origin_of(target))
        if isinstance(target, Element):
            target = self.there(op, target, name.value)
        found = self.member(target.cls, name.value)
        if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
            self.inline(op, found.fset, (target, value), {}, frame, origin_of(target))
            return NONE
        if classes.is_frozen(target.cls) or not classes.takes(target.cls, found):
            raise Escapes(origin_of(target))
        if isinstance(target, Element):
            column = target.table.columns.get(name.value)
            if column is None:
                raise Escapes(origin_of(target))
            self.note_write(target)
            return self.write_item(op, (column, target.index, value), frame)
        self.write(target, name.value, value)
        return NONE

    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        """What `if` asks of an object: its length, if it is one of the library, else nothing. And of a list or dict: now, as it
        may be another answer later."""
        if isinstance(known, ListOf | Row) and getattr(known, "of", None) is None:
            asked = fresh("is_filled")
            self.add(Op(_BOOL, (self.plain(known, shows=False),), (asked,), from_user=False, where=where))
            return asked
        if not isinstance(known, Object) or classes.is_record(known.cls):
            return known
        if known.cls in CLASSES:
            op = Op(function_constant(len), (), (fresh("n"),), where=where)
            return self.inline(op, self.member_function(known, "__len__"), (known,), {}, frame, known.origin)
        if self.has_truth(known.cls):
            raise Escapes(known.origin)
        return Const(True)

    def has_truth(self, cls: type) -> bool:
        """Whether a class says which of its objects are true."""
        return any(self.member(cls, name) is not ABSENT for name in ("__bool__", "__len__"))

    def is_same(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        a, b = arguments
        _check_functions(a, b)
        if any(isinstance(each, Object) and (each.merged or each in self.owners) for each in arguments):
            raise Escapes(first_origin(arguments))  # a list in a dict may be one, read twice
        if isinstance(a, Element) and isinstance(b, Element) and a.table is b.table:
            if a.cls in self.facts.shared:
                raise Escapes(a.table.origin)
            return self.is_same_element(op, a, b, frame)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Element) and one.may_be_none and one.index not in self.present:
                if other != NONE:
                    raise Escapes(origin_of(one))
                return self.is_same_element(op, one, Element(one.table, NO_OBJECT), frame)
        if is_thing(a) and is_thing(b):
            is_read = any(isinstance(each, Picked | Row) for each in arguments) or all(map(_is_read, arguments))
            if a is not b and (is_read or any(map(self.is_gone, arguments))):
                raise Escapes(first_origin(arguments))  # they may be one, read twice
            return Const(a is b)
        value = b if is_thing(a) else a
        if isinstance(value, Const):
            return Const(False)
        raise Escapes(first_origin(arguments))

    def is_gone(self, known: Known) -> bool:
        """Whether a container goes by another name now."""
        return isinstance(known, ListOf | Table) and not self.gone.isdisjoint(lists_of(known))

    def is_other(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        found = self.is_same(op, arguments, frame)
        return Const(not found.value) if isinstance(found, Const) else found

    def is_same_element(self, op: Op, a: Element, b: Element, frame: Frame) -> Known:
        """Each object is in a list once, and has one number there."""
        if a.index == b.index:
            return Const(True)
        if isinstance(a.index, Const) and isinstance(b.index, Const):
            return Const(False)
        ways = {operator.is_: "eq", operator.is_not: "ne"}
        compared = replace(op, callee=operator_constant(ways[op.callee.value]), payload=None)  # type: ignore[union-attr]
        self.emit(compared, compared.callee, (a.index, b.index), {}, frame)  # type: ignore[arg-type]
        asked = frame.values.get(op.results[0], op.results[0])
        if b.index == NO_OBJECT:
            there, is_other = frozenset((a.index,)), op.callee.value is operator.is_not  # type: ignore[union-attr]
            self.tests[asked] = (there, frozenset()) if is_other else (frozenset(), there)  # type: ignore[index]
        return asked

    def is_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, cls = arguments
        self.check_there(target)
        if is_of_function(target) or (isinstance(target, Object | Element) and target.cls in _OF_BUILTINS):
            raise Escapes(origin_of(target))  # type: ignore[arg-type]
        if isinstance(target, Object | Element) and isinstance(cls, Const) and type(cls.value) is type:
            self.members[target.cls, "__mro__"] = target.cls.__mro__
            return Const(cls.value in target.cls.__mro__)
        return None

    def class_of(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`type(target)`"""
        (target,) = arguments
        self.check_there(target)
        is_own = isinstance(target, Object | Element) and target.cls not in _OF_BUILTINS and not is_of_function(target)
        return class_constant(target.cls) if is_own else None  # type: ignore[union-attr, arg-type]

    def unpack(self, op: Op, place: Object, frame: Frame) -> None:
        items = self.items_of_record(place) if classes.is_record(place.cls) else ()
        if len(items) != len(op.results):
            raise Escapes(place.origin)
        for result, known in zip(op.results, items, strict=True):
            self.bind(result, known, frame)


def _is_of_library(target: Known, name: str) -> bool:
    """Whether what is read from something is a method that it has in Python."""
    if isinstance(target, Object):
        is_method = target.cls in CLASSES and name not in FIELDS
        return is_method or (classes.is_record(target.cls) and name == "_replace")
    return isinstance(target, DictOf | Table) or (isinstance(target, ListOf) and target.sort != "array")


def _check_functions(a: Known, b: Known) -> None:
    """Let functions in pools escape that may be two and have one number: those that have captured nothing."""
    for one, other in ((a, b), (b, a)):
        if is_of_function(one) and other != NONE:
            is_told = isinstance(one, Element) and isinstance(other, Element)
            if not is_told or (one.table is other.table and not one.table.columns):  # type: ignore[union-attr]
                raise Escapes(origin_of(one))  # type: ignore[arg-type]


def _is_read(known: Known) -> bool:
    """Whether something was read from a container, and may have been read from there before."""
    return isinstance(known, _READ)
