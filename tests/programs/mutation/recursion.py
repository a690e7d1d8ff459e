"""Functions made inside that call themselves, and write into what they have captured."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import program

X = 0.7


def use(f, n):
    return f(n) + f(n - 1)


@program(X, 12, features="recursion, memo in a dict")
def memo_fib(x, n):
    memo = {}

    def f(k):
        if k < 2:
            return x if k else 1.0
        if k not in memo:
            memo[k] = x * f(k - 1) + f(k - 2)
        return memo[k]

    return f(n)


@program(X, 9, features="recursion, memo in a list")
def memo_list(x, n):
    memo = [None] * (n + 1)

    def f(k):
        if k < 2:
            return x
        if memo[k] is None:
            memo[k] = x * f(k - 1) + f(k - 2)
        return memo[k]

    return f(n)


@program(X, 7, features="recursion, lists that were captured")
def depth_first(x, n):
    graph = {i: [j for j in (2 * i + 1, 2 * i + 2) if j < n] for i in range(n)}
    seen = [False] * n
    dist = [0.0] * n

    def visit(k, d):
        seen[k] = True
        dist[k] = d
        for j in graph[k]:
            if not seen[j]:
                visit(j, d * x + 1.0)

    visit(0, x)
    return sum(dist)


@program(X, 3, features="recursion, nonlocal variable")
def nonlocal_total(x, n):
    total = 0.0

    def walk(k, v):
        nonlocal total
        if k == 0:
            total += v * v
            return
        walk(k - 1, v * x)
        walk(k - 1, v + x)

    walk(n, x)
    return total


@program(X, 3, features="recursion, list that was captured")
def leaves_appended(x, n):
    out = []

    def gen(k, v):
        if k == 0:
            out.append(v)
            return
        gen(k - 1, v * x)
        gen(k - 1, v + x)

    gen(n, 1.0)
    s = 0.0
    for i, v in enumerate(out):
        s += v * i
    return s


@program(X, 5, features="recursion, captured and passed")
def captured_and_passed(x, n):
    m = [x] * (n + 1)

    def f(lst, k):
        if k == 0:
            return 0.0
        lst[k] = m[k - 1] * x + 1
        m[k] = m[k] + lst[k]
        return f(m, k - 1) + lst[k]

    return f(m, n) + sum(m)


@program(X, 5, features="recursion, captured, and another one passed")
def captured_and_other(x, n):
    m = [x] * (n + 1)
    o = [x * x] * (n + 1)

    def f(lst, k):
        if k == 0:
            return 0.0
        lst[k] = m[k - 1] * x + 1
        m[k] = m[k] + lst[k]
        return f(m, k - 1) + lst[k]

    return f(o, n) + sum(m) + sum(o)


@program(X, 5, features="recursion, older name")
def older_name_of_the_list(x, n):
    m = [x]
    old = m

    def f(k):
        if k == 0:
            return
        m.append(m[-1] * x)
        f(k - 1)

    f(n)
    return sum(old) + len(old)


@program(X, 5, features="recursion, nonlocal list")
def rebound_list(x, n):
    m = [x]

    def f(k):
        nonlocal m
        if k == 0:
            return
        m = m + [m[-1] * x]
        f(k - 1)
        m[0] = m[0] * 2

    f(n)
    return sum(m)


@program(X, 4, features="recursion, try, exception half way")
def raised_at_the_bottom(x, n):
    m = [x]

    def f(k):
        m.append(m[-1] * x)
        if k == 0:
            raise ValueError
        f(k - 1)

    try:
        f(n)
    except ValueError:
        pass
    return sum(m)


@program(X, 4, features="recursion, try inside")
def caught_on_each_level(x, n):
    m = [x]

    def f(k):
        if k == 0:
            return
        try:
            m.append(m[-1] * x)
            m[100]
        except IndexError:
            m[0] = m[0] * 2
        f(k - 1)

    f(n)
    return sum(m)


@program(X, 3, features="recursion, return from a loop")
def early_loop_return(x, n):
    out = []

    def f(k, v):
        for i in range(4):
            out.append(v * i)
            if i == k:
                return v
            v = v * x
        return v + 1

    def g(k):
        if k == 0:
            return 1.0
        r = f(k, x)
        return r + g(k - 1)

    return g(n) + sum(out)


@program(X, 3, features="recursion, return from a loop, recursion in it")
def loop_return_rec(x, n):
    out = []

    def f(k, v):
        if k < 0:
            return v
        for i in range(3):
            out.append(v * i)
            if i == k:
                return f(k - 1, v * x) + i
            v = v * x
        return f(k - 1, v) + 1

    return f(n, x) + sum((o * o for o in out))


@program(2.0, 5, features="recursion, values that are whole numbers")
def memo_of_integers(x, n):
    m = {0: 1, 1: 1}

    def f(k):
        if k not in m:
            m[k] = f(k - 1) + f(k - 2)
        return m[k]

    return f(n) * x


@program(X, 5, features="recursion, values of two kinds")
def memo_of_both(x, n):
    m = {0: 1, 1: x}

    def f(k):
        if k not in m:
            m[k] = f(k - 1) + f(k - 2)
        return m[k]

    return f(n) * x


@program(X, 4, features="recursion, values that are arrays")
def memo_of_arrays(x, n):
    m = {}

    def f(k):
        if k == 0:
            return np.array([x, 2 * x])
        if k not in m:
            m[k] = f(k - 1) * f(k - 1) + x
        return m[k]

    return np.sum(f(n))


@program(X, 4, features="recursion, array in place")
def memo_array_place(x, n):
    m = np.zeros(n + 1)

    def f(k):
        if k == 0:
            return x
        if m[k] == 0.0:
            m[k] = f(k - 1) * x + 1
        return m[k]

    return f(n) + np.sum(m)


@program(X, 4, features="recursion, the list is returned and written into")
def list_returned_from_the_bottom(x, n):
    m = [x]

    def f(k):
        if k == 0:
            return m
        m.append(m[-1] * x)
        return f(k - 1)

    r = f(n)
    r.append(x)
    return sum(m)


@program(X, 3, features="recursion, default arguments")
def defaults_in_recursion(x, n):
    out = []

    def f(k, v=x, s=2.0):
        if k == 0:
            return v * s
        out.append(v)
        return f(k - 1, v * x) + f(k - 1, s=v)

    return f(n) + sum(out)


@program(X, 3, features="recursion, functions that call each other")
def even_odd(x, n):
    log = []

    def even(k, v):
        log.append(v)
        return v if k == 0 else odd(k - 1, v * x)

    def odd(k, v):
        log.append(v * 2)
        return v * 3 if k == 0 else even(k - 1, v + x)

    return even(n, x) + sum(log)


@program(X, 5, features="recursion, called in a loop")
def called_in_loop(x, n):
    m = {}

    def f(k):
        if k < 2:
            return x
        if k not in m:
            m[k] = f(k - 1) * x + f(k - 2)
        return m[k]

    s = 0.0
    for k in range(n):
        s += f(k) * f(n - k)
    return s + sum(m.values())


@program(X, 5, features="recursion, called in a branch")
def called_in_branch(x, n):
    m = {}

    def f(k):
        if k < 2:
            return x
        if k not in m:
            m[k] = f(k - 1) * x + f(k - 2)
        return m[k]

    if x > 0.5:
        a = f(n)
    else:
        a = f(n - 1)
    m[n] = x * x
    return a + f(n) + f(n + 1)


@program(X, 4, features="recursion, copies between calls")
def shown_between(x, n):
    m = []

    def f(k):
        if k == 0:
            return
        m.append(x * k)
        f(k - 1)

    f(n)
    c = tuple(m)
    d = list(m)
    f(n)
    return sum(c) * sum(m) + d[0]


@program(X, 4, features="recursion, the list is put into another one")
def keeps_alias_out(x, n):
    m = [x]
    keep = []

    def f(k):
        if k == 0:
            return
        keep.append(m)
        m.append(x * k)
        f(k - 1)

    f(n)
    return sum(keep[0]) + len(keep)


@program(X, 4, features="recursion, lists in lists")
def rows_by_recursion(x, n):
    D = [[x * i * j for j in range(n)] for i in range(n)]

    def f(i):
        if i == 0:
            return
        for j in range(n):
            D[i][j] = D[i - 1][j] * x + D[i][j]
        f(i - 1)

    f(n - 1)
    return sum((sum(r) for r in D))


@program(X, 4, features="recursion, a row is passed")
def row_that_is_passed(x, n):
    D = [[x * i * j + 1 for j in range(n)] for i in range(n)]

    def f(row, i):
        if i == 0:
            return 0.0
        row[i] = row[i - 1] * x
        return row[i] + f(D[i - 1], i - 1)

    return f(D[n - 1], n - 1) + sum((sum(r) for r in D))


@program(X, 4, features="recursion, in a comprehension")
def memo_in_a_comprehension(x, n):
    memo = {}

    def f(k):
        if k == 0:
            return x
        if k not in memo:
            memo[k] = sum([f(j) * x for j in range(k)])
        return memo[k]

    return f(n)


@program(X, 4, features="recursion, dict.get")
def memo_by_get(x, n):
    memo = {}

    def f(k):
        v = memo.get(k)
        if v is not None:
            return v
        memo[k] = v = x if k == 0 else f(k - 1) * x + k
        return v

    return f(n) + memo[0]


@program(X, 4, features="recursion, keys that are tuples")
def tuple_key(x, n):
    memo = {}

    def f(i, j):
        if (i, j) in memo:
            return memo[i, j]
        r = x if i == 0 or j == 0 else f(i - 1, j) * x + f(i, j - 1)
        memo[i, j] = r
        return r

    return f(n, n)


@program(X, 3, features="recursion, returns a tuple")
def returns_pair(x, n):
    log = []

    def f(k):
        if k == 0:
            return (x, 1.0)
        a, b = f(k - 1)
        log.append(a)
        return (a * x + b, b + a)

    a, b = f(n)
    return a * b + sum(log)


@program(X, 3, features="recursion, returns None or a number")
def returns_none_or(x, n):
    log = []

    def f(k, v):
        log.append(v)
        if v > 100:
            return None
        if k == 0:
            return v
        r = f(k - 1, v * x)
        if r is None:
            return v
        return r + v

    r = f(n, x)
    return r + sum(log)


@program(X, 3, features="recursion, counter")
def counted_calls(x, n):
    calls = 0

    def f(k):
        nonlocal calls
        calls += 1
        return x if k == 0 else f(k - 1) * x + f(k - 1)

    r = f(n)
    return r * calls


@program(X, 3, features="recursion, largest so far")
def best_so_far(x, n):
    best = -1000000000.0

    def f(k, v):
        nonlocal best
        if k == 0:
            if v > best:
                best = v
            return
        f(k - 1, v * x)
        f(k - 1, v + x)

    f(n, x)
    return best * x


@program(X, 3, features="recursion, given to a function")
def given_closure(x, n):
    memo = {}

    def f(k):
        if k == 0:
            return x
        if k not in memo:
            memo[k] = f(k - 1) * x
        return memo[k]

    return use(f, n)


@program(X, 3, features="recursion, map")
def memo_in_map(x, n):
    memo = {}

    def f(k):
        if k == 0:
            return x
        if k not in memo:
            memo[k] = f(k - 1) * x
        return memo[k]

    return sum(map(f, range(n)))


@program(X, 3, features="recursion, recursion in a recursion")
def nested_rec(x, n):
    log = []

    def outer(k):

        def inner(j):
            log.append(x * j)
            return 0.0 if j == 0 else x + inner(j - 1)

        return inner(k) + (outer(k - 1) if k else 0.0)

    return outer(n) + sum(log)


@program(X, 3, features="recursion, repr")
def shown_on_each_level(x, n):
    m = []
    texts = []

    def f(k):
        if k == 0:
            return
        m.append(k * x)
        texts.append(len(repr(m)))
        f(k - 1)

    f(n)
    return sum(m) * len(texts)


@program(X, 3, features="recursion, written and put back")
def put_back(x, n):
    st = [x] * (n + 1)
    out = []

    def f(k):
        if k > n:
            out.append(sum(st))
            return
        old = st[k]
        for c in (1.0, x, 2 * x):
            st[k] = old * c
            f(k + 1)
        st[k] = old

    f(0)
    return sum(out)


@program(X, 3, features="recursion, places from the end")
def negative_index(x, n):
    m = [x]

    def f(k):
        if k == 0:
            return m[-1]
        m.append(m[-1] * x)
        a = m[-2]
        b = f(k - 1)
        return a + b * m[-1]

    return f(n)


@program(X, 3, features="recursion, item read before it is written")
def item_read_before(x, n):
    m = [x, 2 * x, 3 * x]

    def f(k):
        if k == 0:
            return 0.0
        a = m[1]
        m[1] = m[1] * x
        r = f(k - 1)
        return r + a * m[1]

    return f(n)


@program([0.7, 0.3, 0.2], 3, features="recursion, argument that is a list")
def memo_over_an_argument(xs, n):
    m = {}

    def f(k):
        if k < 0:
            return 1.0
        if k not in m:
            m[k] = f(k - 1) * xs[k % 3] + xs[0]
        return m[k]

    return f(n)


@program(X, 3, features="recursion, numbers of NumPy")
def memo_of_numpy_numbers(x, n):
    m = {}

    def f(k):
        if k == 0:
            return np.float64(x)
        if k not in m:
            m[k] = np.sin(f(k - 1)) * x
        return m[k]

    return float(f(n))


@program(X, 3, features="recursion, overwritten")
def overwritten_on_the_way(x, n):
    m = [x * (i + 1) for i in range(n + 1)]

    def f(k):
        if k == 0:
            return
        m[k] = x
        f(k - 1)
        m[k] = m[k] * m[k - 1]
        m[k - 1] = 2.0 * m[k]

    f(n)
    return sum(m)
