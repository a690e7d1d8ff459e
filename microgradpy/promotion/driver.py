"""The entry: a function with what it makes for itself as variables."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from microgradpy.ad.accumulators import own_sums
from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.dataclasses import dataclass, replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.exceptions import caught
from microgradpy.frontend.marks import tidy_marks
from microgradpy.frontend.prune import prune
from microgradpy.ir import kinds as of_values
from microgradpy.ir.kinds import Kind, holds_numbers
from microgradpy.ir.nodes import Const, For, Function, If, Op, Opcode, Statement, Try, Var, While, Yield, operator_constant
from microgradpy.ir.reasons import Reason
from microgradpy.ir.traversal import walk
from microgradpy.promotion import keying
from microgradpy.promotion.arguments import Arguments
from microgradpy.promotion.arranging import CHANGE_LISTS
from microgradpy.promotion.attempts import check_marks
from microgradpy.promotion.calls import Calls
from microgradpy.promotion.class_members import defaults_in, is_function
from microgradpy.promotion.classes import is_in_sight, is_of_users, is_own_class, is_record, lineage
from microgradpy.promotion.escapes import reason_of_escape
from microgradpy.promotion.findings import LEARNED, Escapes, Facts, NotInSight, Numbers, Origin
from microgradpy.promotion.functions import Lower, is_followed, is_in_file
from microgradpy.promotion.held import WRITING
from microgradpy.promotion.library import may_be_written
from microgradpy.promotion.names import statements_of
from microgradpy.promotion.partials import has_captured_functions
from microgradpy.promotion.parts import Variable
from microgradpy.promotion.places import Frame, Part
from microgradpy.promotion.stores import is_operator, makes_array
from microgradpy.promotion.writers import may_write
from microgradpy.runtime.bytecode import WRITERS, makes_classes
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import new_cell

_MOST_WALKS = 100
_CHANGE = (operator.imul, operator.delitem, operator.setitem)
_SETITEM = operator_constant("setitem")


def _makes_memory(function: types.FunctionType, statement: Statement) -> bool:
    """Whether an operation makes or changes what may be in sight."""
    if isinstance(statement, If) or getattr(statement, "callee", None) in (Opcode.LIST, Opcode.TUPLE):
        return _has_functions(statement)
    if not isinstance(statement, Op) or not isinstance(statement.callee, Const):
        is_of_module = isinstance(statement, Op) and statement.callee is Opcode.GLOBAL
        if is_of_module and type(function.__globals__.get(str(statement.payload))) is functools.partial:  # type: ignore[union-attr]
            return True
        return isinstance(statement, Op) and statement.callee in (Opcode.CLOSURE, Opcode.APPLY)
    if may_be_written(statement) or _changes(statement.callee.value):
        return True
    match statement.callee.value:
        case types.FunctionType() as callee:
            is_given = any(isinstance(each, Const) and is_function(each.value) for each in statement.arguments)
            return is_given or has_captured_functions(callee) or _callee_makes_memory(function, callee)
        case type() as cls:
            return is_in_sight(cls) or is_record(cls) or cls is functools.partial
        case function if function is new_cell:
            return True
        case function if function is getattr:
            owner, name = statement.arguments[:2]
            is_of_class = isinstance(owner, Const) and is_of_users(owner.value)  # which may have it as a class method
            return is_of_class or (isinstance(name, Const) and (name.value in WRITING or name.value in keying.WRITING))
    return False


def _has_functions(statement: Statement) -> bool:
    """Whether functions of the module are put into a display, or are what a branch gives."""
    given = statement.arguments if isinstance(statement, Op) else ()
    if isinstance(statement, If):
        ends = (arm.terminator for arm in (statement.then, statement.orelse))
        given = tuple(value for end in ends if isinstance(end, Yield) for value in end.values)
    values = (each.value for each in given if isinstance(each, Const))
    return any(isinstance(each, types.FunctionType | types.BuiltinFunctionType | np.ufunc) for each in values)


def _callee_makes_memory(function: types.FunctionType, callee: types.FunctionType) -> bool:
    """Whether a function that is called makes or changes what may be in sight, or calls what it is given by default."""
    code, names = callee.__code__, callee.__globals__
    makes_function = any(isinstance(part, types.CodeType) for part in code.co_consts)
    makes_object = any(_is_class(names.get(name)) for name in code.co_names)
    if makes_function or makes_object or is_generator(code) or callee is caught or any(map(is_function, defaults_in(callee))):
        return True
    return is_in_file(callee, function) and may_write(callee)


def _changes_arrays(ir: Function, own: Collection[Var]) -> bool:
    """Whether a function makes arrays and writes into the whole of some: `u = np.zeros(n); u += v`. What operators make counts
    if a statement writes that may not be computed out of place as it is."""
    called = [(op, op.callee.value) for op in walk(ir.body) if isinstance(op, Op) and isinstance(op.callee, Const)]
    changed = [op for op, each in called if isinstance(each, types.BuiltinFunctionType) and each in OUT_OF_PLACE]
    makers = [each for _, each in called if makes_array(each)] if changed else []
    return not all(map(is_operator, makers)) or (bool(makers) and any(op.results[0] not in own for op in changed))


def _changes(function: Any) -> bool:
    return isinstance(function, types.BuiltinFunctionType) and (function in CHANGE_LISTS or function in _CHANGE)


def _is_class(named: Any) -> bool:
    return isinstance(named, type) and is_in_sight(named)


def _calls_in_loops(function: types.FunctionType, ir: Function, kinds: tuple[Kind, ...]) -> bool:
    """Whether a function that gets lists or dicts of numbers calls others of its module in a loop."""
    if not any(map(holds_numbers, kinds)):
        return False
    loops = (statement for statement in walk(ir.body) if isinstance(statement, For | While))
    operations = (op for loop in loops for op in walk(loop.body) if isinstance(op, Op) and isinstance(op.callee, Const))
    callees = (op.callee.value for op in operations)  # type: ignore[union-attr]
    return any(isinstance(callee, types.FunctionType) and is_followed(callee, function) for callee in callees)


def _goes_through_dicts(ir: Function, kinds: tuple[Kind, ...]) -> bool:
    """Whether a function that gets dicts of arrays, whose keys are proven, has loops, or makes other dicts."""
    if not any(isinstance(kind, of_values.Sequence) and kind.entries and not holds_numbers(kind) for kind in kinds):
        return False
    callees = [op.callee.value for op in walk(ir.body) if isinstance(op, Op) and isinstance(op.callee, Const)]
    return any(isinstance(each, For) for each in walk(ir.body)) or any(each in (dict, operator.or_) for each in callees)


@final
@dataclass(frozen=True, slots=True)
class Promoted:
    """A function without the memory that was in sight. `members` are what classes had under names, `checks` what the lowering
    of other functions relied on, and `functions` those that were written where they are called."""

    function: Function
    members: tuple[tuple[Any, str, Any], ...]
    checks: tuple[Any, ...]
    functions: tuple[types.FunctionType, ...]
    followed: frozenset[types.CodeType]
    """The code whose own writes are none any more."""
    parts: Mapping[int, Part] = MappingProxyType({})
    """The arguments in sight, by the number of the input."""
    variables: tuple[Variable, ...] = ()
    """The variables of modules that are; their leaves are the last inputs."""
    changes_containers: bool = False
    """Whether lists or dicts of the user's are written into, of which the program has others to compute with."""


