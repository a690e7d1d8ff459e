"""What is said of code and of values in text: equal texts mean that compiled code for one is right for the other.

    code_text(f.__code__)          the instructions, constants and names of a function; not its file and lines
    value_text(0.1)                "0x1.999999999999ap-4": a constant, to the last bit
    signature(np.ones((2, 3)))     "array<f8(2, 3)C": of data, all but the numbers themselves

`NotPlain` is raised for what cannot be said in text.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

try:
    from _blake2 import blake2b  # `hashlib` takes 3 ms to import
except ImportError:
    from hashlib import blake2b

import numpy as np

_MOST_ITEMS, _DEEPEST = 64, 4
_BY_TYPE = (float, int, complex, bool, type(None), np.float64, np.float32, np.int64)
"""The types of numbers that arguments may be."""
_CODE_PARTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_name", "co_qualname")
_CODE_NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")


class NotPlain(Exception):
    """Something that cannot be said in text."""


def digest(text: str) -> str:
    """A hash of a text, in 40 hexadecimal digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def code_text(code: types.CodeType) -> str:
    """All that code does, functions inside included, but not where it stands. Raises NotPlain."""
    parts = [repr(getattr(code, name)) for name in (*_CODE_PARTS, *_CODE_NAMES)]
    instructions = [code.co_code.hex(), code.co_exceptiontable.hex()]
    return f"code({', '.join([*parts, *instructions, *map(value_text, code.co_consts)])})"


def value_text(value: Any) -> str:
    """A constant: a number, a text, None, code, or a tuple or frozenset of these. Equal texts are of constants that are equal
    to the last bit, and of one type. Raises NotPlain."""
    cls = type(value)
    if cls is float:
        return float.hex(value)
    if cls is complex:
        return f"complex({float.hex(value.real)}, {float.hex(value.imag)})"
    if cls in (int, bool, str, bytes, type(None), type(...)):
        return repr(value)
    if cls is tuple:
        return f"({', '.join(map(value_text, value))})"
    if cls is frozenset:
        return f"frozenset({', '.join(sorted(map(value_text, value)))})"
    if cls is types.CodeType:
        return code_text(value)
    if isinstance(value, np.generic) and value.dtype.kind in "fciub":
        return f"np.{value.dtype.str}({value.tobytes().hex()})"
    raise NotPlain(cls.__qualname__)


def function_text(function: types.FunctionType) -> str:
    """A function as far as it is not the variables that it captured: its code, its defaults and its names. Raises NotPlain."""
    if vars(function) or type(function) is not types.FunctionType:
        raise NotPlain("a function with attributes")
    keywords = sorted((function.__kwdefaults__ or {}).items())
    parts = [code_text(function.__code__), value_text(function.__defaults__), value_text(tuple(keywords))]
    return "\n".join([*parts, repr((function.__name__, function.__qualname__, function.__globals__.get("__name__")))])


def signature(value: Any, depth: int = _DEEPEST) -> str:
    """What compiled code may depend on of data that it gets when it runs: types, dtypes, shapes, the order in memory, the
    lengths of containers and, as hashes, all texts. Raises NotPlain for anything but numbers, texts, arrays and containers."""
    cls = type(value)
    if cls in _BY_TYPE:
        return f"{cls.__module__}.{cls.__name__}"
    if cls is np.ndarray:
        return _signature_of_array(value)
    if cls is str:
        return f"text {digest(value)}"
    if cls in (tuple, list, dict) and depth and len(value) <= _MOST_ITEMS:
        items = value.values() if cls is dict else value
        if cls is dict and not all(type(key) is str for key in value):
            raise NotPlain("keys that are no texts")
        keys = repr(list(value)) if cls is dict else ""
        return f"{cls.__name__}{keys}({', '.join([signature(item, depth - 1) for item in items])})"
    raise NotPlain(cls.__qualname__)


def _signature_of_array(x: np.ndarray[Any, Any]) -> str:
    dtype, flags = x.dtype, x.flags
    if dtype.kind not in "fciub" or not dtype.isnative or dtype.itemsize > 16 or not flags.aligned:
        raise NotPlain(f"an array of {dtype}")
    order = "C" * flags.c_contiguous + "F" * flags.f_contiguous
    return f"array{dtype.str}{x.shape}{order or x.strides}{'' if flags.writeable else ' to be read only'}"


def version_text(package_version: str) -> str:
    """What the texts were made by, and run with."""
    parts = (package_version, _own_files(), sys.version, sys.implementation.cache_tag, sys.platform, sys.byteorder)
    return repr((*parts, sys.flags.optimize, np.__version__, np.__file__))


def _own_files() -> tuple[object, ...]:
    """What tells an edited package from another. What was installed is not edited: there, one file stands for all."""
    folder = os.path.dirname(os.path.dirname(__file__))
    if "site-packages" in folder or "dist-packages" in folder:
        found = os.stat(os.path.join(folder, "__init__.py"))
        return folder, found.st_mtime_ns, found.st_size
    count = size = changed = 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    found = entry.stat()
                    count, size, changed = count + 1, size + found.st_size, changed + found.st_mtime_ns
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return folder, count, size, changed
