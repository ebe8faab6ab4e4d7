"""What a plan says of a remedy, by the answers of the run."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from cuescope.application import ShownCue
from cuescope_mitigation.prospects import prospects

LEVEL = 0.025


def lines(
    cue: ShownCue,
    wrong: int,
    *,
    group: str | None = None,
    folds: int | None = None,
) -> list[str]:
    """Of a run of which so many answers to the cue's samples are wrong."""
    rows = [
        {
            "sample": key,
            "condition": "baseline",
            "correct": number >= wrong,
            "group": f"{group}{number // 10}" if group else key,
        }
        for number, key in enumerate(cue.samples)
    ]
    # what another trial says of a sample is no answer to it as it is
    rows += [dict(row, condition="static", correct=True) for row in rows]
    run: Any = SimpleNamespace(answers=rows, report=SimpleNamespace())
    return list(prospects(run, [cue], folds=folds, level=LEVEL, least=5))


def cue_of(count: int, p_value: float = 1e-40, q_value: float = 1e-37) -> ShownCue:
    samples = tuple(f"s{number:03}" for number in range(count))
    return ShownCue("red corner on 'top'", samples, (p_value, q_value))


def test_a_plan_says_what_can_be_gained_and_how_likely_it_is_shown() -> None:
    line, warning = lines(cue_of(60), 60)
    assert line.startswith("red corner on 'top': 60 of 60 answers are wrong; ")
    assert "found again with a chance of 100%" in line
    assert "mends all of them, its gain is shown with a chance of 100%" in line
    assert "plain refit" in warning


def test_what_is_right_cannot_be_gained() -> None:
    line, _ = lines(cue_of(60), 0)
    assert line.endswith("0 of 60 answers are wrong, so that nothing can be gained.")
    of_few, _ = lines(cue_of(60), 12)
    assert "chance of 100%" not in of_few.partition("mends")[2]


def test_a_weak_cue_may_not_be_found_again() -> None:
    line, _ = lines(cue_of(45, 1.7e-9, 8.1e-7), 45)
    assert "found again with a chance of 38%" in line


def test_groups_are_counted_where_samples_share_them() -> None:
    line, _ = lines(cue_of(60), 60, group="video ")
    # six of them: a remedy that mends half needs more than one that mends all
    needed = re.findall(r"80% with (\d+) groups of samples in the run", line)
    of_all, of_half = map(int, needed)
    assert 6 < of_all < of_half


def test_by_folds_only_what_a_run_without_a_part_finds_is_measured() -> None:
    """A cue of ten samples that just passed: a run on three quarters may not find it."""
    cue = replace(cue_of(10, 4e-13, 5.6e-11), feature="cluster-00", label="north")
    sure, _ = lines(cue, 10, folds=4)
    assert "without a part finds it again with a chance of 100%" in sure
    assert "about 10 of its 10 samples" in sure
    assert "shown with a chance of 100%" in sure
    weak = replace(cue, found=(0.0198, 0.05))
    unsure, _ = lines(weak, 10, folds=4)
    assert (
        "about 4 of its 10 samples" in unsure or "about 5 of its 10 samples" in unsure
    )
    chance = int(re.findall(r"shown with a chance of (\d+)%", unsure)[0])
    assert 20 < chance < 80
