"""Random programs to second order, in the four combinations of modes, by `hvp` and by differences of first gradients."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from microgradpy import hvp
from tests.nested import command, judging
from tests.nested.judging import ALL, SecondOrder, judge
from tests.program_numbers import batches
from tests.random_programs import random_program
from tests.ways import some


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_no_combination_is_wrong(batch: range) -> None:
    judged = [judge(random_program(number)) for number in some(batch, "random second orders")]
    wrong = [f"program {one.number}: {one.defect}\n{random_program(one.number).source}" for one in judged if one.defect]
    assert not wrong, "\n".join(wrong)


def test_most_have_all_combinations() -> None:
    fates = sum((judge(random_program(number)).fates for number in range(4)), Counter[tuple[str, str]]())
    for name in ALL:
        outcomes = {fate: fates[name, fate] for fate in command.FATES}
        assert outcomes["right"] >= 0.8 * sum(outcomes.values()), name


def test_what_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second derivative that is wrong by one in a thousand: by differences, and by the combinations."""
    monkeypatch.setattr(judging, "hvp", lambda f, x, v, *rest: 1.001 * hvp(f, x, v, *rest) + 1e-3)
    fates = judge(random_program(3)).fates
    assert all(fates[name, "wrong"] and not fates[name, "right"] for name in ALL)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    one = SecondOrder(3, Counter({("hvp", "right"): 2}), None, Counter({"hvp: why": 1}))
    path.write_text(command.line(one) + command.line(SecondOrder(4, defect="hvp 1.0 for 2.0")) + "[5, {")
    assert command.read_results(path) == {3: one, 4: SecondOrder(4, defect="hvp 1.0 for 2.0")}
    assert "1 programs" in command.summary([one])
