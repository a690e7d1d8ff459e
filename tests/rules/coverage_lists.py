"""The functions of NumPy that can be differentiated, in groups: those autograd 1.9.1 has rules for (with ° for what it has
backwards only), and those it has not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    title: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]


def _group(title: str, has: str, lacks: str, prefix: str = "") -> Group:
    return Group(title, *(tuple(prefix + name for name in names.split()) for names in (has, lacks)))


GROUPS = (
    _group(
        "elementwise",
        """absolute fabs angle arccos arccosh arcsin arcsinh arctan arctanh conjugate cos cosh deg2rad degrees rad2deg radians
        exp exp2 expm1 imag log log10 log1p log2 nan_to_num negative real real_if_close reciprocal sin sinc sinh sqrt square
        tan tanh""",
        "cbrt frexp modf positive i0 unwrap",
    ),
    _group(
        "of two or three arguments",
        """add subtract multiply divide power remainder arctan2 hypot° fmax fmin maximum minimum logaddexp logaddexp2 clip
        where""",
        "copysign float_power fmod divmod ldexp heaviside nextafter",
    ),
    _group(
        "reductions, scans, statistics",
        "sum mean prod std var max min amax amin cumsum diff gradient",
        """cumprod cumulative_prod cumulative_sum nancumprod nancumsum nanmax nanmin nanmean nanmedian nanpercentile nanprod
        nanquantile nanstd nansum nanvar median percentile quantile average ptp trapezoid corrcoef cov""",
    ),
    _group(
        "products",
        "dot inner outer matmul tensordot einsum kron cross trace",
        "vdot vecdot matvec vecmat convolve correlate matrix_transpose vander ediff1d interp",
    ),
    _group(
        "structural",
        """array_split astype° atleast_1d atleast_2d atleast_3d broadcast_to diag diagonal dsplit expand_dims fliplr flipud
        full hsplit linspace moveaxis pad partition ravel repeat reshape roll rollaxis rot90 sort split squeeze swapaxes tile
        transpose tril triu vsplit""",
        """asarray asanyarray asarray_chkfinite ascontiguousarray asfortranarray require copy broadcast_arrays block bmat
        concat dstack unstack flip resize delete insert take take_along_axis choose compress extract diagflat meshgrid
        trim_zeros sort_complex unique apply_along_axis apply_over_axes piecewise fromfunction fromiter frompyfunc""",
    ),
    _group("mutating", "", "fill_diagonal put put_along_axis putmask place copyto"),
    _group("histograms", "", "bincount histogram histogram2d histogramdd"),
    _group("constructors", "", "arange geomspace logspace kaiser"),
    _group("polynomials", "", "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"),
    _group(
        "`np.linalg`",
        "cholesky° det° eig° eigh° inv° norm pinv° slogdet° solve° svd°",
        """cond cross diagonal eigvals eigvalsh lstsq matmul matrix_norm matrix_power matrix_transpose multi_dot outer qr
        svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm""",
        "linalg.",
    ),
    _group(
        "`np.fft`",
        """fft° ifft° fft2° ifft2° fftn° ifftn° rfft° irfft° rfft2° irfft2° rfftn° irfftn° fftshift° ifftshift°""",
        "hfft ihfft",
        "fft.",
    ),
)

SCIPY = {
    "special": tuple(
        """beta° betainc° betaln° digamma° psi° polygamma° gamma° gammaln° gammainc° gammaincc° rgamma° gammasgn°
        multigammaln° erf° erfc° erfinv° erfcinv° expit° logit° logsumexp i0° i1° iv° ive° j0° j1° jn° y0° y1° yn°""".split()
    ),
    "linalg": tuple("solve_triangular° solve_banded° solve_sylvester sqrtm".split()),
    "signal": ("convolve°",),
    "integrate": ("odeint°",),
    "stats": tuple(
        """norm.pdf° norm.logpdf° norm.cdf° norm.logcdf° norm.sf° norm.logsf° t.pdf° t.logpdf° t.cdf° t.logcdf° beta.pdf°
        beta.logpdf° beta.cdf° chi2.pdf° chi2.logpdf° chi2.cdf° gamma.pdf° gamma.logpdf° gamma.cdf° poisson.pmf°
        poisson.logpmf° poisson.cdf° dirichlet.pdf° dirichlet.logpdf° multivariate_normal.pdf° multivariate_normal.logpdf°
        multivariate_normal.entropy°""".split()
    ),
}
"""What autograd has of SciPy."""
