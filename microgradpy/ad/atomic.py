"""What is known of the effects of a call, in functions that write: whether it writes, and whether all or nothing of it is done
when it raises."""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.ad.known_functions import is_fresh
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.frontend.exceptions import caught
from microgradpy.ir.kinds import Array, Inert, Kind, Numeric, Scalar, Sequence, TupleOf
from microgradpy.ir.nodes import Const, Value
from microgradpy.passes.typed_builder import Keywords
from microgradpy.runtime.variables import read_variable
from microgradpy.runtime.writes import written_argument
from microgradpy.state.apart_access import item_at, items_at
from microgradpy.state.write_handlers import has_write_handler

_ATOMIC = (
    operator.setitem, operator.delitem, list.append, list.insert, list.pop, list.clear, list.reverse, dict.pop, dict.popitem,
    dict.clear, dict.setdefault,
)  # fmt: skip


def is_write(function: Any, arguments: tuple[Value, ...], keywords: Keywords) -> bool:
    """Whether a call writes into, or reads from, something whose contents the shadows follow."""
    if has_write_handler(function):
        return True
    given = tuple(value.value if isinstance(value, Const) else value for value in arguments)
    named = {name: value.value if isinstance(value, Const) else value for name, value in keywords}
    return written_argument(function, given, named) is not None


def is_numeric_call(primal: PrimalBuilder, arguments: tuple[Value, ...]) -> bool:
    """Whether all arguments are proven to be numbers, arrays or what carries nothing, or tuples of them."""
    return all(_is_numeric(primal.kind(value)) for value in arguments)


def _is_numeric(kind: Kind) -> bool:
    if isinstance(kind, TupleOf):
        return all(map(_is_numeric, kind.items))
    return isinstance(kind, Scalar | Array | Numeric | Inert)


_READ_AT_PLACES = (read_variable, item_at, items_at)


def is_harmless(primal: PrimalBuilder, callee: Value, arguments: tuple[Value, ...]) -> bool:
    """Whether a call has no effect."""
    if not isinstance(callee, Const):
        return False
    function = callee.value
    if function is caught:
        return True
    if primal.services.tells_apart and any(function is read for read in _READ_AT_PLACES):
        return True
    if function is operator.getitem:
        return _is_plain(primal, arguments[0])
    return not is_write(function, arguments, ()) and is_fresh(function) and is_numeric_call(primal, arguments)


def is_atomic(primal: PrimalBuilder, callee: Value, arguments: tuple[Value, ...]) -> bool:
    """Whether a call that raises has had no effect."""
    if not isinstance(callee, Const):
        return False
    is_known = any(callee.value is function for function in _ATOMIC) and _is_plain(primal, arguments[0])
    return is_known or is_harmless(primal, callee, arguments)


def _is_plain(primal: PrimalBuilder, container: Value) -> bool:
    """Whether a value is proven to be an array, or a list or dict of no class of the user's."""
    return isinstance(primal.kind(container), Array | Sequence | TupleOf)
