"""The synthetic benchmark: its grid, its rankings, and results that are kept."""

from collections import Counter
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context
from cuescope_sdk.stills import Answers
from cuescope_testing import Setup, temporary_cache
from cuescope_trove import TRoVe
from cuescope_trove.analysis import analyse
from cuescope_trove.checks.annotated_cues import rank_annotated_frames
from cuescope_trove.suite.configurations import configurations
from cuescope_trove.suite.grading import Gaps, Graded, Settings, own_rankings
from cuescope_trove.suite.tables import Result, all_tables
from cuescope_trove.suite.work import Suite

from .clips import Clips, Leaning


def test_the_grid_is_the_papers_and_its_beginning_is_varied() -> None:
    grid = list(configurations())
    assert len(set(grid)) == len(grid) == 3 * 4 * (2 + 3 + 5 + 10)
    dozen = {(each.cue, each.length) for each in grid[:12]}
    assert len(dozen) == 12
    assert {each.cramers_v for each in grid[:12]} == {0.95}
    strengths = Counter(each.cramers_v for each in grid[:101])
    assert list(strengths) == [0.95, 0.9, 0.8, 0.7]
    assert strengths[0.95] >= strengths[0.9] >= strengths[0.8] >= strengths[0.7] > 0


@pytest.mark.long
def test_the_bench_ranks_frames_as_an_audit_does() -> None:
    options = {"paper": True, "discover": 0, "null_shuffles": 0}
    with temporary_cache() as cache:
        session = Setup(TRoVe, Leaning, Clips, options).session(cache)
        report = session.run()
        audit = session.audit
        analysis = audit.once(analyse, audit, audit.options)
        frames = list(audit.once(Answers.ask, audit).row)
    for number, label in enumerate(audit.labels):
        ours = own_rankings(
            analysis.observations, analysis.candidates, number, np.random.default_rng(0)
        )
        for name, metric in (
            ("TRoVe, paper=true", "trove_score"),
            ("Static bias alone", "static_bias"),
        ):
            [order] = ours[name]
            audited = rank_annotated_frames(
                report.features, report.scores, label, metric
            )
            assert [frames[place] for place in order][: len(audited)] == audited


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    settings = Settings("toy", "moving-shapes", {}, 0, "cpu", tmp_path, ("domino",))
    return Suite(settings, tmp_path / "kept", ["1"], workers=1)


def results(number: int) -> Graded:
    grades = {"Random": (0.1, 0.2, None, 1 / 3), "TRoVe": (1.0, 0.9, None, number / 30)}
    return Graded(Gaps("moving east", 0.3, 0.1 + 1 / 3), grades)


def test_what_was_kept_is_shown_again_to_the_byte(suite: Suite, tmp_path: Path) -> None:
    chosen = list(islice(configurations(), 12))
    fresh: dict[Any, Any] = {
        each: results(number) for number, each in enumerate(chosen)
    }
    fresh |= dict.fromkeys((2, 3, 5, 10), (0.9 + 1 / 30, 0.3))
    for job, result in fresh.items():
        if isinstance(result, Graded):
            suite.kept.write(job.name, asdict(result))
        else:
            suite.kept.write(f"length {job}", result)
    said: list[str] = []
    # nothing is left to train: no worker is started
    unbiased, graded = suite.run(chosen, Context(cache=tmp_path, announce=said.append))
    assert said == ["16 of 16 results are kept; --again redoes them"]

    def page(of: dict[Any, Any]) -> list[str]:
        rows = [Result(c, *of[c.length], of[c].gaps, of[c].grades) for c in chosen]
        return [table.model_dump_json() for table in all_tables(rows)]

    assert page({**unbiased, **graded}) == page(fresh)
    name = chosen[0].name
    suite.kept.file(name).write_text('{"gaps": nu')  # killed in the middle, or damaged
    assert suite.kept.read(name) is None
    other = replace(suite, settings=replace(suite.settings, seed=1))
    assert other.kept.read(chosen[1].name) is None
