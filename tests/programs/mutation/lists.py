"""Lists: every method, item and slice writes, `del`, `+=` and `*=`."""

from __future__ import annotations

import bisect
import copy
import heapq
import math

import numpy as np

from tests.programs.mutation.table import M33, V3, W3, K, program

FLOATS = [0.5, -1.2, 0.8, 1.7]


@program(0.8, 1.3, features="append")
def appended_and_summed(x, y):
    values = []
    values.append(x * y)
    values.append(values[0] * x)
    values.append(y)
    return sum(values) * values[1]


@program(0.8, 4, features="append, loop")
def appended_in_a_loop(x, n):
    powers = [1.0]
    for _ in range(n):
        powers.append(powers[-1] * x)
    return sum(powers)


@program(V3, M33, features="append, arrays")
def states_of_a_recurrent_network(h, W):
    states = []
    for _ in range(3):
        h = np.tanh(W @ h)
        states.append(h)
    return np.sum(np.stack(states) * np.arange(9.0).reshape(3, 3))


@program(FLOATS, K, features="append, argument written")
def argument_appended_to(values, k):
    values.append(k * values[0])
    values.append(values[-1] ** 2)
    return sum(v * v for v in values)


@program(FLOATS, K, features="append, bound method")
def append_by_a_local_name(values, k):
    kept = []
    keep = kept.append
    for v in values:
        if v > 0.0:
            keep(v * k)
    return math.prod(kept)


@program(FLOATS, K, features="pop")
def popped_from_the_end(values, k):
    last = values.pop()
    before = values.pop()
    return last * before * k + sum(values) ** 2


@program(FLOATS, K, features="pop, index")
def popped_from_the_front(values, k):
    total = 0.0
    while values:
        total = total * k + values.pop(0) ** 2
    return total


@program(FLOATS, features="pop, middle")
def popped_from_the_middle(values):
    a = values.pop(1)
    values.append(a * a)
    b = values.pop(-2)
    return a * b + math.prod(values)


@program(FLOATS, K, features="insert")
def inserted(values, k):
    values.insert(1, k * values[0])
    values.insert(0, values[1] * values[2])
    values.insert(-1, 2.0)
    values.insert(100, k)
    return sum((i + 1) * v for i, v in enumerate(values))


@program(FLOATS, features="extend")
def extended(values):
    more = []
    more.extend(values)
    more.extend([values[0] * values[1], 3.0])
    more.extend((v * v for v in values[:2]))
    more.extend(np.array(values[2:]) * 2.0)
    return sum((i + 1) * v for i, v in enumerate(more))


@program(FLOATS, features="extend by itself")
def extended_by_itself(values):
    values.extend(values)
    values[0] = values[5] * 2.0
    return math.prod(values)


@program(FLOATS, features="reverse")
def reversed_in_place(values):
    values.reverse()
    values.append(values[0])
    values.reverse()
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="sort")
def list_sorted(values):
    values.sort()
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="sort, key, reverse")
def list_sorted_by_a_key(values):
    values.sort(key=lambda v: v * v, reverse=True)
    return sum((i + 1) * v for i, v in enumerate(values))


@program(FLOATS, features="remove, index, count")
def removed_by_value(values):
    first = values[0]
    values.remove(first)
    values.append(first * values[0])
    place = values.index(values[2])
    return values[place] * sum(values) * values.count(values[0])


@program(FLOATS, features="clear")
def cleared(values):
    total = sum(values)
    values.clear()
    values.append(total**2)
    return values[0] * total


@program(FLOATS, features="copy")
def copies_are_independent(values):
    a = values.copy()
    b = list(values)
    c = values[:]
    d = [*values]
    e = copy.copy(values)
    a[0], b[1], c[2], d[3], e[0] = a[1] * 2.0, b[0], 3.0, d[0] * d[1], e[1]
    return sum(p * q * r + s * t for p, q, r, s, t in zip(a, b, c, d, e))


@program(FLOATS, K, features="item write")
def item_of_a_list(values, k):
    values[1] = k * values[0]
    values[-1] = values[1] * values[2]
    return math.prod(values)


@program(FLOATS, K, features="item +=")
def item_of_a_list_in_place(values, k):
    values[0] += k * values[1]
    values[2] *= values[0]
    values[-1] -= values[2]
    values[1] /= 2.0 + values[0] ** 2
    values[0] **= 2
    return math.prod(values)


@program(FLOATS, features="item swap")
def items_of_a_list_swapped(values):
    values[0], values[2] = values[2], values[0]
    values[1], values[3] = values[3] * values[1], values[1]
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="bubble sort")
def bubble_sort(values):
    for i in range(len(values)):
        for j in range(len(values) - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, K, features="slice write")
def slice_of_a_list_replaced(values, k):
    values[1:3] = [k, k * values[0], values[1]]
    values[:1] = []
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="slice write, step")
def extended_slice_replaced(values):
    values[::2] = [values[1] ** 2, values[3]]
    values[::-1] = values[:]
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="slice write, insertion")
def inserted_by_slices(values):
    values[len(values) :] = [values[0] * values[1]]
    values[2:2] = (v * 2.0 for v in values[:2])
    values[0:0] = values
    return sum((i + 1) * v for i, v in enumerate(values))


