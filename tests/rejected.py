"""One table of what is refused: the program, the class of the error, words of its message, and the line it points at.

Each function has a comment `# here` on the line that the message must name.
"""

from __future__ import annotations

import array
import collections
import concurrent.futures
import contextlib
import contextvars
import copy
import ctypes
import datetime
import enum
import functools
import inspect
import itertools
import math
import pickle
import queue
import struct
import sys
import threading
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from scipy import stats
from scipy.linalg import get_blas_funcs

from microgradpy import detect_anomaly, infiltrating
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


@rejected(np.array([0.5, 0.2, 0.7]), 0.5, error=MissingRuleError, words="keyword var position")
def keyword_only_argument_of_a_rule(x, d):
    return np.var(x, ddof=d)  # here


@rejected(np.ones(2), lambda b: [b, b], error=MutationError, words="floor writes")
def star_call_writes_into_a_constant(x, twice):
    b = np.array([1.5, 2.5])
    y = x * b
    np.floor(*twice(b))  # here
    return np.sum(y * b)


# Arrays that are not like arrays


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])


@rejected(np.ones(3), error=MissingRuleError, words="MaskedArray filled")
def product_with_a_masked_array(y):
    z = MASKED * y  # here
    return np.mean(z)


# In-place writes


@rejected(np.ones(3), error=MutationError, words="flat memory that it writes")
def assigns_entries_from_their_own_memory(x):
    y = x * 2.0
    y.flat[1:] = y[:-1]  # here
    return np.sum(y)


@rejected(np.ones(3), error=MissingRuleError, words="x.flat all at once")
def reads_all_entries_at_once(x):
    y = x * 2.0
    z = np.asarray(y.flat)  # here
    z[0] = 3.0
    return np.sum(y)


@rejected(np.ones(3), error=MutationError, words="entries overlap")
def fills_entries_that_are_one_place(x):
    y = x * 2.0
    as_strided(y, (3,), (0,)).fill(x[0])  # here
    return y[0]


@rejected(np.ones(4), error=MutationError, words="entries overlap")
def adds_to_windows(x):
    y = x * 2.0
    windows = sliding_window_view(y, 2, writeable=True)
    windows[:, 1] = x[1:]
    windows += x[0]  # here
    return np.sum(y)


@rejected(np.ones(3), error=MissingRuleError, words="looked at as int64")
def looks_at_bits(x):
    y = x * 2.0
    y.view(np.int64)[0] = 0  # here
    return np.sum(y)


def with_its_bits(count):
    y = np.zeros(count)
    return y, y.view(np.int64)


@rejected(np.ones(3), error=MutationError, words="view of the memory float64")
def writes_bits(x):
    y, bits = with_its_bits(3)
    y[:] = x
    bits[0] = 0  # here
    return np.sum(y)


@rejected(np.ones(3), error=MutationError, words="two results same memory")
def two_results_into_one_array(x):
    y = np.zeros(4)
    np.modf(x * 1.5, out=(y[:3], y[1:]))  # here
    return np.sum(y)


@rejected(np.ones(3), error=MutationError, words="where=")
def sum_of_some_into_a_buffer(x):
    y = np.zeros(())
    np.sum(x, out=y, where=[True, False, True])  # here
    return y * 2.0


multiply_objects = np.frompyfunc(lambda a, b: a * b, 2, 1)


@rejected(np.ones(3), error=MutationError, words="at no rule")
def scatter_of_a_function_without_rule(x):
    y = x * 1.5
    multiply_objects.at(y, [0, 0], 2.0)  # here
    return np.sum(y)


# Rebinding other scopes


@rejected(2.0, error=MutationError, words="variables module dict")
def writes_the_variables_of_its_module(x):
    vars(sys.modules[__name__])["counter"] = x * x  # here
    return counter


@rejected(2.0, error=MutationError, words="module")
def assigns_to_an_attribute_of_a_module(x):
    sys.modules[__name__].counter = x * x  # here
    return counter


@rejected(2.0, error=UnsupportedSyntaxError, words="exception another name")
def exception_with_a_shared_name(x):
    def reset():
        nonlocal error
        error = 0.0

    error = x
    try:
        reset()
        return math.sqrt(-x)
    except ValueError as error:  # noqa: F811, F841 # here
        return x


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


@rejected(2.0, error=MissingRuleError, words="KeyError caught not known computed from")
def reads_a_key_from_an_exception(x):
    try:
        return {}[x]
    except KeyError as error:  # here
        return error.args[0] * x


