"""What some values hold: the objects of the user's classes, the classes and the functions among them."""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.objects import LEAVES
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.bytecode import WRITERS, imports, names_in
from microgradpy.runtime.libraries import library_of
from microgradpy.runtime.python_ufuncs import function_of, is_of_python
from microgradpy.state.snapshots import parts_of

PLAIN = LEAVES - {type, types.BuiltinFunctionType, types.ModuleType, np.ufunc, slice}
"""Types of what holds nothing that may be called."""
_PACKAGE = __name__.partition(".")[0]
_LARGEST_WALK = 2000  # objects among the arguments that are looked at


@final
@dataclass
class Reached:
    """What some values and what they hold have in them: objects of the user's `classes`, classes that may be called
    (`made`), functions, the `names` that getters read; whether there is a suspended generator or a method such as
    `items.append` that writes, and the user's modules."""

    classes: set[type] = field(default_factory=set)
    made: set[type] = field(default_factory=set)
    functions: set[types.FunctionType] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    writes: bool = False
    modules: set[types.ModuleType] = field(default_factory=set)


def reached_from(values: Iterable[Any], passes_over: Callable[[Any], bool] | None = None) -> Reached:
    """Walk over some values and what they hold. Functions and objects of classes that are passed over are only asked for what
    they hold of the user's."""
    found = Reached()
    waiting, inside, seen = list(values), list[Any](), set[int]()
    while (waiting or inside) and len(seen) < _LARGEST_WALK:
        if not waiting:
            waiting, inside, passes_over = inside, [], _is_installed
        value = waiting.pop()
        if isinstance(value, np.ndarray | int | float | str | types.NoneType | np.generic) or id(value) in seen:
            continue
        if isinstance(value, list | tuple) and PLAIN.issuperset(map(type, value)):
            continue
        if type(value) is dict and PLAIN.issuperset(map(type, value.values())):
            continue
        seen.add(id(value))
        if _is_of_compiler(str(getattr(type(value), "__module__", ""))):
            continue  # it leads to whatever has been compiled
        if passes_over is None or not passes_over(value if isinstance(value, type | types.FunctionType) else type(value)):
            _note(value, found)
            waiting += _parts(value)
        elif not isinstance(value, type):
            inside += _parts(value)
    return found


@functools.lru_cache(maxsize=1024)
def _is_of_compiler(module: str) -> bool:
    """Whether a class of this module is one of the package's that does not hold what is the user's: not a layer."""
    return module.partition(".")[0] == _PACKAGE and not module.startswith(f"{_PACKAGE}.nn")


def _is_installed(x: Any) -> bool:
    return library_of(x) is not None and is_users_class(x)


def _note(value: Any, found: Reached) -> None:
    match value:
        case types.FunctionType():
            found.functions.add(value)
        case type():
            found.made.add(value)
        case operator.attrgetter() | operator.methodcaller():
            found.names |= names_read_by(value)
        case types.ModuleType() if is_users_module(value):
            found.modules.add(value)
    found.writes |= _may_write_when_used(value)
    if is_users_class(type(value)) and not _is_special(value):
        found.classes.add(type(value))


def names_read_by(getter: operator.attrgetter[Any] | operator.methodcaller) -> set[str]:
    """The names of the attributes that it reads."""
    reduced: tuple[Any, ...] = getter.__reduce__()  # type: ignore[assignment]
    made, rest = reduced[:2]  # a partial of the class, if there are keyword arguments
    given = [*getattr(made, "args", ()), *rest]
    paths = given if isinstance(getter, operator.attrgetter) else given[:1]
    return {name for path in paths for name in path.split(".")}


def _parts(value: Any) -> Iterable[Any]:
    """What a value holds."""
    held = held_by_special(value)
    if held is not None:
        return held
    own = value.args if isinstance(value, BaseException) else ()
    return [*own, *(part for _, part in parts_of(value))]


def held_by_special(value: Any) -> Iterable[Any] | None:
    """What an object holds that is neither a container nor of a class with fields; None if it is."""
    return next((parts(value) for cls, parts in _PARTS.items() if isinstance(value, cls)), None)


def _is_special(value: Any) -> bool:
    return any(isinstance(value, cls) for cls in _PARTS)


