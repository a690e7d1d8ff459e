"""What changes between calls is seen by the next call, and nothing is kept alive (ruling 13)."""

from __future__ import annotations

import functools
import gc
import math
import sys
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    MissingRuleError,
    NoTangent,
    Tangent,
    cache_clear,
    cache_info,
    entry,
    grad,
    gradient,
    jvp,
    pullback,
    rrule,
)
from microgradpy.state.reachable_writes import may_write
from tests.programs import expressions
from tests.programs.objects import Affine


def cube(x):
    return x * x * x


# Live semantics


factor = 2.0


def helper(x):
    return x * 2.0


def uses_globals(x):
    return helper(x) * factor


def test_a_redefined_global_is_seen_by_the_next_call(monkeypatch):
    assert gradient(uses_globals, 3.0) == (4.0,)
    monkeypatch.setitem(globals(), "factor", 5.0)
    assert gradient(uses_globals, 3.0) == (10.0,)
    monkeypatch.setitem(globals(), "helper", lambda x: x * x)
    assert gradient(uses_globals, 3.0) == (30.0,)
    monkeypatch.setitem(globals(), "helper", np.sin)
    assert gradient(uses_globals, 3.0)[0] == pytest.approx(5.0 * math.cos(3.0))


def with_defaults(x, power=2, *, scale=3.0):
    return scale * x**power


def uses_defaults(x):
    return with_defaults(x) + with_defaults(x, scale=1.0)


def test_changed_defaults_and_code_of_a_callee_are_seen(monkeypatch):
    assert gradient(uses_defaults, 2.0) == (16.0,)
    monkeypatch.setattr(with_defaults, "__defaults__", (3,))
    assert gradient(uses_defaults, 2.0) == (48.0,)
    monkeypatch.setitem(with_defaults.__kwdefaults__, "scale", 1.0)
    assert gradient(uses_defaults, 2.0) == (24.0,)
    monkeypatch.setattr(with_defaults, "__kwdefaults__", {"scale": 2.0})
    assert gradient(uses_defaults, 2.0) == (36.0,)
    monkeypatch.setattr(with_defaults, "__code__", (lambda x, power=1, *, scale=1.0: scale * x).__code__)
    assert gradient(uses_defaults, 2.0) == (3.0,)


def through_helper(x):
    return helper(x)


def through_two(x):
    return through_helper(x)


def test_every_redefinition_of_a_helper_is_seen_also_the_second(monkeypatch):
    assert gradient(through_two, 1.0) == (2.0,)
    for factor in (3.0, 5.0, 7.0):
        monkeypatch.setitem(globals(), "helper", _multiply_by(factor))
        assert gradient(through_two, 1.0) == (factor,)
        assert pullback(through_two, 1.0)[0] == factor


def _multiply_by(factor):
    def multiply(x):
        return x * factor

    return multiply


def test_units_that_were_given_up_are_not_used_again(monkeypatch):
    assert gradient(odd_steps, 1.0, 3)[0] == 4.0
    monkeypatch.setitem(globals(), "helper", lambda x: np.array([x, x]))
    assert gradient(lambda x, n: np.sum(odd_steps(x, n)), 1.0, 1)[0] == 2.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * 11.0)
    assert gradient(odd_steps, 1.0, 3)[0] == 121.0


def even_steps(x, n):
    return x if n == 0 else odd_steps(x, n - 1)


def odd_steps(x, n):
    return x if n == 0 else even_steps(helper(x), n - 1)


@pytest.mark.parametrize("first, second", [(even_steps, odd_steps), (odd_steps, even_steps)])
def test_functions_that_call_each_other_see_a_redefined_helper_of_either(monkeypatch, first, second):
    cache_clear()
    assert gradient(first, 3.0, 2)[0] == 2.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * 5.0)
    assert gradient(second, 3.0, 2)[0] == 5.0
    assert gradient(first, 3.0, 2)[0] == 5.0


def test_a_name_that_is_no_identifier_does_not_matter(monkeypatch):
    monkeypatch.setattr(cube, "__name__", "my cube")
    cache_clear()
    assert gradient(cube, 2.0) == (12.0,)


def test_a_redefined_helper_of_a_helper_is_seen(monkeypatch):
    def outer(x):
        return uses_globals(x) + uses_globals(x)

    assert gradient(outer, 3.0) == (8.0,)
    monkeypatch.setitem(globals(), "helper", lambda x: x * 10.0)
    assert gradient(outer, 3.0) == (40.0,)