class Measured:
    """Raises an exception with an array where a builtin asks for the length."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        raise LookupError(self.x * np.ones(2))


@rejected(2.0, error=MissingRuleError, words="LookupError caught not known computed from")
def reads_from_what_a_builtin_let_pass(x):
    try:
        return len(Measured(x)) * x
    except LookupError as error:  # here
        return np.sum(error.args[0])


class KeepsWhatIsRaised:
    def __enter__(self):
        return self

    def __exit__(self, cls, error, traceback):
        self.kept = error
        return True


@rejected(2.0, error=UnsupportedSyntaxError, words="ExitStack KeepsWhatIsRaised")
def a_stack_of_contexts_hands_an_exception_on(x):
    keeper = KeepsWhatIsRaised()
    with contextlib.ExitStack() as stack:  # here
        stack.enter_context(keeper)
        raise ValueError(x * x)
    return keeper.kept.args[0]


@rejected(2.0, error=MissingRuleError, words="text differentiated numbers float")
def a_text_of_an_exception_is_read(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return float(str(error)) * x  # here


@rejected(2.0, error=MissingRuleError, words="text differentiated numbers float")
def a_text_of_an_exception_that_a_call_raised_is_read(x):
    try:
        raises_a_number(x)
    except ValueError as error:
        return float(f"{error}") * x  # here


def raises_a_number(x):
    raise ValueError(x * x)


@rejected(2.0, error=UnsupportedSyntaxError, words="class Line differentiated values")
def a_class_that_reads_what_gets_another_value(x):
    y = x

    class Line:  # here
        start = y * 2 if y else y

        def at(self):
            return y

    y = y * x
    return Line.start * Line().at()


@rejected(2.0, error=UnsupportedSyntaxError, words="class Line differentiated values")
def a_class_that_calls_its_function_as_it_is_made(x):
    class Line:  # here
        def at():
            return x * 2

        start = at()

    return Line.start


class CallsItsMethods:
    """A base that calls a method of each class that is made from it."""

    def __init_subclass__(cls):
        cls.start = cls().at()


@rejected(2.0, error=UnsupportedSyntaxError, words="CallsItsMethods.__init_subclass__ class Line methods")
def a_base_that_calls_methods_as_a_class_is_made(x):
    class Line(CallsItsMethods):  # here
        def at(self):
            return x * 2

    return Line.start


@rejected(np.arange(1.0, 5.0), error=MutationError, words="attribute shape getset_descriptor reshape")
def gives_an_array_another_shape(x):
    y = x * 2.0
    y.shape = (2, 2)  # here
    return np.sum(y @ y)


@rejected(np.ones(3), error=MissingRuleError, words="ddot differentiated data")
def calls_a_function_of_blas(x):
    (dot,) = get_blas_funcs(("dot",), (x,))
    return dot(x, x)  # here


class Totals:
    """Adds up in an attribute of the class."""

    total = mean = 0.0


@rejected(2.0, error=MutationError, words="attribute mean class Totals not seen")
def adds_up_in_an_attribute_of_what_turns_out_to_be_a_class(x):
    for each in (Totals,):
        each.mean = x * x  # here
    return Totals.mean * x


@rejected(2.0, error=MutationError, words="attribute total class Totals descriptor")
def gives_a_class_another_function(x):
    Totals.total = lambda: x * x  # here
    return Totals.total() * x


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


@rejected(2.0, error=UnsupportedSyntaxError, words="strict")
def keeps_what_a_loop_over_a_strict_zip_had_done(x):
    total = x
    try:
        for a, b in zip([1.0, 2.0], [3.0], strict=True):  # here
            total = total * a * b
    except ValueError:
        return total
    return x


class Tripled(dict):
    def get(self, key, default=None):
        return 3.0 * self[key]


@rejected(Tripled(a=2.0), error=MissingRuleError, words="Tripled get own")
def pattern_of_a_dict_that_reads_in_its_own_way(d):
    match d:
        case {"a": x}:  # here
            return x * x


# Generators


@rejected(2.0, error=UnsupportedSyntaxError, words="generator by itself uses up list")  # here
def is_a_generator(x):
    yield x
    yield x * x


@rejected(2.0, error=MissingRuleError, words="generator yield try end")
def leaves_a_generator_in_a_try(x):
    return next(guarded(x))  # here


def guarded(x):
    try:
        yield x
        yield x * x
    finally:
        x = 0.0


def total():
    value = 0.0
    while True:
        value += yield value


OUTSIDE = total()
next(OUTSIDE)


@rejected(2.0, error=MissingRuleError, words="sent generator total outside inside")
def sends_into_a_generator_of_the_module(x):
    OUTSIDE.send(x)  # here
    return x * x


# Nested differentiation


@rejected(2.0, error=UnsupportedSyntaxError, words="detect_anomaly no effect around")
def looks_for_anomalies_inside(x):
    with detect_anomaly():  # here
        return x * x


@rejected(2.0, error=UnsupportedSyntaxError, words="infiltrating no effect around")
def stops_inside(x):
    with infiltrating(looks_for_anomalies_inside):  # here
        return x * x


# Callees without a rule


@rejected(2.0, error=MissingRuleError, words="timedelta")
def calls_a_c_type_without_a_rule(x):
    return datetime.timedelta(x).total_seconds() * x  # here


@rejected(np.array([0.3, 0.7]), error=MissingRuleError, words="interp increase")
def interpolates_between_places_that_decrease(x):
    return np.sum(np.interp(x, [1.0, 0.5, 0.0], [2.0, 3.0, 5.0]))  # here


@rejected(np.ones((2, 3)), error=MissingRuleError, words="fft axis twice")
def transforms_along_one_axis_twice(x):
    return np.abs(np.fft.fftn(x, axes=(1, 1))[0, 0])  # here


@rejected(np.array([1.0, 2.0, 9.0]), error=MissingRuleError, words="sqrt")
def calls_a_numpy_function_without_a_rule(x):
    return np.sum(np.emath.sqrt(x * x))  # here


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


@rejected(np.array([1.0, 2.0]), np.multiply, np.zeros(2), error=MutationError, words="out")
def output_of_an_argument(x, f, out):
    f(x, x, out)  # here
    return np.sum(out)


class Tripling:
    def __init__(self, a):
        self.a = a

    @property
    def missing(self):
        self.a = self.a * 3.0
        raise AttributeError("missing")


@rejected(2.0, error=MutationError, words="missing write")
def attribute_that_writes_and_is_missing(x):
    o = Tripling(x)
    t = getattr(o, "missing", 2.0)  # here
    return o.a * t


# Arguments that a rule does not take


@rejected(np.array([[1.0, 2.0]]), error=MissingRuleError, words="like")
def option_that_no_rule_takes(x):
    return np.sum(np.array(x * x, like=x))  # here


# Iterators and calls


@rejected([1.0, 2.0], iter, error=MissingRuleError, words="iter two places list")
def loops_twice_over_what_another_makes(values, make):
    items = make(values)
    total = 0.0
    for v in items:
        total = total + v
        break
    for v in items:  # here
        total = total + v * v
    return total


@rejected([1.5, 2.5], error=MutationError, words="float becomes key dict")
def counts_active_values(values):
    return sum(key * count for key, count in collections.Counter(values).items())  # here


class Touchy:
    """Whoever asks for its text or compares it changes it."""

    def __init__(self, a):
        self.a = a

    def __repr__(self):
        self.a = self.a * 3.0
        return "text"

    def __lt__(self, other):
        self.a = self.a * 3.0
        return self.a < other.a

    def __eq__(self, other):
        self.a = self.a * 3.0
        return self.a == other.a

    __hash__ = None


@rejected(2.0, error=MutationError, words="str Touchy.__repr__ may write")
def text_of_a_list_writes(x):
    o = Touchy(x)
    text = str([o])  # here
    return o.a * len(text)


@rejected(2.0, error=MutationError, words="print Touchy.__repr__ may write")
def printing_writes(x):
    o = Touchy(x)
    print(o)  # here
    return o.a


@rejected(2.0, error=MutationError, words="str.format Touchy.__repr__ may write")
def formatting_writes(x):
    o, form = Touchy(x), "{}"
    text = form.format(o)  # here
    return o.a * len(text)


@rejected(2.0, error=MutationError, words="sorted Touchy.__lt__ may write")
def sorting_writes(x):
    items = sorted([Touchy(x), Touchy(2.0 * x)])  # here
    return items[0].a


@rejected(2.0, error=MutationError, words="min Touchy.__lt__ may write")
def comparing_writes(x):
    return min(Touchy(x), Touchy(2.0 * x)).a  # here


@rejected(2.0, error=MutationError, words="list.index Touchy.__eq__ may write")
def looking_for_an_object_writes(x):
    items = [Touchy(x), Touchy(2.0 * x)]
    return items[items.index(Touchy(3.0 * x))].a  # here


@rejected(2.0, error=MutationError, words="eq Touchy.__eq__ may write")
def comparing_lists_writes(x):
    o = Touchy(x)
    return o.a if [o] == [Touchy(x)] else x  # here


class Counting:
    def __init__(self, a):
        self.a = a

    def __gt__(self, other):
        self.a = self.a - 1.0
        return self.a > other


class Scale:
    def __init__(self, a):
        self.a = a

    def __rmul__(self, other):
        return other * self.a


@rejected(np.array([1.0, 2.0]), Scale(2.0), error=MissingRuleError, words="array Scale item __array_ufunc__")
def array_times_an_object(x, s):
    return np.sum(x * s)  # here


@rejected(2.0, error=MissingRuleError, words="objects")
def makes_an_array_of_objects(x):
    values = np.array([x, x * x], dtype=object)  # here
    return values[0] * values[1]


# What leaves the thread, the interpreter or the numbers


async def squared_later(x):  # here
    return x * x


@rejected(2.0, error=UnsupportedSyntaxError, words="async await")
def runs_a_coroutine(x):
    return result_of(squared_later(x))


def result_of(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stopped:
        return stopped.value


def square(x):
    return x * x


@rejected(2.0, error=UnsupportedSyntaxError, words="exec text")
def executes_text(x):
    names = {"x": x}
    exec("y = x * x", names)  # here
    return names["y"]


@rejected(2.0, error=UnsupportedSyntaxError, words="eval text")
def evaluates_text(x):
    return eval("x * x", {"x": x})  # here


@rejected(2.0, error=UnsupportedSyntaxError, words="globals() frame")
def looks_into_the_module(x):
    return globals()["square"](x)  # here


@rejected(2.0, error=UnsupportedSyntaxError, words="f_globals frame")
def looks_into_a_frame(x):
    return sys._getframe().f_globals["square"](x)  # here


@rejected(2.0, error=MissingRuleError, words="threading.Thread thread")
def starts_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x * x))  # here
    thread.start()
    thread.join()
    return found[0]


@rejected(2.0, error=MissingRuleError, words="submit thread")
def submits_to_an_executor(x):
    pool = concurrent.futures.ThreadPoolExecutor(1)
    return pool.submit(square, x).result()  # here


@rejected(2.0, error=MissingRuleError, words="Queue.put thread")
def puts_into_a_queue(x):
    numbers = queue.SimpleQueue()
    numbers.put(x * x)  # here
    return numbers.get()


VARIABLE: contextvars.ContextVar[float] = contextvars.ContextVar("VARIABLE")


@rejected(2.0, error=MissingRuleError, words="ContextVar.set")
def sets_a_context_variable(x):
    VARIABLE.set(x * x)  # here
    return VARIABLE.get()


@rejected(2.0, error=MissingRuleError, words="ctypes.c_double arrays")
def makes_a_number_of_c(x):
    return ctypes.c_double(x).value * x  # here


IN_C = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(square)


@rejected(2.0, error=MissingRuleError, words="ctypes C")
def calls_back_from_c(x):
    return IN_C(x)  # here


@rejected(np.array([1.0, 2.0]), error=MissingRuleError, words="data_as")
def hands_out_a_pointer(x):
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0]  # here


@rejected(np.array([1.0, 2.0]), error=MissingRuleError, words="memoryview C")
def views_the_memory(x):
    return memoryview(x)[0] * 1.0  # here


@rejected(2.0, error=MissingRuleError, words="array.array C")
def makes_an_array_of_the_standard_library(x):
    return array.array("d", [x])[0] * x  # here


@rejected(np.array([1.0, 2.0]), error=MissingRuleError, words="tobytes bytes")
def goes_through_bytes(x):
    return np.sum(np.frombuffer(x.tobytes()))  # here


@rejected(2.0, error=MissingRuleError, words="pickle.dumps bytes")
def pickles(x):
    return pickle.loads(pickle.dumps(x)) * x  # here


@rejected(2.0, error=MissingRuleError, words="struct.pack bytes")
def packs(x):
    return struct.unpack("d", struct.pack("d", x))[0] * x  # here


@rejected(2.0, error=MissingRuleError, words="as_integer_ratio")
def takes_numerator_and_denominator(x):
    numerator, denominator = x.as_integer_ratio()  # here
    return numerator / denominator * x


SQUARES = np.frompyfunc(square, 1, 1)


@rejected(2.0, error=MissingRuleError, words="square np.vectorize")
def calls_a_ufunc_made_of_python_with_options(x):
    return SQUARES(x, dtype=object)  # here


@rejected(np.ones((2, 2)), error=MissingRuleError, words="matrix np.asarray")
def looks_at_an_array_as_a_matrix(x):
    return np.asarray(x.view(np.matrix)).sum()  # here


@rejected(2.0, error=MissingRuleError, words="np.frompyfunc complex np.vectorize")
def calls_a_ufunc_made_of_python_that_returns_complex_numbers(x):
    return abs(np.frompyfunc(lambda v: v + 1.0j, 1, 1)(x))  # here


@rejected(np.ones(2), error=MissingRuleError, words="object np.vectorize")
def writes_what_a_ufunc_made_of_python_gives(x):
    y = np.zeros(2)
    y[:] = SQUARES(x)  # here
    return np.sum(y)


@rejected(np.ones(2), error=MissingRuleError, words="objects complex astype(complex)")
def makes_complex_objects(x):
    return np.sum((SQUARES(x) * 1.0j).astype(complex)).imag  # here


# Exceptions that are caught after a part of a write


@rejected(np.array([1.0, 2.0]), error=MutationError, words="imul raised FloatingPointError after it had written")
def catches_an_overflow(x):
    u = x * 1e200
    try:
        with np.errstate(over="raise"):
            u *= 1e200  # here
    except FloatingPointError:
        u = x * x
    return np.sum(u)


def one_buffer(x):
    y = x * 1.0
    for _ in range(2):
        y[:] = y * 2.0
        yield y


@rejected(np.array([0.7, 1.3]), error=MutationError, words="sum generator writes arrays given copies")
def adds_up_one_buffer(x):
    return np.sum(sum(one_buffer(x)))  # here


class Place:
    def __init__(self, x):
        self.x = x

    def __index__(self):
        self.x = self.x * 5.0
        return 1


@rejected(0.7, error=MutationError, words="getitem Place.__index__ may write")
def index_writes(x):
    place, items = Place(x), [x, 2.0 * x]
    return items[place] * place.x  # here


class Answering:
    """An object whose items take what is thrown to them."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        try:
            yield self.x
        except ValueError:
            yield self.x * self.x


