"""What is read from a caught exception: its arguments and fields, which have cotangents as those of any object."""

# The programs raise where they catch, and say what they mean in few words.
# ruff: noqa: B012, E731, F821, PT011, SIM

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.programs.mutation.table import program


class Payload(Exception):
    def __init__(self, value):
        self.payload = value


class Described(Exception):
    def __init__(self, value, text):
        super().__init__(text)
        self.payload = value


@program(1.5, features="try")
def argument_of_a_caught_exception(x):
    try:
        raise ValueError(x * x)
    except ValueError as e:
        return e.args[0] * 2


def raises_a_square(x):
    raise ValueError(x * x)


@program(1.5, features="try")
def argument_of_what_a_call_raised(x):
    try:
        raises_a_square(x)
    except ValueError as e:
        return e.args[0] * 2


@program(1.5, features="try")
def field_of_a_caught_exception(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        return e.payload * 2


@program(1.5, features="try")
def field_beside_a_text(x):
    try:
        raise Described(x * x, "n")
    except Described as e:
        return e.payload * 2


@program([1.5, 2.0], features="try")
def caught_after_writes_into_a_list(x):
    x[0] = x[1] * 2
    try:
        x[1] = 3.0 * x[0]
        raise Payload(x[0] * x[1])
    except Payload as e:
        x[0] = e.payload
    return x[0] * x[1]


def gives_and_returns(x):
    yield x
    return x * x


@program(1.5, features="try")
def value_that_a_generator_returned(x):
    g = gives_and_returns(x)
    a = next(g)
    try:
        next(g)
    except StopIteration as s:
        return s.value * a


@program(1.5, features="try")
def cause_of_a_caught_exception(x):
    try:
        try:
            raise ValueError(x * x)
        except ValueError as e:
            raise Payload(x * 3) from e
    except Payload as p:
        return p.payload * p.__cause__.args[0]


@program(1.5, features="try")
def raised_again_with_another_field(x):
    try:
        try:
            raise Payload(x * x)
        except Payload as e:
            e.payload = e.payload * 2
            raise
    except Payload as p:
        return p.payload


@program([1.0, 2.0, 3.0], features="try")
def caught_in_a_loop(xs):
    t = 0.0
    for a in xs:
        try:
            if a > 1.5:
                raise Payload(a * a)
            t += a
        except Payload as p:
            t += p.payload * 2
    return t


@program(1.5, features="try")
def class_of_what_was_caught(x):
    try:
        raises_a_square(x)
    except Exception as e:
        if isinstance(e, ValueError):
            return e.args[0]
        return x


@program(1.5, features="try")
def kept_under_another_name(x):
    err = None
    try:
        raises_a_square(x)
    except ValueError as e:
        err = e
    return err.args[0] * 2


@program(1.5, features="try")
def unpacked_arguments(x):
    try:
        raise ValueError("t", x * x)
    except ValueError as e:
        text, v = e.args
        return v * 3


@program(1.5, features="try")
def caught_and_handed_on(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        return payload_of(e)


def payload_of(e):
    return e.payload * 2


@program(np.array([1.0, 2.0]), features="try")
def array_in_a_caught_exception(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        e.payload[0] = 3.0 * x[1]
        return np.sum(e.payload * x)


class Chained(Payload):
    def __init__(self, value, k=2.0):
        super().__init__(value * k)
        self.more = value

    @property
    def double(self):
        return self.payload * 2

    def scaled(self, s):
        return self.payload * s + self.more


class Slots(Exception):
    __slots__ = ("v",)

    def __init__(self, v):
        Exception.__init__(self, v * 3.0)
        self.v = v


class Plain(Exception):
    pass


@dataclass
class Data(Exception):
    v: float
    w: float = 2.0


class New(Exception):
    def __new__(cls, v):
        self = super().__new__(cls, v * v)
        self.v = v
        return self


@program(1.5, features="try")
def class_with_property_and_method(x):
    try:
        raise Chained(x * x, k=x)
    except Payload as e:
        return e.double * e.scaled(x) + e.args[0]


@program(1.5, features="try")
def exception_with_slots(x):
    try:
        raise Slots(x * x)
    except Slots as e:
        return e.v * e.args[0]


@program(1.5, features="try")
def exception_as_a_dataclass(x):
    try:
        raise Data(x * x, w=x)
    except Data as e:
        return e.v * e.w


@program(1.5, features="try")
def exception_with_its_own_new(x):
    try:
        raise New(x * x)
    except New as e:
        return e.v * e.args[0]


@program(1.5, features="try")
def constants_beside_numbers(x):
    try:
        raise Plain(2.0, x)
    except Plain as e:
        a, b = e.args
        return a * b * x


@program(1.5, features="try")
def constant_in_an_exception(x):
    try:
        raise Plain(2.0)
    except Plain as e:
        return e.args[0] * x


@program(1.5, features="try")
def kept_and_read_by_an_outer_handler(x):
    err = None
    try:
        try:
            raise Plain(x * x)
        except Plain as e:
            err = e
        raise KeyError("k")
    except KeyError:
        return err.args[0] * 2


@program(1.5, features="try")
def kept_in_a_branch(x):
    err = None
    try:
        raise Plain(x * x)
    except Plain as e:
        if x > 0:
            err = e
    return err.args[0] * 2


@program(1.5, features="try")
def kept_in_a_list(x):
    errors = []
    for k in range(3):
        try:
            raise Plain(x * k)
        except Plain as e:
            errors.append(e)
    return sum(e.args[0] * x for e in errors)


@program(1.5, features="try")
def made_before_it_is_raised(x):
    err = Payload(x * x)
    try:
        raise err
    except Payload as e:
        e.payload = e.payload * 3
    return err.payload * 2


@program(1.5, features="try")
def context_of_a_caught_exception(x):
    try:
        try:
            raise Plain(x)
        finally:
            raise Payload(x * x)
    except Payload as e:
        return e.payload * e.__context__.args[0]


@program(1.5, features="try")
def stop_iteration_made_by_hand(x):
    try:
        raise StopIteration(x * x)
    except StopIteration as s:
        return s.value * s.args[0]


@program(1.5, features="try")
def fields_as_a_dict(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        return vars(e)["payload"] + e.__dict__["payload"]


@program([1.0, 2.0], features="try")
def caught_in_a_while(xs):
    i = 0
    t = 0.0
    while True:
        try:
            if i > 1:
                raise Payload(t)
            t += xs[i] ** 2
            i += 1
        except Payload as p:
            return p.payload * xs[0]


@program([1.0, 2.0], features="try")
def list_in_a_caught_exception(xs):
    try:
        raise Payload(xs)
    except Payload as p:
        p.payload[0] = p.payload[1] * 3
    return xs[0] * xs[1]


@program(np.array([1.0, 2.0]), features="try")
def array_known_by_another_name(x):
    y = x * 2
    try:
        raise Plain(y)
    except Plain as p:
        p.args[0][0] = x[1] * 3
    return np.sum(y * x)


@program(np.array([1.0, 2.0]), features="try")
def array_that_a_call_raised(x):
    y = x * 2
    try:
        raises_what_it_gets(y)
    except Plain as p:
        z = p.args[0]
        z[0] = x[1] * 3
    return np.sum(y * x)


def raises_what_it_gets(y):
    raise Plain(y)


@program(1.5, features="try")
def matched_exception(x):
    try:
        raise Payload(x * x)
    except Payload as e:
        match e:
            case Payload(payload=v):
                return v * 2


@program(1.5, features="try")
def exception_with_a_note(x):
    try:
        raise Plain(x)
    except Plain as e:
        e.add_note("hello")
        return e.args[0] * x


@program(1.5, features="try")
def raised_with_a_traceback(x):
    try:
        try:
            raise Plain(x)
        except Plain as e:
            raise e.with_traceback(None)
    except Plain as f:
        return f.args[0] * x


@program(1.5, features="try")
def handlers_of_several_classes(x):
    t = 0.0
    for k in range(3):
        try:
            if k == 0:
                raise Plain(x * x)
            elif k == 1:
                raise Payload(x)
            else:
                raise ValueError("n", x**3)
        except (Plain, ValueError) as e:
            t += e.args[-1]
        except Payload as e:
            t += e.payload * 5
    return t


class Items(Exception):
    def __init__(self, m):
        self.items = []


@program(1.5, features="try")
def list_that_grows_in_an_exception(x):
    err = Items("m")
    err.items.append(x * x)
    try:
        raise err
    except Items as e:
        e.items.append(x)
        return e.items[0] * e.items[1]


@program(1.5, features="try")
def default_in_an_exception(x):
    def f(a, *, k=x):
        raise Plain(a, k)

    try:
        return f(x)
    except Plain as e:
        a, b = e.args
        return a * b


@program(1.5, features="try")
def caught_in_a_function_inside(x):
    def outer():
        try:
            inner()
        except Plain as e:
            return e.args[0] * 2

    def inner():
        raise Plain(x * x)

    return outer() * x


@program([1.5, 2.0], features="try")
def caught_and_written_into_an_argument(xs):
    def check(v):
        if v > 1.7:
            raise Plain(v * v)
        return v

    out = []
    for v in xs:
        try:
            out.append(check(v))
        except Plain as e:
            xs[0] = e.args[0]
            out.append(e.args[0] * 3)
    return sum(out) + xs[0]


@program(1.5, features="try")
def else_and_finally_beside_it(x):
    t = [0.0]
    try:
        y = x * x
        if y > 100:
            raise Plain(y)
    except Plain as e:
        t[0] = e.args[0]
    else:
        t[0] = y * 2
    finally:
        t[0] = t[0] * x
    return t[0]


@program(1.5, features="try")
def finally_that_returns(x):
    def f():
        try:
            raise Plain(x * x)
        finally:
            return x * 3

    return f()


@program(1.5, features="try")
def raised_in_a_handler(x):
    try:
        try:
            raise Plain(x * x)
        except Plain as e:
            v = e.args[0]
            raise Payload(v * x) from e
        finally:
            w = x * 2
    except Payload as p:
        return p.payload + p.__cause__.args[0] * w
