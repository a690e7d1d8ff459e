"""`check_gradient` tells right gradients from wrong ones, and both from kinks."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

from microgradpy import NoTangent, rrule
from microgradpy.testing import check_gradient


def checked(f, *args, **options):
    """The report and what was printed."""
    file = io.StringIO()
    return check_gradient(f, *args, file=file, **options), file.getvalue()


def doubtful(x):
    return np.sum(x**2)


@rrule.register(doubtful)
def doubtful_rrule(x):
    def doubtful_pullback(y_bar):
        factor = np.full(np.shape(x), 2.0)
        factor.flat[-1] = 2.1
        return NoTangent(), y_bar * factor * x

    return doubtful(x), doubtful_pullback


class Line:
    def __init__(self, slope, offset):
        self.slope = slope
        self.offset = offset


def test_a_right_gradient():
    def loss(params, line, x, name):
        return np.sum((np.tanh(params["W"] @ x + params["b"]) * line.slope + line.offset[0]) ** 2)

    W = np.arange(12.0).reshape(4, 3) / 10.0
    x = np.array([0.5, -1.0, 2.0])
    before = W.copy(), x.copy()
    report, text = checked(loss, {"W": W, "b": np.ones(4)}, Line(2.0, [1.0, 2.0]), x, "a")
    assert report and report.ok and "agrees with finite differences" in text
    assert {row.argument for row in report.rows} == {
        "params['W']",
        "params['b']",
        "line.slope",
        "line.offset[0]",
        "line.offset[1]",
        "x",
    }
    assert all(row.verdict == "agrees" and row.error < 1e-6 for row in report.rows)
    assert "< 1e-08" in text
    assert np.array_equal(W, before[0]) and np.array_equal(x, before[1])


@pytest.mark.parametrize("shape", [(3,), (2, 2), (30, 30)])
def test_a_wrong_gradient_is_named_first(shape):
    x = np.linspace(1.0, 2.0, int(np.prod(shape))).reshape(shape)
    report, text = checked(lambda a, b: np.sum(a) + doubtful(b), np.ones(3), x)
    assert not report and not report.ok
    assert text.startswith("The gradient of ") and " is WRONG in 1 of 2 " in text.splitlines()[0]
    worst = report.rows[0]
    assert (worst.argument, worst.shape, worst.verdict) == ("b", shape, "WRONG")
    assert worst.place == str([n - 1 for n in shape])
    assert worst.gradient == pytest.approx(4.2) and worst.quotient == pytest.approx(4.0)
    assert worst.error == pytest.approx(0.2 / 4.2)
    assert text.splitlines()[2].split()[0] == "b"


def test_a_missing_gradient_is_wrong():
    def hides(x):
        return x * 2.0

    rrule.register(hides)(lambda x: (hides(x), lambda d: (NoTangent(), NoTangent())))
    report, _ = checked(lambda x: hides(x) + 1.0, 3.0)
    assert not report and report.rows[0].gradient == 0.0 and report.rows[0].quotient == pytest.approx(2.0)


def test_arguments_that_do_not_matter():
    report, _ = checked(lambda x, y: x**2, 3.0, 4.0)
    assert report and {row.argument for row in report.rows} == {"x", "y"}
    assert "nothing to differentiate" in checked(lambda s: 1.0, "text")[1]


def test_chosen_arguments():
    report, _ = checked(lambda a, b, c: a + doubtful(b) + c, 1.0, np.ones(2), 2.0, argnums=(0, -1))
    assert report and [row.argument for row in report.rows] == ["a", "c"]
    assert not checked(lambda a, b: a + doubtful(b), 1.0, np.ones(2), argnums=1)[0]
    with pytest.raises(TypeError, match="2 positional arguments"):
        checked(lambda a, b: a + b, 1.0, 2.0, argnums=2)


def test_values_that_are_no_scalars():
    report, text = checked(lambda x: {"a": np.sin(x), "z": np.exp(1j * x)}, np.array([1.0, 2.0]))
    assert report and "random seeds" in text
    report, _ = checked(lambda x: [doubtful(x), x[0]], np.array([1.0, 2.0]))
    assert not report and report.rows[0].place == "[1]"


def test_kinks_and_ends_of_the_domain():
    report, _ = checked(lambda x: np.sum(np.where(x > 0.0, x, 0.0)), np.array([0.0, 1.0, -1.0]))
    assert report and (report.rows[0].verdict, report.rows[0].place) == ("kink", "[0]")
    report, _ = checked(lambda x: max(x, 1.0), 1.0)
    assert report and report.rows[0].verdict == "kink"
    report, _ = checked(lambda x: np.sqrt(x) ** 3, 0.0)
    assert report
    with np.errstate(divide="ignore"):
        report, _ = checked(np.sqrt, np.float64(0.0))
    assert report and report.rows[0].verdict == "undefined"


def test_a_gradient_outside_of_the_kink_is_wrong():
    def bent(x):
        return abs(x)

    rrule.register(bent)(lambda x: (bent(x), lambda d: (NoTangent(), 5.0 * d)))
    assert checked(lambda x: bent(x), 0.0)[0].rows[0].verdict == "WRONG"


def test_near_a_kink_the_smooth_side_counts():
    assert checked(abs, 1e-5)[0].rows[0].verdict == "agrees"


@pytest.mark.parametrize("x", [1e-8, 1e-4, 1.0, 1e8])
def test_small_and_large_arguments(x):
    assert checked(lambda x: np.log(x) * 2.0, x)[0]
    assert checked(lambda x: 1e-12 * x**2, x)[0]


def test_complex_and_single_precision_and_whole_numbers():
    assert checked(lambda z, w: abs(z * w) ** 2, 1.0 + 2.0j, np.array([1j, 2.0])[0])[0]
    assert checked(lambda x, n: np.sum(np.exp(x)) * n**2, np.ones(3, np.float32), 3)[0]


def test_random_functions_cannot_be_checked():
    draw = np.random.default_rng(0)
    report, text = checked(lambda x: x * draw.normal(), 2.0)
    assert "cannot be checked" in text and "random numbers" in text
    assert not report.ok and not report.is_determined


def test_functions_that_write():
    def f(x):
        x *= 2.0
        return np.sum(x**2)

    x = np.array([1.0, 2.0])
    assert checked(f, x)[0] and np.array_equal(x, [1.0, 2.0])


def test_shared_parts():
    w = np.array([1.0, 2.0])
    assert checked(lambda p: np.sum(p[0] * p[1] ** 2), [w, w])[0]


SHARED = np.array([0.5, -1.5])


class Model:
    def __init__(self, **fields):
        self.__dict__.update(fields)


def uses_a_variable(w):
    return np.sum(w * w * SHARED)


def test_memory_shared_with_a_variable():
    report, _ = checked(lambda w: np.sum(w * w * SHARED), SHARED)
    assert report and report.rows[0].quotient == pytest.approx(4.5)  # 2 w SHARED; if both were moved, 3 w w


def test_each_place_of_an_array_is_moved_by_itself():
    w = np.array([1.0, 2.0])
    report, text = checked(lambda a, b: np.sum(a * b**2), w, w)
    assert report and {row.argument: row.quotient for row in report.rows if row.place == "[1]"} == {
        "a": pytest.approx(4.0),
        "b": pytest.approx(8.0),
    }, text


@rrule.register(uses_a_variable)
def uses_a_variable_rrule(w):
    """For the test only: takes what the variable has for its argument's."""

    def uses_a_variable_pullback(y_bar):
        return NoTangent(), 3.0 * w * w * y_bar

    return np.sum(w * w * SHARED), uses_a_variable_pullback