def outer(x):
    yield from Answering(x)  # here


@rejected(0.7, error=MissingRuleError, words="thrown yield from object loop")
def throws_to_an_object_behind_a_yield_from(x):
    steps = outer(x)
    next(steps)
    return steps.throw(ValueError)


# What NumPy's functions and builtins ask of objects, and what they call, where nobody sees it


class Count:
    """Writes whenever somebody asks for a number, an array or a length."""

    def __init__(self, box, n=3):
        self.box = box
        self.n = n

    def __index__(self):
        self.box[0] = self.box[0] * 2.0
        return self.n

    def __float__(self):
        self.box[0] = self.box[0] * 2.0
        return 1.0

    def __array__(self, dtype=None, copy=None):
        self.box[0] = self.box[0] * 2.0
        return np.ones(self.n)

    def __len__(self):
        self.box[0] = self.box[0] * 2.0
        return 1

    def __iter__(self):
        yield 1.0


BOX = [1.0]
V3 = np.array([0.4, -0.9, 1.3])


def doubles(v):
    BOX[0] = BOX[0] * 2.0
    return v


OF_PYTHON = np.frompyfunc(doubles, 1, 1)
NUMBER = Count(BOX)


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_writes(x):
    box = [x[0]]
    z = np.zeros(Count(box))  # here
    return box[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_of_a_module_writes(x):
    BOX[0] = x[0]
    z = np.zeros(NUMBER)  # here
    return BOX[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_that_was_stored_writes(x):
    box, sizes = [x[0]], []
    sizes.append(Count(box))
    z = np.zeros(sizes[0])  # here
    return box[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="reshape calls Count may write")
def a_shape_writes(x):
    box = [x[0]]
    z = x.reshape(Count(box), 1)  # here
    return box[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="slice calls Count may write")
def an_end_of_a_slice_writes(x):
    box = [x[0]]
    z = x[: Count(box)]  # here
    return box[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="sin calls Count may write")
def an_argument_of_a_ufunc_writes(x):
    box = [x[0]]
    z = np.sin(Count(box))  # here
    return box[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="sqrt calls Count may write")
def an_argument_of_a_function_writes(x):
    box = [x[0]]
    z = math.sqrt(Count(box))  # here
    return box[0] * x[1] + z


@rejected(V3, error=MutationError, words="islice calls Count may write")
def a_number_of_items_writes(x):
    box = [x[0]]
    z = list(itertools.islice([1, 2, 3, 4], Count(box)))  # here
    return box[0] * x[1] + len(z)


@rejected(V3, error=MutationError, words="np.frompyfunc may write")
def a_ufunc_of_python_may_write(x):
    BOX[0] = x[0]
    z = OF_PYTHON("a")  # here
    return BOX[0] * x[1] + len(z)


class OverridesUfuncs:
    def __init__(self, v):
        self.v = v

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return ufunc(*[a.v if isinstance(a, OverridesUfuncs) else a for a in args]) * 3.0


@rejected(V3, error=MissingRuleError, words="OverridesUfuncs says itself what sin does")
def a_class_overrides_ufuncs(x):
    return np.sin(OverridesUfuncs(x)).sum()  # here


class Weight:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


@rejected(V3, error=MissingRuleError, words="number or an array of a Weight")
def an_object_becomes_a_number_in_a_list(x):
    return np.array([x[0], Weight(x[1])], dtype=float).sum() * x[1]  # here


@rejected(V3, error=MissingRuleError, words="items of a defaultdict")
def a_factory_holds_differentiated_values(x):
    first = x[0]
    table = copy.copy(collections.defaultdict(lambda: first))
    return table["a"] * table["b"] + x[1] * len(table)


class Sizes(enum.Enum):
    SMALL = Count(BOX)


@dataclass
class Settings:
    n: Any = field(default_factory=lambda: Count(BOX))


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_in_an_enum_writes(x):
    BOX[0] = x[0]
    z = np.zeros(Sizes.SMALL.value)  # here
    return BOX[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_made_by_a_dataclass_writes(x):
    BOX[0] = x[0]
    z = np.zeros(Settings().n)  # here
    return BOX[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="zeros calls Count may write")
def a_size_by_name_writes(x):
    BOX[0] = x[0]
    z = np.zeros(shape=NUMBER)  # here
    return BOX[0] * x[1] + z.sum()


@rejected(V3, error=MutationError, words="mul calls Count.__index__ may write")
def a_repetition_writes(x):
    BOX[0] = x[0]
    z = [1.0] * NUMBER  # here
    return BOX[0] * x[1] + len(z)


@rejected(V3, error=MutationError, words="center calls Count may write")
def a_width_writes(x):
    BOX[0] = x[0]
    z = "ab".center(NUMBER)  # here
    return BOX[0] * x[1] + len(z)


@rejected(V3, error=MutationError, words="normal calls Count may write")
def a_number_of_samples_writes(x):
    BOX[0] = x[0]
    z = np.random.default_rng(1).normal(size=NUMBER)  # here
    return BOX[0] * x[1] + len(z)


# What is lost when something raises


@rejected(0.7, error=MissingRuleError, words="map read further raised list")
def goes_on_with_a_map_that_raised(x):
    steps, total = map(lambda v: math.sqrt(v) * x, [1.0, -2.0, 3.0]), x
    for _ in range(3):
        try:
            total = total * next(steps)  # here
        except ValueError:
            total = total + 2.0
    return total


def raising_late(x):
    yield x
    x = x * x
    raise ValueError


def passed_over(steps):
    try:
        return next(steps)
    except ValueError:
        return 2.0


@rejected(0.7, error=MutationError, words="raising_late raised ValueError caught written")
def catches_in_a_function_that_was_not_foreseen(x):
    steps = raising_late(x)
    return x * passed_over(steps) * passed_over(steps)


BITS = np.ones(3)
SHOWN = BITS.view(np.int64)
MEMORY = bytearray(24)
NUMBERS, WHOLE = np.frombuffer(MEMORY, np.float64), np.frombuffer(MEMORY, np.int64)


@rejected(V3, error=MutationError, words="int64 view memory of an array of float64")
def the_bits_of_an_array_are_written(x):
    BITS[:] = x
    total = BITS[0] * x[1]
    SHOWN[0] = 0  # here
    return total + BITS[0] * BITS[1]


@rejected(V3, error=MutationError, words="int64 in the memory of a bytearray")
def the_bits_of_a_buffer_are_written(x):
    NUMBERS[:] = x
    total = NUMBERS[0] * x[1]
    WHOLE[0] = 0  # here
    return total + NUMBERS[0] * NUMBERS[1]


class Level(enum.Enum):
    LOW = 1


@rejected(V3, error=MutationError, words="attribute of the enum Level")
def an_enum_holds_what_is_differentiated(x):
    Level.LOW.weight = x[0]  # here
    return Level.LOW.weight * x[1]


class NamedTable(dict):
    pass


@rejected(V3, error=MutationError, words="attribute scale of a NamedTable which is a dict")
def a_container_has_attributes(x):
    table = NamedTable()
    table["a"] = x[0]
    table.scale = x[1]  # here
    return table["a"] * table.scale


TABLE = {"a": 0.0}
PROXY = types.MappingProxyType(TABLE)


@rejected(V3, error=MutationError, words="mappingproxy shows what others write")
def a_proxy_is_merged(x):
    TABLE["a"] = x[0]
    return {**PROXY}["a"] * x[1]  # here


class Printed:
    def __init__(self, items):
        self.items = items

    def __repr__(self):
        self.items[0] = self.items[0] * 3.0
        return "printed"


@rejected(V3, error=MutationError, words="ValueError printed Printed.__repr__ may write")
def an_exception_is_printed(x):
    items = [x[0]]
    try:
        raise ValueError(Printed(items))  # here
    except ValueError as error:
        print(error)
    return items[0]


@rejected(V3, error=MutationError, words="key of a dict")
def a_number_is_a_key_of_a_display(x):
    weights = {x[0]: 0.4, x[1]: 0.6}  # here
    return sum(value * weight for value, weight in weights.items())


@rejected(V3, error=MutationError, words="key of a dict")
def a_number_is_a_key_of_a_comprehension(x):
    weights = {(entry, 1): 0.5 for entry in x}  # here
    return sum(value * weights[value, one] for value, one in weights)


@rejected(V3, error=MutationError, words="key of a dict")
def something_is_stored_under_a_number(x):
    weights = {}
    for entry in x:
        weights[entry] = 2.0  # here
    return sum(value * weight for value, weight in weights.items())


@rejected(V3, error=MissingRuleError, words="IndexExpression index")
def an_index_is_given_back(x):
    return np.s_[x, 1.0][0].sum()  # here


@rejected(V3, error=MutationError, words="bound of a slice")
def a_number_is_a_bound_of_a_slice(x):
    return np.mgrid[0 : x[0] : 5j].sum()  # here


class ByIndex:
    def __class_getitem__(cls, k):
        return k * 3


@rejected(V3, error=MissingRuleError, words="index")
def a_class_has_an_item(x):
    return ByIndex[x[0]]  # here


@rejected(V3, error=MissingRuleError, words="as_integer_ratio")
def a_number_of_numpy_becomes_a_quotient(x):
    n, d = x[0].as_integer_ratio()  # here
    return n / d


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="numpy.nditer views of buffers")
def read_by_nditer(x):
    return sum(float(a) for a in np.nditer(x))  # here


@rejected(1.5, 0.5, error=UnsupportedSyntaxError, words="set differentiated numbers tuple list")
def the_least_of_a_set(x, y):
    return min({x, y})  # here


@rejected(1.5, 0.5, error=MutationError, words="item of a set keep values in a list or tuple")
def a_sum_over_a_set(x, y):
    return sum(set([x, y]))  # here


@rejected(1.5, error=MissingRuleError, words="decimal.Decimal no derivative floats")
def a_number_becomes_a_decimal(x):
    return float(Decimal(x) * 2)  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="masked_where masked arrays not followed np.where(mask")
def masked_inside(x):
    return np.ma.masked_where(x > 1.0, x).mean()  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="masked arrays not followed np.where(mask")
