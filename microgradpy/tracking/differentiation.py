"""Reverse differentiation over a trace: a client of the nodes and of contexts, by the rules that the compiler has too.

The context looks into calls that have no rule, and lets the rule make those that have one; its pullback is remembered with the
node. The backward pass goes through the nodes of a call from the last to the first, so a node is pulled back when everything
that reads it has been. Cotangents are kept in the pass and not in the nodes: a second pass starts from nothing.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.binding import active_inputs, bind
from microgradpy.compiler import analysed
from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.nodes import UNASSIGNED
from microgradpy.ir.reasons import MayWrite
from microgradpy.rules.containers import MUTATING_METHODS
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.bars import Bars
from microgradpy.runtime.cotangents import attribute_cotangent
from microgradpy.runtime.dispatch import CONTAINERS, resolve, value_kind
from microgradpy.runtime.keys import constant_key
from microgradpy.state.reachable_writes import any_may_write, may_write
from microgradpy.state.shadows import contents_of
from microgradpy.tangents.thunks import unthunk
from microgradpy.tangents.types import Projected, Tangent, accumulate, is_structural_zero
from microgradpy.tracking.contexts import Call, Context
from microgradpy.tracking.control_flow import ReturnNode
from microgradpy.tracking.data_flow import ArgumentNode, ConstantNode, PrimitiveCallNode, SpecialCallNode
from microgradpy.tracking.nodes import CallNode, NestedCallNode, Node, Reference, TapeValue
from microgradpy.tracking.recursion import deep_recursion
from microgradpy.tracking.values import Constant, as_key


@final
class DifferentiationContext(Context):
    """Remembers the pullback of each call that has a rule. The rule is asked first, so that it makes the call."""

    def __init__(self) -> None:
        self.pullbacks: dict[Node, Any] = {}

    def tracked_call(self, call: Call) -> CallNode:
        if call.f is as_key:
            call.f = constant_key  # keys carry no derivative
        return super().tracked_call(call)

    def can_recur(self, call: Call) -> bool:
        return not _has_rule(call.f) and super().can_recur(call)

    def tracked_primitive(self, call: Call) -> CallNode:
        made: list[Any] = []
        plain = call.f

        def by_rule(*args: Any, **kwargs: Any) -> Any:
            try:
                value, back = resolve(plain, args, kwargs, None, keywords_wanted=True)
            except DifferentiationError:
                return plain(*args, **kwargs)
            made.append(back)
            return value

        instead = OUT_OF_PLACE.get(plain) if call.args and not _is_mutable(call.args[0]) else None
        plain = plain if instead is None else instead.value
        if (_has_rule(plain) and not _computes_items(plain, call.args)) or _has_method_rule(plain, call.args, call.kwargs):
            call.f = by_rule
        node = super().tracked_primitive(call)
        if made:
            self.pullbacks[node] = made[0]
        return node


def differentiate(trace: NestedCallNode, context: DifferentiationContext, seed: Any = 1.0) -> tuple[Any, ...]:
    """The cotangents of the arguments by position of a function that was tracked in a `DifferentiationContext`, given that of
    its value. None for an argument that the value does not depend on. Raises MissingRuleError where the value depends on a call
    without a rule, or on what was written into."""
    with deep_recursion():
        bars = _Pass(context).through(trace, seed)
    _refuse_writing(trace)
    return tuple(_of_arguments(trace, bars))


def _of_arguments(trace: NestedCallNode, bars: list[Any]) -> list[Any]:
    """The cotangents of the arguments by position, from those of the parameters: without the object that a method belongs to,
    without defaults, and with each of what `*args` takes."""
    code = trace.inner_ir.source.__code__
    places = {id(operand): place for place, operand in enumerate(trace.given) if operand is not None}
    found = [bars[places[id(operand)]] for operand in trace.arguments if id(operand) in places]
    missing = len(trace.arguments) - len(found)
    if not missing:
        return found
    rest = bars[code.co_argcount + 1]
    return [*found, *([None] * missing if is_structural_zero(rest) else list(rest)[-missing:])]


@final
class _Pass:
    def __init__(self, context: DifferentiationContext) -> None:
        self.context = context

    def through(self, call: NestedCallNode, seed: Any) -> list[Any]:
        """The cotangents of the arguments of a call, the function itself first."""
        bars: dict[Node, Any] = {}
        arguments: list[Any] = []
        for node in reversed(call.children):
            if isinstance(node, ReturnNode):
                self.give(bars, node.argument, seed)
                continue
            bar = bars.pop(node, None)
            if isinstance(node, SpecialCallNode) and node.value_ref is UNASSIGNED and node.dependents():
                # The trace went on where Python raises.
                raise MissingRuleError(f"{node!r} reads a variable that has no value", None, "Use `pullback`.")
            if isinstance(node, ArgumentNode) and node.jump is None:
                arguments.append(bar)
            elif bar is not None and not is_structural_zero(bar):
                self.pull_back(bars, node, bar)
        return arguments[::-1]

    def give(self, bars: dict[Node, Any], operand: TapeValue | None, bar: Any) -> None:
        """Add to the cotangent of an operand; of several parts each has its own."""
        bar = unthunk(bar)
        if not isinstance(operand, Reference) or bar is None or is_structural_zero(bar):
            return
        if isinstance(bar, Projected):
            raise _no_rule(operand.node)
        if operand.part is None:
            bars[operand.node] = accumulate(bars.get(operand.node), bar)
        else:
            parts = bars.setdefault(operand.node, {})
            parts[operand.part] = accumulate(parts.get(operand.part), bar)

    def pull_back(self, bars: dict[Node, Any], node: Node, bar: Any) -> None:
        if node.after:
            raise MissingRuleError(f"{node!r} reads what was written into", None, "Use `pullback`, which follows writes.")
        match node:
            case ArgumentNode(given=given):
                self.give(bars, given, bar)
            case NestedCallNode():
                self.give_parameters(bars, node, self.through(node, bar))
            case ConstantNode():
                pass  # a constant, as nothing was written
            case PrimitiveCallNode() if node in self.context.pullbacks:
                self.give_call(bars, node, self.context.pullbacks[node](bar))
            case PrimitiveCallNode() if _reads_attribute(node):
                self.give_owner(bars, node, bar)
            case PrimitiveCallNode() if _is_step(node):
                self.give_item(bars, node, bar)
            case PrimitiveCallNode() if _is_iterator(node):
                self.give_items(bars, node, bar)
            case SpecialCallNode():
                self.pull_back_special(bars, node, bar)
            case _:
                raise _no_rule(node)

    def pull_back_special(self, bars: dict[Node, Any], node: SpecialCallNode, bar: Any) -> None:
        """The same for a statement that calls nothing."""
        match node.name:
            case "unpack":
                self.put_together(bars, node, bar)
            case "tuple" | "list" if _is_sequence_of(bar, len(node.arguments)):
                self.give_all(bars, node.arguments, bar)
            case "dict" if isinstance(bar, Mapping):
                keys = [key.value for key in node.arguments[::2]]
                for place, key in enumerate(keys):
                    if key not in keys[place + 1 :]:
                        self.give(bars, node.arguments[2 * place + 1], bar.get(key))
            case "append" if _is_sequence_of(bar, len(node.value)):
                # A comprehension: the list so far, and one item.
                *before, last = bar
                self.give_all(bars, node.arguments, (before or None, last))
            case "captured":
                function, name = node.arguments
                self.give(bars, function, Tangent(type(function.value), {name.value: bar}))
            case "closure" if (names := _captured_names(node)) and isinstance(bar, Mapping):
                self.give_all(bars, node.arguments, map(bar.get, names))
            case _:
                raise _no_rule(node)

    def give_call(self, bars: dict[Node, Any], node: CallNode, found: Bars) -> None:
        """The cotangents of what was given to a call, also by name and by stars."""
        self.give(bars, node.function, found.function)
        if any(name == "*" for name, _ in node.keywords):
            positional, named = node.arguments
            self.give(bars, positional, found.arguments)
            self.give(bars, named, dict(found.keywords) or None)
            return
        self.give_all(bars, node.arguments, found.arguments)
        for name, operand in node.keywords:
            self.give(bars, operand, found.keywords.get(name))

    def give_owner(self, bars: dict[Node, Any], node: CallNode, bar: Any) -> None:
        """The cotangent of what an attribute was read of: of data by the rule of the attribute; classes are constants."""
        owner, name = node.arguments
        if isinstance(owner.value, _DATA):
            self.give(bars, owner, attribute_cotangent(owner.value, name.value, bar))
        elif not isinstance(owner.value, type | types.ModuleType):
            remedy = "Use `pullback`, which knows the fields of objects; or give what is in the field as an argument."
            raise MissingRuleError(f"{node!r} reads a field of an object", None, remedy)

    def give_parameters(self, bars: dict[Node, Any], node: NestedCallNode, parts: list[Any]) -> None:
        """The cotangents of what a function was given. Its defaults are constants, if it was not made in this run."""
        has_stars = any(name == "*" for name, _ in node.keywords)
        for place, (operand, part) in enumerate(zip(node.given, parts, strict=True)):
            if is_structural_zero(part):
                continue
            if (has_stars and place) or (operand is None and not _is_default(node, place - 1)):
                remedy = "Give each argument by itself, or use `pullback`."
                raise MissingRuleError(f"{node!r} is given arguments by stars, or by defaults of its own", None, remedy)
            self.give(bars, operand, part)

    def give_all(self, bars: dict[Node, Any], operands: Iterable[TapeValue | None], parts: Iterable[Any]) -> None:
        for operand, part in zip(operands, parts, strict=False):
            self.give(bars, operand, part)

    def give_items(self, bars: dict[Node, Any], node: CallNode, bar: dict[int, Any]) -> None:
        """The cotangent of what was iterated over. The items of a range are whole numbers, which carry nothing."""
        if isinstance(node.function, Constant) and node.function.text == "iter":
            if not isinstance(node.arguments[0].value, _ITERATED):
                raise _no_rule(node)
            self.give(bars, node.arguments[0], _of_items(node.arguments[0].value, bar))

    def put_together(self, bars: dict[Node, Any], node: SpecialCallNode, bar: Any) -> None:
        """The cotangent of a sequence that was taken apart."""
        (source,) = node.arguments
        if type(source.value) not in (tuple, list):
            raise MissingRuleError(f"{node!r} takes apart a {type(source.value).__name__}", None, "Use `pullback`.")
        if isinstance(source, Reference) and len(source.value) == 1 and source.value_ref[0] is node.value_ref:
            self.give(bars, source, type(source.value)([bar]))
            return
        if not isinstance(bar, dict):
            raise MissingRuleError(f"{node!r} takes apart a {type(source.value).__name__}", None, "Use `pullback`.")
        self.give(bars, source, type(source.value)([bar.get(part) for part in range(1, len(node.value) + 1)]))

    def give_item(self, bars: dict[Node, Any], step: CallNode, bar: Any) -> None:
        """The cotangents of the items of a loop, by the number of the iteration, belong to what is iterated over."""
        if not isinstance(bar, dict):
            raise _no_rule(step)  # a `next` of the program's own
        iterator = step.arguments[0]
        assert isinstance(iterator, Reference)
        items = bars.setdefault(iterator.node, {})
        steps = [found for found in iterator.node.dependents() if found.position < step.position]
        items[len(steps)] = bar.get(2)


_DATA = (int, float, complex, str, list, tuple, dict, np.ndarray, np.generic)


_ITERATED = (list, tuple, np.ndarray)


def _refuse_writing(trace: NestedCallNode) -> None:
    """Where something may have been written, also by what was not looked into, variables from outside are no constants, and
    values are not what they were when they were made."""
    if _may_have_written(trace):
        found = f"{trace.function}, or what it calls, may write into arrays, containers or variables"
        raise MissingRuleError(found, None, "Use `pullback`, which follows writes.")


def _may_have_written(trace: NestedCallNode) -> bool:
    """Whether the compiler would track what is written."""
    function, values = trace.function.value, tuple([operand.value for operand in trace.arguments])
    keywords = {name: operand.value for name, operand in trace.keywords}
    if not isinstance(function, types.FunctionType):
        return any_may_write([function, *values, *keywords.values()])
    bound = bind(function, values, keywords)
    unit = analysed(function, kinds_of(bound.values, value_kind), active_inputs(bound, None, False))
    if isinstance(unit, MayWrite):
        return True
    return (unit.is_promoted or unit.runs_unseen) and may_write(function, bound.values)


def _is_default(node: NestedCallNode, place: int) -> bool:
    """Whether a parameter that was not given has its default, in a function that was there before the run."""
    function = node.function.value
    if not isinstance(function, types.FunctionType):
        return False
    if isinstance(node.function, Reference) and not isinstance(node.function.node, ConstantNode):
        return False
    parameters = list(inspect.signature(function).parameters.values())
    is_listed = 0 <= place < len(parameters) and not any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return is_listed and parameters[place].default is not inspect.Parameter.empty


def _is_sequence_of(bar: Any, count: int) -> bool:
    is_sequence = isinstance(bar, list | tuple) or (isinstance(bar, np.ndarray) and bar.ndim > 0)
    return is_sequence and len(bar) == count


def _no_rule(node: Node) -> MissingRuleError:
    """What is said of a node that there is no way back through."""
    if isinstance(node, PrimitiveCallNode) and isinstance(node.function, Constant):
        remedy = "Register a rule for what is called, with `@rrule.register`; or use `pullback`."
    else:
        remedy = "Use `pullback`, which knows more of Python."
    return MissingRuleError(f"{node!r} has no rule to go back by", None, remedy)


def _reads_attribute(node: CallNode) -> bool:
    return isinstance(node.function, Constant) and node.function.value is getattr and len(node.arguments) == 2


def _captured_names(node: SpecialCallNode) -> tuple[str, ...]:
    """The variables that a function has captured, in the order of the operands; none if these are something else too."""
    function = node.value_ref
    names: tuple[str, ...] = function.__code__.co_freevars
    values = [operand.value_ref if isinstance(operand, Reference) else operand.value for operand in node.arguments]
    held = list(map(contents_of, function.__closure__ or ()))
    return names if len(held) == len(values) and all(map(operator.is_, held, values)) else ()


def _has_method_rule(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the method of a builtin type or array that `f` is has a rule, and writes nothing."""
    if not isinstance(f, types.BuiltinFunctionType) or not isinstance(f.__self__, _DATA):
        return False
    if any(f.__name__ in names for cls, names in MUTATING_METHODS.items() if isinstance(f.__self__, cls)):
        return False
    unbound = getattr(type(f.__self__), f.__name__, None)
    return unbound is not None and rrule.find_for(unbound, (f.__self__, *args), kwargs) is not None


def _has_rule(f: Any) -> bool:
    try:
        return rrule.covers(f) or is_non_differentiable(f)
    except TypeError:
        return False  # what cannot be hashed


def _computes_items(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether an item is read of an object that makes it, perhaps anew into the same memory."""
    return f is operator.getitem and not isinstance(args[0], CONTAINERS)


def _is_mutable(value: Any) -> bool:
    return not isinstance(value, int | float | complex | np.generic | tuple | str)


def _is_iterator(node: CallNode) -> bool:
    return isinstance(node.function, Constant) and node.function.text in ("iter", "iter(range)")


def _is_step(node: CallNode) -> bool:
    return isinstance(node.function, Constant) and node.function.text == "next" and type(node.value) is tuple


def _of_items(source: Any, bars: dict[int, Any]) -> Any:
    """The cotangent of a sequence from those of its items."""
    parts = [bars.get(index) for index in range(len(source))]
    if isinstance(source, np.ndarray):
        return np.array([np.zeros_like(item) if part is None else part for item, part in zip(source, parts, strict=True)])
    return type(source)(parts)
