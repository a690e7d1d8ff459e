"""Dicts and what is built on them: every method, item writes, `del`, defaultdict, Counter, OrderedDict, sets."""

from __future__ import annotations

import math
from collections import ChainMap, Counter, OrderedDict, defaultdict

import numpy as np

from tests.programs.mutation.table import V3, W3, K, program

STATE = {"a": 0.5, "b": -1.2, "c": 0.8}
STATE_OF: list[object] = []


@program(0.8, 1.3, features="item write")
def dict_filled(x, y):
    d = {}
    d["p"] = x * y
    d["q"] = d["p"] ** 2
    d["p"] = x
    return d["p"] * d["q"] + y


@program(STATE, K, features="item write, argument written")
def dict_argument_written(state, k):
    state["a"] = k * state["b"]
    state["new"] = state["a"] ** 2
    return sum(v * v for v in state.values())


@program(STATE, K, features="item +=")
def dict_item_in_place(state, k):
    state["a"] += k
    state["b"] *= state["a"]
    state["c"] -= state["b"] ** 2
    return state["a"] * state["b"] * state["c"]


@program(STATE, features="del item")
def dict_item_deleted(state):
    b = state["b"]
    del state["b"]
    state["b"] = b * state["a"]
    return sum((i + 1) * v for i, v in enumerate(state.values()))


@program(STATE, K, features="pop, default")
def popped_from_a_dict(state, k):
    a = state.pop("a")
    missing = state.pop("zzz", k)
    return a * missing + math.prod(state.values())


@program(STATE, features="popitem")
def last_pair_popped(state):
    name, value = state.popitem()
    state[name + "!"] = value**2
    return sum((i + 1) * v for i, v in enumerate(state.values())) * value


@program(STATE, K, features="setdefault")
def set_by_default(state, k):
    a = state.setdefault("a", k)
    z = state.setdefault("z", k * k)
    state.setdefault("rows", []).append(k)
    state.setdefault("rows", []).append(a)
    return a * z * state["z"] + state["rows"][0] * state["rows"][1]


@program(STATE, K, features="update")
def updated(state, k):
    state.update({"a": k, "d": state["b"] * 2.0})
    state.update(b=state["d"] ** 2)
    state.update([("c", state["a"] * state["b"])])
    return sum((i + 1) * v for i, v in enumerate(state.values()))


@program(STATE, K, features="|=")
def merged_in_place(state, k):
    same = state
    same |= {"b": k, "z": k * state["a"]}
    return sum((i + 1) * v for i, v in enumerate(state.values()))


@program(STATE, K, features="| makes a new one")
def merged_into_a_new_one(state, k):
    other = state | {"b": k}
    other["a"] = 3.0
    return math.prod(other.values()) * state["a"] * state["b"]


@program(STATE, features="clear, copy")
def dict_copied_and_cleared(state):
    kept = state.copy()
    also = dict(state)
    state.clear()
    state["a"] = kept["a"] * kept["b"]
    also["c"] = 2.0
    return state["a"] * kept["c"] + math.prod(also.values())


@program(STATE, K, features="get")
def read_by_get(state, k):
    state["d"] = state.get("a", 0.0) * state.get("zzz", k)
    state["d"] = state.get("d") * 2.0
    return state["d"] * (state.get("nothing") or state["b"])


@program(STATE, K, features="writes while iterating")
def values_replaced_in_a_loop(state, k):
    for name in state:
        state[name] = state[name] ** 2 * k
    for name, value in list(state.items()):
        state[name.upper()] = value * state["a"]
    return sum((i + 1) * v for i, v in enumerate(state.values()))


@program({"u": {"x": 0.5, "y": 1.2}, "v": [0.3]}, K, features="nested dicts")
def nested_dicts(tree, k):
    tree["u"]["x"] *= k
    tree["v"].append(tree["u"]["x"] ** 2)
    inner = tree["u"]
    inner["z"] = tree["v"][1] * inner["y"]
    tree["w"] = inner
    tree["w"]["y"] = 2.0 * k
    return sum(tree["u"].values()) * sum(tree["v"])


