"""scipy.fft, as np.fft: a transform is linear, so its pullback is the conjugate transpose.

`overwrite_x` allows SciPy to write into the argument, which the rules do not make use of. Cosine and sine transforms are in
`fft_real`.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from microgradpy.rules.numpy.fft import OPPOSITE, half_spectrum_bar, real_transform_bar, transformed_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.rules.scipy import fft_real as fft_real
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.types import NoTangent


@rrule.register(fft.fft)
def fft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fft."""

    def fft_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.ifftn, None, (axis,), norm)

    return fft.fft(x, n, axis, norm, workers=workers, plan=plan), fft_pullback


@rrule.register(fft.ifft)
def ifft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifft."""

    def ifft_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.fftn, None, (axis,), norm)

    return fft.ifft(x, n, axis, norm, workers=workers, plan=plan), ifft_pullback


@rrule.register(fft.fft2)
def fft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fft2."""

    def fft2_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.ifftn, s, axes, norm)

    return fft.fft2(x, s, axes, norm, workers=workers, plan=plan), fft2_pullback


@rrule.register(fft.ifft2)
def ifft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifft2."""

    def ifft2_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.fftn, s, axes, norm)

    return fft.ifft2(x, s, axes, norm, workers=workers, plan=plan), ifft2_pullback


@rrule.register(fft.fftn)
def fftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fftn."""

    def fftn_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.ifftn, s, axes, norm)

    return fft.fftn(x, s, axes, norm, workers=workers, plan=plan), fftn_pullback


@rrule.register(fft.ifftn)
def ifftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifftn."""

    def ifftn_pullback(y_bar):
        return NoTangent(), transformed_bar(y_bar, x, np.fft.fftn, s, axes, norm)

    return fft.ifftn(x, s, axes, norm, workers=workers, plan=plan), ifftn_pullback


@rrule.register(fft.rfft)
def rfft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfft."""

    def rfft_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(y_bar, x, (n,), (axis,), norm)

    return fft.rfft(x, n, axis, norm, workers=workers, plan=plan), rfft_pullback


@rrule.register(fft.irfft)
def irfft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfft."""

    def irfft_pullback(y_bar):
        return NoTangent(), real_transform_bar(y_bar, x, (n,), (axis,), norm)

    return fft.irfft(x, n, axis, norm, workers=workers, plan=plan), irfft_pullback


@rrule.register(fft.rfft2)
def rfft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfft2."""

    def rfft2_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(y_bar, x, s, axes, norm)

    return fft.rfft2(x, s, axes, norm, workers=workers, plan=plan), rfft2_pullback


@rrule.register(fft.irfft2)
def irfft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfft2."""

    def irfft2_pullback(y_bar):
        return NoTangent(), real_transform_bar(y_bar, x, s, axes, norm)

    return fft.irfft2(x, s, axes, norm, workers=workers, plan=plan), irfft2_pullback


@rrule.register(fft.rfftn)
def rfftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfftn."""

    def rfftn_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(y_bar, x, s, axes, norm)

    return fft.rfftn(x, s, axes, norm, workers=workers, plan=plan), rfftn_pullback


@rrule.register(fft.irfftn)
def irfftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfftn."""

    def irfftn_pullback(y_bar):
        return NoTangent(), real_transform_bar(y_bar, x, s, axes, norm)

    return fft.irfftn(x, s, axes, norm, workers=workers, plan=plan), irfftn_pullback


@rrule.register(fft.hfft)
def hfft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft."""

    def hfft_pullback(y_bar):
        return NoTangent(), conj(real_transform_bar(y_bar, x, (n,), (axis,), OPPOSITE[norm]))

    return fft.hfft(x, n, axis, norm, workers=workers, plan=plan), hfft_pullback


