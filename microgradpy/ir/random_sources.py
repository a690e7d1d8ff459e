"""What draws random numbers: the generators of `random` and `numpy.random`, known by name, as neither is imported before a
program does.
"""

from __future__ import annotations

import sys

_MODULES = {"Random": "random", "Generator": "numpy.random._generator", "RandomState": "numpy.random.mtrand"}


def source_class(name: str) -> type | None:
    """The class of this name, if its module has been imported."""
    found = getattr(sys.modules.get(_MODULES.get(name, "")), name, None)
    return found if isinstance(found, type) else None


def is_source_class(cls: type) -> bool:
    """Whether a class is one of generators of random numbers."""
    return cls.__name__ in _MODULES and source_class(cls.__name__) is cls


def is_source(value: object) -> bool:
    """Whether a value is such a generator, and nothing else: nobody has given it fields."""
    return is_source_class(type(value)) and getattr(value, "__dict__", {}).keys() <= {"gauss_next"}


def is_source_function(value: object) -> bool:
    """Whether a function of such a module is a method of the generator that all share, or the one that makes generators."""
    owner = getattr(value, "__self__", None)
    return is_source_class(type(owner)) or value is getattr(sys.modules.get("numpy.random"), "default_rng", _NOTHING)


_NOTHING = object()
