"""Losses of a prediction `y_hat` against a target `y`, each a mean over the samples, each with its rule beside it.

Both arguments are differentiated: `y` may itself come from a model. All rules share one form, with n the number of
terms of the mean: y_hat_bar = loss_bar / n * (derivative of the sum of the terms).
"""

from __future__ import annotations

import math

import numpy as np

from microgradpy.nn.activations import Numbers, class_sum, logsoftmax
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import like, returns
from microgradpy.tangents.types import NoTangent

# Added to probabilities before their logarithm, so that a probability of zero costs 13.8 and not infinity.
EPSILON = 1e-6


def mse(y_hat: Numbers, y: Numbers) -> Numbers:
    """The mean of (y_hat - y)^2 over all entries (of the broadcast shape)."""
    return np.mean(np.square(y_hat - y))


@rrule.register(mse)
def mse_rrule(y_hat, y):
    """loss = mean(e^2), e = y_hat - y: y_hat_bar = loss_bar * 2 conj(e) / n, y_bar the negative."""
    error = y_hat - y

    def mse_pullback(loss_bar):
        return (
            NoTangent(),
            unbroadcast(loss_bar * 2.0 / term_count(error) * conj(error), y_hat),
            unbroadcast(loss_bar * -2.0 / term_count(error) * conj(error), y),
        )

    return np.mean(np.square(error)), mse_pullback


def cross_entropy(y_hat: Numbers, y: Numbers, axis: int = -1) -> Numbers:
    """-sum(y * log(y_hat + 1e-6)) along `axis`, averaged over the samples (all other axes).

    `y_hat` are probabilities and `y` target probabilities (one-hot rows, say) of the same shape; ValueError
    otherwise."""
    return mean_of_sums(y, log_probability(y_hat, y), axis)


@rrule.register(cross_entropy)
def cross_entropy_rrule(y_hat, y, axis=-1):
    """y_hat_bar = -loss_bar / n * y / (y_hat + 1e-6), y_bar = -loss_bar / n * log(y_hat + 1e-6), n samples.
    The 1e-6 is in both, as it is in the value."""
    log_y_hat = log_probability(y_hat, y)

    def cross_entropy_pullback(loss_bar):
        return (
            NoTangent(),
            -loss_bar / sample_count(y_hat, axis) * y / (y_hat + EPSILON),
            -loss_bar / sample_count(y, axis) * log_y_hat,
        )

    return mean_of_sums(y, log_y_hat, axis), cross_entropy_pullback


def logit_cross_entropy(y_hat: Numbers, y: Numbers, axis: int = -1) -> Numbers:
    """-sum(y * logsoftmax(y_hat)) along `axis`, averaged over the samples (all other axes).

    `y_hat` are the outputs of a linear last layer and `y` target probabilities of the same shape; ValueError
    otherwise."""
    return mean_of_sums(y, target_logsoftmax(y_hat, y, axis), axis)


@rrule.register(logit_cross_entropy)
def logit_cross_entropy_rrule(y_hat, y, axis=-1):
    """Fused, with p = softmax(y_hat): y_hat_bar = loss_bar / n * (p * sum(y) - y), y_bar = -loss_bar / n * log(p).
    The sum is along `axis`; it is 1 for one-hot targets, and the rule holds for any others too. Only log(p) is kept."""
    log_p = target_logsoftmax(y_hat, y, axis)

    def logit_cross_entropy_pullback(loss_bar):
        return (
            NoTangent(),
            (np.exp(log_p) * class_sum(y, axis) - y) * (loss_bar / sample_count(y, axis)),
            log_p * (-loss_bar / sample_count(y_hat, axis)),
        )

    return mean_of_sums(y, log_p, axis), logit_cross_entropy_pullback


def hinge_loss(y_hat: Numbers, y: Numbers) -> Numbers:
    """The mean of max(0, 1 - y * y_hat) over all entries; targets `y` are -1 or 1. Derivative 0 at the margin's
    edge."""
    return np.mean(np.maximum(1.0 - y * y_hat, 0))


