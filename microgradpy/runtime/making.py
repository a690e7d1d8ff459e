"""What generated code calls for statements that only make an object: imports, classes, `type` statements, and functions
that use each other."""

from __future__ import annotations

import builtins
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import accumulate
from microgradpy.tangents.types import NoTangent, Tangent


def import_module(name: str, follow: bool = False) -> Any:
    """What `import a.b` binds, the module `a`; or what `import a.b as c` binds, the module that `follow` leads to."""
    module = __import__(name)
    for attribute in name.split(".")[1:] if follow else ():
        module = _member(module, attribute, name)
    return module


def import_from(module_name: str, attribute: str) -> Any:
    """What `from module_name import attribute` binds."""
    return _member(__import__(module_name, fromlist=(attribute,)), attribute, module_name)


def _member(module: Any, attribute: str, shown: str) -> Any:
    try:
        return getattr(module, attribute)
    except AttributeError:
        # A submodule that is being imported is not an attribute yet.
        name = getattr(module, "__name__", shown)
        found = sys.modules.get(f"{name}.{attribute}")
    if found is None:
        file = getattr(module, "__file__", None)
        place = file or "unknown location"
        message = f"cannot import name {attribute!r} from {shown!r} ({place})"
        raise ImportError(message, name=shown, path=file)
    return found


IMPORTERS = frozenset({import_module, import_from, importlib.import_module, builtins.__import__, inspect.getmodule})
"""What gives modules and their variables, which may hold what is differentiated."""
non_differentiable(*IMPORTERS)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Maker:
    """A constant of generated code that runs a statement of the user's as Python does; no derivative goes through it."""

    make: Callable[..., Any]
    makes_class: bool = False

    def __call__(self, *args: Any) -> Any:
        return self.make(*args)


def class_maker(
    code: types.CodeType, namespace: dict[str, Any], own_name: str, shared: Sequence[str] = ()
) -> Maker:
    """Makes a class from the code of its body, as a `class` statement does. `own_name` is the variable that the finished
    class is bound to: methods that mention it find the class. Of the `shared` variables it is given the cells."""

    def make_class(
        captured: Sequence[Any],
        decorators: Sequence[Callable[[Any], Any]],
        bases: Sequence[Any],
        keywords: Mapping[str, Any],
        shared_cells: Sequence[types.CellType] = (),
        read_cells: Sequence[types.CellType] = (),
    ) -> Any:
        names = [name for name in code.co_freevars if name != own_name and name not in shared]
        cells = dict(zip((*names, *shared), (*map(types.CellType, captured), *shared_cells), strict=True))
        cells |= {own_name: types.CellType()} if own_name in code.co_freevars else {}
        body = types.FunctionType(code, namespace, code.co_name, None, tuple(cells[name] for name in code.co_freevars))
        made = builtins.__build_class__(body, code.co_name, *bases, **keywords)
        if shared_cells:
            check_made(made)
        for decorator in reversed(decorators):
            made = decorator(made)
        if own_name in cells:
            cells[own_name].cell_contents = made
        return made

    return Maker(make_class, True)


def given_to_body(x: Any, computes: bool) -> Any:
    """What the body of a class is given, which is assigned once more. If it `computes` with that, nobody may be able to tell
    that it is computed twice."""
    if computes and not _is_of_python(type(x)) and type(x).__module__ != "numpy":
        raise UnsupportedSyntaxError(
            f"the body of a class computes with a {type(x).__name__}, which may be differentiated",
            None,
            "Define the class outside, and pass what it needs as arguments.",
        )
    return x


def check_made(cls: type) -> None:
    """Refuse a class of whose methods some may have been called while it was made, as their results are constants then."""
    given = [type(cls), *(vars(base).get("__init_subclass__") for base in cls.__mro__[1:])]
    named = (vars(type(value)).get("__set_name__") for value in vars(cls).values())
    for found in (*given, *named):
        code = getattr(found, "__func__", found)
        if isinstance(code, type | types.FunctionType) and code is not type and not _is_of_python(code):
            raise UnsupportedSyntaxError(
                f"{code.__qualname__} runs while the class {cls.__name__} is made, whose methods use variables of the function"
                " around it",
                None,
                "Define the class outside, and pass what it needs as arguments.",
            )


def _is_of_python(code: Any) -> bool:
    module = str(code.__module__).partition(".")[0]
    return module in sys.stdlib_module_names - {"__main__", "enum"}


def assign_again(cls: type, name: str, value: Any) -> None:
    """cls.name = value, where the body of the class has assigned the same: what is differentiated has its cotangent by this."""


non_differentiable(given_to_body, check_made)


@final
class Later:
    """What a function holds, while it is made, for one that is defined after it."""


LATER = Later()


def tie(names: tuple[str, ...], *functions: types.FunctionType) -> tuple[types.FunctionType, ...]:
    """The functions, which are defined one after the other under these names, once they have got each other."""
    for function in functions:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name in names and cell.cell_contents is LATER:
                cell.cell_contents = functions[names.index(name)]
    return functions


@rrule.register(tie)
def tie_rrule(names: tuple[str, ...], *functions: types.FunctionType) -> Any:
    """Functions that hold each other have cotangents that hold each other's. Each gets its own, free of the others."""

    def tie_pullback(y_bar: Any) -> tuple[Any, ...]:
        bars = [bar if isinstance(bar, Tangent) else None for bar in y_bar or (None,) * len(functions)]
        # A function may be found again in what is taken out of another one, but the cotangents are finite.
        while any(_take_out(bars, functions)):
            pass
        return NoTangent(), NoTangent(), *bars

    return tie(names, *functions), tie_pullback


def _take_out(bars: list[Any], functions: Sequence[types.FunctionType]) -> Iterator[bool]:
    for index, holder in enumerate(functions):
        for other, function in enumerate(functions):
            if function is not holder:
                bars[index], found = without(bars[index], holder, function)
                bars[other] = accumulate(bars[other], found)
                yield found is not None


def without(bar: Any, holder: Any, function: types.FunctionType) -> tuple[Any, Any]:
    """The cotangent of a closure without that of a function which it holds, maybe inside other closures; and the latter."""
    if not isinstance(bar, Tangent) or not isinstance(holder, types.FunctionType):
        return bar, None
    cells = dict(zip(holder.__code__.co_freevars, holder.__closure__ or (), strict=True))
    fields: dict[str, Any] = {}
    total: Any = None
    for name, part in bar.items():
        held = cells[name].cell_contents if name in cells else None
        part, found = (None, part) if held is function else without(part, held, function)
        total = accumulate(total, found)
        if part is not None:
            fields[name] = part
    return (Tangent(type(holder), fields) if fields else None), total


examples(tie, (("without",), without))


def annotated(function: types.FunctionType, names: tuple[str, ...], *values: Any) -> types.FunctionType:
    """The function, which was made just now, with its annotations: decorators may read them."""
    function.__annotations__ = dict(zip(names, values, strict=True))
    return function


@rrule.register(annotated)
def annotated_rrule(function: types.FunctionType, names: tuple[str, ...], *values: Any) -> Any:
    """The function's own cotangent."""

    def annotated_pullback(y_bar: Any) -> tuple[Any, ...]:
        return NoTangent(), y_bar, NoTangent(), *(NoTangent() for _ in values)

    return annotated(function, names, *values), annotated_pullback


examples(annotated, (without, ("bar", "return"), float, float))
