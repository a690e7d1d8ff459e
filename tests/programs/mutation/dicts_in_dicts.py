"""Dicts of dicts and dicts under keys of other kinds than whole numbers and texts: members of enumerations, floats, tuples, and
what nobody knows the kind of."""

from __future__ import annotations

import enum
import math
from collections import defaultdict

from tests.programs.mutation.table import K, program

N = 5
EDGES = [("a", "b", 1.0), ("a", "c", 4.0), ("b", "c", 2.0), ("b", "d", 5.0), ("c", "d", 1.0), ("d", "e", 3.0)]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Axis(enum.IntEnum):
    X = 0
    Y = 1
    Z = 2


class Mood(enum.Enum):
    GOOD = 1
    BAD = 2

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


@program(K, features="dict of dicts, symmetric")
def graph_of_both_ways(x):
    g = {}
    for u, v, w in EDGES:
        if u not in g:
            g[u] = {}
        if v not in g:
            g[v] = {}
        g[u][v] = w * x
        g[v][u] = w * x * x
    return sum(sum(ws.values()) ** 2 for ws in g.values())


@program(K, N, features="dict of dicts, setdefault, get")
def counts_of_pairs(x, n):
    counts = {}
    words = ("the cat sat on the mat the cat ran " * n).split()
    for a, b in zip(words, words[1:]):
        counts.setdefault(a, {})
        counts[a][b] = counts[a].get(b, x) + 1.0
    total = 0.0
    for _, row in counts.items():
        whole = sum(row.values())
        for _, count in row.items():
            total += math.log(count / whole)
    return total


@program(K, N, features="defaultdict of defaultdicts")
def table_that_fills_itself(x, n):
    m = defaultdict(lambda: defaultdict(float))
    for i in range(4 * n):
        m[i % 3][i % 4] += x * i
    m[7]
    return sum(v * v for row in m.values() for v in row.values()) + len(m)


@program(K, N, features="defaultdict of dicts, del, pop, in")
def dicts_that_lose_keys(x, n):
    m = defaultdict(dict)
    for i in range(n):
        m[i % 2][f"k{i}"] = x * i
    del m[0]["k0"]
    total = m[1].pop("k1") * 3.0 + m[0].setdefault("new", x * x)
    if "k3" in m[1]:
        total += m[1]["k3"]
    gone = m.pop(1)
    return total + sum(gone.values()) + sum(m[0].values()) + len(m)


@program(K, N, features="dict of dicts by two names")
def inner_dict_with_a_name(x, n):
    g = {"a": {"p": x}, "b": {}}
    for key in ("a", "b", "c"):
        g[key] = {"p": x * len(key), "q": 1.0}
    for i in range(n):
        row = g["a" if i % 2 else "c"]
        row["p"] = row["p"] * x + 0.1
        g["a"]["q"] += row["p"]
    return sum(v * (k + 1) for row in g.values() for k, v in enumerate(row.values()))


@program(K, N, features="one dict under two keys")
def one_dict_under_two_keys(x, n):
    shared, g = {"p": x}, {}
    for i in range(n):
        g[i] = shared
    g[0]["p"] = x * x
    g[1]["q"] = 2.0
    return sum(row["p"] for row in g.values()) + shared["q"] * x


@program(K, N, features="dict of dicts, the inner one is replaced")
def inner_dict_that_is_replaced(x, n):
    g = {}
    g["a"] = {"p": x}
    old = g["a"]
    old["p"] = old["p"] * 2.0
    g["a"] = {"p": 3.0 * x}
    for i in range(n):
        g["a"]["p"] += old["p"] * i
    same = 1.0 if g["a"] is g["a"] else 0.0
    return g["a"]["p"] + old["p"] + same * x


@program(K, N, features="dict of dicts, loops in loops")
def dict_of_dicts_in_loops(x, n):
    g = {}
    for i in range(n):
        g[i] = {}
        for j in range(3):
            g[i][j] = x * (i + j)
    for i in g:
        for j in g[i]:
            g[i][j] *= 1.0 + x
            g[0][j] += 0.1 * x
    return sum(g[i][j] * (i - j) for i in g for j in g[i])


@program(K, N, features="dict of dicts that is handed out")
def dict_of_dicts_that_is_returned(x, n):
    g = {}
    for i in range(n):
        g[i] = {}
        g[i]["p"] = x * i
    return g


