"""Random programs to second order, in the four combinations of modes, by `hvp` and by differences of first gradients."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.nested import command, judging
from tests.nested.judging import ALL, SecondOrder, judge, program_of
from tests.program_numbers import batches
from tests.ways import some


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_no_combination_is_wrong(batch: range) -> None:
    judged = [judge(program_of(number)) for number in some(batch, "random second orders")]
    wrong = [f"program {one.number}: {one.defect}\n{program_of(one.number).source}" for one in judged if one.defect]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", [60015, 70037, 70041, 70056, 70058])
def test_what_was_wrong_or_refused(number: int) -> None:
    """The length of an array that a handler did not know, calls that were taken for writes, comparisons and `-=` of numbers of
    unknown kind, a missing derivative that a program caught."""
    judged = judge(program_of(number))
    assert judged.defect is None
    assert all(judged.fates[name, "right"] for name in ALL if name != "forward_over_forward")


def test_most_have_all_combinations() -> None:
    fates = sum((judge(program_of(number)).fates for number in range(4)), Counter[tuple[str, str]]())
    for name in ALL:
        outcomes = {fate: fates[name, fate] for fate in command.FATES}
        assert outcomes["right"] >= 0.8 * sum(outcomes.values()), name


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("are_there", [True, False])
def test_what_is_wrong_is_noticed(name: str, are_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second derivative that is wrong by one in a thousand: by differences, and where there are none by one of the others."""
    way = judging.WAYS[name]

    def off(f: Any, point: Any, v: Any) -> Any:
        found = way(f, point, v)
        if not isinstance(found, tuple):
            return 1.001 * found + 1e-3
        return tuple(1.001 * judging.zero_if_none(*each) + 1e-3 for each in zip(point, found, strict=False))

    monkeypatch.setitem(judging.WAYS, name, off)
    if not are_there:
        monkeypatch.setattr(judging, "by_differences", lambda *_: None)
    fates = judge(program_of(3)).fates
    wrong = {each for each in ALL if fates[each, "wrong"]}
    assert wrong == ({name} if are_there or name != "hvp" else {*ALL} - {name})


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    one = SecondOrder(3, Counter({("hvp", "right"): 2}), None, Counter({"hvp: why": 1}))
    path.write_text(command.line(one) + command.line(SecondOrder(4, defect="hvp 1.0 for 2.0")) + "[5, {")
    assert command.read_results(path) == {3: one, 4: SecondOrder(4, defect="hvp 1.0 for 2.0")}
    assert "1 programs" in command.summary([one])
