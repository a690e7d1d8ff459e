"""What an exported module offers: seeds, types, kinds, containers, constants, names; and the file."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    DifferentiationError,
    MissingRuleError,
    MutationError,
    NoTangent,
    export,
    pullback,
    rrule,
    value_and_grad,
)
from microgradpy import value_and_gradient as value_and_gradient_here
from microgradpy.compiler import always_dispatch
from microgradpy.exporting.syntax import has_newer_texts
from tests.exporting.corpus import LINTER
from tests.test_programs import same, same_cotangents
from tests.ways import some

RATE = 0.25
WEIGHTS = np.array([[1.0, -2.0], [0.5, np.inf], [-0.0, 3.0]], order="F")
TABLE = {"a": (1, 2.0), "b": [np.float32(0.1)]}
SETTINGS = object()


@pytest.fixture
def exported(tmp_path: Path) -> Callable[..., types.ModuleType]:
    """Export a function and import its module."""

    def made(f: Any, *args: Any, **options: Any) -> types.ModuleType:
        path = export(f, tmp_path / "made.py", *args, **options)
        spec = importlib.util.spec_from_file_location("made", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return made


# Agreement with the package


def affine(x, W, b):
    return np.sum(np.tanh(x @ W + b))


def whole(n, x):
    return n * x * x


def widths(x):
    return x * x * 2.0


def captured_rate(x):
    return RATE * x + TABLE["a"][1]


def of_weights(x):
    return np.sum(np.cos(x @ WEIGHTS[[0, 2]]))


def with_default(x, p=3, *, scale=2.0):
    return scale * x**p


def any_number(x, *rest):
    total = x
    for each in rest:
        total = total * each
    return total


def of_tree(tree):
    return tree["w"] * tree["parts"][0] + tree["parts"][1][0]


def of_list(items):
    total = 0.0
    for item in items:
        total = total + item * item
    return total


def unused(x, y):
    return 2.0 * x


def flagged(x, is_squared, name):
    return x * x if is_squared and name == "square" else x


def names_of_the_module(value, saved, seed, copies, lengths, np_, check_arguments, number_gradient):
    back = value * saved + seed * copies
    return back * lengths + np_ * check_arguments * number_gradient


def complex_product(z, w):
    return (z * w).real + 3.0 * (z * z * w).imag


def complex_vectors(z):
    return np.sum((z * z).real - (z.T * 2.0).imag)


def recursive(x, n):
    return x if n == 0 else x * recursive(math.sin(x), n - 1)


def helper(x):
    return math.exp(-x) * RATE


def calls_helpers(x):
    return helper(x) + helper(2.0 * x)


def counted(n):
    return [k + offset() for k in range(n)]


def offset():
    return 1


def calls_inert_helpers(x):
    return x * sum(counted(3))


def softened(x):
    # A rule of the user's, which says nothing of the second argument.
    return x / (1.0 + abs(x))


@rrule.register(softened)
def softened_rrule(x, kind="soft"):
    def softened_pullback(y_bar):
        return NoTangent(), y_bar / (1.0 + abs(x)) ** 2

    return softened(x), softened_pullback


def uses_a_rule(x):
    parts = [x, 2.0 * x]
    return softened(x) + softened(parts[1]) * sum([softened(part) for part in parts])


def made_closure():
    shift = 3.0
    matrix = np.eye(2)
    return lambda x: np.sum((x + shift) @ matrix)


def a_vector(x):
    return np.sin(x) * x


def a_pair(x, y):
    return x * y, [x, {"s": np.sin(y)}]


ROWS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "affine": (affine, (np.ones((4, 3)), np.full((3, 2), 0.3), np.zeros(2))),
    "float32": (affine, tuple(np.ones(shape, np.float32) for shape in ((4, 3), (3, 2), (2,)))),
    "int": (whole, (3, 1.5)),
    "numpy int": (whole, (np.int16(3), np.float32(1.5))),
    "numpy float": (widths, (np.float64(1.5),)),
    "half": (widths, (np.float16(1.5),)),
    "no axes": (widths, (np.array(1.5),)),
    "module variable": (captured_rate, (1.5,)),
    "module array": (of_weights, (np.array([[0.1, 0.2]]),)),
    "defaults": (with_default, (1.5,)),
    "given default": (with_default, (1.5, 2)),
    "variadic": (any_number, (1.5, 2.0, 3.0)),
    "none of variadic": (any_number, (1.5,)),
    "tree": (of_tree, ({"w": 1.5, "parts": (2.0, [3.0, 4.0])},)),
    "list": (of_list, ([1.0, 2.0, 3.0],)),
    "unused": (unused, (1.5, np.ones(3))),
    "flags": (flagged, (1.5, True, "square")),
    "names": (names_of_the_module, (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
    "complex": (complex_product, (1.0 + 2.0j, 0.5j)),
    "complex vectors": (complex_vectors, (np.array([[1.0 + 2.0j, 0.5j]]),)),
    "recursion": (recursive, (0.7, 4)),
    "helpers": (calls_helpers, (0.7,)),
    "inert helpers": (calls_inert_helpers, (0.7,)),
    "a rule of the user": (uses_a_rule, (0.7,)),
    "closure": (made_closure(), (np.ones((2, 2)),)),
    "vector": (a_vector, (np.array([0.1, 0.2, 0.3]),)),
    "pair": (a_pair, (1.5, 2.5)),
    "empty": (affine, (np.ones((0, 3)), np.ones((3, 2)), np.ones(2))),
}
SEEDS: dict[str, Any] = {"vector": np.array([1.0, 2.0, 3.0]), "pair": (1.0, [None, {"s": 2.0}])}


@pytest.mark.parametrize("name", ROWS)
def test_the_module_agrees_with_the_package(name: str, exported: Any) -> None:
    f, args = ROWS[name]
    module = exported(f, *args)
    y, back = pullback(f, *args)
    found, found_back = module.pullback(*args)
    assert same(found, y)
    seed = SEEDS.get(name, 2.0)
    assert same_cotangents(found_back(seed)[1:], back(seed)[1:])
    if name in SEEDS:
        assert not hasattr(module, "value_and_gradient")
    else:
        assert same_cotangents(module.value_and_gradient(*args), value_and_gradient_here(f, *args))
        assert same_cotangents(found_back(), found_back(1.0))


@pytest.mark.parametrize("name", ["affine", "unused", "tree", "numpy int", "list"])
@pytest.mark.parametrize("argnums", [0, (0,), -1])
def test_chosen_arguments(name: str, argnums: Any, exported: Any) -> None:
    f, args = ROWS[name]
    module = exported(f, *args, argnums=argnums)
    assert same_cotangents(module.value_and_gradient(*args), value_and_grad(f, argnums)(*args))


@pytest.mark.parametrize("name", ["affine", "int", "no axes", "helpers", "tree", "vector", "complex", "complex vectors"])
def test_without_example_arguments(name: str, exported: Any) -> None:
    f, args = ROWS[name]
    module = exported(f)
    y, back = pullback(f, *args)
    found, found_back = module.pullback(*args)
    assert same(found, y)
    for bar, wanted in zip(found_back(SEEDS.get(name, 2.0))[1:], back(SEEDS.get(name, 2.0))[1:], strict=True):
        assert type(bar) is type(wanted)
        np.testing.assert_equal(bar, wanted)
    with pytest.raises(TypeError, match="made for numbers, arrays"):
        module.pullback(*[object()] * len(args))


def of_sums(x, c):
    return 2 * np.sum(x) * np.sum(c) / 7


def powers_of(x, n):
    return abs(x) ** 2 + math.pi * n


def of_product(items, t):
    return math.prod(items) * t[0]


def of_sum(items, t):
    return sum(items) * t[0] + np.sum(t[1])


def of_array(items, t):
    return np.sum(np.array(items) * 2) * t[0]


def of_rest(t, *items):
    return t * sum([sum(each) for each in items])


def of_first(tree, t):
    return sum(tree["parts"][0]) * t[0]


@pytest.mark.parametrize("shape", [(3,), ()])
def test_double_precision_next_to_single(shape: tuple[int, ...], exported: Any) -> None:
    args = np.full(shape, 1.1, np.float32), np.full(shape, 1 / 3)
    module = exported(of_sums)
    value, found = module.value_and_gradient(*args)
    assert same(value, of_sums(*args))
    for bar, wanted in zip(found, value_and_gradient_here(of_sums, *args)[1], strict=True):
        assert bar.dtype == wanted.dtype
        np.testing.assert_allclose(bar, wanted, rtol=4 * np.finfo(bar.dtype).eps)
    with always_dispatch():
        assert same_cotangents(found, value_and_gradient_here(of_sums, *args)[1])


@pytest.mark.parametrize("x", [True, False])
def test_truth_values_of_unknown_kind(x: bool, exported: Any) -> None:
    module = exported(powers_of)
    assert same_cotangents(module.value_and_gradient(x, 2), value_and_gradient_here(powers_of, x, 2))


PAIR = (2.0, np.ones(3))
NOTHING = {
    "product": (of_product, ([], PAIR), ([1.0], PAIR)),
    "sum": (of_sum, ([], PAIR), ([1.0], PAIR)),
    "array": (of_array, ([], PAIR), ([1.0], PAIR)),
    "tuple": (of_sum, ((), PAIR), None),
    "flags": (of_sum, ([True, False], PAIR), None),
    "flags and a number": (of_sum, ((True, 2.0), PAIR), None),
    "empty array": (of_sum, (np.ones(0), PAIR), None),
    "tree": (of_first, ({"parts": ([], ())}, PAIR), None),
    "tree with a number": (of_first, ({"parts": ([], 1.0)}, PAIR), None),
    "deep": (of_first, ({"parts": ([], ([[]], [[[]]]))}, PAIR), None),
}


@pytest.mark.parametrize("name", some(NOTHING, one_in=2))
@pytest.mark.parametrize("argnums", [None, 0])
def test_containers_without_numbers(name: str, argnums: Any, exported: Any) -> None:
    f, args, like = NOTHING[name]
    wanted = value_and_gradient_here(f, *args) if argnums is None else value_and_grad(f, argnums)(*args)
    for examples in ((), args, *([like] if like else [])):
        module = exported(f, *examples, argnums=argnums)
        assert same_cotangents(module.value_and_gradient(*args), wanted)


def test_rest_arguments_without_numbers(exported: Any) -> None:
    module = exported(of_rest, 2.0, [1.0], [3.0])
    for args in ((2.0, [1.5], []), (2.0, [], [])):
        assert same_cotangents(module.value_and_gradient(*args), value_and_gradient_here(of_rest, *args))


# Refusals of the module

WRONG = [
    ("affine", (np.ones((4, 3)), np.ones((3, 2)), 1.0), "b is of type float"),
    ("affine", (np.ones((4, 3)), np.ones((3, 2)), np.ones(2, int)), "b is an array"),
    ("affine", (np.ones((4, 3)), np.ones((3, 2)), np.ones(1)), "made for: float array"),
    ("affine", (np.ones((4, 3)), np.ones((3, 3)), np.ones(3)), "are both 3"),
    ("affine", (np.ones((1, 3)), np.ones((3, 2)), np.ones(2)), "are both 1"),
    ("affine", (np.ones((4, 3)), np.ones((3, 2)), np.ma.masked_array([1.0, 2.0])), "b is an array"),
    ("affine", (np.ones((4, 3)), np.ones((3, 2)), np.array([None, None])), "b is an array"),
    ("int", (3.0, 1.5), "n is of type float"),
    ("int", (True, 1.5), "n is of type bool"),
    ("int", (3, 1), "x is of type int"),
    ("int", (np.timedelta64(3, "s"), 1.5), "n is of type timedelta64"),
    ("module array", (np.ones((2, 2)),), r"made for: float array\[1, n\]"),
    ("tree", ({"w": 1.5, "parts": (2.0, [3.0, 4])},), r"tree\['parts'\]\[1\]\[1\] is of type int"),
    ("tree", ({"w": 1.5},), "has the keys"),
    ("tree", ([],), "made for a dict"),
    ("variadic", (1.5, 2.0), "1 arguments are given"),
    ("flags", (1.5, 1, "square"), "is_squared is of type int"),
    ("flags", (1.5, True, None), "name is of type NoneType"),
    ("list", ([1.0, "a"],), r"items\[1\] is of type str"),
]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[0]}: {row[2]}")
def test_arguments_of_other_kinds_are_refused(row: Any, exported: Any) -> None:
    name, args, message = row
    module = exported(*[ROWS[name][0], *ROWS[name][1]])
    for called in (module.value_and_gradient, module.pullback):
        with pytest.raises(TypeError, match=message):
            called(*args)


def test_seeds_are_checked(exported: Any) -> None:
    module = exported(a_vector, np.ones(3))
    _, back = module.pullback(np.ones(3))
    for seed in (1.0, np.ones(2), np.ones((3, 1)), "abc", np.ones(3) * 1j, [1.0, None, 2.0]):
        with pytest.raises(ValueError, match="the seed is"):
            back(seed)
    with pytest.raises(TypeError):
        back()
    assert same(back([1, 2, 3])[1], back(np.array([1.0, 2.0, 3.0]))[1])
    assert same(back(None)[1], np.zeros(3))


def test_changed_arguments_are_refused(exported: Any) -> None:
    x = np.ones(3)
    _, back = exported(a_vector, x).pullback(x)
    x[0] = 2.0
    with pytest.raises(ValueError, match="was changed after the call of pullback"):
        back(np.ones(3))


def test_changed_lists_and_dicts_are_refused(exported: Any) -> None:
    def total(xs: Any, table: Any) -> Any:
        return sum([x * table["k"] for x in xs])

    for change in (lambda xs, _: xs.append(1.0), lambda _, table: table.update(k=3.0)):
        xs, table = [1.0, 2.0], {"k": 2.0}
        _, back = exported(total, xs, table).pullback(xs, table)
        assert back(1.0) == (None, [2.0, 2.0], {"k": 3.0})
        change(xs, table)
        with pytest.raises(ValueError, match="was changed after the call of pullback"):
            back(1.0)


def test_gradients_share_no_memory(exported: Any) -> None:
    x, y, seed = np.ones(3), np.ones(3), np.ones(3)
    value, back = exported(lambda a, b: a + b, x, y).pullback(x, y)
    arrays = [x, y, seed, value, *back(seed)[1:], *back(seed)[1:]]
    for place, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[place + 1 :])


def test_values_without_a_gradient(exported: Any) -> None:
    module = exported(lambda x: x, np.ones(3))
    assert not hasattr(module, "value_and_gradient") and module.__all__ == ["pullback"]
    unknown = exported(lambda x: x)
    with pytest.raises(TypeError, match="no real number: use pullback"):
        unknown.value_and_gradient(np.ones(3))


# Refusals of export


def writes(x):
    y = [[x, 2.0]]
    y.extend([[x]])
    y[0][0] *= x
    return y[0][0]


def calls_its_argument(f, x):
    return f(x)


def reads_an_object(x):
    return x * SETTINGS.rate


def makes_closures(x):
    parts = sorted([lambda y: y * x], key=id)
    return parts[0](x)


class Model:
    def __init__(self):
        self.w = 2.0

    def __call__(self, x):
        return self.w * x


SEEN = [0.0, 0.0]


def fills(x, buffer):
    np.add(1.0, 2.0, out=buffer)
    return x * buffer[0]


def fills_what_it_sees():
    SEEN[0] += 1.0
    return 2.0


def calls_a_writer(x):
    return x * fills_what_it_sees()


def sums_up(*numbers):
    return sum([number * number for number in numbers])


def sums_what_is_made(x):
    made = (x * k for k in range(3))
    return next(made) + sum(made)


def makes_an_object(x):
    made = {frozenset((1,)): Model()}
    return made[frozenset((1,))](x)


REFUSED = [
    (sums_up, (), MissingRuleError, "it takes any number of them"),
    (sums_what_is_made, (1.0,), MutationError, "lists for generators"),
    (makes_an_object, (1.0,), MutationError, "not known whether it writes"),
    (fills, (1.0, np.zeros(())), MutationError, "writes into arrays, containers or variables,"),
    (calls_a_writer, (1.0,), DifferentiationError, "cannot be exported"),
    (writes, (1.0,), MutationError, "writes into arrays"),
    (calls_its_argument, (math.sin, 1.0), MissingRuleError, "argument f"),
    (calls_its_argument, (), MissingRuleError, "dispatcher"),
    (reads_an_object, (1.0,), MissingRuleError, "SETTINGS"),
    (makes_closures, (1.0,), MissingRuleError, "made when it runs"),
    (Model(), (1.0,), MissingRuleError, "belongs to an object"),
    (Model().__call__, (1.0,), MissingRuleError, "belongs to an object"),
    (np.sin, (1.0,), DifferentiationError, "no Python source"),
    (lambda m: m.w, (Model(),), MissingRuleError, "argument m"),
    (lambda x: x + 1, (np.ma.masked_array([1.0]),), MissingRuleError, "argument x"),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[3])
def test_what_cannot_stand_alone_is_refused(row: Any, tmp_path: Path) -> None:
    f, args, error, message = row
    with pytest.raises(error, match=message) as caught:
        export(f, tmp_path / "made.py", *args)
    assert list(tmp_path.iterdir()) == []
    if isinstance(f, types.FunctionType):
        # The place is where the function starts, or in it, or in what it calls, where the call is that is refused.
        places = [
            f"  at {__file__}:{line}, in {each.__name__}"
            for each in (f, fills_what_it_sees)
            for text, start in [inspect.getsourcelines(each)]
            for line in range(start, start + len(text))
        ]
        names_call = any(words in str(caught.value) for words in ("` in it needs", "the call `"))
        assert str(caught.value).splitlines()[1] in (places if names_call else places[:1])


# The file


def test_only_what_export_wrote_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    assert export(widths, str(path), 1.0) == path
    first = path.read_text()
    export(whole, path, 2, 1.0)
    assert path.read_text() != first
    path.write_text("x = 1\n")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        export(widths, path, 1.0)
    assert path.read_text() == "x = 1\n"
    export(widths, path, 1.0, overwrite=True)
    assert path.read_text() == first


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "made.py", tmp_path / "link.py"
    link.symlink_to(path.name)
    assert export(widths, link, 1.0) == link
    assert link.is_symlink() and path.is_file()
    path.chmod(0o755)
    export(widths, path, 1.0)
    assert path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("place", ["", "no/such/made.py", "x" * 300])
def test_the_file_that_cannot_be_written_is_named(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    with pytest.raises(OSError, match=re.escape(str(path))):
        export(widths, path, 1.0)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made.py"
    export(widths, path, 1.0)
    before = path.read_text()

    def full(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        export(whole, path, 2, 1.0)
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]


def test_a_module_runs_in_another_interpreter(tmp_path: Path) -> None:
    path = export(affine, tmp_path / "affine_gradient.py", *ROWS["affine"][1])
    text = path.read_text()
    assert str(Path(__file__).parent) not in text and "import microgradpy" not in text
    program = "import sys; sys.path.append(sys.argv[1]); import affine_gradient as a, numpy as np\n"
    program += "print(repr(a.value_and_gradient(np.ones((4, 3)), np.full((3, 2), 0.3), np.zeros(2))[0]))\n"
    program += "assert not any('microgradpy' in name for name in sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-c", program, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.strip() == repr(affine(*ROWS["affine"][1])), ran.stderr


def test_everything_has_hints_and_a_docstring(exported: Any) -> None:
    module = exported(affine, *ROWS["affine"][1])
    own = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]
    assert {"affine_primal", "affine_adjoint", "pullback"} <= {f.__name__ for f in own}
    for function in own:
        assert inspect.getdoc(function), function.__name__
        assert "return" in function.__annotations__
        assert function.__annotations__.keys() >= set(inspect.signature(function).parameters)


# What refusals of calls say


def takes_an_item(x, c):
    y = x * c
    return 2.0 * np.sum(y).item()


def has_stars(items):
    return 2.0 * math.hypot(*items)


def sums_by_letters(x, c):
    return 3.0 * np.einsum("i,i->", x, c)


def calls_it(x, c):
    return takes_an_item(x, c) + 1.0


def counts_down(x, n):
    while n > 0:
        x = x * 1.5
        n -= 1
    return x


def annotated(words: "Iterator[str]", of: MyHint = None) -> MyHint:  # noqa: F821, UP037 - of a module that is not imported
    longest: MyHint = 0  # noqa: F821
    for word in words:
        longest = max(longest, len(word))
    return longest


def calls_an_annotated(x):
    return x * annotated(["a", "bc"])


def takes_the_first(x, items=(), *, table={}):  # noqa: B006 - it is what is exported
    import math as m

    return x * m.floor([len(item) for item in ["ab", *items]][0])  # noqa: RUF015


def binds_library_names(x):
    np = x * 2.0
    math = np + 1.0
    return math * np


@pytest.mark.parametrize("f", [calls_an_annotated, takes_the_first, binds_library_names], ids=lambda f: f.__name__)
def test_what_a_linter_or_another_module_would_not_take(f: Any, exported: Any, tmp_path: Path) -> None:
    assert exported(f, 2.0).value_and_gradient(2.0) == value_and_gradient_here(f, 2.0)
    found = subprocess.run([*LINTER, str(tmp_path / "made.py")], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


NEWER = """\
def longest[T](words: list[T], most: T = 0) -> int:
    type_of: T = most
    return len(f'{'\\n'.join(words)} {most!r:>{4}} {{}} {f'{words[0]} {f"{most:{'.1f'}}"}'}') + len(f"{words!r:{'>9'}}")

