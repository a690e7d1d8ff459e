"""What the pullback of any call returns, and how one call is resolved from within another."""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, final

from microgradpy.tangents.types import is_structural_zero


@final
class Bars(NamedTuple):
    """The cotangents that a pullback returns: of the callee, of the positional and of the keyword arguments. `fresh` says
    of which arguments they are arrays that nobody else holds; of none if it is empty. `selects`: they may have zeros of a
    selection."""

    function: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    fresh: tuple[bool, ...] = ()
    selects: bool = True


Back = Callable[..., Bars]
"""`back(y_bar, shadows=None)`. There are shadows in a run that tracks writes, where it is called whatever `y_bar` is: the call
may have effects to undo, and its value may have its cotangent in the shadows."""
Wanted = tuple[bool, ...] | None
Resolved = tuple[Any, Back]
"""The value of a call, and its pullback."""


class Entry(Protocol):
    """The compiler's entry: differentiate a Python function through its own source."""

    def __call__(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        wanted: Wanted,
        keywords_wanted: bool,
    ) -> Resolved: ...


class Resolve(ABC):
    """The dispatcher (`runtime.dispatch`), as those modules get it that it calls itself. `tracks`: what is written is
    tracked."""

    tracks = False

    @abstractmethod
    def __call__(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None, keywords_wanted: bool = True
    ) -> Resolved:
        """The value of a call and its pullback. `wanted` says which positional arguments are differentiated (all unless
        given)."""

    def may_write(self, callables: list[Any]) -> bool:
        """Whether some callables may write."""
        return bool(callables)

    def attempt(self, f: Any, args: tuple[Any, ...]) -> Resolved:
        """The same of a call; where somebody goes on after exceptions, its value is a `Failure` if it raises."""
        return self(f, args, {})

    def expect(self, f: Callable[[Any], Any], x: Any) -> Any:
        """f(x), of which the caller undoes what was done by then if it raises."""
        return f(x)

    def undone_by(self, back: Back, f: Any, *args: Any) -> AbstractContextManager[None]:
        """What is done inside the block has been done by one call."""
        return nullcontext()


Pullback = Callable[..., tuple[Any, ...]]
"""The same for text that has the arguments one by one: it returns the cotangents of the callee and of each argument."""


def with_bars(made: Resolved, count: int) -> tuple[Any, Pullback]:
    """A call of so many arguments, for such text."""
    y, back = made

    def pullback(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        if shadows is None and is_structural_zero(y_bar):
            return (None,) * (1 + count)
        bars = back(y_bar, shadows)
        given = bars.arguments[:count]
        return (bars.function, *given, *(None,) * (count - len(given)))

    return y, pullback


def is_nothing(bar: Any, shadows: Any) -> bool:
    """Whether a call need not be undone: nothing depends on its value, and it has written nothing."""
    return shadows is None and is_structural_zero(bar)


def content(y: Any, y_bar: Any, shadows: Any) -> Any:
    """The cotangent of an object that a call has made, as far as it belongs to values: a list, dict, array or Tangent."""
    return shadows.content(y, y_bar) if shadows is not None else y_bar


def given_to(x: Any, bar: Any, shadows: Any) -> Any:
    """What a pullback that made `x` is given for a cotangent of it."""
    return shadows.settle(x, bar) if shadows is not None else bar


def nothing(count: int) -> Back:
    """The pullback of a call of `count` arguments through which no derivative flows."""
    return lambda y_bar, shadows=None: Bars(None, (None,) * count, {})
