"""Lists, deques and heaps whose items change places, dicts and sets whose keys are taken away, and what looks like it."""

from __future__ import annotations

import bisect
import heapq
import math
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.7, 6


def weighted(items, x):
    return sum((i + 1) * v for i, v in enumerate(items)) * x


@program(X, N, features="list.insert, list.remove, del")
def items_put_in_and_taken_out(x, n):
    items = []
    for i in range(n):
        items.insert(i // 2, x * i + 1.0)
        items.insert(-1, math.sin(x * i))
    total = 0.0
    while len(items) > 3:
        del items[1]
        items.remove(items[-1])
        total = total * 0.5 + items[0] * items[-1]
    del items[-1:]
    return weighted(items, x) + total


@program(X, N, features="list.pop in the middle")
def drawn_from_the_middle(x, n):
    items = [x * i * i for i in range(2 * n)]
    total = 0.0
    for i in range(n):
        total = total * 0.9 + items.pop(len(items) // 2) * i
        items[i % 3] = total
    return total + weighted(items, x)


@program(X, N, features="a slice that is written, deleted, repeated")
def parts_of_a_list_replaced(x, n):
    items = [x * i for i in range(n)]
    items[1:3] = [x * x, 2.0, x]
    items[:0] = items[-2:]
    del items[::3]
    items *= 2
    items += items[:2]
    items[0] = items[1] * x
    return weighted(items, x)


@program(X, N, features="list.sort, list.reverse")
def sorted_in_place(x, n):
    items = [x * ((7 * i) % n) + 0.1 * i for i in range(n)]
    pairs = [(v, i) for i, v in enumerate(items)]
    items.sort()
    total = weighted(items, x)
    items.sort(key=lambda v: (v - 1.0) ** 2, reverse=True)
    items.reverse()
    pairs.sort(key=lambda pair: -pair[0])
    return total * weighted(items, x) + sum(v * i for v, i in pairs)


@program(X, N, features="list.sort by a key that looks at the list")
def sorted_by_what_is_left(x, n):
    items = [x * ((7 * i) % n) + 0.1 * i for i in range(n)]
    items.sort(key=lambda v: v + len(items))
    return weighted(items, x)


@program(X, N, features="bisect.insort")
def kept_in_order(x, n):
    items = []
    total = 0.0
    for i in range(n):
        bisect.insort(items, math.sin(x * i))
        bisect.insort_left(items, x * 0.1 * i)
        total = total + items[len(items) // 2]
    return total + weighted(items, x)


@program(X, N, features="list.copy, list(...), slices that are changed")
def copies_that_are_changed(x, n):
    items = [x * i for i in range(n)]
    copy, other, part, more = items.copy(), list(items), items[1:], sorted(items)
    copy.append(x * x)
    other.pop(1)
    part.insert(0, 2.0 * x)
    more.remove(0.0)
    items[0] = 3.0 * x
    return sum(copy) * sum(other) + weighted(part, x) * weighted(more, x) + weighted(items, x)


@program(X, N, features="a list that takes its own place")
def population(x, n):
    items = [x, x * x, 0.5]
    for i in range(n):
        items.insert(1, items[0] * x + 0.1 * i)
        items.sort(key=lambda v: -v)
        items = items[:4]
        if i % 2:
            items = [v * 0.9 for v in items if v > 0.01]
    return weighted(items, x)


@program(X, N, features="a loop over a list that it changes")
def changed_while_run_over(x, n):
    items = [x * i for i in range(n)]
    total = 0.0
    for v in items:
        if len(items) > 3:
            items.remove(v)
        total = total * 0.7 + v
    for v in list(items):
        if v > x:
            items.remove(v)
    for i, v in enumerate(items):
        if i == 1:
            break
        total = total + v * x
    return total + weighted(items, x)


@program(X, N, features="asked while it grows")
def sums_of_what_was_there(x, n):
    items = [x]
    for i in range(n):
        items.append(sum(items) * x * 0.3 + max(items) * 0.1 * i)
    return items[-1] + float(np.mean(items))


@program(X, N, features="two names of a list")
def inserted_by_two_names(x, n):
    first = [x, x * x]
    second = first
    for i in range(n):
        first.insert(0, second[-1] * 0.5)
        second.reverse()
        second.pop(1)
        second.append(x * i)
    return weighted(first, x) * (2.0 if first is second else 3.0)


@program(X, N, features="a list given on")
def inserted_and_given(x, n):
    items = [x, 2.0 * x]
    items.insert(1, x * n)
    kept = [items]
    items.insert(0, x * x)
    return weighted(kept[0], x) + len(kept[0])


@program(X, N, features="an exception half way")
def taken_out_and_caught(x, n):
    items = [x, x * x, 0.5]
    total = 0.0
    try:
        for _ in range(n):
            total = total + items.pop(1)
    except IndexError:
        total = total * x
    try:
        items.remove(17.0)
    except ValueError as error:
        total = total + len(str(error)) * x
    return total + weighted(items, x)


class Stock:
    def __init__(self):
        self.orders = []
        self.count = 0

    def order(self, amount, due):
        self.orders.append((due, amount))

    def arrived(self, today):
        total = 0.0
        for due, amount in [each for each in self.orders if each[0] == today]:
            total = total + amount
            self.count += 1
        self.orders.sort(key=lambda each: each[0])
        while self.orders and self.orders[0][0] <= today:
            self.orders.pop(0)
        return total


@program(X, N, features="a list that is a field")
def orders_that_arrive(x, n):
    stock = Stock()
    total = 1.0
    for day in range(2 * n):
        total = total * 0.9 + stock.arrived(day)
        stock.order(x * total, day + 1 + day % 3)
    return total * stock.count + sum(amount for _, amount in stock.orders)


class Particle:
    def __init__(self, place, speed, number):
        self.place, self.speed, self.number = place, speed, number


@program(X, N, features="objects that are taken out of a list")
def particles_that_leave(x, n):
    particles = [Particle(x * i, 1.0 + 0.1 * i, i) for i in range(n)]
    total = 0.0
    for step in range(3):
        for particle in particles:
            particle.place = particle.place + x * particle.speed
        for particle in list(particles):
            if (particle.number + step) % 4 == 1:
                total = total + particle.speed * particle.place
                particles.remove(particle)
        if len(particles) < 5:
            particles.insert(0, Particle(0.1 * x, x, 7))
    return total + sum(particle.place for particle in particles)


# Deques


@program(X, N, features="deque, both ends, rotated")
def turned_round(x, n):
    items = deque([x, x * x, 1.0])
    total = 0.0
    for i in range(n):
        items.appendleft(total * 0.3 + x * i)
        items.rotate(2 if i % 2 else -1)
        items.extendleft([x, 0.1 * i])
        total = total * 0.5 + items.pop() * items[0] + items.popleft()
        items[1] = x * total * 0.1
    items.reverse()
    return weighted(items, x) + total + max(items)


@program(X, N, features="deque, maxlen, at the front")
def window_from_the_front(x, n):
    items = deque(maxlen=3)
    total = 0.0
    for i in range(n):
        items.appendleft(x * i + total * 0.1)
        total = total + sum(items) / len(items)
    items.insert(1, x) if len(items) < 3 else items.rotate()
    return total + weighted(items, x)


# Heaps


@program(X, N, features="heapq, pairs")
def shortest_way(x, n):
    best = {0: 0.0}
    queue = [(0.0, 0)]
    done = set()
    while queue:
        length, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for step in (1, 3):
            other = (node + step) % (2 * n)
            way = length + math.sin(x * (node + step)) ** 2 + 0.1
            if other not in best or way < best[other]:
                best[other] = way
                heapq.heappush(queue, (way, other))
    return sum(best.values()) + len(done)


@program(X, N, features="heapq, numbers, equal ones")
def merged_by_twos(x, n):
    heap = [x * ((7 * i) % 4) for i in range(n)]
    heapq.heapify(heap)
    total = 0.0
    while len(heap) > 2:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        total = total + a * b * len(heap)
        heapq.heappush(heap, a + 2.0 * b)
    total = total + heapq.heapreplace(heap, x * x) * x + heapq.heappushpop(heap, 0.3 * x) + heap[0]
    return total + sum(heapq.nsmallest(2, heap)) + heapq.nlargest(1, heap, key=lambda v: -v)[0]


@program(X, N, features="heapq, the function that orders is the user's")
def ordered_by_a_class(x, n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, Ranked(x * ((7 * i) % n), i))
    return sum(heapq.heappop(heap).value * (i + 1) for i in range(n))


class Ranked:
    def __init__(self, value, rank):
        self.value, self.rank = value, rank

    def __lt__(self, other):
        return self.rank > other.rank


# Dicts and sets


@program(X, N, features="dict.pop, del, setdefault, popitem, update")
def keys_that_come_and_go(x, n):
    found = {i: x * i for i in range(n)}
    total = 0.0
    for i in range(2 * n):
        total = total * 0.8 + found.pop(i % 4, x) * i
        found[i % 5] = total * x
        if i % 3 in found:
            del found[i % 3]
        total = total + found.setdefault(i % 4, x * x)
        found.update({7: x * i, 1: total})
    key, last = found.popitem()
    found |= {9: last, 0: x}
    joined = found | {0: total}
    return total * key + sum((k + 1) * v for k, v in joined.items()) + sum(found.values())


@program(X, N, features="a loop over a dict that it writes into")
def faded(x, n):
    found = {"a": x, "b": x * x, "c": 1.0}
    found.pop("b")
    for i in range(n):
        found[f"k{i % 4}"] = x * i
        for key in found:
            found[key] = found[key] * 0.9
        for key, v in list(found.items()):
            if v > 2.0:
                del found[key]
    return sum(found[key] * (i + 1) for i, key in enumerate(sorted(found)))


@program(X, N, features="a dict that gets longer in a loop over it")
def changed_in_a_loop_over_it(x, n):
    found = {i: x * i for i in range(n)}
    total = 0.0
    try:
        for key in found:
            total = total + found.pop(key)
    except RuntimeError:
        total = total * x
    return total + sum(found.values())


@program(X, N, features="Counter, OrderedDict, defaultdict")
def counted_and_remembered(x, n):
    counts, recent, totals = Counter(), OrderedDict(), defaultdict(float)
    for i in range(2 * n):
        counts[i % 3] += x * i
        totals[i % 4] += counts[i % 3] * x
        recent[i % 5] = x * i
        recent.move_to_end(i % 5)
        if len(recent) > 3:
            totals[0] += recent.popitem(last=False)[1]
    totals.pop(1)
    missing = counts[17]
    return missing + sum(k * v for k, v in counts.items()) + weighted(list(recent.values()), x) + sum(totals.values())


@program(X, N, features="dict of lists")
def lists_by_keys(x, n):
    groups, others = defaultdict(list), {}
    for i in range(2 * n):
        groups[i % 3].append(x * i)
        others.setdefault(i % 2, []).append((x * i, i))
        if i > n:
            groups[i % 3].pop(0)
    for values in groups.values():
        values.sort(key=lambda v: -v)
    last = groups.pop(1)
    last.insert(0, x)
    groups[1].append(last[0])
    total = sum(weighted(groups[key], x) * (key + 1) for key in groups) + sum(last)
    return total + sum(v * k for pairs in others.values() for v, k in pairs)


@program(X, N, features="dict of lists, two names of one")
def lists_by_keys_given_on(x, n):
    groups = defaultdict(list)
    kept = []
    for i in range(n):
        groups[i % 2].append(x * i)
        kept.append(groups[0])
    for v in groups[0]:
        if len(groups[0]) < 8:
            groups[0].append(v * x + 1.0)
    return weighted(kept[0], x) + sum(groups.get(5, [x])) + len(groups)
