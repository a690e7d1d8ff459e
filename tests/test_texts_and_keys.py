"""Numbers that go through text or keys (ruling 16): refused where they become numbers again, while printing, formatting and
looking up stay free."""

from __future__ import annotations

import ast
import collections
import decimal
import fractions
import functools
import io
import itertools
import json
import logging
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient, jvp, pullback, stop_gradient
from tests.ways import WAYS

REFUSED: list[Callable[..., Any]] = []
FREE: list[Callable[..., Any]] = []
FREE_WHERE_NOTHING_IS_WRITTEN: list[Callable[..., Any]] = []
X = 0.7


def refused(f):
    """Enter a function whose derivative would be lost."""
    REFUSED.append(f)
    return f


def free(f):
    """Enter a function that makes text or keys, and never makes numbers of them."""
    FREE.append(f)
    return f


def free_where_nothing_is_written(f):
    """The same for a function that reads what others may have written into, in a run that tracks writes."""
    FREE_WHERE_NOTHING_IS_WRITTEN.append(f)
    return f


class Record:
    pass


def parse(s):
    return float(s)


def show(x):
    return repr(x)


@refused
def text_repr(x):
    return float(repr(x * x))


@refused
def text_str(x):
    return float(str(x * x))


@refused
def text_f(x):
    return float(f"{x * x}")


@refused
def text_f2(x):
    return float(f"{x * x:.17g}")


@refused
def text_format(x):
    return float(format(x * x, ".17g"))


@refused
def text_fmt2(x):
    return float(f"{x * x:.17g}")


@refused
def text_pct(x):
    return float("%.17g" % (x * x))


@refused
def text_pct2(x):
    return float("%.17g" % (x * x,))


@refused
def text_join(x):
    return sum([float(p) for p in " ".join([str(x), str(x * x)]).split()])


@refused
def text_join2(x):
    return sum(map(float, " ".join([str(x), str(x * x)]).split()))


@refused
def text_lit(x):
    return ast.literal_eval(repr(x * x))


@refused
def text_lit2(x):
    return ast.literal_eval(repr([x, x * x]))[1]


@refused
def text_json(x):
    return json.loads(json.dumps(x * x))


@refused
def text_json2(x):
    return json.loads(json.dumps({"a": [x, x * x]}))["a"][1]


@refused
def text_hex(x):
    return float.fromhex(x.hex())


@refused
def text_hex2(x):
    return float.fromhex(float.hex(x * x))


@refused
def text_npfs(x):
    return np.sum(np.fromstring(f"{x} {x * x}", sep=" "))


@refused
def text_load(x):
    return np.sum(np.loadtxt(io.StringIO(f"{x} {x * x}")))


@refused
def text_load2(x):
    return np.sum(np.loadtxt([f"{x} {x * x}"]))


@refused
def text_arr(x):
    return np.sum(np.array([str(x), str(x * x)]).astype(float))


@refused
def text_arr2(x):
    return np.sum(np.array([str(x), str(x * x)], dtype=float))


@refused
def text_arr3(x):
    return np.sum(np.asarray([str(x)], float))


@refused
def text_ast(x):
    return np.sum(np.array([x, x * x]).astype(str).astype(float))


@refused
def text_ast2(x):
    return np.sum(np.array([x, x * x]).astype("U").astype("f8"))


@refused
def text_dec(x):
    return float(decimal.Decimal(str(x * x)))


@refused
def text_frac(x):
    return float(fractions.Fraction(str(x * x)))


@refused
def text_dec2(x):
    return float(decimal.Decimal(x * x))


@refused
def text_helper(x):
    return parse(show(x * x))


@refused
def text_helper2(x):
    return parse(show(x * x)) * x


@refused
def text_cont(x):
    d = {"a": str(x * x)}
    return float(d["a"])


@refused
def text_cont2(x):
    d = []
    d.append(str(x * x))
    return float(d[0])


@refused
def text_obj(x):
    o = Record()
    o.t = f"{x * x}"
    return float(o.t)


