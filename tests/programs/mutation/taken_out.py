"""Objects, dicts and tuples in lists whose items change places, in heaps and in dicts of which keys are taken away."""

from __future__ import annotations

import heapq
from collections import OrderedDict, defaultdict, deque
from typing import Any

from tests.programs.mutation.table import program

X, N = 0.7, 4


class Job:
    def __init__(self, weight: Any, due: int = 0) -> None:
        self.weight, self.due = weight, due


class Ranked(Job):
    def __lt__(self, other: Any) -> Any:
        return self.weight < other.weight


class Named(Job):
    def __eq__(self, other: Any) -> Any:
        return self.due == other.due

    __hash__ = None  # type: ignore[assignment]


@program(X, N, features="objects in a list, remove, insert, sort")
def objects_change_places(x, n):
    jobs: list[Any] = []
    for i in range(n):
        jobs.insert(i // 2, Job(x * i + 1.0, i))
    second = jobs[1]
    jobs.remove(second)
    second.weight *= x
    jobs.sort(key=lambda job: -job.weight)
    jobs[0].weight += second.weight
    jobs.append(jobs.pop(0))
    del jobs[1:2]
    return sum(job.weight * (k + 1) for k, job in enumerate(jobs)) + second.weight


@program(X, features="objects in a list, one object twice")
def one_object_in_two_places(x):
    job, jobs = Job(x), []
    jobs.insert(0, job)
    jobs.insert(0, job)
    jobs[0].weight *= x
    jobs.remove(job)
    return jobs[0].weight + len(jobs)


@program(X, features="objects that say what == means, remove")
def removes_an_equal_one(x):
    jobs = [Named(x, 1), Named(x * x, 1), Named(2.0, 2)]
    second = jobs[1]
    jobs.remove(second)
    second.weight *= 3.0
    return jobs[0].weight * x + jobs[1].weight


@program(X, N, features="objects that say what < means, heap")
def heap_of_objects(x, n):
    jobs: list[Any] = []
    for i in range(n):
        heapq.heappush(jobs, Ranked(x * (n - i) if i % 2 else 1.0 + i, i))
    total = 0.0
    while jobs:
        job = heapq.heappop(jobs)
        total = total * x + job.weight * job.due
    return total


@program(X, N, features="tuples with objects, heap")
def heap_of_tuples_with_objects(x, n):
    jobs: list[Any] = []
    for i in range(n):
        heapq.heappush(jobs, (x * (n - i) if i % 2 else 1.0 + i, i, Job(x * i)))
    total = 0.0
    while jobs:
        when, number, job = heapq.heappop(jobs)
        total = total * x + job.weight * when + number
    return total


@program(X, N, features="objects in a dict, pop, setdefault, del")
def objects_under_keys(x, n):
    jobs = {i: Job(x * i + 1.0) for i in range(n)}
    taken = jobs.pop(2)
    taken.weight *= x
    jobs[n + 1] = taken
    jobs.setdefault(n + 2, Job(x)).weight += 1.0
    del jobs[0]
    jobs.pop(99, None)
    return sum(key * job.weight for key, job in jobs.items())


@program(X, N, features="objects in a dict of lists")
def objects_in_groups(x, n):
    groups = defaultdict(list)
    for i in range(2 * n):
        groups[i % 2].append(Job(x * i))
    groups[0][1].weight = 9.0 * x
    return sum(job.weight * (k + 1) for key in groups for k, job in enumerate(groups[key]))


@program(X, N, features="dicts in a list, remove")
def orders_that_come_in(x, n):
    stock, orders = 5.0, []
    for today in range(3 * n):
        for order in [each for each in orders if each["due"] == today]:
            stock += order["amount"]
            orders.remove(order)
        stock -= 1.0 + 0.1 * today * x
        if stock < 3.0 and not orders:
            orders.append({"due": today + 2, "amount": 6.0 * x - 0.1 * stock})
    return stock


@program(X, features="dicts in a list, remove, equal dicts")
def removes_the_first_equal_dict(x):
    orders = [{"due": 1, "amount": x}, {"due": 1, "amount": x}, {"due": 2, "amount": x * x}]
    second = orders[1]
    orders.remove(second)
    return orders[0]["amount"] * orders[1]["amount"] + second["amount"] * (orders[0] is second) + (orders[0] == second)


@program(X, features="dicts in a list, pop, append")
def shares_of_time(x):
    jobs, total = [{"name": "a", "left": 3.0 * x}, {"name": "b", "left": 2.0}], 0.0
    while jobs:
        job = jobs.pop(0)
        total += min(job["left"], 1.0) * x * len(jobs) + x
        rest = job["left"] - 1.0
        if rest > 0:
            jobs.append({"name": job["name"], "left": rest})
    return total


@program(X, features="dicts in a list, written into")
def dicts_in_a_list_are_written(x):
    jobs = [{"left": 3.0 * x}, {"left": 2.0}]
    total = 0.0
    while jobs:
        job = jobs[0]
        job["left"] -= 1.0
        total += job["left"] * x
        if job["left"] <= 0:
            jobs.remove(job)
        else:
            jobs.append(jobs.pop(0))
    return total


@program([1.0, 2.5, 0.5, 1.5, 3.0], features="shortest path, heap, dict, set")
def shortest_path(lengths):
    graph = {0: [(0, 1), (1, 2)], 1: [(2, 2), (3, 3)], 2: [(4, 3)], 3: []}
    best, queue, done = {0: 0.0}, [(0.0, 0)], set()
    while queue:
        distance, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for edge, other in graph[node]:
            candidate = distance + lengths[edge] * (1.0 + 0.1 * node)
            if other not in best or candidate < best[other]:
                best[other] = candidate
                heapq.heappush(queue, (candidate, other))
    return sum(best.values()) + max(best.values()) * min(lengths)


@program(X, N, features="least recently used, OrderedDict")
def least_recently_used(x, n):
    recent: Any = OrderedDict()
    total = 0.0
    for key in [1, 2, 3, 1, 4, 2, 5, 1][: 2 * n]:
        if key in recent:
            recent.move_to_end(key)
            total += recent[key] * x
        else:
            recent[key] = x * key + 1.0
            if len(recent) > 3:
                recent.popitem(last=False)
    return total + sum(recent.values())


@program(X, features="an exception half way")
def taken_away_before_an_exception(x):
    values, total = [x, 2.0 * x, 3.0], 0.0
    for i in range(5):
        try:
            total = total * x + values.pop(0)
            if i == 1:
                values.insert(0, total)
                values.remove(99.0)
        except ValueError:
            total += values[0]
        except IndexError:
            total += x
    return total


@program(X, N, features="a rotated deque of objects")
def turns(x, n):
    players: Any = deque()
    for i in range(n):
        players.append(Job(x * i + 1.0))
    for _ in range(2 * n):
        players[0].weight *= x
        players.rotate(-1)
        players.appendleft(players.pop())
        players.rotate(1)
    return sum(player.weight * (k + 1) for k, player in enumerate(players))


@program(X, N, features="buffers that inner loops only read")
def read_in_an_inner_loop(x, n):
    values, others, total = [x], [1.0 + x], 0.0
    for i in range(n):
        value = values[i] * others[-1]
        for k in range(2):
            values.append(value * k + x)
            total += others[0] * values[k]
        others[0] = total * 0.1
    return total + sum(values) * others[0]
