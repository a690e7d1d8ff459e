"""What the text of an entry may do: nothing that anybody could see but its result.

A text is run before it is known whether its result can be taken, and then perhaps everything once more. So it may call NumPy's
and Python's functions that compute, by their names, and its own. Whatever is not known here keeps a function out of the cache.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from microgradpy.disk.guards import CLASSES, Guard
from microgradpy.disk.key import NotPlain, value_text
from microgradpy.exporting.scopes import outer_names
from microgradpy.originals import NOT_THERE, as_written

_BUILTINS = frozenset(
    "abs all any bool bytes complex dict divmod enumerate filter float frozenset int isinstance issubclass iter len list map "
    "max min next pow range repr reversed round set slice sorted str sum tuple type zip Ellipsis NotImplemented".split()
)
_BUILTINS_OF_PACKAGE = frozenset("BaseException callable getattr hasattr object property staticmethod".split())
"""Those that only the package's own helpers name."""
_MODULES = frozenset("math cmath operator itertools numpy numpy.linalg numpy.fft numpy.lib.stride_tricks".split())
_NOT_OF_NUMPY = frozenset(
    "errstate frombuffer fromfile fromfunction frompyfunc fromregex fromstring genfromtxt geterr geterrcall getbufsize info "
    "load loadtxt memmap nditer ndenumerate printoptions save savetxt savez savez_compressed set_printoptions get_printoptions "
    "setbufsize seterr seterrcall show_config show_runtime test vectorize apply_along_axis apply_over_axes piecewise".split()
)
_ATTRIBUTES = frozenset("ctypes dump dumps setflags tofile __builtins__ __code__ __globals__ __subclasses__".split())
_STATEMENTS = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Await, ast.AsyncFor, ast.AsyncWith)


class Impure(Exception):
    """Something in a text that is not known to be without effects."""


def taken_by(text: str, modules: Mapping[str, str], data: set[str]) -> list[Guard]:
    """What a text takes from libraries, as guards. `modules` are the names that it has for them, and `data` those of what it is
    given. Raises `Impure`."""
    tree = ast.parse(text)
    own = {name for statement in tree.body for name in _defined(statement)}
    if own & (modules.keys() | data):
        raise Impure("a name that is defined twice")
    for statement in tree.body:
        for name in outer_names(statement):
            if name not in own | data | modules.keys() | _BUILTINS_OF_PACKAGE:
                check_builtin(name)
    found: dict[Guard, None] = {}
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, _STATEMENTS) or (isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES):
            raise Impure(ast.unparse(node))
        if isinstance(node, ast.Attribute) and node not in inside:
            names = list(_chain(node))
            inside.update(inner for inner in ast.walk(node) if inner is not node and isinstance(inner, ast.Attribute))
            if names and names[0] in modules:
                found[_use(modules[names[0]], names[1:])] = None
    return list(found)


def _defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case _:
            raise Impure(ast.unparse(statement))


def _is_error(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)


def _chain(node: ast.expr) -> Iterator[str]:
    """`np.linalg.norm` -> "np", "linalg", "norm"; nothing for what does not start at a name."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=value, attr=attribute):
            before = list(_chain(value))
            yield from (*before, attribute) if before else ()


def _use(module: str, names: list[str]) -> Guard:
    """The guard for what is taken from a module; what follows the first thing that is no module is looked up in that."""
    while names and isinstance(vars(sys.modules[module]).get(names[0]), types.ModuleType):
        module, names = f"{module}.{names[0]}", names[1:]
    if not names or (module, names[0]) not in _OF_PACKAGE:
        check_harmless(module, names[0] if names else "")
    return "uses", module, names[0], *names_and_text(module, names[0])


def check_builtin(name: str) -> None:
    """Raises `Impure` for a built-in name unless it only computes."""
    if name not in _BUILTINS and not _is_error(name):
        raise Impure(name)


def check_harmless(module: str, name: str) -> None:
    """Raises `Impure` for what is taken from a library unless it only computes."""
    if (module not in _MODULES and module not in CLASSES) or not name or (module == "numpy" and name in _NOT_OF_NUMPY):
        raise Impure(f"{module}.{name}")


_OF_PACKAGE = {("numpy", "errstate"), ("numpy.ma", "MaskedArray")}
"""What only the package's own helpers take."""
_ALIASES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "concat": "concatenate", "conj": "conjugate",
    "mod": "remainder", "permute_dims": "transpose", "pow": "power", "true_divide": "divide",
}  # fmt: skip


def names_and_text(module: str, name: str) -> tuple[str, ...]:
    """The rest of a guard for something of a library: what it calls itself, or nothing and the text of a number."""
    value: Any = vars(sys.modules[module]).get(name)
    named = str(getattr(value, "__name__", ""))
    if module in CLASSES and isinstance(value, type):
        return (named,)
    is_known = isinstance(value, type) or named in ("", name, _ALIASES.get(name))
    if not is_known or as_written(module, name, named) is NOT_THERE:
        raise Impure(f"{module}.{name}")
    if named:
        return (named,)
    try:
        return "", value_text(value)
    except NotPlain:
        raise Impure(f"{module}.{name}") from None
