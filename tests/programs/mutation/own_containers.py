"""Lists, dicts and deques of classes of the user's that write in their own way, and ask the builtin class in turn."""

from __future__ import annotations

from collections import ChainMap, UserDict, deque
from collections.abc import Mapping, Sequence

import numpy as np

from tests.programs.mutation.table import V3, K, program


class DoublingList(list):
    def append(self, value):
        super().append(value * 2.0)

    def insert(self, index, value):
        super().insert(index, value * 3.0)

    def pop(self, *index):
        return super().pop(*index) * 0.5

    def __setitem__(self, index, value):
        super().__setitem__(index, value * 2.0)

    def __iadd__(self, more):
        return super().__iadd__([value * 1.5 for value in more])


class ScaledItems(list):
    def extend(self, more):
        list.extend(self, [value * 3.0 for value in more])

    def __getitem__(self, index):
        return list.__getitem__(self, index) * 1.5


class DoublingDict(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)

    def __getitem__(self, key):
        return super().__getitem__(key) * 1.5

    def update(self, other):
        for key in other:
            dict.__setitem__(self, key, other[key] * 0.7)

    def get(self, key, default=None):
        return super().get(key, default) * 3.0

    def setdefault(self, key, default=None):
        return super().setdefault(key, default * 2.0)

    def pop(self, key):
        return super().pop(key) * 2.0

    def popitem(self):
        key, value = super().popitem()
        return key, value * 2.0

    def values(self):
        return [value * 2.0 for value in super().values()]

    def items(self):
        return [(key, value * 5.0) for key, value in super().items()]


class DoublingDeque(deque):
    def append(self, value):
        super().append(value * 2.0)

    def popleft(self):
        return super().popleft() * 2.0


@program(K, features="methods")
def list_that_doubles(x):
    items = DoublingList()
    items.append(x)
    items.append(x * x)
    items.insert(1, x)
    items[0] = x * x * x
    items += [x]
    return items[0] * items[1] + items[2] * items[3] * items.pop()


@program(K, features="methods")
def list_that_reads_scaled(x):
    items = ScaledItems()
    items.extend([x, x * x])
    return items[0] * items[-1]


@program(K, features="methods")
def dict_that_doubles(x):
    table = DoublingDict()
    table["a"] = x
    table["b"] = x * x
    table.update({"c": x})
    return table["a"] * table.get("b") + table.setdefault("d", x) * table.pop("c") * table.popitem()[1]


@program(K, features="methods")
def dict_that_shows_scaled(x):
    table = DoublingDict()
    table["a"] = x
    table["b"] = x * x
    total = sum(table.values())
    for key, value in table.items():
        total = total * value if key == "b" else total + value * x
    for value in table.values():
        total = total + value * x
    return total


@program(K, features="methods")
def deque_that_doubles(x):
    items = DoublingDeque()
    items.append(x)
    items.append(x * x)
    return items.popleft() ** 2 * items.popleft()


# `items` of classes that are no dicts, in the head of a loop


class Shown:
    def __init__(self, values):
        self.values_by_name = values

    def items(self):
        return [(name, value * 2.0) for name, value in self.values_by_name.items()]


class Generated(Shown):
    def items(self):
        for name, value in self.values_by_name.items():
            yield name, value * 3.0


@program(K, features="methods")
def loop_over_own_items(x):
    named, total = Shown({"a": x, "b": x * x}), 0.0
    for _, value in named.items():
        total = total * value + x + value
    return total


@program(K, features="methods, generator")
def loop_over_generated_items(x):
    named, total = Generated({"a": x, "b": x * x}), 0.0
    for index, (_, value) in enumerate(named.items()):
        total = total * value + value * index
    for (_, a), (_, b) in zip(named.items(), Shown(named.values_by_name).items(), strict=True):
        total = total * a + b
    for pair in named.items():
        total = total * pair[1]
    return total + sum(value * x for _, value in named.items())


@program(K, features="methods, generator")
def loop_that_writes_between_own_items(x):
    named, found = Generated({"a": x, "b": x * x}), []
    for _, value in named.items():
        found.append(value)
        named.values_by_name["b"] = value * x
    return found[0] * found[1] * named.values_by_name["b"]


# `**` of what is read by its keys


class Table:
    def __init__(self, values):
        self.held = values
        self.asked = 0

    def keys(self):
        self.asked += 1
        return list(self.held)

    def __getitem__(self, key):
        self.asked += 1
        return self.held[key] * 2.0


def of_two(a, b):
    return a * a * b


def of_any(*args, **named):
    return named["a"] * named["b"] * (args[0] if args else 1.0)


@program(K, features="methods, double star")
def spread_by_keys(x):
    table = Table({"a": x, "b": x * x})
    return of_two(**table) + of_any(x, c=x, **table) * of_any(**table) * table.asked


@program(K, features="methods, double star")
def spread_into_dict_by_keys(x):
    table = Table({"a": x, "b": x * x})
    merged, named = {**table, "c": x}, dict(table, c=x)
    return merged["a"] * merged["b"] * named["c"] * named["a"]


