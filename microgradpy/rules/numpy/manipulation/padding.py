"""np.pad in all its modes, which pads one axis after the other: the pullback goes back through them, the last first.

Along one axis with n entries, `b` before and `a` behind them, y_bar is that of the entries themselves and that of the border,
which goes to the entries from which the mode made it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.options import fitted, plain_bars
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_VECTOR = np.arange(1.0, 7.0)
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)


@pullback(np.pad)
def pad_pullback(y_bar, array, pad_width):
    """array_bar = the inner part of y_bar."""
    return inner_part(y_bar, array, pad_width)


@cotangent_of(1)
def inner_part(y_bar: Any, array: Any, pad_width: Any) -> Any:
    """The cotangent of an array that was padded with zeros."""
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(axis, pad_width.get(axis - np.ndim(array), 0)) for axis in range(np.ndim(array))]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    before = np.broadcast_to(pad_width, (np.ndim(array), 2))[:, 0]
    inner = tuple(slice(start, start + size) for start, size in zip(before.tolist(), np.shape(array), strict=True))
    return y_bar[inner]


examples(np.pad, (_VECTOR, 2), (_VECTOR, (1, 2)), (_TABLE, ((1, 0), (2, 3))), (_STACK, 1))

_NOT_GIVEN: Any = np._NoValue
_COPIED = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[Any, Any] = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}

_LARGEST_MATRIX = 4096
_LINE = np.array([0.7, -1.4, 2.2])
_GRID = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@rrule.register(np.pad, options=True)
def pad_with_options_rrule(
    array,
    pad_width,
    mode="constant",
    constant_values=_NOT_GIVEN,
    end_values=_NOT_GIVEN,
    stat_length=_NOT_GIVEN,
    reflect_type=_NOT_GIVEN,
):
    """The border's part of y_bar goes to the entries, or the values, that it was made from."""
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    options = {name: value for name, value in given.items() if value is not _NOT_GIVEN}
    check_padding(array, mode)
    y = np.pad(array, pad_width, mode, **options)
    count = y.ndim
    widths = widths_of(pad_width, count)

    def pad_with_options_pullback(y_bar):
        ends_bar = np.zeros((count, 2), np.result_type(y_bar))
        for axis in reversed(range(count)):
            x = before_padding(y, widths, axis)
            width = tuple(widths[axis].tolist())
            y_bar, ends_bar[axis] = along_axis_bar(y_bar, x, axis, width, mode, options)
        unused = NoTangent()
        is_cut = y.dtype.kind not in "fc"
        constants = unused if constant_values is _NOT_GIVEN or is_cut else unbroadcast(ends_bar, constant_values)
        ends = unused if end_values is _NOT_GIVEN else unbroadcast(ends_bar, end_values)
        return NoTangent(), fitted(y_bar, array), unused, unused, constants, ends, unused, unused

    return y, pad_with_options_pullback


def check_padding(array: Any, mode: Any) -> None:
    """Refuse a function of the user's, and what is rounded."""
    if callable(mode):
        raise MissingRuleError("np.pad with a function for `mode`", None, "Build the border with np.concatenate.")
    if mode in ("mean", "median", "linear_ramp") and np.asarray(array).dtype.kind not in "fc":
        raise MissingRuleError(f"np.pad of whole numbers with mode {mode!r}, which rounds", None, "Pad x.astype(float).")


def widths_of(pad_width: Any, count: int) -> np.ndarray:
    """How many entries come before and behind, for each axis."""
    if isinstance(pad_width, dict):
        named: list[Any] = [pad_width.get(axis, pad_width.get(axis - count, 0)) for axis in range(count)]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in named]
    return np.broadcast_to(pad_width, (count, 2))


def before_padding(y: np.ndarray, widths: np.ndarray, axis: int) -> np.ndarray:
    """The array when the axes before `axis` were padded: it is in the middle of the result."""
    later = [slice(low, y.shape[k] - high) for k, (low, high) in enumerate(widths.tolist()) if k >= axis]
    return y[(slice(None),) * axis + tuple(later)]