def commented(words):
    return len(f"{
        words[0]  # the first
    }")

def plain(words):
    return len(f"{words[0]!r} and '{words[1]}'")  # it stays

def aliased(words):
    type Words = list
    return 1

def deep(words):
    return len(f"{words[0]:{'>'}{'{1'[1:]:{words and '1'}}}{"."[:0]}")

def f(x):
    return x * longest(["a", "bc"])

def g(x):
    return x * (commented(["a"]) + plain(["a", "b"]))

def h(x):
    return x * aliased([])

def k(x):
    return x * deep(["a"])
"""


def test_newer_syntax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "newer.py").write_text(NEWER)
    monkeypatch.syspath_prepend(tmp_path)
    if sys.version_info < (3, 12):
        with pytest.raises(SyntaxError):
            importlib.import_module("newer")
        return
    newer = importlib.import_module("newer")
    for f in (newer.f, newer.g):
        text = export(f, tmp_path / "made.py", 2.0).read_text()
        assert not has_newer_texts(text)
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        assert namespace["value_and_gradient"](2.0) == value_and_gradient_here(f, 2.0)
    assert """return len(f"{words[0]!r} and '{words[1]}'")  # it stays""" in text
    with pytest.raises(MissingRuleError, match="needs aliased, which has syntax that is newer than Python"):
        export(newer.h, tmp_path / "made.py", 2.0)
    with pytest.raises(MissingRuleError, match="needs deep, which has a text in syntax that is newer than Python"):
        export(newer.k, tmp_path / "made.py", 2.0)


