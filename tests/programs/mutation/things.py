"""Lists of things as people write them: functions, objects, tuples and rows in lists, and generators that are left early."""

from __future__ import annotations

import itertools
import math
from collections import deque, namedtuple
from typing import NamedTuple

from tests.programs.mutation.table import program

X, N = 0.613, 9


# Generators that somebody leaves


@program(X, N, features="generator, islice")
def takes_so_many(x, n):
    def terms():
        k, t = 0, 1.0
        while True:
            yield t
            k += 1
            t *= x / k

    return sum(itertools.islice(terms(), n))


@program(X, features="generator, takewhile")
def takes_while(x):
    def terms():
        t = x
        while True:
            yield t
            t *= 0.9

    return sum(itertools.takewhile(lambda t: t > 1e-2, terms()))


@program(X, N, features="generator, break")
def breaks_out_of_a_generator(x, n):
    def terms():
        k, t = 0, 1.0
        while True:
            yield t
            k += 1
            t *= x / k

    total = 0.0
    for i, t in enumerate(terms()):
        if i == n:
            break
        total += t * i
    return total * i + t


@program(X, N, features="generator, break")
def breaks_out_of_loops_in_loops(x, n):
    def terms():
        for i in range(n):
            for j in range(i):
                yield x * i * j
            yield x * x
        yield 3 * x

    total, found = 0.0, None
    for t in terms():
        total += t
        if total > 4.0:
            found = t
            break
        total *= 0.9
    if found is None:
        return total
    return total * found


@program(X, N, features="generator, return")
def returns_from_loops_in_loops(x, n):
    def terms():
        t = x
        for i in range(n):
            for j in range(3):
                if i * j > 8:
                    return
                yield t
                t = t * 0.8 + j

    return sum(t * t for t in terms())


@program(X, features="generator, break, else")
def comes_to_the_end(x):
    def terms():
        t = x
        while t < 30:
            yield t
            t *= 1.5

    total = 0.0
    for t in terms():
        total += t
        if total > 100:
            break
    else:
        total *= x
    return total


@program(X, N, features="generator, break, continue")
def goes_on_and_breaks(x, n):
    def terms():
        t = x
        while True:
            yield t
            t = t * 1.1 + 0.1

    total = 0.0
    for k, t in enumerate(terms()):
        if k % 2:
            continue
        if k > n:
            break
        if k == 4:
            total += 1
            continue
        total += t * x
    return total


@program(X, N, features="generator, break")
def comes_back_to_a_generator(x, n):
    def terms():
        t = x
        while True:
            yield t
            t = t * 1.1 + 0.1

    total, made = 0.0, terms()
    for t in made:
        total += t
        if total > 3:
            break
    for t in made:
        total += t * x
        if total > n:
            break
    return total


@program(X, N, features="generator, islice, list")
def writes_between_items(x, n):
    state = [x, 0.0]

    def terms():
        while True:
            state[0] *= 0.9
            yield state[0]
            state[1] += 1.0

    for t in itertools.islice(terms(), n):
        state[1] += t
    return state[0] * state[1]


@program(X, 5, features="generator, islice, takewhile, break")
def leaves_generators_in_generators(x, n):
    def inner(k):
        t = x * k
        while True:
            t = t * 0.5 + k
            yield t

    def outer():
        for k in range(n):
            for t in itertools.takewhile(lambda v: v > 0.3 * k, itertools.islice(inner(k), 4)):
                yield t * x

    total = 0.0
    for v in outer():
        total += v
        if total > 20:
            break
    return total


@program(X, 5, features="generator, break, try")
def raises_in_a_generator(x, n):
    def terms():
        t = x
        while True:
            if t > n:
                raise ValueError("big")
            yield t
            t = 2 * t

    total = 0.0
    try:
        for t in terms():
            total += t
            if total > 100:
                break
    except ValueError:
        total *= 3
    return total


