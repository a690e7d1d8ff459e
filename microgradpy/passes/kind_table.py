"""Which rule says what a function of NumPy's returns, and its parameters as `passes/given.py` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from microgradpy.ir.kinds import Kind
from microgradpy.passes import joined_kinds, linear_kinds, number_kinds, shape_kinds
from microgradpy.passes.given import Given, Parameters

Rule = Callable[[Given], Kind]
_COUNTED = {"bool": "int"}
_AVERAGED = {"bool": "float", "int": "float"}
_SPREAD = {**_AVERAGED, "complex": "float"}
_COMPLEX = dict.fromkeys(("bool", "int", "float"), "complex")
_PLACES = dict.fromkeys(("bool", "float", "complex", ""), "int")


def rows() -> Iterator[tuple[Rule, Parameters, tuple[Any, ...]]]:
    """Each rule with the parameters of the functions that it is for."""
    for rule, parameters, *callees in _TABLE:
        yield rule, Parameters.of(parameters), tuple(callees)
    for name, (rule, parameters) in _WITH_METHODS.items():
        yield rule, Parameters.of(parameters), (getattr(np, name), getattr(np.ndarray, name))


ITEMS: dict[Any, tuple[Rule, str]] = {
    np.linalg.slogdet: (linear_kinds.of_items("nn->", "nn->", dtypes=(_AVERAGED, _SPREAD)), "a"),
    np.linalg.eigh: (linear_kinds.of_items("nn->n", "nn->nn", dtypes=(_SPREAD, _AVERAGED)), "a UPLO~"),
    np.linalg.eig: (linear_kinds.of_items("nn->n", "nn->nn", dtypes=(None, None)), "a"),
    np.linalg.svd: (linear_kinds.singular_values, "a full_matrices=True compute_uv=True! hermitian~"),
    np.linalg.qr: (linear_kinds.orthogonal, "a mode='reduced'"),
}
"""Functions that return tuples with names, and what says which items these have."""

_REDUCED = "a axis=None dtype=None! out=None! keepdims=False where=True!"
_SHORT = "a axis=None out=None! keepdims=False where=True!"

_WITH_METHODS: dict[str, tuple[Rule, str]] = {
    "sum": (number_kinds.reduction(_COUNTED), _REDUCED),
    "prod": (number_kinds.reduction(_COUNTED), _REDUCED),
    "mean": (number_kinds.reduction(_AVERAGED), _REDUCED),
    "max": (number_kinds.reduction({}), _SHORT),
    "min": (number_kinds.reduction({}), _SHORT),
    "var": (number_kinds.reduction(_SPREAD), "a axis=None dtype=None! out=None! ddof~ keepdims=False where=True!"),
    "std": (number_kinds.reduction(_SPREAD), "a axis=None dtype=None! out=None! ddof~ keepdims=False where=True!"),
    "argmax": (
        number_kinds.reduction(_PLACES),
        "a axis=None out=None! keepdims=False",
    ),
    "argmin": (
        number_kinds.reduction(_PLACES),
        "a axis=None out=None! keepdims=False",
    ),
    "cumsum": (number_kinds.accumulated, "a axis=None dtype=None! out=None!"),
    "cumprod": (number_kinds.accumulated, "a axis=None dtype=None! out=None!"),
    "ravel": (shape_kinds.flattened, "a order~"),
    "swapaxes": (shape_kinds.swapped, "a axis1 axis2"),
    "squeeze": (shape_kinds.squeezed, "a axis=None"),
    "repeat": (shape_kinds.repeated, "a repeats~ axis=None"),
    "take": (shape_kinds.taken, "a indices axis=None out=None! mode~"),
    "trace": (linear_kinds.trace, "a offset~ axis1=0! axis2=1! dtype=None! out=None!"),
    "argsort": (number_kinds.places, "a axis=-1 kind~ order~"),
    "clip": (number_kinds.clipped, "a a_min=None a_max=None out=None!"),
    "dot": (linear_kinds.dot, "a b out=None!"),
    "round": (number_kinds.entrywise(bool=""), "a decimals~ out=None!"),
    "astype": (shape_kinds.cast, "a dtype order~ casting~ subok~ copy~"),
}
"""Functions that arrays have as methods too, with the same parameters."""

_ONE_AXIS, _ALL_AXES = "a n=None axis=-1 norm~ out=None!", "a s=None! axes=None! norm~ out=None!"
FOURIER: dict[str, tuple[Rule, str]] = {
    **dict.fromkeys(("fft", "ifft"), (number_kinds.spectrum("complex"), _ONE_AXIS)),
    **dict.fromkeys(("rfft", "ihfft"), (number_kinds.spectrum("complex", resizes=True), _ONE_AXIS)),
    **dict.fromkeys(("irfft", "hfft"), (number_kinds.spectrum("float", resizes=True), _ONE_AXIS)),
    **dict.fromkeys(("fft2", "ifft2"), (number_kinds.entrywise(**_COMPLEX), "a s=None! axes=(-2,-1)! norm~ out=None!")),
    **dict.fromkeys(("fftn", "ifftn"), (number_kinds.entrywise(**_COMPLEX), _ALL_AXES)),
    **dict.fromkeys(("fftshift", "ifftshift"), (shape_kinds.same_shape, "a axes~")),
}
"""Functions of `numpy.fft` by name: it is not imported before a program does."""

_TABLE: list[tuple[Any, ...]] = [
    (shape_kinds.reshaped, "a shape order~ newshape=None! copy~", np.reshape),
    (shape_kinds.reshaped_to, "a *shape order~ copy~", np.ndarray.reshape),
    (shape_kinds.flattened, "a order~", np.ndarray.flatten),
    (shape_kinds.permuted, "a axes=None", np.transpose),
    (shape_kinds.permuted_by, "a *axes", np.ndarray.transpose),
    (shape_kinds.moved, "a source destination", np.moveaxis),
    (shape_kinds.expanded, "a axis", np.expand_dims),
    (shape_kinds.at_least(1), "a", np.atleast_1d),
    (shape_kinds.at_least(2), "a", np.atleast_2d),
    (shape_kinds.same_shape, "a order~", np.ndarray.copy),
    (shape_kinds.same_shape, "a shift~ axis~", np.roll),
    (shape_kinds.same_shape, "a axis~", np.flip),
    (shape_kinds.same_shape, "a", np.flipud, np.fliplr),
    (shape_kinds.same_shape, "a", np.ndarray.conj, np.ndarray.conjugate),
    (shape_kinds.same_shape, "a copy~ nan~ posinf~ neginf~", np.nan_to_num),
    (shape_kinds.copied, "a order~ subok~", np.copy),
    (shape_kinds.repeated_to, "a shape subok~", np.broadcast_to),
    (shape_kinds.tiled, "a reps", np.tile),
    (shape_kinds.padded, "a width~ mode='constant' constant_values~ end_values~ stat_length~ reflect_type~", np.pad),
    (shape_kinds.differences, "a n=1 axis=-1", np.diff),
    (shape_kinds.diagonal, "a k=0", np.diag),
    (shape_kinds.triangle, "a k~", np.tril, np.triu),
    (shape_kinds.created, "shape dtype=None order~ like=None! device=None!", np.zeros, np.ones, np.empty),
    (shape_kinds.filled, "shape fill_value dtype=None order~ like=None! device=None!", np.full),
    (shape_kinds.like, "a dtype=None order~ subok~ shape=None! device=None!", np.zeros_like, np.ones_like, np.empty_like),
    (shape_kinds.like, "a fill_value~ dtype=None order~ subok~ shape=None! device=None!", np.full_like),
    (shape_kinds.unit_matrix, "N M=None k~ dtype=None order~ like=None! device=None!", np.eye),
    (shape_kinds.unit_matrix, "N dtype=None M=None! like=None!", np.identity),
    (shape_kinds.evenly_spaced, "start stop num=50 endpoint~ retstep=False! dtype=None! axis~", np.linspace),
    (shape_kinds.counted, "start *ends", np.arange),
    (joined_kinds.array_of, "object dtype=None copy~ order~ subok~", np.array),
    (joined_kinds.array_of, "object dtype=None order~ copy~", np.asarray),
    (joined_kinds.concatenated, "arrays axis=0 out=None! dtype=None! casting~", np.concatenate),
    (joined_kinds.stacked, "arrays axis=0 out=None! dtype=None! casting~", np.stack),
    (joined_kinds.joined_as(joined_kinds.at_least_1d, lambda rank: min(rank - 1, 1)), "tup dtype=None! casting~", np.hstack),
    (joined_kinds.blocks, "arrays", np.block),
    (joined_kinds.joined_as(joined_kinds.at_least_2d, lambda rank: 0), "tup dtype=None! casting~", np.vstack),
    (joined_kinds.joined_as(joined_kinds.as_columns, lambda rank: 1), "tup", np.column_stack),
    (joined_kinds.appended, "arr values axis=None", np.append),
    (joined_kinds.split, "ary indices_or_sections~ axis~", np.split, np.array_split),
    (joined_kinds.split, "ary indices_or_sections~", np.hsplit, np.vsplit),
    (joined_kinds.grids, "*xi copy=True! sparse=False! indexing='xy'", np.meshgrid),
    (linear_kinds.vdot, "a b", np.vdot),
    (linear_kinds.inner, "a b", np.inner),
    (linear_kinds.outer, "a b out=None!", np.outer),
    (linear_kinds.kron, "a b", np.kron),
    (lambda call: shape_kinds.numeric(call.kind("a"), call.kind("b")), "a b axisa~ axisb~ axisc~ axis~", np.cross),
    (linear_kinds.tensordot, "a b axes=2", np.tensordot),
    (linear_kinds.convolution, "a v mode='full'", np.convolve),
    (linear_kinds.convolution, "a v mode='valid'", np.correlate),
    (linear_kinds.einsum, "subscripts *operands optimize=False out=None! dtype=None! order~ casting~", np.einsum),
    (linear_kinds.solution, "a b", np.linalg.solve),
    (linear_kinds.of_matrix("nn->nn"), "a", np.linalg.inv),
    (linear_kinds.of_matrix("nn->nn"), "a upper~", np.linalg.cholesky),
    (linear_kinds.of_matrix("nn->"), "a", np.linalg.det),
    (linear_kinds.of_matrix("mn->nm", {"int": "", "bool": ""}), "a rcond~ hermitian~ rtol~", np.linalg.pinv),
    (linear_kinds.of_matrix("nn->n", _SPREAD), "a UPLO~", np.linalg.eigvalsh),
    (linear_kinds.of_matrix("nn->n", None), "a", np.linalg.eigvals),
    (linear_kinds.matrix_power, "a n~", np.linalg.matrix_power),
    (linear_kinds.least_squares, "a b rcond~", np.linalg.lstsq),
    (linear_kinds.norm, "x ord=None axis=None keepdims=False", np.linalg.norm),
    (number_kinds.reduction({}), _SHORT, np.amax, np.amin, np.nanmax, np.nanmin, np.ptp),
    (number_kinds.reduction(_COUNTED), _REDUCED, np.nansum, np.nanprod),
    (number_kinds.reduction(_AVERAGED), _REDUCED, np.nanmean),
    (number_kinds.reduction(_AVERAGED), "a axis=None out=None! overwrite_input~ keepdims=False", np.median),
    (number_kinds.average, "a axis=None weights=None returned=False! keepdims=False", np.average),
    (
        number_kinds.quantile,
        "a q axis=None out=None! overwrite_input~ method='linear' keepdims=False weights=None!",
        np.quantile,
        np.percentile,
    ),
    (number_kinds.accumulated, "a axis=None dtype=None! out=None!", np.nancumsum, np.nancumprod),
    (number_kinds.ordered, "a axis=-1 kind~ order~ stable~", np.sort),
    (number_kinds.slopes, "a", np.gradient),
    (
        number_kinds.integral,
        "y x=None dx=1.0 axis=-1",
        *(getattr(np, name) for name in ("trapezoid", "trapz") if hasattr(np, name)),
    ),
    (number_kinds.looked_up, "x xp~ fp left~ right~ period~", np.interp),
    (number_kinds.entrywise(bool=""), "a decimals~ out=None!", np.around),
    (number_kinds.entrywise(bool="float", int="float", complex="float"), "a deg~", np.angle),
    (number_kinds.entrywise(bool="", int="float"), "a", np.sinc),
    (number_kinds.polynomial, "p x", np.polyval),
    (number_kinds.outer_of, "ufunc a b", np.ufunc.outer),
    (number_kinds.reduced_by, "ufunc a axis=0 dtype=None! out=None! keepdims=False where=True!", np.ufunc.reduce),
    (number_kinds.accumulated_by, "ufunc a axis=0 dtype=None! out=None!", np.ufunc.accumulate),
    (number_kinds.any_of, "a *others key~", max, min),
]
