"""Calls with `*items` and `**options` of which it is known what they are.

    options = {"k": 2.0, "c": 0.3}
    damped(x, **options)                  damped(x, k=2.0, c=0.3)
"""

from __future__ import annotations

from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Kind, Sequence, TupleOf
from microgradpy.ir.nodes import Const, Op, Opcode, Var, fresh, function_constant
from microgradpy.promotion import classes
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.places import (
    AnyOf,
    ClassMethod,
    Closure,
    DictOf,
    Display,
    Frame,
    Known,
    Method,
    is_of_function,
    is_thing,
)
from microgradpy.runtime.dict_objects import check_count

_CHECK_COUNT = function_constant(check_count)
NOTHING = Const(None)

def applied(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> bool:
    """`f(*items, **options)` as a call with what these are, if it is known; whether it is one."""
    callee, given, named = arguments
    of_pool = is_of_function(callee)
    if not isinstance(callee, Const | Closure | Method | ClassMethod) and not of_pool:
        return False
    keywords = options(walker, named)
    if keywords is None:
        keywords = options(walker, walker.display_of(op, named, frame))
    items = None if keywords is None else positions(walker, given, op, NOTHING if keywords else callee)
    if items is None or keywords is None:
        return False
    head = callee if isinstance(callee, Const) else op.arguments[0]
    op = replace(op, callee=head, arguments=(), keywords=(), payload=None if of_pool else op.payload)
    if isinstance(callee, AnyOf):  # a branch for each of the functions
        values = walker.as_values((*items, *keywords.values()), frame)
        pairs = tuple(zip(keywords, values[len(items) :], strict=True))
        walker.operation(replace(op, arguments=values[: len(items)], keywords=pairs), frame)
    else:
        walker.called_as(op, callee, items, keywords, frame)
    return True


def positions(walker: Any, known: Known, op: Op, callee: Known = NOTHING) -> tuple[Known, ...] | None:
    """The items of a tuple, or of what was read from arguments; None if it is not known how many there are."""
    if isinstance(known, Display):
        return known.items
    if is_thing(known):
        return None
    if known in walker.contents:
        return walker.contents[known]  # type: ignore[no-any-return]
    made = walker.kinds.builder.producers.get(known) if isinstance(known, Var) else None
    if made is not None and made.callee is Opcode.TUPLE:
        return made.arguments  # type: ignore[no-any-return]
    kind = walker.kinds.of(known)
    count = len(kind.items) if isinstance(kind, TupleOf) else _count_of(kind, callee)
    if count is None or not isinstance(known, Var):
        return None
    if not isinstance(kind, TupleOf):  # Python's error, if there are not so many
        checked = (callee, known, Const(count))
        walker.add(Op(_CHECK_COUNT, checked, (fresh(""),), from_user=False, where=op.where))  # type: ignore[arg-type]
    items = tuple(fresh("") for _ in range(count))
    if items:
        walker.add(Op(Opcode.UNPACK, (known,), items, from_user=False, where=op.where))
    return items


def _count_of(kind: Kind, callee: Known) -> int | None:
    """How many items an array, list or tuple has to have for a call with these and nothing else; None if there may be several
    such numbers."""
    is_row = isinstance(kind, Array) and kind.ndim is not None and kind.ndim > 0
    if not is_row and not (isinstance(kind, Sequence) and kind.name in ("list", "tuple")):
        return None
    function: Any = callee.value if isinstance(callee, Const) else None
    is_made = isinstance(function, type)
    text = getattr(function, "__init__", None) if is_made else function
    if is_made and classes.is_record(function):
        return None if function._field_defaults else len(function._fields)
    if not isinstance(text, FunctionType) or text.__defaults__ or text.__kwdefaults__:
        return None
    code = text.__code__
    is_fixed = not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) and not code.co_kwonlyargcount
    return code.co_argcount - is_made if is_fixed else None


def options(walker: Any, known: Known) -> dict[str, Known] | None:
    """The entries of a dict; None if they are not known, or not all under names."""
    found = _entries(walker, known)
    return found if found is not None and all(type(key) is str for key in found) else None


def _entries(walker: Any, known: Known) -> dict[Any, Known] | None:
    if isinstance(known, DictOf):
        if any(place is known and (place, name) not in walker.fields for place, name in walker.unsure):
            return None
        return fields_of(walker.fields, known)
    if is_thing(known):
        pairs = walker.pairs(known)
        return None if pairs is None else dict(pairs)
    made = walker.kinds.builder.producers.get(known) if isinstance(known, Var) else None
    if made is None or made.callee is not Opcode.DICT or not all(isinstance(key, Const) for key in made.arguments[::2]):
        return None
    return {key.value: value for key, value in zip(made.arguments[::2], made.arguments[1::2], strict=True)}