def followed_code(
    function: types.FunctionType, inside: Sequence[types.FunctionType], made: Function
) -> frozenset[types.CodeType]:
    """The code of a function, and of those written into it, that writes into nothing but what is in sight: none if a method is
    called that may be one of these functions, or writes."""
    names = WRITERS.union(each.__name__ for each in inside)
    if any(makes_classes(each.__code__) for each in (function, *inside)):
        return frozenset()
    left = set[types.CodeType]()
    for statement in statements_of(made):
        match statement:
            case Op(callee=Const(value=callee), arguments=(_, name, *_)) if callee is getattr:
                if not isinstance(name, Const) or name.value in names:
                    return frozenset()
            case Op(callee=Opcode.CLOSURE, payload=ClosureBody(code=code)):
                left |= _nested(code)
    return frozenset().union(*(_nested(each.__code__) for each in (function, *inside))) - left


def _nested(code: types.CodeType) -> set[types.CodeType]:
    """Code, with that of the functions in it."""
    return {code}.union(*(_nested(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)))


@final
@dataclass(frozen=True, slots=True)
class Promotion:
    """What has come of a function: with what is in sight as variables, or None where nothing is; and why what else it makes
    stays memory."""

    made: Promoted | None
    kept: tuple[Reason, ...] = ()