@refused
def text_loop(x):
    s = "1.0"
    for i in range(3):
        s = str(float(s) * x)
    return float(s)


@refused
def text_branch(x):
    if x > 0:
        s = str(x)
    else:
        s = "1"
    return float(s)


@refused
def text_strip(x):
    return float(str(x * x).strip().lower()[:5])


@refused
def text_int(x):
    return int(str(x * x).replace(".", "")) * 0.001


@refused
def text_cplx(x):
    return complex(str(x * x)).real


@refused
def text_f64(x):
    return np.float64(str(x * x))


@refused
def text_dispatch(x):
    fs = [float]
    return fs[0](str(x * x))


@refused
def text_print(x):
    b = io.StringIO()
    print(x * x, file=b)
    return float(b.getvalue())


@refused
def text_bytes(x):
    return float(str(x * x).encode())


@refused
def text_a2s(x):
    return float(np.array2string(np.array(x * x)))


@refused
def text_dunder(x):
    return float(x.__repr__())


@refused
def text_fmtpos(x):
    return float(np.format_float_positional(x * x))


@refused
def text_partial(x):

    return functools.partial(float, str(x * x))()


@refused
def text_lam(x):
    return (lambda s: float(s))(str(x))


@refused
def text_reg(x):

    return float(re.match("(.*)", str(x * x)).group(1))


@refused
def text_eval(x):
    return eval(str(x * x))


@refused
def text_max(x):
    return float(max([str(x), str(x * x)]))


@refused
def text_concat(x):
    return float(str(x) + "e0")


@refused
def text_yield(x):

    def g():
        yield str(x * x)

    return sum(float(s) for s in g())


@refused
def key_zip(x):
    d = dict(zip([x, x * x], [1, 2]))
    t = 0.0
    for k in d:
        t += k
    return t


@refused
def key_zip2(x):
    return max(dict(zip([x, x * x], [1, 2])))


@refused
def key_from(x):
    return sum(dict.fromkeys([x, x * x]))


@refused
def key_from2(x):
    return list(dict.fromkeys([x, x * x], 0.0))[1]


@refused
def key_setd(x):
    d = {}
    d.setdefault(x * x, 1.0)
    return sum(d)


@refused
def key_upd(x):
    d = {}
    d.update({1.0: 1})
    d.update([(x * x, 1.0)])
    return sum(d)


@refused
def key_upd2(x):
    d = {}
    d.update(zip([x * x], [1.0]))
    return sum((k for k, v in d.items()))


@refused
def key_comp(x):
    d = {v: 1 for v in [x, x * x]}
    return sum(d.keys())


@refused
def key_counter(x):
    return sum(collections.Counter([x, x * x]))


@refused
def key_counter2(x):
    return sum(collections.Counter([x, x * x]).elements())


@refused
def key_set(x):
    return sum({x, x * x})


@refused
def key_set2(x):
    return sum(set([x, x * x]))


@refused
def key_fs(x):
    return sum(frozenset([x, x * x]))


@refused
def key_setc(x):
    return sum({v for v in [x, x * x]})


@refused
def key_seta(x):
    s = set()
    s.add(x * x)
    return sum(s)


@refused
def key_dd(x):
    d = collections.defaultdict(float)
    d[x * x] += 1.0
    return sum(d)


@refused
def key_od(x):
    return sum(collections.OrderedDict([(x * x, 1.0)]))


@refused
def key_dict(x):
    return sum(dict([(x * x, 1.0)]))


@refused
def key_dictl(x):
    return sum(dict([[x * x, 1.0]]))


@refused
def key_merge(x):
    return sum({1.0: 2} | dict(zip([x * x], [1])))


@refused
def key_pop(x):
    d = dict(zip([x * x], [1.0]))
    return d.popitem()[0]


@refused
def key_sorted(x):
    return sorted(dict.fromkeys([x, x * x]))[0]


@refused
def key_uniq(x):
    return sum(dict.fromkeys(sorted([x, x * x])))


