"""Classes that are made in a function, whose methods use its variables."""

# The programs say what they mean in few words.
# ruff: noqa: E731, F821, SIM

from __future__ import annotations

import functools

import numpy as np

from tests.programs.mutation.table import program


@program(1.5, features="class")
def method_over_an_argument(x):
    class A:
        def f(self, y):
            return x * y

    return A().f(x)


@program(1.5, features="class")
def method_over_a_function(x):
    def g(y):
        return y * x

    class A:
        def f(self, y):
            return g(y)

    return A().f(x)


@program([1.5, 2.0], features="class")
def method_that_writes_into_an_argument(x):
    class A:
        def f(self, y):
            x[0] = y * x[1]
            return y

    a = A()
    a.f(x[1])
    return x[0]


@program(1.5, features="class")
def method_over_a_rebound_variable(x):
    y = x

    class A:
        def g(self):
            return y

    y = y * x
    return A().g()


@program(1.5, features="class")
def class_in_a_class(x):
    class A:
        class B:
            def g(self):
                return x * 2

        def g(self):
            return self.B().g() * x

    return A().g()


@program(1.5, features="class")
def method_that_assigns_a_variable_around(x):
    total = 0.0

    class A:
        def add(self, v):
            nonlocal total
            total += v * x

    a = A()
    a.add(x)
    a.add(2.0)
    return total


@program(1.5, features="class")
def lambdas_in_a_class(x):
    class A:
        g = lambda self: x * x
        h = [lambda self: x]

    return A().g() * A.h[0](None)


@program(1.5, features="class")
def property_static_and_class_method(x):
    class A:
        @property
        def v(self):
            return x * x

        @staticmethod
        def s(y):
            return y * x

        @classmethod
        def c(cls, y):
            return cls.s(y) * x

    return A().v * A.s(x) * A.c(2.0)


@program(1.5, features="class")
def operators_of_a_class_inside(x):
    class A:
        def __init__(self, y):
            self.y = y * x

        def __add__(self, o):
            return A(self.y + o.y * x)

        def __call__(self, z):
            return self.y * z

    return (A(x) + A(2.0))(x)


@program(1.5, features="class")
def class_that_is_returned(x):
    def make():
        class A:
            def g(self):
                return x * x

        return A

    return make()().g() * x


@program(1.5, 3, features="class")
def class_made_in_a_loop(x, n):
    t = 0.0
    for k in range(n):

        class A:
            def g(self):
                return x * k

        t += A().g()
    return t


@program(1.5, features="class")
def method_that_calls_a_helper(x):
    def helper(y):
        return y * x

    class A:
        def g(self):
            return helper(x)

    return A().g()


@program(np.array([1.5, 2.0]), features="class")
def method_over_an_array(x):
    class A:
        def g(self):
            return x * 2

    return np.sum(A().g() * x)


@program(np.array([1.5, 2.0]), features="class")
def method_that_writes_into_an_array(x):
    y = x * 2

    class A:
        def g(self):
            y[0] = x[1] * 3
            return y

    A().g()
    return np.sum(y * x)


@program(1.5, features="class")
def method_that_makes_its_own_class(x):
    class A:
        def __init__(self, v):
            self.v = v

        def twice(self):
            return A(self.v * x)

    return A(x).twice().v


@program(1.5, features="class")
def super_of_a_class_inside(x):
    class A:
        def f(self):
            return x

    class B(A):
        def f(self):
            return super().f() * x

    return B().f()


@program(1.5, features="class")
def dataclass_inside(x):
    from dataclasses import dataclass

    @dataclass
    class P:
        a: float

        def area(self):
            return self.a * x

    return P(x).area()


@program(1.5, features="class")
def generator_method_inside(x):
    class A:
        def items(self):
            yield x
            yield x * x

    return sum(A().items())


@program([1.5, 2.0], features="class")
def method_called_in_a_comprehension(xs):
    class A:
        def g(self, i):
            return xs[i] * 2

    a = A()
    return sum(a.g(i) for i in range(2))


@program(1.5, features="class")
def method_beside_a_constant(x):
    class A:
        "doc"

        k = 3

        def g(self):
            return x * self.k

    return A().g() * A.k


@program(1.5, features="class")
def slots_of_a_class_inside(x):
    class A:
        __slots__ = ("v",)

        def __init__(self):
            self.v = x

    return A().v * 2


@program(1.5, features="class")
def call_in_a_body_of_constants(x):
    k = 3

    class A:
        v = float(k)

        def g(self, y):
            return y * self.v * k

    return A().g(x)


@program(1.5, features="class")
def class_made_by_another_function(x):
    return squares_of(x)().g() * x


def squares_of(y):
    class A:
        def g(self):
            return y * y

    return A


