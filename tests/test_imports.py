"""What importing the package imports, and when its names are there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import microgradpy
from microgradpy import code_primal, gradient


def after(program: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_imports_no_library():
    program = "import sys, microgradpy; print({'numpy', 'astor', 'scipy', 'microgradpy.compiler'} & set(sys.modules))"
    assert after(program) == "set()"


def test_the_first_public_name_brings_the_others():
    # Generated code means them by looking into the module.
    program = "import microgradpy as m; m.gradient; print({*m.__all__} - vars(m).keys() - m._LATER.keys(), m.__version__)"
    assert after(program) == f"set() {microgradpy.__version__}"
    assert after("from microgradpy import *; print(gradient(abs, -2.0))") == "(-1.0,)"
    assert after("import microgradpy.nn as n, microgradpy; print(microgradpy.grad(n.relu)(2.0))") == "1.0"


def test_what_is_imported_later_may_be_the_first_name_that_is_used():
    program = "from microgradpy import hessian; from benchmarks.jacobian_programs import rosenbrock, np"
    assert after(f"{program}; print(hessian(rosenbrock, np.ones(2)).tolist())") == "[[802.0, -400.0], [-400.0, 200.0]]"


def test_names_are_listed_before_they_are_used():
    program = "import microgradpy as m; print({*m.__all__, 'check_gradient'} <= {*dir(m)}, hasattr(m, 'no_such_name'))"
    assert after(program) == "True False"


FIRST_GRADIENT = """
import sys, numpy
there = {*sys.modules}
from microgradpy import grad
assert grad(numpy.sin)(0.0) == 1.0
print(*sorted({*sys.modules} - there))
"""
# A table of what a process pays for that differentiates one scalar function. The numbers may fall, and rise for a reason.
MODULES = {"microgradpy": 394, "microgradpy.rules": 22, "microgradpy.exporting": 0, "microgradpy.tracking": 0, "numpy": 0}


def test_what_a_scalar_gradient_imports():
    loaded = after(FIRST_GRADIENT).split()
    for package, most in MODULES.items():
        own = [name for name in loaded if name == package or name.startswith(f"{package}.")]
        assert len(own) <= most, f"{package}: {len(own)}: {own}"
    # Each of these imports a dozen others, and is for what a scalar function does not do.
    heavy = {"importlib.resources", "json", "logging", "numpy.random", "pathlib", "statistics", "sysconfig", "tempfile"}
    assert not heavy & {*loaded}


def test_what_a_scalar_gradient_imports_makes_its_classes_of_data_itself():
    program = FIRST_GRADIENT.replace("print", "import dataclasses, inspect; print").replace(
        "*sorted({*sys.modules} - there)",
        "*[name for name, module in list(sys.modules.items()) if name.startswith('microgradpy.')"
        " and getattr(module, 'dataclass', None) is dataclasses.dataclass]",
    )
    assert after(program) == ""


FIRST_CALLS = "hessian(f, x)", "hvp(f, x, x)", "jacobian(f, x)", "jvp(f, (x,), (x,))", "check_gradient(f, x)"


@pytest.mark.parametrize("call", FIRST_CALLS)
def test_any_public_name_may_be_the_first(call):
    names = f"from microgradpy import {call.partition('(')[0]}; from benchmarks.jacobian_programs import rosenbrock as f"
    assert after(f"import numpy as np; {names}; x = np.ones(2); {call}; print(True)").endswith("True")


def uses_a_public_name(x):
    return x * microgradpy.stop_gradient(x)


def test_public_names_are_known_at_compile_time():
    assert gradient(uses_a_public_name, 3.0) == (3.0,)
    assert "stop_gradient" in code_primal(uses_a_public_name, 3.0) and "pullback_of" not in code_primal(uses_a_public_name, 3.0)