@refused
def key_arr(x):
    d = dict(zip([x, x * x], [1, 2]))
    return np.sum(np.array(list(d.keys())))


@refused
def key_npu(x):
    return np.sum(np.array(sorted(set(np.array([x, x * x]).tolist()))))


@free
def plain_print(x):
    print(f"x = {x:.3f}", x, str(x), repr(x), "%g" % x, file=io.StringIO())
    return x * x


@free
def plain_log(x):

    logging.getLogger("a").info("x %s %f", x, x)
    logging.getLogger("a").debug(f"{x}")
    return x * x


@free
def plain_fn(x):
    name = f"run_{x:.2f}.txt"
    path = "/tmp/" + name
    return x * x * len(path)


@free
def plain_const(x):
    return float("2.5") * x + float("inf") * 0.0 if x > 1000000000.0 else float("2.5") * x


CFG = {"lr": "0.5"}


@free
def plain_cfg(x):
    return float(CFG["lr"]) * x


@free
def plain_lines(x):
    t = 0.0
    for line in ["1.0", "2.0"]:
        t += float(line) * x
    return t


@free
def plain_arg(x, s="3.0"):
    return float(s) * x


@free
def plain_err(x):
    if x < 0:
        raise ValueError(f"bad {x}")
    return x * x


@free
def plain_lookup(x):
    d = {1: 2.0, 2: 3.0}
    return d[int(x) + 1] * x


@free
def plain_setint(x):
    s = {1, 2, 3}
    return sum(s) * x


@free
def plain_dictvals(x):
    d = dict(zip(["a", "b"], [x, x * x]))
    return sum(d.values()) + d["a"]


@free
def plain_strkey(x):
    d = {}
    d[f"k{x:.1f}"] = x * x
    return d[f"k{x:.1f}"]


@free
def plain_load(x):
    a = np.loadtxt(io.StringIO("1 2 3"))
    return np.sum(a * x)


@free
def plain_json(x):
    cfg = json.loads('{"a": 2.0}')
    return cfg["a"] * x


@free
def plain_setstr(x):
    seen = set()
    seen.add(str(x))
    return x if str(x) in seen else 0.0


@free
def plain_table(x):
    rows = [(i, x * i) for i in range(3)]
    text = "\n".join("%d %.3f" % r for r in rows)
    return sum(r[1] for r in rows)


@free
def plain_sep(x):
    n = int("3")
    return sum(x * i for i in range(n))


def helper(o, x):
    return float(o["t"]) * x


@refused
def text_h1(x):
    return helper({"t": f"{x}"}, x)


class Box:
    def __init__(self, t):
        self.t = t

    def parse(self, s):
        return float(s)

    def value(self):
        return float(self.t)


def helper2(o, x):
    return float(o.t) * x


@refused
def text_h2(x):
    return helper2(Box(str(x)), x)


@refused
def text_h2b(x):
    return Box(str(x)).value()


@refused
def text_h2c(x):
    return Box(str(x)).value() * x


B = Box("1.0")


@refused
def text_h3(x):
    return B.parse(str(x))


@refused
def text_h3b(x):
    return B.parse(str(x)) * x


@refused
def text_h4(x):
    t = str(x)

    def g():
        return float(t)

    return g() * x


@refused
def text_h4b(x):
    t = str(x)
    return (lambda: float(t))()


@refused
def text_h5(x):
    t = str(x)
    try:
        return float(t)
    except ValueError:
        return 0.0


@refused
def text_h5b(x):
    i = 0
    t = "1"
    while i < 2:
        t = f"{float(t) * x}"
        i += 1
    return float(t) * x


@refused
def text_h6(x):
    return float(sorted([str(x), str(x * x)], key=float)[0])


@refused
def text_h10(x):
    d = {"a": str(x), "b": str(x * x)}
    return sum({k: float(v) for k, v in d.items()}.values())


@refused
def text_h11(x):
    return sum([float(t) for t in ",".join(map(str, [x, x * x])).split(",")])