@program(0.8, 12, features="memo dict, recursion")
def memo(x, n):
    known = {0: 1.0, 1: x}

    def term(k):
        if k not in known:
            known[k] = x * term(k - 1) - 0.5 * term(k - 2)
        return known[k]

    return term(n)


@program(0.8, 6, features="memo dict, loop")
def table_of_values(x, n):
    table = {}
    for k in range(n):
        table[k] = x if k < 2 else table[k - 1] * table[k - 2] + x
    return sum(table[k] for k in sorted(table, reverse=True))


@program([0.5, 1.2, 0.8, 1.7], features="defaultdict")
def grouped_sums(values):
    groups = defaultdict(float)
    for i, v in enumerate(values):
        groups[i % 2] += v * v
    return groups[0] * groups[1] + groups["never"]


@program([0.5, 1.2, 0.8, 1.7], features="defaultdict of lists")
def grouped_lists(values):
    groups = defaultdict(list)
    for v in values:
        groups["small" if v < 1.0 else "large"].append(v)
    return math.prod(groups["small"]) + sum(groups["large"]) ** 2 + len(groups["none"])


@program(["a", "b", "a"], {"a": 0.5, "b": 1.2}, features="Counter of inactive things")
def weighted_counts(words, weights):
    counts = Counter()
    for word in words:
        counts[word] += 1
    counts.update(["b", "b"])
    return sum(weights[word] ** count for word, count in sorted(counts.items()))


@program(0.8, 1.3, features="OrderedDict")
def order_of_entries(x, y):
    d = OrderedDict(p=x)
    d["q"] = y * x
    d.move_to_end("p")
    return sum((i + 1) * v**2 for i, v in enumerate(d.values()))


@program(STATE, K, features="ChainMap")
def chain_of_maps(state, k):
    local = {}
    scope = ChainMap(local, state)
    scope["a"] = k * scope["b"]
    return scope["a"] * state["a"] * scope["c"]


@program([0.5, 1.2, 0.8], features="set of inactive things")
def visited_places(values):
    seen = set()
    total, i = 0.0, 0
    while i not in seen:
        seen.add(i)
        total = total * 0.5 + values[i] ** 2
        i = (i + 2) % 3
    seen.discard(0)
    return total * len(seen)


@program({"w": V3, "b": W3}, K, features="arrays in a dict, optimiser step")
def gradient_step_on_parameters(params, k):
    grads = {name: p * p for name, p in params.items()}
    for name in params:
        params[name] -= k * grads[name]
    params["w"][0] = 1.0
    return sum(np.sum(p**3) for p in params.values())


@program({"w": V3, "b": W3}, K, features="arrays in a dict, rebound")
def parameters_replaced(params, k):
    old = params["w"]
    params["w"] = params["w"] * k
    params["b"] = old
    params["b"][1] = 2.0 * k
    return np.sum(params["w"] * params["b"] * old)


@program(STATE, features="dict returned")
def dict_written_and_returned(state):
    state["c"] *= state["a"]
    state["d"] = {"inner": state["b"] ** 2}
    return state


@program(0.8, 1.3, features="globals-like namespace")
def interpreter_of_assignments(x, y):
    names = {"x": x, "y": y}
    for target, left, operator, right in [("p", "x", "*", "y"), ("x", "p", "+", "x"), ("p", "p", "*", "x")]:
        a, b = names[left], names[right]
        names[target] = a * b if operator == "*" else a + b
    return names["p"] * names["x"]


@program(0.8, 1.3, features="method of a dict that map calls")
def got_by_map(x, y):
    d = {"a": x}
    STATE_OF.append(d)
    d["b"] = x * y
    first = sum(map(d.get, "abc"[:2]))
    d["a"] = first * max(map(d.get, "ab"))
    STATE_OF.pop()
    return sum(map(d.setdefault, "ab")) * sum(map(d.pop, "ba"))


@program(0.8, 1.3, features="method of a dict that map calls, try")
def got_by_map_after_an_exception(x, y):
    d = {"a": x, "b": y}
    try:
        d["c"] = sum(map(d.get, "ab"))
        d["d"] = list(map(d.get, "bca"))[1] * d["e"]
    except KeyError:
        d["a"] = sum(map(d.get, "abc")) * x
    return sum(map(d.get, "abc"))
