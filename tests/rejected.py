"""One table of what is refused: the program, the class of the error, words of its message, and the line it points at.

Each function has a comment `# here` on the line that the message must name.
"""

# The cases are written the way users write them, good style or not.

from __future__ import annotations

import bisect
import datetime
import heapq
import itertools
import math
import operator
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from microgradpy import gradient
from microgradpy.errors import DifferentiationError, MissingRuleError, MutationError, UnsupportedSyntaxError

counter = 0.0


@dataclass(frozen=True)
class Rejected:
    """`gradient(function, *args)` raises `error` with `words` in its message, which names the line marked `# here`."""

    id: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    error: type[DifferentiationError]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


REJECTED: list[Rejected] = []


def rejected(*args: Any, error: type[DifferentiationError], words: str = "") -> Callable[..., Callable[..., Any]]:
    """Enter the decorated function into the table."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        REJECTED.append(Rejected(function.__name__, function, args, error, tuple(words.split())))
        return function

    return enter


class Box:
    def __init__(self, value):
        self.value = value


# Writes by code that is only called


SEEN = np.ones(3)


def bump():
    SEEN[0] += 1.0


class Stateful:
    def __init__(self):
        self.h = np.ones(3)

    def step(self):
        self.h *= 2.0


STATEFUL = Stateful()


@rejected(np.ones(3), error=MutationError, words="bump wrote")
def helper_writes_into_a_module_array(x):
    y = x * SEEN
    bump()  # here
    return np.sum(y * x)


@rejected(np.ones(3), error=MutationError, words="step wrote")
def method_writes_into_its_object(x):
    y = x * STATEFUL.h
    STATEFUL.step()  # here
    return np.sum(y * x)


class RunningMean:
    def __init__(self):
        self.mean = np.array([1.0, 2.0, 3.0])

    def __call__(self):
        self.mean *= 0.5


RUNNING = RunningMean()


@rejected(np.ones(3), error=MutationError, words="RunningMean wrote")
def callable_object_writes_into_itself(x):
    y = np.sum(x * RUNNING.mean)
    RUNNING()  # here
    return y


@rejected(np.array([0.5, 0.2, 0.7]), 0.5, error=MissingRuleError, words="keyword var position")
def keyword_only_argument_of_a_rule(x, d):
    return np.var(x, ddof=d)  # here


@rejected(np.ones(2), error=MutationError, words="floor writes")
def star_call_writes_into_a_constant(x):
    b = np.array([1.5, 2.5])
    y = x * b
    np.floor(*[b, b])  # here
    return np.sum(y * b)


# Arrays that are not like arrays


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])


@rejected(np.ones(3), error=MissingRuleError, words="MaskedArray filled")
def product_with_a_masked_array(y):
    z = MASKED * y  # here
    return np.mean(z)


# In-place writes


@rejected(np.array([1.0, 2.0]), error=MutationError)
def writes_to_an_array_argument(x):
    x[0] = x[1] * 2.0  # here
    return np.sum(x)


@rejected(2.0, error=MutationError)
def writes_to_a_fresh_array(x):
    y = np.zeros(3)
    y[1] = x * x  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError)
def writes_to_a_slice(x):
    y = x * 1.0
    y[:] = x * x  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError)
def augmented_assignment_to_an_item(x):
    y = x * 2.0
    y[0] += x[1]  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError)
def augmented_assignment_to_an_array_argument(x):
    x *= 2.0  # here
    return np.sum(x * x)


@rejected(2.0, error=MutationError)
def writes_to_a_list(x):
    values = [x, 1.0]
    values[1] = x * x  # here
    return values[0] * values[1]


@rejected([1.0, 2.0], error=MutationError)
def writes_to_a_list_argument(values):
    values[0] = values[1] * 3.0  # here
    return values[0] * values[1]


@rejected(2.0, error=MutationError)
def appends_to_a_list(x):
    values = []
    values.append(x)  # here
    return values[0] * x


@rejected(2.0, error=MutationError)
def extends_a_list(x):
    values = [1.0]
    values.extend([x, x])  # here
    return values[0] * values[1]


@rejected(2.0, error=MutationError)
def extends_a_list_by_augmented_assignment(x):
    values = [1.0]
    other = values
    values += [x * x]  # here
    return other[1] * x


@rejected([1.0, 2.0], error=MutationError)
def pops_from_a_list(values):
    last = values.pop()  # here
    return last * values[0]


@rejected([2.0, 1.0], error=MutationError)
def sorts_a_list(values):
    values.sort()  # here
    return values[0] * 2.0 + values[1]


@rejected(2.0, error=MutationError)
def writes_to_a_dict(x):
    d = {}
    d["a"] = x  # here
    return d["a"] * x


@rejected(2.0, error=MutationError)
def updates_a_dict(x):
    d = {"a": 1.0}
    d.update(a=x)  # here
    return d["a"] * x


@rejected(2.0, error=MutationError)
def deletes_an_item(x):
    values = [1.0, x]
    del values[0]  # here
    return values[0] * x


@rejected(Box(2.0), error=MutationError)
def writes_to_an_attribute(box):
    box.value = box.value * 3.0  # here
    return box.value


@rejected(Box(2.0), error=MutationError)
def augmented_assignment_to_an_attribute(box):
    box.value += 1.0  # here
    return box.value * 2.0


@rejected(Box(2.0), 3.0, error=MutationError)
def uses_setattr(box, x):
    box.value = x  # here
    return box.value * x


@rejected(np.array([1.0, 2.0]), error=DifferentiationError, words="out")
def writes_with_out(x):
    y = np.zeros(2)
    np.multiply(x, x, out=y)  # here
    return np.sum(y)


@rejected(np.array([2.0, 1.0]), error=MutationError)
def sorts_an_array_in_place(x):
    y = x * 1.0
    y.sort()  # here
    return y[0] * 2.0


@rejected(np.array([1.0, 2.0]), error=MutationError)
def fills_an_array(x):
    y = np.zeros(2)
    y.fill(x[0])  # here
    return np.sum(y)


@rejected(2.0, error=MutationError)
def writes_in_a_loop(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x * i  # here
    return np.sum(y)


def write_into(target, value):
    target[0] = value  # here


@rejected(2.0, error=MutationError)
def callee_writes(x):
    y = np.zeros(3)
    write_into(y, x)
    return np.sum(y)


@rejected(2.0, error=MutationError)
def swaps_items(x):
    values = [x, 3.0]
    values[0], values[1] = values[1], values[0]  # here
    return values[0] * 2.0 + values[1]


@rejected(2.0, error=MutationError)
def loop_target_is_an_item(x):
    values = [0.0]
    for values[0] in (x, x * x):  # here
        pass
    return values[0]


# Rebinding other scopes


@rejected(2.0, error=MutationError, words="nonlocal")
def rebinds_a_nonlocal(x):
    total = x

    def add():
        nonlocal total
        total = total + x  # here

    add()
    return total


@rejected(2.0, error=MutationError, words="global")
def rebinds_a_global(x):
    global counter
    counter = x * x  # here
    return counter


# Statements


@rejected(2.0, error=UnsupportedSyntaxError, words="except*")
def catches_groups(x):
    try:  # here
        return x * x
    except* ValueError:
        x = 1.0
    return x


@rejected(2.0, error=UnsupportedSyntaxError, words="class except")
def catches_what_is_computed(x):
    errors = (ValueError, KeyError)
    try:
        return x * x
    except errors:  # here
        return x


@rejected(2.0, error=UnsupportedSyntaxError, words="ValueError differentiated")
def reads_a_value_from_an_exception(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return error.args[0] * x  # here


@rejected(2.0, error=UnsupportedSyntaxError, words="LookupError differentiated")
def returns_an_exception(x):
    try:
        raise LookupError("low", x * x)
    except LookupError as error:  # here
        kept = error
    return kept.args[1] * x


@rejected(2.0, error=UnsupportedSyntaxError, words="running frame")
def asks_for_the_exception(x):
    try:
        raise ValueError(x * x)
    except ValueError:
        return sys.exc_info()[1].args[0]  # here


@rejected(2.0, error=UnsupportedSyntaxError, words="KeyboardInterrupt")
def goes_on_after_an_interrupt(x):
    try:
        y = x * x
        raise KeyboardInterrupt
    except KeyboardInterrupt:  # here
        return y


@rejected(2.0, error=MutationError, words="item")
def catches_every_exception(x):
    table = {}
    try:
        table["x"] = x  # here
    except Exception:
        return x
    return table["x"]


@rejected(2.0, error=MutationError, words="item")
def overrides_every_exception(x):
    table = {}
    try:
        table["x"] = x  # here
    finally:
        return x  # noqa: B012


@rejected(2.0, error=MutationError, words="item")
def suppresses_every_exception(x):
    table = {}
    with suppress(Exception):
        table["x"] = x  # here
    return x


def one_and_two():
    yield 1.0
    yield 2.0


@rejected(2.0, error=UnsupportedSyntaxError, words="generator list of the items")
def keeps_what_a_loop_over_a_generator_had_done(x):
    total = x
    try:
        for number in one_and_two():  # here
            total = total * number
            math.sqrt(1.5 - number)
    except ValueError:
        return total
    return x


@rejected(2.0, error=UnsupportedSyntaxError, words="strict")
def keeps_what_a_loop_over_a_strict_zip_had_done(x):
    total = x
    try:
        for a, b in zip([1.0, 2.0], [3.0], strict=True):  # here
            total = total * a * b
    except ValueError:
        return total
    return x


@rejected(2.0, error=UnsupportedSyntaxError, words="match")
def uses_match(x):
    match x:  # here
        case 2.0:
            return x * x
        case _:
            return x


def numbers(x):  # here
    yield x
    yield x * x


@rejected(2.0, error=UnsupportedSyntaxError, words="generator")
def loops_over_a_generator(x):
    total = 0.0
    for v in numbers(x):
        total = total + v
    return total


# Nested differentiation


@rejected(2.0, error=DifferentiationError, words="gradient")
def differentiates_inside(x):
    (inner,) = gradient(lambda t: t**3 * x, x)  # here
    return inner


@rejected(2.0, error=DifferentiationError, words="gradient")
def differentiates_inside_by_another_name(x):
    d = gradient
    return d(lambda t: t * x, 1.0)[0]  # here


# Callees without a rule


@rejected(2.0, error=MissingRuleError, words="timedelta")
def calls_a_c_type_without_a_rule(x):
    return datetime.timedelta(x).total_seconds() * x  # here


@rejected(np.array([1.0, 2.0, 9.0]), error=MissingRuleError, words="unwrap")
def calls_a_numpy_function_without_a_rule(x):
    return np.sum(np.unwrap(x * x))  # here


@rejected(1.5, error=MissingRuleError, words="fromtimestamp")
def calls_a_method_of_a_c_type(x):
    return datetime.datetime.fromtimestamp(x).timestamp()  # here


@rejected(2.0, datetime.timedelta, error=MissingRuleError, words="timedelta")
def calls_an_argument_without_a_rule(x, f):
    return f(x).total_seconds() * x  # here


@rejected(Fraction(1, 2), error=DifferentiationError, words="Fraction")
def uses_a_fraction(x):
    return float(x * x)


@rejected(Decimal("0.5"), error=DifferentiationError, words="Decimal")
def uses_a_decimal(x):
    return float(x * x)


@rejected(np.array([1.0, 2.0], dtype=object), error=DifferentiationError, words="object")
def uses_an_object_array(x):
    return x[0] * x[1]


# Writes by functions


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def ufunc_with_an_output_by_position(x):
    y = x * 1.0
    np.multiply(y, 3.0, y)  # here
    return np.sum(y * x)


@rejected(np.array([1.0, 2.0]), np.array([1.5, 2.5]), error=MutationError, words="out")
def inactive_ufunc_with_an_output_by_position(x, b):
    c = np.sign(b) * 2.5
    y = x * c
    np.floor(c, c)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def method_with_an_output_by_position(x):
    c = np.zeros(())
    x.sum(0, None, c)  # here
    return x[0] * c


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def inactive_method_with_an_output_by_position(x):
    b, c = np.ones(2), np.zeros(2)
    y = x * c
    b.cumsum(0, None, c)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def sum_with_an_output_by_position(x):
    out = np.zeros(())
    np.sum(x, 0, None, out)  # here
    return out * x[0]


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def clip_with_an_output_by_position(x):
    y = x * 1.0
    np.clip(y, 0.0, 1.5, y)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def cumsum_with_an_output_by_position(x):
    out = np.zeros(2)
    np.cumsum(x, 0, None, out)  # here
    return np.sum(out)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def dot_with_an_output_by_position(x):
    out = np.zeros(2)
    np.dot(np.eye(2), x, out)  # here
    return np.sum(out)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def take_with_an_output_by_position(x):
    out = np.zeros(2)
    np.take(x, [1, 0], 0, out)  # here
    return np.sum(out)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="out")
def reduce_of_a_ufunc_with_an_output(x):
    out = np.zeros(())
    y = x * out
    np.add.reduce(np.ones(2), 0, None, out)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="sort")
def unbound_method_of_an_array(x):
    b = np.array([2.0, 1.0])
    y = x * b
    np.ndarray.sort(b)  # here
    return np.sum(y)


@rejected(2.0, error=MutationError, words="append")
def unbound_method_of_a_list(x):
    values = []
    list.append(values, x)  # here
    return values[0] * x


@rejected(np.array([1.0, 2.0]), error=MutationError, words="copyto")
def copyto(x):
    c = np.ones(2)
    y = x * c
    np.copyto(c, 5.0)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="put")
def put(x):
    y = np.zeros(2)
    np.put(y, [0], x[:1])  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="put_along_axis")
def put_along_axis(x):
    y = np.zeros(2)
    np.put_along_axis(y, np.array([0]), x[:1], 0)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="at")
def at_of_a_ufunc(x):
    y = np.zeros(2)
    np.add.at(y, [0, 0], x)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="at")
def inactive_at_of_a_ufunc(x):
    b = np.ones(2)
    y = x * b
    np.multiply.at(b, [0, 0], 2.0)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="fill_diagonal")
def fill_diagonal(x):
    y = np.zeros((2, 2))
    np.fill_diagonal(y, x)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="place")
def place(x):
    y = np.zeros(2)
    np.place(y, np.array([True, False]), x)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="putmask")
def putmask(x):
    y = np.zeros(2)
    np.putmask(y, np.array([True, False]), x)  # here
    return np.sum(y)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="shuffle")
def shuffles_an_array(x):
    order = np.array([0, 1])
    y = x[order]
    np.random.default_rng(0).shuffle(order)  # here
    return np.sum(y * x)


@rejected(np.array([1.0, 2.0]), error=MutationError, words="shuffle")
def shuffles_a_list(x):
    order = [0, 1]
    random.shuffle(order)  # here
    return x[order[0]]


@rejected(2.0, error=MutationError, words="setitem")
def setitem_as_a_function(x):
    values = [x, 1.0]
    operator.setitem(values, 1, x * x)  # here
    return values[0] * values[1]


@rejected(2.0, error=MutationError, words="delitem")
def delitem_as_a_function(x):
    values = [x, 1.0]
    operator.delitem(values, 1)  # here
    return values[0] * x


@rejected(np.array([1.0, 2.0]), error=MutationError)
def augmented_addition_as_a_function(x):
    y = x * 1.0
    operator.iadd(y, x)  # here
    return np.sum(y)


@rejected(Box(2.0), error=MutationError, words="setattr")
def setattr_as_a_function(box):
    box.value = box.value * 3.0  # here
    return box.value


@rejected(Box(2.0), error=MutationError, words="delattr")
def delattr_as_a_function(box):
    y = box.value * 2.0
    delattr(box, "value")  # here
    return y


@rejected(2.0, error=MutationError, words="heappush")
def heappush(x):
    values = []
    heapq.heappush(values, x)  # here
    return values[0] * x


@rejected(2.0, error=MutationError, words="heapify")
def inactive_heapify(x):
    values = [3, 1]
    heapq.heapify(values)  # here
    return values[0] * x


@rejected(2.0, error=MutationError, words="insort")
def insort(x):
    values = [1.0]
    bisect.insort(values, x)  # here
    return values[1] * x


@rejected(np.array([1.0, 2.0]), error=MutationError, words="copy=False")
def nan_to_num_in_place(x):
    b = np.array([np.nan, 1.0])
    y = x * b
    np.nan_to_num(b, copy=False)  # here
    return y[1]


@rejected(np.array([1.0, 2.0]), np.multiply, np.zeros(2), error=MutationError, words="out")
def output_of_an_argument(x, f, out):
    f(x, x, out)  # here
    return np.sum(out)


# Arguments that a rule does not take


@rejected(np.array([[1.0, 2.0]]), error=MissingRuleError, words="sum")
def dtype_by_position(x):
    return np.sum(x * x, 0, np.float64)[0]  # here


@rejected(np.array([1.0, 2.0]), np.array([True, True]), error=MissingRuleError, words="")
def method_with_an_argument_that_its_rule_does_not_take(x, c):
    return np.sum(x.astype(float, "C") * x)  # here


# Iterators without a rule


@rejected([1.0, 2.0], error=MissingRuleError, words="map comprehension")
def maps(values):
    return sum(map(lambda v: v * v, values))  # here


@rejected([1.0, 2.0], error=MissingRuleError, words="filter comprehension")
def filters(values):
    return sum(filter(None, values))  # here


@rejected([1.0, 2.0], error=MissingRuleError, words="accumulate loop")
def accumulates(values):
    return sum(itertools.accumulate(values))  # here


@rejected([1.0, 2.0], error=MissingRuleError, words="chain loop")
def chains(values):
    return sum(itertools.chain.from_iterable([values, values]))  # here


@rejected(2.0, error=MissingRuleError, words="objects")
def makes_an_array_of_objects(x):
    values = np.array([x, x * x], dtype=object)
    return values[0] * values[1]
