"""Generators and calls that raise at every place in turn, and what they wrote is read afterwards."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from tests.programs.mutation.table import K, program


@program(K, features="generator with finally, raise in a handler, else, finally, loop")
def raised_again_in_handlers(x):
    log = [x, 1.0]
    t = x

    def gen(n):
        for k in range(4):
            log[0] = log[0] * x + 0.1
            try:
                if k == n:
                    raise KeyError
                yield log[0] * log[1]
            finally:
                log[1] = log[1] * 0.9 + log[0]

    for n in range(5):
        try:
            try:
                for i, v in enumerate(gen(n)):
                    t = t * 0.5 + v
                    log[0] = log[0] * 0.5 + t * 0.1
            except KeyError:
                log[1] = log[1] * 0.5
                raise ValueError
            else:
                t = t * x
            finally:
                t = t + log[1] * 0.1
        except ValueError:
            t = t * 0.9
            log[0] = t * 0.1
    return t * log[0] * log[1]


@program(K, features="unpacking with a star, extend, dict comprehension over zip, slice assignment, of what raises")
def taken_apart_and_put_into_containers(x):
    log = [x, 1.0]
    t = x

    def gen(n):
        for k in range(3):
            log[0] = log[0] * x + 0.1
            if k == n:
                raise KeyError
            yield log[0]

    for n in range(4):
        try:
            a, b, *c = gen(n)
            t = t * a + b
            log.extend(gen(2))
        except KeyError:
            t = t + log[0]
        except ValueError:
            t = t - log[0]
        try:
            d = {k: v for k, v in zip("abc", gen(n))}
            log[1] = log[1] + sum(d.values())
            log[1:] = gen(n)
        except KeyError:
            log[0] = log[0] * 0.5
    return t * sum(log)


@program(np.array([0.5, 0.7, 0.3]), features="zip, sum of a generator expression, views that are written before an exception")
def views_change_before_an_exception(x):
    u = x * 1.0
    t = 0.0

    def gen(n):
        for k in range(3):
            u[k] *= 1.0 + x[0]
            v = u[k:]
            v += u[0] * 0.1
            if k == n:
                raise KeyError
            yield v

    for n in range(4):
        try:
            for v, w in zip(gen(n), [1.0, 2.0, 3.0]):
                v *= 0.5
                t = t + np.sum(v * v) * w
        except KeyError:
            u += t * 0.01
        try:
            t = t + sum(np.sum(v) * t for v in gen(n)) * 0.1
        except KeyError:
            u[1:] *= 0.9
    return t * np.sum(u * u)


def kw(log, a=1.0, b=2.0):
    log.append(a * b * b)
    raise ValueError


class Made:
    def __new__(cls, a, b, log):
        log.append(a * a * b)
        return object.__new__(cls)

    def __init__(self, a, b, log):
        log.append(a * b * b * log[-1])
        raise ValueError


def raising(log, a=1.0, b=2.0):
    log.append(a * b * b)
    raise ValueError


@program(K, features="one number given by two arguments, by place and by name, __new__ and __init__")
def same_number_twice(x):
    log, total = [x], x * 2.0
    other = total
    for call in (
        lambda: Made(total, other, log),
        lambda: Made(total, x, log),
        lambda: raising(log, a=total, b=other),
        lambda: raising(log, b=total),
        lambda: raising(log, total, **{"b": x}),
    ):
        try:
            call()
        except ValueError:
            total = total + 0.1 * log[-1]
    try:
        Made(other, other, log)
    except ValueError:
        total = total + 0.1 * log[-1]
    try:
        raising(log, a=other, b=other)
    except ValueError:
        total = total + 0.1 * log[-1]
    return total * sum(log)


@program(K, features="functools.reduce, itertools.accumulate, of a function that raises")
def folded_until_it_raises(x):
    log, total = [x], x

    def product(a, b):
        log.append(a * b)
        if len(log) > 3:
            raise ValueError
        return log[-1]

    try:
        total = functools.reduce(product, [x, 2.0 * x, 3.0 * x, 4.0 * x, 5.0])
    except ValueError:
        total = total * log[-1]
    del log[1:]
    try:
        for value in itertools.accumulate([x, 2.0, x, 3.0, 4.0], product):
            total = total * value
    except ValueError:
        total = total * log[-1]
    return total * sum(log)
