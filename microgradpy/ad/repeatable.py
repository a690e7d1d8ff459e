"""Functions of which nobody sees that a run of them was given up and made once more: they compute, and nothing else.

What is not known to be so counts as if it were not: calls of code that is not compiled, operators of what may be an object of
the user's, iterators, writes into what others have, random numbers, printing, and every `try`, which might catch what ends the
run.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Set
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from microgradpy.ir.kinds import UNKNOWN, Array, Inert, Kind, Scalar, Sequence, TupleOf, Unknown
from microgradpy.ir.nodes import Const, For, Function, If, Op, Opcode, Statement, Value, Var, While
from microgradpy.ir.traversal import given_values, item_sources, terminator_values, walk
from microgradpy.rules.registry import rrule
from microgradpy.runtime.real_powers import check_real

_OPCODES = frozenset({
    Opcode.TUPLE, Opcode.LIST, Opcode.DICT, Opcode.JOIN, Opcode.APPEND, Opcode.STORE, Opcode.GLOBAL,
    Opcode.CLOSURE,
})  # fmt: skip
_BUILTINS = frozenset((
    abs, all, any, bool, dict, divmod, enumerate, float, int, isinstance, len, list, max, min, pow, range, reversed, round,
    slice, sorted, sum, tuple, zip,
))  # fmt: skip
_EXCEPTIONS = frozenset(each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, BaseException))
_LIBRARIES = ("math", "_operator", "operator")
_OWN = (
    "microgradpy.tangents.", "microgradpy.rules.", "microgradpy.runtime.keys", "microgradpy.runtime.cotangents",
    "microgradpy.runtime.dict_objects",
)  # fmt: skip
_OF_NUMPY = type(np.sum)
_MAKERS: frozenset[Any] = frozenset((
    np.array, np.asarray, np.zeros, np.ones, np.empty, np.full, np.arange, np.eye, np.identity, np.linspace,
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.argmax, np.argmin, np.argsort, np.ndim, np.shape, np.size,
))  # fmt: skip
_OF_ARRAYS = frozenset((
    "T", "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "copy", "cumsum", "diagonal", "dot", "dtype",
    "flatten", "imag", "item", "max", "mean", "min", "ndim", "prod", "ravel", "real", "repeat", "reshape", "round", "shape",
    "size", "squeeze", "std", "sum", "swapaxes", "take", "tolist", "trace", "transpose", "var",
))  # fmt: skip
"""Attributes and methods of arrays that only compute."""
_OF_CONTAINERS = frozenset(("index", "count", "copy", "get", "keys", "values", "items"))


def is_repeatable(function: Function) -> bool:
    """Whether a primal only computes, as do the functions of which it calls units if theirs do."""
    statements = list(walk(function.body))
    pairs = {result for statement in statements if _calls_unit(statement) for result in statement.results}
    # What reads a method of an array is not looked at by itself, as the method is of no kind; nor is the call of one.
    reads = {op.results[0] for op in statements if isinstance(op, Op) and _reads_array(op, function.kinds)}
    return all(_is_repeatable(statement, function.kinds, pairs, reads) for statement in statements)


def is_of_numbers(function: Function) -> bool:
    """Whether all that a function calls are operators, builtins and functions of `math`, so that it computes with Python's
    numbers if it is given such."""
    return all(not isinstance(statement, Op) or _is_of_numbers(statement) for statement in walk(function.body))


def _is_of_numbers(op: Op) -> bool:
    constants = [value.value for value in given_values(op.arguments, op.keywords) if isinstance(value, Const)]
    if any(isinstance(value, np.generic | np.ndarray) for value in constants):
        return False
    if not isinstance(op.callee, Const):
        return op.callee in _OPCODES
    called = op.callee.value
    return getattr(called, "__module__", None) in _LIBRARIES or any(called is each for each in _BUILTINS)


def reads_module(function: Function) -> bool:
    """Whether a primal reads variables of modules when it runs."""
    return any(isinstance(statement, Op) and statement.callee is Opcode.GLOBAL for statement in walk(function.body))


def _calls_unit(statement: Statement) -> bool:
    """Whether a statement calls the primal of a unit, for its value and what is saved."""
    callee = statement.callee if isinstance(statement, Op) else None
    return isinstance(callee, Const) and getattr(type(callee.value), "stands_for_unit", False)


def _reads_array(op: Op, kinds: Mapping[Var, Kind]) -> bool:
    """Whether an operation reads an attribute of an array, or a method of one, or of a list or dict, that writes nothing."""
    match op:
        case Op(callee=Const(value=callee), arguments=(target, Const(value=str(name)))) if callee is getattr:
            kind = _kind(target, kinds)
            is_list = isinstance(kind, Sequence) and _is_proven(kind) and name in _OF_CONTAINERS
            return is_list or (isinstance(kind, Array) and name in _OF_ARRAYS)
    return False


def _is_repeatable(statement: Statement, kinds: Mapping[Var, Kind], pairs: Set[Var], reads: Set[Var]) -> bool:
    match statement:
        case Op(results=(result,)) if result in reads:
            return True
        case Op(callee=Var() as method, keywords=keywords) if method in reads:
            is_plain = not any(name == "out" for name, _ in keywords)
            return is_plain and _are_proven(given_values(statement.arguments, keywords), kinds)
        case If(condition=condition):
            return _is_proven(_kind(condition, kinds))
        case While(condition=condition):
            return _are_proven(terminator_values(condition.terminator), kinds)
        case For(items=items):
            return all(_is_proven(_kind(source, kinds)) for source in item_sources(items))
        case Op(callee=Opcode.UNPACK, arguments=(given,)):
            return given in pairs or _is_proven(_kind(given, kinds))
        case Op(callee=Opcode() as opcode):
            return opcode in _OPCODES
        case Op() if _calls_unit(statement):
            return True
        case Op(callee=Const(value=callee)):
            return _only_computes(callee) and _are_proven(given_values(statement.arguments, statement.keywords), kinds)
    return False


def _are_proven(values: tuple[Value, ...], kinds: Mapping[Var, Kind]) -> bool:
    return all(_is_proven(_kind(value, kinds)) for value in values)


def _kind(value: Value, kinds: Mapping[Var, Kind]) -> Kind:
    """The kind of a variable; of a constant whether it is one of Python's own that runs no other code."""
    if isinstance(value, Var):
        return kinds.get(value, UNKNOWN)
    return Inert("constant") if isinstance(value, Const) and _is_plain(value.value) else UNKNOWN


