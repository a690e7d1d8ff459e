"""Structured arrays: fields that are assigned and read are differentiated, entries as a whole are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.lib.recfunctions as rfn
import pytest

from microgradpy import DifferentiationError, gradient, jvp, pullback
from tests.ways import WAYS

RIGHT: list[Callable[..., Any]] = []
REFUSED: list[Callable[..., Any]] = []
X, X_DOT = np.array([0.7, 1.3]), np.array([1.0, 0.5])


def right(f):
    """Enter a function whose derivative is found."""
    RIGHT.append(f)
    return f


def refused(f):
    """Enter a function that is refused."""
    REFUSED.append(f)
    return f


DT = [("a", "f8"), ("b", "f8")]


@right
def by_field_field(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x[:2]
    return np.sum(s["a"] * 2)


@refused
def as_a_whole_item(x):
    s = np.zeros(2, dtype=DT)
    s[0] = (x[0], x[1])
    return s[0]["a"] * s["b"][0]


@refused
def as_a_whole_item2(x):
    s = np.empty(2, dtype=DT)
    s[0] = (x[0], x[1])
    return s["a"][0] + s["b"][0]


@refused
def as_a_whole_arr(x):
    s = np.array([(x[0], x[1]), (x[1], x[0])], dtype=DT)
    return np.sum(s["a"] * s["b"])


@refused
def as_a_whole_arr2(x):
    s = np.array([(x[0], x[1])], dtype=np.dtype(DT))
    return s["a"][0]


@refused
def as_a_whole_asarray(x):
    s = np.asarray([(x[0], x[1])], dtype=DT)
    return s["a"][0]


@refused
def as_a_whole_view(x):
    s = x[:2].view(DT)
    return s["a"][0] * 2


@refused
def as_a_whole_rec(x):
    s = np.rec.array([(x[0], x[1])], dtype=DT)
    return s.a[0]


@refused
def as_a_whole_fromarrays(x):
    s = np.rec.fromarrays([x, x * 2], names="a,b")
    return np.sum(s.a * s.b)


@refused
def as_a_whole_fromrec(x):
    s = np.rec.fromrecords([(x[0], x[1])], names="a,b")
    return s.a[0]


@refused
def as_a_whole_ndfield(x):
    s = np.zeros(2, dtype=[("v", "f8", (2,))])
    s["v"][0] = x[:2]
    return np.sum(s["v"] ** 2)


@refused
def as_a_whole_scalar(x):
    s = np.zeros(2, dtype=DT)
    s[0]["a"] = x[0]
    return s[0]["a"] ** 2


@right
def by_field_loop(x):
    s = np.zeros(2, dtype=DT)
    for i in range(2):
        s["a"][i] = x[i] ** 2
    return np.sum(s["a"])


@refused
def as_a_whole_multi(x):
    s = np.zeros(2, dtype=DT)
    s[["a", "b"]] = np.array([(x[0], x[1])] * 2, dtype=DT)
    return s["a"][0]


@right
def by_field_fill(x):
    s = np.zeros(2, dtype=DT)
    s["a"].fill(x[0])
    return np.sum(s["a"])


@right
def by_field_iadd(x):
    s = np.zeros(2, dtype=DT)
    s["a"] += x[:2]
    return np.sum(s["a"] ** 2)


@right
def by_field_copyto(x):
    s = np.zeros(2, dtype=DT)
    np.copyto(s["a"], x[:2])
    return np.sum(s["a"])


@refused
def as_a_whole_setf(x):
    s = np.zeros(2, dtype=DT)
    s.setfield(x[:2], "f8", 0)
    return np.sum(s["a"])


@refused
def as_a_whole_full(x):
    s = np.full(2, (x[0], x[1]), dtype=DT)
    return np.sum(s["a"])


@refused
def as_a_whole_astype(x):
    s = x[:2].astype(DT)
    return np.sum(s["a"])


@right
def by_field_zl(x):
    s = np.zeros_like(x, dtype=DT)
    s["a"] = x
    return np.sum(s["a"])


@right
def by_field_helper(x):
    s = np.zeros(2, dtype=DT)
    put(s, x)
    return np.sum(s["a"])


def put(s, x):
    s["a"] = x[:2]


@right
def by_field_out(x):
    s = np.zeros(2, dtype=DT)
    np.multiply(x[:2], 2.0, out=s["a"])
    return np.sum(s["a"])


S = np.zeros(2, dtype=DT)


@right
def by_field_global(x):
    S["a"] = x[:2]
    return np.sum(S["a"] ** 2)


@right
def by_field_arg(x, s=None):
    return np.sum(ARG["a"] * x)


ARG = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=DT)


@refused
def as_a_whole_void(x):
    r = np.array((x[0], x[1]), dtype=DT)
    return r["a"] * r["b"]


@refused
def as_a_whole_void2(x):
    r = np.void((x[0], x[1]), dtype=DT)
    return r["a"]


@refused
def as_a_whole_recfield(x):
    s = np.recarray(2, dtype=DT)
    s.a = x[:2]
    return np.sum(s.a)


@refused
def as_a_whole_recfield2(x):
    s = np.zeros(2, dtype=DT).view(np.recarray)
    s.a = x[:2]
    return np.sum(s.a**2)


@refused
def as_a_whole_merge(x):
    return np.sum(rfn.structured_to_unstructured(rfn.unstructured_to_structured(x.reshape(1, 2), np.dtype(DT))))


@refused
def as_a_whole_list(x):
    s = np.array([(1, x[0])], dtype=[("i", "i4"), ("v", "f8")])
    return s["v"][0] * s["i"][0]


@right
def by_field_1(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s["a"] = s["a"] * s["a"]
    s["b"] = s["a"] + x
    return np.sum(s["b"] * s["a"])


@right
def by_field_2(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x[0]
    s["a"][1] = x[1]
    return np.sum(s["a"] ** 2)


@right
def by_field_3(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s["a"] = 1.0
    s["b"] = s["a"] * x
    return np.sum(s["b"] ** 2)


@right
def by_field_4(x):
    s = np.zeros((2, 2), dtype=DT)
    s["a"] = x
    s["b"][0] = x
    return np.sum(s["a"] * s["b"])


@refused
def as_a_whole_5(x):
    s = np.zeros(2, dtype=[("p", "f8", (2,)), ("q", "f4")])
    s["p"] = x
    s["q"] = x
    return np.sum(s["p"] ** 2)


@right
def by_field_6(x):
    s = np.zeros(2, dtype=DT)
    for name in ("a", "b"):
        s[name] = x * x
    return np.sum(s["a"] * s["b"])


@right
def by_field_7(x):
    s = np.zeros(2, dtype=DT)
    t = s
    t["a"] = x
    return np.sum(s["a"] ** 2)


@refused
def as_a_whole_8(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    u = s.copy()
    s["a"] = 0.0
    return np.sum(u["a"] ** 2)


@refused
def as_a_whole_10(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    return s[0]["a"] * s[1][0]


@refused
def as_a_whole_11(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s.sort(order="a")
    return s["a"][0]


@refused
def as_a_whole_12(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    t = np.concatenate([s, s])
    return np.sum(t["a"])


@refused
def as_a_whole_13(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    return sum(r["a"] ** 2 for r in s)


@refused
def as_a_whole_14(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s[1] = s[0]
    return np.sum(s["a"] ** 2)


@refused
def as_a_whole_15(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s[:] = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=DT)
    return np.sum(s["a"] * x)


@refused
def as_a_whole_16(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    t = np.array(s)
    return np.sum(t["a"] ** 2)


@refused
def as_a_whole_17(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    t = s[[1, 0]]
    return np.sum(t["a"] ** 2)


@refused
def as_a_whole_19(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    v = s.view("f8")
    return np.sum(v**2)


@refused
def as_a_whole_20(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    return s.tolist()[0][0] ** 2


@refused
def as_a_whole_21(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    return s.item(0)[0] ** 2


@right
def by_field_22(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    a = s["a"]
    s["a"] = x * x
    return np.sum(a)


@right
def by_field_23(x):
    s = np.zeros(2, dtype=DT)
    s["a"], s["b"] = (x, x * 2)
    return np.sum(s["a"] * s["b"])


@refused
def as_a_whole_24(x):
    s = np.zeros(2, dtype=DT)
    s["a"][x > 1] = x[x > 1]
    s.fill(0)
    return np.sum(s["a"] * x)


@refused
def as_a_whole_25(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s[...] = 0
    return np.sum(s["a"] * x) + x[0]


@right
def by_field_26(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    s["b"] = s["a"][::-1]
    s["a"] = s["b"]
    return np.sum(s["a"] * np.array([1.0, 2.0]))


@refused
def as_a_whole_27(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    np.copyto(s, np.zeros(2, dtype=DT))
    return np.sum(s["a"]) + x[0]


@refused
def as_a_whole_28(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    t = np.where(x > 0, s, s)
    return np.sum(t["a"])


@refused
def as_a_whole_29(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    t = np.sort(s, order="a")
    return t["a"][0]


@refused
def as_a_whole_30(x):
    s = np.zeros(2, dtype=DT)
    s["a"] = x
    return np.sum(s.astype([("a", "f4"), ("b", "f4")])["a"])


def named(f):
    return f.__name__


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", RIGHT, ids=named)
def test_fields_are_differentiated(f, way):
    h = 1e-6
    slope = (f(X + h * X_DOT) - f(X - h * X_DOT)) / (2 * h)
    with WAYS[way]():
        _, back = pullback(f, X)
        found = [gradient(f, X)[0] @ X_DOT, back(1.0)[1] @ X_DOT, back(1.0)[1] @ X_DOT, jvp(f, (X,), (X_DOT,))[1]]
    assert found == pytest.approx([slope] * 4, rel=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", REFUSED, ids=named)
def test_entries_as_a_whole_are_refused(f, way):
    with WAYS[way]():
        for differentiated in (lambda: gradient(f, X), lambda: pullback(f, X)[1](1.0), lambda: jvp(f, (X,), (X_DOT,))):
            with pytest.raises(DifferentiationError, match=r"test_structured\.py:\d+"):
                differentiated()


def test_constants_in_structured_arrays_are_free():
    def constants(x):
        s = np.array([(1.0, 2.0)], dtype=DT)
        return s["a"][0] * x[0] + np.sum(s["b"] * x)

    assert gradient(constants, X)[0] == pytest.approx([3.0, 2.0])
