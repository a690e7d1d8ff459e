"""Native code gives what the source target gives, up to a few ulps, exceptions and warnings included; or it is not used, and
says why."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from microgradpy import NonScalarOutputError, PerformanceWarning, api, cache_clear, code_adjoint, grad, value_and_grad
from microgradpy.gradient_functions import GradientFunction
from microgradpy.native import compiling
from microgradpy.native.code import Native
from tests.native import programs
from tests.native.programs import CASES, UNSUPPORTED
from tests.programs import PROGRAMS

pytest.importorskip("numba")
SAMPLE = ("continue_skips", "elif_chain", "numpy_scalar_in_python_arithmetic")


def held_by(function: Any) -> GradientFunction:
    (held,) = [cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, GradientFunction)]
    return held


def is_native(function: Any) -> bool:
    """Whether the head of a gradient function is one for native code."""
    held = held_by(function)
    return any(known is not None and known[0].place == held.place for known in held.native.heads.values())


def outcome(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gives or raises, the warnings, and the arguments afterwards."""
    given = copy.deepcopy(args)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*given)
        except Exception as error:
            found = (type(error), str(error).partition("\n")[0])
    said = [(each.category, str(each.message)) for each in caught if each.category is not PerformanceWarning]
    return found, said, given


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    match wanted:
        case tuple() | list():
            assert len(found) == len(wanted)
            for pair in zip(found, wanted, strict=True):
                assert_same(*pair)
        case np.ndarray():
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-300)
        case float():
            assert found == pytest.approx(wanted, rel=1e-13, abs=1e-300, nan_ok=True)
        case _:
            assert found == wanted


@pytest.mark.parametrize("function, calls", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_results_errors_and_warnings_are_those_of_python(function, calls):
    numbers = tuple(range(len(calls[0])))
    native, source = value_and_grad(function, numbers, target="numba"), value_and_grad(function, numbers)
    native(*calls[0])
    assert is_native(native)
    for args in calls:
        for _ in range(2):
            assert_same(outcome(native, args), outcome(source, args))


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.id in SAMPLE], ids=str)
def test_programs_of_the_table(program):
    numbers = tuple(range(len(program.args)))
    native, source = grad(program.function, numbers, target="numba"), grad(program.function, numbers)
    assert_same(outcome(native, program.args), outcome(source, program.args))


