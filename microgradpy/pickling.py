"""Gradient functions that are sent to another process by what pickles functions by value: `cloudpickle`, so joblib and dask.

A function of a notebook or a prompt has no file that the other process could read: its text goes along, and that of those which
it refers to.
"""

from __future__ import annotations

import linecache
import os
import types
from collections.abc import Iterator
from typing import Any

from microgradpy import api
from microgradpy.gradient_functions import GradientFunction, held_by
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION

Texts = dict[str, str]
Place = tuple[str, int]
"""The qualified name and first line of a function."""
DIFFERENTIATE = api.gradient
"""With it comes what gradient functions need when they run, in a process that has imported nothing else."""


def sent(held: GradientFunction) -> tuple[Any, ...]:
    """How a gradient function is pickled: with the texts of the functions that have no file, and which text is whose."""
    texts: Texts = {}
    files: dict[Place, str] = {}
    for function in _referred_to(held.f):
        code = function.__code__
        file = code.co_filename
        if not os.path.isfile(file) and (text := texts.get(file) or "".join(linecache.getlines(file))):
            texts[file], files[_place(code)] = text, file
    return received, (held.f, held.form, held.has_aux, held.names, held.makes_native, files, texts)


def received(
    f: Any,
    form: Any,
    has_aux: bool,
    names: tuple[str, ...],
    makes_native: Any,
    files: dict[Place, str],
    texts: Texts,
) -> GradientFunction:
    """The gradient function, in the other process. What pickles functions may have taken the names of their texts from them."""
    for file, text in texts.items():
        if not linecache.getlines(file):
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    for function in _referred_to(f):
        file = files.get(_place(function.__code__), "")
        if file and function.__code__.co_filename not in texts and not os.path.isfile(function.__code__.co_filename):
            function.__code__ = _of_file(function.__code__, file)
    NESTED_DIFFERENTIATION.update(function for function in _referred_to(f) if held_by(function) is not None)
    return GradientFunction(f, form, has_aux, names, makes_native)


def _place(code: types.CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno


def _of_file(code: types.CodeType, file: str) -> types.CodeType:
    constants = tuple(_of_file(each, file) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=constants)


def _referred_to(f: Any) -> Iterator[types.FunctionType]:
    """The Python functions that a callable refers to, by variables of its module and by what it has captured."""
    waiting, seen = [f], set()
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        match x:
            case types.FunctionType():
                yield x
                waiting += [x.__globals__.get(name) for code in _codes(x.__code__) for name in code.co_names]
                waiting += [cell.cell_contents for cell in x.__closure__ or () if _is_filled(cell)]
            case types.MethodType():
                waiting += [x.__func__, x.__self__]
            case GradientFunction():
                waiting.append(x.f)
            case type():
                waiting += [each for each in vars(x).values() if isinstance(each, types.FunctionType)]
            case _ if type(x).__module__ == "__main__":
                waiting.append(type(x))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