@program(K, N, features="defaultdict of a number that a function gives")
def totals_that_begin_with_one(x, n):
    totals = defaultdict(lambda: 1.0)
    for i in range(2 * n):
        totals[i % 3] *= x + i
    return sum(totals.values()) + totals[8]


@program(K, N, features="members of an enumeration as keys")
def members_as_keys(x, n):
    d = {Color.RED: x, Color.BLUE: x * x}
    for i in range(n):
        d[Color.RED if i % 3 else Color.BLUE] += 0.1 * i * x
    total = 0.0
    for color, value in d.items():
        total += value * (2.0 if color is Color.RED else 3.0)
    return total + d[Color["BLUE"]]


@program(K, N, features="members of an enumeration as indices")
def members_as_indices(x, n):
    v = [x, 2 * x, 3 * x]
    for i in range(n):
        v[Axis.X] += v[Axis.Y] * i - v[Axis.Z] * Axis.Z
    return v[Axis.X] * v[Axis.Y.value]


@program(K, N, features="members that are equal to each other as keys")
def members_with_an_equality_of_their_own(x, n):
    d = {Mood.GOOD: x}
    for i in range(n):
        d[Mood.BAD] = d[Mood.GOOD] * x + i
    return d[Mood.GOOD] * len(d)


@program(K, N, features="floats as keys")
def floats_as_keys(x, n):
    d = {}
    for i in range(2 * n):
        d[(i // 2) * 0.5] = math.exp(-x * i * 0.1)
    return sum(v * t for t, v in d.items())


class Place:
    def __init__(self, k):
        self.k = k


@program(K, N, features="objects as keys")
def objects_as_keys(x, n):
    places = [Place(i) for i in range(n)]
    weight = {}
    for place in places:
        weight[place] = x * place.k
    return sum(weight[place] * k for k, place in enumerate(places))


@program([("p", 1.5), ("q", 2.5), ("p", 0.5)], K, features="keys from an argument")
def keys_from_an_argument(pairs, x):
    groups, sums = defaultdict(list), {}
    for name, value in pairs:
        groups[name].append(value * x)
        sums[name] = sums.get(name, 0.0) + value
    return sum(max(group) for group in groups.values()) * sums["p"]


@program(K, N, features="keys of several kinds")
def keys_of_several_kinds(x, n):
    d = defaultdict(float)
    for i in range(n):
        d[i] += x
        d[str(i)] += x * i
        d[i, "pair"] += x * x
        d[None] += 1.0
        d.pop(0.5, None)
    total = 0.0
    for key, value in d.items():
        total += value * (2.0 if isinstance(key, tuple) else 1.0)
    return total


class Linear:
    def __init__(self, k):
        self.k = k

    def apply(self, v):
        return self.k * v


class Quadratic:
    def __init__(self, a):
        self.a = a

    def apply(self, v):
        self.a += 0.01
        return self.a * v * v


@program(K, N, features="objects of two classes in a dict by name")
def strategies_by_name(x, n):
    table = {"lin": Linear(x), "quad": Quadratic(x * 0.5)}
    total = 0.0
    for i in range(n):
        total += table["lin" if i % 2 else "quad"].apply(0.1 * i + x)
    return total


@program(K, N, features="dict with keys in the program, asked for a computed one")
def rates_by_a_computed_name(x, n):
    rates = {"a": x, "b": 2.0, "c": x * x}
    rates["d"] = 1.0
    total = 0.0
    for i in range(n):
        name = "abcd"[i % 4]
        rates[name] = rates[name] * x + rates["a"]
        total += rates.get("abcdef"[i], 0.5)
    return total + sum(rates.values())


@program(K, N, features="list in a dict of lists, identity")
def lists_that_are_one(x, n):
    groups = defaultdict(list)
    for i in range(n):
        groups[i % 2].append(x * i)
    first, total = groups[0], 0.0
    if first is groups[0] and groups[1] is not first:
        total += x * 3.0
    return total + sum(first) * sum(groups[1])


@program(K, features="get of a dict in a list, with and without the key")
def entries_asked_for_with_a_default(x):
    rows = [{"p": x, "q": 1.0, "s": x * x}, {"p": 2.0 * x, "q": x}]
    total = 0.0
    for row in rows:
        total += row.get("s", x) * row.get("p", 0.0) + row.get("z", 3.0 * x)
        for value in row.values():
            total += value * x
    return total
