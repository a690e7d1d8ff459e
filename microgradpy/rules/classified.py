"""What of NumPy has no rule, and why: data, which the tests hold against what NumPy has."""

from __future__ import annotations

_CALLS = "it calls a function that it is given: write it as a loop"
_BLOCKS = "it makes a matrix, whose operators are not those of arrays: use np.block, which joins the same parts to an array"
_MATRICES = "it makes a matrix, whose operators are not those of arrays: use arrays"
_OBJECTS = "it makes or is an object of a class of NumPy's own, which is not differentiated: use arrays and functions"
_ABSTRACT = "an abstract class, or one of things that are not numbers"
_OUTSIDE = "it reads or writes files, text or memory"
_SETTINGS = "it configures, shows or tests NumPy"
_DATES = "it counts days"
_DEPRECATED = "it is deprecated: use what NumPy says instead"
_BITS = "it looks at bits as something else, or writes them down"
_NO_AXES = "a number has no axes, and cannot be written"

_REASONS: tuple[tuple[str, str], ...] = (
    (_CALLS, "mask_indices"),
    (_BLOCKS, "bmat"),
    (_MATRICES, "asmatrix matrix"),
    (_OBJECTS, "flatiter ndarray ndindex nditer nested_iters poly1d recarray record ufunc"),
    (_ABSTRACT, "character complexfloating flexible floating generic inexact integer number object_ signedinteger"),
    (_ABSTRACT, "unsignedinteger void linalg.LinAlgError"),
    (_OUTSIDE, "from_dlpack frombuffer fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez"),
    (_OUTSIDE, "savez_compressed"),
    (_SETTINGS, "get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize"),
    (_SETTINGS, "seterr seterrcall show_config show_runtime test fft.test linalg.test"),
    (_DATES, "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat"),
    (_DATES, "timedelta64"),
    (_DEPRECATED, "in1d row_stack trapz"),
    ("its values are in both arrays, and stay there only if both move", "intersect1d"),
    (_BITS, "ndarray.dump ndarray.dumps ndarray.getfield ndarray.tobytes ndarray.tostring"),
    (_BITS, "ndarray.tofile generic.byteswap generic.dump generic.dumps"),
    (_BITS, "generic.getfield generic.tobytes generic.tofile generic.tostring generic.view"),
    (_NO_AXES, "generic.choose generic.compress generic.diagonal generic.fill generic.put generic.resize generic.setfield"),
    (_NO_AXES, "generic.setflags generic.sort generic.swapaxes generic.trace"),
)  # fmt: skip

WITHOUT_RULE: dict[str, str] = {name: reason for reason, names in _REASONS for name in names.split()}
"""The callables of `numpy` by their names in it, and why they are refused with data that may be differentiated."""
