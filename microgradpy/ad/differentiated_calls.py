"""The three ways in which a call that a derivative flows through becomes part of the primal.

    inlined       y = np.sin(x)                               the text of a rule is spliced in
    unit          y, y_saved = f_primal(x)                    the callee is differentiated through its own source
    dispatched    y, y_pullback = pullback_of(f, x)           the choice is left to run time
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Hashable, Mapping
from functools import reduce
from operator import or_
from types import CodeType, FunctionType
from typing import Any

from microgradpy.ad.atomic import is_atomic
from microgradpy.ad.binding import Packed, bind_inputs, written_defaults
from microgradpy.ad.calls import Apart, Build, Dispatched, Inlined, Item, Unit, UnitCall
from microgradpy.ad.checkpoints import function_in
from microgradpy.ad.found_rules import find_rule
from microgradpy.ad.given_code import answers, asks_class
from microgradpy.ad.inline import NotInlinable, splice_rule
from microgradpy.ad.primal_builder import NeedsTracking, PrimalBuilder
from microgradpy.ad.repeatable import is_of_numbers
from microgradpy.ad.shared_iterators import makes_iterator
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.input_kinds import canonical, in_terms_of
from microgradpy.ir.kinds import (
    INT,
    UNASSIGNED,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Numeric,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    dict_of,
    features_of_kind,
    is_immutable,
    is_numeric,
    is_real_scalar,
    join,
    object_with,
    present,
)
from microgradpy.ir.nodes import SELF, Const, Op, Opcode, Value, Var, fresh, function_constant, operator_constant
from microgradpy.ir.objects import ANY_FEATURES, NO_FEATURES, Features, features_of
from microgradpy.ir.reasons import TRACKED, MayWrite, reason_at
from microgradpy.ir.traversal import given_values
from microgradpy.passes.result_kinds import is_declared, known_by, result_kind
from microgradpy.passes.typed_builder import Keywords, is_getattr
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.results import is_users_rule
from microgradpy.runtime.checkpoints import first_run, reads_of, run_again, run_numbers_again, second_run
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION, checkpointed_by
from microgradpy.runtime.named_arguments import next_by_name
from microgradpy.runtime.protocols import asks_for
from microgradpy.runtime.signatures import ANSWERED
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.persistent import keeps_state_in_defaults


def call_rule(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords) -> None:
    """Inline the rule of a function, or leave the call to the dispatcher, which asks iterators where their items were."""
    is_inlined = primal.services.inlines and not any(primal.may_be_read_elsewhere(value) for value in op.arguments)
    if is_inlined and not keywords and callee.value in _BY_PAIRS and _call_by_pairs(primal, op, callee, arguments):
        return
    rule = find_rule(callee.value, known_by(callee.value, tuple(map(primal.kind, arguments)))) if is_inlined else None
    name, given = callee.path or callee.value.__name__, dict(keywords)
    if rule is not None and inline_rule(primal, op, rule, name, arguments, given, function=callee.value):
        return
    dispatch(primal, op, callee, arguments, keywords)


_BY_PAIRS: dict[Any, Const] = {min: Const(min), max: Const(max), sum: operator_constant("add")}


def _call_by_pairs(primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...]) -> bool:
    """Write min(x, y, z) of numbers as min(min(x, y), z), which compares the same ones in the same order, and that of a tuple
    of numbers, or its sum, alike; whether it is one of these."""
    kinds = tuple(map(primal.kind, arguments))
    is_of_items = len(kinds) == 1 and isinstance(kinds[0], TupleOf) and bool(kinds[0].items)
    if is_of_items:
        kinds = kinds[0].items  # type: ignore[union-attr]
    if len(kinds) < 2 + (not is_of_items) or not all(map(is_real_scalar, kinds)):
        return False
    if is_of_items:
        arguments = tuple(_item(primal, arguments[0], place, kind) for place, kind in enumerate(kinds))
    chosen, *others = (Const(0), *arguments) if callee.value is sum else arguments
    pairwise = _BY_PAIRS[callee.value]
    for number, other in enumerate(others, 1):
        step = op if number == len(others) else replace(op, results=(fresh(""),))
        if primal.any_active((chosen, other)):
            call_rule(primal, step, pairwise, (chosen, other), ())
        else:
            kind = primal.kind_of_call(pairwise, (chosen, other), ())
            result = primal.define(step.result, kind, False)
            primal.emit(pairwise, (chosen, other), (result,))
        chosen = primal.of(step.result)
    return True


def _item(primal: PrimalBuilder, items: Value, place: int, kind: Kind) -> Value:
    """An item of a tuple that the user's program has not read by itself."""
    item = primal.variable(kind)
    primal.emit(operator_constant("getitem"), (items, Const(place)), (item,))
    primal.activate(item, primal.is_active(items))
    if item in primal.active:
        primal.record(Item(item, items, Const(place), primal.where))
    return item


