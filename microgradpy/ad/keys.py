"""Numbers that become keys by way of pairs, `dict(zip(x, y))`, or of a method, `d.setdefault(x, y)`: refused if they may be
differentiated, as they are in `{x: y}`. That the values of a dict are differentiated says nothing of its keys, so this looks at
where they come from.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any

from microgradpy.ad.calls import Append, Dispatched
from microgradpy.ad.primal_builder import Method, PrimalBuilder
from microgradpy.ad.primal_structure import may_be_differentiated_key
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import INT, Inert, Sequence
from microgradpy.ir.nodes import (
    KEYS_CHECKED,
    Const,
    For,
    Op,
    Opcode,
    Region,
    Return,
    Unreachable,
    Value,
    Var,
    function_constant,
)
from microgradpy.ir.traversal import uses, walk
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.runtime.keys import check_keys

_OF_PAIRS: dict[Any, int] = {dict: 0, OrderedDict: 0, defaultdict: 1}
"""What makes a dict of pairs, with the place of these among the arguments."""
_WITHOUT_NUMBERS = (enumerate, dict.items, Counter, dict, OrderedDict)
"""Those of their keys that are numbers are whole, or have been looked at."""


def dict_with_keys(primal: PrimalBuilder, op: Op) -> Value | None:
    """The dict whose keys are to be looked at after a call, because they may be differentiated numbers."""
    callee = op.callee
    assert not isinstance(callee, Opcode)
    if op.payload == KEYS_CHECKED:
        return None
    method = primal.methods.get(callee) if isinstance(callee, Var) else None
    if method is None:
        made = primal.of(callee)
        if isinstance(made, Const):
            place = _OF_PAIRS.get(made.value) if isinstance(made.value, type) else None
            return op.result if place is not None and _has_keys(primal, op.arguments[place : place + 1]) else None
        read = primal.producers.get(made) if isinstance(made, Var) else None
        if read is None or not is_getattr(read.callee) or not isinstance(read.arguments[1], Const):
            return None
        method = Method(read.arguments[0], object, read.arguments[1].value, read)
    first = op.arguments[:1]
    match method.name:
        case "fromkeys" if any(_may_be_keys(primal, primal.of(keys)) for keys in first):
            return op.result
        case "setdefault" if any(may_be_differentiated_key(primal, primal.of(key)) for key in first):
            return method.target
        case "update" if _has_keys(primal, first):
            return method.target
    return None


def check_keys_of(primal: PrimalBuilder, keyed: Value) -> None:
    """Refuse the keys of a dict that are numbers."""
    value = primal.of(keyed) if keyed in primal.values else keyed
    primal.emit(function_constant(check_keys), (value,), (primal.variable(Inert("NoneType"), "checked"),))


def _has_keys(primal: PrimalBuilder, pairs: tuple[Value, ...]) -> bool:
    return any(_may_have_keys(primal, primal.of(value)) for value in pairs)


def _may_have_keys(primal: PrimalBuilder, pairs: Value) -> bool:
    """Whether the first of each pair may be a differentiated number."""
    kind = primal.kind(pairs)
    if not isinstance(pairs, Var) or not primal.is_active(pairs) or (isinstance(kind, Sequence) and kind.name == "dict"):
        return False
    call, made = primal.calls.get(pairs), primal.producers.get(pairs)
    if pairs.user_named:
        return True  # others may have been stored in it
    if made is None:
        return _may_collect_keys(primal, pairs)
    if made.callee in (Opcode.LIST, Opcode.TUPLE):
        return any(_is_key(primal, pair) for pair in made.arguments)
    callee, given = (call.callee, call.arguments) if isinstance(call, Dispatched) else (made.callee, made.arguments)
    if isinstance(callee, Const) and callee.value is zip and given:
        return _may_be_keys(primal, given[0])
    if isinstance(callee, Const) and callee.value is map and given:
        return not _gives_constant_keys(primal, given[0], given[1:])
    return not (isinstance(callee, Const) and any(callee.value is known for known in _WITHOUT_NUMBERS))


def _may_collect_keys(primal: PrimalBuilder, pairs: Var) -> bool:
    """Whether there may be one among the pairs that a comprehension collects."""
    before = primal.open_regions[-1]
    place = next((k for k, each in enumerate(before) if isinstance(each, For) and each.results == (pairs,)), None)
    if place is None or any(pairs in uses(each) for each in walk(Region(tuple(before[place + 1 :]), Unreachable()))):
        return True  # others may have been stored in the list since
    loop = before[place]
    assert isinstance(loop, For)
    found = [primal.calls.get(var) for op in walk(loop.body) if isinstance(op, Op) for var in op.results]
    appended = [call.item for call in found if isinstance(call, Append)]
    return not appended or any(_is_key(primal, pair) for pair in appended)


def _gives_constant_keys(primal: PrimalBuilder, function: Value, given: tuple[Value, ...]) -> bool:
    """Whether a lambda, called with what is in `given`, gives pairs whose first is computed of constants."""
    made = primal.producers.get(function) if isinstance(function, Var) else None
    body = made.payload.function.body if made is not None and isinstance(made.payload, ClosureBody) else None
    if made is None or body is None or not isinstance(body.terminator, Return):
        return False
    inner = made.payload.function
    parameters = tuple(parameter.var for parameter in inner.parameters)
    values = zip((*inner.captured, *parameters), (*made.arguments[: len(inner.captured)], *given), strict=False)
    constant = {var for var, value in values if not primal.is_active(value) or _is_of_constants(primal, value)}
    steps = [step for step in body.statements if isinstance(step, Op)]
    for step in steps:
        if step.callee is Opcode.INFIX and all(isinstance(x, Const) or x in constant for x in step.arguments):
            constant.update(step.results)
    pair = next((step for step in steps if body.terminator.value in step.results), None)
    is_pair = pair is not None and pair.callee in (Opcode.LIST, Opcode.TUPLE) and len(pair.arguments) == 2
    return pair is not None and is_pair and (isinstance(pair.arguments[0], Const) or pair.arguments[0] in constant)


def _is_of_constants(primal: PrimalBuilder, items: Value) -> bool:
    """Whether a list is written out with constants and has no name, by which others could be stored in it."""
    made = primal.producers.get(items) if isinstance(items, Var) else None
    is_list = made is not None and made.callee in (Opcode.LIST, Opcode.TUPLE) and not made.result.user_named
    return made is not None and is_list and all(isinstance(item, Const) for item in made.arguments)


def _is_key(primal: PrimalBuilder, pair: Value) -> bool:
    made = primal.producers.get(pair) if isinstance(pair, Var) else None
    if made is None or made.callee not in (Opcode.LIST, Opcode.TUPLE) or not made.arguments:
        return primal.is_active(pair)
    return may_be_differentiated_key(primal, made.arguments[0])


def _may_be_keys(primal: PrimalBuilder, keys: Value) -> bool:
    """Whether there may be a differentiated number among some keys."""
    kind = primal.kind(keys)
    if not primal.is_active(keys) or (isinstance(kind, Sequence) and kind.item in (INT, Inert("str"))):
        return False
    made = primal.producers.get(keys) if isinstance(keys, Var) else None
    # A list without a name is used here only: nobody has stored anything in it, though others may look at the same memory.
    if made is None or made.callee not in (Opcode.LIST, Opcode.TUPLE) or made.result.user_named:
        return True
    return any(may_be_differentiated_key(primal, key) for key in made.arguments)
