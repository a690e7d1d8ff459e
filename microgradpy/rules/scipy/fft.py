"""scipy.fft, as np.fft: a transform is linear, so its pullback is the conjugate transpose.

`overwrite_x` allows SciPy to write into the argument, which the rules do not make use of. Cosine and sine transforms are in
`fft_real`.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.fft import OPPOSITE, half_spectrum_bar, real_transform_bar, transformed_bar
from microgradpy.rules.registry import example, examples
from microgradpy.rules.scipy import fft_real as fft_real
from microgradpy.tangents.arithmetic import conj, unbroadcast


@pullback(fft.fft)
def fft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fft."""
    return transformed_bar(y_bar, x, np.fft.ifftn, None, (axis,), norm)


@pullback(fft.ifft)
def ifft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifft."""
    return transformed_bar(y_bar, x, np.fft.fftn, None, (axis,), norm)


@pullback(fft.fft2)
def fft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fft2."""
    return transformed_bar(y_bar, x, np.fft.ifftn, s, axes, norm)


@pullback(fft.ifft2)
def ifft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifft2."""
    return transformed_bar(y_bar, x, np.fft.fftn, s, axes, norm)


@pullback(fft.fftn)
def fftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.fftn."""
    return transformed_bar(y_bar, x, np.fft.ifftn, s, axes, norm)


@pullback(fft.ifftn)
def ifftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ifftn."""
    return transformed_bar(y_bar, x, np.fft.fftn, s, axes, norm)


@pullback(fft.rfft)
def rfft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfft."""
    return half_spectrum_bar(y_bar, x, (n,), (axis,), norm)


@pullback(fft.irfft)
def irfft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfft."""
    return real_transform_bar(y_bar, x, (n,), (axis,), norm)


@pullback(fft.rfft2)
def rfft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfft2."""
    return half_spectrum_bar(y_bar, x, s, axes, norm)


@pullback(fft.irfft2)
def irfft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfft2."""
    return real_transform_bar(y_bar, x, s, axes, norm)


@pullback(fft.rfftn)
def rfftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.rfftn."""
    return half_spectrum_bar(y_bar, x, s, axes, norm)


@pullback(fft.irfftn)
def irfftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.irfftn."""
    return real_transform_bar(y_bar, x, s, axes, norm)


@pullback(fft.hfft)
def hfft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft."""
    return conj(real_transform_bar(y_bar, x, (n,), (axis,), OPPOSITE[norm]))


@pullback(fft.ihfft)
def ihfft_pullback(y_bar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft."""
    return half_spectrum_bar(conj(y_bar), x, (n,), (axis,), OPPOSITE[norm])


@pullback(fft.hfft2)
def hfft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft, along each of the axes."""
    return conj(real_transform_bar(y_bar, x, s, axes, OPPOSITE[norm]))


@pullback(fft.ihfft2)
def ihfft2_pullback(y_bar, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft, along each of the axes."""
    return half_spectrum_bar(conj(y_bar), x, s, axes, OPPOSITE[norm])


@pullback(fft.hfftn)
def hfftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.hfft, along each of the axes."""
    return conj(real_transform_bar(y_bar, x, s, axes, OPPOSITE[norm]))


@pullback(fft.ihfftn)
def ihfftn_pullback(y_bar, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As np.fft.ihfft, along each of the axes."""
    return half_spectrum_bar(conj(y_bar), x, s, axes, OPPOSITE[norm])


@pullback(fft.fftshift)
def fftshift_pullback(y_bar, x, axes=None):
    """x_bar = y_bar, shifted back."""
    return unbroadcast(np.fft.ifftshift(y_bar, axes), x)


@pullback(fft.ifftshift)
def ifftshift_pullback(y_bar, x, axes=None):
    """x_bar = y_bar, shifted back."""
    return unbroadcast(np.fft.fftshift(y_bar, axes), x)


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
