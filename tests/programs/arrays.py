"""Programs on NumPy arrays: broadcasting, reductions, products, shapes, indexing, methods."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program

V = np.array([0.5, -1.5, 2.5])
M = np.array([[0.5, 1.5, -0.5], [2.5, -3.5, 1.0]])
COLUMN = np.array([[10.0], [20.0]])
T = np.arange(12.0).reshape(2, 3, 2) / 7.0 + 0.1


@program(V, features="elementwise")
def elementwise(x):
    return np.sum(np.sin(x) * np.exp(x) + np.tanh(x) / (1.0 + x * x))


@program(np.array([0.5, 1.5, 2.5]), features="elementwise")
def elementwise_positive(x):
    return np.sum(np.log(x) * np.sqrt(x) + x**1.5 + np.log1p(x) - np.expm1(-x) + np.square(x) + 1.0 / x)


@program(V, np.array([2.0, 3.0, 4.0]), features="array operators")
def array_operators(x, y):
    return np.sum(x + y * x - x / y + (-x) * (y - 2.0) + 3.0 * x + y**x)


@program(M, COLUMN, features="broadcasting a column")
def broadcast_column(a, b):
    return np.sum((a + b) * a - b / (a * a + 1.0))


@program(M, V, features="broadcasting a row")
def broadcast_row(a, v):
    return np.sum(v * a * a + v)


@program(np.array([[1.0], [2.0]]), np.array([0.1, 0.2, 0.3]), features="broadcasting both ways")
def broadcast_both_ways(a, b):
    return np.sum(np.sin(a * b) + a - b)


@program(M, 0.7, features="broadcasting a float")
def broadcast_float(a, s):
    return np.sum(a * s + s / (2.0 + a * a) + s)


@program(M, np.array(0.7), features="broadcasting a 0-d array")
def broadcast_zero_dimensional(a, s):
    return np.sum(a * s - s)


@program(M, COLUMN, features="array result")
def array_result(a, b):
    return a * a + b


@program(M, V, features="array result, matmul")
def array_result_of_matmul(a, v):
    return np.tanh(a @ v)


@program(M, features="sum, axis, keepdims")
def sums(a):
    rows = np.sum(a, axis=1)
    columns = np.sum(a, axis=0, keepdims=True)
    return np.sum(rows * rows) + np.sum(columns * a) + np.sum(a) ** 2


@program(T, features="reductions over several axes")
def sums_over_several_axes(t):
    return np.sum(np.sum(t, axis=(0, 2)) ** 2) + np.sum(np.mean(t * t, axis=-1)) + t.sum(axis=1).sum()


@program(M, features="mean, axis, keepdims")
def normalises(a):
    centred = a - np.mean(a, axis=1, keepdims=True)
    return np.sum(centred**2 * a) + a.mean() * np.mean(a * a)


@program(M, features="max, min with axis")
def extremes(a):
    return (
        np.sum(np.max(a, axis=1) * np.min(a, axis=1)) + np.max(a) * a.min() + np.sum(a.max(axis=0, keepdims=True) * a)
    )


@program(M, features="softmax by hand")
def softmax_by_hand(a):
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.sum(np.log(p)[:, 0])


@program(M, features="maximum, minimum")
def maximum_and_minimum(a):
    return np.sum(np.maximum(a, 0.0) * a + np.minimum(a, 1.2) + np.maximum(0.3, a[0]))


@program(M, COLUMN, features="where")
def where(a, b):
    return np.sum(np.where(a > 0.0, a * a, a * b)) + np.sum(np.where(a > 0.0, 1.0, b))


@program(V, features="abs, clip, sign")
def piecewise(x):
    return np.sum(np.abs(x) * x + np.clip(x, -1.0, 2.0) * x + np.sign(x) * x)


@program(M, np.array([[1.0, 0.5], [0.2, -0.3], [0.7, 0.1]]), features="matmul matrix matrix")
def matmul_matrix_matrix(a, b):
    return np.sum((a @ b) ** 2) + np.sum(np.matmul(b, a))


@program(M, V, features="matmul matrix vector")
def matmul_matrix_vector(a, v):
    return np.sum(np.sin(a @ v))


@program(np.array([0.3, 0.9]), M, features="matmul vector matrix")
def matmul_vector_matrix(v, a):
    return np.sum((v @ a) ** 3)


@program(V, np.array([2.0, 3.0, 4.0]), features="matmul vector vector")
def matmul_vector_vector(v, w):
    return (v @ w) ** 2 + np.dot(v, v)


@program(T, np.array([[1.0, 0.5, 0.1], [0.2, -0.3, 0.7]]), features="matmul batched")
def matmul_batched(t, a):
    return np.sum((t @ a) ** 2) + np.sum(a @ t)


@program(M, V, np.array([0.3, 0.9]), features="dot, outer, einsum")
def products(a, v, w):
    return (
        np.dot(w, np.dot(a, v))
        + np.sum(np.outer(w, v) * a)
        + np.einsum("i,ij,j->", w, a, v) * np.einsum("ij,ij->", a, a)
    )


@program(M, features="transpose")
def transposes(a):
    return np.sum(a.T @ a * 0.5) + np.sum(np.transpose(a)[1]) + np.sum((a.T * a.T)[0])


@program(M, features="reshape, ravel")
def reshapes(a):
    flat = a.reshape(-1)
    return (
        np.sum(flat[1:] * flat[:-1])
        + np.sum(a.reshape(3, 2)[:, 0] ** 2)
        + np.sum(np.ravel(a)[::2])
        + np.reshape(a, (6,))[5]
    )


@program(M, features="shape, ndim, size, len")
def reads_shapes(a):
    n, m = a.shape
    return np.sum(a * a) / (n * m) + a.size * a[0, 0] + a.ndim * a[1, 1] + len(a) * a[0, 1] + a.shape[1]


@program(V, np.array([1.0, 2.0]), features="concatenate, stack")
def concatenates_arrays(x, y):
    z = np.concatenate([x, y, x])
    s = np.stack([x, x * x, x])
    return np.sum(z[2:6] ** 2) + np.sum(s[1] * s[2])


@program(M, V, features="concatenate with axis, stack with axis")
def concatenates_along_axes(a, v):
    wide = np.concatenate((a, a * a), axis=1)
    return np.sum(wide[0] ** 2) + np.sum(np.stack((v, v * v), axis=-1)[:, 1] * v)


@program(V, features="basic indexing")
def basic_indexing(x):
    return x[0] * x[-1] + np.sum(x[1:]) ** 2 + np.sum(x[::-1] * x)


@program(M, features="basic indexing of a matrix")
def basic_indexing_of_a_matrix(a):
    return a[0, 1] * a[1][2] + np.sum(a[:, 0] ** 2) + np.sum(a[1, ...] * a[0]) + np.sum(a[:, None, 1:])


@program(V, features="integer-array indexing, repeated")
def fancy_indexing(x):
    i = np.array([0, 1, 2, 2])
    return np.sum(x[i] ** 2) + np.sum(x[[2, 2, 0]])


@program(M, features="integer-array indexing of a matrix")
def fancy_indexing_of_a_matrix(a):
    rows = np.array([0, 1, 1])
    return np.sum(a[rows, [2, 0, 0]] ** 2) + np.sum(a[rows] ** 3) + np.sum(a[:, [0, 0, 1]] * a)


@program(V, features="boolean indexing")
def boolean_indexing(x):
    return np.sum(x[x > 0.0] ** 2)


@program(V, features="indexing in a loop")
def indexing_in_a_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + x[i] * x[i + 1] ** 2
    return total


@program(M, features="array methods")
def array_methods(a):
    return (
        a.sum() * a.mean()
        + a.sum(axis=0)[1] * a.max()
        + a.T.sum(axis=1)[0]
        + a.dot(V)[0]
        + a.reshape(3, 2).T[1, 2]
        + a.ravel()[3]
        + a.flatten()[4]
    )


@program(M, features="astype, copy, item")
def array_copies(a):
    return np.sum(a.copy() * a.astype(float)) + a[0, 0].item() * a[0, 1]


@program(0.7, features="array made of floats")
def array_of_floats(x):
    a = np.array([x, x * x, 1.0])
    b = np.array([[x, 1.0], [2.0, x**3]])
    return np.sum(a * a) + np.sum(b @ b)


@program(0.7, features="zeros, ones, arange, full")
def array_constructors(x):
    return (
        np.sum((np.zeros(3) + np.ones(3)) * x)
        + np.sum(np.arange(4) * x**2)
        + np.sum(np.eye(2) * x)
        + np.sum(np.zeros((2, 3)) + x)
    )


@program(V, features="zeros_like")
def array_like_constructors(x):
    return np.sum(np.zeros_like(x) + x * x) + np.sum(np.ones_like(x) * x)


@program(V, features="augmented assignment to a name of a fresh array")
def accumulates_arrays(x):
    total = 0.0
    for k in range(3):
        total = total + x**k
    return np.sum(total * total)


@program(V, features="comparison of arrays")
def counts_positive(x):
    return np.sum(x > 0.0) * np.sum(x) + np.sum((x > 0.0) * x)


@program(np.array([1, 2, 3]), 0.7, features="int array")
def int_array_as_constant(n, x):
    return np.sum(n * x**2)


@program(V, features="numpy scalar from a reduction")
def numpy_scalar_in_python_arithmetic(x):
    s = np.sum(x)
    t = float(np.sum(x * x))
    return s * 2.0 + t * s if t > 1.0 else s


@program(V, features="iteration and arithmetic on items")
def items_and_whole(x):
    a, b, c = x
    return a * np.sum(x) + b * c


@program(V, features="two arguments of one array")
def same_array_twice(x):
    return np.dot(x, x) * np.sum(x * x)


@program(M, features="array unchanged through calls")
def row_by_row(a):
    def norm(v):
        return np.sqrt(np.sum(v * v))

    return sum([norm(row) for row in a]) * norm(a[0])


@program(np.ones(3), np.array([1.0, 2.0, 3.0]), features="power of a number by an array")
def number_to_the_power_of_an_array(x, q):
    return np.sum(np.sum(x) ** q)


@program(np.array([[1.2], [0.7]]), np.array([2.0, 3.5]), features="power with broadcasting of both")
def broadcast_power(x, q):
    return np.sum(np.power(x, q) * x ** 3 + x ** 2.0)


@program(V[:2], np.array([[0.3, 0.7], [1.2, -0.4], [2.0, 0.6]]), features="the second operand is repeated")
def heaviside_of_a_smaller_array(a, b):
    return np.sum(np.heaviside(a * 0.0, b) * b)


@program(V[:2], features="dtype by position")
def complex_zeros_by_position(x):
    z = np.sqrt(np.zeros(2, complex) + x)
    return np.sum((z * z * z).imag + z.real)


@program(V[:2], features="dtype by position")
def complex_identity_by_position(x):
    z = np.sqrt(np.eye(2, 2, 0, complex) @ x)
    return np.sum((z * z * z).imag + z.real * x)


@program(V, M, features="nothing along an axis")
def products_and_runs_of_nothing(x, a):
    products = np.prod(a[:0], axis=1)
    running = np.cumprod(a[:, :0], axis=0) * np.cumsum(a[:, :0], axis=1)
    middle = np.median(a[:0], axis=1)
    return np.sum(x) * np.sum(a[:0].prod(axis=0)) + np.sum(products) + np.sum(running) + np.sum(middle) + np.sum(np.diff(x[:0]))


@program(np.array(1.3), features="a 0-d array has an axis")
def zero_dimensional_with_an_axis(x):
    runs = x.cumprod(0) * np.cumsum(x, axis=-1) + np.repeat(x, 2, axis=0)[:1]
    return np.sum(runs) * x.prod(axis=0) + np.sum(x, axis=0) * np.prod(x, axis=-1) + np.max(x, axis=0)


@program(np.array([0.5, 2.5]), (1.0, 0.5), features="a point as an array")
def distance_of_an_array(q, p):
    return math.dist(q, p) * q[0] + math.dist(p, 2.0 * q)


@program(V, features="an array of steps")
def trapezoid_with_an_array_of_steps(x):
    return np.trapezoid(x * x, None, np.sin(x[1:]))


@program(V, np.array([2.0, 0.5, 1.5]), features="loop state that grows when it is broadcast")
def state_grows(b, p):
    c = np.sum(p, keepdims=True)
    for _ in range(2):
        c = c + b
    return np.sum(c * c)


@program(V, np.array([0.5]), features="loop state that grows when it is broadcast")
def argument_as_growing_state(b, c):
    k = 0
    while k < 3:
        c = b - c
        k += 1
    return np.sum(c * c)


@program(M, features="loop state that is transposed in each iteration")
def state_turns(a):
    for _ in range(3):
        a = np.sin(a).T * 1.5
    return np.sum(a * a)


@program(np.array([[0.4], [1.1], [-0.3]]), V, features="loop state whose rank grows")
def state_gets_an_axis(p, b):
    c = np.sum(p, axis=0)
    for _ in range(2):
        c = np.where(c > 0.67, c, 0.5 * b) + c * b
    return np.sum(c * c)


AVERAGES = {"mean": np.average}


@program(V, np.array([0.3, 0.9, 0.4]), features="keyword argument after a gap, callee known at run time")
def weighted_average(x, w):
    return AVERAGES["mean"](x, weights=w)


@program({"x": np.array([0.5, 0.2, 0.7]), "w": np.array([0.3, 0.9, 0.4])}, features="keyword argument after a gap")
def clipped_by_an_array(d):
    return np.sum(d["x"].clip(max=d["w"]) * d["x"])


class Loader:
    """Gives its one buffer again and again."""

    def __init__(self):
        self.buffer = np.zeros(3)

    def __getitem__(self, index):
        self.buffer[:] = index + 1.0
        return self.buffer


LOADER = Loader()


def filled_buffers():
    buffer = np.zeros(3)
    for k in range(2):
        buffer[:] = k + 1.0
        yield buffer


@program(V, features="a generator that fills one buffer")
def batches_in_one_buffer(x):
    y = 0.0
    for batch in filled_buffers():
        y = y + np.sum(np.sin(x * batch))
    return y


@program(V, features="a data loader that fills one buffer")
def items_in_one_buffer(x):
    y = 0.0
    for k in range(2):
        y = y + np.sum(x * x * LOADER[k])
    return y


class PairLoader(Loader):
    """Gives its buffer with a label."""

    def __getitem__(self, index):
        return super().__getitem__(index), index + 2.0


PAIRS = PairLoader()


@program(V, features="a data loader that fills one buffer and gives it in a pair")
def pairs_in_one_buffer(x):
    y = 0.0
    for k in range(2):
        batch, label = PAIRS[k]
        y = y + label * np.sum(x * x * batch)
    return y


@program(V, features="a generator that fills one buffer, enumerate, views, branches")
def views_of_one_buffer(x):
    y = 0.0
    for k, batch in enumerate(filled_buffers()):
        part = np.asarray(batch)[:2] if k < 5 else batch
        y = y + np.sum(np.sin(x[:2] * part))
    return y


@program((1.2, (0.5, (0.7, None))), features="a list linked by tuples, recursion")
def linked_list(items):
    if items is None:
        return 0.0
    head, rest = items
    return head * head + linked_list(rest)


@program(np.array([0.5, 1.5, 2.5, -0.5]), features="a list of entries of which only places are read")
def places_in_a_list_of_entries(x):
    entries = x.tolist()
    return x[0] * entries.index(max(entries)) + x[1] * entries.count(9.0)


@program(np.array([0.5, 1.5, 2.5, -0.5]), features="open meshes")
def an_open_mesh_of_numbers(x):
    rows, columns = np.ix_(x[:2], x[1:])
    return np.sum(rows * np.exp(columns))


@program(np.array([0.4, 0.9, 1.3]), features="ranges and lists as arrays")
def ranges_and_lists_among_arrays(x):
    steps = range(1, 4)
    total = np.dot(steps, x) + np.sum(x * steps) + np.sum(steps / x) + np.sum(np.power(x, steps)) + np.polyfit(steps, x, 1)[0]
    y = x.copy()
    y += steps
    y[1:] *= steps[1:]
    return total + np.sum(np.arctan2(x, [1.0, 2.0, 3.0]) * y) + np.stack([x, steps]).prod() + x @ steps


@program(np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4), True, features="sizes and axes given as *shape")
def shapes_unpacked(x, first):
    shape = (x.shape[0], -1) if first else (-1, x.shape[-1])
    rest = x.shape[1:]
    y = np.zeros((2, *rest)) + x * x
    turned = y.reshape(2, *rest).transpose(2, 0, 1).reshape(4, 3, 2, 1)
    return np.sum(x.reshape(*shape) ** 3) + np.sum(turned[1] * turned[2, ::-1]) + np.sum(np.add(*(y[0], y[1])) ** 2)
