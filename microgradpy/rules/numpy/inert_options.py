"""Options of NumPy's functions through which no derivative flows: dtypes, memory layouts, algorithms.

The value is that of the user's call. The pullback is that of the plain call, whose value differs from it in the dtype at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.entries import Rule, accepts
from microgradpy.rules.numpy.options import fitted, rounds
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import real_like
from microgradpy.tangents.types import NoTangent, is_structural_zero

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_SQUARE = np.array([[2.0, 0.3, -0.4], [0.5, 1.5, 0.2], [-0.1, 0.6, 3.0]])
_HARMLESS: tuple[tuple[str, Any], ...] = (("out", None), ("overwrite_input", False), ("weights", None))
"""Options with the value for which they do nothing."""


def _inert(f: Callable[..., Any], parameters: str, inert: str) -> Rule:
    """The rule for calls of `f`, with these parameters, where some of the `inert` ones are given."""
    names = parameters.split()
    ignored = frozenset(inert.split())

    def options_rrule(*args, **kwargs):
        """The cotangents of the call without the options."""
        options = {**dict(zip(names, args, strict=False)), **kwargs}
        check_harmless(f, options)
        y = f(*args, **kwargs)
        count = next((place for place, name in enumerate(names[: len(args)]) if name in ignored), len(args))
        named = {name: value for name, value in options.items() if name not in (*ignored, *names[:count])}
        plain = rrule.find(f, tuple(map(type, args[:count])))
        if plain is None or not accepts(plain, args[:count], named):
            raise MissingRuleError(f"the rule of {f.__name__} does not take these options", None, "Leave them out.")
        y_plain, pullback = plain(*args[:count], **named)

        def options_pullback(y_bar):
            if rounds(y_plain, y):
                return (NoTangent(),) * (1 + len(args))
            bars = pullback(real_like(y_bar, y_plain))[1 : 1 + count]
            fit = [as_it_is_or_fitted(bar, x) for bar, x in zip(bars, args, strict=False)]
            return NoTangent(), *fit, *(NoTangent(),) * (len(args) - len(fit))

        return y, options_pullback

    return options_rrule


def as_it_is_or_fitted(bar: Any, x: Any) -> Any:
    return bar if is_structural_zero(bar) or isinstance(bar, list | tuple) else fitted(bar, x)


def check_harmless(f: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse options by which the call does something else, or writes into an argument."""
    for name, harmless in _HARMLESS:
        if name in options and options[name] is not harmless:
            raise MissingRuleError(f"{f.__name__} with {name}={options[name]}", None, "Leave the option out.")


