"""Entries of the table of rules: for which calls a rule is, and which of several is the most specific.

    @rrule.register(f)                  for all calls           behind every other
    @rrule.register(f, np.ndarray)      by the types of the first arguments, as methods are found by classes
    @rrule.register(f, arity=2)         for calls with so many arguments
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, final

from microgradpy.dataclasses import dataclass

Rule = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
ArgumentTypes = tuple[type | None, ...]


@final
class Unwritten:
    """A rule that is written when it is first asked for."""

    def __init__(self, write: Callable[[], Rule]) -> None:
        self._write = write
        self._rules: list[Rule] = []

    def rule(self) -> Rule:
        if not self._rules:
            self._rules.append(self._write())
        return self._rules[0]  # of another thread that was first


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A rule, and the calls that it is for."""

    types: tuple[type, ...]
    arity: int | None
    declared: Rule | Unwritten | None
    """None where the body is differentiated all the same."""
    options: bool = False

    @property
    def rule(self) -> Rule | None:
        return self.declared.rule() if isinstance(self.declared, Unwritten) else self.declared

    def rank(self, argument_types: ArgumentTypes) -> tuple[int, ...] | None:
        """How far the arguments are from those the rule asks for (smaller is more specific); None if the rule does not
        apply. A rule that asks for nothing is behind every rule that asks for something."""
        if len(self.types) > len(argument_types) or self.arity not in (None, len(argument_types)):
            return None
        distances = []
        for wanted, given in zip(self.types, argument_types, strict=False):
            if wanted is object:
                distances.append(_FAR)
            elif given is None or not issubclass(given, wanted):
                return None
            else:
                # A virtual subclass is not in the mro; it comes after the real ones.
                distances.append(given.__mro__.index(wanted) if wanted in given.__mro__ else _FAR - 1)
        distances += [_FAR] * (len(argument_types) - len(distances))
        return (*distances, 1 if self.arity is None else 0)


_FAR = 1000


def accepts(rule: Rule, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a rule can be called with these arguments, as far as its signature tells."""
    try:
        inspect.signature(rule).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # it has none
        return True
    return True


def hashes_itself(f: Any) -> bool:
    """Whether code of the user's runs when a callable is hashed or compared: looking it up in a table would be a call that
    his program does not make. (What `dataclass` writes reads fields only.)"""
    cls = type(f)
    if cls in _PLAIN_CALLABLES:
        return False
    methods = (cls.__hash__, cls.__eq__)
    return any(isinstance(method, FunctionType) and method.__code__.co_filename != "<string>" for method in methods)


_PLAIN_CALLABLES = frozenset({FunctionType, BuiltinFunctionType, MethodType, type})


def check_hashable(f: Any) -> None:
    try:
        hash(f)
    except TypeError:
        raise TypeError(f"{type(f).__name__} objects are unhashable, so {f!r} cannot be given a rule") from None