@pytest.mark.parametrize("function, args, what, line", UNSUPPORTED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_has_no_native_form_runs_as_python_and_says_so_once(function, args, what, line, capsys):
    native, source = grad(function, target="numba"), grad(function)
    with pytest.warns(PerformanceWarning) as caught:
        found = native(*args)
    (message,) = [str(each.message) for each in caught]
    assert what in message and line in message and f"{programs.__file__}:" in message
    assert caught[0].filename == programs.__file__
    assert_same(found, source(*args))
    assert_same(native(*args), found)
    assert not is_native(native)


class Model:
    def value(self, x):
        return x * x


def test_callables_that_are_no_functions():
    with pytest.warns(PerformanceWarning, match="callables other than plain functions"):
        assert value_and_grad(Model().value, target="numba")(3.0) == (9.0, 6.0)
    with pytest.warns(PerformanceWarning, match="callables other than plain functions"):
        assert value_and_grad(lambda *x: x[0], target="numba")(3.0) == (3.0, 1.0)


def test_other_types_and_shapes_get_code_of_their_own():
    native, source = value_and_grad(programs.entry, target="numba"), value_and_grad(programs.entry)
    for size in (3, 4, 3):
        x = np.linspace(1.0, 2.0, size)
        assert_same(native(x, 1), source(x, 1))
        assert is_native(native)
    held = held_by(native)
    assert len(held.native.heads) == 2
    # Of one unit, with one compiled function.
    (first, second) = held.native.heads.values()
    assert first[1] is second[1]


def test_what_the_code_relies_on_may_change(monkeypatch):
    native, source = grad(programs.cubed, target="numba"), grad(programs.cubed)
    assert_same(native(1.5), source(1.5))
    for name, value in (("RATE", 0.75), ("STEPS", 5), ("RATE", np.float64(2.0)), ("RATE", "no number")):
        monkeypatch.setattr(programs, name, value)
        assert_same(outcome(native, (1.5,)), outcome(source, (1.5,)))


def test_captured_variables_and_defaults():
    factor = 3.0

    def scaled(x, power=2):
        return factor * x**power

    native = value_and_grad(scaled, target="numba")
    assert native(2.0) == (12.0, 12.0) and is_native(native)
    factor = 4.0
    assert native(2.0) == (16.0, 16.0)
    scaled.__defaults__ = (3,)
    assert native(2.0) == (32.0, 48.0)


def test_numpys_error_state_is_respected():
    native = grad(programs.steps_of_vectors, (0, 1), target="numba")  # compiled above, unless this test runs by itself
    x = np.array([1e-200, 1.0])
    native(x, 1)
    assert is_native(native)
    with np.errstate(under="raise"), pytest.raises(FloatingPointError):
        native(x, 1)


def test_arguments_are_neither_written_nor_returned():
    def weighted(w, x):
        return np.sum(w * x)

    w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    native = grad(weighted, (0, 1), target="numba")
    native(w, x)
    found = native(w, x)
    assert is_native(native) and not any(np.shares_memory(each, given) for each in found for given in (w, x))
    found[0][:] = 0.0
    assert_same(native(w, x), (x, w))


def test_results_have_the_types_of_the_arguments():
    native = value_and_grad(programs.cubed, target="numba")
    assert_same(native(np.float64(1.5)), value_and_grad(programs.cubed)(np.float64(1.5)))
    assert_same(value_and_grad(programs.factorial, target="numba")(3, 5), value_and_grad(programs.factorial)(3, 5))
    with pytest.raises(NonScalarOutputError):
        grad(lambda x: x * np.ones(2), target="numba")(1.0)


def test_a_copy_has_no_code_of_its_own_yet():
    native = grad(programs.early, target="numba")
    copied = pickle.loads(pickle.dumps(held_by(native)))
    assert copied.native is not None and copied.call((3.0,), {}) == 6.0


def test_without_numba_there_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(compiling.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install numba"):
        grad(programs.early, target="numba")
    with pytest.raises(ValueError, match="source"):
        grad(programs.early, target="cuda")  # type: ignore[arg-type]


def test_machine_code_is_kept_where_the_cache_on_disk_is(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("MICROGRADPY_CACHE", str(folder))
    for hits in (0, 1):

        def halved(x):
            return 0.5 * x * x

        native = api.grad(halved, target="numba")
        assert native(3.0) == 3.0 and is_native(native)
        ((_, unit),) = held_by(native).native.heads.values()
        (compiled,) = [each for each in unit.native.values() if isinstance(each, Native)]
        assert sum(compiled.run.stats.cache_hits.values()) == hits
        cache_clear()
    assert folder.stat().st_mode & 0o777 == (folder / "native").stat().st_mode & 0o777 == 0o700
    (text,) = (folder / "native").glob("*.py")
    assert text.read_text() == compiled.text
    (folder / "native").chmod(0o777)

    def doubled(x):
        return 2.0 * x

    assert api.grad(doubled, target="numba")(3.0) == 2.0 and len(list((folder / "native").glob("*.py"))) == 1


TEXT = '''
def cubed_native(x, STEPS, RATE):
    tape = np.empty((max(STEPS, 0), 1))
    tape_size = 0
    y = x
    # for _ in range(STEPS):
    for _ in range(STEPS):
        tape[tape_size, 0] = y
        tape_size += 1
        y = y * x + RATE
    y_bar = 1.0
    x_bar = 0.0
    for k in range(tape_size - 1, -1, -1):
        y_1 = tape[k, 0]
        # y = y * x + RATE
        x_bar += y_bar * y_1
        y_bar *= x
    x_bar += y_bar
    if not math.isfinite(x_bar):
        return False, 0.0, 0.0
    return True, y, x_bar
'''


def test_the_text_reads_like_the_program():
    assert code_adjoint(programs.cubed, 2.0, target="numba") == TEXT.lstrip("\n")
