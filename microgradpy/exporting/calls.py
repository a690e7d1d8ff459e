"""What becomes of calls that the generated text leaves to run time: those whose callee and rule are known now."""

from __future__ import annotations

import ast
import dis
import linecache
import operator
import sys
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.boundary import is_library
from microgradpy.codegen.bindings import make_function
from microgradpy.ir.nodes import Location
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.checkpoints import first_run
from microgradpy.runtime.dispatch import pullback_of, pullback_of_packed
from microgradpy.runtime.matching import values_of
from microgradpy.runtime.opaque import apply_unchanged, call_unchanged
from microgradpy.runtime.writes import written_argument
from microgradpy.state import arrays, undo
from microgradpy.state.reachable_writes import any_may_write

DISPATCHERS = (pullback_of, pullback_of_packed, call_unchanged, apply_unchanged)


def is_direct(function: Any, target: Any, call: ast.Call) -> bool:
    """Whether a call that gets no differentiated data certainly writes nothing: then a module makes it as it stands."""
    if function is not call_unchanged or not callable(target) or _may_have_output(target, call):
        return False
    if is_non_differentiable(target) or rrule.covers(target):
        return True
    return isinstance(target, types.FunctionType) and not any_may_write([target])


def _may_have_output(target: Any, call: ast.Call) -> bool:
    """Whether an argument of a call may be one that the callee writes into, or asks it to."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(word.arg is None for word in call.keywords):
        return True
    given = tuple(object() for _ in call.args[1:])
    named = {word.arg: object() for word in call.keywords if word.arg is not None}
    return written_argument(target, given, named) is not None


Choice = tuple[tuple[type, ...], Callable[..., Any]]


def rules_of_call(function: Any, target: Any, call: ast.Call) -> list[Choice]:
    """The rules of a callee whose rule is chosen when the program runs, with the types of operands that they are for, if a
    module can choose among them as the dispatcher does; the last one is for all others. Empty if it cannot."""
    is_simple = not call.keywords and not any(isinstance(argument, ast.Starred) for argument in call.args)
    if function is not pullback_of or not is_simple or not _is_called_by_rule(target):
        return []
    rule = rrule.find(target, (None,) * (len(call.args) - 1))
    typed = [each for each in rrule.typed_rules(target) if deque not in each[0]]  # which `parts.check_operand` refuses
    if rule is None or any(each is None or not _DATA.issuperset(types) for types, each in typed):
        return []
    return [*((types, each) for types, each in typed if each is not None), ((), rule)]


def _is_called_by_rule(target: Any) -> bool:
    if isinstance(target, types.FunctionType) and not is_library(target.__code__.co_filename):
        return target in _CALLED_BY_RULE or not target.__module__.startswith("microgradpy.")
    return target.__hash__ is not None and target in _CALLED_BY_RULE


_CALLED_BY_RULE: frozenset[Any] = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, operator.neg),
        *(operator.getitem, sum, max, min, abs, float, values_of),
        *(np.sum, np.mean, np.dot, np.sin, np.cos, np.tan, np.exp, np.log, np.sqrt, np.tanh, np.square, np.maximum, np.minimum),
    }
)
"""What is called by its rule wherever its operands are data: no protocol of Python's or NumPy's stands between."""
_DATA = frozenset({list, tuple, dict, str, bytes, int})
"""The types of data by which rules may be chosen: of two that fit, neither is more special."""


def dispatcher_refusal(value: Any, *, has_examples: bool) -> tuple[str, str] | None:
    """What is said of a helper that needs the compiler when the program runs."""
    found = "the dispatcher, because it is not known now what it calls or is given"
    if value in (pullback_of_packed, apply_unchanged):
        return found, "Give the arguments one by one instead of by stars, or call what takes the whole sequence."
    if value in DISPATCHERS or needs_run(value):
        return found, _WITH_EXAMPLES if has_examples else _WITHOUT_EXAMPLES
    if value is first_run:
        return "a look at what a checkpointed function may read besides its arguments", "Pass it all as arguments."
    return ("a function that is made when it runs", CLOSURE_REMEDY) if value is make_function else None


def check_is_everywhere(module: str, refusal: Callable[[str, str], Exception]) -> None:
    """Refuse what a stand-alone module may not import."""
    root = module.partition(".")[0]
    if root != "numpy" and root not in sys.stdlib_module_names:
        raise refusal(f"the module {module}", "A stand-alone module has NumPy and the standard library only.")


def needs_run(value: Any) -> bool:
    """Whether something belongs to runs that track what is written, and is not one of the few that arrays do with."""
    module = str(getattr(value, "__module__", ""))
    return module.startswith("microgradpy.state") and module not in _OF_ARRAYS and value not in _STEPS


_OF_ARRAYS = ("microgradpy.state.array_shadows", "microgradpy.state.array_memory")
_STEPS = (
    *(undo.take_item, undo.add_item, undo.is_view),
    *(arrays.check_store, arrays.taken_item),
)


def call_place(primal: types.FunctionType, helper: Any) -> Location | None:
    """Where the user's program has the call for which a generated primal calls a helper."""
    code = primal.__code__
    for step in dis.get_instructions(code):
        at = step.positions
        if step.opname == "LOAD_GLOBAL" and primal.__globals__.get(step.argval) is helper and at is not None and at.lineno:
            line = linecache.getline(code.co_filename, at.lineno, primal.__globals__).rstrip("\n")
            column, end_line, end = at.col_offset or 0, at.end_lineno or 0, at.end_col_offset or 0
            name = code.co_name.removesuffix("_primal")
            return Location(code.co_filename, at.lineno, column, end_line, end, function=name, source=line) if line else None
    return None


def text_at(place: Location) -> str:
    """What a program has at a place, as far as it is in one line."""
    line = place.source.encode()
    return line[place.column : place.end_column if place.end_line == place.line else None].decode()


CLOSURE_REMEDY = (
    "Call inner functions where they are defined, by name, and nothing else; or make them functions of the module, and give "
    "what they captured as arguments."
)
_WITH_EXAMPLES = (
    "Write it with operators and with functions of NumPy that are called by their names, on arrays and numbers; or give what "
    "is called a rule. A conversion such as .item() can be left out."
)
_WITHOUT_EXAMPLES = (
    "Give example arguments, so that their kinds are known; call functions by name; give what is called a rule."
)