@program(1.5, features="class")
def cached_property_inside(x):
    class A:
        @functools.cached_property
        def v(self):
            return x * x

    a = A()
    return a.v * a.v


@program([1.5, 2.0], features="class")
def counter_inside(xs):
    class Counter:
        def __init__(self):
            self.t = 0.0

        def add(self, v):
            self.t += v * xs[0]

    c = Counter()
    for v in xs:
        c.add(v)
    return c.t


@program(1.5, features="class")
def context_inside(x):
    out = []

    class Ctx:
        def __enter__(self):
            return x * 2

        def __exit__(self, *a):
            out.append(x)
            return False

    with Ctx() as v:
        y = v * x
    return y * out[0]


@program(1.5, features="class")
def iterator_inside(x):
    class It:
        def __init__(self):
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            if self.i > 3:
                raise StopIteration
            return x * self.i

    return sum(It()) + sum(v * x for v in It())


@program(1.5, features="class")
def classes_over_a_rebound_variable(x):
    y = x
    fs = []
    for k in range(3):

        class A:
            def g(self):
                return y * k

        fs.append(A())
        y = y * x
    return sum(a.g() for a in fs)


@program(1.5, features="class")
def method_beside_a_private_name(x):
    __z = x * 2

    class A:
        def g(self):
            return x * 2

    return A().g() * __z


@program(1.5, features="class")
def dataclass_with_options_inside(x):
    import dataclasses

    @dataclasses.dataclass(frozen=True, order=True)
    class A:
        a: float

        def g(self):
            return self.a * x

    return A(x).g()


class Plain:
    pass


@program(1.5, features="class")
def attributes_of_the_body(x):
    class P:
        a = x * 2

        def f(self):
            return self.a * x

    return P().a * P.a + P().f()


@program(np.array([1.0, 2.0]), features="class")
def array_of_the_body(x):
    class P:
        w = x * 2

        def f(self):
            return self.w.sum()

    p = P()
    P.w[0] = x[1] * 3
    return p.f() * p.w[1]


@program(1.5, features="class")
def attribute_that_is_assigned_again(x):
    class P:
        a = x

    P.a = P.a * x
    P.a += 1
    return P().a * x


@program(1.5, features="class")
def several_attributes(x):
    class P:
        a = x * 2
        b: float = x**2 + 1
        t = (x, -x)
        n = 3

        def f(self):
            return self.a * x + self.n

    return P().a * P.b + P().f() * P.t[1]


@program(1.5, features="class")
def attributes_of_two_bodies(x):
    y = x * x

    class P:
        yy = y * 2

        def g(self, k):
            return self.yy * k

    class Q(P):
        z = x

    return P().g(x) * y + Q().yy * Q.z


@program(1.5, features="class")
def attribute_that_grows(x):
    class P:
        a = x

        def grow(self):
            P.a = P.a * x
            return self

    p = P().grow().grow()
    return p.a * x


@program(np.array([1.0, 2.0]), features="class")
def array_that_is_written_into(v):
    class P:
        w = v * 2

        def f(self):
            return (self.w * v).sum()

    p = P()
    p.w[0] = v[1] * 3
    return p.f() * P.w[0]


@program(1.5, features="class")
def class_of_each_iteration(x):
    out = []
    for k in range(3):

        class P:
            a = x * k

            def f(self, y):
                return self.a * y

        out.append(P())
    return sum(p.f(x) for p in out)


@program([1.5, 2.0], features="class")
def list_of_the_body(v):
    n = 3

    class P:
        size = n * 2
        first = v

    v[0] = v[1] * x_of(P)
    return v[0]


def x_of(P):
    return P.size * P.first[1]


@program(1.5, features="class")
def attribute_of_a_shared_variable(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    add(x)

    class P:
        a = total * 2

        def f(self):
            return total * self.a

    add(x * x)
    return P.a + P().f()


@program(1.5, features="class")
def constants_of_the_body(x):
    names, acc, obj, n = ["a", "b"], [0.0], Plain(), 3

    class P:
        table = names
        who = obj
        m = n * 2 + 1
        rep = names * 2

        def f(self):
            return len(self.table) + self.m

    acc[0] = x * P().f() + len(P.rep)
    return acc[0] * x


@program([1.5, 2.0], features="class")
def list_and_pair_of_the_body(v):
    class P:
        first = v
        pair = (v, 2.0)

    v[0] = v[1] * 3
    P.first[1] = P.first[0] * 2
    return v[0] * P.pair[0][1]


@program(np.array([1.5, 2.0]), features="class")
def two_names_of_an_array(v):
    class P:
        w = v
        u = v * 2

    v[0] = v[1] * 3
    return (P.w * P.u).sum()


@program(1.5, features="class")
def attribute_of_what_gets_another_value(x):
    y = x

    class Line:
        start = y * 2

        def at(self):
            return y

    y = y * x
    return Line.start * Line().at()
