"""Exceptions that are caught after writes: what was written by then is undone, and nothing else."""

# Handlers that do little, and exceptions that are raised in sight, are what is tried here.
# ruff: noqa: B012, SIM105, TRY

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from tests.programs.mutation.table import V3, program

L = [0.5, 1.2, 0.7]
K = 0.8


@program(0.7, features="try, append then raise")
def append_then_raise(x):
    items = [2.0]
    try:
        items.append(x * x)
        math.sqrt(-1.0)
    except ValueError:
        pass
    return items[-1] * x


@program(L, K, features="try, loop of appends")
def loop_of_appends(items, k):
    try:
        for i in range(10):
            items.append(items[i] * k)
            if i == 2:
                raise ValueError
            items[0] = items[i] * items[1]
    except ValueError:
        items[1] *= 3.0
    return sum(items) * items[0]


@program(L, K, features="try, while of appends")
def while_of_appends(items, k):
    i = 0
    try:
        while True:
            items[i] = items[i] * k + items[0]
            i += 1
    except IndexError:
        items.append(items[0] * i)
    return sum(v * v for v in items)


class Full:
    def __init__(self):
        self.total = 1.0
        self.seen = []

    def add(self, v):
        self.total = self.total * v + v
        self.seen.append(v)
        if len(self.seen) > 2:
            raise OverflowError("full")
        self.total += 1.0
        return self.total


@program(L, K, features="try, method raises")
def method_raises(items, k):
    a = Full()
    y = 0.0
    for v in items:
        try:
            y += a.add(v * k)
        except OverflowError:
            y += a.total * 2.0
    return y * a.total + a.seen[-1]


@program(L, K, features="try, return inside")
def return_inside(items, k):

    def inner():
        try:
            items[0] = k * items[1]
            return items[0] * items[9]
        except IndexError:
            items[1] = items[0] * items[2]
            return items[1]
        finally:
            items[2] = items[0] * items[1]

    r = inner()
    return r * sum(items)


class Guard:
    def __init__(self, items):
        self.items = items

    def __enter__(self):
        self.items.append(self.items[0] * 2.0)
        return self.items

    def __exit__(self, t, e, tb):
        self.items[0] = self.items[-1] * self.items[1]
        return t is ValueError


@program(L, K, features="try, suppressing guard")
def suppressing_guard(items, k):
    with Guard(items) as m:
        m[1] = k * m[2]
        m.append(k)
        if k > 0:
            raise ValueError
        m[2] = 0.0
    return sum(v * v for v in items)


@program(L, K, features="try, nested tries")
def nested_tries(items, k):
    try:
        items[0] = k * items[0]
        try:
            items[1] = items[0] * items[2]
            items[7] = 1.0
        except KeyError:
            items[2] = 0.0
        finally:
            items.append(items[1] * k)
        items[1] = 0.0
    except IndexError:
        items[0] *= items[-1]
    return sum(v * v for v in items)


@program(L, K, features="try, handler raises into outer")
def handler_raises_into_outer(items, k):
    try:
        try:
            items[0] = k * items[0]
            raise KeyError
        except KeyError:
            items[1] = items[0] * items[1]
            raise ValueError
    except ValueError:
        items[2] *= items[1]
    return sum(v * v for v in items)


def deep(items, n, k):
    items.append(k * items[-1])
    if n == 0:
        raise ValueError
    deep(items, n - 1, k)
    items.append(0.0)


@program(L, K, features="try, recursive callee")
def recursive_callee(items, k):
    try:
        deep(items, 3, k)
    except ValueError:
        items[0] *= items[-1]
    return sum(v * v for v in items)


def half(items, k):
    try:
        items[0] = k * k
        items[5] = 2.0
    except ZeroDivisionError:
        items[1] = 0.0


@program(L, K, features="try, callee with its own try")
def callee_with_its_own_try(items, k):
    try:
        half(items, k)
    except IndexError:
        items[2] *= items[0]
    return sum(v * v for v in items)


@program(V3, K, features="try, array in place then raise")
def array_in_place_then_raise(x, k):
    u = x.copy()
    try:
        u *= k
        u += x
        u[0] = k
        u += np.zeros(7)
        u *= 2.0
    except ValueError:
        u[1] *= u[0]
    return np.sum(u * u)


@program(V3, K, features="try, out then raise")
def out_then_raise(x, k):
    u = np.empty(3)
    try:
        np.multiply(x, k, out=u)
        np.exp(u, out=u)
        u[9] = 1.0
    except IndexError:
        u[2] += k
    return np.sum(u * u)


