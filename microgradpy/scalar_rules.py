"""Both rules of an elementwise function from its partial derivatives."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from microgradpy.codegen.loading import load
from microgradpy.rules.registry import frule, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.types import NoTangent

_TEXT = """\
def {name}_rrule({parameters}):
    y = {name}({parameters})

    def {name}_pullback(y_bar):
        return NoTangent(), {cotangents}

    return y, {name}_pullback


def {name}_frule({parameters}):
    y = {name}({parameters})

    def {name}_pushforward(f_dot, {tangents}):
        return {sum}

    return y, {name}_pushforward
"""


def scalar_rule(f: Callable[..., Any], *partials: Any) -> None:
    """Declare the reverse and the forward rule of a function of numbers that works on arrays element by element, from its
    partial derivatives: one per positional argument, as a function of all of them or as a number. A derivative with a
    parameter `y` is given the function's value by that name:

        scalar_rule(np.arctan2, lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b))
        scalar_rule(special.expit, lambda x, *, y: y * (1.0 - y))

    Complex arguments are differentiated as those of a holomorphic function. Raises TypeError for a derivative that is neither
    callable nor a number."""
    if not partials:
        raise TypeError("scalar_rule needs the derivative with respect to each argument")
    name = re.sub(r"\W+", "_", str(getattr(f, "__name__", type(f).__name__))).strip("_") or "f"
    arguments = [f"x{number}" for number in range(1, 1 + len(partials))]
    factors = [_factor(f"d{number}", partial, arguments) for number, partial in enumerate(partials, 1)]
    text = _TEXT.format(
        name=name,
        parameters=", ".join(arguments),
        cotangents=", ".join(f"unbroadcast(y_bar * conj({d}), {x})" for d, x in zip(factors, arguments, strict=True)),
        tangents=", ".join(f"{x}_dot" for x in arguments),
        sum=" + ".join(f"{d} * {x}_dot" for d, x in zip(factors, arguments, strict=True)),
    )
    meanings = {f"d{number}": partial for number, partial in enumerate(partials, 1)}
    helpers = {"NoTangent": NoTangent, "conj": conj, "unbroadcast": unbroadcast}
    namespace = load(text, f"{name}_rules", {**helpers, **meanings, name: f})
    rrule.register(f)(namespace[f"{name}_rrule"])
    frule.register(f)(namespace[f"{name}_frule"])


def _factor(name: str, partial: Any, arguments: list[str]) -> str:
    """The text that computes a partial derivative."""
    if isinstance(partial, int | float | complex):
        return name
    if not callable(partial):
        raise TypeError(f"a partial derivative is a function or a number, and this is a {type(partial).__name__}")
    takes_value = "y" in _named_only(partial)
    return f"{name}({', '.join([*arguments, *(['y=y'] if takes_value else [])])})"


def _named_only(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C without a signature
        return []
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
