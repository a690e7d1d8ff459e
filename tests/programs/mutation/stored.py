"""What a function stores by keys and indices in lists, dicts and arrays that it makes for itself, and what looks like it."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 4


# Lists in lists


@program(X, N, features="lists in a list")
def table_of_a_recursion(x, n):
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        table[i][0] = i * x
        table[0][i] = i * x * x
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            table[i][j] = min(table[i - 1][j] + x, table[i][j - 1] + 0.3, table[i - 1][j - 1] + math.sin(x * i * j))
    return table[n][n] * table[-1][1]


@program(X, N, features="lists in a list")
def rows_written_through_names(x, steps):
    places, speeds = [[x, 0.0], [1.0, x * x]], [[0.0, 1.0], [x, 0.5]]
    for i in range(steps):
        row = speeds[i % 2]
        row[0] += x * places[1 - i % 2][1]
        for place, speed in zip(places, speeds):
            for k in range(2):
                place[k] += 0.1 * speed[k] * row[0]
    return sum(sum(row) for row in places) + speeds[0][0] * row[1]


@program(X, features="lists in a list")
def one_row_at_two_places(x):
    row = [x, 1.0]
    table = [row, row, [x * x, 2.0]]
    table[0][1] = x * 3.0
    row[0] *= 2.0
    return table[1][1] * table[1][0] + table[2][0] * row[1]


@program(X, features="lists in a list")
def rows_repeated(x):
    table = [[x, 1.0]] * 3
    table[1][0] *= x
    return table[0][0] * table[2][0] + table[0][1]


@program(X, N, features="lists in a list")
def rows_exchanged(x, steps):
    table = [[x, 1.0], [x * x, 2.0]]
    for i in range(steps):
        table[0], table[1] = table[1], table[0]
        table[0][0] += table[1][0] * x
    return table[0][0] * table[1][1]


@program(X, N, features="lists in a list")
def row_kept_before_it_is_written(x, steps):
    table = [[x, 2.0], [1.0, x]]
    first, shown = table[0], [table[1][1]]
    for i in range(steps):
        table[0][i % 2] *= x
        shown.append(sum(table[0]))
    return sum(shown) * first[1] + len(table[0])


@program(X, N, features="lists in a list")
def row_read_while_it_is_written(x, steps):
    table = [[x] * steps for _ in range(2)]
    total = 0.0
    for k, value in enumerate(table[0]):
        table[0][-1] += value * x
        total += value * (k + 1)
    return total + table[0][-1]


@program(X, N, features="lists of lists of lists")
def three_deep(x, n):
    cube = [[[x * (i + j + k) for k in range(2)] for j in range(2)] for i in range(2)]
    for i in range(n):
        cube[i % 2][1][0] -= cube[1 - i % 2][0][1] * x
        cube[0][i % 2][1] = cube[1][1][0] + x
    return sum(sum(sum(row) for row in plane) for plane in cube)


@program(X, features="lists in a list")
def index_that_is_not_there(x):
    table = [[x, 1.0], [2.0, x]]
    table[0][1] = x * x
    try:
        table[2][0] = x
    except IndexError:
        table[1][0] += x
    return table[1][0] * table[0][1]


@program([[0.4, 1.2], [0.3, -0.7]], N, features="lists in a list, argument")
def copies_of_rows(rows, steps):
    work = [list(row) for row in rows]
    for i in range(steps):
        work[i % 2][0] += work[0][1] * rows[1][i % 2]
    return sum(map(sum, work)) * rows[0][0]


# Dicts


@program(X, N, features="dict")
def values_under_keys_that_are_computed(x, steps):
    species = {"A": x, "B": 0.5, "C": 0.0}
    change = {name: 0.0 for name in species}
    for _ in range(steps):
        for source, target in (("A", "B"), ("B", "C"), ("C", "A")):
            flow = x * species[source]
            change[source] -= flow
            change[target] += flow * 0.5
        for name in species:
            species[name] += 0.1 * change[name]
    return species["C"] * species["A"]


@program(X, N, features="dict")
def keys_that_come_later(x, steps):
    memo = {0: x}
    for i in range(steps):
        memo[i + 1] = memo[i] * x + i
        memo[0] = memo[0] + memo[i + 1]
        if (i, "twice") not in memo:
            memo[i, "twice"] = 2.0 * memo[i + 1]
    return sum(memo.values()) + memo[2] * len(memo)


@program(X, N, features="dict")
def values_changed_while_they_are_run_over(x, steps):
    ranks = {page: x * page for page in range(1, steps)}
    total = 0.0
    for page, rank in ranks.items():
        ranks[steps - 1] += rank * x
        total += rank * page
    return total * ranks[1]


@program(X, N, features="dict of lists")
def lists_in_a_dict(x, steps):
    columns = {"a": [x, 1.0], "b": [2.0, x * x]}
    for i in range(steps):
        name = "ab"[i % 2]
        columns[name][i % 2] = columns["a"][0] * x + columns["b"][1]
    return sum(columns["a"]) * columns["b"][1]


@program(X, N, features="dict")
def a_copy_of_a_dict(x, steps):
    first = {"u": x, "v": 1.0}
    second = dict(first)
    for key in ("u", "v", "u"):
        second[key] *= first["u"] + steps
    first["v"] = second["u"]
    return first["v"] * second["v"]


# Arrays


@program(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), features="array")
def factorised_by_entries(a):
    n = a.shape[0]
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(s) if i == j else s / lower[j, j]
    return np.sum(lower * lower[::-1])


@program(np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.4, 2.0]]), np.array([1.0, 0.5, -0.2]), features="array")
def eliminated_in_place(a, b):
    a, b = a.copy(), b.copy()
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(len(b))
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x**2)


@program(np.array([0.5, -1.0, 2.0, 0.3]), features="array")
def entries_exchanged(x):
    y = x * 2.0
    for i in range(len(y) // 2):
        t = y[i]
        y[i] = y[-1 - i] * x[i]
        y[-1 - i] = t
    return np.sum(y * np.arange(4.0))


@program(np.array([0.5, -1.0, 2.0]), features="array")
def a_part_that_is_a_view(x):
    table = np.zeros((2, 3))
    row = table[0]
    table[0, 1] = x[1] * x[0]
    table[0] += x
    kept = [table[1]]
    table[1] = x * x
    return np.sum(row) * x[0] + np.sum(kept[0])


@program(np.array([0.5, -1.0, 2.0]), features="array")
def what_indices_pick_is_no_view(x):
    y = x * 2.0
    picked, masked, row = y[[0, 2]], y[y > 0.0], y[1:]
    y[0] = x[1] * x[2]
    y[2] *= x[0]
    return np.sum(picked) * x[0] + np.sum(masked * x[1]) + np.sum(row * y[:2])


@program(np.array([0.5, -1.0, 2.0]), features="array")
def shapes_of_what_is_put(x):
    table = np.zeros((2, 3))
    table[0] = x[None, :] * 2.0
    table[:, 1] = x[:1]
    table[1, ...] = x[2]
    table[0:1, 2:] = x[0] * np.ones((1, 1))
    return np.sum(table * np.arange(6.0).reshape(2, 3)) * table[0, 0]


@program(np.array([0.5, -1.0, 2.0]), features="array")
def parts_that_overlap(x):
    y = np.concatenate([x, x * x])
    y[1:] = y[:-1] * 2.0
    y[::2] -= x[0]
    y[2:4] = 0.5
    return np.sum(y * np.arange(6.0))


@program(np.array([0.5, -1.0, 2.0]), N, features="array")
def entries_written_on_one_path(x, steps):
    u = np.ones(3) * x[0]
    for i in range(steps):
        if u[i % 3] > 0.4:
            u[i % 3] = x[1] * u[(i + 1) % 3]
        else:
            u += x
    return np.sum(u**2)


@program(np.array([0.5, -1.0]), features="array of whole numbers")
def whole_numbers_cut_what_they_get(x):
    counts = np.zeros(2, int)
    counts[0] = int(3.0 * x[0])
    return counts[0] * x[1] + np.sum(x)


# Objects that refer to each other


@dataclass
class Bead:
    x: float
    v: float


@dataclass
class Link:
    a: Bead
    b: Bead
    length: float

    def pull(self, rate):
        d = self.b.x - self.a.x - self.length
        self.a.x += rate * d
        self.b.x -= rate * d


@program(X, N, features="objects in lists")
def chain_of_beads(x, steps):
    beads = [Bead(x * i, 0.1 * i) for i in range(4)]
    links = [Link(a, b, 0.5) for a, b in zip(beads, beads[1:])]
    for _ in range(steps):
        for bead in beads[1:]:
            bead.v -= x * bead.x
            bead.x += 0.1 * bead.v
        for link in links:
            link.pull(x)
        beads[0].x = 0.0
    return beads[-1].x * beads[1].v + links[0].b.x


@program(X, N, features="objects in lists")
def the_others(x, steps):
    beads = [Bead(x + i, x * i) for i in range(3)]
    for _ in range(steps):
        pulls = []
        for bead in beads:
            others = [other for other in beads if other is not bead]
            pulls.append(sum(other.x for other in others) / len(others) - bead.x)
        for bead, pull in zip(beads, pulls):
            bead.v = bead.v + x * pull
            bead.x += bead.v
    return sum(bead.x**2 for bead in beads[::-1])


@program(X, N, features="objects in lists")
def the_highest(x, steps):
    beads = [Bead(x * i, 1.0) for i in range(3)]
    for i in range(steps):
        best = beads[0]
        for bead in beads:
            if bead.x * bead.v > best.x * best.v:
                best = bead
        best.v *= 0.5 * x
        beads[i % 3].x += best.x
    return best.x * sum(bead.v for bead in beads)


@dataclass(frozen=True)
class State:
    x: float
    v: float = 0.0


@program(X, N, features="frozen dataclass")
def replaced_again_and_again(x, steps):
    state = State(x)
    for _ in range(steps):
        state = dataclasses.replace(state, v=state.v - 0.1 * state.x)
        state = dataclasses.replace(state, x=state.x + x * state.v)
    return state.x * state.v


# None that stands for what is not there yet, sums, functions that are given


@program(X, N, features="None")
def the_one_before(x, steps):
    previous, total = None, 0.0
    for i in range(steps):
        value = math.sin(x * i + total)
        slope = 0.0 if previous is None else (value - previous) / x
        total += value * slope + 0.1 * i
        previous = value if i != 2 else None
    return total


@program(np.array([0.5, -1.0]), N, features="None")
def the_array_before(x, steps):
    state = None
    for i in range(steps):
        state = x * i if state is None else state * x + i
        if i == 1:
            state = None
    return np.sum(state * x)


@program(X, N, features="function")
def rates_that_are_given(x, steps):
    def advanced(rates, state, h):
        k = rates(state)
        middle = [a + h * b for a, b in zip(state, k)]
        return [a + 0.5 * h * (b + c) for a, b, c in zip(state, k, rates(middle))]

    state = [x, 1.0]
    for _ in range(steps):
        state = advanced(lambda s: [s[1], -x * s[0]], state, 0.1)
    return state[0] * state[1]


@program([0.4, 1.2, -0.3], X, features="list, argument")
def lists_made_of_lists(values, x):
    ends = [x, *values, values[-1]]
    for _ in range(2):
        inner = [b + x * (a - 2 * b + c) for a, b, c in zip(ends, ends[1:], ends[2:])]
        ends = [ends[0]] + inner + [x] * 2
    return sum(ends) * max(values) + min(ends) + ends[-1]


@program(np.array([0.5, -1.0]), features="array, ufunc")
def a_ufunc_over_an_entry(x):
    y = np.zeros(2)
    y[0] = x[0]
    return np.frompyfunc(lambda v: v * y[0], 1, 1)(2.0) * x[1]


@program(X, N, features="dict")
def defaults_of_dicts(x, steps):
    totals, counts, rest = defaultdict(float), defaultdict(int), dict.fromkeys(range(3), x * 2.0)
    for i in range(steps):
        totals[i % 3] += x * i
        counts[i % 3] += 1
        rest[i % 2] = rest.get(i % 2, 0.0) + totals[i % 3] * x
        if (i, 1) not in rest:
            rest[i, 1] = x
    return sum(totals[k] ** 2 / counts[k] for k in totals) + rest[0] * rest[1] + len(totals) + rest[2, 1]


class Place(NamedTuple):
    x: float
    y: float
    z: float


@program(X, N, features="namedtuple")
def moved_in_all_directions(x, steps):
    place = Place(x, 1.0, x * x)
    for _ in range(steps):
        rates = Place(place.y * x, -place.x, place.z)
        place = Place(*(a + 0.1 * b for a, b in zip(place, rates)))
    return place.x * place.y + place.z


@program(X, N, features="list of tuples")
def pairs_in_a_list(x, steps):
    pairs = [(x * i, 1.0 + x) for i in range(3)]
    for i in range(steps):
        a, b = pairs[i % 3]
        pairs[(i + 1) % 3] = (a * b + pairs[0][1], b * x)
    return sum(a * b for a, b in pairs[1:]) + max(pairs[0])


@program(X, N, features="lists that are asked whether they are empty, and grow")
def asked_whether_there_is_something(x, n):
    out, table, rows = [], {}, [[], []]
    for i in range(n):
        out.append(x * x if out else 3.0 * x)
        table[i] = x * i if table else math.sin(x)
        if i != 1 and not rows[1]:
            rows[1].append(out[-1] * x)
        elif rows[1]:
            rows[0].append(x)
        out.append(out[-1] * 0.5 + (out[-2] if rows[0] else 0.1))
    return sum(out) * sum(table.values()) + sum(rows[0]) * sum(rows[1])


# Lists of what is not there yet


@program(X, N, features="None for numbers that are not there yet")
def filled_later(x, n):
    out = [None] * (n + 1)
    for i in range(n):
        out[i] = x * i if out[i - 1] is None else out[i - 1] * x + i
    grid = [[None] * 2 for _ in range(n)]
    for row in grid:
        row[0] = x * x
    grid[1][1] = out[2] * x
    total = sum(v * v for v in out if v is not None) + grid[1][0] * grid[1][1]
    out[0] = None
    return total * (2.0 if out[0] is None and grid[0][1] is None else x) * out[1]


@program(X, N, features="None for tuples that are not there yet")
def pairs_filled_later(x, n):
    out = [None] * n
    for i in range(n):
        out[i] = (x * i, x + i)
    out[0] = (out[1][0] * x, out[0][1])
    a, b = out[2]
    last = halves([x * i for i in range(1, 2 * n + 1)])
    return sum(re * im for re, im in out) * a + b * last[1][0] * last[-1][1] + last[0][1]


def halves(values):
    n = len(values)
    if n == 1:
        return [(values[0], 1.0)]
    left, right = halves(values[: n // 2]), halves(values[n // 2 :])
    out = [None] * n
    for k in range(n // 2):
        out[k] = (left[k][0] + right[k][1], left[k][1] * right[k][0])
        out[k + n // 2] = (left[k][0] - right[k][0], 0.5)
    return out


@program(X, N, features="None in the place of a tuple")
def pair_taken_away(x, n):
    out = [(x * i, x) for i in range(n)]
    total = out[1][0] * out[2][1]
    out[1] = None
    for i in range(n):
        if out[i] is None:
            out[i] = (x * x, 2.0 * x)
            total = total + out[i][0] * out[i][1]
            out[i] = None
    return total + sum(pair[0] for pair in out if pair is not None)


@program(X, N, features="numbers taken away")
def number_taken_away(x, n):
    out = [None] * n
    for i in range(n):
        out[i] = x * i
        if i == 2:
            out[1] = None
    out[1] = x if out[1] is None else out[0]
    first, *rest = (x * x, out[2])
    return sum([v * v for v in out]) * first + rest[0]
