"""scipy.stats: Dirichlet's and the normal distribution of several variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import numbers
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

dirichlet, multivariate_normal = stats.dirichlet, stats.multivariate_normal


@pullback(stats.dirichlet.logpdf)
def dirichlet_logpdf_pullback(y_bar, x, alpha):
    """x_bar = y_bar * (alpha - 1) / x, alpha_bar = y_bar * (log(x) - psi(alpha) + psi(the sum of alpha))."""
    return (*dirichlet_bars(y_bar, x, alpha),)


@pullback(stats.dirichlet.pdf)
def dirichlet_pdf_pullback(y_bar, x, alpha, *, y):
    """As `logpdf`, times y."""
    return (*dirichlet_bars(y_bar * y, x, alpha),)


def dirichlet_bars(y_bar: Any, x: Any, alpha: Any) -> tuple[Any, Any]:
    """The cotangents of x, whose first axis is that of the variables, and of alpha. The last variable may be left out: it is
    what is missing to one."""
    shares, alpha = numbers(np.asarray(x)), numbers(np.asarray(alpha))
    whole = shares if len(shares) == len(alpha) else np.concatenate([shares, 1.0 - np.sum(shares, axis=0, keepdims=True)])
    weights = alpha.reshape(-1, *(1,) * (whole.ndim - 1))
    with np.errstate(all="ignore"):
        slope = np.where(weights == 1.0, 0.0, (weights - 1.0) / whole)
        if len(shares) < len(alpha):
            slope = slope[:-1] - slope[-1:]
        log_bar = y_bar * (np.log(whole) - special.psi(weights) + special.psi(np.sum(alpha)))
    return y_bar * slope, unbroadcast(log_bar.reshape(len(alpha), -1).sum(axis=1), alpha)


_ALPHA = np.array([1.5, 2.5, 0.8])
_POINT = np.array([0.2, 0.3, 0.5])
_POINTS = np.array([[0.2, 0.3, 0.1, 0.45], [0.3, 0.6, 0.2, 0.15], [0.5, 0.1, 0.7, 0.4]])
for _f in (dirichlet.logpdf, dirichlet.pdf):
    examples(
        _f,
        (_POINT, _ALPHA),
        (_POINTS, _ALPHA),
        (_POINT[:2], _ALPHA),
        (_POINTS[:2], _ALPHA),
        (_POINT, np.array([1.0, 2.0, 3.0])),
    )


@pullback(stats.multivariate_normal.logpdf)
def multivariate_normal_logpdf_pullback(y_bar, x, mean=None, cov=1, allow_singular=False):
    """With d = x - mean and P = cov^-1: x_bar = -y_bar * P d, mean_bar = -x_bar, cov_bar = y_bar * (P d d^T P - P) / 2, in the
    lower triangle, which is what SciPy reads."""
    return *normal_bars(y_bar, x, mean, cov, allow_singular), NoTangent()


@pullback(stats.multivariate_normal.pdf)
def multivariate_normal_pdf_pullback(y_bar, x, mean=None, cov=1, allow_singular=False, *, y):
    """As `logpdf`, times y."""
    return *normal_bars(y_bar * y, x, mean, cov, allow_singular), NoTangent()


def normal_bars(y_bar: Any, x: Any, mean: Any, cov: Any, allow_singular: bool) -> tuple[Any, Any, Any]:
    """The cotangents of x, whose last axis is that of the variables, of the mean and of the covariance."""
    size = dimension(mean, cov)
    points = numbers(np.asarray(x))
    if points.ndim == 0 or (points.ndim == 1 and size == 1):  # of one variable a vector is a row of values
        points = points[..., np.newaxis]
    matrix = covariance_matrix(cov, size)
    precision = np.linalg.pinv(matrix, hermitian=True) if allow_singular else np.linalg.inv(matrix)
    d = points if mean is None else points - numbers(np.asarray(mean))
    whitened = d @ precision
    weights = np.reshape(y_bar, d.shape[:-1])
    slope = weights[..., np.newaxis] * whitened
    mean_bar = NoTangent() if mean is None else unbroadcast(slope.reshape(-1, size).sum(axis=0), mean)
    if allow_singular:
        return -slope.reshape(np.shape(x)), mean_bar, not_implemented("of a density with allow_singular in the covariance")
    outer = slope.reshape(-1, size).T @ whitened.reshape(-1, size)
    return -slope.reshape(np.shape(x)), mean_bar, covariance_bar(0.5 * (outer - np.sum(weights) * precision), cov)


def dimension(mean: Any, cov: Any) -> int:
    """The number of variables, as SciPy takes it from the mean and the covariance."""
    if mean is not None:
        return int(np.size(mean))
    shape = cov.shape if hasattr(cov, "shape") else np.shape(cov)
    return int(shape[-1]) if len(shape) > 1 else 1


def covariance_matrix(cov: Any, size: int) -> Any:
    """The matrix that a number, a diagonal or a matrix stands for; of the latter the lower triangle."""
    cov = numbers(np.asarray(getattr(cov, "covariance", cov)))
    if cov.ndim < 2:
        return np.diag(np.broadcast_to(cov, (size,)))
    lower = np.tril(cov)
    return lower + np.tril(cov, -1).T


def covariance_bar(bar: Any, cov: Any) -> Any:
    """The cotangent of a number, a diagonal or the lower triangle of a matrix from that of the symmetric matrix."""
    if hasattr(cov, "covariance"):
        return not_implemented("of a density in a Covariance object: give the matrix")
    if np.ndim(cov) == 0:
        return unbroadcast(np.trace(bar), cov)
    if np.ndim(cov) == 1:
        return np.diagonal(bar)
    return np.tril(bar) + np.tril(bar, -1)


@pullback(stats.multivariate_normal.entropy)
def multivariate_normal_entropy_pullback(y_bar, mean=None, cov=1):
    """y = log(det(2 pi e cov)) / 2: cov_bar = y_bar * cov^-1 / 2, in the lower triangle."""
    return NoTangent(), entropy_bar(y_bar, cov, mean)


def entropy_bar(y_bar: Any, cov: Any, mean: Any) -> Any:
    """The cotangent of the covariance."""
    return covariance_bar(0.5 * y_bar * np.linalg.inv(covariance_matrix(cov, dimension(mean, cov))), cov)


_MEAN = np.array([0.3, -0.2, 0.9])
_COV = np.array([[1.5, 0.3, -0.2], [0.3, 0.9, 0.1], [-0.2, 0.1, 0.7]])
_DRAWS = np.array([[0.5, 0.1, 1.2], [-0.7, 0.4, 0.3], [0.2, -0.9, 1.1], [0.0, 0.3, 0.2]])
for _f in (multivariate_normal.logpdf, multivariate_normal.pdf):
    examples(_f, (_DRAWS[0], _MEAN, _COV), (_DRAWS, _MEAN, _COV), (_DRAWS.reshape(2, 2, 3), _MEAN, _COV), (_DRAWS, None, _COV))
    examples(_f, (_DRAWS, _MEAN, 0.7), (_DRAWS, _MEAN, np.array([0.5, 1.5, 0.9])), (0.4, 0.1, 1.3), (_MEAN, 0.1, 1.3), (0.4,))
    examples(_f, (_DRAWS, _MEAN), (list(_MEAN), list(_DRAWS[0])), (_DRAWS[:, :1], None, 1.3), (_DRAWS[0], np.zeros(3, int), 2))
examples(multivariate_normal.entropy, (_MEAN, _COV), (None, 0.7), (_MEAN, np.array([0.5, 1.5, 0.9])), (None, _COV))