def masked_by_the_class(x):
    return np.ma.masked_array(x, mask=[True, False]).sum()  # here


@rejected(np.array([[0.5, 1.5]]), error=MissingRuleError, words="np.vectorize signature loop rows")
def vectorized_over_rows(x):
    return np.vectorize(np.linalg.norm, signature="(n)->()")(x).sum()  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="ndarray.__new__ memory np.empty")
def an_array_of_raw_memory(x):
    a = np.ndarray.__new__(np.ndarray, (2,))  # here
    a[:] = x
    return np.sum(a)


@rejected(np.array([0.5, 1.5, 0.7]), error=MissingRuleError, words="pearsonr np.corrcoef rule")
def correlation_with_a_test(x):
    return stats.pearsonr(x, np.array([1.0, 2.0, 4.0])).statistic  # here


@rejected(np.array([0.5, 1.5, 0.7]), error=MissingRuleError, words="ttest_1samp stats.sem rule")
def test_of_a_mean(x):
    return stats.ttest_1samp(x, 0.3).pvalue  # here


@rejected(np.array([0.5, 1.5, 0.7]), error=MissingRuleError, words="describe np.var(x, ddof=1) rule")
def what_describe_gives(x):
    return stats.describe(x).variance  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="array of dtype object list")
def arrays_in_an_array_of_objects(x):
    held = np.empty(2, dtype=object)
    held[0] = x * x
    held[0][1] = x[0]
    held[1] = held[0]
    return np.sum(held[1] * x)  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="array of dtype object list")
