"""State that is not found by its name: class attributes read through objects, what shows other containers, what is imported or
bound elsewhere; and constructors and mappings in parts."""

from __future__ import annotations

import argparse
import collections
import functools
import importlib
import inspect
import logging
import operator
import pathlib
import re
import sys
import threading
import weakref

import numpy as np

from tests.programs.mutation.table import V3, V4, program

LIST, TABLE, BUFFER = [0.0], {"a": 0.0}, np.zeros(3)


class Field:
    value = 0.0


OBJECT = Field()
VALUES, FLAT, SOME, ALL, CHAINED = TABLE.values(), BUFFER.flat, {OBJECT}, frozenset([OBJECT]), collections.ChainMap(TABLE)
REFERENCE, TAKE, EMPTY = weakref.ref(OBJECT), LIST.pop, LIST.clear


@program(V3, features="module variables that show others")
def others_show_what_is_written(x):
    TABLE["a"], OBJECT.value = x[0], x[1] * x[0]
    BUFFER[:] = x
    total = sum(VALUES) * FLAT[1] * CHAINED["a"]
    for held in SOME:
        total = total * held.value
    for held in ALL:
        total = total + held.value
    return total * REFERENCE().value


@program(V3, features="bound methods without arguments in module variables")
def bound_methods_are_called(x):
    LIST[:] = [x[0], x[1]]
    total = TAKE() * 2.0
    EMPTY()
    LIST.append(x[2])
    return total * TAKE() * (1.0 + len(LIST))


THIS = sys.modules[__name__]
THE_LIST = operator.attrgetter("LIST")
MODULES = {"this": THIS}
TO_COME = argparse.Namespace(value=0.0)


def the_list_by_computed_names(key, module):
    yield getattr(sys.modules[__name__], "LI" + key)
    yield getattr(module, "LI" + key)
    yield operator.attrgetter("LI" + key)(THIS)
    yield THE_LIST(THIS)
    yield vars(THIS)["LI" + key]
    yield THIS.__dict__["LI" + key]
    yield importlib.import_module(__name__).LIST
    yield __import__("tests.programs.mutation.kept").programs.mutation.kept.LIST
    yield MODULES["this"].LIST
    yield first_of_the_list.__globals__["LI" + key]
    yield inspect.getmodule(first_of_the_list).LIST


def first_of_the_list(at):
    found = list(the_list_by_computed_names("ST", THIS))
    return found[at][0]


@program(V3, features="module variables by computed names")
def module_variables_are_read_by_computed_names(x):
    LIST[:] = [x[0] * x[1]]
    total = 0.0
    for at in range(11):
        total += (at + 1) * first_of_the_list(at)
    return total * x[2]


def by_sys_modules():
    return getattr(sys.modules[__name__], "LIST")[0]


def by_vars():
    return vars(THIS)["LIST"][0]


def by_attrgetter():
    return THE_LIST(THIS)[0]


def by_import():
    return importlib.import_module(__name__).LIST[0]


def by_table():
    return MODULES["this"].LIST[0]


def by_default(module=THIS):
    return getattr(module, "LIST")[0]


def by_argument(module):
    return module.LIST[0]


@program(V3, features="module variables by computed names, each in a function of its own")
def module_variables_are_read_in_functions_without_arguments(x):
    LIST[:] = [x[0] * x[1]]
    total = by_sys_modules() * by_vars() + by_attrgetter() * by_import()
    return total + by_table() * x[2] + by_default() ** 3 + np.sin(by_argument(THIS)) + functools.partial(by_argument, THIS)()


def what_is_to_come():
    return TO_COME.value


@program(V3, features="an object of the standard library in a module variable")
def attributes_of_a_namespace(x):
    TO_COME.value = x[0] * x[1]
    return what_is_to_come() * x[2]


LOGGER, DIGITS, HERE, LOCK = logging.getLogger(__name__), re.compile("[0-9]+"), pathlib.Path("a") / "b", threading.RLock()
STOP, DRAWS, FIRST = threading.Event(), np.random.default_rng(0), operator.itemgetter(0)


def by_tools_of_the_library(values):
    with LOCK:
        LOGGER.debug("%s", HERE)
        if STOP.is_set() or DRAWS.random() < 0.0:
            return 0.0
    return FIRST(values) * len(DIGITS.findall("1 2 3")) * len(HERE.parts)


@program(V3, features="tools of the standard library in module variables")
def tools_hold_no_state(x):
    LIST[:] = [x[0]]
    return by_tools_of_the_library([2.0]) * x[1] + by_tools_of_the_library(LIST) * x[2]


