"""Writes by code that nobody calls by name: key functions, mapped methods, iterators, generators."""

from __future__ import annotations

import functools

import numpy as np

from tests.programs.mutation.table import V3, program


def first_cleared(buffer):
    buffer[0] = 9.0
    yield 1.0


class Refilling:
    def __init__(self, buffer):
        self.buffer = buffer

    def __iter__(self):
        for i in range(2):
            self.buffer[i] = 9.0
            yield i


@program(V3, features="constant buffer, key function")
def key_function_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    max([1.0, 2.0], key=lambda v: buffer.fill(v) or v)
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, functools.reduce")
def folding_function_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    functools.reduce(lambda a, b: buffer.fill(b) or b, [1.0, 2.0])
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, map")
def mapped_method_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    list(map(buffer.fill, [2.0]))
    return np.sum(y * x * buffer)


@program(V3, features="constant buffer, generator")
def summed_generator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    s = sum(first_cleared(buffer))
    return np.sum(y * x * buffer) * s


@program(V3, features="constant buffer, generator, next")
def next_of_a_generator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    s = next(first_cleared(buffer))
    return np.sum(y * x * buffer) * s


@program(V3, features="constant buffer, iterator")
def iterator_writes_a_buffer(x):
    buffer = np.array([1.0, 2.0, 3.0])
    y = x * buffer
    for _ in Refilling(buffer):
        pass
    return np.sum(y * x * buffer)
