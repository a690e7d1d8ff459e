"""Linear algebra in place and by lists, numbers of one's own classes, polynomials, quadrature."""

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.ordinary_programs import Program


def gauss(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= factor * a[k, j]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.sum(a[i, i + 1 :] * x[i + 1 :])) / a[i, i]
    return np.sum(x**2)


def lu(a):
    n = a.shape[0]
    L = np.eye(n)
    U = a.copy()
    for k in range(n - 1):
        L[k + 1 :, k] = U[k + 1 :, k] / U[k, k]
        U[k + 1 :, k:] -= np.outer(L[k + 1 :, k], U[k, k:])
    return np.sum(np.log(np.abs(np.diag(U)))) + np.sum(np.tril(L, -1) ** 2)


def cholesky(a):
    n = a.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L * L[::-1])


def thomas(lower, diagonal, upper, right):
    n = len(diagonal)
    c = [0.0] * n
    d = [0.0] * n
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (right[i] - lower[i] * d[i - 1]) / m
    x = [0.0] * n
    x[-1] = d[-1]
    for i in reversed(range(n - 1)):
        x[i] = d[i] - c[i] * x[i + 1]
    return sum(v * v for v in x)


def relaxation(source, left, sweeps):
    """The Poisson equation on a square, relaxed in place."""
    n = source.shape[0]
    u = np.zeros((n, n))
    u[:, 0] = left
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:] + source[i, 1:-1])
    return np.sum(u**2)


def power_iteration(a, steps):
    v = np.ones(a.shape[0])
    history = []
    for _ in range(steps):
        w = a @ v
        v = w / np.linalg.norm(w)
        history.append(v @ a @ v)
    return history[-1] + 0.1 * (history[-1] - history[-2]) ** 2


def gram_schmidt(a):
    basis = []
    for column in a.T:
        for q in basis:
            column = column - (q @ column) * q
        basis.append(column / np.linalg.norm(column))
    return sum((k + 1) * np.sum(q[:2] ** 3) for k, q in enumerate(basis))


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def norm(self):
        return math.sqrt(self.dot(self))


def orbit(distance, speed, steps):
    r, v = Vector(distance, 0.0, 0.1), Vector(0.0, speed, 0.0)
    for _ in range(steps):
        v = v - 0.01 / r.norm() ** 3 * r
        r = r + 0.01 * v
    return r.norm() + v.norm()


class Complex:
    def __init__(self, re, im=0.0):
        self.re = re
        self.im = im

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __abs__(self):
        return math.sqrt(self.re * self.re + self.im * self.im)


def julia(re, im, steps):
    c = Complex(re, im)
    z = Complex(0.1, 0.2)
    total = 0.0
    for _ in range(steps):
        z = z * z + c
        total += abs(z)
    return total


@dataclass(frozen=True)
class Quaternion:
    w: float
    x: float
    y: float
    z: float

    def __mul__(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def unit(self):
        n = math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)
        return Quaternion(self.w / n, self.x / n, self.y / n, self.z / n)


def attitude(rates, steps):
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    for i in range(steps):
        wx, wy, wz = rates[i % len(rates)]
        q = (q * Quaternion(1.0, 0.005 * wx, 0.005 * wy, 0.005 * wz)).unit()
    p = q * Quaternion(0.0, 1.0, 2.0, 3.0) * q.conjugate()
    return p.x + p.y * p.z


def horner(coefficients, x):
    y = 0.0
    for c in reversed(coefficients):
        y = y * x + c
    return y


def roots(coefficients, starts):
    """Newton's method from several places."""
    slopes = [i * c for i, c in enumerate(coefficients)][1:]
    found = []
    for x in starts:
        for _ in range(10):
            x = x - horner(coefficients, x) / horner(slopes, x)
        found.append(x)
    return sum(x * x for x in found)