def test_a_shadowed_builtin_is_seen(monkeypatch):
    def f(x):
        return abs(x) * 2.0

    assert gradient(f, -3.0) == (-2.0,)
    monkeypatch.setitem(globals(), "abs", lambda x: x * x)
    assert gradient(f, -3.0) == (-12.0,)


def test_a_replaced_module_attribute_is_seen(monkeypatch):
    def f(x):
        return expressions.cos(x) * expressions.GRAVITY

    assert gradient(f, 3.0)[0] == pytest.approx(-9.81 * math.sin(3.0))
    monkeypatch.setattr(expressions, "cos", math.sin)
    assert gradient(f, 3.0)[0] == pytest.approx(9.81 * math.cos(3.0))
    monkeypatch.setattr(expressions, "GRAVITY", 2.0)
    assert gradient(f, 3.0)[0] == pytest.approx(2.0 * math.cos(3.0))


def test_a_rebound_cell_is_seen():
    k = 2.0
    g = np.sin

    def f(x):
        return g(x) * k

    assert gradient(f, 1.0)[0] == pytest.approx(2.0 * math.cos(1.0))
    k = 3.0
    assert gradient(f, 1.0)[0] == pytest.approx(3.0 * math.cos(1.0))
    k = np.float64(4.0)
    g = np.cos
    assert gradient(f, 1.0)[0] == pytest.approx(-4.0 * math.sin(1.0))
    k = 5
    g = helper
    assert gradient(f, 1.0)[0] == pytest.approx(10.0)


def test_changed_defaults_and_instances_are_seen():
    def f(x, k=2.0):
        return x * k

    assert gradient(f, 1.0) == (2.0,)
    f.__defaults__ = (5.0,)
    assert gradient(f, 1.0) == (5.0,)
    a = Affine(2.0, 3.0)
    assert gradient(a, 1.0) == (2.0,)
    a.a = 7.0
    assert gradient(a, 1.0) == (7.0,)


class Recorded:
    def __init__(self, a):
        self.a = a


def reads_a_field(record, x):
    return record.a * x


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("__getattribute__", lambda self, name: 3.0 if name == "a" else object.__getattribute__(self, name)),
        ("a", property(lambda self: 3.0 * vars(self)["a"])),
    ],
)
def test_a_class_that_computes_its_attributes_later_is_refused(monkeypatch, name, member):
    record = Recorded(2.0)
    direction = (Tangent(Recorded, a=1.0), 0.0)
    assert gradient(reads_a_field, record, 0.5)[0] == Tangent(Recorded, a=0.5)
    assert jvp(reads_a_field, (record, 0.5), direction) == (1.0, 0.5)
    monkeypatch.setattr(Recorded, name, member, raising=False)
    with pytest.raises(MissingRuleError, match="'a' of a Recorded is computed"):
        gradient(reads_a_field, record, 0.5)
    with pytest.raises(MissingRuleError, match="'a' of a Recorded is computed"):
        jvp(reads_a_field, (record, 0.5), direction)


def test_a_rule_registered_later_is_seen():
    def plain(x):
        return x * x

    def f(x):
        return plain(x) * 3.0

    _, back_before = pullback(f, 2.0)
    assert gradient(f, 2.0) == (12.0,)

    @rrule.register(plain)
    def plain_rrule(x):
        def plain_pullback(y_bar):
            return NoTangent(), 100.0 * y_bar

        return x * x, plain_pullback

    assert gradient(f, 2.0) == (300.0,)
    assert gradient(plain, 2.0) == (100.0,)
    assert back_before(1.0)[1] == 12.0


def test_a_rule_is_called_once_and_its_pullback_once_per_back():
    calls = []

    def five(x):
        return 5.0 * x

    @rrule.register(five)
    def five_rrule(x):
        def five_pullback(y_bar):
            calls.append("back")
            return None, 5.0 * y_bar

        calls.append("forward")
        return 5.0 * x, five_pullback

    _, back = pullback(lambda x: five(x), 3.0)
    assert [back(seed)[1] for seed in (1.0, 2.0, 3.0)] == [5.0, 10.0, 15.0]
    assert calls == ["forward", "back", "back", "back"]