@program(L, K, features="try, comprehension in body")
def comprehension_in_body(items, k):
    out = []
    try:
        ys = [v * k for v in items]
        out.extend(ys)
        out.append(items[9])
    except IndexError:
        out.append(k)
    return sum(v * v for v in out)


@program({"a": 0.7, "b": 1.3}, 0.8, features="try, dict entry")
def dict_entry(d, k):
    r = 1.0
    for name in ("a", "c", "b", "c"):
        try:
            r *= d[name]
            d[name] = k * r
        except KeyError:
            d[name] = r * k
    return r * d["c"]


@program(L, K, features="try, leaves by break")
def leaves_by_break(items, k):
    t = 1.0
    for v in items:
        try:
            items[0] = items[0] * v
            if v > 1.0:
                break
            t *= v
        except ValueError:
            t = 0.0
        finally:
            items[2] += t * k
    return t * items[0] * items[2]


@program(L, K, features="try, callback constructor")
def callback_constructor(items, k):
    try:
        a = Full()
        a.add(k)
        a.add(items[0])
        a.add(items[1])
        items[0] = 0.0
    except OverflowError as e:
        items[1] = a.total * len(str(e))
    return sum(v * v for v in items) + a.total


class Init:
    def __init__(self, items, k):
        items.append(k * k)
        self.k = k
        if k < 1:
            raise ValueError


@program(L, K, features="try, constructor raises")
def constructor_raises(items, k):
    try:
        Init(items, k)
    except ValueError:
        items[0] *= items[-1]
    return sum(v * v for v in items)


@program(L, K, features="try, with in loop")
def with_in_loop(items, k):
    for i in range(4):
        with suppress(IndexError):
            items[0] *= k
            items[i] = items[i] * items[0]
            items[1] += items[0]
    return sum(v * v for v in items)


@program(L, K, features="try, reraised then caught")
def reraised_then_caught(items, k):
    try:
        for v in list(items):
            try:
                items[0] *= v
                if v > 1:
                    raise KeyError
                items[1] += items[0]
            except KeyError:
                items[2] *= items[0]
                raise
    except KeyError:
        items[0] *= 2.0
    return sum(v * v for v in items)


@program(L, K, features="try, zip in body")
def zip_in_body(items, k):
    try:
        for a, b in zip(items, [1.0, 2.0, 3.0]):
            items[0] = items[0] * a * b
            if b > 1.5:
                raise KeyError
    except KeyError:
        items[2] *= items[0]
    return sum(v * v for v in items)


@program(L, K, features="try, sort raises")
def sort_raises(items, k):
    m = [items[0], items[1], items[2]]

    def key(v):
        if v > k:
            raise ValueError
        return -v

    try:
        m.sort(key=key)
    except ValueError:
        m[0] *= k
    return m[0] * m[1]


@program(L, K, features="try, extend partly")
def extend_partly(items, k):
    m = [k]
    try:
        m.extend([items[0], items[1]])
        m.extend(3)
    except TypeError:
        m[0] *= m[1]
    return m[0] * m[2]


@program(L, K, features="try, exception unchanged")
def exception_unchanged(items, k):
    items[0] = items[1] * k
    try:
        items[1] = k
        items[7] = 1
    except IndexError as e:
        items[2] *= len(e.args) * items[0]
    try:
        try:
            items.append(k * items[1])
            raise KeyError("a")
        finally:
            items.append(items[-1] * k)
    except KeyError:
        pass
    return sum(v * v for v in items)


@program(L, K, features="try, quantifier in body")
def quantifier_in_body(items, k):

    def f(v):
        items[0] = items[0] * v
        if v > 1.1:
            raise ValueError
        return v < k

    try:
        ok = all(f(v) for v in list(items))
    except ValueError:
        items[1] *= items[0]
    return sum(v * v for v in items)


@program(L, K, features="try, nested comprehension")
def nested_comprehension(items, k):

    def f(v):
        items[0] = items[0] * v
        if len(items) > 5:
            raise ValueError
        items.append(v)
        return v * k

    r = 1.0
    try:
        m = [[f(a * b) for a in (k, items[1])] for b in (1.0, 2.0, items[2])]
        r = m[0][0]
    except ValueError:
        items[1] *= items[0]
    return sum(v * v for v in items) * r


@program(L, K, features="try, match in body")
def match_in_body(items, k):
    try:
        match items:
            case [a, b, c]:
                items[0] = a * b * k
                items[5] = c
    except IndexError:
        items[1] *= items[0]
    return sum(v * v for v in items)


