"""Cotangents of any structure (of closures, tuples, dicts) as vectors, for rules that integrate or combine them."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.tangents.thunks import accumulate, computed
from microgradpy.tangents.types import NotImplementedTangent, Tangent, is_structural_zero


def scaled(bar: Any, factor: float) -> Any:
    """A cotangent of any structure times a number."""
    bar = computed(bar)
    if is_structural_zero(bar):
        return None
    if isinstance(bar, Tangent):
        return Tangent(bar.primal_type, {name: scaled(part, factor) for name, part in bar.items()})
    if isinstance(bar, dict):
        return {key: scaled(part, factor) for key, part in bar.items()}
    if isinstance(bar, list | tuple):
        return type(bar)([scaled(part, factor) for part in bar])
    return bar * factor


def combined(parts: list[tuple[float, tuple[Any, ...]]]) -> tuple[Any, ...]:
    """The sum of tuples of cotangents, each times a number."""
    total: tuple[Any, ...] = (None,) * len(parts[0][1])
    for factor, bars in parts:
        total = tuple(accumulate(a, scaled(b, factor)) for a, b in zip(total, bars, strict=True))
    return total


def flat(bar: Any, template: Any) -> np.ndarray:
    """The numbers in a cotangent, in the order of the template, which has a place for each."""
    if is_structural_zero(template):
        return np.zeros(0)
    if isinstance(template, Tangent | dict):
        parts = [flat(None if is_structural_zero(bar) else bar.get(key), part) for key, part in template.items()]
        return np.concatenate([np.zeros(0), *parts])
    if isinstance(template, list | tuple):
        items = [None] * len(template) if is_structural_zero(bar) else bar
        return np.concatenate([np.zeros(0), *map(flat, items, template)])
    if isinstance(template, NotImplementedTangent):
        template.refuse()
    refuse_complex(template)
    return np.zeros(np.size(template)) if is_structural_zero(bar) else np.ravel(np.asarray(bar, float))


def unflat(vector: np.ndarray, template: Any) -> Any:
    """The cotangent of the structure of the template that has these numbers."""
    return _taken(vector, 0, template)[0]


def _taken(vector: np.ndarray, start: int, template: Any) -> tuple[Any, int]:
    if is_structural_zero(template):
        return None, start
    if isinstance(template, Tangent | dict):
        fields = {}
        for key, part in template.items():
            fields[key], start = _taken(vector, start, part)
        return (Tangent(template.primal_type, fields) if isinstance(template, Tangent) else fields), start
    if isinstance(template, list | tuple):
        items = []
        for part in template:
            item, start = _taken(vector, start, part)
            items.append(item)
        return type(template)(items), start
    end = start + np.size(template)
    if np.ndim(template) == 0 and not isinstance(template, np.ndarray):
        return float(vector[start]), end
    return np.reshape(vector[start:end], np.shape(template)).astype(np.asarray(template).dtype), end


def refuse_complex(*values: Any) -> None:
    """Refuse complex numbers where the formula is one for real ones."""
    if any(np.iscomplexobj(value) for value in values):
        raise MissingRuleError(
            "a root, minimum or solution of an equation in complex numbers",
            None,
            "Write it in the real and the imaginary part.",
        )


def seed_of(y: Any, vector: np.ndarray) -> Any:
    """A vector as a cotangent of `y`, which a function of the user's returned: a number, an array, a sequence of those."""
    if isinstance(y, list | tuple):
        items, start = [], 0
        for part in y:
            end = start + np.size(part)
            items.append(seed_of(part, vector[start:end]))
            start = end
        return type(y)(items)
    if isinstance(y, np.ndarray):
        return np.reshape(vector, y.shape)
    return float(np.reshape(vector, ()))


def given_to_args(args: Any, bars: tuple[Any, ...]) -> Any:
    """The cotangent of `args=`, a tuple or the only argument itself, from those of its items."""
    if isinstance(args, tuple):
        return tuple(bars)
    return bars[0] if bars else None


def unpacked_bars(args: Any, bars: tuple[Any, ...]) -> Any:
    """The cotangent of `args=` where SciPy unpacks it whatever it is: a tuple, a list or an array."""
    if isinstance(args, np.ndarray):
        return np.array([0.0 if is_structural_zero(bar) else bar for bar in map(computed, bars)])
    return list(bars) if isinstance(args, list) else tuple(bars)


def as_tuple(args: Any) -> tuple[Any, ...]:
    """`args=` as SciPy takes it: the only argument need not be put into a tuple."""
    return args if isinstance(args, tuple) else (args,)
