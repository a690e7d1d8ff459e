"""Programs that go through dicts of arrays: parameters, their gradients and what an optimiser keeps of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.table import program

PARAMETERS = {"w": np.array([0.3, 0.5]), "b": np.array([0.1, -0.2]), "v": np.array([1.0, 0.5])}


def loss(p: Any) -> Any:
    return np.sum(np.tanh(p["w"] * 1.3) * p["b"]) + np.sum(p["v"] ** 3)


def of_leaves(fn: Any, tree: Any, *others: Any) -> Any:
    if isinstance(tree, dict):
        return {key: of_leaves(fn, value, *(other[key] for other in others)) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [of_leaves(fn, value, *(other[place] for other in others)) for place, value in enumerate(tree)]
    return fn(tree, *others)


def of_each_leaf(fn: Any, tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: of_each_leaf(fn, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [of_each_leaf(fn, value) for value in tree]
    return fn(tree)


@program(PARAMETERS, features="dict comprehension, items")
def scaled_parameters(p):
    return loss({key: 2.0 * value for key, value in p.items()})


@program(PARAMETERS, features="dict comprehension, keys")
def moved_parameters(p):
    slope = {key: np.cos(p[key]) for key in p}
    return loss({key: p[key] - 0.1 * slope[key] for key in p})


@program(PARAMETERS, features="dict comprehension, condition")
def some_parameters(p):
    return loss({**p, **{key: value * 2 for key, value in p.items() if key != "b"}})


@program(PARAMETERS, features="dict comprehension, one key")
def last_parameter(p):
    return np.sum({"x": value * 2 for value in p.values()}["x"] ** 2)


@program(PARAMETERS, features="dict comprehension, dicts in a dict")
def parameters_in_dicts(p):
    q = {key: {"x": value, "y": 2 * value} for key, value in p.items()}
    q["w"]["x"] = q["w"]["x"] * 5.0
    return np.sum(q["w"]["x"]) * np.sum(q["b"]["y"])


@program(PARAMETERS, features="list comprehension, append, assignment of an item")
def listed_parameters(p):
    values = [value * 2.0 for value in p.values()]
    values[0] = values[0] * 3.0
    values.append(values[1])
    return sum(np.sum(value**2) for value in values)


@program(PARAMETERS, features="a list of pairs that two dicts are made of")
def pairs_of_parameters(p):
    pairs = [(key, value) for key, value in p.items()]
    return loss(dict(pairs)) * np.sum(dict(pairs)["w"])


@program(PARAMETERS, features="a view that two loops run over")
def two_loops_over_values(p):
    values, total = p.values(), 0.0
    for value in values:
        total = total + np.sum(value)
    for value in values:
        total = total * np.sum(value)
    return total


@program(PARAMETERS, features="break, continue, dict argument")
def parameters_until(p):
    total = 0.0
    for key, value in p.items():
        if key == "w":
            continue
        total = total + np.sum(value**2)
    for value in p.values():
        total = total * np.sum(value)
        if total > 0.1:
            break
    return total


@program(PARAMETERS, features="items of a dict that the loop writes into")
def written_while_read(p):
    q = dict(p)
    for key, value in q.items():
        q[key] = value * 2.0
        q["v"] = q["v"] * 1.5
    return loss(q)


@program(PARAMETERS, features="keys of a dict that the loop writes into")
def written_by_key(p):
    q = dict(p)
    for key in q:
        q["v"] = q["v"] * q[key]
    return loss(q)


@program(PARAMETERS, features="operator in place on what a loop has read")
def in_place_on_a_value(p):
    q = {key: value * 1.0 for key, value in p.items()}
    for value in q.values():
        value *= 2.0
    return loss(q)


@program(PARAMETERS, features="gradient descent with momentum")
def momentum(p):
    speed, q = {key: 0.0 * value for key, value in p.items()}, dict(p)
    for _ in range(4):
        slope = {key: np.cos(q[key]) for key in q}
        for key in q:
            speed[key] = 0.9 * speed[key] + slope[key]
            q[key] = q[key] - 0.1 * speed[key]
    return loss(q)


@program(PARAMETERS, features="zip of keys and values, reversed items")
def rearranged_parameters(p):
    q = {}
    for key, value in reversed(p.items()):
        q[key] = value * 2
    r = {key: value for key, value in zip(q.keys(), [value * 2 for value in q.values()], strict=True)}
    return loss(r) * (1.0 + list(q).index("w"))


@program(PARAMETERS, features="recursion over a dict, isinstance")
@program({**PARAMETERS, "deep": {"x": [PARAMETERS["v"]]}}, features="recursion over dicts and lists")
def leaf_by_leaf(p):
    return loss(of_each_leaf(np.tanh, of_each_leaf(lambda x: 2.0 * x, p)))


@program(PARAMETERS, features="recursion over two dicts, isinstance, starred arguments")
def leaf_by_leaf_of_two(p):
    return loss(of_leaves(lambda x, y: x - 0.1 * y, p, of_leaves(np.sin, p)))