@program(X, 5, features="generator, break")
def leaves_one_in_each_iteration(x, n):
    def terms(a):
        while True:
            a = a * x + 1
            yield a

    total = 0.0
    for i in range(n):
        for a in terms(0.1 * i):
            total += a
            if total > 3 * i:
                break
    return total


@program(X, features="generator, any, next")
def asks_generators(x):
    def terms(a):
        while True:
            a = a * x + 1
            yield a

    if any(t > 2 for t in terms(0.2)) and not all(t < 1.5 for t in terms(0.1)):
        return x * next(t for t in terms(x) if t > 2)
    return x


@program(X, N, features="generator expression, next")
def finds_the_next(x, n):
    values, total = [x * k for k in range(n)], 0.0
    for k in range(n):
        total += next((v * v for v in values if v > 0.33 * k), x)
    return total * next(i for i, v in enumerate(values) if v > 3)


@program(X, N, features="generator expression, next, try")
def finds_none(x, n):
    values = [x * k for k in range(n)]
    try:
        return next(v for v in values if v > 200)
    except StopIteration:
        return next((v for v in values if v > 300), None) or x * x


@program(X, features="generator expression, next")
def finds_in_a_generator(x):
    def firsts(rows):
        for row in rows:
            yield next(v for v in row if v > 0.5)

    try:
        return sum(firsts([[0.1, x], [x, 1.0], [0.2, 0.1]]))
    except RuntimeError:
        return sum(firsts([[0.1, x], [x * x, x * 2]]))


@program(X, features="generator, next")
def asks_a_generator_twice(x):
    def terms(a):
        while True:
            a = a * x + 1
            yield a

    made = terms(x)
    first = next(made)
    return first * next(made) + next(iter([x, 2.0]))


# Objects of several classes