@program(FLOATS, features="del item")
def item_of_a_list_deleted(values):
    a = values[1]
    del values[1]
    del values[-1], values[0]
    return a * values[0] ** 2


@program(FLOATS, features="del slice")
def slice_of_a_list_deleted(values):
    kept = values * 2
    del kept[1:3]
    del kept[::2]
    return math.prod(kept) * len(kept)


@program(FLOATS, K, features="list +=")
def list_extended_by_an_operator(values, k):
    a = values
    a += [k, k * k]
    a += (values[0],)
    return sum((i + 1) * v for i, v in enumerate(values))


@program(FLOATS, features="list *=")
def list_repeated_in_place(values):
    a = values
    a *= 2
    a[1] = a[0] * a[5]
    return sum((i + 1) * v for i, v in enumerate(values))


@program(FLOATS, features="list + makes a new one")
def list_sum_is_a_copy(values):
    a = values
    a = a + [values[0] ** 2]
    a[0] = 3.0
    return math.prod(a) * values[0]


@program(FLOATS, K, features="alias")
def two_names_of_a_list(values, k):
    a = values
    a.append(k)
    values[0] = a[1] * k
    return a[0] * values[-1] * len(a)


@program(FLOATS, K, features="list of lists")
def lists_in_a_list(values, k):
    table = [values, [k, k * k], []]
    table[2].append(table[0][1] * table[1][0])
    table[0][0] = table[2][0]
    table[1], table[2] = table[2], table[1]
    return sum(v * (i + 1) for i, row in enumerate(table) for v in row)


@program(0.8, 1.3, features="list of lists, shared row")
def the_same_row_three_times(x, y):
    grid = [[x, y]] * 3
    grid[0][1] = x * y
    grid[2].append(x)
    return sum(sum(row) for row in grid) * grid[1][1]


@program(0.8, 1.3, features="list of lists, comprehension")
def grid_of_numbers(x, y):
    grid = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            grid[i][j] = x**i * y**j
    grid[1][1] += grid[0][2]
    return sum(grid[i][i] * grid[i][2 - i] for i in range(3))


@program(FLOATS, 1.3, features="dynamic programming")
def cheapest_path(costs, k):
    best = [costs[0]]
    for i in range(1, len(costs)):
        if best[i - 1] < costs[i]:
            best.append(best[i - 1] * k + costs[i])
        else:
            best.append(costs[i] ** 2)
    return best[-1] + 0.5 * best[1]


@program([[0.5, -1.2], [0.8, 1.7]], K, features="nested argument written")
def nested_argument_written(rows, k):
    rows[0][0] = k * rows[1][1]
    rows[1].append(rows[0][0] ** 2)
    rows.append([rows[1][2]])
    return sum(v * v for row in rows for v in row)


@program(FLOATS, features="iteration over a growing list")
def list_grows_while_it_is_read(values):
    for v in values:
        if len(values) < 7:
            values.append(v * 0.5)
    return sum((i + 1) * v**2 for i, v in enumerate(values))


@program(FLOATS, features="iteration and item writes")
def list_written_while_it_is_read(values):
    total = 0.0
    for i, v in enumerate(values):
        if i + 1 < len(values):
            values[i + 1] *= v
        total += v * v
    return total


@program(FLOATS, K, features="list of pairs")
def pairs_in_a_list(values, k):
    pairs = []
    for i, v in enumerate(values):
        pairs.append((i, v * k))
    pairs.sort(key=lambda pair: -pair[0])
    return sum((j + 1) * v**2 * i for j, (i, v) in enumerate(pairs))


@program(FLOATS, features="heapq")
def smallest_first(values):
    heap = []
    for v in values:
        heapq.heappush(heap, v)
    a = heapq.heappop(heap)
    b = heapq.heappop(heap)
    return a * b + heap[0] ** 2


@program(FLOATS, features="bisect.insort")
def inserted_in_order(values):
    ordered = []
    for v in values:
        bisect.insort(ordered, v)
    return sum((i + 1) * v**2 for i, v in enumerate(ordered))


@program(V3, W3, features="arrays in a list written")
def arrays_in_a_list_written(x, w):
    layers = [x * 1.0, w * 2.0]
    layers[0][1] = 3.0
    layers[1] += layers[0]
    layers.append(layers[0] * layers[1])
    layers[0] = layers[2]
    layers[0][2] = x[0] ** 2
    return np.sum(layers[2]) * np.sum(layers[1] * layers[0])


@program([V3, W3], features="list returned")
def list_appended_to_and_returned(rows):
    rows.append(rows[0] * rows[1])
    return rows


@program(FLOATS, features="list of inactive things")
def list_of_places(values):
    places = []
    for i, v in enumerate(values):
        if v > 0.6:
            places.append(i)
    places.reverse()
    total = 1.0
    while places:
        total = total * values[places.pop()] + 1.0
    return total


@program(FLOATS, features="list in a tuple")
def list_in_a_tuple(values):
    pair = (values, 2.0)
    pair[0].append(pair[1] * values[0])
    pair[0][0] *= pair[1]
    return math.prod(values)


@program(FLOATS, features="unpacking into items")
def unpacked_into_items(values):
    out = [0.0] * 3
    out[0], *out[1:] = values
    (out[0], out[1]), out[2] = (out[1], out[2]), out[0]
    return sum((i + 1) * v**2 for i, v in enumerate(out))