_TABLE_OF_OPTIONS: tuple[tuple[Any, str, str], ...] = (
    (np.asarray, "a dtype order", "order copy device like"),
    (np.asanyarray, "a dtype order", "order copy device like"),
    (np.ascontiguousarray, "a dtype", "like"),
    (np.copy, "a order subok", "order subok"),
    (np.ndarray.copy, "self order", "order"),
    (np.ndarray.astype, "self dtype order casting subok copy", "order casting subok copy"),
    (np.generic.astype, "self dtype order casting subok copy", "order casting subok copy"),
    (np.astype, "x dtype", "copy device"),
    (np.reshape, "a shape order", "copy"),
    (np.ndarray.reshape, "self shape", "copy"),
    (np.broadcast_to, "array shape subok", "subok"),
    (np.concatenate, "arrays axis", "dtype casting"),
    (np.stack, "arrays axis", "dtype casting"),
    (np.hstack, "tup", "dtype casting"),
    (np.vstack, "tup", "dtype casting"),
    (np.cumsum, "a axis dtype out", "dtype out"),
    (np.cumprod, "a axis dtype out", "dtype out"),
    (np.ndarray.cumsum, "self axis dtype out", "dtype out"),
    (np.ndarray.cumprod, "self axis dtype out", "dtype out"),
    (np.cumulative_sum, "x", "dtype out"),
    (np.cumulative_prod, "x", "dtype out"),
    (np.nancumsum, "a axis dtype out", "dtype out"),
    (np.nancumprod, "a axis dtype out", "dtype out"),
    (np.trace, "a offset axis1 axis2 dtype out", "dtype out"),
    (np.ndarray.trace, "self offset axis1 axis2 dtype out", "dtype out"),
    (np.sort, "a axis kind order", "kind order stable"),
    (np.partition, "a kth axis kind order", "kind order"),
    (np.median, "a axis out overwrite_input keepdims", "out overwrite_input"),
    (np.nanmedian, "a axis out overwrite_input keepdims", "out overwrite_input"),
    (np.cov, "m y rowvar bias ddof fweights aweights", "dtype"),
    (np.corrcoef, "x y rowvar bias ddof", "dtype bias ddof"),
    (np.quantile, "a q axis out overwrite_input method keepdims weights", "out overwrite_input weights"),
    (np.percentile, "a q axis out overwrite_input method keepdims weights", "out overwrite_input weights"),
    (np.arange, "start stop step", "dtype device like"),
    (np.full, "shape fill_value dtype order", "order device like"),
)
for _f, _parameters, _options in _TABLE_OF_OPTIONS:
    rrule.register(_f, options=True)(_inert(_f, _parameters, _options))
_joining: Any
_running: Any
_middle: Any
_quantile: Any
for _maker in (np.asarray, np.asanyarray):
    examples(_maker, (_TABLE,), (_TABLE, float), copy=True)
example(np.ascontiguousarray, _TABLE, like=_TABLE)
examples(np.copy, (_TABLE, "F"), (_VECTOR, "K", True))
examples(np.ndarray.copy, (_TABLE, "F"))
examples(np.ndarray.astype, (_TABLE, float, "F"), (_TABLE, complex, "K", "safe", False, True), (_TABLE, int, "C"))
example(np.generic.astype, np.float64(1.5), np.float64, copy=False)
example(np.astype, _TABLE, np.float64, copy=False, device="cpu")
example(np.reshape, _TABLE, (3, 2), copy=True)
example(np.ndarray.reshape, _TABLE, (3, 2), copy=True)
example(np.broadcast_to, _VECTOR, (2, 3), subok=True)
for _joining in (np.concatenate, np.stack, np.hstack, np.vstack):
    example(_joining, [_TABLE, 2.0 * _TABLE], dtype=complex)
    example(_joining, [_VECTOR, _VECTOR], casting="same_kind")
    example(_joining, (_VECTOR, _VECTOR), dtype=int, casting="unsafe")
for _running in (np.cumsum, np.cumprod, np.ndarray.cumsum, np.ndarray.cumprod, np.nancumsum, np.nancumprod):
    examples(_running, (_TABLE, 1, complex), (_TABLE, 0, None, None))
for _running in (np.cumulative_sum, np.cumulative_prod):
    example(_running, _TABLE, axis=1, dtype=complex)
for _tracing in (np.trace, np.ndarray.trace):
    examples(_tracing, (_SQUARE, 1, 0, 1, complex))
examples(np.sort, (_TABLE, 0, "stable"))
examples(np.partition, (_VECTOR, 1, -1, "introselect"))
for _middle in (np.median, np.nanmedian):
    example(_middle, _TABLE, 1, overwrite_input=False)
examples(np.cov, (_TABLE,), dtype=float)
examples(np.corrcoef, (_TABLE,), dtype=float)
for _quantile, _q in ((np.quantile, 0.3), (np.percentile, 30)):
    example(_quantile, _VECTOR, _q, overwrite_input=False)
example(np.linspace, 0.5, 2.0, 4, dtype=complex)
examples(np.arange, (0.5, 3.7), (0.5, 3.7, 0.6), dtype=complex)
example(np.full, (2, 3), _VECTOR, order="F")
