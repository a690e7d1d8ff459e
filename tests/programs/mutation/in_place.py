"""Augmented operators on arrays, items, slices and views, and `out=`."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, M33, M34, V3, V4, V5, W3, K, program


@program(V3, W3, features="+=")
def array_plus_array(x, w):
    y = x * x
    z = y
    y += w
    return np.sum(y * z)


@program(V3, K, features="-=, number")
def array_minus_number(x, k):
    y = np.sin(x)
    y -= k
    return np.sum(y**3)


@program(V3, W3, features="*=")
def array_times_array(x, w):
    y = x.copy()
    y *= w
    y *= y
    return np.sum(y)


@program(V3, W3, features="/=")
def array_over_array(x, w):
    y = x.copy()
    y /= w
    y /= np.sum(y * y)
    return np.sum(y * x)


@program(np.abs(V3), K, features="**=")
def array_to_a_power(x, k):
    y = x + 0.5
    y **= k
    y **= 2
    return np.sum(y * x)


@program(V4 * 2.3, np.array([1.1, 0.7, 1.7, 0.6]), features="//=")
def floor_division_in_place(x, w):
    y = x.copy()
    y //= w
    return np.sum(y * x)


@program(V4 * 2.3, np.array([1.1, 0.7, 1.7, 0.6]), features="%=")
def remainder_in_place(x, w):
    y = x.copy()
    y %= w
    return np.sum(y * x)


@program(M33, features="@=")
def matrix_product_in_place(m):
    a = m.copy()
    b = a
    a @= m.T
    return np.sum(a * b * np.arange(9.0).reshape(3, 3))


@program(M23, V3, features="+=, broadcast")
def rows_are_added_to(m, v):
    a = m * 2.0
    a += v
    a *= v[0]
    a -= np.array([[0.5], [1.5]]) * v[1]
    return np.sum(a**2)


@program(V3, K, features="+=, argument written")
def argument_added_to(x, k):
    y = x * 2.0
    x += k
    x *= y
    return np.sum(x)


@program(V5, K, features="item +=")
def item_added_to(x, k):
    y = x.copy()
    y[2] += k * y[0]
    y[-1] *= y[2]
    y[0] -= y[-1]
    y[1] /= 1.0 + y[2] ** 2
    y[3] **= 2
    return np.sum(y * y)


@program(V5, K, features="slice *=")
def slice_scaled(x, k):
    y = x.copy()
    y[1:4] *= k
    y[::2] += y[2]
    y[:-1] -= y[1:] * 0.5
    return np.sum(y * y)


@program(M34, V3, features="row +=, column *=")
def rows_and_columns_in_place(m, v):
    a = m.copy()
    a[0] += a[1] * v[0]
    a[:, 2] *= v
    a[1:, 1:3] -= a[:2, :2]
    a[..., -1] /= 2.0 + v[0]
    return np.sum(a**2 * np.arange(12.0).reshape(3, 4))


@program(V5, K, features="mask +=")
def masked_items_in_place(x, k):
    y = x.copy()
    y[y < 0.0] *= k
    y[x > 1.0] += x[0] ** 2
    return np.sum(y * y)


@program(V5, V3, features="fancy +=, repeats")
def repeated_places_are_added_to_once(x, v):
    y = x.copy()
    y[[1, 1, 3]] += v
    return np.sum(y * y)


@program(M33, features="fancy +=")
def diagonal_raised(m):
    a = m.copy()
    a[np.arange(3), np.arange(3)] += np.sum(m**2)
    return np.linalg.det(a)


@program(V5, K, features="view *=")
def view_scaled(x, k):
    y = x * x
    v = y[1:-1]
    v *= k
    return np.sum(y * x)


@program(V5, K, features="view +=, saved before")
def view_added_to_after_use(x, k):
    y = x.copy()
    z = np.sin(y)
    v = y[::2]
    w = y * v[0]
    v += k
    return np.sum(z * y) + np.sum(w * v[1])


@program(V5, features="overlap, +=")
def sum_of_neighbours_in_place(x):
    y = x.copy()
    y[1:] += y[:-1]
    y[:-1] *= y[1:]
    return np.sum(y * y)


@program(V5, features="overlap, reversed, +=")
def palindrome(x):
    y = x.copy()
    y += y[::-1]
    y *= y[::-1]
    return np.sum(y * x)


@program(V3, K, features="+=, 0-d array")
def zero_dimensional_sum(x, k):
    total = np.zeros(())
    for v in x:
        total += v * v
    total *= k
    return total * x[0]


@program(V3, K, features="+=, number, immutable")
def numbers_are_not_shared(x, k):
    a = x[0]
    b = a
    b += k
    a *= b
    t = (a, b)
    t += (k,)
    return a * b + t[0] * t[2]


@program(M33, V3, features="+=, unknown kind")
def accumulator_starts_as_a_number(m, v):
    total = 0.0
    for row in m:
        total = total + row * v
        total += row
    total *= 2.0
    return np.sum(total**2)


@program(M33, features="+=, accumulator is a row")
def accumulator_is_the_first_row(m):
    a = m.copy()
    total = a[0]
    for row in a[1:]:
        total += row
    return np.sum(a**2 * np.arange(9.0).reshape(3, 3))


@program(V3, K, features="+=, chain of names")
def every_name_sees_it(x, k):
    a = x * 1.0
    b = c = a
    b *= k
    c += b
    return np.sum(a * b * c)


# out=


@program(V3, W3, features="out=, keyword")
def product_into_a_buffer(x, w):
    buffer = np.empty(3)
    np.multiply(x, w, out=buffer)
    first = np.sum(buffer * x)
    np.add(buffer, x, out=buffer)
    return first + np.sum(buffer**3)


@program(V3, W3, features="out=, positional")
def product_into_a_positional_buffer(x, w):
    buffer = np.zeros(3)
    np.multiply(x, w, buffer)
    np.sin(buffer, buffer)
    return np.sum(buffer * x)


@program(V3, features="out=, tuple")
def output_in_a_tuple(x):
    buffer = np.zeros(3)
    np.exp(x, out=(buffer,))
    return np.sum(buffer * buffer)


@program(V5, features="out=, view")
def output_into_a_slice(x):
    y = x.copy()
    np.square(x[:3], out=y[2:])
    np.negative(y[1:3], out=y[1:3])
    return np.sum(y**2 * np.arange(1.0, 6.0))


@program(V3, W3, features="out=, result used")
def result_is_the_output(x, w):
    buffer = np.zeros(3)
    y = np.add(x, w, out=buffer)
    y *= x
    return np.sum(buffer * y)


@program(V3, features="out=, argument written")
def argument_as_output(x):
    np.tanh(x, out=x)
    return np.sum(x * x)


@program(V5, features="out=, where=")
def output_where(x):
    y = x * 2.0
    np.sqrt(x, out=y, where=x > 0.0)
    return np.sum(y * x)


@program(M23, features="out=, reduction")
def reduction_into_a_buffer(m):
    rows = np.empty(2)
    columns = np.zeros(3)
    np.sum(m * m, axis=1, out=rows)
    m.sum(axis=0, out=columns)
    np.add.reduce(m, axis=0, out=columns[:3])
    np.mean(m, axis=1, out=rows[:])
    return np.sum(rows**2) + np.prod(columns)


@program(M33, V3, features="out=, np.dot, np.matmul")
def products_into_buffers(m, v):
    y, a = np.empty(3), np.empty((3, 3))
    np.dot(m, v, out=y)
    np.matmul(m, m, out=a)
    np.matmul(a, y, out=y)
    return np.sum(y * v) + np.trace(a)


@program(M33, V3, features="out=, np.einsum, np.outer")
def einsum_into_a_buffer(m, v):
    a = np.zeros((3, 3))
    np.outer(v, v, out=a)
    y = np.zeros(3)
    np.einsum("ij,j->i", m * a, v, out=y)
    return np.sum(y * y)


@program(V5, features="out=, np.clip")
def clipped_in_place(x):
    y = x * 1.5
    np.clip(y, -0.7, 1.0, out=y)
    y.clip(-0.6, 0.9, out=y)
    return np.sum(y * x)


@program(V5, features="out=, np.cumsum")
def running_sum_in_place(x):
    y = x.copy()
    np.cumsum(y, out=y)
    z = np.zeros(5)
    y.cumsum(out=z)
    np.add.accumulate(z, out=z)
    return np.sum(z * x)


@program(V5, features="out=, np.cumprod")
def running_product_in_place(x):
    y = x.copy()
    np.cumprod(x, out=y)
    return np.sum(y * x)


@program(V3, W3, features="out=, np.maximum, np.minimum")
def bounds_in_place(x, w):
    y = x * 2.0
    np.maximum(y, w, out=y)
    np.minimum(y, x[2], out=y)
    return np.sum(y * x)


@program(V4, features="out=, np.take")
def taken_into_a_buffer(x):
    y = np.zeros(3)
    np.take(x, [3, 0, 0], out=y)
    x.take([1, 1, 2], out=y[:3])
    return np.sum(y * y)


@program(V3, W3, features="out=, np.concatenate, np.stack")
def joined_into_a_buffer(x, w):
    y = np.zeros(6)
    np.concatenate([x, w * x], out=y)
    a = np.zeros((2, 3))
    np.stack([y[:3], y[3:]], out=a)
    return np.sum(a[0] * a[1] ** 2)


@program(V5, features="out=, np.compress, np.choose")
def chosen_into_a_buffer(x):
    y = np.zeros(3)
    np.compress(np.array([True, False, True, True, False]), x, out=y)
    z = np.zeros(3)
    np.choose([1, 0, 1], [y, y * y], out=z)
    return np.sum(z * y)


@program(V3, np.array([0.3, 0.8, -1.4]), features="out=, two outputs")
def fractional_and_whole_parts(x, w):
    part, whole = np.empty(3), np.empty(3)
    np.modf(x * 2.2, part, whole)
    np.divmod(w, 0.45, out=(whole, w))
    return np.sum(part * w + whole)


@program(V3, np.array([2.0, 1.0, 0.5]), features="in-place loop with buffers")
def hand_optimised_loop(x, w):
    y = x.copy()
    t = np.empty_like(x)
    for _ in range(4):
        np.multiply(y, w, out=t)
        np.sin(t, out=t)
        t *= 0.3
        y += t
    return np.sum(y * y)


@program(M33, K, features="in-place adjoint style, +=, @=")
def in_place_power_iteration(m, k):
    v = np.ones(3)
    a = m + k * np.eye(3)
    for _ in range(3):
        v = a @ v
        v /= np.sqrt(v @ v)
    a -= np.outer(v, v) * (v @ a @ v)
    return np.sum(a * a)


@program(np.array(0.9), 1.7, features="array without axes, in place, read beside a product")
def sum_in_an_array_without_axes(x, k):
    total = np.zeros_like(x)
    total += x * x * k
    return np.exp(x) * total
