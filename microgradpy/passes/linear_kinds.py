"""Kinds of products and of linear algebra.

    "ij,jk->ik"                     letters of axes say of a product which of them are left
    "nn->n"                         of a function of matrices too
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from microgradpy.ir.axes import Axes, Axis
from microgradpy.ir.kinds import (
    FLOAT,
    INT,
    NUMERIC,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Numeric,
    Scalar,
    TupleOf,
    entries_of,
    is_numeric,
)
from microgradpy.passes.array_kinds import axes_of
from microgradpy.passes.broadcasting import broadcast, broadcast_axes, dtype_of, ranked, scalar, widest
from microgradpy.passes.given import Given
from microgradpy.passes.shape_kinds import numeric

_FLOATING = {"int": "float", "bool": "float"}
_REAL = {**_FLOATING, "complex": "float"}


def matmul(call: Given) -> Kind:
    """x @ y, which Python refuses for numbers"""
    return _product(_array(call.kind("a")), _array(call.kind("b")), batches=True)


def _array(kind: Kind) -> Kind:
    """What is proven of something that is known to have axes."""
    return Array(1, kind.dtype) if isinstance(kind, Numeric) and kind.ndim == 1 else kind


def dot(call: Given) -> Kind:
    """np.dot(x, y), where a number multiplies."""
    kinds = call.kind("a"), call.kind("b")
    if any(isinstance(kind, Scalar) for kind in kinds):
        return broadcast(kinds)
    return _product(*kinds, batches=False)


def _product(left: Kind, right: Kind, batches: bool) -> Kind:
    """The sum of products over the last axis of one and the last but one of the other, which may be its only one."""
    if not (isinstance(left, Array) and isinstance(right, Array) and left.ndim and right.ndim):
        return entries_of(left, right) if is_numeric(left) and is_numeric(right) else UNKNOWN
    rows, columns = axes_of(left)[:-1], axes_of(right)[-1:] if right.ndim > 1 else ()
    before = axes_of(right)[:-2]
    if batches and left.ndim > 1:
        rows, before = rows[-1:], _broadcast(axes_of(left)[:-2], before)
        rows = (*before, *rows)
    elif batches:
        rows = before
    else:
        rows = (*rows, *before)
    axes = (*rows, *columns)
    return ranked(len(axes), widest(dtype_of(left), dtype_of(right)), axes)


def _broadcast(left: Axes, right: Axes) -> Axes:
    return broadcast_axes([Array(len(axes), "", axes) for axes in (left, right)], max(len(left), len(right)))


def vdot(call: Given) -> Kind:
    """np.vdot(x, y) of all entries"""
    kinds = call.kind("a"), call.kind("b")
    return scalar(widest(*map(dtype_of, kinds))) if all(map(is_numeric, kinds)) else UNKNOWN


def inner(call: Given) -> Kind:
    """np.inner(x, y) over the last axes"""
    left, right = call.kind("a"), call.kind("b")
    if not (isinstance(left, Array) and isinstance(right, Array) and left.ndim and right.ndim):
        return numeric(left, right)
    axes = (*axes_of(left)[:-1], *axes_of(right)[:-1])
    return ranked(len(axes), widest(dtype_of(left), dtype_of(right)), axes)


def tensordot(call: Given) -> Kind:
    """np.tensordot(x, y, axes=count)"""
    left, right, count = call.kind("a"), call.kind("b"), call.constant("axes")
    if not (isinstance(left, Array) and isinstance(right, Array) and left.ndim and right.ndim):
        return numeric(left, right)
    if type(count) is not int or not 0 <= count <= min(left.ndim, right.ndim):
        return NUMERIC
    axes = (*axes_of(left)[: left.ndim - count], *axes_of(right)[count:])
    return Array(len(axes), widest(dtype_of(left), dtype_of(right)), axes)


def outer(call: Given) -> Kind:
    """np.outer(x, y)"""
    kinds = call.kind("a"), call.kind("b")
    if not all(map(is_numeric, kinds)):
        return UNKNOWN
    axes = tuple(kind.shape[0] if isinstance(kind, Array) and kind.ndim == 1 and kind.shape else None for kind in kinds)
    dtype = widest(*map(dtype_of, kinds))
    return Array(2, "" if dtype == "real" else dtype, axes)


def kron(call: Given) -> Kind:
    """np.kron(x, y)"""
    left, right = call.array("a"), call.array("b")
    if left is None or right is None:
        return numeric(call.kind("a"), call.kind("b"))
    return Array(max(left.ndim or 0, right.ndim or 0), widest(left.dtype, right.dtype))


def convolution(call: Given) -> Kind:
    """np.convolve(x, y, mode)"""
    left, right = call.array("a"), call.array("v")
    if left is None or right is None:
        return numeric(call.kind("a"), call.kind("v"))
    same = call.constant("mode") == "same" and left.shape == right.shape
    return Array(1, widest(left.dtype, right.dtype), left.shape if same else ())


def einsum(call: Given) -> Kind:
    """np.einsum("ij,j->i", a, x); without an arrow the letters that stand once, in their order"""
    text, operands = call.constant("subscripts"), call.rest
    if not isinstance(text, str) or "." in text or not all(map(is_numeric, operands)):
        return UNKNOWN
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        return UNKNOWN
    if not arrow:
        output = "".join(sorted(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1))
    symbols: dict[str, set[Axis]] = {}
    for letters, kind in zip(terms, operands, strict=True):
        axes = axes_of(kind) if isinstance(kind, Array) and kind.ndim == len(letters) else ()
        for letter, symbol in zip_longest(letters, axes):
            symbols.setdefault(letter, set()).add(symbol)
    dtype = widest(*map(dtype_of, operands))
    if not output and call.constant("optimize") is not False:
        return NUMERIC  # with a path of products it may be an array without axes
    return ranked(len(output), dtype, tuple(_repeated(symbols.get(letter, {None})) for letter in output))


def _repeated(symbols: set[Axis]) -> Axis:
    """An axis of length one is repeated to the length of the others with its letter."""
    longer = symbols - {1}
    return longer.pop() if len(longer) == 1 else None if longer else 1


# Linear algebra of one matrix


def of_matrix(letters: str, dtypes: dict[str, str] | None = _FLOATING) -> Callable[[Given], Kind]:
    """A function of a matrix, or of several in the axes before: "mn->nm", "nn->n", "nn->". `dtypes` None: not known."""
    inputs, _, output = letters.partition("->")

    def kind(call: Given) -> Kind:
        array = call.kind("a")
        if not isinstance(array, Array) or (array.ndim is not None and array.ndim < 2):
            return numeric(array)
        dtype = "" if dtypes is None else dtypes.get(array.dtype, array.dtype)
        if array.ndim is None:  # of more than one, or NumPy refuses it
            return Array(None, dtype) if output else NUMERIC
        axes = axes_of(array)
        symbols = dict(zip(inputs, axes[-2:], strict=True))
        if inputs[0] == inputs[1]:
            symbols[inputs[0]] = axes[-2] if axes[-2] is not None else axes[-1]
        symbols["?"] = axes[-1] if axes[-1] == axes[-2] else None
        found = (*axes[:-2], *(symbols.get(letter) for letter in output))
        return ranked(len(found), dtype, found)

    return kind


def trace(call: Given) -> Kind:
    """np.trace(x) of one matrix"""
    array = call.array("a")
    if array is None or array.ndim != 2:
        return numeric(call.kind("a"))
    return scalar("int" if array.dtype == "bool" else array.dtype)


def matrix_power(call: Given) -> Kind:
    array = call.array("a")
    if array is None:
        return numeric(call.kind("a"))
    return Array(array.ndim, array.dtype if array.dtype in ("float", "complex") else "", array.shape)


def solution(call: Given) -> Kind:
    """np.linalg.solve(a, b) of one matrix: of the shape of b, which is one vector or has them as columns."""
    matrix, right = call.kind("a"), call.kind("b")
    if not isinstance(matrix, Array) or matrix.ndim != 2 or not isinstance(right, Array) or right.ndim not in (1, 2):
        return numeric(matrix, right)
    dtype = widest(dtype_of(matrix), dtype_of(right))
    return Array(right.ndim, _FLOATING.get(dtype, dtype), right.shape)


def least_squares(call: Given) -> Kind:
    """np.linalg.lstsq(a, b): the solution, residuals, the rank and the singular values"""
    matrix, right = call.array("a"), call.array("b")
    if matrix is None or right is None or matrix.ndim != 2 or right.ndim not in (1, 2):
        return UNKNOWN
    dtype = widest(dtype_of(matrix), dtype_of(right))
    x = Array(right.ndim, _FLOATING.get(dtype, dtype), (*axes_of(matrix)[1:], *axes_of(right)[1:]))
    return TupleOf((x, Array(1, "float"), INT, Array(1, "float")))


def norm(call: Given) -> Kind:
    """np.linalg.norm(x, ord, axis, keepdims)"""
    array, axis, keepdims = call.kind("x"), call.constant("axis"), call.constant("keepdims")
    if not isinstance(array, Array) or array.dtype == "" or keepdims not in (True, False):
        return numeric(array)
    if not isinstance(call.kind("ord"), Scalar | Inert):
        return UNKNOWN
    if axis is None and not keepdims:
        return FLOAT if call.kind("ord") == Inert("NoneType") or array.ndim in (1, 2) else NUMERIC
    if array.ndim is None or type(axis) is not int or not -array.ndim <= axis < array.ndim:
        return NUMERIC
    axes = axes_of(array)
    kept = (1,) if keepdims else ()
    axes = (*axes[: axis % array.ndim], *kept, *axes[axis % array.ndim + 1 :])
    return ranked(len(axes), "float", axes)


# Items of what decompositions return, which are tuples with names


def of_items(*letters: str, dtypes: tuple[dict[str, str] | None, ...]) -> Callable[[Given], Kind]:
    """The items of a decomposition: "nn->n" and "nn->nn" of np.linalg.eigh. "?" is the shorter of the two axes."""
    rules = [of_matrix(each, names) for each, names in zip(letters, dtypes, strict=True)]
    return lambda call: TupleOf(tuple(rule(call) for rule in rules))


def singular_values(call: Given) -> Kind:
    """np.linalg.svd(x, full_matrices)"""
    full = call.constant("full_matrices")
    if full not in (True, False):
        return UNKNOWN
    letters = ("mn->mm", "mn->?", "mn->nn") if full else ("mn->m?", "mn->?", "mn->?n")
    return of_items(*letters, dtypes=(_FLOATING, _REAL, _FLOATING))(call)


def orthogonal(call: Given) -> Kind:
    """np.linalg.qr(x, mode)"""
    letters = {"reduced": ("mn->m?", "mn->?n"), "complete": ("mn->mm", "mn->mn")}.get(call.constant("mode"))
    return UNKNOWN if letters is None else of_items(*letters, dtypes=(_FLOATING, _FLOATING))(call)
