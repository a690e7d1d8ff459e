"""Every example of every rule, against the plain call and against central differences."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import ignore_derivatives, stop_gradient
from microgradpy.rules import all_examples, draws, rrule
from microgradpy.rules.registry import Example, find_attribute_rule, registered_attributes
from microgradpy.tangents.projection import project
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, Tangent, is_structural_zero
from tests.finite_differences import cotangent_item, differences, dot, field_names, flatten_cotangent, random_seed

READ_ONCE = (Iterator, type({}.values()), type({}.items()))


def readable(value: Any) -> Any:
    """A value that can be read more than once: iterators and views become lists, and `super(...)` the object."""
    if isinstance(value, super):
        return value.__self__
    if isinstance(value, READ_ONCE):
        return list(value)
    return value


def as_floats(x: Any, x_bar: Any) -> Any:
    """`x` with floats for the integers that have a cotangent, so that they can be moved."""
    if is_structural_zero(x_bar) or isinstance(x, bool):
        return x
    if isinstance(x, int):
        return float(x)
    if isinstance(x, np.ndarray | np.generic):
        return x.astype(float) if x.dtype.kind in "iu" else x
    if isinstance(x, list):
        return [as_floats(item, cotangent_item(x, x_bar, k)) for k, item in enumerate(x)]
    if isinstance(x, tuple):
        return tuple(as_floats(item, cotangent_item(x, x_bar, k)) for k, item in enumerate(x))
    if isinstance(x, dict):
        return type(x)({key: as_floats(item, cotangent_item(x, x_bar, key)) for key, item in x.items()})
    return x


def like(sequence: Any, items: list[Any]) -> Any:
    """A list, tuple or namedtuple of other items."""
    return type(sequence)(*items) if hasattr(sequence, "_fields") else type(sequence)(items)


def with_float_leaves(y: Any) -> Any:
    """A value like `y` with a degree of freedom for every number in it."""
    if isinstance(y, list | tuple):
        return like(y, [with_float_leaves(item) for item in y])
    if isinstance(y, dict):
        # Of the results of SciPy's solvers, which are dicts, some fields have a derivative.
        names = [name for name in y if type(y) is dict or name in DIFFERENTIATED_FIELDS]
        return {name: with_float_leaves(y[name]) for name in names}
    return as_floats(y, 1.0)


DIFFERENTIATED_FIELDS = ("x", "fun", "root", "cost", "y", "t")


def seed_for(example: Example, y: Any, number: int = 0) -> Any:
    """A cotangent of an example's value: of what has a derivative."""
    y_bar = random_seed(with_float_leaves(y), number)
    return (y_bar[0], *[None] * (len(y) - 1)) if getattr(example.f, "__name__", "") in FIRST_ITEM_ONLY else y_bar


FIRST_ITEM_ONLY = ("quad",)  # which returns an estimate of its error beside the integral


def plain(x_bar: Any) -> Any:
    """A cotangent with None for every structural zero, and for what is refused when it is asked for: of that, no example
    has a derivative."""
    if is_structural_zero(x_bar) or isinstance(x_bar, NotImplementedTangent):
        return None
    if isinstance(x_bar, list | tuple):
        return like(x_bar, [plain(item) for item in x_bar])
    if isinstance(x_bar, dict):
        return {key: plain(value) for key, value in x_bar.items()}
    return x_bar


def call(example: Example) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    outcome = rrule(example.f, *example.args, **example.kwargs)
    assert outcome is not None
    return readable(outcome[0]), outcome[1]


def seed_and_cotangents(example: Example, number: int = 0) -> tuple[Any, tuple[Any, ...]]:
    y, pullback = call(example)
    y_bar = seed_for(example, y, number)
    return y_bar, tuple(map(plain, pullback(y_bar)[1:]))


def assert_same(a: Any, b: Any) -> None:
    """Equal to the last bit, and of the same types."""
    assert type(a) is type(b)
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif isinstance(a, dict | Tangent):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, np.ndarray | np.generic | int | float | complex):
        np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))
    elif type(a).__module__.startswith("scipy.interpolate"):
        for name in field_names(a):
            assert_same(getattr(a, name), getattr(b, name))
    elif hasattr(a, "nnz"):
        assert (a != b).nnz == 0
    else:
        assert a == b


def the_value_is_that_of_the_plain_call(example: Example) -> None:
    assert_same(call(example)[0], readable(example.f(*example.args, **example.kwargs)))


def there_is_one_cotangent_for_the_function_and_one_per_argument(example: Example) -> None:
    y, pullback = call(example)
    cotangents = pullback(seed_for(example, y))
    assert isinstance(cotangents, tuple)
    assert len(cotangents) == 1 + len(example.args)
    assert isinstance(cotangents[0], NoTangent)