def test_rules_with_keywords_and_several_results():
    def both(x, y, *, scale=2.0):
        return scale * x, x * y

    @rrule.register(both)
    def both_rrule(x, y, *, scale=2.0):
        def both_pullback(bars):
            first, second = bars
            return NoTangent(), scale * first + y * second, x * second

        return (scale * x, x * y), both_pullback

    def f(x, y):
        a, b = both(x, y, scale=3.0)
        return a * 2.0 + b

    assert gradient(f, 5.0, 7.0) == (13.0, 5.0)


# Caches


def test_cache_info_and_clear():
    cache_clear()
    empty = cache_info()
    gradient(cube, 2.0)
    assert cache_info() != empty
    gradient(cube, 3.0)
    cache_clear()
    assert cache_info() == empty
    assert gradient(cube, 2.0) == (12.0,)


def test_back_outlives_the_cache():
    _, back = pullback(cube, 2.0)
    cache_clear()
    gc.collect()
    assert back(1.0)[1] == 12.0


class Payload:
    def __init__(self, value):
        self.value = value


def test_lambdas_made_in_a_loop_do_not_leak():
    references = []

    def times(payload):
        return lambda x: x * payload.value

    for k in range(5):
        payload = Payload(float(k))
        f = times(payload)
        assert gradient(f, 2.0) == (float(k),)
        references += [weakref.ref(f), weakref.ref(payload)]
        del f, payload
    gc.collect()
    assert [reference() for reference in references] == [None] * 10


def test_arguments_are_not_kept_alive():
    p = Payload(2.0)
    _, back = pullback(lambda p: p.value * 3.0, p)
    reference = weakref.ref(p)
    del p, back
    gc.collect()
    assert reference() is None


def test_methods_do_not_keep_their_object_alive():
    a = Affine(2.0, 3.0)
    gradient(a.__call__, 1.0), gradient(a, 1.0)
    reference = weakref.ref(a)
    del a
    gc.collect()
    assert reference() is None


def test_functions_made_from_new_text_do_not_leak():
    import linecache

    for k in range(3):
        name, text = f"<generated {k}>", f"def f(x):\n    return x * {k}.0\n"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {}
        exec(compile(text, name, "exec"), namespace)
        assert gradient(namespace["f"], 2.0) == (float(k),)
        reference = weakref.ref(namespace["f"])
        del namespace
        gc.collect()
        assert reference() is None


def test_one_compilation_serves_many_closures():
    def make(k):
        return lambda x: x * k

    gradient(make(1.0), 2.0)
    before = cache_info()
    for k in range(2, 30):
        assert gradient(make(float(k)), 2.0) == (float(k),)
    assert cache_info().size == before.size
    assert cache_info().misses == before.misses


class Stepper:
    def __init__(self, v):
        self.v = v
        self.step = self.scaled

    def scaled(self, s):
        return self.v * s


def stepped(stepper, s):
    return stepper.v * stepper.step(s)


def stepped_twice(stepper, s):
    step = stepper.step
    return stepped(stepper, s) * step(step(s))


def test_a_field_that_holds_a_method_of_its_object():
    v, s = 1.5, 0.7
    stepper_bar, s_bar = grad(stepped, (0, 1))(Stepper(v), s)
    assert (stepper_bar["v"], s_bar) == pytest.approx((2 * v * s, v * v))
    stepper_bar, s_bar = grad(stepped_twice, (0, 1))(Stepper(v), s)
    assert (stepper_bar["v"], s_bar) == pytest.approx((4 * v**3 * s**2, 2 * v**4 * s))


def weighted(table, rows, x):
    total = 0.0
    for key, weight in table.items():
        for number, factor in rows:
            total = total + weight * factor * x ** (number + key)
    return total


def test_large_containers_are_told_apart_by_what_they_hold():
    rows = [(number % 3, 0.5 + 0.01 * number) for number in range(100)]
    for table, others in (
        ({0: 1.5, 1: 2.5}, rows),
        ({0: 1, 1: 2}, rows),
        ({0: True, 1: 2.5}, rows),
        ({0: 1.5, 1.0: 2.5}, rows),
        ({0: 1.5, 1: 2.5}, [(number, 2) for number, _ in rows]),
        ({0: np.float32(1.5), 1: 2}, [*rows[1:], (1, True)]),
        ({0: 1.5, 1: 2.5}, [list(row) for row in rows]),
    ):
        for _ in range(2):
            table_bar, rows_bar, x_bar = grad(weighted, (0, 1, 2))(table, others, 1.5)
            powers = {key: sum(factor * 1.5 ** (number + key) for number, factor in others) for key in table}
            bars = [sum(weight * 1.5 ** (number + key) for key, weight in table.items()) for number, _ in others]
            slopes = [w * f * (n + k) * 1.5 ** (n + k - 1) for k, w in table.items() for n, f in others]
            assert x_bar == pytest.approx(sum(slopes))
            if all(type(weight) is not bool for weight in table.values()):
                assert dict(table_bar) == pytest.approx(powers)
            if all(type(factor) is not bool for _, factor in others):
                assert [bar for _, bar in rows_bar] == pytest.approx(bars)