TWO = (np.ones(2), np.ones(2))
CALLS: list[tuple[Any, tuple[Any, ...], str, str, str]] = [
    (takes_an_item, TWO, "takes_an_item", "np.sum(y).item()", r"\.item\(\) can be left out"),
    (takes_an_item, (), "takes_an_item", "np.sum(y).item()", "Give example arguments"),
    (has_stars, ([1.0, 2.0],), "has_stars", "math.hypot(*items)", "one by one instead of by stars"),
    (has_stars, (), "has_stars", "math.hypot(*items)", "one by one instead of by stars"),
    (sums_by_letters, (), "sums_by_letters", 'np.einsum("i,i->", x, c)', "Give example arguments"),
    (calls_it, TWO, "calls_it", "np.sum(y).item()", r"\.item\(\) can be left out"),
]


@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row[0].__name__}-{len(row[1])}")
def test_the_call_that_cannot_be_exported_is_shown(row: Any, tmp_path: Path) -> None:
    function, args, name, call, remedy = row
    with pytest.raises(MissingRuleError, match=remedy) as caught:
        export(function, tmp_path / "made.py", *args)
    first, place, line, carets, _ = str(caught.value).splitlines()
    assert first.startswith(f"{name} cannot be exported: the call `{call}` needs the dispatcher")
    assert line[carets.index("^") : carets.rindex("^") + 1] == call
    inner = takes_an_item if function is calls_it else function
    assert place.endswith(f", in {inner.__name__}")
    assert ("Give example arguments" in str(caught.value)) == (not args and function is not has_stars)


def test_an_augmented_assignment_to_an_unknown_kind(exported: Any) -> None:
    with pytest.raises(MutationError, match=r"without example arguments: `n -= 1` in line \d+ may write") as caught:
        exported(counts_down)
    assert "Give example arguments" in str(caught.value)
    assert exported(counts_down, 2.0, 3).value_and_gradient(2.0, 3) == value_and_gradient_here(counts_down, 2.0, 3)
