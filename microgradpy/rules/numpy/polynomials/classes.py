"""The series of numpy.polynomial: y = sum_k c_k B_k(x), for the powers and the families of orthogonal polynomials.

Their sums, products and derivatives are differentiated through NumPy's own text; what is evaluated or integrated has rules.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from microgradpy.errors import MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.types import NoTangent

_FAMILIES: tuple[tuple[ModuleType, str], ...] = (
    (polynomial, "poly"),
    (chebyshev, "cheb"),
    (legendre, "leg"),
    (hermite, "herm"),
    (hermite_e, "herme"),
    (laguerre, "lag"),
)

_VECTOR = np.array([0.7, -0.4, 0.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


def _value(evaluate: Callable[..., Any], differentiate: Callable[..., Any], basis: Callable[..., Any]) -> Rule:
    def series_rrule(x, c, tensor=True):
        """x_bar = y_bar * sum_k c_k B_k'(x), c_k_bar = y_bar * B_k(x), summed over what c_k was repeated for."""

        def series_pullback(y_bar):
            points, coefficients = in_precision_of(y_bar, np.asarray(x)), np.asarray(c)
            slope = evaluate(points, differentiate(coefficients), tensor) if len(coefficients) > 1 else 0.0 * y_bar
            functions = np.moveaxis(basis(points, len(coefficients) - 1), -1, 0)
            slope = conj(in_precision_of(y_bar, slope))
            return NoTangent(), unbroadcast(y_bar * slope, x), series_bar(y_bar, c, functions, tensor), NoTangent()

        return evaluate(x, c, tensor), series_pullback

    return series_rrule


def series_bar(y_bar: Any, c: Any, functions: np.ndarray, tensor: bool) -> Any:
    """The cotangent of the coefficients; with `tensor` each was multiplied by the functions at all points."""
    rest = np.shape(c)[1:]
    if tensor:
        axes = tuple(range(len(rest), np.ndim(y_bar)))
        each = [np.sum(y_bar * conj(one), axis=axes) for one in functions]
    else:
        each = [unbroadcast(y_bar * conj(one), np.empty(rest, np.asarray(c).dtype)) for one in functions]
    return unbroadcast(np.reshape(np.stack(each), np.shape(c)), c)


def _integral(integrate: Callable[..., Any], evaluate: Callable[..., Any]) -> Rule:
    def integral_rrule(c, m=1, k=[], lbnd=0, scl=1, axis=0):  # noqa: B006 - the parameters are NumPy's
        """Each of the m integrals is linear in scl c and adds k_i - s(lbnd) in front, whose derivative by lbnd is -scl c."""
        y = integrate(c, m, k, lbnd, scl, axis)
        stages = [np.moveaxis(np.asarray(c), axis, 0)]
        constants = [*np.ravel(k).tolist(), *[0.0] * m][:m]
        for constant in constants:
            stages.append(integrate(stages[-1], 1, [constant], lbnd, scl))

        def integral_pullback(y_bar):
            bar = np.moveaxis(y_bar, axis, 0)
            k_bars: list[Any] = []
            lower_bar = scale_bar = 0.0
            for stage in reversed(stages[:-1]):
                if len(bar) != len(stage) + 1:
                    raise MissingRuleError("a series that is 0 is integrated, which NumPy leaves as it is", None, _REMEDY)
                k_bars.insert(0, np.sum(bar[0]))
                lower_bar = lower_bar - np.sum(bar[0] * conj(scl * evaluate(lbnd, stage)))
                matrix = in_precision_of(bar, integrate(np.eye(len(stage)), 1, [], lbnd))
                scaled_bar = np.tensordot(matrix.T, bar, 1)
                scale_bar = scale_bar + np.sum(scaled_bar * conj(stage))
                bar = scaled_bar * conj(scl)
            constants_bar = k_bars[: np.size(k)] if isinstance(k, list | tuple) else k_bars[0]
            bounds = (unbroadcast(lower_bar, lbnd), unbroadcast(scale_bar, scl))
            return NoTangent(), unbroadcast(np.moveaxis(bar, 0, axis), c), NoTangent(), constants_bar, *bounds, NoTangent()

        return y, integral_pullback

    return integral_rrule


_REMEDY = "Give it a coefficient that is not 0."
for _module, _name in _FAMILIES:
    _evaluate: Any = getattr(_module, _name + "val")
    _integrate: Any = getattr(_module, _name + "int")
    rrule.register(_evaluate)(_value(_evaluate, getattr(_module, _name + "der"), getattr(_module, _name + "vander")))
    examples(_evaluate, (0.4, _VECTOR), (_VECTOR, _VECTOR), (_TABLE, _VECTOR), (_VECTOR, _TABLE), (_TABLE, _TABLE))
    examples(_evaluate, (_VECTOR, _TABLE, False), (0.4, [0.5, 1.5]), (0.4 + 0.3j, _VECTOR), (_VECTOR, [0.5]))
    examples(_evaluate, (_VECTOR + 0.2j, _VECTOR - 0.4j), (np.zeros(0), _VECTOR))
    rrule.register(_integrate)(_integral(_integrate, _evaluate))
    examples(_integrate, (_VECTOR,), (_TABLE, 2), (_VECTOR, 1, [2.0], -1.0, 3.0), (_VECTOR, 2, [2.0, 0.5], 0.7, 1.5))
    examples(_integrate, (_TABLE, 2, [], 0.3, 2.0, 1), (_VECTOR, 3, (1.5,), 0.2), (_VECTOR, 1, 2.5))
