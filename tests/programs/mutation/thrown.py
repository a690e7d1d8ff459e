"""Generators, iterators and context managers that end, or are left, by an exception that the program goes on after."""

from __future__ import annotations

from contextlib import contextmanager

from tests.programs.mutation.table import K, program


def growing(x, log):
    log.append(x)
    yield x
    log.append(log[-1] * x)
    yield x * x
    log.append(log[-1] * x)
    return x


@program(K, features="generator, next, StopIteration caught in a loop")
def loop_until_the_end(x):
    log, total = [], 0.0
    steps = growing(x, log)
    while True:
        try:
            value = next(steps)
        except StopIteration:
            break
        total = total * x + value
    return total + sum(log)


@program(K, features="generator, send, StopIteration caught twice")
def end_is_met_more_than_once(x):
    log, total = [], 0.0
    steps = growing(x, log)
    try:
        total = next(steps)
        while True:
            total = total * x + steps.send(total)
    except StopIteration:
        total = total * 3.0
    log.append(log[-1] * total)
    try:
        next(steps)
    except StopIteration:
        total = total * x
    return total + sum(log)


def advanced(steps, total):
    return total + next(steps)


@program(K, features="generator, StopIteration caught by a caller")
def function_meets_the_end(x):
    log, total = [], 0.0
    steps = growing(x, log)
    for _ in range(5):
        try:
            total = advanced(steps, total * x)
        except StopIteration:
            total = total * x
            log.append(total)
    return total + sum(log)


@program(K, features="generator, next with a default, writes after the end")
def default_after_the_end(x):
    log, total = [], 0.0
    steps = growing(x, log)
    for _ in range(5):
        value = next(steps, None)
        if value is None:
            log.append(log[-1] * total)
        else:
            total = total * x + value
    return total + sum(log)


@program(K, features="generator, used up more than once")
def used_up_again_and_again(x):
    log, total = [], 0.0
    steps = growing(x, log)
    for value in steps:
        total = total * x + value
    log.append(log[-1] * total)
    for value in steps:
        total = total * x + value
    log.append(log[-1] * total)
    log.append(log[-1] * len(list(steps)) + sum(steps) + total)
    for _ in zip(steps, log, strict=False):
        total = 0.0
    log.append(log[-1] * total)
    return total + sum(log)


@program(K, features="map, next with a default, writes after the end")
def mapped_after_the_end(x):
    log, total = [], 0.0

    def scaled(value):
        log.append(value * x)
        return log[-1]

    steps = map(scaled, [x, 2.0 * x])
    more = map(lambda value: value * x, growing(x, log))
    for _ in range(5):
        for source in (steps, more):
            value = next(source, None)
            if value is None:
                log.append(log[-1] * total)
            else:
                total = total * x + value
    return total + sum(log)


@program(K, features="yield from, of a generator at its end")
def delegates_to_a_generator_at_its_end(x):
    log = []
    steps = growing(x, log)

    def outer():
        last = yield from steps
        log.append(log[-1] * 3.0)
        yield from steps
        log.append(log[-1] * last)

    return sum(outer()) + sum(log)


class Squaring:
    """An iterator as a class."""

    def __init__(self, x, left):
        self.x = x
        self.left = left

    def __iter__(self):
        return self

    def __next__(self):
        self.left = self.left - 1
        self.x = self.x * self.x
        if self.left < 0:
            raise StopIteration
        return self.x


@program(1.2, features="__next__, for, next, zip, list")
def iterator_of_a_class(x):
    steps, total = Squaring(x, 3), 0.0
    for value in steps:
        total = total * x + value
        if value > 1.5:
            break
    total += next(steps) * next(steps, 7.0) + next(steps, x)
    for a, b in zip(Squaring(x, 2), Squaring(x, 5), strict=False):
        total += a * b
    return total * steps.x + sum(list(Squaring(x, 2)))


@program(1.2, features="__next__, StopIteration caught")
def iterator_of_a_class_at_its_end(x):
    steps, total = Squaring(x, 2), 0.0
    try:
        while True:
            total = total * x + next(steps)
    except StopIteration:
        return total * steps.x


# Generators that raise


def failing(x, log):
    for i in range(5):
        log.append(x * i)
        if i == 3:
            raise ValueError(i)
        yield x * i * log[-1]


