"""While the compiler works no cyclic garbage is looked for; afterwards all is as the user has set it."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest

from microgradpy import DifferentiationError, cache_clear, grad
from microgradpy.codegen import emit
from microgradpy.runtime.collector import resting


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


def square(x):
    return x * x


def refused(x):
    return eval("x * x")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_users_setting_comes_back(is_enabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    nested = emit.plan_nesting
    monkeypatch.setattr(emit, "plan_nesting", lambda *given: (seen.append(gc.isenabled()), nested(*given))[1])
    (gc.enable if is_enabled else gc.disable)()
    cache_clear()
    assert grad(square)(3.0) == 6.0
    assert seen and not any(seen)
    assert gc.isenabled() is is_enabled


def test_the_users_setting_comes_back_after_a_refusal() -> None:
    gc.enable()
    with pytest.raises(DifferentiationError):
        grad(refused)(3.0)
    assert gc.isenabled()


def test_the_last_one_switches_it_on_again() -> None:
    gc.enable()
    first_is_in, second_is_out = threading.Event(), threading.Event()
    seen = []

    def first() -> None:
        with resting():
            first_is_in.set()
            second_is_out.wait(10.0)
            seen.append(gc.isenabled())

    thread = threading.Thread(target=first)
    thread.start()
    assert first_is_in.wait(10.0)
    with resting(), resting():
        seen.append(gc.isenabled())
    second_is_out.set()
    thread.join()
    assert seen == [False, False]
    assert gc.isenabled()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads, which is what is tested
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork a process, which is what is tested")
def test_a_child_has_the_users_setting() -> None:
    gc.enable()
    is_in, may_leave = threading.Event(), threading.Event()

    def work() -> None:
        with resting():
            is_in.set()
            may_leave.wait(10.0)

    thread = threading.Thread(target=work)
    thread.start()
    assert is_in.wait(10.0)
    child = os.fork()
    if child == 0:
        os._exit(0 if gc.isenabled() else 1)
    may_leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