def lists_in_an_array_of_objects(x):
    held = np.empty((2, 2), dtype=object)
    held[0, 0] = x * x
    held[1] = [x, 2.0 * x]
    return np.sum(held[0, 0] * held[1, 1])  # here


@rejected(1.5, error=MutationError, words="functools.wraps outside")
def decorated_inside(x):
    seen = []

    def noted(f):
        @functools.wraps(f)
        def wrapper(y):  # here
            seen.append(f(y))
            return 2.0 * seen[-1]

        return wrapper

    return noted(lambda y: y * y)(x)


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="loop broadcast")
def read_by_broadcast(x):
    total = 0.0
    for a, b in np.broadcast(x, 2.0):  # here
        total += a * b
    return total


# Signatures in which there is something differentiated


@rejected(0.7, error=MissingRuleError, words="signature f defaults differentiated")
def signature_with_an_active_default(x):
    def f(a, b=x):
        return a * b

    given = inspect.signature(f).bind(x * x)  # here
    given.apply_defaults()
    return f(*given.args, **given.kwargs)


@rejected(0.7, error=MissingRuleError, words="signature partial defaults differentiated")
def signature_of_an_active_partial(x):
    g = functools.partial(math.pow, y=x) if x < 0 else functools.partial(scaled_by, b=x)
    given = inspect.signature(g).bind(x * x)  # here
    given.apply_defaults()
    return given.arguments["b"]


