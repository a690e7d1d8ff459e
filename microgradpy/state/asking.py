"""Operators and builtins that ask a class of the user's: by a method of it, which is differentiated, or refused if the method
may write where it cannot be.

    len(x)      x.__len__()
    x < y       x.__lt__(y)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.ir.objects import LEAVES, is_function, static_member
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.array_calls import stands_for_text
from microgradpy.runtime.asking import ANYTHING, ASKED_WITHIN, HINTED, TELLERS, TEXTS, may_ask_anything
from microgradpy.runtime.bars import Resolve, Resolved
from microgradpy.runtime.rule_calls import name_of
from microgradpy.runtime.special_methods import METHODS_ASKED, converted, overloaded, told
from microgradpy.state.object_graph import PLAIN
from microgradpy.state.reachable_writes import any_may_write, own_method_that_writes, writing_function, writing_method
from microgradpy.state.write_handlers import looked_up


def by_asking(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """An operator, or a builtin such as `len`, that a class of the user's answers."""
    made = None
    if not kwargs and looked_up(METHODS_ASKED, f) is not None:
        made = overloaded(f, args, resolve)
    elif args and not kwargs and looked_up(TELLERS, f) is not None:
        made = told(f, args, resolve)
    if made is not None:
        return made
    _refuse_asking(f, args, kwargs)
    # How often a method is asked is the function's affair: it writes nothing.
    return converted(f, args, kwargs, resolve)


def _refuse_asking(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A builtin would call methods or functions that write where they cannot be differentiated."""
    if not kwargs and PLAIN.issuperset(map(type, args)) and not isinstance(f, type):
        return
    if f is np.vectorize or stands_for_text(f):
        return  # the text says what it calls
    names, found = looked_up(ASKED_WITHIN, f), None
    if names is not None:
        # Of a key it is the key that is asked, and a function that gives keys is called as any other.
        given = args[1:2] if "__hash__" in names and len(args) > 1 else args
        found = writing_method((*given, *(value for name, value in kwargs.items() if name != "key")), names)
    elif may_ask_anything(f):
        given = (*args, *kwargs.values())
        found = writing_method(given, ANYTHING) or writing_function(given)
    if isinstance(f, type) and issubclass(f, BaseException):
        check_shown(f, *args)
    hints = looked_up(HINTED, f)
    if hints is not None and args:
        found = writing_method(args[-1:], hints, within=False)
    if found is not None:
        raise MutationError(
            f"{name_of(f)} calls {found.__qualname__}, which may write",
            None,
            "Call it by its name in the differentiated function, or let it compute its answer without writing.",
        )


def truth(x: Any) -> bool:
    """bool(x); refuses a class whose method may write, which nobody would undo."""
    cls = type(x)
    if cls not in LEAVES:
        method = static_member(cls, "__bool__") or static_member(cls, "__len__")
        if is_function(method) and any_may_write([method, x]):
            found = f"an `if` calls {method.__qualname__}, which may write"
            raise MutationError(found, None, "Call the method by its name before.")
    return bool(x)


def check_shown(cls: type, *held: Any) -> None:
    """Refuse to make an exception that holds objects whose texts may write: whoever catches it may print it."""
    method = writing_method(held, TEXTS) or own_method_that_writes(cls, TEXTS)
    if method is not None:
        found = f"{cls.__name__} may be printed, which calls {method.__qualname__}, which may write"
        raise MutationError(found, None, "Give the exception a text, or let the method compute its answer without writing.")


non_differentiable(truth, check_shown)
