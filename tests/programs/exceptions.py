"""Programs that raise, catch, clean up and enter contexts."""

# Some of these leave a `finally` in ways that linters advise against; the gradient has to be right all the same.
# ruff: noqa: B012, SIM105, SIM107, TRY

from __future__ import annotations

import math
from contextlib import contextmanager, nullcontext, suppress

import numpy as np

from tests.programs.table import program


class Trouble(Exception):
    """An exception of a program's own."""


def checked(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x + x


class Log:
    """A context manager that prints what it sees, and suppresses what it is told to."""

    def __init__(self, name, suppressed=()):
        self.name = name
        self.suppressed = suppressed

    def __enter__(self):
        print("enter", self.name)
        return 0.5

    def __exit__(self, kind, error, traceback):
        print("exit", self.name, kind, error, traceback is not None, error is not None and error.__traceback__ is traceback)
        return kind is not None and issubclass(kind, self.suppressed)


@contextmanager
def announced(name):
    print("before", name)
    try:
        yield 2.0
    finally:
        print("after", name)


# except


@program(1.5, 2.0, features="try")
@program(1.5, -2.0, features="try")
def partly_run_body(x, y):
    a = x * 2.0
    try:
        a = a * x
        b = math.sqrt(y)
        a = a * b + x
    except ValueError:
        a = a * 3.0
    return a * y


@program(1.5, features="try")
def raise_at_the_end_of_the_body(x):
    y = x
    try:
        y = y * x
        raise ValueError
    except ValueError:
        y = y * 3.0
    return y


@program(1.5, 2.0, features="try")
@program(-1.5, 2.0, features="try")
def handler_that_reads_nothing(x, y):
    try:
        r = math.log(x) / y
    except ValueError:
        r = x * x
    return r * y


@program(1.5, 2.0, features="try")
@program(1.5, -2.0, features="try")
@program(-1.5, 2.0, features="try")
def exception_of_a_callee(x, y):
    try:
        a = checked(x)
        a = a * checked(y)
    except ValueError:
        return x * y
    return a + x


@program(0.5, features="several handlers")
@program(1.5, features="several handlers")
@program(2.5, features="several handlers")
@program(3.5, features="several handlers")
def by_type(x):
    y = x
    try:
        y = y * x
        if x > 3.0:
            raise Trouble
        if x > 2.0:
            y = y * x
            raise KeyError("none")
        if x > 1.0:
            y = math.sqrt(-y)
        y = y + 1.0
    except (KeyError, IndexError) as error:
        print(type(error), error)
        y = y * 2.0
    except Trouble:
        y = y * 3.0
    except Exception as error:
        print(str(error), error.args)
        y = y * 4.0
    return y * x


@program(1.5, features="bare except")
@program(-1.5, features="bare except")
def bare(x):
    try:
        y = checked(x)
    except:  # noqa: E722
        y = -x
    return y * x


@program(1.5, features="else")
@program(-1.5, features="else")
def with_else(x):
    y = x
    try:
        y = checked(x)
    except ValueError:
        y = y * 5.0
    else:
        y = y * x
    return y


@program(1.5, features="else")
@program(-1.5, features="else")
def else_is_not_protected(x):
    try:
        try:
            y = x * 2.0
        except ValueError:
            y = x * 3.0
        else:
            y = checked(x) + y
    except ValueError:
        y = y * 7.0
    return y


@program(1.5, features="raise again")
@program(-1.5, features="raise again")
def raised_again(x):
    y = x
    try:
        try:
            y = y * 2.0
            y = checked(x) * y
        except ValueError:
            y = y * 3.0
            raise
    except ValueError:
        y = y * x
    return y


@program(1.5, features="raise from")
@program(-1.5, features="raise from")
def raised_from(x):
    y = x
    try:
        try:
            y = checked(x)
        except ValueError as error:
            y = y * y
            raise Trouble("worse") from error
    except Trouble as error:
        print(repr(error), repr(error.__cause__), repr(error.__context__))
        y = y * x
    return y


@program(-1.5, features="exception name")
def name_is_unbound_after_the_handler(x):
    error = 1.0
    try:
        y = checked(x)
    except ValueError as error:
        y = x * x
    try:
        y = y * error
    except UnboundLocalError:
        y = y * 2.0
    return y


@program(1.5, features="unassigned variable")
@program(-1.5, features="unassigned variable")
def never_assigned(x):
    try:
        y = checked(x)
        z = y * x
    except ValueError:
        pass
    try:
        return z * y
    except UnboundLocalError:
        return x * x


class Low(Exception):
    def __init__(self, value, limit):
        super().__init__(f"below {limit}")
        self.value = value


@program(1.5, features="exception with values")
@program(-1.5, features="exception with values")
def exceptions_hold_values(x):
    y = x * x
    try:
        try:
            if x < 0.0:
                raise Low(y * x, 0.5)
            raise ValueError(y, x)
        except Low as error:
            print(type(error).__name__, str(error), isinstance(error, Exception), f"{error!r:.3}")
            y = y * 2.0
            raise KeyError(y) from error
    except (ValueError, KeyError) as error:
        y = y * x
        print(error.__traceback__ is not None)
    return y


# Loops


@program(1.5, 2.0, features="loop in try")
@program(1.5, 1.0, features="loop in try")
def loop_in_the_body(x, y):
    s = x
    try:
        for i in range(4):
            s = s + checked(y - i * 0.7)
            s = s * 1.1
    except ValueError:
        s = s * 3.0
    return s * x


@program(1.5, 2.0, features="loop in try")
@program(1.5, 0.1, features="loop in try")
def nested_loops_in_the_body(x, y):
    s = x
    n = 0
    try:
        while checked(y - n * 0.6) > 0.2:
            n += 1
            for j in range(3):
                s = s * y
                if j == 1 and n == 2:
                    break
                s = s + checked(2.3 - n) * x
        else:
            s = s * 2.0
    except ValueError:
        s = s * x
    return s + x


@program(1.5, 2.2, features="try in loop, continue, break")
@program(-1.5, 2.2, features="try in loop, continue, break")
def try_in_a_loop(x, y):
    s = 1.0
    for i in range(5):
        try:
            s = s * x + checked(y - i)
            if i == 1:
                continue
            s = s + x
        except ValueError:
            s = s * y
            if i == 4:
                break
            continue
        s = s * 1.5
    else:
        s = s * 2.0
    return s


@program([1.5, -0.5, 2.0, -1.0], features="try in loop")
def items_that_fail(xs):
    total = 0.0
    failed = 0
    for x in xs:
        try:
            total = total + math.sqrt(x) * total + x
        except ValueError:
            failed += 1
            total = total - x * x
    return total * failed


@program(1.5, features="try in while, retry")
def retries(x):
    step = x
    for _ in range(6):
        try:
            y = checked(1.0 - step)
            break
        except ValueError:
            step = step * 0.4
    return y * step


# finally


@program(1.5, 2.0, features="finally")
def always(x, y):
    s = x
    try:
        s = checked(x) + y
    finally:
        s = s * y
        print("done")
    return s


@program(1.5, features="finally, return")
@program(0.5, features="finally, return")
@program(-0.5, features="finally, return")
def returned_through_finally(x):
    y = x
    try:
        y = y * x
        if x > 1.0:
            return checked(y) * y
        y = checked(x)
    except ValueError:
        y = y * 3.0
        return y
    finally:
        y = y * 100.0
        print("left")
    return y * x


@program(1.5, features="finally, return")
@program(-1.5, features="finally, return")
def finally_that_overrides(x):
    y = x
    try:
        y = y * 2.0
        y = checked(x)
        return y
    finally:
        return y * x


@program(1.5, 3.2, features="finally, break, continue")
@program(0.3, 3.2, features="finally, break, continue")
def loops_through_finally(x, y):
    s = x
    for i in range(6):
        try:
            if i == 1:
                continue
            if i == 4:
                break
            s = s * x + checked(y - i)
        except ValueError:
            s = s - 1.0
        finally:
            s = s + 0.5 * y * s
        s = s * 0.7
    return s


@program(1.5, features="finally, break")
@program(-1.5, features="finally, break")
def finally_that_breaks(x):
    s = x
    while True:
        try:
            s = s * 2.0
            s = s + checked(x)
        finally:
            s = s * x
            break
    return s * x


@program(1.5, features="nested finally, return")
@program(0.5, features="nested finally, return")
def nested_finally(x):
    y = x
    try:
        try:
            if x > 1.0:
                return y * y * x
            y = y * 2.0
        finally:
            y = y * x
            print("inner")
        y = y + 1.0
    finally:
        y = y * x
        print("outer")
    return y


@program(1.5, 2.2, features="finally, nested loops, return")
@program(1.5, 9.0, features="finally, nested loops, return")
def returned_from_loops_through_finally(x, y):
    s = x
    try:
        for i in range(3):
            for j in range(3):
                s = s * 1.1 + checked(y - i - j)
                if s > 40.0:
                    return s * y
    except ValueError:
        s = s * x
    finally:
        print("left")
    return s


@program(1.5, features="finally, exception, handler")
@program(-1.5, features="finally, exception, handler")
def finally_before_a_handler(x):
    y = x
    try:
        try:
            y = y * 2.0
            y = checked(x) * y
        finally:
            y = y * y
    except ValueError:
        y = y * x
    return y


# with


@program(1.5, 2.0, features="with")
def contexts(x, y):
    with Log("a") as half, Log("b"), announced("c") as two:
        z = x * half * two
        z = z * y
    return z


@program(1.5, 2.0, features="with, suppress")
@program(1.5, -2.0, features="with, suppress")
def suppressed(x, y):
    with suppress(ValueError):
        x = x * 2.0
        x = checked(y) * x
        x = x + 1.0
    return x * y


@program(1.5, features="with, suppress, return")
@program(-1.5, features="with, suppress, return")
def returned_through_contexts(x):
    y = x
    with Log("outer"), Log("inner", ValueError):
        y = y * x
        return checked(x) * y
    return y


@program(2.5, features="with, loop, break, continue")
def left_by_break(x):
    s = x
    for i in range(5):
        with Log(i):
            if i == 1:
                continue
            s = s * x
            if i == 3:
                break
        s = s + 1.0
    return s


@program(-1.5, features="with, exception")
def seen_by_a_context(x):
    y = x
    try:
        with Log("seen"):
            y = y * 2.0
            y = checked(x) * y
    except ValueError:
        return y * x
    return y


@program(1.5, features="with")
def not_a_context(x):
    y = x
    try:
        y = y * x
        with 3 as three:
            y = y * three
    except TypeError as error:
        print(error)
    return y


@program(np.array([1.0, 2.0]), 0.0, features="with, arrays")
def settings(v, x):
    with np.errstate(divide="ignore"), nullcontext():
        return np.where(v > 1.5, v * v, v) * (1.0 + x)


@program(np.array([1.0, 2.0]), 3.0, features="with, strict zip")
def loop_over_a_strict_zip_in_a_context(v, x):
    y = x
    with np.errstate(divide="ignore"):
        for a, b in zip(v, (2.0, x), strict=True):
            y = y * a + b
    return y


# Elsewhere


@program(1.5, features="assert")
@program(-1.5, features="assert")
def asserted(x):
    y = x * x
    try:
        assert x > 0.0, "sign"
        y = y * x
    except AssertionError as error:
        print(error)
        y = y * 2.0
    return y


@program(3.0, features="recursion")
@program(0.2, features="recursion")
def recursive(x, depth=3):
    try:
        y = checked(x - 1.0)
        return y * recursive(x - 0.8, depth - 1) if depth else y
    except ValueError:
        return x * x


@program(1.5, features="closure")
@program(-1.5, features="closure")
def inner_function(x):
    def tried(t):
        try:
            return checked(t) * x
        except ValueError:
            return t * t * x

    return tried(x) + tried(-x)


@program(np.array([1.0, 2.0, 3.0]), features="arrays")
@program(np.array([1.0, -2.0, 3.0]), features="arrays")
def arrays_in_the_body(v):
    total = v * 1.0
    try:
        for i in range(3):
            total = total * checked(v[i])
            total = total + np.sum(v)
    except ValueError:
        total = total @ v * v
    return total


@program({"a": 1.5}, features="missing key")
@program({"a": 1.5, "b": 2.0}, features="missing key")
def missing_key(table):
    try:
        return table["a"] * table["b"]
    except KeyError:
        return table["a"] ** 2


# Found by random programs


@program(0.4, 0.3, 1.2, features="try, rotation")
def swapped_before_the_end(x, y, z):
    try:
        try:
            y = x * x
            x, z = z, x
        except Exception:
            y, z = y
        finally:
            y = x * z
    finally:
        y = y * x
    return y


@program(0.4, 0.3, features="try in loop, with")
def items_bound_again(y, z):
    for _, item in enumerate([math.cos(z + 0.2), y * y]):
        with nullcontext(0.5), nullcontext(0.25):
            try:
                y = z * item
                item = y  # noqa: PLW2901
            except KeyError:
                pass
            finally:
                y = item
    return y


@program(0.9, 1.2, features="try, arms that assign the same")
def same_value_in_both_arms(x, z):
    try:
        v = z
        if 1.15 < x < 2.0:
            x = v
        else:
            x = v
            raise ValueError from OSError
    except Exception:
        pass
    return x * x


@program(0.9, 1.2, features="finally, nested")
def raised_by_a_finally(x, y):
    with suppress(ValueError, ArithmeticError):
        try:
            y = y * x
        except Exception:
            y = x
        finally:
            raise ZeroDivisionError from None
    return y * y


@program(1.5, features="unassigned variable, else")
@program(-1.5, features="unassigned variable, else")
def bound_in_the_body_only(x):
    try:
        items = [math.sqrt(x * k) for k in (1, 2)]
        print(len(items))
    except Exception:
        x = x * x
    else:
        x = items[1] * x
    return x