@rrule.register(hinge_loss)
def hinge_loss_rrule(y_hat, y):
    """Inside the margin, where 1 - y * y_hat > 0: y_hat_bar = -loss_bar / n * y, y_bar = -loss_bar / n * y_hat; else
    0."""
    loss = np.maximum(1.0 - y * y_hat, 0)

    def hinge_loss_pullback(loss_bar):
        return (
            NoTangent(),
            unbroadcast((loss > 0) * (-loss_bar / term_count(loss)) * y, y_hat),
            unbroadcast((loss > 0) * (-loss_bar / term_count(loss)) * y_hat, y),
        )

    return np.mean(loss), hinge_loss_pullback


@like(0)
def log_probability(y_hat: Numbers, y: Numbers) -> Numbers:
    """log(y_hat + 1e-6), for `y_hat` of y's shape."""
    _require_comparable(y_hat, y)
    return np.log(y_hat + EPSILON)


@like(0)
def target_logsoftmax(y_hat: Numbers, y: Numbers, axis: int) -> Numbers:
    """logsoftmax(y_hat), for `y_hat` of y's shape."""
    _require_comparable(y_hat, y)
    return logsoftmax(y_hat, axis)


@returns(float)
def mean_of_sums(y: Numbers, log_p: Numbers, axis: int) -> Numbers:
    """-sum(y * log_p) along `axis`, averaged over the other axes; y and log_p are real and of the same shape."""
    # The inner product makes no array of products, and takes a quarter of the time at (100, 2).
    return -1.0 * np.vdot(y, log_p) / sample_count(log_p, axis)


@returns(float)
def sample_count(x: Numbers, axis: int) -> float:
    """How many samples there are when `axis` runs over the classes; a number or a vector is one sample. NaN if there are
    none, as a mean over nothing is."""
    shape = np.shape(x)
    if len(shape) == 2:
        return shape[0 if axis in (1, -1) else 1] or math.nan
    return math.prod(shape[:axis] + shape[axis:][1:]) or math.nan


@returns(float)
def term_count(terms: Numbers) -> float:
    """How many terms a mean has; NaN if it has none."""
    return float(np.size(terms)) or math.nan


def _require_comparable(y_hat: Numbers, y: Numbers) -> None:
    y_hat, y = np.asarray(y_hat), np.asarray(y)
    if "c" in (y_hat.dtype.kind, y.dtype.kind):
        raise TypeError("cross entropy is defined for real numbers, and this is complex")
    # Broadcasting here is a mistake (integer labels, a lost axis) that would train on nonsense without a word.
    if y_hat.shape != y.shape:
        raise ValueError(
            f"prediction has shape {y_hat.shape} and target {y.shape}; "
            "they must agree (integer labels as one-hot rows: np.eye(classes)[labels])"
        )


_PREDICTION, _TARGET = np.array([4.0, 2.0, -3.0, 1.5]), np.array([6.0, -2.0, -1.0, 1.5])
_LOGITS, _ONE_HOT = np.array([[-0.5, 1.0], [0.6, 0.3], [-1.0, 0.4]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
_PROBABILITIES = np.array([[0.7, 0.3], [0.2, 0.8], [0.1, 0.9]])
_SIGNS = np.array([1.0, -1.0, 1.0, -1.0])

examples(mse, (4.0, 1.5), (_PREDICTION, _TARGET), (_LOGITS, _ONE_HOT), (_LOGITS, 0.5))
examples(cross_entropy, (_PROBABILITIES[0], _ONE_HOT[1]), (_PROBABILITIES, _ONE_HOT))
examples(cross_entropy, (_PROBABILITIES, _ONE_HOT), axis=0)
examples(logit_cross_entropy, (_PREDICTION, _TARGET), (_LOGITS, _ONE_HOT))
examples(logit_cross_entropy, (_LOGITS, _ONE_HOT), axis=0)
examples(hinge_loss, (0.5, 1.0), (_PREDICTION, _SIGNS), (_LOGITS, 2.0 * _ONE_HOT - 1.0))