def along_axis_bar(
    y_bar: np.ndarray, x: np.ndarray, axis: int, width: tuple[int, int], mode: str, options: dict[str, Any]
) -> tuple[Any, Any]:
    """The cotangents of an array that was padded along one axis, and of the values at both ends."""
    rows, rows_bar = np.moveaxis(x, axis, 0), np.moveaxis(y_bar, axis, 0)
    before, size = width[0], len(rows)
    x_bar = np.array(rows_bar[before : before + size])
    borders = (rows_bar[:before], rows_bar[before + size :])
    ends: Any = (0.0, 0.0)
    if mode == "constant":
        ends = tuple(map(np.sum, borders))
    elif mode in _COPIED:
        x_bar = copied_bar(rows_bar, size, width, mode, options)
    elif mode in _STATISTICS:
        add_statistics(x_bar, borders, rows, lengths_of(options, x.ndim)[axis], _STATISTICS[mode])
    elif mode == "linear_ramp":
        ends = add_ramps(x_bar, borders)
    return np.moveaxis(x_bar, 0, axis), ends


def copied_bar(rows_bar: np.ndarray, size: int, width: tuple[int, int], mode: Any, options: dict[str, Any]) -> np.ndarray:
    """Of borders that are copies of rows; or of rows turned about the edge, which add up rows."""
    if options.get("reflect_type", "even") == "even":
        x_bar = np.zeros((size, *rows_bar.shape[1:]), rows_bar.dtype)
        np.add.at(x_bar, np.pad(np.arange(size), width, mode), rows_bar)
        return x_bar
    if size > _LARGEST_MATRIX:
        raise MissingRuleError("np.pad of a long axis with odd reflection", None, "Write it: 2 * x[:1] - x[k:0:-1].")
    weights = np.pad(np.eye(size), (width, (0, 0)), mode, **options)
    return np.tensordot(weights.T, rows_bar, 1)


def lengths_of(options: dict[str, Any], count: int) -> list[tuple[Any, Any]]:
    length = options.get("stat_length")
    return [(None, None)] * count if length is None else np.broadcast_to(length, (count, 2)).tolist()


def add_statistics(x_bar: np.ndarray, borders: tuple[Any, Any], rows: np.ndarray, lengths: tuple[Any, Any], f: Any) -> None:
    """Of borders that are the mean (or the like) of so many rows next to them."""
    size = len(rows)
    first, last = (size if length is None else min(length, size) for length in lengths)
    for border, part in zip(borders, (slice(0, first), slice(size - last, size)), strict=True):
        if len(border):
            x_bar[part] += plain_bars(f, (rows[part], 0), {}, np.sum(border, axis=0))[0]


def add_ramps(x_bar: np.ndarray, borders: tuple[Any, Any]) -> tuple[Any, Any]:
    """Of borders that go evenly from a value at the end to the row at the edge."""
    ends = []
    for border, place in zip((borders[0], np.flip(borders[1], 0)), (0, -1), strict=True):
        shares = np.arange(len(border)) / max(len(border), 1)
        if len(border):
            x_bar[place] += np.tensordot(shares, border, 1)
        ends.append(np.sum(np.tensordot(1.0 - shares, border, 1)))
    return ends[0], ends[1]


for _mode in ("constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median", "linear_ramp"):
    examples(np.pad, (_LINE, 2, _mode), (_GRID, (1, 2), _mode), (_GRID, ((1, 0), (2, 3)), _mode))
for _mode in ("reflect", "symmetric"):
    examples(np.pad, (_LINE, 2, _mode), (_GRID, ((1, 5), (7, 3)), _mode), reflect_type="odd")
for _mode in ("maximum", "mean", "median"):
    examples(np.pad, (_LINE, 2, _mode), (_GRID, ((1, 2), (0, 1)), _mode), stat_length=2)
    example(np.pad, _GRID, 1, _mode, stat_length=((1, 2), (2, 1)))
example(np.pad, _LINE + 0.5j, 2, "mean")
example(np.pad, _GRID, 1, constant_values=((1.0, 2.0), (3.0, 4.0)))
example(np.pad, _GRID, ((1, 2), (0, 1)), "linear_ramp", end_values=(1.5, 2.5))
example(np.pad, np.arange(3), 2, "edge")
example(np.pad, np.zeros((0, 3)), ((0, 0), (1, 1)), "edge")