def scaled_by(a, b):
    return a * b


# Functions that hold numbers, as keys and in sets


@rejected(0.7, error=MutationError, words="differentiated float key set")
def set_of_closures(x):
    def square():
        return x * x

    functions = {square}  # here
    return sum(f() for f in functions)


@rejected(0.7, error=MutationError, words="differentiated float key set")
def closure_as_a_key(x):
    table = {}
    table[lambda: x * x] = x  # here
    return sum(f() * table[f] for f in table)


@rejected(0.7, error=MutationError, words="differentiated float key set")
def partial_added_to_a_set(x):
    functions = set()
    functions.add(functools.partial(scaled_by, x))  # here
    return functions.pop()(2.0)


@rejected([0.7, 0.2], error=MutationError, words="differentiated float key set")
def smallest_of_a_set(values):
    return min(set(values)) * 2.0  # here


# Arrays of the user's classes


class Deciding(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return getattr(ufunc, method)(*map(np.asarray, inputs), **options) * 2.0


@rejected(np.array([1.3, 0.4]), error=MissingRuleError, words="Deciding says itself mul")
def product_that_the_class_makes(x):
    deciding = x.view(Deciding)
    return np.sum(np.asarray(deciding * deciding))  # here


class Summing(np.ndarray):
    def sum(self, *args, **options):
        return np.asarray(self).sum() * 2.0


@rejected(np.array([1.3, 0.4]), error=MissingRuleError, words="Summing sum")
def sum_that_asks_the_class(x):
    return np.sum(x.view(Summing))  # here


@rejected(np.array([1.3, 0.4]), error=MissingRuleError, words="array float64 looked float32")
def bits_as_other_numbers(x):
    return np.sum(x.view(np.float32) * 2.0)  # here
@rejected(1.5, error=MissingRuleError, words="implementation functools.singledispatch uses variables of the function around it")
def an_implementation_that_holds_an_argument(x):
    k = 2.0 * x

    @functools.singledispatch
    def f(v):
        return v

    @f.register
    def _(v: float):  # here
        return v * k

    return f(x)


class Settled:
    def __init__(self, account, rate):
        self.account = account
        self.rate = rate

    def __del__(self):
        self.account.total = self.account.total * self.rate


class Account:
    def __init__(self, total):
        self.total = total


@rejected(1.3, error=MutationError, words="Settled __del__ may write when it is dropped")
def an_object_that_writes_when_it_is_dropped(x):
    account = Account(x)
    settled = Settled(account, x)  # here
    del settled
    return account.total


@rejected(1.3, error=MutationError, words="Settled __del__ may write when it is dropped")
def a_constant_object_that_writes_when_it_is_dropped(x):
    account = Account(2.0)
    settled = Settled(account, 3.0)  # here
    del settled
    return account.total * x


@rejected(1.3, error=MissingRuleError, words="depends on when a differentiated object is dropped")
def what_is_called_when_an_object_is_dropped(x):
    account = Account(x)
    other = Account(1.0)
    weakref.finalize(other, setattr, account, "total", x * x)  # here
    del other
    return account.total


@rejected(np.array([0.5, 1.5]), error=MutationError, words="attribute 'shape' x.reshape(shape)")
def an_array_that_gets_another_shape(x):
    y = x * 2.0
    y.shape = (2, 1)  # here
    return y.sum()


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="items np.broadcast")
def a_list_of_what_broadcast_gives(x):
    return sum([a * b for a, b in list(np.broadcast(x, 2.0))])  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="items np.broadcast")