@rrule.register(fft.ihfft)
def ihfft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft."""

    def ihfft_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(conj(y_bar), x, (n,), (axis,), OPPOSITE[norm])

    return fft.ihfft(x, n, axis, norm, workers=workers, plan=plan), ihfft_pullback


@rrule.register(fft.hfft2)
def hfft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft, along each of the axes."""

    def hfft2_pullback(y_bar):
        return NoTangent(), conj(real_transform_bar(y_bar, x, s, axes, OPPOSITE[norm]))

    return fft.hfft2(x, s, axes, norm, workers=workers, plan=plan), hfft2_pullback


@rrule.register(fft.ihfft2)
def ihfft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft, along each of the axes."""

    def ihfft2_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(conj(y_bar), x, s, axes, OPPOSITE[norm])

    return fft.ihfft2(x, s, axes, norm, workers=workers, plan=plan), ihfft2_pullback


@rrule.register(fft.hfftn)
def hfftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft, along each of the axes."""

    def hfftn_pullback(y_bar):
        return NoTangent(), conj(real_transform_bar(y_bar, x, s, axes, OPPOSITE[norm]))

    return fft.hfftn(x, s, axes, norm, workers=workers, plan=plan), hfftn_pullback


@rrule.register(fft.ihfftn)
def ihfftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft, along each of the axes."""

    def ihfftn_pullback(y_bar):
        return NoTangent(), half_spectrum_bar(conj(y_bar), x, s, axes, OPPOSITE[norm])

    return fft.ihfftn(x, s, axes, norm, workers=workers, plan=plan), ihfftn_pullback


@rrule.register(fft.fftshift)
def fftshift_rrule(x, axes=None):
    """x_bar = y_bar, shifted back."""

    def fftshift_pullback(y_bar):
        return NoTangent(), unbroadcast(np.fft.ifftshift(y_bar, axes), x)

    return fft.fftshift(x, axes), fftshift_pullback


@rrule.register(fft.ifftshift)
def ifftshift_rrule(x, axes=None):
    """x_bar = y_bar, shifted back."""

    def ifftshift_pullback(y_bar):
        return NoTangent(), unbroadcast(np.fft.fftshift(y_bar, axes), x)

    return fft.ifftshift(x, axes), ifftshift_pullback


_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_STACK = np.cos(np.arange(12.0) * 1.3).reshape(2, 3, 2)
_COMPLEX = _TABLE + 1j * _TABLE[::-1] ** 2
_FLOAT32 = _TABLE.astype(np.float32)
for _line in (fft.fft, fft.ifft, fft.rfft, fft.irfft, fft.hfft, fft.ihfft):
    examples(_line, (_VECTOR,), (_TABLE, 3), (_TABLE, 7), (_STACK, 4, -2), (_VECTOR, 4, -1, "ortho"), (_FLOAT32,))
    example(_line, _VECTOR, norm="forward")
for _line in (fft.fft, fft.ifft, fft.irfft, fft.hfft):
    examples(_line, (_COMPLEX,), (_COMPLEX, 5), (_COMPLEX, 7, 0))
for _area in (fft.fft2, fft.ifft2, fft.rfft2, fft.irfft2, fft.hfft2, fft.ihfft2):
    examples(_area, (_TABLE,), (_TABLE, (2, 5)), (_STACK, (4, 3), (0, -1)), (_TABLE, None, (1, 0), "ortho"))
for _grid in (fft.fftn, fft.ifftn, fft.rfftn, fft.irfftn, fft.hfftn, fft.ihfftn):
    examples(_grid, (_TABLE,), (_STACK,), (_STACK, (2, 4)), (_STACK, None, (-1,), "forward"))
for _complex in (fft.fft2, fft.ifftn, fft.irfft2, fft.irfftn, fft.hfft2, fft.hfftn):
    examples(_complex, (_COMPLEX,), (_COMPLEX, (4, 6), (1, 0)))
for _shift in (fft.fftshift, fft.ifftshift):
    examples(_shift, (_VECTOR,), (_TABLE, 0), (_COMPLEX, -1))
