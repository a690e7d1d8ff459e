"""Modules of rules are imported when the first callable is looked up that they have rules for."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from microgradpy.rules import index

ROOT = Path(__file__).parents[2]


def run(text: str, *arguments: str) -> str:
    """What a program prints, in a process of its own that has imported NumPy only."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text("import numpy as np\n" + textwrap.dedent(text))
        command = [sys.executable, "-W", "error", str(file), *arguments]
        path = {"PYTHONPATH": str(ROOT)}
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=os.environ | path)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_index_is_complete() -> None:
    command = [sys.executable, "-m", "tests.rules.index", "--print"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert result.stdout == Path(index.__file__).read_text(), "run python -m tests.rules.index"


KNOWN = """
from microgradpy.rules.loading import load_all, _of_attributes, _of_callables
from microgradpy.rules.registry import find_attribute_rule, frule, is_inert_attribute, rrule

def entries(f):
    rules = [(str(e.types), str(e.arity), e.options, id(e.rule)) for table in (rrule, frule) for e in table._entries(f)]
    return sorted(rules), rrule.is_non_differentiable(f), rrule.covers(f)

def attributes(cls):
    return [(name, find_attribute_rule(cls, name), is_inert_attribute(cls, name)) for name in dir(cls)]
"""


def test_a_lookup_finds_the_same_before_and_after_everything_is_imported() -> None:
    printed = run(
        KNOWN
        + textwrap.dedent("""
        import copy, statistics
        import numpy.fft, numpy.polynomial, numpy.random
        import microgradpy.public
        rrule.find(len)
        callables, classes = list(_of_callables), [*_of_attributes, np.float64, float]
        assert len(callables) > 600
        before = [entries(f) for f in callables], [attributes(cls) for cls in classes]
        load_all()
        assert not _of_callables.keys() & set(callables)
        assert before == ([entries(f) for f in callables], [attributes(cls) for cls in classes])
        print(len(callables))
        """)
    )
    assert int(printed) > 600


def test_the_order_in_which_they_are_imported_does_not_matter() -> None:
    text = KNOWN + textwrap.dedent("""
    import importlib, sys
    from microgradpy.rules.loading import MODULES
    for module in sorted(MODULES, reverse=sys.argv[1] == "backwards"):
        importlib.import_module(module)
    import microgradpy.public
    for f in sorted(rrule.registered(), key=lambda f: f"{getattr(f, '__module__', None)}.{getattr(f, '__qualname__', f)}"):
        found = rrule._entries(f)
        print(getattr(f, "__qualname__", "a ufunc"), sorted((str(e.types), str(e.arity), e.options, e.rule.__module__,
              e.rule.__qualname__) for e in found))
    """)
    assert sorted(run(text, "forwards").splitlines()) == sorted(run(text, "backwards").splitlines())


def test_only_what_is_met_is_imported() -> None:
    printed = run("""
    import sys
    from microgradpy.rules.registry import rrule
    rrule.find(np.sin)
    print(*sorted(name.removeprefix("microgradpy.rules.") for name in sys.modules if name.startswith("microgradpy.rules.")))
    """)
    loaded = set(printed.split())
    assert {"numpy.mathematics.trigonometric", "numpy.ufunc_options", "containers"} <= loaded
    elsewhere = {"linear_algebra.solving", "fft", "random", "statistics.order", "mathematics.sums"}
    assert not loaded & {f"numpy.{name}" for name in elsewhere}


@pytest.mark.parametrize(
    "declare",
    [
        "rrule.register(np.sinc)(sinc_rrule)",
        "opt_out(np.sinc); rrule.register(np.sinc)(sinc_rrule)",
        "non_differentiable(np.sinc); rrule.register(np.sinc)(sinc_rrule)",
    ],
)
def test_a_users_rule_comes_after_those_of_the_package(declare: str) -> None:
    printed = run(f"""
    from microgradpy import grad, non_differentiable, opt_out, rrule
    def sinc_rrule(x):
        def sinc_pullback(y_bar):
            return None, 100.0 * y_bar
        return np.sinc(x), sinc_pullback
    {declare}
    rrule.registered()
    print(grad(np.sinc)(0.3), grad(lambda x: np.sinc(x) * x * 0.0 + np.sinc(x))(0.3))
    """)
    assert printed == "100.0 100.0"


def test_a_users_rule_for_some_types() -> None:
    printed = run("""
    from microgradpy import grad, rrule
    def sinc_rrule(x):
        def sinc_pullback(y_bar):
            return None, 100.0 * y_bar
        return np.sinc(x), sinc_pullback
    rrule.register(np.sinc, np.ndarray)(sinc_rrule)
    print(len(rrule.rules_of(np.sinc)), grad(lambda x: np.sum(np.sinc(x)))(np.zeros(2)), grad(np.sinc)(1.0))
    """)
    assert printed == "2 [100. 100.] -1.0"


def test_what_a_user_takes_away_stays_away() -> None:
    printed = run("""
    from microgradpy import grad, non_differentiable, opt_out, rrule
    non_differentiable(np.sinc)
    opt_out(np.linalg.norm)
    rrule.registered()
    print(grad(lambda x: np.sinc(x) + x)(0.3), rrule.rules_of(np.linalg.norm))
    """)
    assert printed == "1.0 []"


def test_importing_rules_does_not_make_what_was_compiled_invalid() -> None:
    printed = run("""
    from microgradpy import cache_info, grad
    def f(x):
        return x * x
    g = grad(f)
    for _ in range(5):
        g(2.0)
    grad(np.linalg.det)(np.eye(2)), grad(np.sinc)(0.3)
    from microgradpy.rules.registry import rrule
    version = rrule.version
    rrule.registered()
    assert rrule.version == version
    before = cache_info()
    g(2.0)
    print(cache_info().misses - before.misses, cache_info().size - before.size)
    """)
    assert printed == "0 0"


def test_threads_that_meet_the_same_function_first() -> None:
    printed = run("""
    import threading
    from microgradpy import grad
    from microgradpy.rules.registry import rrule
    functions = [np.sinc, np.linalg.det, np.sum, np.sort, np.linalg.norm, np.median, np.cumsum, np.fft.fft] * 3
    barrier = threading.Barrier(len(functions))
    found = {}
    def look(place):
        barrier.wait()
        found[place] = rrule.has(functions[place])
    threads = [threading.Thread(target=look, args=(place,)) for place in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    print(sum(found.values()))
    """)
    assert printed == "24"


def test_rules_are_written_with_what_was_in_the_libraries_before_a_user_replaced_it() -> None:
    printed = run("""
    from unittest import mock
    from microgradpy import grad
    from microgradpy.rules.registry import rrule
    sin = np.sin
    with mock.patch("numpy.cos", lambda x: 7.0), mock.patch("numpy.sin", lambda x: 3.0):
        assert not rrule.has(np.sin) and rrule.has(sin)
        print(grad(lambda x: sin(x))(0.0), grad(lambda x: np.sin(x) * x)(0.5))
    print(grad(lambda x: np.sin(x))(0.0))
    """)
    assert printed.split() == ["1.0", "3.0", "1.0"]


def test_names_that_a_version_of_a_library_does_not_have_are_left_out() -> None:
    printed = run("""
    from microgradpy.rules import index
    index.RULES = (*index.RULES, ("linalg", "numpy", "no_such_function linalg.nor_this"), ("linalg", "no_such_library", "x"))
    from microgradpy.rules.registry import rrule
    print(rrule.has(np.sinc), rrule.is_non_differentiable(len))
    """)
    assert printed == "True True"


def test_a_library_that_is_imported_later() -> None:
    printed = run("""
    import sys
    from microgradpy import grad
    print(grad(lambda x: x * x)(3.0), "numpy.fft" in sys.modules)
    print(grad(lambda x: np.real(np.fft.fft(np.stack([x, 2.0 * x])))[0])(3.0), "numpy.fft" in sys.modules)
    """)
    assert printed.split() == ["6.0", "False", "3.0", "True"]


def test_threads_whose_first_use_of_the_package_it_is() -> None:
    printed = run("""
    import importlib, threading
    import microgradpy
    functions = [lambda x: np.linalg.norm(x), lambda x: np.sum(np.fft.fft(x).real), lambda x: np.median(x) * np.prod(x)]
    barrier = threading.Barrier(len(functions) + 1)
    found = []
    def differentiate(f):
        barrier.wait()
        from microgradpy import grad
        found.append(np.all(np.isfinite(grad(f)(np.array([1.0, 2.0, 4.0])))))
    def load():
        barrier.wait()
        importlib.import_module("microgradpy.rules.numpy.linear_algebra.solving")
    threads = [threading.Thread(target=differentiate, args=(f,), daemon=True) for f in functions]
    threads.append(threading.Thread(target=load, daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    from microgradpy import originals
    print(sum(found), *originals._replaced())
    """)
    assert printed == "3"
