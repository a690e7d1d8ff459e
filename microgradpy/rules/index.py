"""Which module of rules declares what: written by `python -m tests.rules.index`, and read by `loading`.

A row has the module, a module of a library or of this package, and the callables in it.
"""

from __future__ import annotations

# fmt: off
RULES: tuple[tuple[str, str, str], ...] = (
    ("broadcasting", "numpy", "broadcast"),
    ("builtins", "builtins",
        "all any ascii bin bool bytes callable chr complex dict dir divmod float format hasattr hash hex id int "
        "isinstance issubclass len list max min oct ord pow print range repr round slice sorted str super tuple type"),
    ("builtins", "numpy", "errstate.__enter__ errstate.__exit__"),
    ("builtins", "operator", "attrgetter itemgetter"),
    ("choosing", "numpy",
        "extract partition select setdiff1d setxor1d sort_complex union1d unique unique_all unique_counts "
        "unique_inverse unique_values"),
    ("complex_mathematics", "cmath",
        "acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase polar rect sin sinh "
        "sqrt tan tanh"),
    ("convolution", "numpy", "convolve correlate ediff1d matrix_transpose matvec vander vecdot vecmat"),
    ("copies", "builtins", "dict.fromkeys"),
    ("copies", "copy", "copy deepcopy"),
    ("covariance", "numpy", "corrcoef cov"),
    ("creation", "numpy",
        "allclose arange array array2string array_equal array_equiv array_repr array_str asanyarray asarray "
        "ascontiguousarray bartlett base_repr binary_repr blackman bool bool_ broadcast_shapes can_cast cdouble "
        "common_type complex128 copy double dtype einsum_path empty empty_like equal errstate eye finfo float32 float64 "
        "format_float_positional format_float_scientific full full_like greater greater_equal hamming hanning identity "
        "iinfo int64 int_ intp isclose iscomplex iscomplexobj isdtype isfinite isfortran isinf isnan isneginf isposinf "
        "isreal isrealobj isscalar issubdtype iterable less less_equal linspace logical_and logical_not logical_or "
        "logical_xor long may_share_memory meshgrid min_scalar_type mintypecode ndim not_equal ones ones_like "
        "promote_types result_type shape shares_memory single size tri typename zeros zeros_like"),
    ("creation", "numpy.random",
        "Generator.bytes Generator.integers Generator.random Generator.standard_cauchy Generator.standard_exponential "
        "Generator.standard_normal RandomState RandomState.rand RandomState.randint RandomState.randn "
        "RandomState.random RandomState.random_sample RandomState.standard_exponential RandomState.standard_normal "
        "SeedSequence bytes default_rng rand randint randn random random_sample seed standard_cauchy "
        "standard_exponential standard_normal"),
    ("data_statistics", "_statistics", "_normal_dist_inv_cdf"),
    ("data_statistics", "math", "fma sumprod"),
    ("data_statistics", "statistics",
        "correlation covariance fmean geometric_mean harmonic_mean linear_regression mean mode multimode pstdev "
        "pvariance stdev variance"),
    ("deques", "operator", "add mul"),
    ("draws", "numpy.random",
        "Generator.binomial Generator.choice Generator.exponential Generator.gamma Generator.geometric Generator.gumbel "
        "Generator.laplace Generator.logistic Generator.lognormal Generator.multivariate_normal "
        "Generator.negative_binomial Generator.normal Generator.permutation Generator.permuted Generator.poisson "
        "Generator.rayleigh Generator.uniform Generator.vonmises Generator.zipf RandomState.binomial RandomState.choice "
        "RandomState.exponential RandomState.gamma RandomState.geometric RandomState.gumbel RandomState.laplace "
        "RandomState.logistic RandomState.lognormal RandomState.multivariate_normal RandomState.negative_binomial "
        "RandomState.normal RandomState.permutation RandomState.poisson RandomState.rayleigh RandomState.uniform "
        "RandomState.vonmises RandomState.zipf"),
    ("einsum", "numpy", "einsum"),
    ("elementwise", "numpy",
        "abs absolute angle around bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
        "bitwise_right_shift bitwise_xor cbrt ceil conj conjugate exp exp2 expm1 fabs fix floor gcd imag invert lcm "
        "left_shift log log10 log1p log2 nan_to_num negative packbits positive real reciprocal right_shift rint round "
        "sign signbit spacing sqrt square trunc unpackbits"),
    ("floating_point", "math",
        "ceil comb copysign fabs factorial floor fma fmod frexp gcd isclose isfinite isinf isnan isqrt lcm ldexp modf "
        "nextafter perm remainder trunc ulp"),
    ("fourier", "numpy.fft",
        "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq "
        "rfftn"),
    ("histograms", "numpy", "bincount histogram histogram2d histogram_bin_edges histogramdd"),
    ("indexing", "numpy",
        "choose compress diag_indices diag_indices_from diff indices isin ix_ ndarray.choose ndarray.compress "
        "ravel_multi_index searchsorted sort take take_along_axis trapezoid tril_indices tril_indices_from triu_indices "
        "triu_indices_from unravel_index"),
    ("inert_options", "numpy",
        "arange asanyarray asarray ascontiguousarray astype broadcast_to concat concatenate copy corrcoef cov cumprod "
        "cumsum cumulative_prod cumulative_sum full hstack median nancumprod nancumsum nanmedian ndarray.astype "
        "ndarray.copy ndarray.cumprod ndarray.cumsum ndarray.reshape ndarray.trace partition percentile quantile "
        "reshape sort stack trace vstack"),
    ("interpolation", "numpy", "gradient interp unwrap"),
    ("joining", "numpy",
        "append array_split column_stack concat concatenate delete dstack hsplit hstack insert split stack vsplit "
        "vstack"),
    ("linalg", "numpy.linalg", "cholesky det inv qr slogdet solve"),
    ("linear", "numpy", "cross diag diagonal dot inner kron matmul outer tensordot trace tril triu vdot"),
    ("mathematics", "math",
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh degrees erf erfc exp exp2 expm1 gamma lgamma log log10 "
        "log1p log2 pow radians sin sinh sqrt tan tanh"),
    ("matrix_products", "numpy.linalg",
        "cross diagonal matmul matrix_power matrix_rank matrix_transpose multi_dot outer tensordot tensorinv "
        "tensorsolve trace vecdot"),
    ("methods", "microgradpy.tangents.memory_order", "copied"),
    ("methods", "numpy",
        "double.is_integer float128.is_integer float16.is_integer float32.is_integer generic.all generic.any "
        "generic.argmax generic.argmin generic.argsort generic.astype generic.conj generic.conjugate generic.copy "
        "generic.flatten generic.item generic.nonzero generic.ravel generic.repeat generic.reshape generic.round "
        "generic.searchsorted generic.squeeze generic.take generic.tolist generic.transpose ndarray.all ndarray.any "
        "ndarray.argmax ndarray.argmin ndarray.argpartition ndarray.argsort ndarray.astype ndarray.conj "
        "ndarray.conjugate ndarray.copy ndarray.diagonal ndarray.flatten ndarray.item ndarray.nonzero ndarray.ravel "
        "ndarray.repeat ndarray.reshape ndarray.round ndarray.searchsorted ndarray.squeeze ndarray.swapaxes "
        "ndarray.take ndarray.tolist ndarray.transpose"),
    ("more_options", "numpy",
        "angle array atleast_1d atleast_2d atleast_3d average clip cross diff einsum full_like linspace meshgrid "
        "nan_to_num ndarray.take take"),
    ("more_options", "numpy.linalg", "pinv"),
    ("nan_reductions", "numpy",
        "cumulative_prod cumulative_sum nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar"),
    ("norms", "numpy.linalg", "cond matrix_norm norm vector_norm"),
    ("numeric_methods", "numpy",
        "generic.clip generic.cumprod generic.cumsum generic.max generic.mean generic.min generic.prod generic.std "
        "generic.sum generic.var ndarray.clip ndarray.cumprod ndarray.cumsum ndarray.dot ndarray.max ndarray.mean "
        "ndarray.min ndarray.prod ndarray.std ndarray.sum ndarray.trace ndarray.var"),
    ("operators", "builtins", "abs"),
    ("operators", "operator",
        "abs add and_ contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not le length_hint "
        "lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor"),
    ("padding", "numpy", "pad"),
    ("pairwise", "numpy",
        "add arctan2 atan2 clip copysign divide float_power floor_divide fmax fmin fmod heaviside hypot logaddexp "
        "logaddexp2 maximum minimum mod multiply pow power remainder subtract true_divide where"),
    ("polynomials", "numpy", "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"),
    ("quantiles", "numpy", "median nanmedian nanpercentile nanquantile percentile quantile"),
    ("rearranging", "numpy",
        "asarray_chkfinite asfortranarray astype block broadcast_arrays diagflat dsplit fromiter generic.to_device "
        "ndarray.to_device real_if_close require resize rollaxis trim_zeros unstack"),
    ("reduction_options", "numpy",
        "amax amin max mean min nanmax nanmean nanmin nanprod nanstd nansum nanvar ndarray.max ndarray.mean ndarray.min "
        "ndarray.prod ndarray.std ndarray.sum ndarray.var prod std sum var"),
    ("reductions", "numpy",
        "all amax amin any argmax argmin argpartition argsort argwhere count_nonzero cumprod cumsum digitize "
        "flatnonzero lexsort max mean min nanargmax nanargmin nonzero prod ptp sum"),
    ("scalar_types", "numpy",
        "byte bytes_ clongdouble complex256 complex64 csingle float128 float16 half int16 int32 int8 intc longdouble "
        "longlong short str_ ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong ushort"),
    ("series", "numpy.polynomial",
        "Chebyshev._int Chebyshev._val Hermite._int Hermite._val HermiteE._int HermiteE._val Laguerre._int "
        "Laguerre._val Legendre._int Legendre._val"),
    ("series", "numpy.polynomial.polynomial", "polyint polyval"),
    ("shape", "microgradpy.tangents.memory_order", "order_of_reading"),
    ("shape", "numpy",
        "atleast_1d atleast_2d atleast_3d broadcast_to expand_dims flip fliplr flipud moveaxis pad permute_dims ravel "
        "repeat reshape roll rot90 squeeze swapaxes tile transpose"),
    ("singular", "numpy.linalg", "lstsq pinv svd svdvals"),
    ("spacing", "numpy", "bartlett blackman geomspace hamming hanning i0 kaiser ldexp logspace nextafter"),
    ("spectral", "numpy.linalg", "eig eigh eigvals eigvalsh"),
    ("standard_library", "bisect", "bisect bisect_left bisect_right"),
    ("standard_library", "logging",
        "Logger.addHandler Logger.callHandlers Logger.critical Logger.debug Logger.error Logger.exception Logger.fatal "
        "Logger.findCaller Logger.getChild Logger.getChildren Logger.getEffectiveLevel Logger.handle Logger.hasHandlers "
        "Logger.info Logger.isEnabledFor Logger.log Logger.makeRecord Logger.removeHandler Logger.setLevel Logger.warn "
        "Logger.warning LoggerAdapter.critical LoggerAdapter.debug LoggerAdapter.error LoggerAdapter.exception "
        "LoggerAdapter.getEffectiveLevel LoggerAdapter.hasHandlers LoggerAdapter.info LoggerAdapter.isEnabledFor "
        "LoggerAdapter.log LoggerAdapter.process LoggerAdapter.setLevel LoggerAdapter.warn LoggerAdapter.warning "
        "addLevelName basicConfig captureWarnings critical debug disable error exception fatal getHandlerByName "
        "getHandlerNames getLevelName getLevelNamesMapping getLogRecordFactory getLogger getLoggerClass info log "
        "makeLogRecord setLogRecordFactory setLoggerClass shutdown warn warning"),
    ("statistics", "numpy", "average std var"),
    ("sums", "builtins", "sum"),
    ("sums", "math", "dist fsum hypot prod sumprod"),
    ("transposes", "microgradpy.rules.linear",
        "cross_bar diag_bar diagonal_bar inner_left_bar inner_right_bar kron_left_bar kron_right_bar"),
    ("transposes", "microgradpy.tangents.arithmetic", "conj divide item_cotangent own real_like unbroadcast"),
    ("transposes", "microgradpy.tangents.casts", "in_precision_of"),
    ("transposes", "microgradpy.tangents.decompositions", "largest refuse_choice"),
    ("transposes", "microgradpy.tangents.linear",
        "dot_left_bar dot_right_bar expand_reduced matmul_left_bar matmul_right_bar tensordot_left_bar "
        "tensordot_right_bar"),
    ("transposes", "microgradpy.tangents.powers", "power_base_bar power_exponent_bar"),
    ("transposes", "microgradpy.tangents.types", "accumulate"),
    ("trigonometric", "numpy",
        "acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad degrees rad2deg "
        "radians sin sinc sinh tan tanh"),
    ("two_results", "numpy", "divmod frexp modf"),
    ("ufunc_methods", "numpy", "ufunc.accumulate ufunc.outer ufunc.reduce ufunc.reduceat"),
    ("ufunc_options", "numpy",
        "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh "
        "cbrt conj conjugate copysign cos cosh deg2rad degrees divide divmod exp exp2 expm1 fabs float_power fmax fmin "
        "fmod frexp heaviside hypot ldexp log log10 log1p log2 logaddexp logaddexp2 matmul matvec maximum minimum mod "
        "modf multiply negative nextafter positive pow power rad2deg radians reciprocal remainder sign sin sinh sqrt "
        "square subtract tan tanh true_divide vecdot vecmat"),
    ("windows", "numpy", "ndarray.view"),
    ("windows", "numpy.lib.stride_tricks", "as_strided sliding_window_view"),
)
ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("broadcasting", "numpy", "broadcast"),
    ("methods", "numpy", "generic ndarray"),
)
"""The same for attributes, by the classes that have them."""
