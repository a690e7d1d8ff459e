"""Tuples in sight that are compared: as the tuples with numbers that containers have of them.

    if p == q:          the namedtuples `p` and `q` of a list: p_value == q_value
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import BOOL, INT, Array, Inert, Kind, Scalar, Sequence, TupleOf, python_type
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var, fresh
from microgradpy.promotion.classes import is_in_sight, is_record
from microgradpy.promotion.forms import form_of
from microgradpy.promotion.object_keys import is_by_identity
from microgradpy.promotion.places import Frame, Known, ListOf, Object, Packed, Packing, Table, is_thing

_SAME = (operator.eq, operator.ne)
COMPARE = (*_SAME, operator.lt, operator.le, operator.gt, operator.ge)


def compared(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """`a == b`, one of which is a tuple from a container in sight; None if that is not followed."""
    function = op.callee.value  # type: ignore[union-attr]
    packed = next((each for each in arguments if isinstance(each, Packed)), None)
    if packed is None or not _may_be_compared(walker, packed.form, function):
        return None
    values = tuple(_as_tuple(walker, each, packed.form) for each in arguments)
    if any(value is None for value in values):
        return None
    walker.emit(op, op.callee, values, {}, frame)
    return walker.known_result(op, frame)  # type: ignore[no-any-return]


_CONTAINERS = frozenset((list, tuple, dict, set, frozenset, str, bytes, type(None)))
_CLASSES = _CONTAINERS | {int, float, complex, bool, np.ndarray}
_OF_INERT: dict[str, type] = {"str": str, "NoneType": type(None)}


def is_instance(kind: Kind, asked: Any) -> bool | None:
    """Whether what is of this kind is of a class, or of one of several, as far as that is proven."""
    if isinstance(asked, tuple):
        found = [is_instance(kind, each) for each in asked]
        return True if True in found else None if None in found else False
    if not isinstance(asked, type) or asked not in _CLASSES:
        return None
    match kind:
        case Array(ndim=int(rank)) if rank > 0:
            return asked is np.ndarray
        case Array() | Scalar():  # perhaps a number of NumPy's, which may be a float as well
            return False if asked in _CONTAINERS or (asked is np.ndarray and isinstance(kind, Scalar)) else None
        case TupleOf() | Sequence(name="list" | "dict" | "set" | "tuple"):
            return asked is python_type(kind)
        case Inert(name="str" | "NoneType" as name):
            return asked is _OF_INERT[name]
    return None


def instance(walker: Any, known: Known, cls: Known) -> Const | None:
    """`isinstance(x, C)` of a value, as far as it is known: a number or an array is no object of a class of the user's."""
    if not isinstance(cls, Const) or is_thing(known):
        return None
    kind, named = walker.kinds.of(known), cls.value
    found = is_instance(kind, named)
    if found is None and type(named) is type and is_in_sight(named):
        is_number = isinstance(kind, Scalar | Array) or kind in (INT, BOOL)
        is_other = not issubclass(named, int | float | complex | np.generic | np.ndarray)
        found = False if is_number and is_other else None
    return None if found is None else Const(found)


def is_among(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """`point in points`"""
    items, item = arguments
    form = items.of if isinstance(items, ListOf) and items.sort == "list" and not items.depth else None
    if not isinstance(form, Packing) or not _may_be_compared(walker, form, operator.eq):
        return None
    value = _as_tuple(walker, item, form)
    if value is None:
        return None
    walker.emit(op, op.callee, (walker.now(items), value), {}, frame)
    return walker.known_result(op, frame)  # type: ignore[no-any-return]


def _may_be_compared(walker: Any, form: Packing, function: Any) -> bool:
    """Whether tuples are compared as what stands for them: objects are equal to themselves only, and have no order."""
    if form.cls is not None and any(
        walker.member(form.cls, name) is not getattr(tuple, name) for name in (f"__{function.__name__}__", "__eq__")
    ):
        return False
    tables = [each for each in form.items if each is not None]
    if function not in _SAME and tables:
        return False
    return all(isinstance(each, Table) and is_by_identity(walker, each) for each in tables)


def _as_tuple(walker: Any, known: Known, form: Packing) -> Value | None:
    """What stands for a tuple that is compared with some of a form."""
    if isinstance(known, Packed):
        is_alike = form_of(replace(known.form, cls=None)) == form_of(replace(form, cls=None))
        return known.value if is_alike and (known.form.cls is form.cls or known.form.cls is None or form.cls is None) else None
    if any(each is not None for each in form.items):
        return None
    if isinstance(known, Object) and is_record(known.cls) and known.cls is form.cls:
        items = walker.items_of_record(known)
        if any(map(is_thing, items)):
            return None
        walker.add(Op(Opcode.TUPLE, items, (made := fresh(known.hint),), from_user=False))
        return made
    is_tuple = isinstance(known, Var | Const) and isinstance(walker.kinds.of(known), TupleOf)
    return known if is_tuple else None  # type: ignore[return-value]
