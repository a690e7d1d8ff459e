"""What classes have besides the methods of their objects: class methods and static methods, by the class's name or an object.

    p = Vec.polar(r, a)         return cls(r * math.cos(a), ...)       p_x, p_y = r * math.cos(a), ...
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from microgradpy.ad.binding import Packed, written_defaults
from microgradpy.frontend.resolve import variables_of_class
from microgradpy.ir.nodes import Const, Op
from microgradpy.promotion import classes
from microgradpy.promotion.findings import Origin
from microgradpy.promotion.places import ClassMethod, Frame, Known

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)


def member_of_class(walker: Any, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """What `getattr(cls, name)` is, if it is there to be called; None if it is read when the program runs."""
    if len(arguments) != 2 or not isinstance(arguments[0], Const) or not isinstance(arguments[1], Const):
        return None
    cls, name = arguments[0].value, arguments[1].value
    origin = (*frame.path, op.results[0])
    if origin in walker.facts.kept or not classes.is_of_users(cls) or hasattr(vars(type).get(name), "__set__"):
        return None
    found = walker.member(cls, name)
    if isinstance(found, types.FunctionType):
        return function_constant_of(found)
    return callable_of(found, arguments[0], origin)


def is_class_variable(cls: type, name: str, found: Any) -> bool:
    """Whether what a class has under a name, which is `found` now, may be assigned by code of its module."""
    return not hasattr(type(found), "__get__") and name in variables_of_class(cls)


def callable_of(found: Any, cls: Const, origin: Origin) -> Known | None:
    """What a class method or static method of a class is; None of anything else."""
    function = found.__func__ if isinstance(found, classmethod | staticmethod) else None
    if not isinstance(function, types.FunctionType):
        return None
    return ClassMethod(origin, cls, function) if isinstance(found, classmethod) else function_constant_of(function)


def factory_constant(factory: Any, origin: Origin) -> Known | None:
    """The `default_factory` of a field as a constant, if it has a name in generated code or a text."""
    if isinstance(factory, types.MethodType):
        of_class = classes.is_of_users(factory.__self__) and isinstance(factory.__func__, types.FunctionType)
        return ClassMethod(origin, class_constant(factory.__self__), factory.__func__) if of_class else None  # type: ignore[arg-type]
    return Const(factory, factory.__name__, factory) if is_function(factory) else None


def is_function(value: Any) -> bool:
    """Whether something is a function or a class, of which nothing is to be known but which one it is."""
    return isinstance(value, _FUNCTIONS)


def defaults_of(function: types.FunctionType) -> dict[str, Known | Packed]:
    """The parameters of a function whose defaults are literals or tuples of these, functions or classes."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False)) | (function.__kwdefaults__ or {})
    functions = {name: Const(value, value.__name__, value) for name, value in given.items() if is_function(value)}
    return {**written_defaults(function), **functions}


def defaults_in(function: types.FunctionType) -> tuple[Any, ...]:
    """What the parameters of a function are if they are not given."""
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


def function_constant_of(function: types.FunctionType) -> Const:
    """A function of the user's as a constant."""
    return Const(function, function.__name__, function)


def class_constant(cls: type) -> Const:
    """A class of the user's as a constant."""
    return Const(cls, cls.__name__, cls)