def _is_pure_only(statement: Statement) -> bool:
    """Whether a statement is one that is followed only where nothing is tracked."""
    return isinstance(statement, Try) or (isinstance(statement, Op) and statement.callee is Opcode.STORE)


def _grown(appended: set[Origin], pairs: set[tuple[Origin, Origin]]) -> set[Origin]:
    """The lists that get more items, by their own names or by those of others."""
    found = set(appended)
    while more := {each for pair in pairs if not found.isdisjoint(pair) for each in pair} - found:
        found |= more
    return found


def _of_kept(reasons: Mapping[Origin, Reason | None], facts: Facts) -> tuple[Reason, ...]:
    """Why what stays memory does so: what has escaped when dicts were objects may not do so without that."""
    return tuple(reason for origin, reason in reasons.items() if reason is not None and origin in facts.kept)


def promote(
    function: types.FunctionType,
    ir: Function,
    lower: Lower,
    kinds: tuple[Kind, ...] = (),
    examples: Mapping[int, Any] | None = None,
    *,
    beside_writes: bool = False,
) -> Promotion:
    """The function with what is in sight as variables. Arguments may be in sight, of which `examples` are given by the number
    of the input. `beside_writes`: other memory is written into, which is tracked; then objects and cells are in sight only, and
    nothing in functions with a `try`."""
    own = own_sums(ir).begin
    makes = any(_makes_memory(function, each) for each in walk(ir.body)) or _changes_arrays(ir, own)
    makes = makes or _calls_in_loops(function, ir, kinds) or _goes_through_dicts(ir, kinds)
    if examples is None and not makes:
        return Promotion(None)
    writes_entries = any(isinstance(op, Op) and op.callee == _SETITEM for op in walk(ir.body))
    facts = Facts(beside_writes=beside_writes, overwrites=writes_entries)
    reasons: dict[Origin, Reason | None] = {}
    for _ in range(_MOST_WALKS):
        walker = Calls(function, lower, facts) if examples is None else Arguments(function, lower, facts, examples)
        walker.own_sums = frozenset(own)
        walker.kinds.builder.kinds.update(zip(ir.inputs, kinds, strict=False))
        try:
            pools = walker.make_pools()
            made = walker.whole(ir, Frame(()))
            made = replace(made, body=replace(made.body, statements=(*pools, *made.body.statements)))
            grown = _grown(walker.appended, walker.stand_for_each_other)
            if walker.helped and grown <= facts.grown:
                made = replace(made, body=tidy_marks(prune(made.body)))
                check_marks(made, walker)
        except LEARNED as found:
            if isinstance(found, Escapes) and not facts.may_be_otherwise(found.origin):
                used = replace(walker.at, is_tried=True) if found.is_tried and walker.at is not None else walker.at
                made_at = facts.made_at(found.origin)
                reasons[made_at] = reason_of_escape(ir, made_at, used)
            facts.learn(found)
            continue
        except (NotInSight, Numbers):
            break
        if not walker.helped or (beside_writes and any(map(_is_pure_only, walk(made.body)))):
            break
        if not grown <= facts.grown:
            facts.grown |= grown
            continue
        followed = followed_code(function, walker.functions, made)
        of_users = {key: member for key, member in walker.members.items() if not is_own_class(key[0])}
        members = tuple((lineage(cls, member), name, member) for (cls, name), member in of_users.items())
        functions, checks = tuple(walker.functions), tuple(walker.checks)
        whole = Promoted(made, members, checks, functions, followed, changes_containers=bool(walker.real))
        if isinstance(walker, Arguments):
            whole = replace(whole, parts=walker.roots, variables=tuple(walker.variables.values()))
        return Promotion(whole, _of_kept(reasons, facts))
    return Promotion(None, _of_kept(reasons, facts))
