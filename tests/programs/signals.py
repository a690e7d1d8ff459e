"""Programs on sampled signals: spectra, filters, interpolation, differences and histograms."""

from __future__ import annotations

import numpy as np

from tests.programs.table import program

V = np.array([0.5, -1.5, 2.5, 0.3, 1.1])
M = np.array([[0.5, 1.5, -0.5], [2.5, -3.5, 1.0]])
PLACES = np.array([-2.0, 0.1, 0.9, 3.0])
BINS = np.array([2, 0, 2, 3, 0])


@program(V, features="np.fft")
def power_spectrum(x):
    spectrum = np.fft.rfft(x * np.hanning(len(x) + 2)[1:-1], 8, norm="ortho")
    frequencies = np.fft.rfftfreq(8)
    return np.sum(np.abs(spectrum) ** 2 * np.exp(-frequencies))


@program(V, 0.7, features="np.fft, keyword arguments")
def filtered(x, width):
    spectrum = np.fft.fft(a=x)
    spectrum *= np.exp(-((width * np.fft.fftfreq(len(x), d=0.5)) ** 2))
    return np.sum(np.fft.ifft(spectrum, norm=None).real * x)


@program(M, features="np.fft of two axes")
def shifted_spectrum(x):
    spectrum = np.fft.fftshift(np.fft.fft2(x, s=(3, 4)), axes=(0, 1))
    return np.sum(spectrum.real * np.arange(12.0).reshape(3, 4)) + np.sum(np.fft.irfft2(spectrum, axes=(0, 1)) ** 2)


@program(V, np.array([0.3, -0.2, 0.9]), features="np.convolve and np.correlate")
def smoothed(x, kernel):
    y = np.convolve(x, kernel, mode="same") + np.convolve(kernel, x, "full")[1:-1]
    return np.sum(y * np.correlate(x, kernel, "same")) + np.correlate(kernel, x)[0]


@program(V, np.array([0.4, 1.4, -0.8, 2.0]), features="np.interp")
def table_lookup(x, values):
    low, high = np.interp(x, PLACES, values, left=0.5), np.interp(x=2.0 * x, xp=PLACES, fp=values, right=values[1])
    return np.sum(low * high) + np.interp(x[0], np.sort(values), PLACES, period=7.0)


@program(np.outer(V, V), 0.3, features="np.gradient")
def flux(x, step):
    down, across = np.gradient(x, step, np.array([0.0, 0.2, 0.5, 1.1, 1.3]), edge_order=2)
    return np.sum(down * across) + np.sum(np.gradient(x[0]) ** 3)


@program(V * 3.0, 5.0, features="np.unwrap")
def continuous_phase(x, period):
    return np.sum(np.unwrap(x, period=2.0) * x) + np.unwrap(x, None, -1, period=period)[2]


@program(V, features="np.bincount, np.histogram")
def weighted_histograms(w):
    totals = np.bincount(BINS, weights=w * w, minlength=6)
    counts, edges = np.histogram(PLACES, bins=3, weights=w[:4], density=True)
    middle = 0.5 * (edges[1:] + edges[:-1])
    return np.sum(totals**2) + np.sum(counts * middle)


@program(V, features="np.histogram")
def density(x):
    h, edges = np.histogram(x, 3, density=True)
    plane, across, down = np.histogram2d(x, x**2, bins=3, range=None, weights=x)
    return np.sum(h * np.sin(edges[1:])) + np.sum(plane * np.outer(across[1:], down[:-1]))


@program(1.5, features="arrays made of numbers")
def grids(x):
    return np.sum(np.geomspace(x, 8.0, num=4) * np.logspace(0.0, x, 4, base=x) * np.kaiser(4, 2.0 * x)) + np.i0(x)


@program(M, V[:3], features="np.vecdot, np.vander, np.ediff1d")
def products_of_stacks(a, v):
    powers = np.vander(v, 3, increasing=True)
    products = np.sum(np.vecdot(a, v) ** 2) + np.sum(np.matrix_transpose(a) * powers[:, 1:])
    return products + np.sum(np.ediff1d(v, to_end=v[0]) ** 2)
