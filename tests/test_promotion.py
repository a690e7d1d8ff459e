"""Memory in sight as variables: what is relied on is looked at again, and nothing else shows that it was done."""

from __future__ import annotations

import copy
import inspect
import math
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    NonScalarOutputError,
    NoTangent,
    cache_clear,
    code_adjoint,
    code_primal,
    grad,
    gradient,
    infiltrating,
    jvp,
    pullback,
    rrule,
)
from microgradpy.cache import CACHE
from tests.programs import another_module
from tests.programs.mutation import (
    MUTATION,
    beside_writes,
    captured,
    compared_tuples,
    composed,
    computed_arrays,
    everyday,
    held,
    held_meanwhile,
    in_sight,
    library,
    listeners,
    managed,
    modules,
    mutual_recursion,
    numbered,
    object_keys,
    object_models,
    queues,
    recursion,
    recursive_functions,
    recursive_objects,
    replaced,
    stored,
    vectors,
    visited,
)


class Base:
    gain = 2.0

    def boost(self, x):
        return x * self.gain


class Motor(Base):
    def __init__(self, speed):
        self.speed = speed

    def turn(self, x):
        self.speed = self.speed * x
        return self

    def power(self, x):
        return self.boost(self.speed) * x


def run(x: float) -> Any:
    motor = Motor(x)
    for _ in range(2):
        motor.turn(x)
    return motor.power(x)


@pytest.fixture(autouse=True)
def classes_as_they_were() -> Iterator[None]:
    cache_clear()
    before = [(cls, dict(vars(cls))) for cls in (Base, Motor)]
    yield
    Motor.__bases__ = (Base,)
    for cls, members in before:
        for name in [name for name in vars(cls) if name not in members]:
            delattr(cls, name)
        for name in ("gain", "boost", "turn", "power", "__init__"):
            if name in members:
                setattr(cls, name, members[name])


def differences(x: float) -> float:
    return (run(x + 1e-6) - run(x - 1e-6)) / 2e-6


def is_promoted() -> bool:
    return any(unit.name == "run" and unit.is_promoted and not unit.tracks for unit in CACHE.units.values())


def test_it_is_promoted() -> None:
    assert gradient(run, 0.7) == (pytest.approx(8.0 * 0.7**3),)
    assert is_promoted()
    assert "Motor" not in code_adjoint(run, 0.7)


def squared(self, x):
    self.speed = self.speed * x * x
    return self


def doubled_boost(self, x):
    return 3.0 * x * self.gain


class OtherBase:
    gain = 5.0

    def boost(self, x):
        return x * x * self.gain


def change_method() -> None:
    Motor.turn = squared  # type: ignore[method-assign]


def change_inherited() -> None:
    Base.boost = doubled_boost  # type: ignore[method-assign]


def hide_inherited() -> None:
    Motor.boost = doubled_boost  # type: ignore[method-assign]


def change_constant() -> None:
    Base.gain = 7.0


def hide_constant() -> None:
    Motor.gain = 7.0


def field_becomes_property() -> None:
    def set_speed(self: Any, value: float) -> None:
        self.hidden = 2.0 * value

    Motor.speed = property(lambda self: self.hidden, set_speed)  # type: ignore[assignment]


def constant_becomes_property() -> None:
    Base.gain = property(lambda self: self.speed)  # type: ignore[assignment]


def change_bases() -> None:
    Motor.__bases__ = (OtherBase,)


def sets_otherwise() -> None:
    def assign(self: Any, name: str, value: Any) -> None:
        object.__setattr__(self, name, 3.0 * value)

    Motor.__setattr__ = assign  # type: ignore[method-assign,assignment]


def finds_missing() -> None:
    del Base.gain
    Base.__getattr__ = lambda self, name: 4.0  # type: ignore[attr-defined]


