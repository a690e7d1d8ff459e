"""Programs that differentiate, and are differentiated: each a function of one argument with a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import numpy as np

from microgradpy import (
    Tangent,
    checkpointed,
    diaghessian,
    elementwise_grad,
    frule_via_ad,
    grad,
    gradient,
    hess,
    hessian,
    hessp,
    hvp,
    jac,
    jacobian,
    jvp,
    nn,
    pullback,
    pushforward,
    rrule,
    rrule_via_ad,
    tree_map,
    value_and_grad,
    value_and_gradient,
    value_and_jacobian,
    vjp,
)

PROGRAMS: list[tuple[Callable[..., Any], Any]] = []
ARRAY = np.array([0.5, 1.5, -0.7])


def at(*points: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.extend((f, x) for x in points)
        return f

    return declare


def cube(t):
    return t**3


cube_slope = grad(cube)


# Closures over what is differentiated


@at(1.3, -0.4)
def captured(w):
    (g,) = gradient(lambda t: w * t**2, 3.0)
    return g * g


@at(1.3)
def perturbations_are_told_apart(x):
    return x * gradient(lambda y: x * y, 1.0)[0] + x * jvp(lambda y: x * y, (1.0,), (1.0,))[1]


@at(1.3)
def both_levels(x):
    y, (g,) = value_and_gradient(lambda t: math.sin(t) * x, x * 2.0)
    return y * g


@at(1.3)
def of_a_function_of_the_module(x):
    return grad(cube)(x) * x + cube_slope(x) ** 2


@at(0.8)
def in_a_loop(x):
    s = 0.0
    for i in range(3):
        s = s + gradient(lambda t: t**3 * x + s * t * i, x)[0]
    return s


@at([0.3, 0.7, 1.1])
def kept_in_a_list(x):
    out = []
    for k in range(3):
        out.append(gradient(lambda t: t ** (k + 1) * x[0] + math.sin(t * x[1]), x[2])[0])
    return sum(g * g for g in out)


@at(1.3)
def of_a_default(x):
    def f(t, scale=x * x):
        return t**3 * scale

    return grad(f)(2.0) * gradient(lambda t, *, k=x: t**2 * k, x)[0]


@at(1.1)
def of_a_loop(x):
    def powers(t):
        total = 0.0
        for k in range(4):
            total = total * t + k * x
        return total

    return grad(powers)(x) ** 2


@at(1.1)
def of_a_while(x):
    def repeated(t):
        while t < 20.0:
            t = t * t + x
        return t

    return math.log(grad(repeated)(x + 0.5))


@at(0.9, 1.7)
def of_branches(x):
    f = lambda t: t**3 if t > 1.0 else math.sin(t) * x  # noqa: E731
    return gradient(f, x)[0] * x


# Newton's method, steps of an optimiser


@at(1.5)
def newtons_method(a):
    x = 1.0
    f = lambda t: t**3 - a * t - 1.0  # noqa: E731
    for _ in range(6):
        x = x - f(x) / grad(f)(x)
    return x


@at(ARRAY)
def steps_of_an_optimiser(w):
    def inner(v):
        return np.sum((v * np.arange(3.0) - np.sin(w)) ** 2)

    v = w
    for _ in range(3):
        v = v - 0.05 * grad(inner)(v)
    return inner(v)


@at(ARRAY)
def penalty_of_a_gradient(x):
    (g,) = gradient(lambda v: np.sum(np.sin(v) * x), np.array([0.1, 0.2, 0.3]))
    return np.sqrt(np.sum(g**2))


# Networks


T = np.linspace(0.0, 1.0, 5)
_RNG = np.random.default_rng(3)
WEIGHTS = (_RNG.normal(size=(1, 4)), _RNG.normal(size=4), _RNG.normal(size=(4, 1)))


def network(p, t):
    w1, b1, w2 = p
    return (np.tanh(t[:, None] @ w1 + b1) @ w2)[:, 0]


@at(WEIGHTS)
def physics_by_jvp(p):
    _, slope = jvp(lambda t: network(p, t), (T,), (np.ones(5),))
    return np.mean((slope + network(p, T)) ** 2)


@at(WEIGHTS)
def physics_of_second_order(p):
    first = lambda t: jvp(lambda s: network(p, s), (t,), (np.ones(5),))[1]  # noqa: E731
    second = jvp(first, (T,), (np.ones(5),))[1]
    return np.mean((second + network(p, T)) ** 2)


@at(WEIGHTS)
def physics_by_gradients(p):
    slope = grad(lambda t: np.sum(network(p, t)))
    return np.mean(grad(lambda t: np.sum(slope(t)))(T) ** 2)


@at(_RNG.normal(size=16))
def physics_of_helpers(vector):
    parts = [vector[:4].reshape(1, 4), vector[4:8], vector[8:12], vector[12:].reshape(4, 1)]
    force = acceleration(parts, T) + velocity(parts, T)
    return np.mean(force**2)


def deep(parts, t):
    w1, b1, b2, w2 = parts
    return (np.tanh(np.tanh(t[:, None] @ w1 + b1) * b2) @ w2)[:, 0]


def velocity(parts, t):
    return jvp(lambda s: deep(parts, s), (t,), (np.ones(len(t)),))[1]


def acceleration(parts, t):
    return jvp(lambda s: velocity(parts, s), (t,), (np.ones(len(t)),))[1]


@at(nn.Chain(nn.Dense(1, 3, activation=np.tanh), nn.Dense(3, 1)))
def physics_of_a_model(model):
    g = grad(lambda t: np.sum(model(t)))(T[:, None])
    return np.mean((g + model(T[:, None])) ** 2)


# Objects, containers, writes


@dataclass
class Spring:
    stiffness: float
    cubic: np.ndarray

    def energy(self, q):
        return self.stiffness * np.sum(q**2) + np.sum(self.cubic * q**3)

    def force(self, q):
        return -grad(self.energy)(q)


@at(Spring(0.5, np.array([0.1, 0.2])))
def motion_of_an_object(spring):
    q = np.array([1.0, 2.0])
    for _ in range(3):
        q = q + 0.1 * spring.force(q)
    return np.sum(q**2)


@at({"a": 1.2, "b": 0.7, "c": ARRAY})
def of_a_dict(p):
    g = gradient(lambda q: q["a"] ** 2 * q["b"] + np.sum(q["c"] ** 3), p)[0]
    return g["a"] * g["b"] + np.sum(g["c"])


@at(ARRAY)
def beside_writes(x):
    y = np.zeros(3)
    y[0] = x[0]
    y[1] = x[1] * x[0]
    g = grad(lambda v: np.sum(v**3) * y[1])(y)
    y[2] = g[0]
    return np.sum(g * y)


@at(ARRAY)
def of_what_writes(x):
    def f(v):
        parts = [0.0] * 3
        for i in range(3):
            parts[i] = parts[i] + v[i] * v[(i + 1) % 3] * x[0]
        return parts[0] * parts[1] + parts[2]

    return np.sum(grad(f)(x) ** 2)


@at(ARRAY)
def of_a_cell(x):
    scale = x[0]

    def f(t):
        return t**2 * scale

    first = gradient(f, x[1])[0]
    scale = x[2]
    return first * gradient(f, x[1])[0]


# Forms of calls


@at(ARRAY)
def of_several_arguments(x):
    gx, gy = gradient(lambda a, b: a**2 * b + b**3, x[0], x[1])
    u, w = grad(lambda u, v, w: u * v**2 * w**3, argnums=(0, 2))(x[0], x[1], x[2])
    return gx * gy + u + 2.0 * w


@at(ARRAY)
def with_keywords(x):
    return gradient(lambda a, *, k: a**3 * k, x[0], k=x[1])[0] + grad(lambda a, k: a**3 * k)(x[0], k=x[2])


@at(ARRAY)
def with_values(x):
    y, g = value_and_grad(lambda v: np.sum(v**3))(x)
    (z, twice), (h,) = value_and_gradient(lambda v: (np.sum(v**2), v * 2.0), x, has_aux=True)
    return y * np.sum(g) + z * np.sum(h * twice)


@at(ARRAY)
def by_pullback(x):
    y, back = pullback(lambda v: v**2 * x[0], x)
    return np.sum(back(y)[1] * x) + np.sum(back(x)[1])


@at(0.7)
def in_a_direction(x):
    y, slope = jvp(lambda t, u: x * math.exp(t) * u, (x, x * x), (1.0, x))
    return y * slope


@at(ARRAY)
def products_with_hessians(x):
    v = hvp(lambda t: np.sum(t**4) * x[0], x, x * 2.0)
    return np.sum(v * x) + np.sum(hessp(lambda t: np.sum(np.sin(t)) * x[1])(x, x))


@at(ARRAY)
def hessians(x):
    whole = hessian(lambda v: np.sum(v**3) * x[0] + v[0] * v[1], x)
    other = hess(lambda v: np.sum(np.sin(v) * v))(x)
    return np.sum(whole @ x) + np.sum(other) + np.sum(diaghessian(lambda v: np.sum(v**4), x))


@at(np.array([1.2, 0.7]))
def newtons_method_by_hessians(theta):
    def energy(q):
        return 0.5 * theta[0] * np.sum(q**2) + theta[1] * np.sum(q**4) - np.sum(q)

    q = np.array([0.5, 0.3])
    for _ in range(2):
        q = q - np.linalg.solve(hessian(energy, q), gradient(energy, q)[0])
    return np.sum(q**2) + np.sum(diaghessian(energy, q)) + np.sum(jacobian(lambda v: v * theta, q))


@at(ARRAY)
def jacobians(x):
    first = jacobian(lambda v: np.array([v[0] * v[1], np.sin(v[2]) * x[1]]), x)
    second = jac(lambda v: v**2 * x[0])(x)
    y, third = value_and_jacobian(lambda v: v * x[2], x)
    return np.sum(first**2) + np.sum(second**3) + np.sum(y * np.diag(third))


@at(0.6)
def of_a_partial(x):
    return grad(partial(lambda a, b: a**2 * b**3, 2.0))(x)


@at(0.6)
def made_and_handed_on(x):
    slope = grad(lambda t: t**3 * x)
    return sum(f(x) for f in (slope, lambda t: slope(t) * 2.0))


# Arguments that do not move in the first order


def wave(p, x, t):
    return np.tanh(p[0] * x + p[1] * t + p[2]) * p[0]


@at(ARRAY)
def of_arguments_that_were_still(p):
    """What was known of the first order, that `p` does not move, was taken for known of the second."""
    return grad(wave, argnums=2)(p, 0.1, 0.2) * grad(grad(wave, argnums=1), argnums=1)(p, 0.1, 0.2)


@at(1.3)
def of_a_jacobian_of_a_gradient(m):
    energy = lambda q, v, m: m * np.sum(v**2) * np.sum(q**3)  # noqa: E731
    v = np.array([0.5, 1.5])
    return np.sum(jacobian(lambda q: grad(energy, 1)(q, v, m), v * 2.0) ** 2)


def summed_powers(x):
    powers = [1.0, x]
    powers.append(x * powers[-1])
    powers[0] = math.sin(x)
    return sum(powers)


@at(1.3)
def of_a_call_that_was_still(x):
    """In the second order it was one of what watches calls, whose text was differentiated."""
    return grad(lambda t, k: t**2 * summed_powers(k))(x, x * 0.5)


@at(1.3)
def of_a_list_that_was_still(x):
    """It grows, so that its last item is another one later; of what nothing was active in nobody counted from the front."""

    def f(t, k):
        powers = [1.0, k]
        for _ in range(3):
            powers.append(k * powers[-1])
        return t**2 * powers[-1]

    return grad(f)(0.7, x)


def first_of(a, b):
    return a


@at(1.3)
def of_a_call_whose_value_was_still(x):
    return grad(lambda t, k: t**2 * first_of(k, t))(x, x**2)


# Functions without source, and those that are called again


@at(0.7)
def of_functions_of_libraries(x):
    powers = partial(math.pow, 1.5)
    return grad(math.sin)(x) * grad(grad(math.cos))(x) + gradient(powers, x)[0] * jvp(math.exp, (x,), (x,))[1]


@at(ARRAY)
def of_functions_of_arrays(x):
    (g,) = gradient(np.linalg.norm, x, ord=3)
    return np.sum(g**2 * x) + grad(np.linalg.norm)(x)[0]


@at(0.7)
def of_calls_that_are_made_again(x):
    wave = checkpointed(lambda t: math.sin(t) * x)
    return grad(wave)(x) * grad(lambda t: wave(t) ** 2)(x)


@at(ARRAY)
def of_trees(x):
    """The calls that `tree_map` makes are differentiated twice, with what they have captured; a dict is read by keys."""

    def f(t):
        p = {"w": t, "b": (0.3, t[0] * x[1])}
        q = tree_map(lambda v, s: np.sin(v) * s * t[1], p, {"w": x, "b": (x[0], 2.0)})
        return np.sum(q["w"] * t) * q["b"][1] + q["b"][0]

    return np.sum(grad(f)(x) ** 2)


def caught(x):
    """A power by a constant, of which the rule does not say how it depends on that, and what is caught."""
    y = x
    try:
        with nullcontext(0.5) as w:
            y = math.sqrt(1.0 + (y * w) ** 2)
        x = math.sqrt(-0.4 - y)
    except Exception:
        x = y * y
    return x * y


# Pullbacks and pushforwards


@at(ARRAY)
def by_pushforward(x):
    y, push = pushforward(lambda t, *, k: np.sin(t) * x * k, x, k=x[0])
    return y @ push(None, y) + np.sum(push(None, np.ones(3)) ** 2)


@at(0.7)
def by_pushforward_of_a_closure(x):
    def f(t):
        return x * t**2

    return pushforward(f, 2.0)[1](Tangent(type(f), x=x), 1.0)


@at(0.7)
def as_rules_do(x):
    y, back = rrule_via_ad(lambda t: x * t**3, x * x)
    z, push = frule_via_ad(lambda t: x * t**2, y)
    return back(z)[1] * push(None, x)


@at(0.7)
def by_the_cotangent_of_a_closure(x):
    return pullback(lambda t: t * x * x, 3.0)[1](2.0)[0]["x"] * x


# What gradients of objects hold


@at(Spring(0.5, np.array([0.1, 0.2])))
def read_of_a_gradient(spring):
    g = gradient(lambda s: s.energy(np.array([1.0, 2.0])) ** 2, spring)[0]
    every = sum(np.sum(value**2) for value in g.values())
    for name, value in g.items():
        every = every + len(name) * np.sum(value)
    return g.stiffness * np.sum(g["cubic"]) + every


@at(nn.Chain(nn.Dense(1, 3, activation=np.tanh), nn.Dense(3, 1)))
def norm_of_the_gradient_of_a_model(model):
    g = gradient(lambda m: np.mean(m(T[:, None]) ** 2), model)[0]
    return sum(np.sum(layer.weight**2) for layer in g.layers)


# What is written into before or after


@at(1.3)
def beside_items(x):
    items = [x]
    g = gradient(lambda t: t * items[0] ** 2, 2.0)[0]
    items[0] = items[0] * 2.0
    h = gradient(lambda t: t * items[0] ** 2, 2.0)[0]
    items.append(h)
    return g * items[0] * h


@at(1.3)
def beside_nested_items(x):
    held = {"a": [x, {"b": np.array([x, 2 * x])}]}

    def f(t):
        return t**2 * held["a"][0] * np.sum(held["a"][1]["b"] ** 2)

    g = grad(f)(x)
    held["a"][1]["b"][0] = g * 0.1
    h = grad(f)(g * 0.1)
    held["a"][0] = h * 0.1
    held["a"][1]["b"] = np.array([h * 0.1])
    return grad(f)(x) + h


class Walk:
    def __init__(self, stiffness):
        self.stiffness = stiffness
        self.history = []
        self.count = 0

    def energy(self, q):
        return np.sum(self.stiffness * q**3)

    def step(self, q):
        self.count += 1
        q = q - 0.1 * grad(self.energy)(q)
        self.history.append(q)
        self.stiffness = self.stiffness * 1.1
        return q


@at(0.7)
def beside_a_history(k):
    walk = Walk(k)
    q = walk.step(walk.step(np.array([1.0, 0.5])))
    return np.sum(q) * walk.count + np.sum(walk.history[0])


@at(ARRAY)
def beside_other_products(w):
    """What a method held when it was handed on, not what its object holds later."""
    walk = Walk(w)
    found = hessian(walk.energy, w)
    walk.stiffness = walk.stiffness * 1.1
    return np.sum(found) + np.sum(hvp(walk.energy, w, w))


# What functions are given by name


def scaled(q, k, b=2.0):
    return k * np.sum(q**3) * b


@at(0.8)
def of_partials(k):
    def local(q, s, *, c):
        return np.sum(q**3) * s * c * k

    first = np.sum(grad(partial(scaled, k=k))(ARRAY, b=k)) + np.sum(gradient(partial(scaled, ARRAY), k, k)[1])
    return first * grad(partial(local, ARRAY, c=k))(k) + pullback(partial(scaled, k=k), ARRAY, b=k)[1](1.0)[1][0]


def slope_of(f, x):
    return grad(lambda v: f(v) ** 2)(x)


@at(0.8)
def of_partials_that_are_given(k):
    return np.sum(slope_of(partial(scaled, k=k, b=k), ARRAY)) + slope_of(partial(lambda c, x: c * x**4, k), k)


def chained(f, g, x):
    return grad(lambda v: f(g(v)))(x)


@at(0.8)
def of_functions_with_variables_of_one_name(k):
    def other(k):
        return lambda t: t**2 * k

    return chained(lambda t: t**3 * k, other(k * k), k)


@at(0.8)
def of_collected_names(k):
    def f(t, **options):
        return t**2 * options.get("scale", 1.0) * options["k"]

    return grad(f)(k, k=k) + grad(f)(k, k=2.0, scale=k)


# Calls that are known when they are made


@at(0.3)
def of_what_calls_itself(x):
    def power(t, n):
        return 1.0 if n == 0 else t * power(t, n - 1) * x

    return grad(power)(x, 3) * grad(lambda t: power(t, 2) * x)(x)


def twice_as_much(f):
    @wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) * 2.0

    return wrapper


@twice_as_much
def cubic(q, k=1.0):
    return k * np.sum(q**3)


@at(ARRAY)
def of_decorated_functions(q):
    def local(f):
        return lambda *args: f(*args) * q[0]

    inner = local(lambda v, k: np.sum(v**3) * k)
    return np.sum(grad(cubic)(q) * grad(lambda v: cubic(v, k=q[0]))(q)) + np.sum(grad(inner)(q, q[1]))


@at(0.8)
def of_composed_functions(k):
    def composed(*functions):
        def chain(x):
            for function in functions:
                x = function(x)
            return x

        return chain

    return grad(composed(math.sin, lambda t: t * k, math.exp))(0.4)


@at(0.7)
def of_complex_values(k):
    def f(t):
        z = complex(t, k) * np.exp(1j * t * k)
        return (z * (1 + t)).real + abs(z) * z.imag

    return grad(f)(0.4) * k


@at(0.7)
def of_arguments_by_name(k):
    g, h = grad(scaled, argnums=("q", "k"))(ARRAY * k, k=k)
    return np.sum(g) * h + grad(scaled, argnums="k")(ARRAY, k=k * k) * jacobian(scaled, ARRAY, k, argnums="k")


@at(ARRAY)
def as_other_packages_name_it(x):
    y, back = vjp(lambda t: np.sin(t) * x, x)
    return np.sum(back(y)[0] * elementwise_grad(lambda t: t**3 * x[0])(x))


# Orders above the second


@at(0.7)
def with_keywords_that_are_collected(x):
    def f(a, /, b=1.0, *args, c=2.0, **others):
        return (others["z"] + others["a"] * b + c) * a**3 + sum(others.values()) * a

    return gradient(f, x, z=x * x, c=x, a=2.0)[0] + hvp(f, x, 1.0, z=x, a=3.0)


@at(ARRAY)
def of_more_arguments_beside_writes(a):
    def f(t, s, k=1.0):
        return np.sum(t**3 * a) * s * k

    found = np.zeros(3)
    found[0] = np.sum(hvp(f, a, a * 2.0, a[0]) * a)
    found[1] = np.sum(hessian(f, a, a[1], k=a[2]))
    found[2] = np.sum(jacobian(lambda s, t: t * s, a[1], a))
    return found[0] * found[2] + found[1]


def quartic(q):
    return np.sum(q**4)


@at(ARRAY)
def newton_in_a_loop(a):
    q = a * 0.5
    for _ in range(2):
        q = q - 0.1 * np.linalg.solve(hessian(quartic, q) + 2.0 * np.eye(3), a)
    return np.sum(q**2)


@at(0.6)
def third_order(x):
    return gradient(lambda y: gradient(lambda z: math.sin(z) * x * y, y)[0] * y, x)[0]


@at(1.1)
def fourth_order(x):
    f = lambda t: t**6 * x  # noqa: E731
    return grad(grad(grad(f)))(x)


@at(0.9)
def third_order_of_a_loop(x):
    def f(t):
        r = 1.0
        for _ in range(5):
            r = r * t
        return r

    return grad(grad(f))(x)


# Functions made over what moves, in a branch or a `try`


@at(0.9)
def function_made_in_a_branch(x):
    def f(t):
        scaled = None
        if t > 0.0:
            c = math.tanh(t)

            def scaled(s):
                return c * s

        return scaled(0.5)

    return jvp(f, (x,), (1.0,))[1]


@at(0.9)
def function_made_in_a_try(x):
    def f(t):
        try:

            def scaled(s, k=t * t):
                return k * s

        except ValueError:
            scaled = None
        return scaled(0.5) * t

    return jvp(f, (x,), (1.0,))[1]


# Rules of the user's


def halved(x):
    return x / 2.0


@rrule.register(halved)
def halved_rrule(x):
    def halved_pullback(y_bar):
        return None, y_bar * 0.5 * x  # another derivative than that of the body, to be seen

    return x / 2.0, halved_pullback


def with_a_rule_inside(x):
    return grad(lambda t: halved(t) ** 2)(x)
