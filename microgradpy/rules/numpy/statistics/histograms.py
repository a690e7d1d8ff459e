"""Counting in bins. What falls into which bin is constant between jumps; what varies are the sums of the weights, the edges
of the bins, and through these the densities.

Edges are as given, or evenly spaced between the ends of a range, or between the smallest and the largest entry.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.differences import diff_bar
from microgradpy.rules.numpy.mathematics.extrema import extremum_bar
from microgradpy.rules.registry import example, examples, non_differentiable
from microgradpy.tangents.arithmetic import conj, divide, stack_items, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero

non_differentiable(np.digitize)


@pullback(np.bincount)
def bincount_pullback(y_bar, x, /, weights=None, minlength=0):
    """y_k = the sum of the weights where x = k: weights_bar = y_bar[x]."""
    return NoTangent(), bin_weights_bar(y_bar, weights, x)


@cotangent_of(1)
def bin_weights_bar(y_bar: Any, weights: Any, x: Any) -> Any:
    """The cotangent of the weights under np.bincount."""
    return None if weights is None else unbroadcast(y_bar[np.asarray(x, int)], weights)


_NUMBERS = np.array([2, 0, 2, 1, 5])
_WEIGHTS = np.array([0.5, -1.5, 2.0, 0.7, 1.1])
examples(np.bincount, (_NUMBERS,), (_NUMBERS, _WEIGHTS), (_NUMBERS, _WEIGHTS, 8), ([1, 1], [0.5, 2.0]), ([], np.zeros(0)))
examples(np.bincount, (_NUMBERS, np.arange(5)))


class _Source(NamedTuple):
    """What made the edges along one axis: the entries, the argument `bins` and the argument `range`."""

    entries: np.ndarray
    bins: Any
    range: Any


class _Bars(NamedTuple):
    """The cotangents of the sources along each axis, and of the weights."""

    entries: list[Any]
    bins: list[Any]
    ranges: list[Any]
    weights: Any


def _all_bars(
    h_bar: Any, edge_bars: Any, h: np.ndarray, edges: list[np.ndarray], sources: list[_Source], density: Any, weights: Any
) -> _Bars:
    """From the cotangents of a histogram h of any number of axes, and of its edges."""
    weights_bar = None
    edge_bars = [None] * len(edges) if is_structural_zero(edge_bars) else list(edge_bars)
    if not is_structural_zero(h_bar):
        numbers, inside = _flat_places(edges, sources)
        if density:
            with np.errstate(all="ignore"):
                edge_bars = [_add(bar, _width_bar(h_bar, h, edges, axis)) for axis, bar in enumerate(edge_bars)]
                h_bar = _counts_bar(h_bar, h, edges, np.sum(inside if weights is None else np.ravel(weights)[inside]))
        if weights is not None:
            found = np.where(inside, np.ravel(h_bar)[numbers], 0.0) if h.size else np.zeros(inside.shape)
            weights_bar = unbroadcast(np.reshape(found, np.shape(weights)), weights)
    triples = [_source_bars(bar, source) for bar, source in zip(edge_bars, sources, strict=True)]
    entries, bins, ranges = map(list, zip(*triples, strict=True))
    return _Bars(entries, bins, ranges, weights_bar)


def _flat_places(edges: list[np.ndarray], sources: list[_Source]) -> tuple[Any, Any]:
    """For each item the number of its bin, and whether it is in one. The last bin has both of its edges."""
    numbers: Any = 0
    inside: Any = True
    for edge, source in zip(edges, sources, strict=True):
        count = len(edge) - 1
        place = np.searchsorted(edge, source.entries, side="right") - 1
        place = np.where(source.entries == edge[-1], count - 1, place) if count >= 0 else place
        here = (place >= 0) & (place < count)
        numbers, inside = numbers * count + np.where(here, place, 0), inside & here
    return numbers, inside


def _width_bar(h_bar: Any, h: np.ndarray, edges: list[np.ndarray], axis: int) -> Any:
    """The cotangent of the edges along one axis by whose distances the densities h were divided."""
    others = tuple(other for other in range(h.ndim) if other != axis)
    width_bar = -np.sum(np.real(h_bar * conj(h)), axis=others) / np.diff(edges[axis])
    return diff_bar(width_bar, edges[axis], 1, 0)


def _counts_bar(h_bar: Any, h: np.ndarray, edges: list[np.ndarray], total: Any) -> Any:
    """The cotangent of the counts from that of the densities h = counts / (widths * total)."""
    widths = functools.reduce(np.multiply.outer, map(np.diff, edges))
    return divide(h_bar, widths * conj(total)) - divide(np.sum(h_bar * conj(h)), conj(total))


def _add(x: Any, y: Any) -> Any:
    return y if is_structural_zero(x) else x + y


def _source_bars(edges_bar: Any, source: _Source) -> tuple[Any, Any, Any]:
    """The cotangents of the entries, the bins and the range, of which at most one made the edges."""
    if is_structural_zero(edges_bar):
        return None, None, None
    if np.ndim(source.bins) == 1:
        return None, unbroadcast(edges_bar, source.bins), None
    edges_bar = np.real(edges_bar)
    share = np.linspace(0.0, 1.0, len(edges_bar), dtype=edges_bar.dtype)
    low, high = np.sum((1.0 - share) * edges_bar), np.sum(share * edges_bar)
    if source.range is not None:
        bars = [unbroadcast(bar, end) for bar, end in zip((low, high), source.range, strict=True)]
        return None, None, _as_items(bars, source.range)
    entries = source.entries
    if entries.size == 0:
        return None, None, None
    lowest = extremum_bar(low, entries, np.min(entries), None, False)
    return lowest + extremum_bar(high, entries, np.max(entries), None, False), None, None


def _as_items(bars: list[Any], x: Any) -> Any:
    """The cotangent of a collection from those of its items."""
    if all(bar is None for bar in bars):
        return None
    return stack_items(x, bars) if isinstance(x, np.ndarray) else tuple(bars) if isinstance(x, tuple) else bars


@pullback(np.histogram)
def histogram_pullback(y_bar, a, bins=10, range=None, density=None, weights=None, *, y):
    """weights_bar is the cotangent of the bin that they were added to; that of the edges goes to what made them."""
    return (*histogram_bars(y_bar, y, a, bins, range, density, weights),)


def histogram_bars(y_bar: Any, y: Any, a: Any, bins: Any, range: Any, density: Any, weights: Any) -> tuple[Any, ...]:
    """The cotangents of the arguments of np.histogram."""
    bars = _all_bars(y_bar[0], [y_bar[1]], y[0], [y[1]], [_Source(np.ravel(a), bins, range)], density, weights)
    return _reshaped(bars.entries[0], a), bars.bins[0], bars.ranges[0], None, bars.weights


def _reshaped(a_bar: Any, a: Any) -> Any:
    return None if a_bar is None else unbroadcast(np.reshape(a_bar, np.shape(a)), a)


@pullback(np.histogram_bin_edges)
def histogram_bin_edges_pullback(y_bar, a, bins=10, range=None, weights=None):
    """The edges of np.histogram."""
    a_bar, bins_bar, range_bar = edge_sources_bars(y_bar, a, bins, range)
    return a_bar, bins_bar, range_bar


def edge_sources_bars(y_bar: Any, a: Any, bins: Any, range: Any) -> tuple[Any, Any, Any]:
    """The cotangents of what the edges were made of."""
    entries_bar, bins_bar, range_bar = _source_bars(y_bar, _Source(np.ravel(a), bins, range))
    return _reshaped(entries_bar, a), bins_bar, range_bar


@pullback(np.histogram2d)
def histogram2d_pullback(z_bar, x, y, bins=10, range=None, density=None, weights=None, *, z):
    """As np.histogram, for pairs of entries."""
    return (*histogram2d_bars(z_bar, z, x, y, bins, range, density, weights),)


def histogram2d_bars(
    z_bar: Any, z: Any, x: Any, y: Any, bins: Any, ranges: Any, density: Any, weights: Any
) -> tuple[Any, ...]:
    """The cotangents of the arguments of np.histogram2d. Edges may be given once for both axes."""
    shared = not _for_each_axis(bins) or len(bins) != 2
    sources = _sources([np.asarray(x), np.asarray(y)], [bins, bins] if shared else bins, ranges)
    bars = _all_bars(z_bar[0], z_bar[1:], z[0], list(z[1:]), sources, density, weights)
    bins_bar = functools.reduce(_sum, bars.bins) if shared else _as_items(bars.bins, bins)
    x_bar, y_bar = _reshaped(bars.entries[0], x), _reshaped(bars.entries[1], y)
    return x_bar, y_bar, bins_bar, _as_items(bars.ranges, ranges), None, bars.weights


def _sum(x: Any, y: Any) -> Any:
    return x if y is None else _add(x, y)


def _for_each_axis(bins: Any) -> bool:
    return isinstance(bins, list | tuple) or np.ndim(bins) > 0


def _sources(columns: list[np.ndarray], bins: Any, ranges: Any) -> list[_Source]:
    """For each axis what is given for it, or for all of them."""
    count = len(columns)
    each = bins if _for_each_axis(bins) else [bins] * count
    return list(map(_Source, columns, each, [None] * count if ranges is None else ranges))


@pullback(np.histogramdd)
def histogramdd_pullback(z_bar, sample, bins=10, range=None, density=None, weights=None, *, z):
    """As np.histogram, for rows of entries."""
    return (*histogramdd_bars(z_bar, z, sample, bins, range, density, weights),)


def histogramdd_bars(
    z_bar: Any, z: Any, sample: Any, bins: Any, ranges: Any, density: Any, weights: Any
) -> tuple[Any, ...]:
    """The cotangents of the arguments of np.histogramdd. The sample is a matrix, or a sequence of its columns."""
    by_rows = isinstance(sample, np.ndarray) and sample.ndim == 2
    columns = list(sample.T if by_rows else np.atleast_2d(sample))
    sources = _sources(columns, bins, ranges)
    bars = _all_bars(z_bar[0], z_bar[1], z[0], list(z[1]), sources, density, weights)
    parts = bars.entries
    if all(part is None for part in parts):
        sample_bar: Any = None
    else:
        rows = np.stack([np.zeros(column.shape) if part is None else part for part, column in zip(parts, columns, strict=True)])
        sample_bar = rows.T if by_rows else unbroadcast(rows.reshape(np.shape(sample)), sample)
    return sample_bar, _as_items(bars.bins, bins), _as_items(bars.ranges, ranges), None, bars.weights


_ENTRIES = np.array([0.3, 2.9, 1.1, 1.7, 0.45, 2.1])
_MORE = np.array([-1.2, 0.6, 0.15, 1.4, -0.3, 0.95])
_SIX = np.array([0.5, -0.4, 2.0, 0.7, 1.1, 0.9])
_EDGES = np.array([0.1, 0.9, 1.5, 2.5])
_CALLS = ((_ENTRIES, 4), (_ENTRIES, _EDGES), (_ENTRIES, 3, (0.2, 2.2)), (_ENTRIES.reshape(2, 3), 3), (_ENTRIES, "fd"))
examples(np.histogram, *_CALLS, (_ENTRIES[:0], 3), ([0.5, 1.5, 0.9], [0.0, 1.0, 1.7]), (_ENTRIES, _EDGES[:1]))
example(np.histogram, np.arange(5), 2)
examples(np.histogram, (_ENTRIES, 4, None, True), (_ENTRIES, _EDGES, None, True), (_ENTRIES, 3, [0.2, 2.2], True))
for _density in (False, True):
    examples(np.histogram, (_ENTRIES, 4, None, _density, _SIX), (_ENTRIES, _EDGES, None, _density, _SIX * (1.0 + 0.5j)))
    examples(np.histogram, (_ENTRIES.reshape(2, 3), 3, np.array([0.2, 2.2]), _density, _SIX.reshape(2, 3)))
    examples(np.histogram2d, (_ENTRIES, _MORE, 3, None, _density, _SIX), (_ENTRIES, _MORE, _EDGES - 0.85, None, _density, _SIX))
    examples(np.histogram2d, (_ENTRIES, _MORE, [_EDGES, 2], [None, (-1.0, 1.0)], _density, _SIX))
    examples(np.histogram2d, (_ENTRIES, _MORE, (2, 3), np.array([[0.1, 2.4], [-1.4, 1.3]]), _density))
    examples(np.histogramdd, (np.stack([_ENTRIES, _MORE], 1), 3, None, _density, _SIX), (_ENTRIES, 3, None, _density, _SIX))
    examples(np.histogramdd, ([_ENTRIES, _MORE, _SIX], (2, _EDGES - 1.0, 3), [(0.2, 3.0), None, None], _density, _SIX))
example(np.histogramdd, np.stack([_ENTRIES, _MORE], 1), [_EDGES, _EDGES - 0.85], weights=_SIX)
examples(np.histogram_bin_edges, *_CALLS)
