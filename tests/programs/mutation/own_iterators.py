"""Objects with `__iter__`, `__next__` and `__len__`, methods that return `self`, and iterators that `iter` gives."""

from __future__ import annotations

import itertools

import numpy as np

from tests.programs.mutation.table import V3, K, program


class Countdown:
    def __init__(self, start):
        self.left = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Halving:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        return self

    def __next__(self):
        self.value = 0.5 * self.value
        if self.value < 0.05:
            raise StopIteration
        return self.value


class Series:
    def __init__(self, *values):
        self.values = list(values)

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]

    def add(self, value):
        self.values.append(value)
        return self

    def scale(self, factor):
        self.values = [factor * value for value in self.values]
        return self


class Around:
    def __init__(self, inner):
        self.inner = inner

    def __iter__(self):
        return iter(self.inner)


class Samples:
    def __init__(self, values):
        self.values = np.array(values)

    def __iter__(self):
        return iter(self.values)


@program(K, features="iterators")
def own_iterator_is_exhausted(x):
    countdown = Countdown(4)
    total = 0.0
    for k in countdown:
        total = total + x**k
    for k in countdown:
        total = total + 100.0 * x * k
    return total + x * countdown.left


@program(K, features="iterators")
def own_iterator_changes_what_it_gives(x):
    halving = Halving(x)
    total = 0.0
    for value in halving:
        total = total + value * value
    return total * halving.value


@program(K, features="iterators, break")
def own_iterator_is_left_and_goes_on(x):
    countdown = Countdown(6)
    total = 0.0
    for k in countdown:
        if k == 3:
            break
        total = total + k * x
    for k in countdown:
        total = total + k * x * x
    return total


@program(K, features="iterators")
def list_in_an_object_is_iterated_over(x):
    series = Series(x).add(x * x).add(2.0 * x).scale(x)
    total = 0.0
    for first in series:
        for second in series:
            total = total + first * second
    return total / len(series) + series[1]


@program(K, features="iterators")
def objects_that_hand_on_iterators(x):
    total = 0.0
    for value in Around(Series(x, x * x)):
        total = total + value
    for value in Around(Around(Countdown(3))):
        total = total * x + value
    return total


@program(K, features="iterators")
def list_grows_while_an_object_is_iterated_over(x):
    series = Series(x, 2.0 * x)
    total = 0.0
    for value in series:
        total = total + value * value
        if len(series) < 5:
            series.add(value * x)
    return total


@program(K, features="iterators")
def own_containers_are_used_up_by_builtins(x):
    series = Series(x, 2.0 * x, x * x)
    return sum(series) * max(series) + sum(list(series)) + tuple(series)[1] * sorted(series)[0] + sum(v * v for v in series)


@program(K, features="iterators, zip, enumerate")
def own_containers_side_by_side(x):
    first, second = Series(x, 2.0 * x, 3.0), Series(1.0, x, x)
    total = 0.0
    for a, b in zip(first, second):
        total = total + a * b
    for k, (a, b) in enumerate(zip(first, second)):
        total = total + k * a * b * b
    for k, a in enumerate(first, 1):
        total = total + a**k
    return total


@program(K, features="iterators")
def iterator_of_a_list_that_grows(x):
    values = [x, x * x]
    iterator = iter(values)
    values.append(3.0 * x)
    total = 0.0
    for value in iterator:
        total = total + value * value
    for value in iterator:
        total = total + 100.0 * value
    return total


@program(K, features="iterators")
def iterator_is_asked_before_the_loop(x):
    iterator = iter(Series(x, x * x, 3.0 * x))
    first = next(iterator)
    total = first
    for value in iterator:
        total = total + first * value
    return total


@program(K, features="iterators, try")
def own_iterator_raises(x):
    total = 0.0
    series = Halving(x)
    try:
        for value in series:
            total = total + value * x
            if value < 0.2:
                raise ZeroDivisionError
    except ZeroDivisionError:
        total = total * x
    return total * series.value


@program(V3, features="iterators, arrays")
def array_in_an_object_is_iterated_over(x):
    samples = Samples(x)
    total = 0.0
    for value in samples:
        total = total + value**3
    return total * np.sum(samples.values)


@program(K, features="rows")
def grid_is_made_anew_of_its_rows(x):
    grid = [[0.0] * 5 for _ in range(5)]
    grid[0][2] = x
    for _ in range(4):
        new = [row[:] for row in grid]
        for i in range(1, 4):
            for j in range(1, 4):
                new[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) + x * grid[i][j]
        grid = new
    return grid[1][2] + grid[3][2] * x


@program(K, features="rows")
def grid_is_copied_row_by_row(x):
    grid = [[x, 2.0 * x], [x * x, 1.0]]
    old = [list(row) for row in grid]
    older = [row.copy() for row in old]
    grid[0][1] = grid[1][0] * x
    old[1][1] = grid[0][1]
    older[0][0] = old[1][1] * x
    return sum(sum(row) for row in grid) * old[1][1] + sum(map(sum, old)) * older[0][0] + older[1][0]


@program(K, features="rows")
def shallow_copy_of_a_grid_shares_its_rows(x):
    grid = [[x, 2.0 * x], [x * x, 1.0]]
    same = grid[:]
    same[0][1] = x**3
    grid[1][1] = same[0][1] * x
    return sum(sum(row) for row in grid) + same[1][1]


@program(K, features="count and repeat beside a list that is written")
def counted_beside_what_is_written(x):
    values, total = [x, 2.0 * x], 0.0
    for value, k, factor in zip(values, itertools.count(2, 0.5), itertools.repeat(3.0)):
        values[0] = total
        total += value * k * factor + k
    pairs = zip(values, itertools.count())
    first, k = next(pairs)
    values.append(total)
    rest = itertools.chain(values, itertools.repeat(3, 2))
    return first * total + sum(value * k for value, k in pairs) + sum(rest) * x
