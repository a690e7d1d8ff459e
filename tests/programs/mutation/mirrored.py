"""Two names of one thing, and copies of it, in programs that write: in forward mode what is written into has a tangent that is
written into."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import program


@program(0.7, features="item of a row that was read before")
def item_of_a_row_that_was_read_before(x):
    t = [[x, 1.0], [2.0, x * x]]
    row = t[0]
    t[0][1] = x * 3
    return row[1] * t[1][1]


@program(0.7, features="rows shared by a copied list")
def rows_shared_by_a_copied_list(x):
    t = [[x, 1.0], [2.0, x * x]]
    u = list(t)
    u[0][0] = x * 5
    return t[0][0] + u[1][1]


@program(0.7, features="one row twice")
def one_row_twice(x):
    t = [[0.0] * 3] * 2
    t[0][1] = x * x
    return t[1][1] * x


@program(0.7, features="copied list and its original")
def copied_list_and_its_original(x):
    a = [x, 2 * x]
    b = list(a)
    a[0] = 5.0 * x
    return b[0] + a[0] * b[1]


@program(0.7, features="two names of a list")
def two_names_of_a_list(x):
    a = [x, 2 * x]
    b = a
    a[0] = 5.0 * x
    return b[0] + a[0] * b[1]


@program(0.7, features="slice and its original")
def slice_and_its_original(x):
    a = [x, 2 * x]
    b = a[:]
    b[0] = 5.0 * x
    return b[0] + a[0] * b[1]


@program(0.7, features="row appended again and again")
def row_appended_again_and_again(x):
    rows = []
    r = [0.0, 0.0]
    for i in range(3):
        r[0] = r[0] + x
        rows.append(r)
    return rows[0][0] * rows[2][0]


@program(0.7, features="rows swapped and written")
def rows_swapped_and_written(x):
    rows = []
    for i in range(3):
        r = [0.0, 0.0]
        rows.append(r)
        r[0] = x * i
    rows[1], rows[2] = (rows[2], rows[1])
    rows[1][1] = x
    return rows[1][0] * rows[2][0] + rows[1][1]


@program(0.7, features="list returned by a nested function")
def list_returned_by_a_nested_function(x):

    def f(items):
        items[0] = items[0] * x
        return items

    a = [x, 1.0]
    b = f(a)
    c = f(b)
    return a[0] + b[0] * c[1] + c[0]


@program(0.7, features="list inside a copied dict")
def list_inside_a_copied_dict(x):
    d = {"a": [x]}
    e = dict(d)
    e["a"][0] = x * x
    d["b"] = x
    return d["a"][0] + len(e) * x


@program([0.7, 1.3], features="sorted copy and sum of lists")
def sorted_copy_and_sum_of_lists(xs):
    ys = xs
    zs = sorted(xs)
    zs[0] = zs[0] * 2
    ws = ys + zs
    ws[0] = 0.0
    return sum(ws) + ys[0]


@program([0.7, 1.3], features="second name that becomes a copy")
def second_name_that_becomes_a_copy(xs):
    best = xs[0]
    a = [0.0] * len(xs)
    b = a
    for i, v in enumerate(xs):
        if v > 1:
            b = a[:]
        b[i] = v * v
    return sum(a) + 2 * sum(b)


@program(0.7, features="copied array and its original")
def copied_array_and_its_original(x):
    v = np.zeros(3)
    w = v
    v[0] = x
    w[1] = v[0] * x
    u = v.copy()
    v[2] = 1.0 * x
    return (w * u).sum() + w[2]


@program([0.7, 1.3], features="row put in the place of another")
def row_put_in_the_place_of_another(xs):
    t = [r for r in [xs, [1.0, 2.0]]]
    t[1][0] = xs[0] * xs[1]
    t[1] = t[0]
    return t[1][0] * 3 + t[0][1]


@program(0.7, features="inserted popped reversed")
def inserted_popped_reversed(x):
    q = []
    for i in range(5):
        q.insert(0, x * i)
        if len(q) > 3:
            q.pop()
    q.reverse()
    q.extend([x, x * x])
    del q[0]
    return sum((v * k for k, v in enumerate(q)))


@program(0.7, features="row of an array that was read before")
def row_of_an_array_that_was_read_before(x):
    v = np.zeros((2, 2))
    v[0, 0] = x
    row = v[0]
    v[0, 1] = x * x
    return row[1] + v[0, 0] * row[0]


@program(0.7, features="array appended again and again")
def array_appended_again_and_again(x):
    rows = []
    v = np.zeros(2)
    for i in range(3):
        v[0] = x * i + v[0]
        rows.append(v)
    return rows[0][0] * rows[1][0]


@program(0.7, features="sum with an array that is written later")
def sum_with_an_array_that_is_written_later(x):
    v = np.zeros(3)
    v[0] = x
    u = v + 1.0
    v[0] = x * x
    return (u * v).sum()


@program(0.7, features="array given to a nested function")
def array_given_to_a_nested_function(x):

    def cp(v):
        return v + 2.0

    v = np.zeros(3)
    v[0] = x
    u = cp(v)
    v[0] = x * x
    return (u * v).sum()


@program(0.7, features="reshaped view of a written array")
def reshaped_view_of_a_written_array(x):
    v = np.zeros(4)
    v[0] = x
    u = v.reshape(2, 2)
    v[1] = x * x
    return (u[0, 1] * v[0]).sum() + u[0, 0]


@program(0.7, features="views and copies of a written array")
def views_and_copies_of_a_written_array(x):
    v = np.zeros(4)
    v[0] = x
    u = v.ravel()
    w = np.asarray(v)
    t = v.T
    s = v.astype(float)
    r = np.array(v)
    q = v[1:]
    p = +v
    v[1] = x * x
    return u[1] * 3 + w[1] * 5 + t[1] * 7 + s[1] * 11 + r[1] * 13 + q[0] * 17 + p[1] * 19


@program([0.7, 1.3], features="arrays swapped through names")
def arrays_swapped_through_names(xs):
    a = np.array(xs)
    b = a * 1.0
    c = a
    for i in range(2):
        b[i] = b[i] * a[1 - i]
        a[i] = b[i] + c[0]
    return a.sum() + b.sum() + c[1]


@program(0.7, features="chosen entries of a written array")
def chosen_entries_of_a_written_array(x):
    v = np.zeros(3)
    v[0] = x
    u = np.where(True, v, 0.0)
    m = np.maximum(v, -1.0)
    c = np.clip(v, -9, 9)
    s = np.squeeze(v)
    e = v if x > 0 else v + 1
    v[0] = x * x
    return u[0] + 2 * m[0] + 3 * c[0] + 4 * s[0] + 5 * e[0]


@program(0.7, features="arrays in a list")
def arrays_in_a_list(x):
    t = [np.zeros(2), np.zeros(2)]
    r = t[0]
    t[0][1] = x
    k = [a for a in t]
    t[1][0] = x * x
    return r[1] + k[1][0] * 3 + t[0][1] * k[0][1]


@program(0.7, features="sums of arrays in a list")
def sums_of_arrays_in_a_list(x):
    t = [np.zeros(2), np.zeros(2)]
    k = [a + 0.0 for a in t]
    t[0][1] = x
    k[0][0] = x * x
    t[1] = k[0]
    k[0][1] = 2 * x
    return t[1][1] * 3 + t[0][1] * k[0][0]
