"""Objects of several classes in one container: what is done with one of them is a branch for each class.

    for shape in shapes:            for shape in shapes:
        total += shape.area()           if shape % 2 == 0: total += 3.14 * circle_radius[shape // 2] ** 2
                                        else: total += square_side[shape // 2] ** 2
"""

from __future__ import annotations

import operator
import types
from abc import abstractmethod
from typing import Any

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.nodes import (
    SELF,
    Const,
    For,
    If,
    Op,
    Opcode,
    Raise,
    Region,
    Statement,
    Unreachable,
    Value,
    Var,
    Yield,
    fresh,
    operator_constant,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import item_sources, item_variables
from microgradpy.promotion.cells import of_pool
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.entries import Entering
from microgradpy.promotion.findings import Escapes, Gathers, Writes
from microgradpy.promotion.functions import Named, is_followed
from microgradpy.promotion.places import (
    AnyOf,
    Cell,
    Closure,
    DictOf,
    Element,
    Frame,
    Known,
    ListOf,
    Method,
    Object,
    OfFunction,
    Packed,
    Table,
    is_of_function,
    origin_of,
    origin_of_pool,
)
from microgradpy.runtime.keyed import CLASSES
from microgradpy.runtime.variables import set_contents

_EQ = operator_constant("eq")
_ERROR = Const(AttributeError, "AttributeError", AttributeError)
_RECEIVER = "self"
_SELF, _NO_CONSTRUCTOR = Const(SELF), Const(None)
_FUNCTIONS = (types.CodeType, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)
_PUT = (setattr, operator.setitem, set_contents)


class Families(Entering):
    """What is done with an object of one of several classes."""

    def by_class(self, op: Op, callee: Known, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """An operation on an object of one of several classes, as a branch for each; whether it is one."""
        if isinstance(callee, Method) and isinstance(callee.receiver, AnyOf):
            either, places = callee.receiver, None
        elif isinstance(callee, AnyOf):
            either, places = callee, None
        elif _is_put(callee, arguments):
            return False
        else:
            places = next((place for place, known in enumerate(arguments) if isinstance(known, AnyOf)), None)
            if places is None:
                return False
            either = arguments[places]  # type: ignore[assignment]
            if self.read_of_any(op, either, arguments, frame):
                return True
        made = self.by_sort(op, callee, either, places, frame)
        if not _goes_on(made):
            raise Escapes(origin_of(either))  # it always raises
        self.branch(made, frame)
        return True

    def read_of_any(self, op: Op, either: AnyOf, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """Read a method that all classes have, to be called with the object."""
        is_read = isinstance(op.callee, Const) and op.callee.value is getattr and len(arguments) == 2
        if not is_read or not isinstance(arguments[1], Const):
            return False
        name = arguments[1].value
        if not all(isinstance(self.member(each.cls, name), types.FunctionType) for each in either.family.tables):
            return False
        if any(name in each.columns for each in either.family.tables):
            raise Escapes(origin_of(either))
        self.bind(op.results[0], Method(either, None, name), frame)
        return True

    def by_sort(self, op: Op, callee: Known, either: AnyOf, place: int | None, frame: Frame) -> If:
        """The operation for the classes that an object may be of, one after the other."""
        sort, number = self.told_apart(either)
        last = len(either.family.tables) - 1

        def arm(table: int) -> Region:
            element, stands = Element(either.family.tables[table], number), fresh("")
            results = tuple(fresh(each.hint) for each in op.results)
            if isinstance(callee, AnyOf):
                frame.values[stands] = element
                return Region((replace(op, callee=stands, results=results),), Yield(results))
            if place is None:
                assert isinstance(callee, Method)
                frame.values[stands] = Method(element, self.member_function(element, callee.name), callee.name)
                return Region((replace(op, callee=stands, results=results),), Yield(results))
            frame.values[stands] = element
            if self.has_none(op, element):
                return self.raising(op, element)
            given = (*op.arguments[:place], stands, *op.arguments[place + 1 :])
            return Region((replace(op, arguments=given, results=results),), Yield(results))

        def choice(table: int, asked: Var, results: tuple[Var, ...]) -> If:
            return If(asked, arm(table), arm(last) if table + 1 == last else rest(table + 1), results, op.where)

        def rest(table: int) -> Region:
            results, asked = tuple(fresh(each.hint) for each in op.results), fresh("is_of")
            asks = Op(_EQ, (sort, Const(table)), (asked,), from_user=False, where=op.where)
            made = choice(table, asked, results)
            return Region((asks, made), Yield(results) if _goes_on(made) else Unreachable())

        asked = fresh("is_of")
        self.add(Op(_EQ, (sort, Const(0)), (asked,), from_user=False, where=op.where))
        return choice(0, asked, op.results)

    # Tuples

    def lower_statement(self, statement: Statement, frame: Frame) -> None:
        """A loop over a tuple of objects runs over a list of them."""
        if isinstance(statement, For):
            statement = self.over_lists(statement, frame)
        super().lower_statement(statement, frame)

    def over_lists(self, statement: For, frame: Frame) -> For:
        lists: dict[Value, Var] = {}
        for source in item_sources(statement.items):
            known = self.known(source, frame)
            if isinstance(known, Packed):
                inner = Frame((*frame.path, *item_variables(statement.items), len(lists)))
                op = Op(Opcode.UNPACK, (), (fresh("items"),), where=statement.where)
                items = tuple(fresh("item") for _ in known.form.items)
                inner.values |= dict(zip(items, self.items_of_packed(op, known), strict=True))
                lists[source] = item_variables(statement.items)[0]
                self.operation(Op(Opcode.LIST, items, (lists[source],), where=statement.where), inner)
                made = fresh("items")
                self.bind(made, self.known(lists[source], inner), frame)
                lists[source] = made
        if not lists:
            return statement
        return replace(statement, items=map_items(statement.items, lambda value: lists.get(value, value), lambda var: var))

    # Functions

    def among_functions(self, known: Known) -> Known:
        """A function that is put somewhere as one of those that may be there."""
        self.check_given(known)
        self.check_made_by(known)
        if isinstance(known, Method):
            return self.method_among_functions(known)
        function = known.value if isinstance(known, Const) else known.body.code if isinstance(known, Closure) else None
        if not isinstance(function, _FUNCTIONS) or self.facts.beside_writes:
            return known
        cls = self.facts.functions.get(function)
        if cls is None:
            name = function.co_name if isinstance(function, types.CodeType) else function.__name__
            cls = self.facts.functions[function] = type(name.strip("<>"), (OfFunction,), {})
            self.facts.bodies[cls] = known.body if isinstance(known, Closure) else known
        if isinstance(known, Closure):
            self.facts.functions_made[known.origin] = cls
        if cls in self.facts.unpooled:
            return known
        if cls not in self.facts.pools:
            raise Gathers(cls, ())
        if isinstance(known, Closure):
            raise Escapes(known.origin)  # it would have been one
        return Element(self.tables_made[origin_of_pool(cls)], Const(0))

    def method_among_functions(self, method: Method) -> Known:
        """A method of an object that is put somewhere (`signal.connect(meter.on)`) as one of the functions that may be there:
        it has captured the object."""
        receiver, function = method.receiver, method.function
        is_known = isinstance(receiver, Object | Element) and receiver.cls not in CLASSES and function is not None
        if not is_known or self.facts.beside_writes:
            return method
        key = function, receiver.cls
        cls = self.facts.functions.get(key)
        if cls is None:
            cls = self.facts.functions[key] = type(method.name, (OfFunction,), {})
            self.facts.bodies[cls] = replace(method, receiver=None)
        if cls in self.facts.unpooled:
            return method
        if cls not in self.facts.pools:
            raise Gathers(cls, ())
        table = self.tables_made[origin_of_pool(cls)]
        if _RECEIVER not in table.columns and self.is_captured_by_all(table, _RECEIVER, receiver):
            return Element(table, Const(0))
        if _RECEIVER not in table.columns:
            raise Gathers(cls, (_RECEIVER,))
        place = Object(table.origin, cls, _NO_CONSTRUCTOR, method.name)
        self.fields[place, _RECEIVER] = receiver
        return self.pooled(Op(Opcode.LIST, (), (fresh(""),)), place)

    def is_function_known(self, known: Known) -> bool:
        """Whether it is known which function something is."""
        if isinstance(known, Const):
            return isinstance(known.value, _FUNCTIONS) and not isinstance(known.value, type)
        if isinstance(known, Method):
            return known.function is not None
        return is_of_function(known) or (isinstance(known, Var) and self.can_be_called(known))

    def all_among_functions(self, items: tuple[Known, ...]) -> tuple[Known, ...]:
        """The same of the items of a list; what is found out of all of them is known in the next walk."""
        given, learned = [], dict[Any, Gathers | Writes]()
        for each in items:
            try:
                given.append(self.among_functions(each))
            except (Gathers, Writes) as found:
                learned[found.args] = found
        if learned:
            *others, last = learned.values()
            for other in others:
                self.facts.learn(other)
            raise last
        return tuple(given)

    def if_pooled(self, known: Known) -> Known:
        """A function of the module as one of those in pools, if it is there."""
        function = known.value if isinstance(known, Const) else None
        is_one = isinstance(function, _FUNCTIONS) and self.facts.functions.get(function) in self.facts.pools
        return self.among_functions(known) if is_one else known

    def check_made_by(self, known: Known) -> None:
        """Let a function be written where it is called that has made the one that is put somewhere."""
        made = self.kinds.builder.producers.get(known) if isinstance(known, Var) else None
        callee = None if made is None else made.callee
        if isinstance(callee, Var) and callee in self.fresh:
            called = self.kinds.builder.producers[callee]
            if isinstance(called.payload, ClosureBody) and _makes_functions(called.payload.code):
                raise Writes(self.fresh[callee])
        elif isinstance(callee, Const) and isinstance(callee.value, types.FunctionType):
            origin = "factory", callee.value.__code__
            is_new = origin not in self.facts.written and _makes_functions(callee.value.__code__)
            if is_new and is_followed(callee.value, self.function) and not self.facts.beside_writes:
                raise Writes(origin)

    def made_function(self, op: Op, closure: Closure) -> Known:
        """A function that has just been made, as one of those in the pool for it, if there is one."""
        cls = self.facts.functions.get(closure.body.code)
        if cls not in self.facts.pools or not isinstance(closure.body, ClosureBody):
            return closure
        self.facts.functions_made[closure.origin] = cls
        table, names = self.tables_made[origin_of_pool(cls)], names_of_captures(closure.body)
        in_columns: dict[str, Known] = {}
        for name, known in zip(names, closure.values, strict=True):
            found = self.among_functions(known) if isinstance(known, Closure) else known
            if isinstance(found, Cell):
                is_shared = self.is_of_all(table, name, found)
                found = of_pool(self, found, table.origin, is_shared=is_shared) or found
            if name not in table.columns and (found == _SELF or self.is_captured_by_all(table, name, found)):
                continue
            in_columns[name] = found
        if in_columns.keys() > table.columns.keys():
            raise Gathers(table.cls, tuple(in_columns))
        self.helped = True
        if not in_columns:
            return Element(table, Const(0))
        place = Object(closure.origin, table.cls, _NO_CONSTRUCTOR, op.results[0].hint)
        self.fields |= {(place, name): known for name, known in in_columns.items()}
        return self.pooled(op, place)

    def is_captured_by_all(self, table: Table, name: str, known: Known) -> bool:
        """Whether what a function has captured is in sight, and the same for all that are made of the same text."""
        if not isinstance(known, Cell | ListOf | DictOf | Object):
            return False
        if self.is_of_all(table, name, known):
            return True
        if isinstance(known, ListOf) or (isinstance(known, Object) and known.cls in CLASSES):
            return False
        is_pooled = isinstance(known, Object) and self.facts.may_be_pooled(known.origin)
        raise Escapes(known.origin if is_pooled else table.origin)

    def is_of_all(self, table: Table, name: str, known: Known) -> bool:
        is_new = bool(self.loops) and known not in self.before_loops
        return not is_new and self.captured_by_all.setdefault((table.cls, name), known) is known

    def call_function(self, op: Op, callee: Element, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        """A call of one of the functions in a pool."""
        self.helped = True
        self.check_there(callee)
        body, origin = self.facts.bodies[callee.cls], callee.table.origin
        if isinstance(body, Const):
            return self.called_as_known(replace(op, callee=body), body, arguments, keywords, frame)
        captured = self.fields_now(op, callee, frame)
        if isinstance(body, Method):
            receiver = captured.get(_RECEIVER, self.captured_by_all.get((callee.cls, _RECEIVER), _SELF))
            found = self.method(op, replace(body, receiver=receiver), arguments, keywords, frame)
            if found is None:
                raise Escapes(origin)
            return found
        values = []
        for name in names_of_captures(body):
            fixed = self.captured_by_all.get((callee.cls, name), _SELF)
            values.append(captured.get(name, fixed))
        return self.closure(op, Closure(origin, body, tuple(values)), arguments, keywords, frame)

    @abstractmethod
    def method(self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a call of a method gives."""

    @abstractmethod
    def operation(self, op: Op, frame: Frame) -> None:
        """Append what becomes of an operation."""

    @abstractmethod
    def called_as_known(self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        """What a call of a constant gives."""

    # Attributes

    def has_none(self, op: Op, element: Element) -> bool:
        """Whether an attribute is read that objects of a class do not have."""
        is_read = isinstance(op.callee, Const) and op.callee.value is getattr and len(op.arguments) == 2
        name = op.arguments[1] if is_read else None
        if not isinstance(name, Const) or name.value in element.table.columns or name.value in dir(object):
            return False
        return self.member(element.cls, name.value) is ABSENT

    def raising(self, op: Op, element: Element) -> Region:
        """What Python does where an attribute is not there."""
        if self.trying:
            raise Escapes(element.table.origin, is_tried=True)  # who catches the error would see another one
        name, error = op.arguments[1].value, fresh("error")  # type: ignore[union-attr]
        words = Const(f"{element.cls.__name__!r} object has no attribute {name!r}")
        made = Op(_ERROR, (words,), (error,), from_user=False, where=op.where)
        return Region((made,), Raise(error, where=op.where))


def _goes_on(statement: If) -> bool:
    return any(isinstance(arm.terminator, Yield) for arm in (statement.then, statement.orelse))


def _is_put(callee: Known, arguments: tuple[Known, ...]) -> bool:
    """Whether the last argument of a call is put somewhere, whatever its class is."""
    if any(isinstance(each, AnyOf) for each in arguments[:-1]):
        return False
    if isinstance(callee, Method):
        return callee.function is None and isinstance(callee.receiver, ListOf | DictOf | Object)
    return isinstance(callee, Const) and any(callee.value is each for each in _PUT)


def names_of_captures(body: ClosureBody) -> tuple[str, ...]:
    """What the values are called that a function made inside gets where it is made."""
    names = body.code.co_varnames[: body.code.co_argcount]
    return (*body.code.co_freevars, *names[len(names) - body.defaults :], *body.keyword_defaults)


def _makes_functions(code: types.CodeType) -> bool:
    inside = [each.co_name for each in code.co_consts if isinstance(each, types.CodeType)]
    return any(name[:1] != "<" or name == "<lambda>" for name in inside)