@refused
def text_h12(x):
    return float(f"{x!r}")


@refused
def text_h13(x):
    return float(("%s %s" % (x, x * x)).split()[1])


@refused
def text_h14(x):
    return np.sum(np.array(list(map(float, [str(x), str(x * x)]))))


@refused
def text_h15(x):
    return float("".join([c for c in str(x)]))


@refused
def text_h16(x):
    out = []
    for v in [x, x * x]:
        out.append(f"{v}")
    return sum(float(t) for t in out)


@refused
def text_h17(x):
    rows = "\n".join(f"{v} {v * v}" for v in [x, 2 * x])
    return sum(float(line.split()[1]) for line in rows.splitlines())


@refused
def text_h18(x):
    a, b = (str(x), "2")
    return float(a) * float(b)


@refused
def text_h19(x):
    return decimal.Decimal(repr(x)).__float__()


@refused
def text_h20(x):
    return np.float32(str(x)).item()


@refused
def text_h21(x):
    return np.asarray(str(x)).astype(float).item()


@refused
def text_h22(x):
    return np.genfromtxt(io.StringIO(f"{x} 1")).sum()


@refused
def text_h23(x):
    return float(str(np.array([x, x * x]))[1:4])


@refused
def text_h24(x):
    return float(np.array([x]).tolist().__repr__()[1:-1])


@refused
def text_h25(x):
    s = io.StringIO()
    s.write(f"{x}\n{x * x}\n")
    s.seek(0)
    return sum(float(l) for l in s)


@refused
def text_h26(x):
    s = io.StringIO()
    np.savetxt(s, np.array([x, x * x]))
    s.seek(0)
    return np.sum(np.loadtxt(s))


def conv(t, f):
    return f(t)


@refused
def text_h27(x):
    return conv(str(x), float)


@refused
def text_h28(x):
    return conv(x, lambda v: float(str(v)))


@refused
def text_h29(x):
    return max(float(t) for t in (str(x), str(x * x)))


@refused
def text_h30(x):
    t = str(x) if x > 0 else "0"
    return x * float(t)


@refused
def text_h31(x):
    return int(round(x * 1000000.0)) * 0.0 + float(repr(x))


@refused
def text_h32(x):
    return sum(ast.literal_eval(f"({x}, {x * x})"))


@refused
def text_h33(x):
    return eval(f"{x}*2")


@refused
def text_h34(x):
    return float.__new__(float, str(x))


@refused
def text_h35(x):
    return type(x)(str(x))


@refused
def text_h36(x):
    return np.sum(np.char.add(np.array([x]).astype(str), "0").astype(float))


@refused
def text_h37(x):
    return np.sum(np.array(f"{x} {x * x}".split(), dtype=np.float64))


@refused
def text_h38(x):
    d = {}
    d["v"] = f"{x:.17g}"
    return helper({"t": d["v"]}, 1.0) * x


@refused
def text_h39(x):
    return float(x.__format__(".17g"))


@refused
def text_h40(x):
    return float(str.format("{}", x))


@free
def plain_a(x):
    rec = {"name": f"{x}", "count": 3}
    return rec["count"] * x


@free
def plain_b(x):
    hist = []
    for i in range(3):
        x = x * 0.5
        hist.append(f"{i}: {x:.3f}")
    print("\n".join(hist), file=sys.stderr) if False else None
    return x * len(hist)


def sched(cfg, i):
    return cfg["lr"] / (i + 1.0)


@free
def plain_c(x, cfg={"lr": 0.1}):
    s = f"{x}"
    return x * sched(cfg, 2)


class Cfg:
    lr = 0.5

    def rate(self, i):
        return self.lr * i


C = Cfg()


@free
def plain_d(x):
    msg = "x=%.3f" % x
    return x * C.rate(2)


@free
def plain_e(x):
    for i in range(2):
        name = f"step {i} {x:.2f}"
        x = x * float(i + 1)
    return x