def active_by_position(primal: PrimalBuilder, op: Op, callee: Value) -> Op:
    """A call of a function of NumPy's that has a rule, with arguments that carry a derivative by position, if NumPy's signature
    says that they have one there: a rule has cotangents for positions."""
    active = [name for name, value in op.keywords if primal.is_active(primal.of(value))]
    if not active or not isinstance(callee, Const) or not isinstance(callee.value, Hashable) or not rrule.has(callee.value):
        return op
    given = dict(op.keywords)
    names = next_by_name(callee.value, len(op.arguments), given)
    while names and names[-1] not in active:
        names.pop()
    rest = tuple((name, value) for name, value in op.keywords if name not in names)
    return replace(op, arguments=(*op.arguments, *map(given.__getitem__, names)), keywords=rest)


def inline_rule(
    primal: PrimalBuilder,
    op: Op,
    rule: Rule,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Mapping[str, Value],
    shares: bool = False,
    function: Any = None,
) -> bool:
    """Splice a rule in; whether that was possible. `shares`: the result may be a view of an argument; `function`: what the
    rule is the rule of, None for an attribute."""
    try:
        value, pullback, positional = splice_rule(rule, arguments, keywords, primal)
    except NotInlinable:
        return False
    # The value of the rule gets the user's name for it.
    result = primal.rename(value, op.result.hint, op.result.user_named)
    primal.bind(op.result, result)
    if not carries_nothing(primal.kind(result)):
        primal.active.add(result)
        # Names take no part in equality, but emission reads them.
        captured = tuple(result if captured == value else captured for captured in pullback.captured)
        copies = {part: primal.frozen_copy(part) for part in dict.fromkeys(captured) if isinstance(part, Var)}
        captured = tuple(copies[part] if isinstance(part, Var) else part for part in captured)
        closure = replace(pullback, captured=captured)
        named = tuple((key, value) for key, value in keywords.items() if key in _named_only(rule))
        primal.record(Inlined(result, name, closure, positional, op.where, shares, function, function_constant(rule), named))
    return True


def _named_only(rule: Rule) -> tuple[str, ...]:
    code: CodeType = rule.__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def call_function(
    primal: PrimalBuilder, op: Op, callee: Const, arguments: tuple[Value, ...], keywords: Keywords, made: Value | None = None
) -> None:
    """Call a function through its own source where it has one and its parameters can be bound here. It may be called by what
    `checkpointed` has `made` of it."""
    inner = None if primal.services.tracks else checkpointed_by(callee.value)
    function = callee.value if inner is None else inner
    again = made is not None or inner is not None
    is_compiled = primal.services.inlines and is_plain(function) and not (again and goes_by_rule(function))
    if is_compiled and not (primal.services.tracks and keeps_state_in_defaults(function)):
        bound = bind_inputs(function, arguments, dict(keywords), written_defaults(function))
        if bound is not None and call_unit(primal, op, function, tuple(bound), again):
            return
    dispatch(primal, op, callee if made is None else made, arguments, keywords)


def goes_by_rule(function: FunctionType) -> bool:
    """Whether something else than its source says how a function is differentiated."""
    return rrule.has(function) or is_non_differentiable(function) or function in NESTED_DIFFERENTIATION


def is_plain(function: object) -> bool:
    """Whether a callee is a function that is compiled by itself: it has captured nothing."""
    is_function = isinstance(function, FunctionType) and not function.__closure__ and not is_foreign(function)
    return is_function and function.__code__ not in ANSWERED  # type: ignore[attr-defined]


