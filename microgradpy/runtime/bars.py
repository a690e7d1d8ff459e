"""What the pullback of any call returns, and how one call is resolved from within another."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, final

from microgradpy.dataclasses import dataclass
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
"""`back(y_bar)`; in a run that tracks writes `back(y_bar, shadows)`, which is called whatever `y_bar` is: the call may have
effects to undo, and its value may have its cotangent in the shadows."""
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


def _plainly(f: Callable[[Any], Any], x: Any) -> Any:
    return f(x)


def _as_it_is(back: Back, f: Any, x: Any) -> AbstractContextManager[None]:
    return nullcontext()


@final
@dataclass(frozen=True, slots=True)
class Resolve:
    """The dispatcher, as those modules get it that it calls itself. `tracks`: what is written is tracked;
    `may_write` says whether some callables may write. Where somebody goes on after exceptions, `attempt` gives a `Failure` for
    the value of a call that raises, who calls by `expect` undoes what was done by then, and what is done in a `undone_by` has
    been done by one call."""

    call: Callable[..., Resolved]
    tracks: bool = False
    may_write: Callable[[list[Any]], bool] = bool
    attempt: Callable[[Any, tuple[Any, ...]], Resolved] | None = None
    expect: Callable[[Callable[[Any], Any], Any], Any] = _plainly
    undone_by: Callable[[Back, Any, Any], AbstractContextManager[None]] = _as_it_is

    def __call__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        return self.call(f, args, kwargs)


def is_nothing(bar: Any, shadows: tuple[Any, ...]) -> bool:
    """Whether a call need not be undone: nothing depends on its value, and it has written nothing."""
    return not shadows and is_structural_zero(bar)


def content(y: Any, y_bar: Any, shadows: tuple[Any, ...]) -> Any:
    """The cotangent of an object that a call has made, as far as it belongs to values: a list, dict, array or Tangent."""
    return shadows[0].content(y, y_bar) if shadows else y_bar


def given_to(x: Any, bar: Any, shadows: tuple[Any, ...]) -> Any:
    """What a pullback that made `x` is given for a cotangent of it."""
    return shadows[0].settle(x, bar) if shadows else bar


def nothing(count: int) -> Back:
    """The pullback of a call of `count` arguments through which no derivative flows."""
    return lambda y_bar, *shadows: Bars(None, (None,) * count, {})
