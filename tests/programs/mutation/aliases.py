"""Several names and places of one thing: what a plan of where cotangents are kept gets wrong first."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import V3, V4, K, program


class Box:
    def __init__(self, value, other=None):
        self.value, self.other = value, other


class Doubling:
    """Reading `value` writes."""

    def __init__(self, value):
        self.log, self.own = [], value

    @property
    def value(self):
        self.log.append(self.own)
        self.own = self.own * 2.0
        return self.own


@program(V3, features="one array in two fields")
def two_fields_with_one_array(x):
    u = x * 2.0
    box = Box(u, u)
    box.value[0] = x[1] * x[2]
    box.other[1] *= box.value[0]
    return np.sum(u * box.value)


@program(K, features="one cotangent for many items")
def one_number_in_many_places(x):
    y = x * x
    items = [y, y, y]
    items[1] *= x
    table = dict.fromkeys("abc", items[1])
    table["a"] = table["b"] * items[0]
    return sum(items) + sum(table.values())


@program(V3, features="alias, rebinding")
def old_name_after_rebinding(x):
    u = x * 2.0
    old = u
    u = u + 1.0
    u[0] = x[1] * x[2]
    old[1] = u[0] * x[0]
    u = old
    u[2] *= x[0]
    return np.sum(old * u) + np.sum(u)


@program(K, features="objects of one place in the program")
def older_object_of_the_same_place(x):
    made = []
    previous = None
    for k in range(3):
        box = Box(x * k, previous)
        if previous is not None:
            previous.value += box.value * x
        made.append(box)
        previous = box
    made[0].value *= made[1].value + 1.0
    return made[2].other.other.value * made[2].value


def both_or_neither(box, x):
    box.value = x * x
    if x > 0.0:
        raise ValueError(x)
    box.other = x


@program(K, features="exception between two writes")
def raise_after_half_a_write(x):
    box = Box(x, x)
    try:
        both_or_neither(box, x * 2.0)
    except ValueError:
        box.other *= box.value
    return box.value * box.other


def running(items):
    for i in range(len(items)):
        yield items[i] * items[0]


@program(V4, features="generator, write between two steps")
def write_between_two_steps(x):
    items = [a * 2.0 for a in x]
    steps = running(items)
    first = next(steps)
    items[0] = first * x[1]
    items[1] *= items[0]
    second = next(steps)
    items[2] = second
    return first + second * next(steps)


@program(K, features="property that writes")
def property_that_writes(x):
    box = Doubling(x)
    y = box.value * box.value
    return y + box.own * sum(box.log)


def counted(v, box=Box(1.0)):  # noqa: B008 - what people write
    box.value = v * v
    return box


@program(K, features="object as a default")
def object_as_a_default(x):
    first = counted(x)
    y = first.value
    second = counted(x + 1.0)
    return y * first.value * second.value


def both(p, q):
    p.value = p.value * 2.0
    q.value = q.value * p.value
    return p.value * q.value


@program(K, features="one object as two arguments")
def one_object_given_twice(x):
    p = Box(x)
    y = both(p, p)
    return y + both(p, Box(p.value * x))


@program(V3, features="field rebound, view written in place")
def field_rebound_beside_a_view(x):
    box = Box(x * 2.0)
    view = box.value[:2]
    box.value = box.value * x
    view *= x[2]
    view[0] += box.value[1]
    box.value[1:] -= view
    return np.sum(box.value) * np.sum(view)


POINT = (0.6, 1.3)


@program([POINT, POINT, (0.2, -0.7)], features="one tuple at two places of an argument")
def one_tuple_in_two_places(points):
    points.append((1.0, 2.0))
    return sum(p[0] * q[1] for p, q in zip(points, points[1:]))


@program(K, features="one tuple at several places, operators, methods")
def one_tuple_stored_several_times(x):
    pair = (x, x * x)
    pairs = [pair] * 2
    pairs.append((1.0, x))
    pairs.extend([pair, pair])
    pairs[:1] = [pair, pair]
    table = {"a": pair} | {"b": pair}
    table.update(c=pair, d=pair)
    return pairs[1][0] * pairs[2][1] + pairs[4][1] * pairs[5][0] + table["a"][1] * table["b"][0] + table["c"][0] * table["d"][1]


@program(V3, features="one list twice in what NumPy is given")
def one_row_twice_in_an_array(x):
    row, other = [x[0], x[1] * x[2]], [1.0]
    other.append(x[2])
    m = np.array([row, row, other])
    m[0] = m[1] * m[2]
    return np.sum(m * m) + np.sum(np.stack([row, row])) * np.mean((row, other, row))


@program(V3, features="one list twice in what is returned")
def one_row_twice_in_the_value(x):
    row, pair = [x[0], x[1] * x[2]], (x[1], x[0] * x[0])
    row[1] *= x[0]
    return [row, row, pair, (row, pair)]


@program(K, features="sum of one list twice, copies")
def one_list_added_twice(x):
    row, pair = [1.25], (x, x * x)
    rows = sum([row, row], [])
    rows[1] *= x
    pairs = [*[pair], *[pair]].copy()
    pairs.append(pair)
    return rows[0] * rows[1] * pairs[0][0] * pairs[1][1] + pairs[2][0]


@program(K, features="list that holds itself, operators")
def list_that_holds_itself(x):
    ring = [x]
    ring.append(ring)
    both = ring + [1.0]
    ring[0] *= x
    return both[1][1][0] * both[0]