def kind_returned(primal: PrimalBuilder, callee: Value, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
    """What is proven of the number, array or tuple of these that a function returns which gets nothing differentiated."""
    function = callee.value if isinstance(callee, Const) else None
    if not isinstance(function, FunctionType) or not primal.services.inlines or not is_plain(function):
        return UNKNOWN
    bound = bind_inputs(function, arguments, dict(keywords), written_defaults(function))
    if bound is None:
        return UNKNOWN
    kinds, symbols = canonical(tuple(kind_given(primal, value) for value in bound))
    found = primal.services.kind_returned(function, kinds)
    items = found.items if isinstance(found, TupleOf) else (found,)
    return in_terms_of(found, symbols) if all(map(is_numeric, items)) else UNKNOWN


def call_closure(primal: PrimalBuilder, op: Op, callee: Value, arguments: tuple[Value, ...], keywords: Keywords) -> bool:
    """Call a function that was defined in this one through its own source, giving it what it captured as arguments;
    whether the callee is such a function."""
    found, callee = callee, function_in(primal, callee)
    again = found is not callee
    if isinstance(callee, Const):
        call_function(primal, op, callee, arguments, keywords, found)
        return True
    made = primal.producers.get(callee) if isinstance(callee, Var) else None
    if made is None or not isinstance(made.payload, ClosureBody) or not primal.services.inlines:
        return False
    body = made.payload
    captured, defaults = made.arguments[: len(body.code.co_freevars)], made.arguments[len(body.code.co_freevars) :]
    if any(isinstance(value, Const) and value.value is SELF for value in captured):
        return False  # it calls itself: what it captured has the function among it
    names = body.code.co_varnames[: body.code.co_argcount][body.code.co_argcount - body.defaults :]
    function = primal.services.nested(body.code, name_of(callee))
    by_default = dict(zip((*names, *body.keyword_defaults), defaults, strict=True))
    bound = bind_inputs(function, arguments, dict(keywords), by_default)
    return bound is not None and call_unit(primal, op, function, (*captured, *bound), again)


def call_apart(primal: PrimalBuilder, op: Op, apart: Apart) -> None:
    """Call a function with parts of its arguments, which it cannot be called with in any other way."""
    if not call_unit(primal, op, apart, primal.inputs(op)[0], apart.again):
        name = apart.callee.__name__
        why = f"`{name}` cannot be called with parts of its arguments"
        raise NeedsTracking(MayWrite(name, (reason_at(TRACKED, op.where, why),)))


def kind_given(primal: PrimalBuilder, value: Value | Packed) -> Kind:
    """The kind of what a parameter gets."""
    if not isinstance(value, Packed):
        return primal.kind(value)
    kinds = tuple(map(primal.kind, value.items))
    return TupleOf(kinds) if value.keys is None else dict_of(zip(value.keys, kinds, strict=True))


def call_unit(
    primal: PrimalBuilder, op: Op, called: FunctionType | Apart, bound: tuple[Value | Packed, ...], again: bool = False
) -> bool:
    """Call the primal of a function, and let the adjoint do so `again`; whether it has one that does all of what the function
    does."""
    function = called.callee if isinstance(called, Apart) else called
    if primal.services.tracks and (is_generator(function.__code__) or any(isinstance(value, Packed) for value in bound)):
        return False
    kinds, symbols = canonical(tuple(kind_given(primal, value) for value in bound))
    active = tuple(primal.any_active(value.items) if isinstance(value, Packed) else primal.is_active(value) for value in bound)
    if isinstance(called, FunctionType) and _had_better_wait(primal, called, kinds):
        return False
    passed = called.passed if isinstance(called, Apart) else ()
    if isinstance(called, Apart) and called.kinds:
        # One unit for the list that is empty yet and for the one that calls of itself have filled.
        kinds = tuple(map(join, kinds, called.kinds))
        active = tuple(flag or (i in passed and _may_be_filled(kinds[i])) for i, flag in enumerate(active))
    try:
        unit = primal.services.unit(called, kinds, active)
    except DifferentiationError:
        return False  # the dispatcher refuses it when it is reached
    if isinstance(unit, MayWrite):
        raise NeedsTracking(unit)
    if unit is None or (unit.writes and primal.catches):
        return False  # it may raise after it has written, which the dispatcher deals with
    arguments = tuple(_pack(primal, value) if isinstance(value, Packed) else value for value in bound)
    given = tuple(map(primal.to_be_kept, arguments))
    hint = op.result.hint or function.__name__.strip("<>")
    if again and primal.services.repeats:
        plain = called.plain if isinstance(called, Apart) else None
        value_only = None if plain is None else primal.services.unit(plain, kinds, (False,) * len(kinds))
        first = unit if value_only is None or isinstance(value_only, MayWrite) else value_only
        again_by = _RUN_AGAIN if plain is None or not is_of_numbers(plain.function) else _RUN_NUMBERS_AGAIN
        callee, given, repeated = _repeated(primal, unit, first, function, given, again_by)
    else:
        callee, repeated = primal.services.half(unit), None
    (pair,) = primal.operation(callee, given, from_user=True)
    kind = _declared_kind(primal, called, bound) if isinstance(unit.result_kind, Unknown | Numeric) else UNKNOWN
    kind = in_terms_of(unit.result_kind, symbols) if kind == UNKNOWN else kind
    result = primal.define(op.result, kind, unit.result_active)
    saved = primal.variable(UNKNOWN, f"{hint}_saved" if repeated is None else f"{hint}_repeat")
    primal.emit(Opcode.UNPACK, (pair,), (result, saved))
    # What does not depend on what moves may depend on what else a second derivative is with respect to.
    if result in primal.active or primal.services.tracks or primal.services.is_differentiated:
        repeated = (_SECOND_RUN, saved) if repeated == () else repeated
        primal.record(UnitCall(result, saved, unit, arguments, op.where, passed, repeated))
    return True


def _declared_kind(primal: PrimalBuilder, called: FunctionType | Apart, bound: tuple[Value | Packed, ...]) -> Kind:
    """What is declared of the result of a helper that rules call."""
    values = tuple(value for value in bound if not isinstance(value, Packed))
    if isinstance(called, Apart) or len(values) != len(bound) or not is_declared(called):
        return UNKNOWN
    return result_kind(called, tuple(map(primal.kind, values)), values, {})


_LONG = 150  # bytes of code, some twenty operations: to know the kinds there saves more than a call at run time costs


def _had_better_wait(primal: PrimalBuilder, function: FunctionType, kinds: tuple[Kind, ...]) -> bool:
    """Whether a call is left to run time although the function is known: it is a long one, and the kinds of what it gets, by
    which it is made shorter and faster, are known only then. Nor is it compiled if the call is not reached."""
    if not primal.services.tracks or len(function.__code__.co_code) < _LONG:
        return False
    return any(isinstance(kind, Unknown) for kind in kinds) and not primal.services.is_being_made(function)


_SECOND_RUN, _RUN_AGAIN = function_constant(second_run), function_constant(run_again)
_RUN_NUMBERS_AGAIN = function_constant(run_numbers_again)


def _repeated(
    primal: PrimalBuilder, unit: Unit, first: Unit, function: FunctionType, given: tuple[Value, ...], again_by: Const
) -> tuple[Const, tuple[Value, ...], tuple[Value, ...]]:
    """What calls the primal of a unit that is going to be run again, with what, and the call that does so; nothing for that if
    it is told by what the first call has given besides the value. What is run `first` may be another unit of the function."""
    half = primal.services.half(unit)
    is_told = all(isinstance(kind, Array) or is_immutable(kind) for kind in map(primal.kind, given))
    if is_told and primal.services.is_repeatable(unit):
        return primal.services.half(first), given, (again_by, half, *given)
    reads = reads_of(function)
    return function_constant(first_run), (half, Const(reads, "reads", reads), *given), ()


def _may_be_filled(kind: Kind) -> bool:
    """Whether what is put into a list may be active."""
    if isinstance(kind, Sequence):
        return _may_be_filled(kind.item)
    return not carries_nothing(kind) and kind not in (INT, UNASSIGNED)


def dispatch(
    primal: PrimalBuilder,
    op: Op,
    callee: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    packed: bool = False,
) -> None:
    """Leave the choice of the derivative to run time. With `packed`, the arguments are one tuple and one dict."""
    kind = UNKNOWN if packed else primal.kind_of_call(callee, arguments, keywords)
    if isinstance(kind, Unknown):
        features = _features_of_call(primal, callee, given_values(arguments, keywords))
        kind = Unknown(features, is_iterator=True) if makes_iterator(callee) else object_with(features)
    if not packed and primal.any_active((), keywords):
        arguments, keywords, packed = (_pack_tuple(primal, arguments), _pack_dict(primal, keywords)), (), True
    # The cotangents belong to the arguments, not to what was copied to be kept.
    given = tuple(map(primal.to_be_kept, arguments))
    pair = primal.variable(UNKNOWN)
    catches = primal.catches and (packed or not is_atomic(primal, callee, arguments))
    if not (primal.services.tracks or catches or (not packed and not keywords and _runs_rules_only(primal, callee, arguments))):
        primal.services.calls_unknown()
    # The cotangent of an array that nobody writes into travels by value, which only the caller knows.
    are_others = not any(isinstance(primal.kind(value), Array | Numeric) for value in arguments)
    settles = primal.services.tracks and not packed and not catches and are_others and given == arguments
    primal.emit(primal.services.dispatcher(packed, catches, settles), (callee, *given), (pair,), keywords)
    result = primal.define(op.result, kind, True)
    pullback = primal.variable(UNKNOWN, f"{op.result.hint or name_of(callee)}_pullback")
    primal.emit(Opcode.UNPACK, (pair,), (result, pullback))
    names = tuple(name for name, _ in keywords)
    primal.record(Dispatched(result, pullback, callee, arguments, packed, op.where, names, settles))
    if catches:
        primal.unchecked.append(result)


def _runs_rules_only(primal: PrimalBuilder, callee: Value, arguments: tuple[Value, ...]) -> bool:
    """Whether a call is that of a rule of the package's for data."""
    rules = rrule.rules_of(callee.value) if isinstance(callee, Const) and isinstance(callee.value, Hashable) else ()
    return bool(rules) and not any(map(is_users_rule, rules)) and all(map(_is_data, map(primal.kind, arguments)))


def _is_data(kind: Kind) -> bool:
    """Proven to be numbers, arrays or texts, or a list or tuple of such: nothing of which code of the user's runs."""
    match kind:
        case TupleOf(items=items):
            return all(map(_is_data, items))
        case Sequence(name="list", item=item):
            return _is_data(item)
        case Sequence(name="range"):
            return True
        case Inert(name=name):
            return name in ("str", "bytes", "NoneType", "slice")
    return is_numeric(present(kind))


def asks_a_class(
    primal: PrimalBuilder, function: object, arguments: tuple[Value, ...], keywords: Keywords = ()
) -> bool:
    """Whether a builtin may call a method of one of the user's classes."""
    if not primal.any_active(arguments, keywords):
        return False
    kinds = map(primal.kind, given_values(arguments, keywords))
    return asks_class(function, kinds) if primal.services.tracks else answers(asks_for(function), kinds)


def _features_of_call(primal: PrimalBuilder, callee: Value, arguments: tuple[Value, ...]) -> Features:
    """What may be expected of what a call returns: that of the callee's fields and of the arguments; the class itself of
    what is made by its constructor, anything of a class that is known only at run time. What `bind` gives has properties."""
    if not isinstance(callee, Const) and primal.kind(callee) == Inert("type"):
        return ANY_FEATURES
    kinds = tuple(primal.kind(value) for value in (callee, *arguments))
    if Inert("type") in kinds[1:] and name_of(callee).endswith("view"):
        classes = [value.value for value in arguments if isinstance(value, Const) and isinstance(value.value, type)]
        return features_of(classes[0]) if classes else ANY_FEATURES
    made = callee.value if isinstance(callee, Const) and isinstance(callee.value, type) else _class_made_by(primal, callee)
    return reduce(or_, map(features_of_kind, kinds), NO_FEATURES if made is None else features_of(made))


def _class_made_by(primal: PrimalBuilder, method: Value) -> type | None:
    read = primal.producers.get(method) if isinstance(method, Var) else None
    binds = read is not None and is_getattr(read.callee) and read.arguments[1] in (Const("bind"), Const("bind_partial"))
    return inspect.BoundArguments if binds else None


def _pack(primal: PrimalBuilder, packed: Packed) -> Var:
    if packed.keys is None:
        return _pack_tuple(primal, packed.items)
    return _pack_dict(primal, tuple(zip(packed.keys, packed.items, strict=True)))


def _pack_tuple(primal: PrimalBuilder, items: tuple[Value, ...]) -> Var:
    result = primal.variable(TupleOf(tuple(map(primal.kind, items))))
    primal.emit(Opcode.TUPLE, items, (result,))
    return _packed(primal, result, tuple(map(Const, range(len(items)))), items)


def _pack_dict(primal: PrimalBuilder, keywords: Keywords) -> Var:
    result = primal.variable(dict_of((name, primal.kind(value)) for name, value in keywords))
    keys, items = tuple(Const(name) for name, _ in keywords), tuple(value for _, value in keywords)
    primal.emit(Opcode.DICT, tuple(part for pair in zip(keys, items, strict=True) for part in pair), (result,))
    return _packed(primal, result, keys, items)


def _packed(primal: PrimalBuilder, result: Var, keys: tuple[Value, ...], items: tuple[Value, ...]) -> Var:
    if primal.any_active(items):
        primal.active.add(result)
        primal.record(Build(result, keys, items, primal.where))
    return result


def name_of(callee: Value) -> str:
    """What a callee is called in names and messages."""
    match callee:
        case Const(value=value):
            name = str(getattr(value, "__name__", type(value).__name__))
            return re.sub(r"\W+", "_", name).strip("_") or "call"  # "<lambda>", "f (vectorized)"
        case Var(hint=hint) if hint:
            return hint
    return "call"