def _is_plain(value: Any) -> bool:
    if isinstance(value, type):
        return value.__module__ in ("builtins", "numpy")
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


_PLAIN = (int, float, complex, bool, str, bytes, type(None), slice, range, np.float64)


def _is_proven(kind: Kind) -> bool:
    """Whether no code of the user's runs where such a value is computed with."""
    match kind:
        case TupleOf(items=items):
            return all(map(_is_proven, items))
        case Scalar() | Array() | Inert() | Sequence(name="range"):
            return True
        case Sequence(item=item, entries=entries):
            return _is_proven(item) and all(_is_proven(each) for _, each in entries)
    return not isinstance(kind, Unknown) and kind is not None


def _only_computes(function: Any) -> bool:
    module = str(getattr(function, "__module__", ""))
    if type(function) in (FunctionType, BuiltinFunctionType, _OF_NUMPY) and function in _MAKERS:
        return True
    match function:
        case FunctionType():
            return function is check_real or module.startswith(_OWN)
        case BuiltinFunctionType() if module in _LIBRARIES:
            return True
        case BuiltinFunctionType() | type():
            return function in _BUILTINS or function in _EXCEPTIONS
    return is_of_libraries(function)


def is_of_libraries(function: Any) -> bool:
    """Whether it is a function of NumPy's or of `math` that has a derivative, and does nothing but compute."""
    module = str(getattr(function, "__module__", ""))
    if isinstance(function, np.ufunc):
        return vars(np).get(function.__name__) is function
    if isinstance(function, BuiltinFunctionType):
        return module == "math" and rrule.has(function)
    is_of_numpy = type(function) is _OF_NUMPY and module.partition(".")[0] == "numpy" and "random" not in module
    return is_of_numpy and rrule.has(function)