def test_a_call_with_large_containers_takes_the_plan_of_the_one_before(monkeypatch):
    table, rows = {0: 1.5, 1: 2.5}, [(number % 3, 0.5) for number in range(100)]
    before = gradient(weighted, table, rows, 1.5)

    def refuse(*args):
        raise AssertionError("planned again")

    monkeypatch.setattr(entry, "_new_plan", refuse)
    assert gradient(weighted, table, rows, 1.5) == before
    with pytest.raises(AssertionError, match="again"):
        gradient(weighted, {0: 1.5, 1: 2}, rows, 1.5)


def test_the_cache_is_bounded():
    assert cache_info().size <= cache_info().maximum


# Calling convention and repeated use with other kinds


def test_the_same_function_with_floats_arrays_and_lists():
    def f(x):
        return np.sum(np.array(x) * 2.0)

    assert gradient(f, 3.0) == (2.0,)
    assert np.array_equal(gradient(f, np.ones(2))[0], [2.0, 2.0])
    assert gradient(f, [1.0, 2.0]) == ([2.0, 2.0],)
    assert gradient(f, 3.0) == (2.0,)
    assert gradient(f, 3) == (2.0,)
    assert np.array_equal(gradient(f, np.ones((2, 2)))[0], 2.0 * np.ones((2, 2)))


def test_numpy_functions_and_builtins_directly():
    assert gradient(np.sum, np.ones(3))[0].tolist() == [1.0, 1.0, 1.0]
    assert gradient(abs, -2.0) == (-1.0,)
    assert gradient(math.sin, 0.0) == (1.0,)
    assert gradient(pow, 2.0, 3.0)[0] == 12.0
    assert gradient(np.ndarray.sum, np.ones(2))[0].tolist() == [1.0, 1.0]


@dataclass
class Weights:
    w: float
    b: float


def test_the_value_is_the_very_object():
    p = Weights(1.0, 2.0)
    y, back = pullback(lambda p: p, p)
    assert y is p
    (_, bar) = back(Tangent(Weights, w=2.0))
    assert bar.w == 2.0


def test_a_function_that_is_the_first_to_import_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)

    def f(x):
        import colorsys

        return x * colorsys.ONE_SIXTH

    for _ in range(3):
        assert gradient(f, 3.0) == (1.0 / 6.0,)
    assert "colorsys" in sys.modules
    monkeypatch.delitem(sys.modules, "colorsys")
    assert jvp(f, (3.0,), (1.0,)) == (0.5, 1.0 / 6.0)


# What may write


last = [0.0]
chosen: list[Any] = []


def doubled(x):
    return x * 2.0


def noted(x):
    last[0] = x
    return x * 3.0


def applied(f, x):
    return f(x)


def test_a_function_that_writes_put_where_one_was_that_does_not():
    def f(x):
        return applied(chosen[0], x)

    chosen[:] = [doubled]

    assert gradient(f, 1.0) == (2.0,)
    chosen[0] = noted
    assert gradient(f, 1.0) == (3.0,)
    assert last == [1.0]
    assert jvp(f, (1.0,), (1.0,)) == (3.0, 3.0)


def test_whether_a_function_writes_is_not_told_by_its_address():
    """Code objects come and go, and get each other's addresses once nothing remembers them."""
    remembering = [held for held in gc.get_objects() if type(held) is functools._lru_cache_wrapper]

    def made(text: str) -> Any:
        namespace: dict[str, Any] = {"last": last}
        exec(text, namespace)
        return namespace["f"]

    for n in range(30):
        for length in range(1, 20):  # one of these takes as much memory as the other
            assert not may_write(made(f"def f(x):\n    return x * {n}{' * x' * length}\n"), [1.0])
        for held in remembering:
            held.cache_clear()
        assert may_write(made(f"def f(x):\n    last[0] = x\n    return x + {n}\n"), [1.0])
