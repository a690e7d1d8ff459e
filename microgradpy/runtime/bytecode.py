"""What the bytecode of a function tells without running it: the names it reads, and whether anything in it writes."""

from __future__ import annotations

import dis
import functools
import types

from microgradpy.rules.containers import MUTATING_METHODS

_STORES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"})
WRITERS = frozenset().union(*MUTATING_METHODS.values()) | {
    "flat", "copyto", "place", "putmask", "fill_diagonal", "put_along_axis", "at", "shuffle", "setattr", "delattr", "send",
    "__setattr__", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right",
    "setitem", "delitem", "iadd", "isub", "imul", "itruediv", "imatmul", "ipow", "ifloordiv", "imod", "iconcat",
}  # fmt: skip
"""The names of functions and methods that write into what they are given."""


@functools.lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> tuple[str, ...]:
    """The names of variables and attributes that code reads, in the functions inside it too."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in names_in(constant)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


@functools.lru_cache(maxsize=1024)
def writes(code: types.CodeType) -> bool:
    """Whether code has anything in it, or in the functions inside it, that writes into arrays, containers, objects or module
    variables."""
    if any(map(_is_store, dis.get_instructions(code))) or not WRITERS.isdisjoint(code.co_names):
        return True
    return any(
        writes(constant) if isinstance(constant, types.CodeType) else isinstance(constant, tuple) and "out" in constant
        for constant in code.co_consts
    )


@functools.lru_cache(maxsize=1024)
def makes_classes(code: types.CodeType) -> bool:
    """Whether a function has a `class` statement in it."""
    return any(instruction.opname == "LOAD_BUILD_CLASS" for instruction in dis.get_instructions(code))


def _is_store(instruction: dis.Instruction) -> bool:
    # `x += y` on a name is a BINARY_OP whose sign ends in "=".
    return instruction.opname in _STORES or (instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("="))
