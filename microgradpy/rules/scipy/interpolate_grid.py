"""scipy.interpolate: by straight lines between points (`interp1d`), and on grids of any number of axes."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy import interpolate

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.interpolate_fields import attribute_bar, fields_bar
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero


@pullback(interpolate.interp1d.__call__, interpolate.interp1d)
def interp1d_call_pullback(y_bar, self, x, *, y):
    """Between two points, y = (1 - w) y0 + w y1: y0_bar = (1 - w) y_bar, and x_bar = y_bar * the slope of the line."""
    bars = line_bars(y_bar, self, x)
    return bars[0], bars[1]


_STEPS = ("nearest", "nearest-up", "previous", "next", "zero")


def line_bars(y_bar: Any, line: Any, x: Any) -> tuple[Any, Any]:
    """The cotangents of an object of interp1d and of where it is evaluated."""
    rank, axis = np.ndim(x), line.axis % np.ndim(line.y)
    bar = np.reshape(np.moveaxis(np.asarray(y_bar), range(axis, axis + rank), range(rank)), (np.size(x), -1))
    places = np.ravel(np.asarray(x, dtype=float))
    unknown = Tangent(type(line), y=not_implemented("the values of interp1d of this kind"))
    inside = np.ones(places.shape, bool) if line._extrapolate else (places >= line.x[0]) & (places <= line.x[-1])
    if line._kind in _STEPS:
        return unknown, unbroadcast(np.zeros(np.shape(x)), x)
    if line._kind != "linear":
        slopes = np.reshape(line._spline(places, nu=1), (places.size, -1))
        return unknown, _summed(np.where(inside[:, None], bar * conj(slopes), 0.0), x)
    values = np.reshape(np.moveaxis(np.asarray(line.y), axis, 0), (len(line.x), -1))
    places, bar = np.where(inside, places, line.x[0]), np.where(inside[:, None], bar, 0.0)
    end = np.clip(np.searchsorted(line.x, places), 1, len(line.x) - 1)
    width = line.x[end] - line.x[end - 1]
    weight = (places - line.x[end - 1]) / width
    slopes = (values[end] - values[end - 1]) / width[:, None]
    x_bar = np.real(np.sum(bar * conj(slopes), axis=-1))
    knots_bar, values_bar = np.zeros(len(line.x)), np.zeros(values.shape, bar.dtype)
    for place, part in ((end - 1, 1.0 - weight), (end, weight)):
        np.add.at(knots_bar, place, -part * x_bar)
        np.add.at(values_bar, place, part[:, None] * bar)
    held = getattr(line, _values_of(line))
    fields = {"x": knots_bar, _values_of(line): unbroadcast(np.reshape(values_bar, np.shape(held)), held)}
    return Tangent(type(line), fields), unbroadcast(np.reshape(x_bar, np.shape(x)), x)


def _values_of(line: Any) -> str:
    """The field that an object of interp1d reads its values from; of `_y`, the axis of the points is the first."""
    return "y" if np.ndim(line.y) == 1 and not line._extrapolate else "_y"


def _summed(products: np.ndarray, x: Any) -> Any:
    return unbroadcast(np.reshape(np.real(np.sum(products, axis=-1)), np.shape(x)), x)


@rrule.register(interpolate.interp1d)
def interp1d_rrule(
    x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False
):
    """The object holds the points, sorted unless they are said to be."""
    line = interpolate.interp1d(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)

    def interp1d_pullback(line_bar):
        if line._kind != "linear":
            unknown = not_implemented("the points of interp1d of this kind")
            return NoTangent(), unknown, unknown
        order = np.arange(len(line.x)) if assume_sorted else np.argsort(np.argsort(x, kind="mergesort"))
        bars = points_bars(line_bar, line)
        x_bar = unbroadcast(bars[0][order], x)
        y_bar = unbroadcast(np.take(bars[1], order, axis), y)
        fill_bar = fill_value_bar(fill_value)
        return NoTangent(), x_bar, y_bar, *(NoTangent(),) * 4, fill_bar

    return line, interp1d_pullback


def points_bars(line_bar: Any, line: Any) -> tuple[Any, Any]:
    """The cotangents of the sorted points, which an object of interp1d holds as y, and as _y with their axis in front."""
    y = np.asarray(line.y)
    x_bar, y_bar, table_bar = (line_bar.get(name) for name in ("x", "y", "_y"))
    total = np.zeros(y.shape) if is_structural_zero(y_bar) else y_bar
    if not is_structural_zero(table_bar):
        total = total + np.moveaxis(np.reshape(table_bar, np.shape(np.moveaxis(y, line.axis, 0))), 0, line.axis)
    return np.zeros(len(line.x)) if is_structural_zero(x_bar) else x_bar, total


def fill_value_bar(fill_value: Any) -> Any:
    """What is not known of the cotangents of one or two numbers."""
    if isinstance(fill_value, tuple):
        return tuple(map(fill_value_bar, fill_value))
    return NoTangent() if isinstance(fill_value, str) else not_implemented("the fill value of an interpolation")


class Cell(NamedTuple):
    """Where points are between the lines of a grid, by axis: the line before, how far from there to the next one, and that
    distance. `inside`: the points are on the grid."""

    lines: list[np.ndarray]
    weights: list[np.ndarray]
    widths: list[np.ndarray]
    inside: np.ndarray


def cell_of(grid: Any, points: np.ndarray) -> Cell:
    """The cells of a grid in which points are."""
    cell = Cell([], [], [], np.all([(p >= g[0]) & (p <= g[-1]) for p, g in zip(points.T, grid, strict=True)], axis=0))
    for places, lines in zip(points.T, grid, strict=True):
        before = np.clip(np.searchsorted(lines, places, side="right") - 1, 0, len(lines) - 2)
        width = lines[before + 1] - lines[before]
        cell.lines.append(before)
        cell.widths.append(width)
        cell.weights.append((places - lines[before]) / width)
    return cell


@rrule.register(interpolate.RegularGridInterpolator.__call__)
def grid_call_rrule(self, xi, method=None, *, nu=None):
    """y is the mean of the corners of a cell, by how near they are along each axis (method "linear")."""
    y = self(xi, method, nu=nu) if nu is not None else self(xi, method)

    def grid_call_pullback(y_bar):
        bars = grid_bars(y_bar, self, xi, self.method if method is None else method)
        return NoTangent(), bars[0], bars[1], NoTangent()

    return y, grid_call_pullback


def grid_bars(y_bar: Any, interpolator: Any, xi: Any, method: str) -> tuple[Any, Any]:
    """The cotangents of an interpolator and of where it is evaluated."""
    grid, values = interpolator.grid, np.asarray(interpolator.values)
    if method != "linear":
        raise MissingRuleError(f"RegularGridInterpolator with the method {method!r}", None, 'Use the method "linear".')
    rank = len(grid)
    stacked = np.stack(np.broadcast_arrays(*xi), axis=-1) if isinstance(xi, tuple) else np.asarray(xi)
    points = np.reshape(stacked.astype(float), (-1, rank))
    cell = cell_of(grid, points)
    bar = np.reshape(np.asarray(y_bar), (len(points), -1))
    if interpolator.fill_value is not None:
        bar = np.where(cell.inside[:, None], bar, 0.0)
    table = np.reshape(values, (*values.shape[:rank], -1))
    values_bar, points_bar = np.zeros(table.shape, bar.dtype), np.zeros(points.shape)
    for corner in itertools.product((0, 1), repeat=rank):
        place = tuple(lines + step for lines, step in zip(cell.lines, corner, strict=True))
        parts = [w if step else 1.0 - w for w, step in zip(cell.weights, corner, strict=True)]
        np.add.at(values_bar, place, np.prod(parts, axis=0)[:, None] * bar)
        share = np.real(np.sum(bar * conj(table[place]), axis=-1))
        for axis, step in enumerate(corner):
            others = np.prod([part for other, part in enumerate(parts) if other != axis], axis=0)
            points_bar[:, axis] += (1.0 if step else -1.0) * others * share / cell.widths[axis]
    held_bar = unbroadcast(np.reshape(values_bar, values.shape), values)
    interpolator_bar = fields_bar(interpolator, values=held_bar, grid=lines_bar(cell, grid, points_bar))
    stacked_bar = np.reshape(points_bar, stacked.shape)
    if not isinstance(xi, tuple):
        return interpolator_bar, unbroadcast(stacked_bar, xi)
    return interpolator_bar, tuple(unbroadcast(stacked_bar[..., k], x) for k, x in enumerate(xi))


def lines_bar(cell: Cell, grid: Any, points_bar: np.ndarray) -> tuple[np.ndarray, ...]:
    """The cotangents of the lines of a grid: moving both lines beside a point is moving the point the other way."""
    bars = tuple(np.zeros(len(lines)) for lines in grid)
    for bar, before, weight, point_bar in zip(bars, cell.lines, cell.weights, points_bar.T, strict=True):
        np.add.at(bar, before, -(1.0 - weight) * point_bar)
        np.add.at(bar, before + 1, -weight * point_bar)
    return bars


@rrule.register(interpolate.RegularGridInterpolator)
def grid_rrule(
    points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None
):
    """The object holds the values, turned around along the axes whose lines fall."""
    kwargs = {"solver": solver, "solver_args": solver_args}
    interpolator = interpolate.RegularGridInterpolator(points, values, method, bounds_error, fill_value, **kwargs)

    def grid_pullback(interpolator_bar):
        values_bar = attribute_bar(interpolator_bar, interpolator, "values")
        grid_bar = attribute_bar(interpolator_bar, interpolator, "grid")
        falling = tuple(axis for axis, lines in enumerate(points) if lines[0] > lines[-1])
        if not is_structural_zero(values_bar):
            values_bar = unbroadcast(np.flip(values_bar, falling), values)
        if not is_structural_zero(grid_bar):
            grid_bar = type(points)(
                unbroadcast(np.flip(bar) if axis in falling else bar, points[axis]) for axis, bar in enumerate(grid_bar)
            )
        none = NoTangent()
        return none, grid_bar, values_bar, none, none, fill_value_bar(fill_value)

    return interpolator, grid_pullback


_PLACES = np.array([0.0, 0.7, 1.1, 2.0, 2.6])
_VALUES = np.array([0.3, -1.2, 0.8, 1.5, -0.4])
_TABLE = np.sin(np.arange(15.0) * 1.7).reshape(3, 5)
_WHERE = np.array([[0.2, 0.9, 1.7], [2.3, 0.4, 1.9]])
_LINE = interpolate.interp1d(_PLACES, _VALUES)
_BEYOND = interpolate.interp1d(_PLACES, _TABLE, fill_value="extrapolate")
_CONSTANT = interpolate.interp1d(_PLACES, _TABLE, axis=1, bounds_error=False, fill_value=0.5)
examples(interpolate.interp1d.__call__, (_LINE, 0.9), (_LINE, _WHERE), (_BEYOND, _WHERE), (_BEYOND, [-0.3, 2.9]))
examples(interpolate.interp1d.__call__, (_CONSTANT, _WHERE))
examples(interpolate.interp1d, (_PLACES, _VALUES), (_PLACES, _TABLE, "linear", 1), ([3, 1, 0], _TABLE, "linear", 0))
_GRID = ([0, 1, 3], np.array([0.0, 0.5, 0.8, 2.0, 3.0]))
_POINTS = np.array([[0.3, 0.6], [2.5, 1.1], [1.4, 2.9], [0.7, 0.2]])
_INTERPOLATOR = interpolate.RegularGridInterpolator(_GRID, _TABLE)
_OUTSIDE = interpolate.RegularGridInterpolator(_GRID, np.stack((_TABLE, _TABLE**2), axis=2), "linear", False, None)
examples(interpolate.RegularGridInterpolator, (([0, 1, 3], [0, 1, 2, 4, 5]), _TABLE), (([4, 1, 0], [0, 1, 2, 3, 5]), _TABLE))
examples(interpolate.RegularGridInterpolator, (_GRID, _TABLE))
examples(interpolate.RegularGridInterpolator.__call__, (_INTERPOLATOR, _POINTS), (_INTERPOLATOR, _POINTS[:, None, :]))
examples(interpolate.RegularGridInterpolator.__call__, (_OUTSIDE, _POINTS + 1.1), (_OUTSIDE, (_POINTS[:, 0], 1.2)))
