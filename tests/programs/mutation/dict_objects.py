"""Dicts whose keys are texts that stand in the program, where a variable for each entry is not enough: in lists and dicts, in
loops that carry another one each time, and with keys that are there on one path only."""

from __future__ import annotations

import heapq
import math

from tests.programs.mutation.table import K, program

N = 5


@program(K, N, features="dicts in a list, key added later")
def rows_with_a_later_key(x, n):
    rows = []
    for i in range(n):
        rows.append({"a": x * i, "b": math.sin(x + i)})
    for d in rows:
        d["c"] = d["a"] * d["b"]
    return sum(d["c"] for d in rows)


@program(K, N, features="dicts in a list, key added to some")
def rows_of_which_some_have_a_key(x, n):
    rows = [{"a": x * i, "unit price": i} for i in range(n)]
    for d in rows:
        if d["a"] > 1.0:
            d["c"] = d["a"] * x
    total = 0.0
    for d in rows:
        if "c" in d:
            total += d["c"] ** 2
        total += d.get("c", x) * d["unit price"]
    return total


@program(K, N, features="dicts in a list, key that is not there, try")
def rows_whose_errors_are_caught(x, n):
    rows = [{"a": x * i} for i in range(n)]
    rows[1]["c"] = x * x
    total = 0.0
    for d in rows:
        try:
            total += d["a"]
            total += d["c"]
        except KeyError:
            total += 0.5 * x
    return total


@program(K, N, features="dict in a list, written into by its own name")
def row_with_two_names(x, n):
    d, rows = {"a": x, "b": 2.0}, []
    rows.append(d)
    d["a"] = d["a"] * x
    rows[0]["b"] = d["a"] + n
    d["c"] = 3.0 * x
    return d["b"] * rows[0]["a"] + rows[-1]["c"] + len(d)


@program(K, N, features="state that is another dict in each step")
def state_in_a_dict(x, n):
    state, history = {"pos": x, "vel": 0.0}, []

    def step(s, dt):
        return {"pos": s["pos"] + dt * s["vel"], "vel": s["vel"] - dt * s["pos"]}

    for _ in range(n):
        state = step(state, 0.05)
        history.append(state)
    return sum(h["pos"] ** 2 for h in history) + state["vel"]


@program(K, N, features="state that is another dict in each step, key added")
def state_that_gets_a_key(x, n):
    state = {"pos": x, "t": 0.0}
    for i in range(n):
        state = {**state, "t": state["t"] + 0.1}
        state["pos"] = state["pos"] * (1.0 - state["t"])
        if i == 2:
            state["peak"] = state["pos"]
    return state["pos"] + state.get("peak", 0.0) * x


@program(K, N, features="dicts in a dict, key added later")
def accounts_by_name(x, n):
    accounts = {}
    for name in ("ann", "bob", "cy"):
        accounts[name] = {"balance": x * 10, "rate": 0.01 * x}
    for _ in range(n):
        for acc in accounts.values():
            interest = acc["balance"] * acc["rate"]
            acc["balance"] += interest
            acc["last"] = interest
    return sum(a["balance"] + a.get("last", 0.0) for a in accounts.values())


def damped(v, rate=0.1, scale=1.0, shift=0.0):
    return v * scale * math.exp(-rate) + shift


@program(K, N, features="options that get a key in a loop")
def options_that_get_a_key(x, n):
    options, out = {"rate": x, "scale": 2.0}, x
    for i in range(n):
        options["shift"] = x * 0.01 * i
        out = damped(out, **options)
    return out


@program(K, N, features="options of each row")
def rows_as_options(x, n):
    rows = [{"rate": x * 0.1 * i, "shift": x} for i in range(n)]
    for row in rows:
        row["scale"] = 1.0 + x
    total = 0.0
    for row in rows:
        other = dict(row) if row["rate"] > 0.1 else {"rate": 0.5, "shift": 1.0, "scale": x}
        other["shift"] += 1.0
        total += damped(x, **other) + row["shift"]
    return total


def weighed(**entries):
    total = 0.0
    for k, value in enumerate(entries.values()):
        total += value * k
    return total


@program(K, N, features="options in their order")
def options_whose_order_is_seen(x, n):
    options = {"a": x, "b": x * x}
    total = 0.0
    for i in range(n):
        if i % 2:
            options["d"] = x * i
        options["c"] = 2.0 * x + i
        total += weighed(**options)
    return total


@program(K, N, features="dict of two kinds after a branch")
def one_of_two_dicts(x, n):
    best = {"cost": x * n, "name": "first"}
    for i in range(n):
        one = {"cost": (x - i) ** 2, "name": f"{i}"}
        if one["cost"] < best["cost"]:
            best = one
    return best["cost"] + len(best["name"])


