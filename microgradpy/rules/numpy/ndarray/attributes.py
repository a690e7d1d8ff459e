"""Attributes of arrays and of their scalars."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.registry import attribute_rule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.types import NoTangent


@attribute_rule(np.ndarray, "T")
@attribute_rule(np.generic, "T")
def transposed_rrule(self):
    """self_bar = y_bar.T."""

    def transposed_pullback(y_bar):
        return NoTangent(), np.transpose(y_bar)

    return self.T, transposed_pullback


@attribute_rule(np.ndarray, "mT")
def matrix_transposed_rrule(self):
    """self_bar = y_bar.mT."""

    def matrix_transposed_pullback(y_bar):
        return NoTangent(), np.swapaxes(y_bar, -1, -2)

    return self.mT, matrix_transposed_pullback


@attribute_rule(np.ndarray, "real")
@attribute_rule(np.generic, "real")
def real_part_rrule(self):
    """self_bar = y_bar."""

    def real_part_pullback(y_bar):
        return NoTangent(), y_bar

    return self.real, real_part_pullback


@attribute_rule(np.ndarray, "imag")
@attribute_rule(np.generic, "imag")
def imaginary_part_rrule(self):
    """self_bar = i y_bar, whose real part, all that a real array has, is 0."""

    def imaginary_part_pullback(y_bar):
        return NoTangent(), unbroadcast(1j * y_bar, self)

    return self.imag, imaginary_part_pullback
