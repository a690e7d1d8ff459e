"""Which module of rules declares what: written by `python -m tests.rules.index`, and read by `loading`.

A row has the module, a module of a library or of this package, and the callables in it.
"""

from __future__ import annotations

# fmt: off
RULES: tuple[tuple[str, str, str], ...] = (
    ("builtins", "builtins",
        "all any ascii bin bool bytes callable chr complex dict dir divmod float format hasattr hash hex id int "
        "isinstance issubclass len list max min oct ord pow print range repr round slice sorted str super tuple type"),
    ("builtins", "numpy", "errstate.__enter__ errstate.__exit__"),
    ("builtins", "operator", "attrgetter itemgetter"),
    ("complex_mathematics", "cmath",
        "acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase polar rect sin sinh "
        "sqrt tan tanh"),
    ("copies", "builtins", "dict.fromkeys"),
    ("copies", "copy", "copy deepcopy"),
    ("data_statistics", "_statistics", "_normal_dist_inv_cdf"),
    ("data_statistics", "math", "sumprod"),
    ("data_statistics", "statistics",
        "correlation covariance fmean geometric_mean harmonic_mean linear_regression mean mode multimode pstdev "
        "pvariance stdev variance"),
    ("deques", "operator", "add mul"),
    ("floating_point", "math",
        "ceil comb copysign fabs factorial floor fma fmod frexp gcd isclose isfinite isinf isnan isqrt lcm ldexp modf "
        "nextafter perm remainder trunc ulp"),
    ("mathematics", "math",
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh degrees erf erfc exp exp2 expm1 gamma lgamma log log10 "
        "log1p log2 pow radians sin sinh sqrt tan tanh"),
    ("numpy.bitwise", "numpy",
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
        "bitwise_xor invert left_shift packbits right_shift unpackbits"),
    ("numpy.creation.arrays", "numpy",
        "array asanyarray asarray ascontiguousarray copy empty empty_like fromiter full full_like ones ones_like zeros "
        "zeros_like"),
    ("numpy.creation.matrices", "numpy", "diag diagflat eye identity tri tril triu vander"),
    ("numpy.creation.ranges", "numpy", "arange geomspace linspace logspace meshgrid"),
    ("numpy.data_types", "numpy",
        "array2string array_repr array_str astype base_repr binary_repr bool bool_ byte bytes_ can_cast cdouble "
        "clongdouble common_type complex128 complex256 complex64 csingle double double.is_integer dtype finfo float128 "
        "float128.is_integer float16 float16.is_integer float32 float32.is_integer float64 format_float_positional "
        "format_float_scientific half iinfo int16 int32 int64 int8 int_ intc intp isdtype issubdtype long longdouble "
        "longlong min_scalar_type mintypecode promote_types result_type short single str_ typename ubyte uint uint16 "
        "uint32 uint64 uint8 uintc uintp ulong ulonglong ushort"),
    ("numpy.fft", "numpy.fft",
        "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq "
        "rfftn"),
    ("numpy.indexing", "numpy",
        "argwhere choose compress diag_indices diag_indices_from diagonal extract flatnonzero indices ix_ ndarray.take "
        "nonzero ravel_multi_index select take take_along_axis tril_indices tril_indices_from triu_indices "
        "triu_indices_from unravel_index where"),
    ("numpy.inert_options", "numpy",
        "arange asanyarray asarray ascontiguousarray astype broadcast_to concat concatenate copy corrcoef cov cumprod "
        "cumsum cumulative_prod cumulative_sum full generic.astype hstack median nancumprod nancumsum nanmedian "
        "ndarray.astype ndarray.copy ndarray.cumprod ndarray.cumsum ndarray.reshape ndarray.trace partition percentile "
        "quantile reshape sort stack trace vstack"),
    ("numpy.linear_algebra.eigenvalues", "numpy.linalg", "eig eigh eigvals eigvalsh"),
    ("numpy.linear_algebra.einsum", "numpy", "einsum"),
    ("numpy.linear_algebra.linalg_products", "numpy.linalg",
        "cross diagonal matmul matrix_power matrix_rank matrix_transpose multi_dot outer tensordot tensorinv "
        "tensorsolve trace vecdot"),
    ("numpy.linear_algebra.norms", "numpy.linalg", "cond matrix_norm norm vector_norm"),
    ("numpy.linear_algebra.products", "numpy",
        "dot inner kron matmul matvec outer tensordot trace vdot vecdot vecmat"),
    ("numpy.linear_algebra.singular", "numpy.linalg", "lstsq pinv svd svdvals"),
    ("numpy.linear_algebra.solving", "numpy.linalg", "cholesky det inv qr slogdet solve"),
    ("numpy.logic", "numpy",
        "all allclose any array_equal array_equiv equal greater greater_equal isclose iscomplex isfinite isinf isnan "
        "isneginf isposinf isreal less less_equal logical_and logical_not logical_or logical_xor not_equal"),
    ("numpy.manipulation.joining", "numpy", "block column_stack concat concatenate dstack hstack stack vstack"),
    ("numpy.manipulation.padding", "numpy", "pad"),
    ("numpy.manipulation.rearranging", "numpy",
        "append delete flip fliplr flipud insert repeat resize roll rot90 tile trim_zeros"),
    ("numpy.manipulation.shape", "microgradpy.tangents.memory_order", "order_of_reading"),
    ("numpy.manipulation.shape", "numpy",
        "asarray_chkfinite asfortranarray atleast_1d atleast_2d atleast_3d broadcast broadcast_arrays broadcast_shapes "
        "broadcast_to einsum_path errstate expand_dims isfortran iterable matrix_transpose may_share_memory moveaxis "
        "ndim permute_dims ravel require reshape rollaxis shape shares_memory size squeeze swapaxes transpose"),
    ("numpy.manipulation.splitting", "numpy", "array_split dsplit hsplit split unstack vsplit"),
    ("numpy.mathematics.arithmetic", "numpy",
        "add around ceil divide divmod fix float_power floor floor_divide fmod gcd lcm mod modf multiply negative "
        "positive pow power reciprocal remainder rint round subtract true_divide trunc"),
    ("numpy.mathematics.complex_numbers", "numpy",
        "angle conj conjugate imag iscomplexobj isrealobj real real_if_close"),
    ("numpy.mathematics.differences", "numpy", "cross diff ediff1d gradient trapezoid"),
    ("numpy.mathematics.exponents", "numpy", "exp exp2 expm1 log log10 log1p log2 logaddexp logaddexp2"),
    ("numpy.mathematics.extrema", "numpy",
        "amax amin clip fmax fmin max maximum min minimum nanmax nanmin ndarray.max ndarray.min"),
    ("numpy.mathematics.floating_point", "numpy", "copysign frexp ldexp nextafter signbit spacing"),
    ("numpy.mathematics.miscellaneous", "numpy",
        "abs absolute cbrt convolve fabs heaviside interp isscalar nan_to_num sign sqrt square"),
    ("numpy.mathematics.special", "numpy", "i0 sinc"),
    ("numpy.mathematics.sums", "numpy",
        "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum nanprod nansum ndarray.prod ndarray.sum "
        "prod sum"),
    ("numpy.mathematics.trigonometric", "numpy",
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh cos cosh deg2rad "
        "degrees hypot rad2deg radians sin sinh tan tanh unwrap"),
    ("numpy.ndarray.calculation", "numpy",
        "generic.clip generic.conj generic.conjugate generic.cumprod generic.cumsum generic.max generic.mean "
        "generic.min generic.prod generic.std generic.sum generic.var ndarray.clip ndarray.conj ndarray.conjugate "
        "ndarray.cumprod ndarray.cumsum ndarray.dot ndarray.max ndarray.mean ndarray.min ndarray.prod ndarray.std "
        "ndarray.sum ndarray.trace ndarray.var"),
    ("numpy.ndarray.conversion", "microgradpy.tangents.memory_order", "copied"),
    ("numpy.ndarray.conversion", "numpy",
        "generic.astype generic.copy generic.item generic.to_device generic.tolist ndarray.astype ndarray.copy "
        "ndarray.item ndarray.to_device ndarray.tolist"),
    ("numpy.ndarray.items", "numpy",
        "generic.repeat generic.take ndarray.choose ndarray.compress ndarray.diagonal ndarray.repeat ndarray.take"),
    ("numpy.ndarray.shape", "numpy",
        "generic.all generic.any generic.argmax generic.argmin generic.argsort generic.flatten generic.nonzero "
        "generic.ravel generic.reshape generic.round generic.searchsorted generic.squeeze generic.transpose ndarray.all "
        "ndarray.any ndarray.argmax ndarray.argmin ndarray.argpartition ndarray.argsort ndarray.flatten ndarray.nonzero "
        "ndarray.ravel ndarray.reshape ndarray.round ndarray.searchsorted ndarray.squeeze ndarray.swapaxes "
        "ndarray.transpose"),
    ("numpy.polynomials.classes", "numpy.polynomial",
        "Chebyshev._int Chebyshev._val Hermite._int Hermite._val HermiteE._int HermiteE._val Laguerre._int "
        "Laguerre._val Legendre._int Legendre._val"),
    ("numpy.polynomials.classes", "numpy.polynomial.polynomial", "polyint polyval"),
    ("numpy.polynomials.power_series", "numpy",
        "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"),
    ("numpy.random", "numpy.random",
        "Generator.binomial Generator.bytes Generator.choice Generator.exponential Generator.gamma Generator.geometric "
        "Generator.gumbel Generator.integers Generator.laplace Generator.logistic Generator.lognormal "
        "Generator.multivariate_normal Generator.negative_binomial Generator.normal Generator.permutation "
        "Generator.permuted Generator.poisson Generator.random Generator.rayleigh Generator.standard_cauchy "
        "Generator.standard_exponential Generator.standard_normal Generator.uniform Generator.vonmises Generator.zipf "
        "RandomState RandomState.binomial RandomState.choice RandomState.exponential RandomState.gamma "
        "RandomState.geometric RandomState.gumbel RandomState.laplace RandomState.logistic RandomState.lognormal "
        "RandomState.multivariate_normal RandomState.negative_binomial RandomState.normal RandomState.permutation "
        "RandomState.poisson RandomState.rand RandomState.randint RandomState.randn RandomState.random "
        "RandomState.random_sample RandomState.rayleigh RandomState.standard_exponential RandomState.standard_normal "
        "RandomState.uniform RandomState.vonmises RandomState.zipf SeedSequence bytes default_rng rand randint randn "
        "random random_sample seed standard_cauchy standard_exponential standard_normal"),
    ("numpy.sets", "numpy",
        "isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values"),
    ("numpy.sorting", "numpy",
        "argmax argmin argpartition argsort count_nonzero lexsort nanargmax nanargmin partition searchsorted sort "
        "sort_complex"),
    ("numpy.statistics.averages", "numpy",
        "average mean nanmean nanstd nanvar ndarray.mean ndarray.std ndarray.var std var"),
    ("numpy.statistics.correlation", "numpy", "corrcoef correlate cov"),
    ("numpy.statistics.histograms", "numpy",
        "bincount digitize histogram histogram2d histogram_bin_edges histogramdd"),
    ("numpy.statistics.order", "numpy", "median nanmedian nanpercentile nanquantile percentile ptp quantile"),
    ("numpy.strides", "numpy", "ndarray.view"),
    ("numpy.strides", "numpy.lib.stride_tricks", "as_strided sliding_window_view"),
    ("numpy.ufunc_methods", "numpy", "ufunc.accumulate ufunc.outer ufunc.reduce ufunc.reduceat"),
    ("numpy.ufunc_options", "numpy",
        "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh "
        "cbrt conj conjugate copysign cos cosh deg2rad degrees divide divmod exp exp2 expm1 fabs float_power fmax fmin "
        "fmod frexp heaviside hypot ldexp log log10 log1p log2 logaddexp logaddexp2 matmul matvec maximum minimum mod "
        "modf multiply negative nextafter positive pow power rad2deg radians reciprocal remainder sign sin sinh sqrt "
        "square subtract tan tanh true_divide vecdot vecmat"),
    ("numpy.windows", "numpy", "bartlett blackman hamming hanning kaiser"),
    ("operators", "builtins", "abs"),
    ("operators", "operator",
        "abs add and_ contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not le length_hint "
        "lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor"),
    ("random_numbers", "_random", "Random.getrandbits Random.random"),
    ("random_numbers", "random",
        "Random Random._randbelow Random.expovariate Random.gauss Random.normalvariate Random.randbytes Random.randint "
        "Random.randrange Random.seed Random.uniform getrandbits random"),
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
    ("sums", "builtins", "sum"),
    ("sums", "math", "dist fsum hypot prod sumprod"),
    ("transposes.arithmetic", "microgradpy.rules.builtins", "chosen_bar"),
    ("transposes.arithmetic", "microgradpy.rules.number_lists", "for_each for_one"),
    ("transposes.arithmetic", "microgradpy.rules.numpy.mathematics.miscellaneous", "sign_bar"),
    ("transposes.arithmetic", "microgradpy.rules.operators", "modulus_bar"),
    ("transposes.arithmetic", "microgradpy.tangents.arithmetic",
        "conj divide item_cotangent own real_like unbroadcast"),
    ("transposes.arithmetic", "microgradpy.tangents.casts", "in_precision_of precise_as"),
    ("transposes.arithmetic", "microgradpy.tangents.choices", "maximum_bar minimum_bar share"),
    ("transposes.arithmetic", "microgradpy.tangents.decompositions", "largest refuse_choice"),
    ("transposes.arithmetic", "microgradpy.tangents.powers", "power_base_bar power_exponent_bar"),
    ("transposes.arithmetic", "microgradpy.tangents.types", "accumulate"),
    ("transposes.interpolation", "microgradpy.rules.numpy.mathematics.miscellaneous",
        "outside_bar point_bar table_places_bar table_values_bar"),
    ("transposes.interpolation", "microgradpy.rules.numpy.polynomials.power_series",
        "evaluated_at_bar factor_bar polyval_bar summand_bar"),
    ("transposes.linear_algebra", "microgradpy.rules.numpy.linear_algebra.linalg_products",
        "matrix_power_bar multi_dot_bar"),
    ("transposes.linear_algebra", "microgradpy.rules.numpy.linear_algebra.norms",
        "cond_bar matrix_norm_bar norm_bar vector_norm_bar"),
    ("transposes.linear_algebra", "microgradpy.rules.numpy.linear_algebra.singular", "lstsq_bars pinv_bar"),
    ("transposes.linear_algebra", "microgradpy.rules.numpy.linear_algebra.solving",
        "cholesky_bar cofactors qr_bar slogdet_bar solve_adjoint solve_matrix_bar"),
    ("transposes.linear_algebra", "microgradpy.tangents.decompositions", "adjoint"),
    ("transposes.manipulation", "microgradpy.rules.numpy.creation.arrays", "filled_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.creation.matrices", "diag_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.indexing",
        "choices_bar compress_bar diagonal_bar take_along_axis_bar take_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.manipulation.joining",
        "block_bar concatenate_bar joined_bar stack_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.manipulation.padding", "inner_part"),
    ("transposes.manipulation", "microgradpy.rules.numpy.manipulation.rearranging",
        "appended_bar deleted_bar inserted_bar resized_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.manipulation.splitting", "split_bar unstacked_bar"),
    ("transposes.manipulation", "microgradpy.rules.numpy.sorting", "reordered_bar sort_bar"),
    ("transposes.manipulation", "microgradpy.tangents.casts", "made_of_bar"),
    ("transposes.products", "microgradpy.rules.numpy.linear_algebra.einsum", "einsum_bar"),
    ("transposes.products", "microgradpy.rules.numpy.linear_algebra.products",
        "inner_left_bar inner_right_bar kron_left_bar kron_right_bar"),
    ("transposes.products", "microgradpy.rules.numpy.mathematics.differences", "cross_bar"),
    ("transposes.products", "microgradpy.rules.numpy.mathematics.miscellaneous", "convolved_bar"),
    ("transposes.products", "microgradpy.tangents.linear",
        "dot_left_bar dot_right_bar matmul_left_bar matmul_right_bar tensordot_left_bar tensordot_right_bar"),
    ("transposes.reductions", "microgradpy.rules.numpy.mathematics.differences",
        "trapezoid_height_bar trapezoid_place_bar trapezoid_step_bar"),
    ("transposes.reductions", "microgradpy.rules.numpy.mathematics.extrema", "extremum_bar nan_extremum_bar"),
    ("transposes.reductions", "microgradpy.rules.numpy.mathematics.sums",
        "cumprod_bar cumsum_bar prod_bar without_nan"),
    ("transposes.reductions", "microgradpy.rules.numpy.statistics.averages",
        "average_bar average_weights_bar nanmean_bar nanstd_bar nanvar_bar std_bar var_bar"),
    ("transposes.reductions", "microgradpy.rules.numpy.statistics.order", "ptp_bar quantile_bar"),
    ("transposes.reductions", "microgradpy.tangents.linear", "expand_reduced"),
    ("transposes.spectral", "microgradpy.rules.numpy.linear_algebra.eigenvalues", "eigh_bar"),
    ("transposes.spectral", "microgradpy.rules.numpy.linear_algebra.singular", "singular_values_bar svd_bar"),
    ("transposes.spectral", "microgradpy.tangents.decompositions", "between guarded_quotient inside"),
    ("transposes.tangents", "microgradpy.rules.nested", "by_text"),
    ("transposes.tangents", "microgradpy.runtime.tangents",
        "dense_tangent mirrored_tangent pairs_tangent tangent_to_write values_tangent"),
    ("transposes.tangents", "microgradpy.tangents.arithmetic", "zero_cotangent"),
    ("transposes.tangents", "microgradpy.tangents.filled",
        "dense_tangent mirrored_tangent pairs_tangent tangent_to_write values_tangent"),
    ("transposes.tangents", "microgradpy.tangents.strong_zeros", "kept_call kept_tangent"),
)
ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("numpy.manipulation.shape", "numpy", "broadcast"),
    ("numpy.ndarray.attributes", "numpy", "generic ndarray"),
    ("numpy.ndarray.shape", "numpy", "generic ndarray"),
)
"""The same for attributes, by the classes that have them."""