@program(K, N, features="dicts with other keys in one list")
def dicts_of_several_kinds(x, n):
    things = [{"kind": "circle", "r": x}, {"kind": "square", "side": 2.0 * x}]
    for i in range(n):
        things.append({"kind": "circle", "r": x * i})
    total = 0.0
    for each in things:
        if each["kind"] == "circle":
            total += 3.0 * each["r"] ** 2
        else:
            total += each["side"] ** 2
    return total


@program(K, N, features="dicts in dicts")
def dicts_in_dicts(x, n):
    bodies = [{"pos": {"x": x * i, "y": 1.0}, "mass": x} for i in range(n)]
    for body in bodies:
        body["pos"]["x"] += body["mass"] * body["pos"]["y"]
        body["pos"]["z"] = body["pos"]["x"] * x
    return sum(body["pos"]["x"] * body["pos"]["z"] for body in bodies)


@program(K, N, features="dicts in a list that is returned")
def rows_that_are_returned(x, n):
    rows = [{"a": x * i} for i in range(n)]
    for row in rows:
        row["b"] = row["a"] * x
    return rows


@program(K, N, features="dicts in a list, in the order of a key")
def rows_in_order(x, n):
    rows = [{"key": math.sin(x * 7 * i), "n": i} for i in range(n)]
    rows.sort(key=lambda row: row["key"])
    best = max(rows, key=lambda row: row["n"])
    best["key"] = best["key"] * 2.0
    return sum(row["key"] * (k + 1) for k, row in enumerate(rows)) + best["key"]


@program(K, N, features="dict that is asked what it is")
def dicts_that_are_asked(x, n):
    d = dict(a=x, b=2.0)
    rows = [d, {"a": x * x, "b": 1.0}]
    total = 0.0
    for row in rows:
        row["a"] += n
        if isinstance(row, dict) and row and len(row) == 2 and row is d:
            total += row["a"] * 3.0
    d |= {"b": x}
    d.update(b=d["b"] * x)
    return total + rows[0]["b"] + rows[1]["a"]


ROWS = [
    {"name": "a", "price": 1.5, "qty": 2.0},
    {"name": "b", "price": 0.5, "qty": 3.0},
    {"name": "c", "price": 2.5, "qty": 1.0},
]


@program(ROWS, K, features="copies of dicts that are arguments")
def copies_of_given_rows(rows, x):
    out = []
    for row in rows:
        out.append({**row, "total": row["price"] * row["qty"] * x})
        out[-1]["price"] += 1.0
    first = dict(rows[0])
    first["price"] = first["price"] * x
    return sum(row["total"] * row["price"] for row in out) + first["price"] + rows[0]["price"] + len(first)


def cost(name, price, qty, scale=1.0):
    return price * qty * scale + len(name)


@program(ROWS, K, features="dicts that are arguments as options")
def given_rows_as_options(rows, x):
    total, seen = 0.0, []
    for row in rows:
        total += cost(**row, scale=x)
        seen.append(weighed(**row | {"name": x}))
    return total + sum(seen)


@program(K, N, features="dicts that are equal, remove and index")
def equal_dicts_in_a_list(x, n):
    rows = [{"a": x, "k": 1}, {"a": 2.0 * x, "k": 2}, {"a": x, "k": 1}]
    last = rows[2]
    rows.remove(last)
    total = sum(row["a"] * (k + 1) for k, row in enumerate(rows))
    last["a"] = 3.0 * x
    found = {"a": 2.0 * x, "k": 2}
    if found in rows and found == rows[0]:
        total += rows.index(found) + rows.count(last) * x
    return total + rows[-1]["a"] * n


@program(K, N, features="dicts that are removed")
def orders_that_come_due(x, n):
    orders, stock = [], 10.0
    for day in range(2 * n):
        for order in [o for o in orders if o["due"] == day]:
            stock += order["amount"]
            orders.remove(order)
        orders.append({"due": day + 2, "amount": x * day})
        orders.append({"due": day + 2, "amount": x * day})
        stock *= 0.9
    return stock + sum(order["amount"] * k for k, order in enumerate(orders))


@program(K, N, features="equal dicts in tuples of a heap")
def dicts_in_a_heap(x, n):
    queue = []
    for i in range(n):
        heapq.heappush(queue, (i % 2, {"amount": 2.0 * x} if i < 4 else {"amount": 2.0 * x}))
    total, k = 0.0, 1.0
    while queue:
        _, event = heapq.heappop(queue)
        event["amount"] += total * 0.1
        total += event["amount"] * k
        k *= 0.5
    return total
