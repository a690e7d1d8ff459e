"""What the bytecode of a function tells without running it: the names it reads, and whether anything in it writes."""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import types

import numpy as np

from microgradpy.rules.containers import MUTATING_METHODS

_STORES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"})
WRITERS = frozenset().union(*MUTATING_METHODS.values()) | {
    "flat", "copyto", "place", "putmask", "fill_diagonal", "put_along_axis", "at", "shuffle", "setattr", "delattr", "send",
    "__setattr__", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right",
    "apply_defaults",
    "setitem", "delitem", "iadd", "isub", "imul", "itruediv", "imatmul", "ipow", "ifloordiv", "imod", "iconcat",
}  # fmt: skip
"""The names of functions and methods that write into what they are given."""
_KEPT = 4096
"""How much code is remembered: a search for writes looks at all that it can reach, again and again."""


@functools.lru_cache(maxsize=_KEPT)
def names_in(code: types.CodeType) -> tuple[str, ...]:
    """The names of variables and attributes that code reads, in the functions inside it too."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in names_in(constant)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


@functools.lru_cache(maxsize=_KEPT)
def texts_in(code: types.CodeType) -> tuple[str, ...]:
    """The names among the texts in code, and in the functions inside it: attributes that are read by `getattr(x, "name")`,
    `attrgetter("name.of")` or `case Class(name=...)`."""
    found: list[str] = []
    waiting: list[object] = list(code.co_consts)
    for constant in waiting:
        if isinstance(constant, tuple | frozenset):
            waiting += constant
        elif isinstance(constant, types.CodeType):
            waiting += constant.co_consts
        elif isinstance(constant, str):
            found += (name for name in constant.split(".") if name.isidentifier())
    return tuple(dict.fromkeys(found))


_READERS = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller", "__getattribute__"})


@functools.lru_cache(maxsize=_KEPT)
def computes_names(code: types.CodeType) -> bool:
    """Whether code, or a function inside it, reads attributes by names that do not stand in it: `getattr(x, name)`."""
    steps = [] if _READERS.isdisjoint(_all_names(code)) else _steps(code)
    for number, step in enumerate(steps):
        if step.opname.startswith("LOAD") and _loaded(step) in _READERS and not _is_given_text(steps, number):
            return True
    return any(computes_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))


def _all_names(code: types.CodeType) -> set[str]:
    """What an instruction of code may name that loads something."""
    texts = {constant for constant in code.co_consts if isinstance(constant, str)}
    return texts.union(code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)


def _has(code: types.CodeType, operation: str) -> bool:
    """Whether there is an instruction of this kind in code."""
    return dis.opmap[operation] in code.co_code[::2]


def _steps(code: types.CodeType) -> list[dis.Instruction]:
    """The instructions that move values."""
    return [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "PUSH_NULL")]


def _is_given_text(steps: list[dis.Instruction], number: int) -> bool:
    """Whether the function that an instruction loads is called right away, with a text for the name."""
    depth = 0
    place = 2 if _loaded(steps[number]) in ("getattr", "hasattr") else 1
    made: dis.Instruction | None = None  # what the argument at that place was made by
    before = steps[number]
    for step in steps[number + 1 :]:
        if _is_call(step, before) and depth == step.arg:
            return made is not None and made.opname == "LOAD_CONST" and isinstance(made.argval, str)
        if step.is_jump_target or step.opcode in dis.hasjrel:
            return False
        depth += dis.stack_effect(step.opcode, step.arg if step.opcode >= dis.HAVE_ARGUMENT else None)
        if depth == place:
            made = step
        before = step
    return False


def _is_call(step: dis.Instruction, before: dis.Instruction) -> bool:
    """Whether an instruction calls what is below its arguments. Where there are two, the first takes these off the stack."""
    return step.opname == "PRECALL" or (step.opname == "CALL" and before.opname != "PRECALL")


@functools.lru_cache(maxsize=_KEPT)
def variables_in(code: types.CodeType) -> tuple[str, ...]:
    """The names of module variables that code reads, in the functions inside it too."""
    own = [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in variables_in(constant)]
    return tuple(dict.fromkeys((*own, *inner)))


_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


@functools.lru_cache(maxsize=_KEPT)
def attributes_of_variables(code: types.CodeType) -> tuple[tuple[str, str], ...]:
    """The attributes that code reads of variables as they stand, each with the name of that, in the functions inside it too."""
    own = [
        (variable.argval, step.argval)
        for variable, step in itertools.pairwise(_steps(code))
        if variable.opname.startswith("LOAD_") and step.opname in _ATTRIBUTES and isinstance(variable.argval, str)
    ]
    inner = [pair for each in code.co_consts if isinstance(each, types.CodeType) for pair in attributes_of_variables(each)]
    return tuple(dict.fromkeys((*own, *inner)))


@functools.lru_cache(maxsize=_KEPT)
def writes(code: types.CodeType) -> bool:
    """Whether code has anything in it, or in the functions inside it, that writes into arrays, containers, objects or module
    variables."""
    if any(map(_is_store, dis.get_instructions(code))) or not WRITERS.isdisjoint(code.co_names) or _gives_outputs(code):
        return True
    return any(
        writes(constant) if isinstance(constant, types.CodeType) else isinstance(constant, tuple) and "out" in constant
        for constant in code.co_consts
    )


_INPUTS = {name: value.nin for name, value in vars(np).items() if isinstance(value, np.ufunc)} | {"dot": 2, "clip": 3}


def _gives_outputs(code: types.CodeType) -> bool:
    """Whether code calls something with the name of a function of NumPy's with more arguments than that computes with: the
    next one is written into, as in `np.multiply(x, y, x)`."""
    if _INPUTS.keys().isdisjoint(code.co_names):
        return False
    steps = _steps(code)
    for number, step in enumerate(steps):
        name = _loaded(step) if step.opname.startswith("LOAD") else None
        count = _INPUTS.get(name) if isinstance(name, str) else None
        if count is not None and (_count_of_arguments(code, steps, number) or 0) > count:
            return True
    return False


def _count_of_arguments(code: types.CodeType, steps: list[dis.Instruction], number: int) -> int | None:
    """How many arguments by position a function is called with that an instruction loads; None if that is not seen, or it is
    not called."""
    depth = 0
    before = steps[number]
    for step in steps[number + 1 :]:
        if _is_call(step, before) and depth == step.arg:
            return depth - (len(code.co_consts[before.arg or 0]) if before.opname == "KW_NAMES" else 0)
        if step.opname == "CALL_KW" and depth - 1 == step.arg:  # the names are on the stack too
            return depth - 1 - len(code.co_consts[before.arg or 0])
        if depth < 0 or step.opcode in dis.hasjrel:
            return None
        depth += dis.stack_effect(step.opcode, step.arg if step.opcode >= dis.HAVE_ARGUMENT else None)
        before = step
    return None


_SHOWS = ("RAISE_VARARGS", "FORMAT_", "CONVERT_VALUE", "PRECALL", "CALL")


@functools.lru_cache(maxsize=_KEPT)
def reads_caught(code: types.CodeType) -> bool:
    """Whether a handler in a function reads from the exception that it has caught, or keeps it. (It may show it, and raise
    another one from it.)"""
    steps = list(dis.get_instructions(code))
    names = {
        stored.argval
        for check, jump, stored in zip(steps, steps[1:], steps[2:], strict=False)
        if check.opname == "CHECK_EXC_MATCH" and stored.opname.startswith("STORE")
    }
    loads = ((step, after) for step, after in itertools.pairwise(steps) if step.opname.startswith("LOAD"))
    return bool(names) and any(_loaded(step) in names and not after.opname.startswith(_SHOWS) for step, after in loads)


def _loaded(step: dis.Instruction) -> object:
    """The name of the variable that an instruction loads last."""
    return step.argval[-1] if isinstance(step.argval, tuple) and step.argval else step.argval


@functools.lru_cache(maxsize=_KEPT)
def makes_classes(code: types.CodeType) -> bool:
    """Whether a function has a `class` statement in it."""
    return _has(code, "LOAD_BUILD_CLASS")


@functools.lru_cache(maxsize=_KEPT)
def imports(code: types.CodeType) -> bool:
    """Whether there is an `import` statement in code, or in the functions inside it."""
    inner = (imports(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return _has(code, "IMPORT_NAME") or any(inner)


@functools.lru_cache(maxsize=_KEPT)
def makes_capturing_classes(code: types.CodeType) -> bool:
    """Whether a function has a `class` statement in it whose body or methods use variables of the function."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return any(not constant.co_flags & inspect.CO_NEWLOCALS and constant.co_freevars for constant in inner)


def _is_store(instruction: dis.Instruction) -> bool:
    # `x += y` on a name is a BINARY_OP whose sign ends in "=".
    return instruction.opname in _STORES or (instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("="))