@free
def plain_g(x):

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"x {x}")
    return float(3) * x


@free
def plain_h(x):
    label = {True: "big", False: "small"}[bool(x > 0.5)]
    w = {"big": 2.0, "small": 3.0}
    print(label, f"{x}", file=io.StringIO())
    return w[label] * x


@free
def plain_i(x):
    s = str(x)
    n = s.count("7")
    ok = s.startswith("0")
    return x * (2.0 if ok else 3.0)


@free
def plain_j(x):
    key = round(x, 3)
    cache = {}
    cache[key] = x * x
    return cache[key]


@free
def plain_k(x):
    d = dict(zip(["a", "b"], [x, 2 * x]))
    out = ", ".join((f"{k}={v:.3f}" for k, v in d.items()))
    return d["a"] * d["b"]


@free
def keys_of_pairs_over_a_list_of_constants(x):
    d = dict((v, x * v) for v in [1.0, 2.0])
    return d[1.0] * d[2.0]


@free
def keys_stored_in_a_loop_over_a_list_of_constants(x):
    items, d = [x], {}
    items[0] = x * x
    for v in [0.5, 1.0]:
        d[v] = items[0] * v
    return d[0.5] * d[1.0]


@free
def keys_of_a_tuple_of_constants(x):
    d = dict(zip((0.5, 1.0), [x, x * x]))
    d[1.5] = x
    return d[0.5] * d[1.0] * d[1.5]


GRID = [0.5, 1.0]
TEXT = "2.5 3.5"


@free_where_nothing_is_written
def keys_of_a_list_of_the_module(x):
    d = dict(zip(GRID, [x, x * x]))
    return d[0.5] * d[1.0]


@free_where_nothing_is_written
def keys_of_a_comprehension_over_a_list_of_the_module(x):
    d = {v: x * v for v in GRID}
    return d[0.5] * d[1.0]


@free_where_nothing_is_written
def numbers_of_a_text_of_the_module(x):
    show(x)
    return weighted(x)


def weighted(x):
    return x * sum([float(part) for part in TEXT.split()])


@free_where_nothing_is_written
def numbers_of_a_text_that_is_written_out(x):
    label = f"{x}"
    numbers = [float(part) for part in "1.5 2.5".split()]
    return x * numbers[0] * len(label[:1])


def named(f):
    return f.__name__


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", REFUSED, ids=named)
def test_what_comes_back_out_of_text_or_keys_is_refused(f, way):
    with WAYS[way]():
        for differentiated in (lambda: gradient(f, X), lambda: pullback(f, X)[1](1.0), lambda: jvp(f, (X,), (1.0,))):
            with pytest.raises(DifferentiationError, match=r"test_texts_and_keys\.py:\d+"):
                differentiated()


@pytest.mark.parametrize(
    ("f", "way"),
    [*itertools.product(FREE, WAYS), *itertools.product(FREE_WHERE_NOTHING_IS_WRITTEN, ["inlined", "dispatched"])],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_text_and_keys_that_stay_what_they_are_are_free(f, way):
    h = 1e-6
    slope = (f(X + h) - f(X - h)) / (2 * h)
    with WAYS[way]():
        _, back = pullback(f, X)
        found = [gradient(f, X)[0], back(1.0)[1], back(1.0)[1], jvp(f, (X,), (1.0,))[1]]
    assert found == pytest.approx([slope] * 4, rel=1e-4)


def test_text_of_what_carries_nothing_may_become_a_number():
    def stopped(x):
        return x * float(f"{stop_gradient(x)}")

    assert gradient(stopped, X) == (X,) and jvp(stopped, (X,), (1.0,))[1] == X


def test_a_refusal_is_of_one_run():
    def reads(x, text):
        return x * float(text)

    with pytest.raises(DifferentiationError):
        gradient(lambda x: reads(x, f"{x}"), X)
    assert gradient(lambda x: reads(x, "0.5"), X) == (0.5,)
    assert gradient(reads, X, "0.5")[0] == 0.5