@program(V3, features="from ... import in the function")
def names_are_imported_where_they_are_used(x):
    LIST[:], OBJECT.value, BUFFER[0] = [x[0]], x[1], x[2]
    from tests.programs.mutation.kept import BUFFER as buffer
    from tests.programs.mutation.kept import LIST as items
    from tests.programs.mutation.kept import OBJECT as held

    items.append(held.value * buffer[0])
    return items[0] * items[1] * imported_by_another()


def imported_by_another():
    from tests.programs.mutation.kept import OBJECT as held

    return held.value


class Shared:
    items, array = [0.0], np.zeros(3)

    def put(self, value):
        self.items[0] = value

    def get(self):
        return self.items[0]

    @classmethod
    def first(cls):
        return cls.items[0]

    def scaled(self, k):
        return self.array * k


@program(V3, features="class attributes through self and cls")
def class_attributes_are_read_through_objects(x):
    Shared().put(x[0])
    Shared.array[:] = x
    return Shared().get() * Shared.first() * Shared().scaled(x[1]).sum()


class Meta(type):
    state = [0.0]

    def get(cls):
        return cls.state[0]

    @property
    def first(cls):
        return cls.state[0]


class Made(metaclass=Meta):
    pass


@program(V3, features="metaclass")
def state_of_a_metaclass(x):
    Meta.state[0] = x[0]
    return Made.get() * Made.first * x[1]


class InParts:
    def __new__(cls, first, *, second):
        made = super().__new__(cls)
        made.a = first * second
        return made

    def __init__(self, first, *, second):
        self.b = first + second


class Derived(InParts):
    def __init__(self, first, *, second):
        super().__init__(first, second=second)
        self.c = second


@program(V3, features="__new__ and __init__ of the same arguments")
def constructors_in_two_parts(x):
    one, other = InParts(x[0], second=x[1]), Derived(x[2], second=x[0])
    return one.a * one.b * other.a * other.b * other.c


# Dicts that are asked for what they do not have, and mappings that are taken in


class Missing(dict):
    def __missing__(self, key):
        self[key] = self["a"] * key
        return self[key] * 2.0


class MissingOrdered(collections.OrderedDict):
    def __missing__(self, key):
        return self["a"] * key


@program(V3, features="__missing__")
def dicts_are_asked_for_what_they_miss(x):
    table, ordered = Missing(), MissingOrdered()
    table["a"], ordered["a"] = x[0], x[1]
    return table[3] * table[3] * ordered[2] * len(table) + ordered.get(5, x[2])


class Doubled:
    def __init__(self, table):
        self.table = table

    def keys(self):
        yield "a"
        self.table["c"] = self.table["a"] * 5.0
        yield "b"

    def __getitem__(self, key):
        if key == "stop":
            raise KeyError(key)
        return self.table["a"] * 2.0


class Stopping(Doubled):
    def keys(self):
        return ["a", "stop", "b"]


@program(V4, features="update by a mapping that sees it, |=, dict, an exception half way")
def mappings_see_what_they_are_taken_into(x):
    first, second, third = {"a": x[0], "b": x[1]}, {"a": x[2], "b": x[3]}, {"a": x[1], "b": x[0]}
    first.update(Doubled(first), z=x[3])
    second |= Doubled(second)
    try:
        third.update(Stopping(third))
    except KeyError:
        third["b"] = third["a"] * third["b"]
    made = dict(Doubled(first), y=x[2])
    return first["b"] * second["b"] * third["b"] + first["c"] * made["b"] * made["y"] * first["z"] + second["c"]


@program(V3, features="OrderedDict.popitem and move_to_end by name")
def ends_of_an_ordered_dict(x):
    table = collections.OrderedDict(zip("abc", x, strict=True))
    table.move_to_end("b", last=False)
    key, value = table.popitem(last=False)
    _, other = table.popitem()
    return value * other**2 * sum(table.values()) * len(key)


class Table(dict):
    """A dict that says itself which keys it has."""

    def keys(self):
        return [key for key in super().keys() if key != "hidden"]

    def __getitem__(self, key):
        return dict.get(self, key, 2.0)


@program(V3, features="dict with keys of its own, update by names only")
def a_dict_with_keys_of_its_own_is_updated(x):
    table = Table()
    table.update(a=x[0], hidden=x[1])
    table.update()
    table |= {"b": x[2]}
    return dict.get(table, "a") * dict.get(table, "b") * dict.get(table, "hidden")