ROUGH = set(map(np.dtype, (np.float16, np.float32, np.complex64)))


def the_cotangents_are_those_of_central_differences(example: Example) -> None:
    if example.f in (stop_gradient, ignore_derivatives):
        return  # their rules are not the derivatives of what they compute: that is what they are for
    # Of arguments of single precision too, which cannot be moved by less than that.
    is_rough = ROUGH & set(map(np.result_type, leaves([call(example)[0], *example.args])))
    tolerance = 2e-3 if is_rough else 1e-6
    for number in range(2):
        y_bar, cotangents = seed_and_cotangents(example, number)
        args = tuple(map(as_floats, example.args, cotangents))

        def against_seed(*args: Any, y_bar: Any = y_bar) -> float:
            try:
                return dot(y_bar, readable(example.f(*args, **example.kwargs)))
            except ValueError:
                return math.nan

        with np.errstate(all="ignore"):
            expected = differences(against_seed, args)
        # On the border of the domain, as in (-2.0) ** 3 for the exponent, there is nothing to compare with.
        defined = np.isfinite(expected)
        found = flatten_cotangent(args, cotangents)
        np.testing.assert_allclose(found[defined], expected[defined], rtol=tolerance, atol=tolerance / 10)


def leaves(y: Any) -> list[Any]:
    """The numbers and arrays in a value."""
    if isinstance(y, list | tuple):
        return [leaf for item in y for leaf in leaves(item)]
    if isinstance(y, dict):
        return leaves(list(y.values()))
    return [y] if isinstance(y, np.ndarray | np.number | float | complex) else []


def each_cotangent_fits_its_argument(example: Example) -> None:
    _, cotangents = seed_and_cotangents(example)
    for x, x_bar in zip(example.args, cotangents, strict=True):
        project(x, x_bar)


def the_pullback_can_be_called_again(example: Example) -> None:
    y, pullback = call(example)
    y_bar = seed_for(example, y)
    assert_same(plain(pullback(y_bar)), plain(pullback(y_bar)))


def pictures(*values: Any) -> list[Any]:
    """What values are made of, as bytes; of an object of SciPy's that does not tell, which it is."""
    return [id(value) if type(value).__name__ == "SuperLU" else pickle.dumps(value) for value in values]


def neither_the_arguments_nor_the_seed_are_changed(example: Example) -> None:
    y, pullback = call(example)
    y_bar = seed_for(example, y)
    before = pictures(*example.args, example.kwargs, y_bar)
    pullback(y_bar)
    assert pictures(*example.args, example.kwargs, y_bar) == before


def single_precision_stays_finite(example: Example) -> None:
    args = tuple(
        x.astype(np.float32) if isinstance(x, np.ndarray | np.generic) and x.dtype == np.float64 else x
        for x in example.args
    )
    with warnings.catch_warnings():
        # What SciPy expects of the accuracy of a logarithm is that of double precision.
        warnings.filterwarnings("ignore", "logm result may be inaccurate")
        y, pullback = call(Example(example.f, args, example.kwargs))
    y_bar = seed_for(example, y)
    cotangents = tuple(map(plain, pullback(y_bar)[1:]))
    args = tuple(map(as_floats, args, cotangents))
    assert np.all(np.isfinite(flatten_cotangent(args, cotangents)))


CHECKS = (
    the_value_is_that_of_the_plain_call,
    there_is_one_cotangent_for_the_function_and_one_per_argument,
    the_cotangents_are_those_of_central_differences,
    each_cotangent_fits_its_argument,
    the_pullback_can_be_called_again,
    neither_the_arguments_nor_the_seed_are_changed,
    single_precision_stays_finite,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("example", all_examples(), ids=str)
def test_rule(example: Example, check: Callable[[Example], None]) -> None:
    check(example)


def test_every_rule_has_an_example() -> None:
    tried = {rrule.find(example.f, tuple(map(type, example.args))) for example in all_examples()}
    declared = [rule for f in rrule.registered() for rule in rrule.rules_of(f)]
    # A draw is another one each time: test_draws.py has those.
    ours = [rule for rule in declared if rule.__module__.startswith("microgradpy.") and rule.__module__ != draws.__name__]
    assert not [rule.__qualname__ for rule in ours if rule not in tried]


def test_every_attribute_rule_has_an_example() -> None:
    tried = {
        find_attribute_rule(type(example.args[0]), example.args[1])
        for example in all_examples()
        if example.f is getattr
    }
    missing = [
        f"{cls.__name__}.{name}" for cls, name in registered_attributes() if find_attribute_rule(cls, name) not in tried
    ]
    assert not missing
