"""What generated code calls for statements that only make an object: imports, classes and `type` statements."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from microgradpy.rules.registry import non_differentiable


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
        found = sys.modules.get(f"{getattr(module, '__name__', shown)}.{attribute}")
    if found is None:
        file = getattr(module, "__file__", None)
        message = f"cannot import name {attribute!r} from {shown!r} ({file or 'unknown location'})"
        raise ImportError(message, name=shown, path=file)
    return found


non_differentiable(import_module, import_from)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Maker:
    """A constant of generated code that runs a statement of the user's as Python does; no derivative goes through it."""

    make: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.make(*args)


def class_maker(code: types.CodeType, namespace: dict[str, Any], own_name: str) -> Maker:
    """Makes a class from the code of its body, as a `class` statement does. `own_name` is the variable that the finished
    class is bound to: methods that mention it find the class."""

    def make_class(
        captured: Sequence[Any],
        decorators: Sequence[Callable[[Any], Any]],
        bases: Sequence[Any],
        keywords: Mapping[str, Any],
    ) -> Any:
        values = iter(captured)
        cells = {name: types.CellType() if name == own_name else types.CellType(next(values)) for name in code.co_freevars}
        body = types.FunctionType(code, namespace, code.co_name, None, tuple(cells.values()))
        made = builtins.__build_class__(body, code.co_name, *bases, **keywords)
        for decorator in reversed(decorators):
            made = decorator(made)
        if own_name in cells:
            cells[own_name].cell_contents = made
        return made

    return Maker(make_class)
