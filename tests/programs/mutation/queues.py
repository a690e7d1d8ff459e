"""Deques that a function makes for itself, and what looks like it."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 4


@program(X, N, features="deque")
def waiting_in_line(x, n):
    waiting = deque()
    total, done = 0.0, 0
    for i in range(3 * n):
        waiting.append(x * (i + 1))
        waiting.extend([x * x, 0.1 * i])
        while len(waiting) > 2:
            came = waiting.popleft()
            done += 1
            total = total + came * waiting[0] * done + waiting[-1]
    while waiting:
        total = total * 0.5 + waiting.popleft() * x
    if not waiting:
        total = total + x
    return total + len(waiting)


@program(X, N, features="deque, maxlen")
def echo_of_a_line(x, n):
    delay = deque([x] * 2, maxlen=3)
    total = 0.0
    for i in range(2 * n):
        total = total + delay[0] * delay[-1] * len(delay)
        delay.append(0.5 * math.sin(0.3 * total + i * x))
        late = delay.popleft() if i % 3 == 0 else delay[1]
        total = total + 0.5 * late
    return total + sum(delay) + sum(v * v for v in delay)


@program(X, N, features="deque, maxlen that is computed")
def window_of_computed_length(x, n):
    window = deque([x, 2.0 * x, 0.3, x * x, 0.7], maxlen=n - 2)
    means = []
    for i in range(n):
        window.append(window[0] * x + i)
        means.append(sum(window) / len(window))
    return sum(means) * window[1]


@program(X, N, features="deque, both ends")
def popped_at_both_ends(x, n):
    items = deque([x, x * x])
    total = 0.0
    for i in range(2 * n):
        items.append(x * i + total)
        last = items.pop()
        items.append(last * 0.5)
        items.append(math.cos(last))
        total = total + 0.1 * items.pop() * items[-1]
        if i % 2:
            total = total + items.popleft() * items[0]
    items.clear()
    items.append(total)
    return items.pop() * len(items) + total * total


@program(X, N, features="deque, pushed at the front")
def pushed_at_the_front(x, n):
    items = deque([x])
    for i in range(n):
        items.appendleft(items[-1] * x + i)
    items.rotate(1)
    return sum((i + 1) * v for i, v in enumerate(items))


@program(X, N, features="deque, left by break")
def queue_read_until(x, n):
    items = deque(x * i for i in range(2 * n))
    total = 0.0
    for v in items:
        if v > 2.9:
            break
        total = total + v * v
    return total + items[2]


@program(X, N, features="deque, written by place")
def queue_written_by_place(x, n):
    items = deque([x, 1.0, x * x])
    items[1] = x * items[2] * n
    return sum(v * v for v in items)


@program(X, N, features="deque, given on")
def queue_given_on(x, n):
    items = deque([x * i for i in range(n)])
    fill(items, x)
    return drained(items) + float(np.sum(np.array(items))) + x


def fill(items, x):
    while len(items) < 8:
        items.append(items[0] + x * len(items))


def drained(items):
    total = 0.0
    while items:
        total = total * 0.9 + items.popleft()
    return total


@program(X, N, features="deque, in two variables")
def queue_by_two_names(x, n):
    first = deque([x])
    second = first if n > 2 else deque()
    second.append(x * x)
    first.append(3.0 * x)
    return first[1] * second[-1] * len(first)


class Line:
    def __init__(self, length):
        self.waiting = deque(maxlen=length)
        self.served = 0.0

    def push(self, v):
        if len(self.waiting) == 3:
            self.served += self.waiting.popleft()
        self.waiting.append(v)


@program(X, N, features="deque, field of an object")
def line_of_an_object(x, n):
    line = Line(3)
    for i in range(2 * n):
        line.push(x * i + line.served)
    return line.served * line.waiting[0]


@program(X, N, features="deque, pairs")
def walk_of_a_graph(x, n):
    queue = deque([(0, x)])
    reached = {0: x}
    total = 0.0
    while queue:
        node, length = queue.popleft()
        total = total + length * length
        for other in (2 * node + 1, 2 * node + 2):
            if other < 2 * n and other not in reached:
                reached[other] = length * (1.0 + x * other)
                queue.append((other, reached[other]))
    return total + reached[n]


@program(X, N, features="deque, try")
def popped_until_empty(x, n):
    items = deque([x * (i + 1) for i in range(n)])
    total = 0.0
    try:
        for _ in range(n + 1):
            total = total + items.popleft() ** 2
    except IndexError:
        total = total * x
    return total


@program(X, N, features="deque, asked what it is")
def queue_asked_what_it_is(x, n):
    items = deque([x, x * x])
    items.append(x * n)
    known = isinstance(items, deque) and type(items) is deque and hasattr(items, "popleft")
    return items.popleft() * (2.0 if known else 3.0) + (5.0 * x if x in items else items[1])


# Lists of which items are taken away


@program(X, N, features="list.pop")
def stack_machine(x, n):
    stack = []
    for step in ["x", "x", "*", "n", "+", "x", "-", "x", "x", "+", "*"]:
        if step == "x":
            stack.append(x)
        elif step == "n":
            stack.append(1.0 * n)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if step == "*" else a + b if step == "+" else a - b)
    assert len(stack) == 1
    return stack[-1] * stack.pop()


@program(X, N, features="list.pop, a walk in depth")
def walk_in_depth(x, n):
    stack = [(1, x)]
    total = 0.0
    while stack:
        node, weight = stack.pop()
        total += weight * weight
        for other in (2 * node, 2 * node + 1):
            if other < 3 * n:
                stack.append((other, weight * (1.0 + x / other)))
    return total


@program(X, N, features="list.pop, from the front")
def line_as_a_list(x, n):
    line = [x * i for i in range(n)]
    total = 0.0
    while len(line) > 1:
        first = line.pop(0)
        line[0] = line[0] + first * x
        total = total + first * line[-1] * len(line)
        if first < 0.5:
            line.append(first + 1.0)
            line.extend([0.1 * first])
            line.pop(-1)
    return total + sum(line) + sum([v * x for v in line])


@program(X, N, features="list.pop, over what is shortened")
def shortened_while_read(x, n):
    items = [x, x * x, 0.5, 2.0 * x, 1.0, x + 3.0]
    total = 0.0
    for i, v in enumerate(items):
        total = total + v * i
        if i % 2 == 0:
            total = total * items.pop()
    return total * len(items) + items[0]


@program(X, N, features="list.pop, given on")
def shortened_and_given(x, n):
    items = [x, x * x, x + n]
    items.pop(0)
    return float(np.sum(np.array(items) ** 2)) + sum(items[1:])


@program(X, N, features="list.pop, by place, insert, remove")
def taken_out_of_the_middle(x, n):
    items = [x, x * x, 3.0 * x, 0.5]
    items.insert(1, x + 1.0)
    taken = items.pop(2)
    items.remove(0.5)
    return taken * items[1] + sum(items)


@program(X, N, features="list.extend, +=")
def lists_made_longer(x, n):
    items = [x]
    for i in range(n):
        items.extend([items[-1] * x, 0.5 * i])
        items += [x * v for v in items[:2]]
    items.extend(map(math.sin, items[:3]))
    items += items[:1]
    return sum((i + 1) * v for i, v in enumerate(items))


@program(0.7, 4, features="deque, del")
def deleted_from_a_deque(x, n):
    states, noted = deque([x, x * x, 2.0 * x, 0.5]), {}
    noted["states"] = states
    for k in range(n):
        states.append(states[0] * states[-1])
        del states[k % 2]
        del noted["states"][-2]
        states.appendleft(x * k)
    return sum((k + 1) * v for k, v in enumerate(states)) * states.count(states[0]) + x * states.index(states[-1])
