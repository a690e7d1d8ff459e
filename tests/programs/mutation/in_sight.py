"""Memory that a function makes for itself (objects, lists, dicts, cells, generators), and what looks like it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 6


class Spring:
    def __init__(self, stiffness):
        self.x = 1.0
        self.v = 0.0
        self.stiffness = stiffness

    @property
    def energy(self):
        return 0.5 * self.v**2 + 0.5 * self.stiffness * self.x**2

    @property
    def momentum(self):
        return self.v

    @momentum.setter
    def momentum(self, value):
        self.v = value
        self.x = self.x * 0.9

    def acceleration(self):
        return -self.stiffness * self.x

    def step(self, dt):
        self.v += self.acceleration() * dt
        self.x += self.v * dt
        return self


@program(X, N, features="object")
def oscillates(stiffness, steps):
    spring, total = Spring(stiffness), 0.0
    for _ in range(steps):
        spring.step(0.1).step(0.05)
        total += spring.energy
    spring.momentum = total * spring.momentum
    return spring.x + spring.v


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def norm2(self):
        return self.x**2 + self.y**2


@program(X, N, features="object, operators")
def orbits(pull, steps):
    p, v = Vector(1.0, 0.0), Vector(0.0, 1.0)
    for _ in range(steps):
        v = v + p * (-pull / p.norm2()) * 0.1
        p = p + v * 0.1
    return p.x * v.y


@program(X, N, features="object, operators")
def adds_in_place_to_one_of_two_names(x, steps):
    p = Vector(x, 1.0)
    q = p
    for _ in range(steps):
        q += Vector(x, x * x)
    return p.x * p.y


class Base:
    scale = 2.0

    def __init__(self, k):
        self.k = k

    def f(self, x):
        return self.k * x * self.scale


class Derived(Base):
    def __init__(self, k, b):
        super().__init__(k)
        self.b = b

    def f(self, x):
        return super().f(x) + self.b

    def __call__(self, x):
        return self.f(x)


@program(X, N, features="object, super")
def inherits(x, steps):
    derived, total = Derived(x, x * x), 0.0
    for i in range(steps):
        total += derived(0.1 * i)
        if i == 3:
            derived.scale = x
    return total


@dataclass
class Point:
    x: float
    y: float = 0.5
    path: list = field(default_factory=list)

    def __post_init__(self):
        self.r = self.x * self.y

    def move(self, d):
        if d > 0.25:
            self.x += d
            return self.x
        self.path.append(self.x)
        return -d


@program(X, N, features="dataclass")
def moves(x, steps):
    point, total = Point(x), 0.0
    for i in range(steps):
        total += point.move(x * 0.1 * i)
    return total * point.r + sum(point.path)


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 2.0


@program(X, N, features="dataclass")
def replaces_frozen(x, steps):
    state = Frozen(x)
    for _ in range(steps):
        state = Frozen(state.a * 0.9, state.b + x)
    return replace(state, a=x).a * state.a * state.b


class State(NamedTuple):
    x: float
    v: float = 1.0

    def energy(self):
        return self.x**2 + self.v**2


@program(X, N, features="namedtuple")
def integrates_records(k, steps):
    s, seen = State(1.0), []
    for _ in range(steps):
        s = State(s.x + s.v * 0.1, s.v - k * s.x * 0.1)
        x, v = s
        s = s._replace(v=v * 0.99 + s[0] * x * 0.01)
        seen.append(s)
    return s.energy() + seen[2].x


class Held:
    def __init__(self, v):
        self.v = v


@program(X, N, features="object")
def older_object_of_the_same_line(x, steps):
    before, now = Held(0.0), Held(x)
    for _ in range(steps):
        after = Held(now.v * x)
        before.v = before.v + 1.0
        before, now = now, after
    return before.v * now.v


@program(X, N, features="object")
def swaps(x, steps):
    a, b = Held(x), Held(2.0 * x)
    for _ in range(steps):
        a, b = b, a
        a.v = a.v * 0.5 + b.v
    return a.v - 0.3 * b.v


@program(X, N, features="object")
def one_of_two(x, steps):
    a, b = Held(x), Held(2.0 * x)
    chosen = a if steps > 3 else b
    chosen.v = chosen.v * x
    return a.v + 3.0 * b.v


@program(X, N, features="object")
def leaves_the_loop_with_an_object(x, steps):
    found, first = None, Held(x)
    for i in range(steps):
        found = Held(x * i)
        if i == 3:
            break
        first.v += found.v
    found.v = found.v * first.v
    return found.v


@program(X, N, features="object, try")
def caught_after_half_a_write(x, steps):
    held = Held(x)
    for i in range(steps):
        try:
            held.v = held.v * 0.9
            if i == 2:
                raise ValueError
            held.v = held.v + x
        except ValueError:
            held.v = held.v * 2.0
    return held.v


@program(X, N, features="object")
def fields_asked_for_by_name(x, steps):
    held = Held(x)
    for name in ("v", "w"):
        setattr(held, name, x * steps)
    held.u = 2.0 if hasattr(held, "u") else 3.0
    return held.v * getattr(held, "w") * held.u + getattr(held, "missing", x)  # noqa: B009


class Counts:
    def __init__(self, limit):
        self.n, self.limit, self.total = 0, limit, 0.0

    def more(self, x):
        self.n += 1
        self.total += x * self.n
        return self.n < self.limit


@program(X, N, features="object")
def condition_that_writes(x, steps):
    counts = Counts(steps)
    while counts.more(x):
        counts.total *= 0.9
    return counts.total


def doubles(held):
    held.v = held.v * 2.0
    return held


def halves_twice(held, depth):
    held.v = held.v * 0.5
    return held if depth == 0 else halves_twice(held, depth - 1)


@program(X, N, features="object, call")
def given_to_functions(x, steps):
    held = Held(x)
    for _ in range(steps):
        doubles(held).v += x
    return halves_twice(doubles(held), 1).v


@program(X, N, features="object")
def object_is_returned_in_part(x, steps):
    held = Held([x, 2.0 * x])
    other = held.v
    for i in range(steps):
        other.append(held.v[i] * x)
    return other[-1] + len(held.v) * held.v[2]


@program(np.array([0.3, -1.2]), N, features="object, array")
def two_fields_with_one_array(w, steps):
    a, b = Held(w * 1.0), Held(None)
    b.v = a.v
    for _ in range(steps):
        a.v *= 0.9
        b.v[0] += w[1]
    return np.sum(a.v * b.v)


@program(np.array([0.3, -1.2]), N, features="object, array")
def array_field_is_bound_again(w, steps):
    a = Held(w * 2.0)
    first = a.v
    for _ in range(steps):
        a.v = np.tanh(a.v) + w
    return np.sum(first * a.v)


class Agent:
    def __init__(self, p):
        self.p = p
        self.v = 0.0

    def step(self, other, dt):
        self.v += (other.p - self.p) * dt
        self.p += self.v * dt

    @property
    def energy(self):
        return 0.5 * self.v * self.v


@program(X, N, features="objects in a list")
def follows_the_next(x, steps):
    agents = [Agent(x * i) for i in range(5)]
    for _ in range(steps):
        for i, agent in enumerate(agents):
            agent.step(agents[(i + 1) % len(agents)], 0.1)
    return sum(agent.energy for agent in agents) + agents[-1].p


@program(X, N, features="objects in a list")
def written_by_name_and_in_the_list(x, steps):
    first, second = Agent(x), Agent(2.0 * x)
    agents = [first, second]
    for i in range(steps):
        for agent in agents:
            agent.p = agent.p * 0.9 + x * i
        first.p += second.p * 0.1
    agents[0].v = agents[1].p
    return first.p * first.v


@program(X, N, features="objects in a list")
def list_of_objects_grows(x, steps):
    agents = []
    for i in range(steps):
        agent = Agent(x * i)
        agent.v = x
        agents.append(agent)
        agent.p = agent.p * 2.0
        for other in agents:
            other.p += 0.1 * x
    return sum(agent.p * k * agent.v for agent, k in zip(agents, range(100), strict=False))


@program(X, N, features="objects in a list")
def one_object_twice_in_a_list(x, steps):
    agent = Agent(x)
    agents = [agent, Agent(1.0), agent]
    for _ in range(steps):
        for each in agents:
            each.p = each.p * x + 1.0
    return agents[0].p + agents[2].p * agents[1].p


@program(X, N, features="objects in a list")
def list_of_objects_is_sorted(x, steps):
    agents = [Agent(x * (3 - i)) for i in range(4)]
    agents.sort(key=lambda agent: agent.p)
    for i, agent in enumerate(agents[1:]):
        agent.p += x * i * steps
    return agents[1].p * agents[3].p


@program(X, N, features="list")
def grows(x, steps):
    values = [x]
    for i in range(steps):
        values.append(math.sin(values[-1]) * x)
        if i % 2:
            values[i] = values[i - 1] * 2.0
            values[-1] = values[-2] * values[0]
    return sum(values) + values[3]


@program(X, N, features="list")
def changes_places(x, steps):
    a = [0.0] * (steps + 2)
    for i in range(steps):
        a[i] = x * i + a[i - 1] * 0.5
        a[-1] = a[i] * x
    return a[0] + a[-1] + a[3]


@program(X, N, features="list")
def grows_on_some_paths(x, steps):
    out = []
    for i in range(steps):
        if i % 3 == 0:
            out.append(x * i)
        elif i % 3 == 1 and out:
            out[-1] = out[-1] * x
        else:
            continue
        if len(out) > 3:
            break
    return sum(v * v * k for k, v in enumerate(out)) + (out[-1] if out else x)


@program(X, N, features="list")
def two_names_of_one_list(x, steps):
    a = b = [x]
    c = list(a)
    for _ in range(steps):
        a.append(b[-1] * x)
        c.append(a[-1] + b[0])
    return b[-1] + c[-1] * c[0]


@program(X, N, features="list")
def read_from_both_ends_and_in_part(x, steps):
    values = []
    for i in range(steps):
        values.append(x * i)
        values.append(sum(values[-3:]) * 0.5)
    return sum(values[2:7]) + values[-4] * values[1] + sum(v * k for k, v in enumerate(reversed(values)))


@program(X, N, features="list")
def written_while_it_is_read(x, steps):
    values = [x * i for i in range(steps)]
    total = 0.0
    for i, value in enumerate(values):
        values[(i + 2) % steps] = value * 0.5 + x
        total += value * value
    return total


@program(X, N, features="list")
def grows_while_it_is_read(x, steps):
    values = [x]
    for value in values:
        if len(values) < steps:
            values.append(value * 0.9 + x)
    return sum(values) * values[-1]


@program(X, N, features="list")
def rows_of_a_table(x, steps):
    rows = [[0.0] * steps for _ in range(steps)]
    for i in range(steps):
        for j in range(steps):
            rows[i][j] = x * i * j + (rows[i - 1][j] if i else 0.0) * 0.5
    return rows[-1][-1] + rows[1][2]


@program(X, N, features="list")
def one_row_many_times(x, steps):
    rows = [[0.0] * 2] * 3
    rows[0][1] = x * steps
    return rows[2][1] * rows[1][1]


@program(np.array([[0.3, -1.2], [0.7, 0.1]]), N, features="list, array")
def states_are_collected(w, steps):
    h, states = np.ones(2), []
    for i in range(steps):
        h = np.tanh(w @ h + 0.1 * i)
        states.append(h)
    return np.sum(np.stack(states) ** 2) + states[1][0]


@program(np.array([0.3, -1.2]), N, features="list, array")
def collected_arrays_are_written(w, steps):
    states = []
    for i in range(steps):
        states.append(w * i)
    states[2][0] = w[1] * w[1]
    states[3] += states[2]
    return np.sum(states[3] * states[2])


@program(X, N, features="dict")
def counts_by_name(x, steps):
    totals = {"up": 0.0, "down": x}
    for i in range(steps):
        if i % 2:
            totals["up"] += x * i
        else:
            totals["down"] *= 0.9 + x
    totals["all"] = totals["up"] * totals["down"]
    return totals["all"] + sum(totals.values())


@program(X, N, features="dict")
def some_paths_have_the_key(x, steps):
    found = {"a": x}
    for i in range(steps):
        if i == 2:
            found["b"] = found["a"] * x
        found["a"] = found["a"] + found.get("b", 1.0)
    return found["a"] * ("b" in found)


@program(X, N, features="closure, cells")
def counts_in_a_closure(x, steps):
    total, count = 0.0, 0

    def add(v, scale=0.9):
        nonlocal total, count
        count += 1
        total = total * scale + v * x
        return total

    for i in range(steps):
        add(x * i)
        if i == 3:
            add(total, scale=x)
    return total / count


@program(X, N, features="closure, cells")
def closure_in_a_closure(x, steps):
    def outer(a):
        b = a

        def inner(c):
            nonlocal b
            b = b * c
            return b

        return inner(x) + inner(a)

    return sum(outer(0.1 * i + x) for i in range(steps))


@program(X, N, features="closure, cells")
def closure_is_kept(x, steps):
    last = x
    calls = []

    def push():
        nonlocal last
        last = last * x
        return last

    for _ in range(steps):
        calls.append(push)
    return calls[0]() + calls[1]() * last


def samples(rate, count):
    v = 1.0
    for i in range(count):
        v = v * rate
        if i == 4:
            yield v * 2.0
        yield v


@program(X, N, features="generator")
def sums_samples(rate, count):
    total = 0.0
    for k, v in enumerate(samples(rate, count), 1):
        if k % 2:
            continue
        total += v * k
    return total + sum(v * v for v in samples(rate, count)) + sum(samples(rate, 2))


@program(X, N, features="generator")
def generator_is_used_up_once(rate, count):
    values = samples(rate, count)
    first = list(values)
    return sum(first) + len(list(values)) + first[-1] * sum(v for v in values)


@program(X, N, features="generator")
def generator_is_left(rate, count):
    total, values = 0.0, samples(rate, count)
    for v in values:
        total += v
        if total > 1.0:
            break
    return total + next(values)


def pairs(held, count):
    for i in range(count):
        held.v = held.v * 0.9
        yield held.v * i, held


@program(X, N, features="generator")
def generator_and_loop_write_one_object(x, count):
    held, total = Held(x), 0.0
    for value, same in pairs(held, count):
        same.v += value * x
        total += held.v
    return total


class Scaled:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __mul__(self, k):
        return Scaled(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __rsub__(self, other):
        return Scaled(other - self.x, other - self.y)

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


@program(X, N, features="object, operators")
def numbers_on_the_left(x, steps):
    v, share = Scaled(x, 1.0), 0.5
    for i in range(steps):
        v = 3.0 / (1.0 + v.norm()) * v
        v = x * (i - v) if i % 2 else share * v
        share = share * x
    return v.x * v.y


@program(np.array([0.4, -0.8]), N, features="object, operators")
def array_on_the_left_later(w, steps):
    v, k = Scaled(1.0, 2.0), 0.5
    for i in range(2):
        v = (k * v) if i == 0 else v * w[0]
        k = w
    return v.x * v.y + np.sum(k) * steps


def make_counter(rate):
    total = 0.0

    def add(v):
        nonlocal total
        total = total * rate + v
        return total

    return add


def make_scaled(x):
    return Scaled(x, x * x)


@program(X, N, features="closure, cells")
def made_by_factories(rate, steps):
    add, other = make_counter(rate), make_counter(rate * rate)
    scaled = make_scaled(rate)
    for i in range(steps):
        scaled.x += add(rate * i) * other(scaled.y)
    return scaled.norm() + add(1.0)
class Switch:
    v = 1.0


@program(X, N, features="object")
def object_without_fields_before_a_branch_and_a_loop(x, steps):
    first, second = Switch(), Switch()
    if steps > 3:
        first.v = x * x
    for i in range(steps):
        second.v = second.v * x + i
    return first.v * second.v


@program(X, N, features="objects in a list")
def object_goes_into_a_list_on_one_path(x, steps):
    held, every = Held(x), [Held(1.0)]
    if steps > 3:
        every.append(held)
    held.v = held.v * 2.0
    return sum(each.v for each in every) + held.v


@program(X, N, features="objects in a list")
def best_one_is_written_in_the_list(x, steps):
    best, every = Held(0.0), []
    for i in range(steps):
        one = Held(x * i)
        if one.v > best.v:
            best = one
        every.append(one)
    for each in every:
        each.v = each.v * x
    return best.v


@program(X, N, features="objects in a list")
def others_than_itself(x, steps):
    agents, total = [Agent(x * i) for i in range(steps)], 0.0
    for a in agents:
        for b in agents:
            if a is not b:
                a.v += (b.p - a.p) * x
    for i in range(steps):
        total += agents[i].v * i if agents[-1] is agents[i] else agents[i - 1].v
    return total + (x if agents[0] is agents[0] else 0.0) + (10.0 if agents[1] is not agents[1] else 0.0)


@program(X, N, features="objects in a list")
def last_one_while_the_list_grows(x, steps):
    agents, total = [Agent(x)], 0.0
    for i in range(steps):
        last, other = agents[-1], agents[i - 1]
        agents.append(Agent(x * i))
        last.p += other.p * x
        total += last.p
    return total * agents[0].p


class Reader:
    def __init__(self, v, held):
        self.v, self.held = v, held
        self.items = []


def makes_one(cls, held):
    return cls(held.v, held)


def asks(function, reader):
    reader.items.append(reader.v)
    return function(reader.items)


@program(X, N, features="object, call")
def classes_and_functions_as_arguments(x, steps):
    held = Held(x)
    reader = makes_one(Reader, held)
    reader.held.v = reader.v * steps
    return asks(len, reader) * held.v + asks(sum, reader)


class Ring:
    def __init__(self, v):
        self.v, self.next = v, self


@program(X, N, features="object")
def objects_that_hold_themselves(x, steps):
    ring = Ring(x)
    for _ in range(steps):
        ring = Ring(ring.next.v * x + 1.0)
    other = Ring(x) if steps > 3 else ring
    return ring.next.v * other.next.v


class Amount:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Amount(self.v + other.v)

    def __lt__(self, other):
        return self.v < other.v


class Debt(Amount):
    def __radd__(self, other):
        return Amount(self.v * other.v * 3.0)

    def __gt__(self, other):
        return other.v > 100.0


@program(X, N, features="object, operators")
def operators_of_a_derived_class_come_first(x, steps):
    total = Amount(x) + Debt(x * steps)
    return total.v * (2.0 if Amount(x) < Debt(x + 1.0) else x)


@program(X, N, features="dict")
def one_dict_in_two_places(x, steps):
    found = {"a": x}
    for _ in range(steps):
        found["a"] = found["a"] * 0.9 + x
    places = [found, found]
    return found["a"] * (x if places[0] is places[1] else 1.0)


@program(X, N, features="namedtuple")
def one_record_in_two_places(x, steps):
    state = State(x)._replace(v=x * steps)
    places = (state, state)
    return state.energy() * (x if places[0] is places[1] else 1.0)


def values_until_caught(x):
    try:
        yield x
        yield x * x
    except ValueError:
        pass


@program(X, N, features="generator, try")
def generator_does_not_catch_what_the_loop_raises(x, steps):
    result = x
    try:
        for value in values_until_caught(x):
            result = value * steps
        for value in values_until_caught(x):
            if value > 100.0:
                raise ValueError
    except ValueError:
        result = 2.0
    return result * x


@dataclass(order=True)
class Ranked:
    a: float
    b: float = 2.0


@program(X, N, features="dataclass")
def dataclasses_with_an_order(x, steps):
    p, q = Ranked(x), Ranked(x * steps)
    p.b = x
    return p.a * p.b if p < q else q.a


@program(X, N, features="closure, object")
def closure_that_calls_itself(x, steps):
    held = Held(x)

    def again(depth):
        held.v *= x + 0.5
        if depth:
            again(depth - 1)

    again(steps)
    return held.v


@program(X, N, features="list")
def copies_of_lists_grow(x, steps):
    first, other = [x, x * x], [1.0, x]
    copied, joined = list(first), first + other
    for _ in range(steps):
        copied.append(copied[-1] * x)
        joined.append(joined[-1] * x)
    return copied[-1] * copied[0] + joined[-1] * joined[3] + first[0]


def taken(agents, i):
    if i > 100:
        raise ValueError("there are not as many")
    else:
        agent = agents[i]

        def pulls(k):
            agent.v += k * i

    return agent, pulls


@program(X, N, features="objects in a list, closure")
def made_where_the_other_path_raises(x, steps):
    agents = [Agent(x), Agent(x * x)]
    for i in range(2):
        agent, pulls = taken(agents, i)
        pulls(x * steps)
        agent.v += agent.p
    return agents[0].v * agents[1].v


@program(X, N, features="dict")
def equal_keys_of_other_types(x, steps):
    d = {1: x, True: x * x, 2: steps}  # noqa: F601
    return d[1] * len(d) + d[2.0]


@program(X, N, features="list")
def truth_values_among_numbers(x, steps):
    values = [True, steps, x]
    for i in range(2):
        values.append(values[i] * values[-1])
        values[1] = values[0] * x
    values[0] = x > 0.0
    return sum(values) + values[0] * values[3] * x


@program(X, N, features="dict, list")
def dict_with_a_list_in_two_places(x, steps):
    items = [x, 1.5]
    table = {"v": x * steps, "a": items, "b": items}
    values = table.values()
    table["a"][:] = [x * x, x, 2.0]
    return sum(sum(v) if isinstance(v, list) else v for v in values) * items[0]