class Counted:
    def __init__(self, x):
        self.x = x

    def keys(self):
        self.x = self.x * 2.0
        return ["scale"]

    def __getitem__(self, name):
        return self.x


def scaled(x, scale):
    return x * scale


@program(K, features="methods, double star")
def spreads_an_object_that_writes(x):
    options = Counted(x)
    return scaled(x, **options) * options.x


# Classes that get their methods from `collections.abc`, whose modules the interpreter has built in


class Parameters(Mapping):
    def __init__(self, values):
        self.held = values

    def __getitem__(self, name):
        return self.held[name]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


class Row(Sequence):
    def __init__(self, values):
        self.held = values

    def __getitem__(self, place):
        return self.held[place]

    def __len__(self):
        return len(self.held)


@program(K, features="mapping of collections.abc")
def mapping_by_its_mixins(x):
    table, total = Parameters({"a": x, "b": x * x}), 0.0
    for _, value in table.items():
        total = total * x + value
    total = total + sum(table[name] for name in table.keys()) * sum(value * value for value in table.values())  # noqa: SIM118
    return total + table.get("a") * table.get("c", x) * ("b" in table) * dict(table)["b"] * of_two(**table)


@program(K, features="sequence of collections.abc")
def sequence_by_its_mixins(x):
    row, total = Row([x, x * x]), 0.0
    for value in row:
        total = total * x + value
    return total * sum(row) * (1 + row.index(x * x)) * row.count(x)


@program(K, features="ChainMap, UserDict")
def mappings_of_collections(x):
    chained, own, total = ChainMap({"a": x, "b": x * x}, {"c": x}), UserDict(a=x), 0.0
    own["b"] = x * x
    for _, value in chained.items():
        total = total * value + value
    return total + of_two(**own) * dict(own)["a"] * chained["c"]


# Made as the builtin class is made


class Options(dict):
    pass


class Named(dict):
    def __init__(self, **values):
        super().__init__(**values)
        self["c"] = self["a"] * 2.0


class Filled(list):
    def __init__(self, values):
        list.__init__(self, [value * 2.0 for value in values])
        self.append(values[0])


class Latest(deque):
    def __init__(self, values):
        super().__init__(values, maxlen=2)


@program(K, features="dict.__init__")
def dicts_made_by_their_class(x):
    options, copied, named = Options(a=x, b=x * x), Options({"a": x}, b=x), Named(a=x, b=x * x)
    pairs = Options([("a", x * x), ("b", x)])
    return options["a"] * copied["b"] + named["b"] * named["c"] * sum(pairs.values())


@program(K, features="list.__init__")
def lists_made_by_their_class(x):
    filled, latest = Filled([x, x * x]), Latest([1.0, x, x * x * x])
    return filled[0] * filled[1] * filled[2] + latest[0] * latest.pop()


# Attributes and items that Python refuses to assign


class Noted:
    def __init__(self, v):
        self.v = v

    def __setattr__(self, name, value):
        self.__dict__["seen"] = name
        super().__setattr__(name, value * 2.0)

    def __delattr__(self, name):
        super().__delattr__(name)


@program(K, features="super().__setattr__")
def attributes_by_super(x):
    noted = Noted(x)
    noted.w = noted.v * x
    noted.v = noted.w
    del noted.w
    return noted.v * x * len(noted.seen)


def without_negatives(e, least):
    try:
        e[e < 0] = least
    except TypeError:
        e = e if e > 0 else least
    return e


@program(V3, K, features="try, item of a number")
def masks_what_may_be_a_number(x, k):
    return np.sum(without_negatives(x * x * x, k) * x) * without_negatives(x[1], k) + without_negatives(k * k, x[0])


@program(K, features="try, item of a tuple")
def item_of_a_tuple_is_not_assigned(x):
    pair = (x, x * x)
    try:
        pair[0] = x
    except TypeError:
        pair = (x * x, x)
    return pair[0]


@program(K, features="a list that is built from sums of its own items")
def substituted_forward(x):
    rows = [[1.0 + x, 0.0, 0.0], [x, 2.0, 0.0], [0.5, x * x, 3.0]]
    right = [x, 1.0, x * 2.0]
    z = []
    for i in range(3):
        z.append((right[i] - sum(rows[i][k] * z[k] for k in range(i))) / rows[i][i])
    return sum(v * v for v in z)


@program(K, features="sums of nothing")
def sums_of_nothing(x):
    empty, rest = [], []
    total = x + sum(empty) + sum(v * x for v in empty)
    for i in range(3):
        total = total * x + sum(rest) - sum(rest[1:])
        if i == 1:
            rest.append(total * x)
    return total + sum(rest)


@program(K, features="sums of nothing, function")
def sum_of_a_list_that_is_filled_later(x):
    def added(values):
        return sum(values) + x

    found = []
    first = added(found)
    found.append(x * x)
    return first * added(found)
