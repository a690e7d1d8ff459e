"""Cotangents on their way: looking at one, or changing it, where a value is used in the program.

    h = hook(clip, W @ x)      in the backward pass, `clip` is given the cotangent of W @ x, and what it returns goes on
    h = showgrad(W @ x)        in the backward pass, that cotangent is printed
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from microgradpy.boundary import place_of
from microgradpy.errors import CotangentShapeError
from microgradpy.ir.nodes import Location
from microgradpy.rules.registry import examples, frule, non_differentiable, rrule
from microgradpy.runtime.anomaly_reports import text_of
from microgradpy.runtime.frames import is_own
from microgradpy.runtime.markers import RETURN_ARGUMENTS
from microgradpy.runtime.modes import RUN
from microgradpy.state.outside import is_run_going_on
from microgradpy.tangents.projection import check_seed, project
from microgradpy.tangents.types import NoTangent

X = TypeVar("X")


def hook(fn: Callable[[Any], Any], x: X) -> X:
    """`x`. In the backward pass `fn(x_bar)` is called with the cotangent of this use of `x`, as `gradient` would give it;
    unless it returns None, what it returns takes the place of the cotangent. It is not called where no derivative comes back.
    Tangents of forward mode pass. CotangentShapeError if what `fn` returns does not have the structure and shape of `x`."""
    return x


@rrule.register(hook)
def hook_rrule(fn: Callable[[Any], Any], x: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """x_bar = fn(y_bar), or y_bar if that is None."""

    def hook_pullback(y_bar: Any) -> tuple[Any, ...]:
        return NoTangent(), NoTangent(), _changed(fn, x, y_bar)

    return x, hook_pullback


@frule.register(hook)
def hook_frule(fn: Callable[[Any], Any], x: Any) -> tuple[Any, Callable[..., Any]]:
    """The tangent of `x`."""

    def hook_pushforward(f_dot: Any, fn_dot: Any, x_dot: Any) -> Any:
        return x_dot

    return x, hook_pushforward


def _changed(fn: Callable[[Any], Any], x: Any, x_bar: Any) -> Any:
    # What `fn` is given is a copy: it may do with it what it likes.
    given = None if RUN.is_pushing else fn(project(x, x_bar))
    if given is None:
        return x_bar
    try:
        return check_seed(x, given)
    except CotangentShapeError as error:
        found = error.found.replace("the seed", f"what {getattr(fn, '__name__', fn)} returned as the cotangent", 1)
        raise CotangentShapeError(found, None, "Return a cotangent of the structure and shape of the value, or None.") from None


def showgrad(x: X, label: str | None = None) -> X:
    """`x`. In the backward pass the cotangent of this use of `x` is printed, with the line of the program and the text of `x`
    there, or the `label`."""
    return x


@rrule.register(showgrad)
def showgrad_rrule(x: Any, label: str | None = None) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """x_bar = y_bar"""
    where = _here()

    def showgrad_pullback(y_bar: Any) -> tuple[Any, ...]:
        if not RUN.is_pushing:
            _show(where, label, project(x, y_bar))
        return NoTangent(), y_bar, NoTangent()

    return x, showgrad_pullback


@frule.register(showgrad)
def showgrad_frule(x: Any, label: str | None = None) -> tuple[Any, Callable[..., Any]]:
    """The tangent of `x`."""

    def showgrad_pushforward(f_dot: Any, x_dot: Any, label_dot: Any = None) -> Any:
        return x_dot

    return x, showgrad_pushforward


def _here() -> Location | None:
    """The place of the user's call that is running."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own(frame):
        frame = frame.f_back
    return place_of(frame, frame.f_lasti)


def _show(where: Location | None, label: str | None, x_bar: Any) -> None:
    place = "" if where is None else f"{where.file}:{where.line}: "
    name = _shown(where) if label is None else label
    text = str(x_bar)
    print(f"{place}gradient of {name} ={chr(10) if chr(10) in text else ' '}{text}")


def _shown(where: Location | None) -> str:
    """What is shown, as the user wrote it."""
    try:
        node = ast.parse("" if where is None else text_of(where), mode="eval").body
    except (SyntaxError, ValueError):
        return "x"
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "x"


def is_differentiating() -> bool:
    """Whether a function that `pullback`, `gradient`, `jvp` or one of their like was given is being evaluated in this thread.
    False in plain calls, and in what is called in the backward pass."""
    return is_run_going_on()


non_differentiable(is_differentiating)
RETURN_ARGUMENTS.update((hook, showgrad))
examples(hook, (np.positive, 2.0))
examples(showgrad, (2.0,))
