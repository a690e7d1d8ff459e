"""The text of a rule that is declared by a formula: what one would write by hand."""

from __future__ import annotations

import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest
from scipy import fft

from microgradpy import rrule

BY_HAND = {
    np.tan: """
def tan_rrule(x):
    z = np.tan(x)

    def tan_pullback(z_bar):
        return NoTangent(), z_bar * conj(1.0 + z * z)

    return z, tan_pullback
""",
    np.log2: """
def log2_rrule(x):
    def log2_pullback(y_bar):
        return NoTangent(), divide(y_bar / LOG_2, conj(x))

    return np.log2(x), log2_pullback
""",
    math.acos: """
def acos_rrule(x):
    def acos_pullback(y_bar):
        return NoTangent(), divide(-y_bar, math.sqrt((1.0 - x) * (1.0 + x)))

    return math.acos(x), acos_pullback
""",
    np.copysign: """
def copysign_rrule(x1, x2):
    z = np.copysign(x1, x2)

    def copysign_pullback(z_bar):
        return NoTangent(), unbroadcast(z_bar * np.sign(x1) * np.sign(z), x1), ZeroTangent()

    return z, copysign_pullback
""",
    np.roll: """
def roll_rrule(a, shift, axis=None):
    def roll_pullback(y_bar):
        return NoTangent(), np.roll(y_bar, np.negative(shift), axis), NoTangent(), NoTangent()

    return np.roll(a, shift, axis=axis), roll_pullback
""",
    np.max: """
def max_rrule(a, axis=None, *, keepdims=False):
    y = np.max(a, axis=axis, keepdims=keepdims)

    def max_pullback(y_bar):
        return NoTangent(), extremum_bar(y_bar, a, y, axis, keepdims), NoTangent()

    return y, max_pullback
""",
    np.fliplr: """
def fliplr_rrule(m):
    def fliplr_pullback(y_bar):
        return NoTangent(), np.fliplr(y_bar)

    return np.fliplr(m), fliplr_pullback
""",
    operator.mul: """
def mul_rrule(x, y):
    def mul_pullback(z_bar):
        return NoTangent(), unbroadcast(z_bar * conj(y), x), unbroadcast(z_bar * conj(x), y)

    return x * y, mul_pullback
""",
    np.ndarray.trace: """
def array_trace_rrule(self, offset=0, axis1=0, axis2=1):
    def array_trace_pullback(y_bar):
        return NoTangent(), BARS

    return self.trace(offset=offset, axis1=axis1, axis2=axis2), array_trace_pullback
""".replace("BARS", "diagonal_bar(np.expand_dims(y_bar, -1), self, offset, axis1, axis2)" + ", NoTangent()" * 3),
    fft.dst: """
def dst_rrule(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    def dst_pullback(y_bar):
        return NoTangent(), BARS

    return fft.dst(x, type=type, n=n, axis=axis, norm=norm, workers=workers, orthogonalize=orthogonalize), dst_pullback
""".replace("BARS", "transposed_bar(y_bar, x, fft.dst, type, (axis,), norm, orthogonalize)" + ", NoTangent()" * 7),
}


@pytest.mark.parametrize("f", BY_HAND, ids=lambda f: f.__name__)
def test_the_rule_is_what_one_would_write(f: Any) -> None:
    linecache.clearcache()  # which somebody may do at any time
    rule = rrule.find(f)
    # As the compiler reads it. `inspect` remembers files by where Python was, and other tests go elsewhere.
    text = "".join(linecache.getlines(rule.__code__.co_filename, rule.__globals__))
    assert text == BY_HAND[f].lstrip("\n")


def test_a_rule_is_of_the_module_that_declares_it() -> None:
    rule = rrule.find(np.tan)
    assert rule.__module__ == "microgradpy.rules.numpy.mathematics.trigonometric"
    assert rule.declaration.__name__ == "tan_derivative"
    assert rrule(np.tan, 0.3)[1].__wrapped__.__module__ == rule.__module__


def test_a_rule_is_written_once() -> None:
    assert rrule.find(np.tan) is rrule.find(np.tan)
