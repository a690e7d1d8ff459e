"""Counters: made of items, updated by more, and asked what is most common."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from tests.programs.mutation.table import K, program

N = 5


@program(K, N, features="Counter of items")
def entropy_of_words(x, n):
    counts = Counter(("the quick fox jumps over the lazy dog the end " * n).split())
    whole, total = sum(counts.values()), 0.0
    for _, count in counts.most_common():
        p = count * x / whole
        total -= p * math.log(p)
    return total + counts["fox"] * x + counts["nothing"]


@program(K, N, features="Counter, most common")
def votes_that_are_counted(x, n):
    votes = Counter()
    for i in range(4 * n):
        votes["abcd"[i % 4]] += x * (i % 3)
    (first, most), (_, second) = votes.most_common(2)
    return most * 2.0 - second + len(first) + votes.most_common(1)[0][1] + len(votes.most_common(9))


@program(K, features="Counter, most common of equal ones")
def equal_votes_in_their_order(x):
    votes = Counter()
    for key in (3, 1, 2, 1, 3):
        votes[key] += x
    votes[2] += x
    return sum(value * key * (k + 1) for k, (key, value) in enumerate(votes.most_common()))


@program(K, N, features="Counter of a dict, subtract")
def counter_of_a_dict(x, n):
    counts = Counter({"a": x, "b": 2.0})
    counts.update({"a": x * n})
    counts.subtract(["b"])
    return counts["a"] * counts["b"] + counts.most_common(1)[0][1]


@program(K, N, features="Counter of a dict in sight")
def counter_of_totals(x, n):
    totals = defaultdict(float)
    for i in range(n):
        totals[i % 2] += x * i
    counts = Counter(totals)
    totals[0] += x
    return counts[0] * 2.0 + counts[1] + totals[0]


@program(K, N, features="Counter of items, most common, count from the end")
def counter_asked_for_a_number(x, n):
    counts = Counter(i % 3 for i in range(n))
    total = 0.0
    for key, count in counts.most_common(n - 3):
        total += count * x * (key + 1)
    return total + len(counts.most_common(-1))
