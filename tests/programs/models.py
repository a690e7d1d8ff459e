"""Programs of the size people write: networks, likelihoods, integrators, root finders."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program

X = np.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3], [0.2, 0.2]])
LABELS = np.array([0.0, 1.0, 1.0, 0.0])
ONE_HOT = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


@program(np.array([0.3, -0.8]), 0.1, features="logistic regression")
def logistic_regression(w, b):
    z = X @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    return -np.mean(LABELS * np.log(p) + (1.0 - LABELS) * np.log(1.0 - p))


@program(
    np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]),
    np.array([0.01, 0.02, 0.03]),
    np.array([[0.7, -0.1], [-0.8, 0.2], [0.9, 0.3]]),
    np.array([0.1, -0.1]),
    features="MLP",
)
def multilayer_perceptron(W1, b1, W2, b2):
    h = np.maximum(X @ W1 + b1, 0.0)
    logits = h @ W2 + b2
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(ONE_HOT * (shifted - log_sum), axis=1))


@program(
    {"W": np.array([[0.1, -0.2], [0.3, 0.4]]), "U": np.array([[0.5, 0.2], [-0.1, 0.3]]), "b": np.array([0.0, 0.1])},
    [np.array([0.5, -0.2]), np.array([0.1, 0.9]), np.array([-0.7, 0.3])],
    features="RNN",
)
def recurrent_network(parameters, inputs):
    h = np.zeros(2)
    loss = 0.0
    for t, x in enumerate(inputs):
        h = np.tanh(parameters["W"] @ h + parameters["U"] @ x + parameters["b"])
        loss = loss + np.sum(h**2) / (t + 1)
    return loss


@program(0.3, 0.7, features="Gaussian log-likelihood")
def gaussian_log_likelihood(mu, log_sigma):
    data = np.array([0.1, 0.5, -0.3, 0.9])
    sigma = np.exp(log_sigma)
    z = (data - mu) / sigma
    return -0.5 * np.sum(z**2) - data.size * (np.log(sigma) + 0.5 * math.log(2.0 * math.pi))


@program(1.0, 0.8, features="ODE, Euler")
def euler(y, k):
    t, h = 0.0, 0.1
    for _ in range(10):
        y = y + h * (-k * y + math.sin(t))
        t += h
    return y


@program(1.0, 0.8, features="ODE, RK4")
def runge_kutta(y, k):
    def rate(t, y):
        return -k * y * y + math.cos(t)

    t, h = 0.0, 0.2
    for _ in range(5):
        k1 = rate(t, y)
        k2 = rate(t + h / 2, y + h / 2 * k1)
        k3 = rate(t + h / 2, y + h / 2 * k2)
        k4 = rate(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y


@program(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [-1.0, -0.1]]), features="ODE, RK4 on arrays, function argument")
def runge_kutta_on_arrays(y0, A):
    def step(f, y, h):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    y = y0
    for _ in range(4):
        y = step(lambda u: A @ u - 0.1 * u**3, y, 0.1)
    return np.sum(y**2)


@program([1.0, 0.0], 0.3, features="Van der Pol, list state")
def van_der_pol(state, mu):
    x, v = state
    for _ in range(8):
        x, v = x + 0.1 * v, v + 0.1 * (mu * (1 - x * x) * v - x)
    return x * x + v


@program(2.0, 3.0, features="Newton while")
def newton_inverse_function(target, start):
    x, iterations = start, 0
    while iterations < 50:
        error = x * math.exp(x) - target
        if abs(error) < 1e-13:
            break
        x -= error / ((1.0 + x) * math.exp(x))
        iterations += 1
    return x


@program(0.3, 2.0, features="bisection")
def bisection_polished_by_newton(a, b):
    low, high = 0.0, 2.0
    for _ in range(8):
        middle = (low + high) / 2.0
        if middle**3 + a * middle > b:
            high = middle
        else:
            low = middle
    x = (low + high) / 2.0
    for _ in range(4):
        x = x - (x**3 + a * x - b) / (3.0 * x**2 + a)
    return x


@program(0.7, 0.4, features="numerical quadrature")
def simpson(a, b):
    def f(x):
        return math.exp(-a * x * x)

    n = 8
    h = b / n
    total = f(0.0) + f(b)
    for i in range(1, n):
        total += (4.0 if i % 2 else 2.0) * f(i * h)
    return total * h / 3.0


@program(np.array([0.5, 1.5, 2.5, 3.0]), features="polynomial fit loss")
def polynomial_fit(w):
    loss = 0.0
    for x, y in [(0.0, 1.0), (0.5, 2.0), (1.0, 0.5)]:
        p = 0.0
        for c in reversed(w):
            p = p * x + c
        loss = loss + (p - y) ** 2
    return loss / 3


@program([[2.0, 0.5], [0.5, 3.0]], [1.0, 2.0], features="linear solve by hand")
def cramer(A, b):
    (p, q), (r, s) = A
    determinant = p * s - q * r
    if determinant == 0.0:
        raise ZeroDivisionError("singular")
    x, y = (b[0] * s - q * b[1]) / determinant, (p * b[1] - r * b[0]) / determinant
    return x * x + 3.0 * y


@program(0.2, 0.7, features="hidden Markov forward pass")
def forward_algorithm(stay, emit):
    observations = "aabab"
    p, q = 0.5, 0.5
    log_likelihood = 0.0
    for o in observations:
        like_p, like_q = (emit, 1.0 - emit) if o == "a" else (1.0 - emit, emit)
        p, q = (stay * p + (1 - stay) * q) * like_p, (stay * q + (1 - stay) * p) * like_q
        norm = p + q
        p, q = p / norm, q / norm
        log_likelihood += math.log(norm)
    return log_likelihood


@program(np.array([0.3, -0.2, 0.8]), features="batch normalisation")
def batch_normalisation(scale):
    data = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [0.7, 0.1, -0.4]]) * scale
    centred = data - data.mean(axis=0)
    variance = np.mean(centred**2, axis=0)
    normal = centred / np.sqrt(variance + 1e-3)
    return np.sum(np.tanh(normal) * data)


@program(np.array([[0.4, 0.1], [0.2, 0.9], [-0.3, 0.5]]), features="attention")
def attention(x):
    scores = x @ x.T / math.sqrt(2.0)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return np.sum((weights @ x) ** 2)


@program(np.array([0.5, 1.0, -0.5, 0.2]), 0.1, features="heat equation, slices")
def heat_equation(u, k):
    for _ in range(3):
        inner = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([u[:1], inner, u[-1:]])
    return np.sum(u**2)


@program(3.0, 4.0, features="Kalman filter on floats")
def kalman_filter(q, r):
    estimate, p, loss = 0.0, 1.0, 0.0
    for z in (0.9, 1.1, 1.0, 0.8):
        p = p + q
        gain = p / (p + r)
        loss += (z - estimate) ** 2 / (p + r) + math.log(p + r)
        estimate = estimate + gain * (z - estimate)
        p = (1.0 - gain) * p
    return loss


@program(0.6, features="Mandelbrot-like escape")
def escape(c):
    x, n = 0.0, 0
    while x < 4.0 and n < 12:
        x = x * x + c
        n += 1
    return x + n


@program([0.3, 0.6, 0.9], features="dynamic programming, list state")
def dynamic_programming(costs):
    before, now = 0.0, costs[0]
    for c in costs[1:]:
        best = -math.log(math.exp(-before) + math.exp(-now))
        before, now = now, best + c * c
    return now


@program((0.2, 0.3), 4, features="tuple state, recursion over tuples")
def iterated_map(point, n):
    if n == 0:
        return point[0] * point[1]
    x, y = point
    return iterated_map((1.0 - 1.4 * x * x + y, 0.3 * x), n - 1)