def what_broadcast_gives_by_map(x):
    return sum(map(lambda pair: pair[0] * pair[1], np.broadcast(x, x)))  # here


@rejected(np.array([0.5, 1.5]), error=MissingRuleError, words="items np.broadcast")
def what_broadcast_gives_first_in_a_run_that_writes(x):
    kept = []
    kept.append(x)
    a, b = next(iter(np.broadcast(kept[0], x)))  # here
    return a * b


# Classes of iterators, for which other objects stand


@rejected([2.0, 3.0], error=MissingRuleError, words="class of an iterator")
def type_of_an_iterator(xs):
    first = iter(xs)
    if type(first).__name__ == "list_iterator":  # here
        return next(first) * 3.0
    return next(first) * 5.0


@rejected([2.0, 3.0], error=MissingRuleError, words="class of an iterator map")
def instance_of_map(xs):
    twice = map(lambda x: 2.0 * x, xs)
    return next(twice) * (3.0 if isinstance(twice, map) else 5.0)  # here


@rejected([2.0, 3.0], error=MissingRuleError, words="class of an iterator enumerate")
def class_of_an_enumeration(xs):
    pairs = enumerate(xs)
    total = sum(x * k for k, x in pairs)
    return total * (3.0 if pairs.__class__ is enumerate else 1.0)  # here


