"""What importing the package imports, and when its names are there."""

from __future__ import annotations

import subprocess
import sys

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


def test_names_are_listed_before_they_are_used():
    program = "import microgradpy as m; print({*m.__all__, 'check_gradient'} <= {*dir(m)}, hasattr(m, 'no_such_name'))"
    assert after(program) == "True False"


def uses_a_public_name(x):
    return x * microgradpy.stop_gradient(x)


def test_public_names_are_known_at_compile_time():
    assert gradient(uses_a_public_name, 3.0) == (3.0,)
    assert "stop_gradient" in code_primal(uses_a_public_name, 3.0) and "pullback_of" not in code_primal(uses_a_public_name, 3.0)