@program(L, K, features="try, continue and else")
def continue_and_else(items, k):
    t = 1.0
    for i in range(6):
        try:
            items[i % 4] *= k
            if i == 1:
                continue
            items[i % 3] += t
        except IndexError:
            items[0] *= 2.0
            continue
        else:
            t = t * items[i % 3]
        items[1] += t
    return sum(v * v for v in items) * t


@program(L, K, features="try, while with condition")
def while_with_condition(items, k):
    it = [3, 2, 1, 0]
    try:
        while 1.0 / it.pop() > 0:
            items[0] = items[0] * k + items[1]
    except ZeroDivisionError:
        items[2] *= items[0]
    return sum(v * v for v in items)


@program(V3, K, features="try, returns from handler")
def returns_from_handler(x, k):
    u = x.copy()
    for i in range(5):
        try:
            u[i] = u[i] * k + u[i - 1]
        except IndexError:
            u[0] *= i
            return np.sum(u * u)
    return 0.0


@program(V3, K, features="try, writes through view")
def writes_through_view(x, k):
    u = x.copy()
    v = u[1:]
    try:
        v *= k
        v[0] = u[0] * v[1]
        v[4] = 0.0
    except IndexError:
        v += u[0]
    return np.sum(u**3)


@program({"a": 0.7}, 0.8, features="try, delete and raise")
def delete_and_raise(d, k):
    try:
        d["b"] = d["a"] * k
        del d["a"]
        d["c"]
    except KeyError:
        d["a"] = d["b"] * d["b"]
    return d["a"] * d["b"]


class Res:
    def __init__(self, o):
        self.o = o

    def __enter__(self):
        self.old = self.o.x
        self.o.x = self.o.x * 2.0
        return self

    def __exit__(self, *a):
        self.o.x = self.old + self.o.x


class Plain:
    pass


@program(0.7, 0.8, features="try, restoring context")
def restoring_context(x, k):
    o = Plain()
    o.x = x
    r = 0.0
    try:
        with Res(o):
            o.x = o.x * k
            r = o.x * o.x
            raise ValueError
    except ValueError:
        r += o.x
    with Res(o) as q:
        r *= q.old
    return r * o.x


@program(L, K, features="try, nonlocal in body")
def nonlocal_in_body(items, k):
    t = 1.0

    def add(v):
        nonlocal t
        t = t * v
        if t < 0.5:
            raise ValueError
        t = t + k

    r = 0.0
    for v in list(items):
        try:
            add(v * k)
            r += t
        except ValueError:
            r += 2.0 * t
    return r * t


@program(L, K, features="try, own cell in body")
def own_cell_in_body(items, k):
    t = 1.0

    def get():
        return t * k

    for v in list(items):
        try:
            t = t * v
            if v < 0.6:
                raise ValueError
            t = t + get()
        except ValueError:
            t = t * get()
    return t


STATE = [1.0]


@program(L, K, features="try, module list")
def module_list(items, k):
    STATE[:] = [k]
    try:
        STATE.append(items[0] * k)
        STATE[7] = 1.0
    except IndexError:
        STATE[0] *= STATE[1]
    return STATE[0] * STATE[-1]


@program(L, K, features="try, dict that grows while a loop runs over it")
def dict_that_grows_under_a_loop(items, k):
    table = {"a": items[0], "b": k}
    t = items[1]
    try:
        for key in table:
            t = t * table[key]
            table[key + "x"] = t
    except RuntimeError:
        t = t * 3.0
    return t + sum(table.values())


@program({"a": 0.5, "b": 1.2, "c": 0.7}, K, features="try, dict that grows while a loop runs over it")
def pairs_of_a_dict_that_grows_under_a_loop(table, k):
    t = k
    try:
        for i, (key, value) in enumerate(table.items()):
            t = t * value + i * k
            table[key] = t
            if key == "b":
                table["new"] = t * k
    except RuntimeError:
        t = t * table["new"]
    return t + sum(table.values())


@program({"a": 0.5, "b": 1.2, "c": 0.7}, K, features="try, dict that shrinks while a loop runs over it")
def dict_that_shrinks_beside_a_list(table, k):
    t = 1.0
    try:
        for value, key in zip([k, t, k], table):
            t = t * value + table.pop(key)
    except RuntimeError:
        t = t * k
    return t + sum(table.values())


@program(L, K, features="try, set that grows while a loop runs over it")
def set_that_grows_under_a_loop(items, k):
    chosen = {0, 1}
    t = k
    try:
        for i in chosen:
            t = t * items[0]
            items[i] = t
            chosen.add(i + 20)
    except RuntimeError:
        t = t * len(chosen)
    return t + sum(items)