def polynomial_product(zeros):
    p = [1.0]
    for z in zeros:
        new = [0.0] * (len(p) + 1)
        for i, c in enumerate(p):
            new[i] -= z * c
            new[i + 1] += c
        p = new
    return sum(c * c for c in p)


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __getitem__(self, index):
        i, j = index
        return self.rows[i][j]

    @property
    def trace(self):
        return sum(self[i, i] for i in range(len(self.rows)))


def matrix_power(rows, n):
    m = Matrix(rows)
    result = m
    for _ in range(n):
        result = result @ m
    return result.trace


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * f(a + i * h)
    return total * h / 3


def integral(rate, end, n):
    return simpson(lambda t: math.exp(-rate * t) * math.sin(t * t), 0.0, end, n)


def fourier(values):
    """The fast Fourier transform, by recursion over lists of pairs."""
    n = len(values)
    if n == 1:
        return [(values[0], 0.0)]
    even, odd = fourier(values[0::2]), fourier(values[1::2])
    out = [None] * n
    for k in range(n // 2):
        c, s = math.cos(2 * math.pi * k / n), -math.sin(2 * math.pi * k / n)
        re = c * odd[k][0] - s * odd[k][1]
        im = c * odd[k][1] + s * odd[k][0]
        out[k] = (even[k][0] + re, even[k][1] + im)
        out[k + n // 2] = (even[k][0] - re, even[k][1] - im)
    return out


def spectrum(values):
    return sum(math.log(1.0 + re * re + im * im) for re, im in fourier(values))


def square(n, shift):
    return np.random.default_rng(n).normal(size=(n, n)) + shift * np.eye(n)


def positive(n):
    a = square(n, 0.0)
    return a @ a.T + n * np.eye(n)


def numbers(n, low=-1.0, high=1.0):
    return np.random.default_rng(n).uniform(low, high, n).tolist()


PROGRAMS = (
    Program("Gaussian elimination in place", gauss, lambda n: (square(n, 5.0), np.ones(n)), 12, 3, "rows", (0, 1)),
    Program("LU by slices in place", lu, lambda n: (square(n, 6.0),), 30, 4, "rows"),
    Program("Cholesky by entries", cholesky, lambda n: (positive(n),), 12, 3, "rows"),
    Program(
        "tridiagonal, Thomas algorithm",
        thomas,
        lambda n: (numbers(n), numbers(n, 3.0, 4.0), numbers(n + 1)[:n], numbers(n + 2)[:n]),
        300,
        4,
        "rows",
        (0, 1, 2, 3),
    ),
    Program("relaxation in place", relaxation, lambda n: (square(n, 0.0), 1.0, 5), 20, 5, "rows", (0, 1)),
    Program("power iteration", power_iteration, lambda n: (positive(n), 30), 30, 4, "rows"),
    Program("Gram-Schmidt, list of arrays", gram_schmidt, lambda n: (square(n, 2.0),), 20, 3, "columns"),
    Program("vectors of one's own class", orbit, lambda n: (1.0, 1.1, n), 200, 4, "steps", (0, 1)),
    Program("complex numbers of one's own class", julia, lambda n: (-0.2, 0.3, n), 300, 4, "steps", (0, 1)),
    Program("quaternions, frozen dataclass", attitude, lambda n: (square(3, 0.0), n), 60, 4, "steps"),
    Program("Newton and Horner, lists", roots, lambda n: ([-6.0, 1.0, 4.0, 1.0], numbers(n, 0.5, 2.5)), 20, 2, "starts"),
    Program("product of polynomials, lists", polynomial_product, lambda n: (numbers(n),), 45, 4, "factors"),
    Program("matrix class over lists", matrix_power, lambda n: (square(5, 1.0).tolist(), n), 15, 2, "products"),
    Program("Simpson's rule, callback", integral, lambda n: (0.3, 2.0, 2 * n), 250, 4, "pairs", (0, 1)),
    Program("recursive FFT over lists", spectrum, lambda n: (numbers(2**n),), 7, 3, "levels"),
)
