"""Functions made inside that call themselves and each other, return from loops, and write into what they have captured."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tests.programs.mutation.table import program

X = 0.7


@program(X, 4, features="recursion, functions that call each other")
def mutual_three(x, n):
    log = []

    def a(k, v):
        log.append(v)
        return v if k <= 0 else b(k - 1, v * x) + c(k - 2, v)

    def b(k, v):
        return v * 2 if k <= 0 else c(k - 1, v + x)

    def c(k, v):
        log.append(v * 3)
        return v * 3 if k <= 0 else a(k - 1, v * v)

    return a(n, x) + b(n, x) + c(1, x) + sum(log)


@program(X, 4, features="recursion, functions that call each other, memos")
def mutual_with_memo(x, n):
    even, odd = ({}, {})

    def e(k):
        if k == 0:
            return x
        if k not in even:
            even[k] = o(k - 1) * x
        return even[k]

    def o(k):
        if k == 0:
            return 1.0
        if k not in odd:
            odd[k] = e(k - 1) + x
        return odd[k]

    return e(n) * o(n) + sum(even.values())


@program(X, 4, features="recursion, functions that name each other")
def forward_use(x, n):
    out = []

    def first(k):
        out.append(x * k)
        return helper(k) * 2

    def helper(k):
        out.append(k)
        return x * k

    return first(n) + helper(1) + sum(out)


@program(X, 4, features="recursion, functions that name each other, in a list")
def forward_use_given_away(x, n):
    out = []

    def first(k):
        out.append(x * k)
        return helper(k) * 2

    def helper(k):
        out.append(k)
        return x * k

    fs = [first, helper]
    return sum((f(n) for f in fs)) + sum(out)


@program(X, 3, features="recursion, recursive descent")
def state_machine(x, n):
    pos = 0
    toks = [x, 2.0, x * x, 3.0]

    def expr():
        nonlocal pos
        v = term()
        while pos < len(toks) and pos % 2 == 0:
            v = v + term()
        return v

    def term():
        nonlocal pos
        v = toks[pos]
        pos += 1
        if pos < len(toks):
            v = v * toks[pos]
            pos += 1
        return v

    return expr()


@program(X, 4, features="recursion, memo, min")
def edit_distance(x, n):
    a, b = ("kitten", "sitting")
    memo = {}

    def d(i, j):
        if i == 0:
            return j * x
        if j == 0:
            return i * x * x
        if (i, j) not in memo:
            cost = 0.0 if a[i - 1] == b[j - 1] else 1.5 * x
            memo[i, j] = min(d(i - 1, j) + x, d(i, j - 1) + x * x, d(i - 1, j - 1) + cost)
        return memo[i, j]

    return d(len(a), len(b))


@program(X, 4, features="recursion, memo, max")
def knapsack(x, n):
    w = [1, 2, 3, 2]
    v = [x, 2 * x, x * x * 4, 1.0]
    memo = {}

    def best(i, c):
        if i == len(w):
            return 0.0
        if (i, c) not in memo:
            r = best(i + 1, c)
            if w[i] <= c:
                r = max(r, v[i] + best(i + 1, c - w[i]))
            memo[i, c] = r
        return memo[i, c]

    return best(0, 5)


@program(X, 6, features="recursion, memo in a list")
def coin_paths(x, n):
    memo = [None] * (n + 1)

    def ways(k):
        if k < 0:
            return 0.0
        if k == 0:
            return 1.0
        if memo[k] is not None:
            return memo[k]
        memo[k] = x * ways(k - 1) + x * x * ways(k - 3)
        return memo[k]

    return ways(n)


@program(X, 4, features="recursion, memo in lists of lists")
def memo_2d(x, n):
    memo = [[None] * (n + 1) for _ in range(n + 1)]

    def f(i, j):
        if i == 0 or j == 0:
            return x
        if memo[i][j] is None:
            memo[i][j] = f(i - 1, j) * x + f(i, j - 1)
        return memo[i][j]

    return f(n, n)


@program(X, 4, features="recursion, memo in lists of lists")
def memo_2d_zeros(x, n):
    memo = [[0.0] * (n + 1) for _ in range(n + 1)]

    def f(i, j):
        if i == 0 or j == 0:
            return x
        if memo[i][j] == 0.0:
            memo[i][j] = f(i - 1, j) * x + f(i, j - 1)
        return memo[i][j]

    return f(n, n)


@program(X, 3, features="recursion, order of evaluation")
def order_of_operands(x, n):
    m = [x]

    def f(k):
        m[0] = m[0] * 2
        return k

    a = m[0] + f(1) * m[0] + m[0]
    return a


@program(X, 3, features="recursion, order of evaluation, recursion")
def order_of_operands_in_recursion(x, n):
    m = [x]

    def f(k):
        if k == 0:
            return m[0]
        m[0] = m[0] * x + 1
        return m[0] * f(k - 1) + m[0]

    return m[0] * f(n) + m[0]


@program(X, 2, features="recursion, a row is replaced")
def row_replaced_in_recursion(x, n):
    D = [[x, 2 * x], [3 * x, x]]

    def f(k):
        if k == 0:
            return
        D[0] = [x * x, x]
        f(k - 1)

    row = D[0]
    f(n)
    return row[0] + D[0][0] * 2 + row[1]


@program(X, 2, features="recursion, a row by two names")
def row_written_and_kept(x, n):
    D = [[x, 2 * x], [3 * x, x]]

    def f(k):
        if k == 0:
            return
        D[0][1] = D[0][1] * x
        D[1][0] = D[0][0] + D[1][0]
        f(k - 1)

    row = D[0]
    f(n)
    return row[0] + D[0][0] * 2 + row[1] * D[1][0]


@program(X, 3, features="recursion, set")
def seen_in_a_set(x, n):
    seen = set()
    out = []

    def f(k):
        if k in seen or k > 5:
            return
        seen.add(k)
        out.append(x * k)
        f(k + 1)
        f(2 * k)
        f(k + 1)

    f(1)
    return sum(out)


@program(X, 3, features="recursion, defaultdict")
def totals_by_recursion(x, n):
    d = defaultdict(float)

    def f(k):
        d[k] += x * k
        if k:
            f(k - 1)
            f(k - 1)

    f(n)
    return sum(d.values())


@program(X, 3, features="recursion, len")
def lengths_on_the_way(x, n):
    m = [x]

    def f(k):
        m.append(len(m) * x)
        if k:
            f(k - 1)
        return len(m)

    return f(n) * x + sum(m)


@program(X, 3, features="recursion, loops over the list")
def loop_before_and_after(x, n):
    m = [x, x * x]

    def f(k):
        s = 0.0
        for v in m:
            s += v
        m.append(s)
        if k:
            s += f(k - 1)
        for i, v in enumerate(m):
            s += v * i
        return s

    return f(n)


@program(X, 3, features="recursion, the list grows in a loop over it")
def grows_in_a_loop_over_it(x, n):
    m = [x, x * x]

    def g(k):
        if k:
            m.append(x * k)
            g(k - 1)

    s = 0.0
    for v in m:
        s += v
        if len(m) < 5:
            g(2)
    return s


@program(X, 3, features="recursion, return from a while")
def while_and_recursion(x, n):
    m = [x]

    def f(k):
        i = 0
        while i < len(m):
            if m[i] > 5:
                return m[i]
            m[i] = m[i] + x
            i += 1
            if k and i == 1:
                f(k - 1)
        m.append(x)
        return 0.0

    return f(n) + sum(m)


@program(X, 3, features="recursion, always raises")
def raises_in_the_end(x, n):
    m = [x]

    def f(k):
        m.append(x * k)
        if k == 0:
            raise ValueError(k)
        f(k - 1)
        raise KeyError

    try:
        f(n)
    except ValueError:
        return sum(m)
    return 0.0


@program(X, 4, features="recursion, return from a loop")
def early_return_search(x, n):
    xs = [x * i for i in range(n)]
    hits = []

    def find(v):
        for i, y in enumerate(xs):
            if y > v:
                hits.append(y)
                return i
        hits.append(v)
        return -1

    return sum(hits) + find(0.5) + find(100.0) + sum(hits) * xs[find(1.0)]


def put(d, k, v):
    d[k] = v


@program(X, 5, features="recursion, dict that was captured")
def closure_dict(x, n):
    d = {}

    def put(k, v):
        d[k] = v * x

    def get(k):
        return d.get(k, 0.0)

    for i in range(n):
        put(i % 3, get((i + 1) % 3) + i)
    return sum(d.values())


@program(X, 5, features="recursion, array that was captured")
def closure_array(x, n):
    a = np.zeros(n)

    def put(k, v):
        a[k] = a[k] + v * x

    for i in range(n):
        put(i % 3, i)
    return np.sum(a**2)


@program(X, 5, features="recursion, array that was captured, view")
def closure_array_alias(x, n):
    a = np.zeros(n)
    v = a[1:]

    def put(k, y):
        a[k] = a[k] + y * x

    for i in range(n):
        put(i % 3, i)
    return np.sum(a**2) + np.sum(v)


@program(X, 5, features="recursion, slice of a list")
def closure_list_slice(x, n):
    m = [x] * n
    s = m[1:]

    def put(k, y):
        s[k] = s[k] * y

    put(0, x)
    put(1, 2.0)
    return sum(s) + sum(m)
