"""Cotangents of arrays of which some entries were chosen: `maximum(x, y)`, `minimum(x, y)`. Ties share evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of


@cotangent_of(1)
def maximum_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under maximum(x, y)."""
    return unbroadcast(share(z_bar, np.greater(x, y), np.equal(x, y)), x)


@cotangent_of(1)
def minimum_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under minimum(x, y)."""
    return unbroadcast(share(z_bar, np.less(x, y), np.equal(x, y)), x)


def share(z_bar: Any, wins: Any, ties: Any) -> Any:
    """`z_bar` where `wins`, half of it where `ties`, else 0. Selected, not multiplied, so that 0 * inf is 0."""
    kept = np.where(wins, z_bar, 0.0)
    return np.where(ties, 0.5 * z_bar, kept) if np.any(ties) else kept


def share_in_place(z_bar: Any, wins: Any, ties: Any) -> Any:
    """The same for an array of the shape of the others, written into it."""
    if ties is not False:
        z_bar[ties] *= 0.5
        wins = wins | ties
    np.copyto(z_bar, 0.0, where=~wins)
    return z_bar


def ties(x: Any, y: Any) -> Any:
    """Where two are equal, for `share`; False if that is nowhere, which takes no memory."""
    found = np.equal(x, y)
    return found if np.any(found) else False
