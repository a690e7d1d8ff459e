"""What is read from exceptions that calls, operators, iterators and contexts have raised or let pass."""

# The programs raise where they catch, and say what they mean in few words.
# ruff: noqa: E731, F821, SIM

from __future__ import annotations

import contextlib
import functools
import io
import math
import threading
from functools import reduce

import numpy as np

from tests.programs.mutation.caught import Payload, Plain
from tests.programs.mutation.table import program

lock = threading.Lock()


@program(1.5, features="try")
def caught_behind_a_finally(x):
    y = x
    try:
        try:
            raise Payload(x * x)
        finally:
            y = y * 2
    except Payload as p:
        return p.payload * y


class Keep:
    def __enter__(self):
        return self

    def __exit__(self, kind, e, tb):
        self.v = e.args[0]
        return True


@program(1.5, features="try")
def read_by_exit(x):
    k = Keep()
    with k:
        raise Plain(x * x)
    return k.v * 2


class KeepErr:
    def __enter__(self):
        return self

    def __exit__(self, kind, e, tb):
        self.err = e
        return True


@program(1.5, features="try")
def kept_by_exit(x):
    k = KeepErr()
    with k:
        raise Plain(x * x)
    return k.err.args[0] * 2


@contextlib.contextmanager
def catching(out):
    try:
        yield
    except Plain as e:
        out.append(e.args[0])


@program(1.5, features="try")
def read_by_a_context_manager(x):
    out = []
    with catching(out):
        raise Plain(x * x)
    return out[0] * 2


def raises_deep(x, n):
    if n == 0:
        raise Payload(x)
    try:
        raises_deep(x * x, n - 1)
    except Payload as e:
        raise Payload(e.payload * x) from None


@program(1.1, features="try")
def raised_through_recursion(x):
    try:
        raises_deep(x, 3)
    except Payload as e:
        return e.payload


@program(1.5, features="try")
def read_by_a_lambda(x):
    def f(y):
        raise Payload(x * y)

    try:
        f(x)
    except Payload as e:
        g = lambda z: e.payload * z
        return g(x)


@program(1.5, features="try")
def raised_by_a_method(x):
    class A:
        pass

    try:
        Thrower(x).go(2.0)
    except Payload as e:
        return e.payload * 2


class Thrower:
    def __init__(self, x):
        self.x = x

    def go(self, k):
        self.x = self.x * k
        raise Payload(self.x * k)


@program(1.5, features="try")
def raised_in_a_map(x):
    def f(a):
        if a > 2:
            raise Payload(a * x)
        return a

    try:
        return sum(map(f, [x, 2 * x]))
    except Payload as e:
        return e.payload


@program(1.5, features="try")
def raised_by_a_sort_key(x):
    def f(a):
        if a > 2:
            raise Payload(a * x)
        return a

    try:
        return sorted([x, 2 * x], key=f)[0]
    except Payload as e:
        return e.payload


@program(1.5, features="try")
def raised_by_a_property(x):
    try:
        return Raising(x).v
    except Payload as e:
        return e.payload * x


class Raising:
    def __init__(self, x):
        self.x = x

    @property
    def v(self):
        raise Payload(self.x**3)

    def __add__(self, o):
        raise Payload(self.x * o)

    def __getattr__(self, name):
        raise Plain(self.x)

    def __len__(self):
        raise Payload(self.x)

    def __eq__(self, o):
        raise Payload(self.x * o)

    def __float__(self):
        raise Payload(self.x)

    def __getitem__(self, i):
        raise Payload(self.x)


@program(1.5, features="try")
def raised_by_an_operator(x):
    try:
        return Raising(x) + x
    except Payload as e:
        return e.payload * x


@program(1.5, features="try")
def raised_by_getattr(x):
    try:
        return Raising(x).nothing
    except Plain as e:
        return e.args[0] * x


@program(1.5, features="try")
def raised_by_a_comparison(x):
    try:
        return x if Raising(x) == 3.0 else 2 * x
    except Payload as e:
        return e.payload * x


@program(1.5, features="try")
def raised_by_float(x):
    try:
        return math.sin(Raising(x))
    except Payload as e:
        return e.payload * x


@program(1.5, features="try")
def raised_by_an_item(x):
    try:
        return Raising(x)[0]
    except Payload as e:
        return e.payload * x


@program(1.5, features="try")
def raised_by_a_constructor(x):
    try:
        return Boom(x)
    except Payload as e:
        return e.payload * x


class Boom:
    def __init__(self, x):
        self.y = x
        raise Payload(x * self.y)


def gives_and_raises(x):
    yield x
    raise Payload(x * x)


@program(1.5, features="try")
def raised_by_a_generator(x):
    t = 0.0
    try:
        for a in gives_and_raises(x):
            t += a
    except Payload as e:
        return e.payload * t


@program(1.5, features="try")
def read_by_name(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        return getattr(e, "payload") * getattr(e, "nope", x)


@program(1.5, features="try")
def raised_by_a_partial(x):
    try:
        functools.partial(raises_a_product, x)(x)
    except Payload as e:
        return e.payload


def raises_a_product(a, b):
    raise Payload(a * b)


@program(np.array([1.5, 2.0]), features="try")
def raised_in_a_comprehension(x):
    def f(a):
        if a > 1.8:
            raise Plain(x * a)
        return a

    try:
        return np.sum(np.array([f(a) for a in x]))
    except Plain as e:
        return np.sum(e.args[0] * x)


@program(np.array([1.5, 2.0]), features="try")
def raised_along_an_axis(x):
    def f(a):
        raise Plain(x * a[0])

    try:
        return np.sum(np.apply_along_axis(f, 0, x))
    except Plain as e:
        return np.sum(e.args[0] * x)


@program(np.array([1.5, 2.0]), features="try")
def raised_in_a_reduction(x):
    def f(a, b):
        raise Plain(a * x)

    try:
        return reduce(f, x)
    except Plain as e:
        return np.sum(e.args[0] * x)


@program(1.5, features="try")
def caught_behind_a_lock(x):
    y = [x]
    try:
        with lock:
            y[0] = x * x
            raise Plain(x * 2)
    except Plain as e:
        return e.args[0] * y[0]


@program(1.5, features="try")
def suppressed_with_numbers(x):
    y = [x]
    with contextlib.suppress(Plain):
        y[0] = x * x
        raise Plain(x * 2)
    return y[0]


@program(1.5, features="try")
def caught_behind_errstate(x):
    try:
        with np.errstate(all="ignore"):
            raise Plain(x * 2)
    except Plain as e:
        return e.args[0] * x


@program(1.5, features="try")
def context_that_has_a_name(x):
    y, log = [x], io.StringIO()
    with log:
        log.write("squared")
        y[0] = x * x
    return y[0]


def quietly():
    return np.errstate(all="ignore")


@program(1.5, features="try")
def contexts_that_a_helper_makes(x):
    y = [x]
    with quietly(), opened() as log:
        log.write("squared")
        y[0] = x * x
    return y[0]


def opened():
    return io.StringIO()


@program(1.5, features="try")
def one_of_two_contexts(x):
    y = [x]
    context = np.errstate(all="ignore") if x > 0 else contextlib.nullcontext()
    with context:
        y[0] = x * x
    return y[0]


@program(1.5, features="try")
def stack_of_contexts(x):
    y = [x]
    try:
        with contextlib.ExitStack() as stack:
            log = stack.enter_context(opened())
            y[0] = x * x
            log.write("squared")
            raise Plain("no number")
    except Plain:
        y[0] *= 2.0
    return y[0]
