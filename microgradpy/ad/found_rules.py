"""Which rule is inlined for a call, by the kinds of its arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from microgradpy.ir.kinds import (
    BOOL,
    INT,
    Array,
    Kind,
    Numeric,
    Scalar,
    Sequence,
    TupleOf,
    Unknown,
    entry_kinds,
    has_open_tuples,
    holds_numbers,
    is_key,
    is_list,
    is_list_of_numbers,
    is_numeric,
    is_real_scalar,
    is_values_of_numbers,
    item_kind,
    python_type,
)
from microgradpy.rules import number_lists
from microgradpy.rules.entries import Rule
from microgradpy.rules.loading import load_optional
from microgradpy.rules.operators import matmul_of_any_ranks_rrule, matmul_rrule
from microgradpy.rules.registry import rrule
from microgradpy.tangents.columns import columns_of, list_of_columns


def find_rule(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Rule | None:
    """The rule to be inlined for arguments of these kinds; None if the dispatcher has to choose. It is found once for each
    builtin function of numbers, of which a long function has thousands of calls."""
    if type(function) is not BuiltinFunctionType or not all([type(kind) is Scalar for kind in kinds]):
        return _found(function, kinds)
    load_optional()
    key = rrule.version, function, *[kind.name for kind in kinds if isinstance(kind, Scalar)]
    if key not in _of_numbers:
        if len(_of_numbers) >= _MOST:
            _of_numbers.clear()
        _of_numbers[key] = _found(function, kinds)
    return _of_numbers[key]


_MOST = 1024
_of_numbers: dict[tuple[object, ...], Rule | None] = {}


def _found(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Rule | None:
    of_numbers = None if rrule.has_others(function) else _rule_of_numbers(function, kinds)
    if of_numbers is not None:
        return of_numbers
    # A rule for sequences gets cotangents that may be None; the dispatcher deals with those.
    if _is_operator(function) and any(isinstance(kind, Sequence | TupleOf) for kind in kinds):
        return None
    # So it does where the choice among the rules depends on a type that is not known, but for + and *, whose rule for
    # numbers refuses sequences.
    is_unknown = any(isinstance(kind, Unknown) for kind in kinds)
    if is_unknown and rrule.is_typed(function) and function not in (operator.add, operator.mul):
        return None
    if _may_be_for_numbers(function, kinds):
        return None
    found: Rule | None = rrule.find(function, tuple(map(python_type, kinds)))
    has_ranks = all(isinstance(kind, Array) and kind.ndim is not None for kind in kinds)
    return matmul_of_any_ranks_rrule if found is matmul_rrule and all(map(is_numeric, kinds)) and not has_ranks else found


_OF_ONE: dict[Any, Rule] = {
    sum: number_lists.sum_rrule,
    max: number_lists.max_rrule,
    min: number_lists.min_rrule,
    list: number_lists.copy_rrule,
    tuple: number_lists.tuple_rrule,
}


_OF_VALUES: dict[Any, Rule] = {
    sum: number_lists.sum_rrule,
    max: number_lists.max_of_values_rrule,
    min: number_lists.min_of_values_rrule,
    list: number_lists.copy_rrule,
}


def _is_open_tuple(kind: Kind) -> bool:
    return isinstance(kind, Sequence) and kind.name == "tuple" and holds_numbers(kind)


def _rule_of_numbers(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Rule | None:
    """The rule for a call by position with arguments of these kinds, if there is one for lists of numbers."""
    if function is sum and len(kinds) == 1 and is_list(kinds[0]) and isinstance(item_kind(kinds[0]), Array | Numeric):
        return number_lists.sum_of_arrays_rrule
    if len(kinds) == 1 and is_values_of_numbers(kinds[0]):
        return _OF_VALUES.get(function)
    if function in (dict, operator.or_, dict.values):
        return _rule_of_dicts(function, kinds)
    if function in (columns_of, list_of_columns) and isinstance(items := kinds[0], Sequence) and holds_numbers(items):
        return number_lists.columns_of_tuples_rrule if isinstance(items.item, TupleOf) else number_lists.columns_rrule
    if not kinds or not (is_list_of_numbers(kinds[0]) or has_open_tuples(kinds[0])):
        return None
    if function is operator.add and (all(map(is_list_of_numbers, kinds)) or all(_is_open_tuple(kind) for kind in kinds)):
        return number_lists.concatenation_rrule
    if not (isinstance(kinds[0], Sequence) and is_real_scalar(kinds[0].item)):
        return number_lists.copy_rrule if function is list and len(kinds) == 1 else None
    if len(kinds) == 1:
        return _OF_ONE.get(function)
    return number_lists.repetition_rrule if function is operator.mul and kinds[1] in (INT, BOOL) else None


def _rule_of_dicts(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Rule | None:
    if function is dict:
        return number_lists.dict_of_pairs_rrule if len(kinds) == 1 and _are_pairs(kinds[0]) else None
    if function is operator.or_:
        return number_lists.merged_rrule if len(kinds) == 2 and all(map(_is_dict_of_numbers, kinds)) else None
    return number_lists.values_rrule if holds_numbers(kinds[0]) and is_real_scalar(entry_kinds(kinds[0])[1]) else None


def _is_dict_of_numbers(kind: Kind) -> bool:
    return isinstance(kind, Sequence) and kind.name == "dict" and is_real_scalar(kind.item)


def _are_pairs(kind: Kind) -> bool:
    """Whether something is a list of keys and numbers, as a comprehension makes it for a dict."""
    match kind:
        case Sequence(name="list", item=TupleOf(items=(key, value))):
            return is_key(key) and is_real_scalar(value) and holds_numbers(kind)
    return False


def _may_be_for_numbers(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> bool:
    """Whether there is a rule for some class of numbers that one of these may be of: Python's or one of NumPy's."""
    numbers = [isinstance(kind, Scalar) and python_type(kind) is None for kind in kinds]
    if not any(numbers):
        return False
    for classes, _ in rrule.typed_rules(function):
        pairs = list(zip(classes, kinds, numbers, strict=False))
        if len(pairs) == len(classes) and any(is_number and cls is not object for cls, _, is_number in pairs):
            if all(_is_of_numbers(cls) if is_number else _is_of(kind, cls) for cls, kind, is_number in pairs):
                return True
    return False


def _is_of_numbers(cls: type) -> bool:
    return issubclass(cls, _NUMBERS) or any(issubclass(number, cls) for number in _NUMBERS)


def _is_of(kind: Kind, cls: type) -> bool:
    known = python_type(kind)
    return cls is object or (known is not None and issubclass(known, cls))


_NUMBERS = (int, float, complex, np.number)


def _is_operator(function: object) -> bool:
    return getattr(function, "__module__", "") in ("_operator", "operator")
