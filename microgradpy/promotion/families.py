"""Objects of several classes in one container: what is done with one of them is a branch for each class.

    for shape in shapes:            for shape in shapes:
        total += shape.area()           if shape % 2 == 0: total += 3.14 * circle_radius[shape // 2] ** 2
                                        else: total += square_side[shape // 2] ** 2
"""

from __future__ import annotations

import operator
import types

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, If, Op, Raise, Region, Unreachable, Var, Yield, fresh, operator_constant
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.keying import Keying
from microgradpy.promotion.places import AnyOf, DictOf, Element, Frame, Known, ListOf, Method, Object, origin_of
from microgradpy.runtime.variables import set_contents

_EQ = operator_constant("eq")
_ERROR = Const(AttributeError, "AttributeError", AttributeError)
_PUT = (setattr, operator.setitem, set_contents)


class Families(Keying):
    """What is done with an object of one of several classes."""

    def by_class(self, op: Op, callee: Known, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """An operation on an object of one of several classes, as a branch for each; whether it is one."""
        if isinstance(callee, Method) and isinstance(callee.receiver, AnyOf):
            either, places = callee.receiver, None
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