@program(K, features="generator, raise, loop in a try")
def generator_raises_in_a_loop(x):
    total, log = 0.0, []
    try:
        for value in failing(x, log):
            total = total + value
            log.append(total * x)
    except ValueError:
        total = total * 2.0 + log[-1]
    return total * sum(log)


@program(K, features="generator, raise, enumerate")
def generator_raises_while_it_is_counted(x):
    log, total = [], x
    try:
        for i, value in enumerate(failing(x, log)):
            total = total * x + value * i
    except ValueError:
        total = total + sum(log)
    return total


@program(K, features="generator, raise, comprehension")
def generator_raises_in_a_comprehension(x):
    log, total = [1.0], x
    try:
        log = [value * x for value in failing(total, log)]
    except ValueError:
        total = total * log[-1]
    return total


@program(K, features="__iter__, raise, map, loop in a try")
def items_raise_in_a_loop(x):
    total, log = x, []
    try:
        for value in Two():
            total = total * value * x
            log.append(total)
    except ValueError:
        total = total * total + log[-1]
    try:
        for value in map(lambda u: log[u] * x, [0, 1, 2]):
            total = total * value
    except IndexError:
        total = total + sum(log)
    return total


class Two:
    def __iter__(self):
        yield 1.0
        yield 2.0
        raise ValueError


# What is thrown to generators


def listening(x, log):
    while True:
        try:
            log.append(x * log[-1] if log else x)
            yield log[-1]
        except ValueError:
            log.append(x * 3.0)
        except KeyError:
            log.append(x * 4.0)
            return


@program(K, features="throw, handlers in a generator")
def thrown_to_a_generator(x):
    log = []
    steps = listening(x, log)
    total = next(steps)
    total = total * next(steps)
    total = total * x + steps.throw(ValueError())
    total = total + next(steps)
    try:
        steps.throw(KeyError())
    except StopIteration:
        total = total * x
    return total * sum(log)


@program(K, features="throw, that a generator does not catch")
def thrown_through_a_generator(x):
    log = []
    steps, others = listening(x, log), growing(x, log)
    total = next(steps) * next(others)
    total = total * next(steps)
    for source in (steps, others):
        try:
            total = total * source.throw(TypeError())
        except TypeError:
            total = total * x
            log.append(total)
    return total * sum(log)


def guarded(x, log):
    log.append(x)
    try:
        log.append(log[-1] * x)
        yield log[-1]
    finally:
        log.append(log[-1] * log[-1])


@program(K, features="close, finally in a generator")
def closed_in_a_try(x):
    log = []
    first, second, third = guarded(x, log), growing(x, log), guarded(x, log)
    total = next(first) * next(second)
    first.close()
    log.append(total)
    second.close()
    third.close()
    first.close()
    return total * sum(log)


@contextmanager
def scope(log, x):
    log.append(x)
    try:
        yield x * 2.0
    except ValueError:
        log.append(x * 3.0)
    finally:
        log.append(x * x)


@contextmanager
def plain(log, x):
    log.append(x)
    yield x * 2.0
    log.append(x * x)


@program(K, features="contextmanager, exception that it catches")
def context_catches(x):
    log = []
    with scope(log, x) as y:
        log.append(y)
        raise ValueError
    return sum(log) * log[1]


@program(K, features="contextmanager, exceptions that pass")
def exceptions_pass_contexts(x):
    log = []
    for make in (scope, plain):
        try:
            with make(log, x) as y:
                log.append(y)
                raise TypeError
        except TypeError:
            log.append(x * log[-1])
    return sum(log) * log[1]


@program(K, features="contextmanager, exceptions of several kinds in a loop")
def contexts_in_a_loop(x):
    log, total = [], 0.0
    for k in (1.0, 2.0, -3.0, 4.0):
        try:
            with scope(log, x * k) as y:
                if k < 0.0:
                    raise TypeError
                if k > 1.0:
                    raise ValueError
                total = total + y
        except TypeError:
            total = total * x
    return total * sum(log)


@contextmanager
def changing(log, x):
    try:
        yield x
    except KeyError as error:
        log.append(x)
        raise ValueError from error


@program(K, features="contextmanager that raises another exception")
def context_raises_another(x):
    log, total = [], x
    try:
        with changing(log, x * x) as y:
            total = total * y
            raise KeyError
    except ValueError:
        total = total + log[0]
    return total