def test_a_gradient_that_counts_a_variable_is_wrong():
    report, text = checked(uses_a_variable, SHARED)
    assert not report and "WRONG" in text
    assert checked(uses_a_variable, np.array([1.0, 2.0]))[0].ok is False


def whole_at_each(a, b):
    return np.sum(a * b)


@rrule.register(whole_at_each)
def whole_at_each_rrule(a, b):
    """For the test only: gives each argument the sum of both, if they are one array."""

    def whole_at_each_pullback(y_bar):
        return NoTangent(), (b + a if a is b else b) * y_bar, a * y_bar

    return np.sum(a * b), whole_at_each_pullback


def test_a_gradient_that_gives_both_shares_to_one_is_wrong():
    w = np.array([1.0, 2.0])
    assert checked(whole_at_each, w, w.copy())[0]
    report, _ = checked(whole_at_each, w, w)
    assert [(row.argument, row.verdict) for row in report.rows] == [("a", "WRONG"), ("b", "agrees")]


def test_an_object_at_two_places_is_moved_itself():
    def f(a, b):
        a.v = a.v * 2.0
        return a.v * b.v

    q = Model(v=2.0, name="q")
    report, text = checked(f, q, q)
    assert report and q.v == 2.0 and report.rows[0].quotient == pytest.approx(16.0), text
    assert [row.argument for row in checked(f, q, q, argnums=1)[0].rows] == ["a.v"]


def test_the_arguments_are_as_before():
    def f(m, items, x, table):
        m.v, m.new = m.v * items[0], 1.0
        items.append(m.v)
        items[0] = x
        table["b"] = table.pop("a") * 2.0
        m.inner.w[0] = m.v
        x[1] *= 3.0
        return np.sum(m.inner.w) * table["b"] + np.sum(items[0]) * items[2]

    inner, x, w = Model(w=np.array([1.0, 2.0])), np.array([3.0, 4.0]), np.array([1.5])
    m, items, table = Model(v=2.0, inner=inner), [1.5, 0.5], {"a": 0.7, "c": w}
    array = inner.w
    assert checked(f, m, items, x, table)[0]
    assert vars(m) == {"v": 2.0, "inner": inner} and items == [1.5, 0.5]
    assert list(table) == ["a", "c"] and table["c"] is w and inner.w is array
    np.testing.assert_array_equal(array, [1.0, 2.0])
    np.testing.assert_array_equal(x, [3.0, 4.0])


def test_what_draws_numbers_draws_the_same():
    assert checked(lambda draw, x: draw.normal() * x, np.random.default_rng(0), 2.0)[0]
    held = Model(draw=np.random.default_rng(0))
    state = held.draw.bit_generator.state
    assert checked(lambda m, x: m.draw.normal() * x * x, held, 2.0)[0]
    assert held.draw.bit_generator.state == state


def test_it_prints_to_the_standard_output(capsys):
    check_gradient(lambda x: x * x, 3.0)
    assert "rel. error" in capsys.readouterr().out


def test_long_tables_are_cut():
    report, text = checked(lambda xs: sum(x * x for x in xs), [float(k) for k in range(50)])
    assert len(report.rows) == 50 and "and 30 more" in text


NAMES = """
import sys
import microgradpy
assert "microgradpy.testing" not in sys.modules
assert not microgradpy.test_rrule.__test__ and not microgradpy.test_frule.__test__
assert microgradpy.central_fdm(5, 1) and microgradpy.check_gradient
try:
    microgradpy.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise SystemExit("found")
"""


def test_the_names_are_those_of_the_package():
    subprocess.run([sys.executable, "-c", NAMES], check=True)
