"""Functions in containers, each of which has captured a variable, list or set of its own."""

from __future__ import annotations

from tests.programs.mutation.table import program


def make_filter(alpha, start):
    state = start

    def step(x):
        nonlocal state
        state = alpha * x + (1 - alpha) * state
        return state

    return step


@program(0.7, 0.3, features="variables captured, filters")
def filters(x, y):
    fs = [make_filter(x / (i + 2), y) for i in range(3)]
    t = 0.0
    for k in range(5):
        for f in fs:
            t += f(x * k)
    return t


@program(0.7, 0.3, features="variables captured, adders and getters")
def adders_and_getters(x, y):
    def make(s):
        total = s

        def add(v):
            nonlocal total
            total += v

        def get():
            return total

        return add, get

    pairs = [make(x * i) for i in range(3)]
    for add, get in pairs:
        add(y)
        add(get() * x)
    return sum(get() * k for k, (add, get) in enumerate(pairs))


@program(0.7, 0.3, features="variables captured, adders and getters in two lists")
def adders_and_getters_in_two_lists(x, y):
    adds, gets = [], []
    for i in range(3):

        def make(s=x * i):
            total = s

            def add(v):
                nonlocal total
                total = total * y + v

            def get():
                return total

            adds.append(add)
            gets.append(get)

        make()
    for k in range(4):
        adds[k % 3](x * k)
    return sum(g() for g in gets) + gets[1]() * y


@program(0.7, 0.3, features="variables captured, filters in a dict")
def filters_in_a_dict(x, y):
    d = {}
    for name in ("a", "b"):
        d[name] = make_filter(x, y * len(d))
    t = 0.0
    for k in range(4):
        t += d["a"](x * k) * d["b"](y)
    return t


@program(0.7, 0.3, features="variables captured, one variable for all")
def one_variable_for_all(x, y):
    total = x
    fs = []
    for k in range(3):

        def f(v, k=k):
            nonlocal total
            total += v * k
            return total

        fs.append(f)
    t = 0.0
    for f in fs:
        t += f(y)
    return t + total


@program(0.7, 0.3, features="variables captured, variable assigned after capture")
def variable_assigned_after_capture(x, y):
    fs = []
    for k in range(3):

        def make():
            def f(v):
                return v * c

            c = x * k
            return f

        fs.append(make())
    return sum(f(y) for f in fs)


@program(0.7, 0.3, features="variables captured, differences of calls")
def differences_of_calls(x, y):
    def make():
        last = None

        def f(v):
            nonlocal last
            r = v if last is None else v - last
            last = v
            return r

        return f

    fs = [make() for _ in range(3)]
    t = 0.0
    for k in range(4):
        for f in fs:
            t += f(x * k * k) * y
    return t


@program(0.7, 0.3, features="variables captured, calls counted by each")
def calls_counted_by_each(x, y):
    def make(w):
        n = 0

        def f(v):
            nonlocal n
            n += 1
            return v * w * n

        return f

    fs = [make(x), make(y), make(x * y)]
    t = 0.0
    for k in range(6):
        t += fs[k % 3](x + k)
    return t


@program(0.7, 0.3, features="variables captured, variables where a call fails")
def variables_where_a_call_fails(x, y):
    def make(s):
        total = s

        def f(v):
            nonlocal total
            total += v
            if total > 1.5:
                raise ValueError
            total *= y
            return total

        return f

    fs = [make(x * i) for i in range(3)]
    t = 0.0
    for k in range(5):
        for f in fs:
            try:
                t += f(x)
            except ValueError:
                t += y
    return t


K = []


@program(0.7, 0.3, features="variables captured, filter that a module keeps")
def filter_that_a_module_keeps(x, y):
    fs = [make_filter(x, y) for _ in range(2)]
    K.clear()
    K.append(fs[0])
    return fs[0](x) + fs[1](y) * K[0](x)


@program(0.7, 0.3, features="variables captured, dict captured by each")
def dict_captured_by_each(x, y):
    def make(w):
        cache = {}

        def f(n):
            if n not in cache:
                cache[n] = w * n
            return cache[n]

        return f

    fs = [make(x * i + y) for i in range(3)]
    return sum(f(k) for k in (1, 2, 1) for f in fs)


@program(0.7, 0.3, features="variables captured, list captured by each")
def list_captured_by_each(x, y):
    def make(w):
        seen = []

        def f(v):
            seen.append(v * w)
            return sum(seen)

        return f

    fs = [make(x * i + y) for i in range(3)]
    return sum(f(x * k) for k in (1, 2, 1) for f in fs)


class Box:
    def __init__(self, v):
        self.v = v


@program(0.7, 0.3, features="variables captured, object captured by each")
def object_captured_by_each(x, y):
    def make(b):
        def f(v):
            b.v += v
            return b.v

        return f

    boxes = [Box(x * i) for i in range(3)]
    fs = [make(b) for b in boxes]
    t = sum(f(y) for k in range(3) for f in fs)
    return t + boxes[1].v


@program(0.7, 0.3, features="variables captured, set captured by each")
def set_captured_by_each(x, y):
    def make(w):
        seen = set()

        def f(k):
            if k in seen:
                return 0.0
            seen.add(k)
            return w * k

        return f

    fs = [make(x * i + y) for i in range(3)]
    return sum(f(k) for k in (1, 2, 1) for f in fs)


@program(0.7, 0.3, features="variables captured, list captured by two")
def list_captured_by_two(x, y):
    def make(w):
        seen = []

        def put(v):
            seen.append(v * w)

        def get():
            return sum(seen) + len(seen) * w

        return put, get

    ps = [make(x * i + y) for i in range(3)]
    for k in range(3):
        for put, get in ps:
            put(x * k)
    return sum(get() for put, get in ps)


@program(0.7, 0.3, features="variables captured, adders")
def adders_in_a_list(a, b):
    def make(start):
        total = start

        def add(x):
            nonlocal total
            total = total * 0.5 + x
            return total

        return add

    adders = [make(a * i) for i in range(4)]
    out = 0.0
    for step in range(5):
        for add in adders:
            out += add(b * step)
    return out
