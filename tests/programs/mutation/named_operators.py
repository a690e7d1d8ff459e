"""Writes beside special methods of builtin classes that are called by their names."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import V3, W3, K, program


@program(V3, W3, features="ndarray.__iadd__")
def operators_in_place_by_name(x, w):
    y = x.copy()
    y.__iadd__(w)
    np.ndarray.__imul__(y, x)
    y.__setitem__(0, x[1] * 2)
    return (y.__mul__(y)).sum()


@program(V3, features="ndarray.__getitem__, view")
def a_view_by_name(x):
    y = x.copy()
    y.__getitem__(slice(0, 2))[0] = x[1] * 5
    np.ndarray.__getitem__(y, slice(1, None)).__imul__(3.0)
    return np.sum(y * y)


@program(V3, features="ndarray.__array__, alias")
def the_array_itself(x):
    z = x * 1.0
    y = z.__array__()
    y[0] = 7.0 * y[1]
    return z.sum()


@program(V3, features="ndarray.__array__, alias of an argument")
def the_argument_itself(x):
    y = x.__array__()
    y[0] = 7.0 * y[1]
    return y.__add__(x).sum()


@program(K, features="list.__setitem__, dict.__setitem__")
def containers_by_name(k):
    items, table = [k, k * k], {"a": k}
    items.__setitem__(0, k * 3)
    dict.__setitem__(table, "b", items.__getitem__(0) * k)
    return list.__getitem__(items, 0) * items.__getitem__(1) + dict.__getitem__(table, "b") + table.__getitem__("a")


@program(V3, features="a bound operator, kept while its array is written")
def an_operator_that_sees_writes(x):
    y = x * 2.0
    times = y.__mul__
    y[1] = x[0] * x[2]
    return times(x).sum()
