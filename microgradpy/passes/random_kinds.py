"""What random generators give: `rng.normal(size=n)`, `random.gauss(0.0, 1.0)`. The functions are known by name, as no module is
imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from microgradpy.ir.kinds import FLOAT, INT, NOTHING, UNKNOWN, Array, Inert, Kind, Scalar, TupleOf, is_real_scalar
from microgradpy.ir.random_sources import is_source_class, source_class
from microgradpy.passes.broadcasting import broadcast
from microgradpy.passes.given import Given
from microgradpy.passes.number_kinds import floating
from microgradpy.passes.shape_kinds import of_lengths

Rule = Callable[[Given], Kind]


def _number(*names: str) -> Rule:
    """A draw of Python's, which computes with what it is given."""
    return lambda call: FLOAT if all(is_real_scalar(call.kind(name)) for name in names) else UNKNOWN


def _whole(call: Given) -> Kind:
    return INT


def _drawn(dtype: str, *names: str) -> Rule:
    """A draw of NumPy's: an array of a size that is given, else one for what its parameters are."""

    def kind(call: Given) -> Kind:
        size = call.kind("size")
        if size == NOTHING:
            given = broadcast(tuple(call.kind(name) for name in names)) if names else FLOAT
            return Scalar(dtype) if isinstance(given, Scalar) else floating((given,), {}) if dtype == "float" else UNKNOWN
        return of_lengths(size, call.lengths("size"), dtype) if size == INT or isinstance(size, TupleOf) else UNKNOWN

    return kind


def _lengths_given(dtype: str) -> Rule:
    """np.random.rand(2, 3)"""

    def kind(call: Given) -> Kind:
        if any(kind != INT for kind in call.rest):
            return UNKNOWN
        return Array(len(call.rest), dtype) if call.rest else Scalar(dtype)

    return kind


_PLACE, _SCALE = "self loc=0.0 scale=1.0 size=None", "self scale=1.0 size=None"
_OF_NUMPY: dict[str, tuple[Rule, str]] = {
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel"), (_drawn("float", "loc", "scale"), _PLACE)),
    **dict.fromkeys(("exponential", "rayleigh"), (_drawn("float", "scale"), _SCALE)),
    "uniform": (_drawn("float", "low", "high"), "self low=0.0 high=1.0 size=None"),
    "lognormal": (_drawn("float", "mean", "sigma"), "self mean=0.0 sigma=1.0 size=None"),
    "poisson": (_drawn("int", "lam"), "self lam=1.0 size=None"),
    "binomial": (_drawn("int", "n", "p"), "self n p size=None"),
}
_NAMES: dict[str, tuple[Rule, str]] = {
    "Random.random": (_number(), "self"),
    "Random.uniform": (_number("a", "b"), "self a b"),
    "Random.gauss": (_number("mu", "sigma"), "self mu=0.0 sigma=1.0"),
    "Random.normalvariate": (_number("mu", "sigma"), "self mu=0.0 sigma=1.0"),
    "Random.lognormvariate": (_number("mu", "sigma"), "self mu=0.0 sigma=1.0"),
    "Random.expovariate": (_number("lambd"), "self lambd=1.0"),
    "Random.gammavariate": (_number("alpha", "beta"), "self alpha beta"),
    "Random.betavariate": (_number("alpha", "beta"), "self alpha beta"),
    "Random.triangular": (_number("low", "high"), "self low=0.0 high=1.0 mode=None!"),
    "Random.randrange": (_whole, "self start stop=None step=1"),
    "Random.randint": (_whole, "self a b"),
    "Random.getrandbits": (_whole, "self k"),
    **{f"Generator.{name}": row for name, row in _OF_NUMPY.items()},
    **{f"RandomState.{name}": row for name, row in _OF_NUMPY.items()},
    "Generator.random": (_drawn("float"), "self size=None dtype~ out=None!"),
    "Generator.standard_normal": (_drawn("float"), "self size=None dtype~ out=None!"),
    "Generator.standard_exponential": (_drawn("float"), "self size=None dtype~ method~ out=None!"),
    "Generator.integers": (_drawn("int", "low", "high"), "self low high=0 size=None dtype~ endpoint~"),
    "RandomState.random": (_drawn("float"), "self size=None"),
    "RandomState.random_sample": (_drawn("float"), "self size=None"),
    "RandomState.standard_normal": (_drawn("float"), "self size=None"),
    "RandomState.randint": (_drawn("int", "low", "high"), "self low high=0 size=None dtype~"),
    "RandomState.rand": (_lengths_given("float"), "self *lengths"),
    "RandomState.randn": (_lengths_given("float"), "self *lengths"),
}


def found(callee: Any) -> tuple[Rule, str] | None:
    """What is known of a method of a generator, of a function of the modules, which is one of a generator that all share, or of
    a constructor."""
    if isinstance(callee, type) and is_source_class(callee):
        return _always(Inert(callee.__name__)), "seed=None"
    name = getattr(callee, "__qualname__", None)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and name == "default_rng" and callee is vars(numpy).get(name):
        return _always(Inert("Generator")), "seed=None"
    row = _NAMES.get(name) if isinstance(name, str) else None
    if row is None:
        return None
    cls, _, method = str(name).partition(".")
    if getattr(source_class(cls), method, None) is callee:
        return row
    shared = sys.modules.get("random") if cls == "Random" else numpy
    if vars(shared).get(method) is not callee if shared is not None else True:
        return None
    return row[0], row[1].removeprefix("self").lstrip()


def _always(kind: Kind) -> Rule:
    return lambda call: kind
