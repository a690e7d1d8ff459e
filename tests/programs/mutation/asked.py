"""Code of the user's that Python runs without being told to by a call, where it writes, and where it raises after that."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import K, program


class Asked:
    """Answers some questions by writing first. One that `raises` does so then."""

    def __init__(self, x, raises):
        self.x, self.seen, self.raises = x, [x], raises

    def write(self, answer):
        self.seen.append(self.seen[-1] * 3.0 * self.x)
        self.x = self.x * 0.9
        if self.raises:
            raise ValueError
        return answer

    def __bool__(self):
        return self.write(True)

    def __lt__(self, other):
        return self.write(len(self.seen) < 4)

    def __iter__(self):
        self.seen.append(self.x * self.x)
        yield self.x
        self.write(0.0)
        yield self.x * 2.0

    @property
    def part(self):
        return self.write(self.x)


@program(K, features="__bool__ that raises: if, not, and, or, assert, conditional expression, any, all")
def truth_values_raise(x):
    o, total = Asked(x, True), x
    held = [o]
    for k in range(10):
        try:
            if k == 0 and o:
                total = 0.0
            if k == 1:
                total = 1.0 if not held[0] else 2.0
            if k == 2:
                total = (x and o) or 2.0
            if k == 3:
                assert held[0]
            if k == 4:
                total = 1.0 if o else 2.0
            if k == 5:
                total = 1.0 * any(held)
            if k == 6:
                total = 1.0 * all([o, x])
            if k == 7:
                while o:
                    total = 0.0
            if k == 8:
                total = sum(v for v in [x, 2.0 * x] if o)
            if k == 9:
                total = not held[0]
        except ValueError:
            total = total + o.x * o.seen[-1] * 0.1
    return total * sum(o.seen)


@program(K, features="a, b = o, that raises, a generator among others")
def unpacking_raises(x):
    o, total = Asked(x, True), x
    try:
        a, b = o
        total = a * b
    except ValueError:
        total = total * o.x
    try:
        a, *rest = [o][0]
        total = a * rest[0]
    except ValueError:
        total = total * o.x
    for count in (1, 3, 2):
        try:
            a, b = counted(o, count)
            total = total * a * b
        except ValueError:
            total = total + o.x
    return total * sum(o.seen)


def counted(o, count):
    for k in range(count):
        o.seen.append(o.seen[-1] * o.x)
        yield o.seen[-1] * k + 1.0


@program(K, features="match of a class whose attribute is computed, hasattr")
def attributes_are_looked_at(x):
    total = x
    for raises in (False, True):
        o = Asked(x, raises)
        try:
            match o:
                case Asked(part=y) if o:
                    total = total * y
        except ValueError:
            total = total + o.x
        try:
            total = total * (2.0 if hasattr(o, "part") else 3.0)
            total = total * (2.0 if hasattr(o, "missing") else 3.0)
        except ValueError:
            total = total + o.seen[-1]
        total = total * sum(o.seen)
    return total


class Looked:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        self.x = self.x * 2.0
        raise AttributeError(name)


@program(K, features="hasattr, __getattr__ that writes")
def missing_attributes_are_looked_for(x):
    o = Looked(x)
    return o.x * (1.0 if hasattr(o, "missing") else x) * (2.0 if hasattr(o, "x") else 1.0)


# Conditions of loops


class Counting:
    def __init__(self, x):
        self.x, self.n = x, 0

    def __lt__(self, other):
        self.x = self.x * other
        return self.n < 3

    def __add__(self, other):
        self.x = self.x * other
        return self.x


@program(K, features="while with operators of objects, else, break, continue, return, nested")
def operators_in_conditions(x):
    o, total, k = Counting(x), 1.0, 0
    while o < x:
        o.n += 1
        if o.n == 2:
            continue
        total = total * o.x + x
    else:
        total = total * x
    while k < 3:
        k += 1
        p = Counting(x)
        while p < x:
            p.n += 1
            while o + x > 0.05:
                total = total * x + o.x
                if total > 30.0:
                    break
            total = total * p.x + 1.0
            if k == 2 and p.n == 2:
                return total * o.x * p.x
    return total


@program(K, features="while, operator that writes, array, try around it")
def operators_in_conditions_of_a_try(x):
    o, total, u = Counting(x), 1.0, np.ones(3) * x
    try:
        while o < u[0]:
            o.n += 1
            u *= 0.9
            total = total * o.x + x * np.sum(u)
            if o.n == 2:
                raise ValueError
    except ValueError:
        total = total * o.x
    return total * o.x * u[1]


@program(K, features="while over a shared variable")
def shared_variable_in_a_condition(x):
    level, total = x, 1.0

    def raised(y):
        nonlocal level, total
        while level < 3.0:
            level = level * 1.5 * y + x
            total = total * level
        return total

    return raised(x + 1.0) * level


@program(K, features="loop in a try over a list into which something active is stored meanwhile")
def list_of_constants_becomes_active(x):
    items, log, total = [1.0, 2.0, 3.0], [], x
    try:
        for v in items:
            total = total * v
            items[2] = x * total
            items[1] = x * x
            log.append(total)
            if v > 0.4 and len(log) > 2:
                raise ValueError
    except ValueError:
        total = total + log[-1]
    return total * sum(items) * sum(log)


class Ranked:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        return self.v > other.v

    def __eq__(self, other):
        return self.v == other.v

    __hash__ = None


@program(K, features="max and min of tuples with objects")
def tuples_with_objects_are_chosen(x):
    held = Ranked(x)
    pairs = [(x * x, held), (2.0 + x, [x]), (3.0 * x, held)]
    least, most = min(pairs), max((x, [x * x]), (0.1, [x]), (x, [0.0]))
    most[1][0] *= 3.0
    held.v *= x
    return least[0] * held.v + most[0] * most[1][0] + max([[x, 2.0], [0.1, x]])[0]


@program(K, features="max of tuples with objects that are written into")
def objects_compare_otherwise_later(x):
    held, other = Ranked(x), Ranked(0.3)
    chosen = max((1, held, x * x), (1, other, 5.0 * x))
    held.v = -2.0 * x
    return chosen[2] * other.v + held.v