# Functions of NumPy's of objects, whose classes say what they do


class Skewed:
    """An object of which each operator makes what it is for no number."""

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __neg__(self):
        return Skewed(-self.a, self.b)

    def __pos__(self):
        return Skewed(self.a * self.a, self.b)

    __abs__ = __pos__

    def __mul__(self, factor):
        return Skewed(self.a * factor, self.b)

    def __floordiv__(self, factor):
        return Skewed(self.a / factor, 3.0 * self.b)

    def rint(self):
        return Skewed(5.0 * self.a, self.b)


MAKERS = {"skewed": Skewed}


def skewed(x):
    return MAKERS["skewed"](x, x * x)


@rejected(1.5, skewed, error=MissingRuleError, words="Skewed operators of its own")
def np_negative_of_an_object(x, make):
    y = np.negative(make(x))  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="Skewed operators of its own")
def np_positive_of_an_object(x, make):
    y = np.positive(make(x))  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="Skewed operators of its own")
def np_abs_of_an_object(x, make):
    y = np.abs(make(x))  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="np.floor_divide of an object, of which its class Skewed says what it is")
def np_floor_divide_of_an_object(x, make):
    y = np.floor_divide(make(x), 2.0)  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="np.rint of an object")
def np_rint_of_an_object(x, make):
    y = np.rint(make(x))  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="Skewed")
def np_multiply_of_an_object(x, make):
    y = np.multiply(make(x), 2.0)  # here
    return y.a + y.b


@rejected(1.5, skewed, error=MissingRuleError, words="Skewed")
def np_dot_of_an_object(x, make):
    y = np.dot(make(x), 2.0)  # here
    return y.a + y.b