CHANGES = [
    change_method, change_inherited, hide_inherited, change_constant, hide_constant, field_becomes_property,
    constant_becomes_property, change_bases, sets_otherwise, finds_missing,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_classes_have_is_looked_at_again(change: Any) -> None:
    gradient(run, 0.7)
    change()
    assert gradient(run, 0.7)[0] == pytest.approx(differences(0.7))
    assert pullback(run, 0.7)[0] == run(0.7)


def test_the_code_of_a_method_is_looked_at_again() -> None:
    gradient(run, 0.7)
    before = Motor.turn.__code__
    try:
        Motor.turn.__code__ = squared.__code__
        assert gradient(run, 0.7)[0] == pytest.approx(differences(0.7))
    finally:
        Motor.turn.__code__ = before


def test_a_rule_of_a_method_is_used() -> None:
    gradient(run, 0.7)

    @rrule.register(Base.boost)
    def boost_rrule(motor, x):
        return motor.boost(x), lambda y_bar: (NoTangent(), None, 100.0 * y_bar)

    try:
        assert gradient(run, 0.7)[0] != pytest.approx(differences(0.7), rel=0.5)
    finally:
        rrule.opt_out(Base.boost)
    assert gradient(run, 0.7)[0] == pytest.approx(differences(0.7))


def ordered(x):
    return sum(sorted([x, 2.0 * x], key=lambda v: -v))


def test_a_users_rule_of_a_function_of_the_library_is_used() -> None:
    assert gradient(ordered, 0.5) == (pytest.approx(3.0),)

    before = list(rrule._entries(sorted))

    @rrule.register(sorted, list)
    def sorted_rrule(items, *, key=None):
        return sorted(items, key=key), lambda y_bar: (NoTangent(), [100.0] * len(items))

    try:
        assert gradient(ordered, 0.5) == (pytest.approx(300.0),)
    finally:
        rrule._rules[sorted][:] = before
        rrule.changed()
    assert gradient(ordered, 0.5) == (pytest.approx(3.0),)


def at(values, i):
    return values[i] * values[i]


def sum_by_places(values):
    total = 0.0
    for i in range(len(values)):
        total += at(values, i)
    return total


def test_a_list_given_to_a_function_in_a_loop_gets_its_cotangents_in_place() -> None:
    assert gradient(sum_by_places, [1.0, 2.0]) == ([2.0, 4.0],)
    assert "at_adjoint" not in code_adjoint(sum_by_places, [1.0, 2.0])


class Fragile:
    def __init__(self, v):
        self.v = v

    def root(self):
        return math.sqrt(self.v)


def fails(x):
    fragile = Fragile(x)
    fragile.v = fragile.v - 1.0
    return fragile.root()


def test_an_exception_in_a_method_has_its_line() -> None:
    with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative input") as caught:
        gradient(fails, 0.5)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "return math.sqrt(self.v)" in lines


def test_stops_in_methods_are_reached() -> None:
    stopped: list[Any] = []
    with infiltrating(Motor.turn, callback=stopped.append):
        assert gradient(run, 0.7)[0] == pytest.approx(differences(0.7))
    assert len(stopped) == 2


def test_pullbacks_can_be_called_again() -> None:
    y, back = pullback(run, 0.7)
    assert y == run(0.7)
    assert back(1.0) == back(1.0) == (None, pytest.approx(differences(0.7)))
    assert back(2.0)[1] == pytest.approx(2.0 * differences(0.7))


def collects(x, count):
    values = [x]
    for _ in range(count):
        values.append(values[-1] * x)
    return values


def test_a_list_that_is_returned_is_the_users() -> None:
    y, back = pullback(collects, 0.5, 3)
    assert y == collects(0.5, 3)
    first = back([1.0, 1.0, 1.0, 1.0])
    assert first == back([1.0, 1.0, 1.0, 1.0])
    seed = [0.0, 1.0, 0.0, 0.0]
    assert back(seed)[1] == pytest.approx(2 * 0.5)
    assert seed == [0.0, 1.0, 0.0, 0.0]


OF_RECURSION = {each.__name__ for each in (mutual_recursion, recursion, recursive_functions, recursive_objects)}
TABLES = {each.__name__ for each in (in_sight, library, modules, numbered, queues, replaced, stored)} | OF_RECURSION
OF_MEMORY = [p for p in MUTATION if p.function.__module__ in TABLES]


@pytest.mark.parametrize("program", [p for p in OF_MEMORY if not isinstance(p.args[0], list)], ids=lambda p: p.id)
def test_forward_mode_agrees(program: Any) -> None:
    """On texts that pass the verifier; programs of which something is tracked go by their pullbacks."""
    x, *others = program.args
    _, y_dot = jvp(program.function, copy.deepcopy(program.args), (np.ones_like(x), *[None] * len(others)))
    (x_bar, *_) = gradient(program.function, *copy.deepcopy(program.args))
    assert y_dot == pytest.approx(np.sum(x_bar), rel=1e-9)


UNDER_SEVERAL_NAMES = {
    "buffers_exchanged_under_a_third_name", "replaced_by_a_list_that_stays", "two_names_for_the_new_list",
    "resampled_under_another_name", "flag_is_a_list_that_is_filled_later",
}  # fmt: skip


@pytest.mark.parametrize("program", [p for p in OF_MEMORY if p.function.__module__ == replaced.__name__], ids=lambda p: p.id)
def test_what_others_take_the_place_of_is_in_sight_under_one_name(program: Any) -> None:
    text = code_adjoint(program.function, *copy.deepcopy(program.args))
    assert ("shadows" in text) == (program.function.__name__ in UNDER_SEVERAL_NAMES)


LEFT_AS_OBJECTS = {
    "old_dict_under_another_name", "view_of_a_dict_that_grows", "tuple_compared", "one_row_twice",
    "shape_without_a_height", "the_same_tuple", "the_same_row", "the_same_row_of_numbers",
}  # fmt: skip


@pytest.mark.parametrize("program", [p for p in OF_MEMORY if p.function.__module__ == numbered.__name__], ids=lambda p: p.id)
def test_objects_in_containers_are_numbers_there(program: Any) -> None:
    text = code_adjoint(program.function, *copy.deepcopy(program.args))
    assert ("shadows" in text) == (program.function.__name__ in LEFT_AS_OBJECTS)


@pytest.mark.parametrize("program", [p for p in OF_MEMORY if p.function.__module__ == modules.__name__], ids=lambda p: p.id)
def test_what_another_module_makes_is_in_sight(program: Any) -> None:
    text = code_adjoint(program.function, *copy.deepcopy(program.args))
    assert ("shadows" in text) == (program.function.__name__ in {"counted_by_another_module"})


STAY_MEMORY = {
    "caught_beside_a_set", "caught_in_a_function_beside_a_set", "in_a_context_beside_a_set", "either_object_beside_a_set",
    "recursion_beside_a_set",
}  # fmt: skip
"""With a `try`, a function that calls itself with what is in sight, or a variable that may be either of two objects."""


OF_BOTH = [p for p in MUTATION if p.function.__module__ == beside_writes.__name__]


@pytest.mark.parametrize("program", OF_BOTH, ids=lambda p: p.id)
def test_one_object_that_escapes_says_nothing_of_the_others(program: Any) -> None:
    args = copy.deepcopy(program.args)
    assert "shadows" in code_adjoint(program.function, *args)
    text = code_primal(program.function, *args)
    statements = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert any("Spring" in line for line in statements) == (program.function.__name__ in STAY_MEMORY)
    if "smoothed(x" in inspect.getsource(program.function):  # and not what is read from memory, of which nothing is known
        assert "smoothed_primal(" in text


def test_variables_of_another_module_are_read_there(monkeypatch: pytest.MonkeyPatch) -> None:
    of_ball = grad(modules.room_of_balls, argnums=0)
    for gravity in (9.81, 3, np.float64(2.0), np.array([1.0, 2.0])):
        monkeypatch.setattr(another_module, "GRAVITY", gravity)
        x, h = 0.6, 1e-6
        if isinstance(gravity, np.ndarray):
            with pytest.raises(NonScalarOutputError):
                of_ball(x, 3)
            continue
        expected = (modules.room_of_balls(x + h, 3) - modules.room_of_balls(x - h, 3)) / (2 * h)
        assert of_ball(x, 3) == pytest.approx(expected, rel=1e-6)
    monkeypatch.setattr(another_module, "GRAVITY", 1.0)
    monkeypatch.setattr(another_module, "pull", lambda x: -x * x)
    expected = (modules.room_of_balls(x + h, 3) - modules.room_of_balls(x - h, 3)) / (2 * h)
    assert of_ball(x, 3) == pytest.approx(expected, rel=1e-6)


def calls_another_module(x: float) -> float:
    ball = another_module.Ball(x)
    ball.x = x * x
    return ball.checked(x / x)


def test_an_error_in_another_module_shows_the_call() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        gradient(calls_another_module, 0.5)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (__file__, "return ball.checked(x / x)")


STAYS_MEMORY = {
    "captured_and_other", "deeper_than_the_list",
    "default_none_list", "forward_use_given_away", "grows_in_a_loop_over_it", "keeps_alias_out",
    "kids_branch", "kids_list_kept", "kids_same_list_twice", "kids_with_none", "list_returned_from_the_bottom",
    "memo_2d", "nested_rec2", "raised_at_the_bottom", "raises_in_the_end", "rebound_list", "row_that_is_passed",
    "swapped_args", "weights_of_subclasses",
}  # fmt: skip


@pytest.mark.parametrize("program", [p for p in OF_MEMORY if p.function.__module__ in OF_RECURSION], ids=lambda p: p.id)
def test_what_functions_that_call_themselves_write_into_is_in_sight(program: Any) -> None:
    text = code_adjoint(program.function, *copy.deepcopy(program.args))
    assert ("shadows" in text) == (program.function.__name__ in STAYS_MEMORY)


OF_ORDERS = {
    computed_arrays: {
        "array_told_not_to_copy", "divided_in_a_try", "divided_in_a_try_that_raises", "kept_in_a_list", "methods_that_write",
        "one_of_two_divided", "told_not_to_copy",
    },
    everyday: {
        "array_of_places_changes_later", "counts_calls", "iterator_in_a_generator", "one_list_under_all_keys",
        "places_change_later", "totals_and_value",
    },
    held: {"history_that_a_module_keeps", "list_or_none_in_a_field", "one_of_two_histories"},
    held_meanwhile: {"functions_in_a_set", "histories_in_a_try", "histories_told_apart", "history_given_to_functions"},
    object_keys: {
        "keys_equal_by_name", "none_and_objects_as_keys", "object_that_is_no_key", "objects_and_numbers_as_keys",
        "set_of_objects_grows_while_run_over", "set_of_objects_returned", "set_of_objects_that_a_module_keeps",
        "set_of_two_classes",
    },
    object_models: set(),
    captured: {
        "filter_that_a_module_keeps", "list_captured_by_two", "variable_assigned_after_capture",
    },
    compared_tuples: {"tuples_of_objects_with_an_eq"},
    composed: {"soft_tree_that_grows"},
    listeners: {
        "groups_by_a_bound_that_moves", "groups_of_a_list_that_grows", "groups_of_objects", "groups_that_are_kept",
        "methods_told_apart",
    },
    managed: {
        "contexts_in_each_other", "exception_that_ends_in_a_generator", "generator_that_returns_early", "lists_for_blocks",
        "one_of_two_yields",
    },
    vectors: {"one_default_for_two", "pairs_given_away"},
    visited: {"set_returned_by_visits", "visit_that_fails"},
}  # fmt: skip
"""The modules of programs with what objects and functions have of their own, and which of these stay memory."""


@pytest.mark.parametrize(
    "program", [p for p in MUTATION if p.function.__module__ in {m.__name__ for m in OF_ORDERS}], ids=lambda p: p.id
)
def test_what_objects_and_functions_have_of_their_own_is_in_sight(program: Any) -> None:
    text = code_adjoint(program.function, *copy.deepcopy(program.args))
    (stay,) = (names for module, names in OF_ORDERS.items() if module.__name__ == program.function.__module__)
    assert ("shadows" in text) == (program.function.__name__ in stay)


class Link:
    def __init__(self, value, next):
        self.value, self.next = value, next


def third_from(x: float, steps: int) -> float:
    head = None
    for i in range(steps):
        head = Link(x * i, head)
    return head.next.next.value


def second_caught(x: float, steps: int) -> float:
    head = None
    for i in range(steps):
        head = Link(x * i, head)
    try:
        return head.next.value * x
    except AttributeError:
        return x * x


def test_an_attribute_of_none_is_pythons_error() -> None:
    assert gradient(third_from, 0.5, 4)[0] == 1.0
    assert "shadows" not in code_adjoint(third_from, 0.5, 4)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'value'"):
        gradient(third_from, 0.5, 2)
    assert gradient(second_caught, 0.5, 3)[0] == pytest.approx(2 * 0.5)
    assert gradient(second_caught, 0.5, 1)[0] == pytest.approx(2 * 0.5)


class Slotted:
    __slots__ = ("v",)
    k = 2.0

    def __init__(self, v):
        self.v = v

    def __len__(self):
        return -3

    def __lt__(self, other):
        return self.v < other if isinstance(other, float) else NotImplemented


def sets_what_has_no_slot(x):
    slotted = Slotted(x)
    slotted.w = x
    return slotted.w * slotted.v


def sets_a_constant_of_the_class(x):
    slotted = Slotted(x)
    slotted.k = x
    return slotted.k * slotted.v


def compares_with_what_is_unknown(x):
    slotted, limit = Slotted(x), int(x)
    return x * x if slotted < limit else x


def has_a_negative_length(x):
    return len(Slotted(x)) * x


def asks_for_an_object_that_is_not_there(x):
    every = [Motor(x), Motor(1.0)]
    every[2 if x < 1.0 else 0]
    print("not reached")
    return every[0].speed


def raises_over_a_generator_that_catches(x):
    for value in catches_its_own(x):
        if value < 1.0:
            raise ValueError("of the loop")
    return x


def catches_its_own(x):
    try:
        yield x
    except ValueError:
        print("caught")


def key_that_cannot_be_one(x):
    found = {"a": x}
    found["a"] = x * x
    return found[1:2]


@pytest.mark.parametrize(
    "program",
    [
        sets_what_has_no_slot, sets_a_constant_of_the_class, compares_with_what_is_unknown, has_a_negative_length,
        asks_for_an_object_that_is_not_there, raises_over_a_generator_that_catches, key_that_cannot_be_one,
    ],
    ids=lambda program: program.__name__,
)  # fmt: skip
def test_what_python_refuses_is_refused(program: Any, capsys: Any) -> None:
    with pytest.raises((AttributeError, IndexError, TypeError, ValueError, KeyError)) as expected:
        program(0.7)
    with pytest.raises(type(expected.value)) as found:
        gradient(program, 0.7)
    assert str(found.value) == str(expected.value)
    assert capsys.readouterr().out == ""


def collects_numbers(x):
    values = []
    for v in x:
        values.append(v * v)
    values[0] = values[1] * 2
    last = values[-1]
    for i in range(2):
        values.append(values[i] * last)
    return values[0] + values[2] + values[-1]


def test_items_of_single_precision() -> None:
    """They are no floats of Python's, and their cotangents keep their precision."""
    x = np.array([0.5, 0.7, 1.1])
    (single,) = gradient(collects_numbers, x.astype(np.float32))
    (double,) = gradient(collects_numbers, x)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=1e-6)


def doubled(f):
    def wrapper(x):
        return 2.0 * f(x)

    return wrapper


@doubled
def decorated_square(x: float) -> float:
    return x * x


def sum_of_squares(x: float) -> float:
    total = 0.0
    for k in range(3):
        total += decorated_square(x * k)
    return total


def test_what_a_decorated_function_has_captured_is_looked_at_again() -> None:
    assert "pullback_of" not in code_primal(sum_of_squares, 0.5)
    assert gradient(sum_of_squares, 0.5)[0] == pytest.approx(4.0 * 0.5 * 5.0)
    cell = decorated_square.__closure__[0]
    before, cell.cell_contents = cell.cell_contents, math.sin
    try:
        assert gradient(sum_of_squares, 0.5)[0] == pytest.approx(2.0 * sum(k * math.cos(0.5 * k) for k in range(3)))
    finally:
        cell.cell_contents = before
    assert gradient(sum_of_squares, 0.5)[0] == pytest.approx(4.0 * 0.5 * 5.0)