class Shape:
    def area(self):
        return 0.0


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Box(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h

    def grow(self, k):
        self.w *= k


class Three(Shape):
    def __init__(self, b):
        self.b = b

    def area(self):
        return 0.3 * self.b * self.b


@program(X, N, features="list of objects, two classes, branch")
def makes_one_of_two_classes(x, n):
    shapes = []
    for k in range(n):
        shapes.append(Circle(x * k) if k % 2 else Box(x, k))
    return sum(s.area() for s in shapes)


@program(X, N, features="list of objects, three classes, branch")
def makes_one_of_three_classes(x, n):
    shapes = []
    for k in range(n):
        if k % 3 == 0:
            s = Circle(x * k)
        elif k % 3 == 1:
            s = Box(x, k)
        else:
            s = Three(x)
        shapes.append(s)
    shapes.append(Three(2 * x))
    return sum(s.area() for s in shapes)


@program(X, features="list of objects, three classes, loop")
def finds_the_largest_shape(x):
    shapes = [Circle(x), Box(x, 2.0), Three(2 * x)]
    best = shapes[0]
    for s in shapes:
        if s.area() > best.area():
            best = s
    return best.area() * x


@program(X, N, features="objects, two classes, loop")
def goes_from_class_to_class(x, n):
    s, total = Circle(x), 0.0
    for k in range(n):
        total += s.area()
        if k % 3 == 0:
            s = Box(x, total * 0.1)
        elif k % 3 == 1:
            s = Circle(0.3 * total * x)
    return total


@program(X, N, features="list of objects, three classes, isinstance")
def asks_of_which_class(x, n):
    shapes = [Circle(x), Box(x, 2.0), Three(2 * x)]
    other = Circle(2 * x) if n > 3 else Three(x)
    last = Box(x, x) if n > 30 else other
    shapes.append(other)
    shapes.append(last)
    total = 0.0
    for s in shapes:
        if isinstance(s, Box):
            s.grow(1.5)
        elif isinstance(s, Circle):
            total += s.r
        s.area()
    return sum(s.area() for s in shapes) * total


@program(X, features="list of objects, two classes, try")
def asks_for_what_is_not_there(x):
    total = 0.0
    for s in (Circle(x), Box(x, 2.0), Circle(2 * x)):
        try:
            total += s.w
        except AttributeError:
            total += s.r * x
    return total


def shape_of(k, x):
    if k % 2:
        return Circle(x * k)
    return Box(x, k)


@program(X, N, features="function that makes objects, two classes")
def gets_one_of_two_classes(x, n):
    return sum(shape_of(k, x).area() for k in range(n)) * shape_of(n, x).area()


@program(X, N, features="objects, two classes, identity")
def keeps_which_one_it_is(x, n):
    first, other = Circle(x), Box(x, 2.0)
    found = first if n > 3 else other
    if isinstance(other, Box):
        other.grow(x)
    if found is first:
        found.r *= 2.0
    return found.area() * first.r + other.area()


# Functions in containers


def double(y):
    return 2 * y


def power(k):
    return lambda y: y**k


def scale(a):
    def f(y):
        return a * y

    return f


@program(X, N, features="functions in a list")
def calls_what_factories_make(x, n):
    fs = [scale(x), scale(2.0), power(2), double, scale(x * x), power(3)]
    y = x
    for k in range(n):
        y = fs[k % 6](y) * 0.9 + 0.01
    return y


@program(X, N, features="functions in a list")
def binds_late(x, n):
    fs = []
    for k in range(5):
        fs.append(lambda y: y * x + k)
    return sum(f(x) for f in fs)


@program(X, N, features="functions in a list")
def binds_by_defaults(x, n):
    fs = []
    for k in range(5):
        fs.append(lambda y, k=k: y * x + k)
    return sum(f(x) for f in fs) + fs[2](x, k=7)


@program(X, N, features="functions in a list")
def functions_that_share_a_variable(x, n):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * x

    def mul(v):
        nonlocal total
        total *= v

    ops = [add, mul, add]
    for k in range(n):
        ops[k % 3](0.1 * k + 0.5)
    return total


@program(X, N, features="functions in a list")
def counts_for_each(x, n):
    def counter(step):
        count = 0.0

        def tick():
            nonlocal count
            count += step
            return count

        return tick

    cs = [counter(x * k) for k in range(3)]
    total = 0.0
    for k in range(n):
        total += cs[k % 3]() * k
    return total


@program(X, N, features="functions in a list")
def counts_for_two(x, n):
    def counter(step):
        count = 0.0

        def tick():
            nonlocal count
            count += step
            return count

        return tick

    cs = [counter(x), counter(2 * x)]
    total = 0.0
    for k in range(n):
        total += cs[k % 2]() * k
    return total


@program(X, N, features="functions in a list")
def hooks_that_append(x, n):
    log = []

    def note(v):
        log.append(v * x)

    def note2(v):
        log.append(v)

    hooks = [note, note2]
    for k in range(n):
        for h in hooks:
            h(x * k)
    return sum(log)


@program(X, N, features="functions in a list")
def hooks_of_each_iteration(x, n):
    total = 0.0
    for i in range(3):
        log = []
        hooks = []
        for j in range(2):
            hooks.append(lambda v, j=j: log.append(v * x + j))
        for k in range(n):
            for h in hooks:
                h(x * k)
        total += sum(log) * i
    return total


@program(X, N, features="functions in a list")
def composes_functions(x, n):
    def comp(f, g):
        return lambda y: f(g(y))

    fs = [comp(math.sin, lambda y: y * x), comp(lambda y: y + x, math.exp)]
    return sum(f(0.1 * k) for k in range(n) for f in fs)


@program(X, N, features="functions in a list")
def goes_from_function_to_function(x, n):
    f = math.sin
    total = 0.0
    for k in range(n):
        total += f(x * k)
        f = math.cos if k % 2 else (lambda y: y * x)
    return total


@program(X, N, features="functions in a list")
def chooses_one_of_two_functions(x, n):
    if n > 3:
        f = lambda y: y * x
    else:
        f = lambda y: y + x
    return f(2.0) * f(x)


@program(X, N, features="functions in a list")
def calls_functions_by_name(x, n):
    fs = {"a": lambda y: y * x, "b": lambda y: y + x}
    total = 0.0
    for k in range(n):
        for name in fs:
            total += fs[name](x * k)
    return total


@program(X, N, features="functions in a list")
def asks_which_function_it_is(x, n):
    f, g = (lambda y: y * x), (lambda y: y + x)
    fs = [f, g, f, math.sin]
    total = 0.0
    for h in fs:
        if h is f:
            total += h(x) * 3
        elif h is math.sin:
            total += h(x) * 5
        else:
            total -= h(x)
    return total


@program(X, N, features="functions in a list")
def maps_over_functions(x, n):
    fs = [lambda y: y * x, math.sin]
    return sum(map(lambda f: f(x), fs)) + len(fs)


@program(X, N, features="functions in a list")
def calls_builtins_in_a_list(x, n):
    fs = [abs, math.sin, float]
    return sum(f(x) for f in fs) * fs[1](x)


class Layer:
    def __init__(self, w, act):
        self.w, self.act = w, act

    def __call__(self, y):
        return self.act(y * self.w)


@program(X, N, features="functions in a list")
def layers_with_functions(x, n):
    layers = [Layer(x, math.tanh), Layer(0.5, lambda y: y * x), Layer(2 * x, double)]
    y = x
    for k in range(n):
        for layer in layers:
            y = layer(y) + 0.1
    return y


@program(X, N, features="functions in a list")
def equations_in_a_list(x, n):
    eqs = [lambda t, s: s[1], lambda t, s: -x * s[0]]
    s, h = [1.0, 0.0], 0.05
    for k in range(n):
        s = [s[i] + h * eqs[i](k * h, s) for i in range(2)]
    return s[0] * s[1]


@program(X, N, features="functions in a list")
def asks_for_names_of_functions(x, n):
    fs = [math.sin, double]
    total = 0.0
    for f in fs:
        total += f(x) * len(f.__name__)
    return total


@program(X, N, features="functions in a list")
def catches_what_functions_in_a_list_raise(x, n):
    def bad(y):
        if y > 0.5:
            raise ValueError("x")
        return y

    fs = [bad, lambda y: y * x, double]
    total = 0.0
    for f in fs:
        try:
            total += f(x)
        except ValueError:
            total += 7 * x
    return total


@program(X, N, features="functions in a list")
def gives_keywords_to_functions_in_a_list(x, n):
    fs = [lambda y, *, k=2.0: y * k, lambda y, k: y + k * x]
    return sum(f(x, k=0.3) for f in fs)


@program(X, N, features="functions in a list")
def function_in_a_list_that_calls_itself(x, n):
    def fact(k):
        return 1.0 if k == 0 else x * k * fact(k - 1)

    fs = [fact, lambda k: k * x]
    return sum(f(4) for f in fs)


@program(X, N, features="functions in a list")
def runs_over_a_tuple_of_functions(x, n):
    total = 0.0
    for f in (math.sin, math.cos, lambda y: y * x):
        total += f(x)
    for f, w in ((math.sin, 1.0), (math.exp, x)):
        total += w * f(x)
    return total


@program(X, N, features="functions in a list")
def weighs_functions(x, n):
    terms = [(1.0, math.sin), (x, math.cos), (2.0, lambda y: y * x)]
    return sum(w * f(x) for w, f in terms)


@program(X, N, features="functions in a list, variable bound anew")
def functions_see_what_is_bound_anew(x, n):
    scale, found = x, []
    for k in range(3):
        found.append(lambda y: y * scale + k)
        scale = scale * 2
    return sum(f(x) for f in found)


@program(X, N, features="functions in a list, without captures, identity")
def makes_functions_without_captures(x, n):
    found = [lambda y: y * y for _ in range(3)]
    return sum(f(x) for f in found) * (x if found[0] is found[1] else 2.0)


@program(X, N, features="functions in a list, replaced, None")
def takes_the_place_of_a_function(x, n):
    steps = [None, lambda y: y * x, math.sin]
    total = x
    for k in range(n):
        step = steps[k % 3]
        total = total * 0.9 if step is None else step(total)
        if k == 4:
            steps[0] = lambda y: y + x
    return total


@program(X, N, features="functions in a list, sorted, popped")
def takes_functions_out(x, n):
    todo, total, done = [], 0.0, 0
    for k in range(n):
        todo.append(lambda y, k=k: y + k * x)
    while todo:
        total = todo.pop()(total) * 0.5
        done += 1
        if done == 3:
            todo.insert(0, math.cos)
    return total


@program(X, N, features="functions in a dict, computed key")
def functions_under_computed_keys(x, n):
    found = {}
    for k in range(3):
        found[k * k] = (lambda a: lambda y: a * y)(x * k)
    return sum(found[k % 3 * (k % 3)](x) for k in range(n))


@program(X, N, features="functions in a list, generator")
def runs_generators_in_a_list(x, n):
    def up(y):
        for k in range(3):
            yield y * k

    def down(y):
        yield y * x

    return sum(v for f in [up, down, up] for v in f(x))


def rebinds():
    return helper_of_things


def helper_of_things(y):
    return 3.0 * y


@program(X, N, features="functions in a list, of other functions")
def functions_that_get_functions(x, n):
    def twice(f):
        return lambda y: f(f(y))

    tools = [twice(math.sin), twice(twice(lambda y: y * x)), rebinds()]
    return sum(tool(x) for tool in tools)


# Rows that change places


@program(X, features="rows that change places")
def eliminates_with_pivots(x):
    a = [[x, 2.0, 1.0, 0.3], [2.0, 0.5, x, 0.1], [0.1, 3.0, 1.0, x], [1.0, x, 0.4, 2.0]]
    b = [1.0, x, 3.0, 0.2]
    n = len(a)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[p] = a[p], a[k]
        b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
            b[i] -= f * b[k]
    s = [0.0] * n
    for i in range(n - 1, -1, -1):
        s[i] = (b[i] - sum(a[i][j] * s[j] for j in range(i + 1, n))) / a[i][i]
    return sum(s)


def swap_rows(a, i, j):
    a[i], a[j] = a[j], a[i]


@program(X, 4, features="rows that change places")
def sorts_rows_by_hand(x, n):
    a = [[x * (7 - i), 1.0 * i] for i in range(n)]
    for i in range(n):
        for j in range(n - 1):
            if a[j][0] > a[j + 1][0]:
                a[j], a[j + 1] = a[j + 1], a[j]
    for i in range(n):
        a[i][1] *= x
    return sum(a[i][0] * a[i][1] * (i + 1) for i in range(n))


@program(X, 4, features="rows that change places")
def swaps_rows_in_a_function(x, n):
    a = [[x * i, x] for i in range(n)]
    for i in range(n // 2):
        swap_rows(a, i, n - 1 - i)
    for row in a:
        row[0] += x
    return sum(row[0] * k for k, row in enumerate(a)) * a[-1][1]


@program(X, 4, features="rows that change places")
def rows_in_two_places(x, n):
    a = [[x, 1.0], [2.0, x], [0.5, 0.1]]
    a[1] = a[0]
    a[1][0] *= 3.0
    a[0][1] += x
    b = [a[2], a[0]]
    b[0][0] = x * x
    a[2] = [x, x, 1.0]
    b[0][1] += 2
    return sum(a[0]) * sum(a[1]) + sum(a[2]) * b[0][0] * b[0][1]


@program(X, 4, features="rows that change places")
def puts_rows_anew(x, n):
    a = [[x * (i + j) for j in range(3)] for i in range(n)]
    for k in range(n):
        row = [v * 0.9 for v in a[k]]
        a[k - 1] = row
        row[0] += x
        a[k][1] *= 2
    return sum(sum(r) * i for i, r in enumerate(a))


@program(X, 4, features="rows that change places")
def appends_and_swaps_rows(x, n):
    a = []
    for i in range(n):
        a.append([x * i, 1.0])
        if i:
            a[0], a[i] = a[i], a[0]
            a[i][1] += x
    a.append([x])
    return sum(r[0] * i for i, r in enumerate(a)) + a[1][1]


@program(X, 4, features="rows that change places")
def rotates_rows(x, n):
    a = [[x * i, x] for i in range(n)]
    for k in range(3):
        first = a[0]
        for i in range(n - 1):
            a[i] = a[i + 1]
        a[n - 1] = first
        first[1] *= 1.5
    return sum(r[0] * r[1] * i for i, r in enumerate(a))


@program(X, 4, features="rows that change places")
def slices_of_swapped_rows(x, n):
    a = [[x * i, x] for i in range(n)]
    a[0], a[1] = a[1], a[0]
    tail = a[1:]
    tail[0][0] += x
    a[2][1] *= 3
    return sum(r[0] * r[1] for r in a) * tail[1][1] + len(tail)


class Grid:
    def __init__(self, rows):
        self.rows = rows

    def swap(self, i, j):
        self.rows[i], self.rows[j] = self.rows[j], self.rows[i]

    def scale(self, i, k):
        for j in range(len(self.rows[i])):
            self.rows[i][j] *= k


@program(X, 4, features="rows that change places")
def swaps_rows_of_a_matrix(x, n):
    m = Grid([[x, 2.0], [3.0, x], [1.0, x * x]])
    m.swap(0, 2)
    m.scale(0, x)
    m.swap(1, 0)
    return m.rows[1][0] * m.rows[1][1] + m.rows[0][0] * 2 + m.rows[2][1]


@program(X, 4, features="rows that change places")
def swaps_rows_until_caught(x, n):
    a = [[x, 2.0], [3.0, x], [1.0, x * x]]
    try:
        a[0], a[1] = a[1], a[0]
        a[0][1] *= 2
        a[7], a[2] = a[2], a[0]
    except IndexError:
        a[1][0] += 5 * x
    return sum(r[0] * r[1] * i for i, r in enumerate(a))


@program(X, 4, features="rows that change places")
def asks_which_row_it_is(x, n):
    a = [[x], [x], [2 * x]]
    a[1] = a[0]
    if a[0] is a[1]:
        a[0][0] *= 3
    if a[2] == a[1]:
        a[2][0] *= 7
    return a[1][0] * a[2][0]


@program(X, 4, features="rows that change places")
def swaps_rows_on_one_path(x, n):
    a = [[x, 2.0], [3.0, x], [1.0, x * x]]
    if n > 3:
        a[0], a[2] = a[2], a[0]
    else:
        a[0] = [x, x]
    a[0][0] *= 2
    other = a if n > 2 else [[x, x]]
    return sum(map(sum, other)) * a[2][1]


@program(X, 4, features="rows that change places")
def swaps_rows_of_each_iteration(x, n):
    total = 0.0
    for t in range(3):
        a = [[x * i * t, x] for i in range(n)]
        a[0], a[t] = a[t], a[0]
        a[t][0] += 1.0
        total += sum(r[0] * r[1] * i for i, r in enumerate(a))
    return total


@program(X, 4, features="rows that change places")
def runs_over_swapped_rows(x, n):
    a = [[x * i, x] for i in range(n)]
    a[0], a[1] = a[1], a[0]
    total = 0.0
    for r in reversed(a):
        total = total * 0.5 + r[0]
    for r, s in zip(a, a[1:]):
        total += r[0] * s[1]
    for r in a:
        r[1] += total
    b = a + [[x, x]]
    b[0][0] += 1
    a[0][1] *= 2
    return total * b[1][1] + a[0][0] * a[0][1] + len(b)


# Namedtuples in containers


class Body(NamedTuple):
    pos: float
    vel: float
    mass: float


@program(X, N, features="namedtuples in a list")
def namedtuples_replaced(x, n):
    bodies = [Body(0.0, x, 1.0), Body(1.0, -x, 2.0), Body(2.0, 0.0, 1.5)]
    for _ in range(n):
        for i in range(len(bodies)):
            b = bodies[i]
            a = -b.pos / b.mass
            bodies[i] = b._replace(pos=b.pos + 0.01 * b.vel, vel=b.vel + 0.01 * a)
    return sum(b.mass * b.vel**2 for b in bodies)


Item = namedtuple("Item", "value weight")


@program(X, N, features="namedtuples in a list")
def namedtuples_sorted(x, n):
    items = [Item(x * (k % 7), 1.0 + x * (k % 5)) for k in range(n)]
    items.sort(key=lambda item: item.value / item.weight, reverse=True)
    room, total = 20.0, 0.0
    for item in items:
        if item.weight <= room:
            room -= item.weight
            total += item.value
    return total + room


Point = namedtuple("Point", "x y")


class Vec(NamedTuple):
    x: float
    y: float = 1.0

    def norm(self):
        return self.x * self.x + self.y * self.y

    @property
    def total(self):
        return self.x + self.y

    def plus(self, o):
        return Vec(self.x + o.x, self.y + o.y)


@program(X, N, features="namedtuples in a list")
def makes_namedtuples(x, n):
    ps = [Point(x * k, k) for k in range(n)]
    return sum(p.x * p.y for p in ps) + ps[2].x * ps[-1][0]


@program(X, N, features="namedtuples in a list")
def appends_namedtuples(x, n):
    ps = []
    for k in range(n):
        ps.append(Vec(x * k))
    total = 0.0
    for a, b in zip(ps, ps[1:]):
        total += a.norm() * b.total + a.plus(b).x
    return total


@program(X, N, features="namedtuples in a list")
def unpacks_namedtuples(x, n):
    ps = [Point(x, 2.0), Point(1.0, x)]
    for _ in range(n):
        ps[0], ps[1] = ps[1], ps[0]._replace(x=ps[0].x * 0.9)
    (a, b), (c, d) = ps
    for u, v in ps:
        a += u * v
    return a * b + c * d


@program(X, N, features="namedtuples in a list")
def gives_namedtuples_away(x, n):
    ps = [Point(x * k, k) for k in range(n)]
    return sum(map(sum, ps)) + max(ps)[0] + len(ps)


@program(X, N, features="namedtuples in a list")
def finds_the_best_namedtuple(x, n):
    ps = [Vec(math.sin(x * k), x) for k in range(n)]
    best = ps[0]
    for p in ps:
        if p.norm() > best.norm():
            best = p
    return best.x * max(ps, key=lambda p: p.x).y + min(ps, key=Vec.norm).x


@program(X, N, features="namedtuples in a list")
def namedtuples_in_a_dict(x, n):
    d = {}
    for k in range(n):
        d[k * 3] = Point(x * k, x)
    for k in range(n):
        p = d[k * 3]
        d[k * 3] = Point(p.y, p.x + 1)
    return sum(p.x * p.y for p in d.values())


@program(X, N, features="namedtuples in a list")
def namedtuples_in_a_deque(x, n):
    q = deque([Point(x, 0)])
    total = 0.0
    while q:
        p = q.popleft()
        total += p.x
        if p.y < 4:
            q.append(Point(p.x * x, p.y + 1))
            q.append(p._replace(y=p.y + 2))
    return total


class Particle:
    def __init__(self, m):
        self.m = m


@program(X, N, features="namedtuples in a list")
def namedtuples_of_objects(x, n):
    a, b = Particle(x), Particle(2.0)
    links = [Point(a, b), Point(b, a)]
    for link in links:
        link.x.m += link.y.m * x
    return a.m * b.m + links[0].x.m


@program(X, N, features="namedtuples in a list")
def compares_namedtuples(x, n):
    ps = [Point(x, 1), Point(x, 2)]
    ps.append(Point(2 * x, 1))
    total = 0.0
    for p in ps:
        if p == Point(x, 2):
            total += p.x
        if p > ps[0]:
            total += 3 * p.x
        if p is ps[0]:
            total += 5 * p.x
    return total


@program(X, N, features="namedtuples in a list")
def namedtuples_among_tuples(x, n):
    ps = [Point(x, 1), (x, 2.0)]
    ps.append(Vec(x, x))
    return sum(a * b for a, b in ps) + ps[0].x


@program(X, N, features="namedtuples in a list")
def sorts_namedtuples(x, n):
    ps = [Point(math.cos(x * k), k) for k in range(n)]
    ps.sort()
    qs = sorted(ps, key=lambda p: -p.y)
    return sum(p.x * k for k, p in enumerate(ps)) + qs[0].x


@program(X, N, features="namedtuples in a list")
def returns_namedtuples(x, n):
    def make():
        return [Point(x * k, k) for k in range(n)]

    return sum(p.x * p.y for p in make())


@program(X, N, features="namedtuples in a list")
def namedtuples_of_two_ways(x, n):
    ps = [Point(x, 1.0)]
    for k in range(n):
        if k % 2:
            ps.append(Point(x * k, ps[-1].y))
        else:
            p = ps[-1] if k > 4 else Point(0.5, x)
            ps.append(p)
    return sum(p.x * p.y for p in ps)


# Lists that are put in the place of others


@program(X, 4, features="rows that change places")
def repeated_rows(x, n):
    a = [[0.5, x]] * 3
    a[0] = [x, 2.0]
    a[1][0] += x
    return sum(r[0] * r[1] * (i + 1) for i, r in enumerate(a))


@program(X, 4, features="rows that change places")
def rows_of_all_sorts(x, n):
    a = [1.0, 2.0, x]
    a[0] = [x, 2.0]
    a[0][1] += x
    b = [[x], [1.0]]
    b[0] = a[0]
    b[1] = x * x
    return a[0][1] * a[2] + b[0][0] * b[1]


@program(X, 4, features="rows that change places")
def rows_given_away(x, n):
    a = [[x * i, 1.0] for i in range(n)]
    for k in range(n):
        a[k] = [v + x for v in a[k - 1]]
    flat = sum(a, [])
    return sum(flat) * max(a)[0] + len(a)


@program(X, 4, features="rows that change places")
def rows_in_a_dict(x, n):
    d = {"a": [[x, 1.0], [2.0, x]], "b": [[x, x]]}
    d["a"][0] = [v * 2 for v in d["a"][1]]
    d["a"][1][0] *= x
    d["b"][0], d["a"][1] = d["a"][1], d["b"][0]
    return sum(d["a"][0]) + d["a"][1][0] * d["b"][0][0]


@program(X, 4, features="rows that change places")
def recursion_on_rows(x, n):
    a = [[x * i, 1.0] for i in range(n)]

    def go(k):
        if k == 0:
            return 0.0
        a[k - 1] = [a[k][0] * 0.5, x]
        return a[k][0] + go(k - 1)

    return go(n - 1) + a[0][1] * a[0][0]


@program(X, 4, features="rows that change places")
def rows_of_rows(x, n):
    a = [[[x, 1.0], [2.0, x]], [[x, x], [1.0, 1.0]]]
    a[0][1] = [x * x, 2.0]
    a[1] = [[3.0, x], [x, 1.0]]
    a[0], a[1] = a[1], a[0]
    a[0][0][1] *= 2
    return a[0][0][1] * a[1][1][0] + a[1][0][0]


@program(X, 4, features="rows that change places")
def keeps_an_old_row(x, n):
    a = [[x * i, 1.0] for i in range(n)]
    total = 0.0
    for k in range(n):
        old = a[k]
        a[k] = [old[0] * 2, x]
        old[0] += 5.0
        total += old[0] * a[k][0]
    return total


@program(X, 4, features="rows that change places")
def makes_generations(x, n):
    pop = [[x * i, x + i] for i in range(n)]
    for g in range(3):
        new = []
        for k in range(n):
            a, b = pop[k], pop[(k + 1) % n]
            child = [0.5 * (u + v) for u, v in zip(a, b)]
            if k % 2:
                child[0] += x
            new.append(child)
        worst = min(range(n), key=lambda i: pop[i][0])
        new[0] = pop[worst]
        pop = new
    return sum(p[0] * p[1] for p in pop)