def _may_write_when_used(value: Any) -> bool:
    """Whether a value that is no function of the user's writes when it is called or advanced."""
    match value:
        case functools._lru_cache_wrapper():
            return True  # its entries
        case types.GeneratorType():
            return value.gi_frame is not None
        case types.BuiltinMethodType():
            return not isinstance(value.__self__, types.ModuleType | types.NoneType) and value.__name__ in WRITERS
        case np.ufunc():
            return is_of_python(value) and function_of(value) is None
    return False


def captured_by(function: types.FunctionType) -> Iterator[Any]:
    """The contents of the cells that a function captured, as far as they are filled."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def is_users_class(cls: Any) -> bool:
    """Whether a class, or anything with a module, is neither Python's nor NumPy's."""
    return _is_users(str(getattr(cls, "__module__", "")))


@functools.lru_cache(maxsize=1024)
def _is_users(module: str) -> bool:
    top = module.partition(".")[0]
    return (top not in sys.stdlib_module_names and top not in ("numpy", "scipy", "microgradpy")) or top == "__main__"


def is_searched(function: types.FunctionType) -> bool:
    return is_users_class(function) and not rrule.covers(function) and not is_non_differentiable(function)


def defaults_of(function: types.FunctionType) -> tuple[Any, ...]:
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


def functions_of(found: Any) -> list[types.FunctionType]:
    """The functions that reading a class's attribute may run or give."""
    if isinstance(found, types.FunctionType):
        return [found]
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
        return [found] if isinstance(found, types.FunctionType) else []
    if isinstance(found, property):
        return [f for f in (found.fget, found.fset, found.fdel) if isinstance(f, types.FunctionType)]
    if isinstance(found, functools.singledispatchmethod):
        return [f for each in (found.func, *found.dispatcher.registry.values()) for f in functions_of(each)]
    return []


def meanings_in(function: types.FunctionType) -> Iterator[Any]:
    """What the names in a function may mean: module variables, and attributes of modules that it names."""
    variables = [function.__globals__, *map(vars, modules_named(function))]
    for name in names_in(function.__code__):
        for namespace in variables:
            if name in namespace:
                yield namespace[name]


def modules_named(function: types.FunctionType) -> list[types.ModuleType]:
    """The user's modules that a function names, imports, has captured or as a default, or reaches as attributes of those."""
    namespace = function.__globals__
    names = names_in(function.__code__)
    found = [*(namespace.get(name) for name in names), *captured_by(function), *defaults_of(function)]
    if imports(function.__code__):  # what has been imported before
        package = f"{namespace.get('__package__') or ''}."
        found += [sys.modules.get(prefix + name) for name in names for prefix in ("", package)]
    modules = list(filter(is_users_module, found))
    for module in modules:
        parts = (vars(module).get(name) for name in names)
        modules += [part for part in parts if is_users_module(part) and not any(part is known for known in modules)]
    return modules


def is_users_module(value: Any) -> TypeGuard[types.ModuleType]:
    """Whether a value is a module that is neither Python's nor NumPy's."""
    return isinstance(value, types.ModuleType) and _is_users(value.__name__)


def _of_class(cls: type) -> list[Any]:
    """What a class of the user's has to give: objects among its attributes (the members of an enum), factories of fields."""
    if not is_users_class(cls):
        return []
    fields = getattr(cls, "__dataclass_fields__", {}).values()
    return [*filter(_is_object, vars(cls).values()), *(field.default_factory for field in fields)]


def _is_object(value: Any) -> bool:
    return is_users_class(type(value)) and not isinstance(value, type)


_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    types.FunctionType: lambda function: (*captured_by(function), *vars(function).values()),
    types.MethodType: lambda method: (method.__self__, method.__func__),
    types.BuiltinMethodType: lambda method: (method.__self__,),
    functools._lru_cache_wrapper: lambda wrapper: (wrapper.__wrapped__,),
    functools.partial: lambda partial: (partial.func, *partial.args, *partial.keywords.values()),
    np.vectorize: lambda vectorized: (vectorized.pyfunc,),
    np.ufunc: lambda ufunc: (function_of(ufunc),) if is_of_python(ufunc) else (),
    slice: lambda part: (part.start, part.stop, part.step),
    type: _of_class,
    **dict.fromkeys((types.GeneratorType, types.ModuleType), lambda _: ()),
}
"""What objects hold that are neither containers nor of a class with fields."""
