"""Lists of tuples in which texts stand beside numbers, and pairs of numbers to which something is added several times."""

from __future__ import annotations

from tests.programs.mutation.table import K, program


@program(K, features="tuples with texts")
def reactions(x):
    amounts = {"A": 1.0, "B": x, "C": 0.5}
    rules = [(x * 0.3, ["A", "B"], ["C"]), (x * x, ["C"], ["A"]), (0.2, ["B"], [])]
    for _ in range(3):
        change = {name: 0.0 for name in amounts}
        for rate, inputs, outputs in rules:
            flow = rate
            for name in inputs:
                flow *= amounts[name]
            for name in inputs:
                change[name] -= flow
            for name in outputs:
                change[name] += flow
        for name in amounts:
            amounts[name] += 0.1 * change[name]
    return amounts["A"] * amounts["B"] + amounts["C"]


@program(K, features="tuples with texts")
def priced(x):
    prices = [("bread", x), ("milk", x * x), ("tea", 3.0)]
    prices.append(("salt", x**3))
    prices[0] = ("cake", prices[1][1] * prices[0][1])
    total = 0.0
    for name, price in prices:
        if name != "milk":
            total += price * price
    return total + prices[-1][1] * len(prices[0][0])


@program(K, features="tuples with texts, branch")
def chosen_text(x):
    parts = []
    for i in range(5):
        parts.append(("even", x * i) if i % 2 == 0 else ("odd", x * x))
    pair = parts[2]
    name, value = parts[3]
    return sum(v * len(n) for n, v in parts) + pair[1] * (pair[0] == "even") + value * len(name)


@program(K, features="tuples with texts, zip and sort")
def sorted_pairs(x):
    pairs = sorted([("b", x), ("a", x * x), ("c", 1.0 - x)])
    names = [name for name, _ in pairs]
    return sum(v * (k + 1) for k, (_, v) in enumerate(pairs)) * len(names) + dict(pairs)["b"] * x


@program(K, features="tuples with texts, None")
def missing_text(x):
    rows = [(x, None), (x * x, "a"), (2.0, None)]
    return sum(v * (1.0 if name is None else x) for v, name in rows)


@program(K, features="tuples with texts, in a dict")
def tuples_in_a_dict(x):
    table = {"a": (x, "first"), "b": (x * x, "second")}
    table["a"] = (table["a"][0] * table["b"][0], "changed")
    return sum(v * len(text) for v, text in table.values())


@program(K, features="tuples with texts, lists that are changed")
def changed_texts(x):
    names = ["p", "q"]
    rows = [(x, names), (x * x, ["r"])]
    names.append("s")
    total = 0.0
    for value, found in rows:
        found.append("t")
        total += value * len(found)
    return total


@program(K, features="pairs that are added to")
def butterfly(x):
    even, odd = [(x, x * x), (1.0, x)], [(x, 2.0), (x * x, -x)]
    out = [(0.0, 0.0)] * 4
    for k in range(2):
        re = 0.5 * odd[k][0] - x * odd[k][1]
        im = 0.5 * odd[k][1] + x * odd[k][0]
        out[k] = (even[k][0] + re, even[k][1] + im)
        out[k + 2] = (even[k][0] - re, even[k][1] - im)
    return sum(a * a + b * x for a, b in out)


@program(K, features="pairs that are added to, one list")
def pairs_of_one_list(x):
    pairs = [(x, 1.0), (x * x, x), (2.0, x)]
    total = 0.0
    for i in range(3):
        for j in range(3):
            a = pairs[i][0] * pairs[j][1] + pairs[i][1]
            total += a * pairs[j][0] + pairs[i][0]
        pairs[i] = (pairs[i][1] * 0.5, pairs[i][0] + pairs[0][1])
    return total


@program(K, features="pairs that are added to, branch in between")
def pairs_with_a_branch(x):
    pairs = [(x, 1.0), (x * x, x)]
    total = 0.0
    for i in range(2):
        total += pairs[i][0]
        if i == 0:
            pairs[1] = (pairs[i][1] * x, pairs[i][0])
        total *= pairs[i][1] + pairs[i][0]
    return total


@program(K, features="pairs that are added to, whole pair")
def whole_pair(x):
    pairs = [(x, x + 1.0), (x * x, x)]
    total = 0.0
    for i in range(2):
        pair = pairs[i]
        total += pair[0] * pairs[i][1] + sum(pair)
        a, b = pairs[i]
        total += a * b * pair[1]
    return total
