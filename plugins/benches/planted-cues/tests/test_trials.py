"""What the bench must not reward."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_planted_cues.auditors import SHEET, ErrorRanker
from cuescope_planted_cues.bench import AuditorsBench, AuditorsOptions
from cuescope_planted_cues.grading import _Bench
from cuescope_planted_cues.matching import Answer, Sheet, is_planted, match_of
from cuescope_planted_cues.zoo import zoo
from cuescope_sdk import Context, Feature, Occurrence, UserError
from cuescope_testing import run_audit

NORTH = range(200)


def sheet() -> Sheet:
    """Half of the samples show the mark; the model errs on 80% of those, on a tenth of others.

    The surer it is of a wrong answer, the surer the mark is there.
    """
    rng = np.random.default_rng(0)
    shows = rng.random(400) < 0.5
    wrong = rng.random(400) < np.where(shows, 0.8, 0.1)
    probability = np.where(wrong, 0.4 - 0.3 * shows, 0.9) + 0.1 * rng.random(400)
    labels: dict[str, str | None] = {
        f"s{n}": "north" if n in NORTH else "south" for n in range(400)
    }
    answers = {}
    for n, (key, label) in enumerate(labels.items()):
        other = "south" if label == "north" else "north"
        answers[key] = Answer(other if wrong[n] else label, float(probability[n]))
    shown: dict[str, Mapping[str, tuple[bool, ...]]] = {
        key: {"mark": (bool(shows[n]),)} for n, key in enumerate(labels)
    }
    return Sheet(shown, labels, {"mark": "magenta mark"}, answers)


def cluster(keys: Any) -> Feature:
    met = tuple(Occurrence(sample=key) for key in keys)
    return Feature(key="cluster-1", kind="cluster", occurrences=met)


def test_lists_of_errors_are_no_find_and_what_shows_the_cue_is() -> None:
    drawn = sheet()
    by_label = replace(drawn, answers={})
    wrong = [
        key for key, label in drawn.label.items() if drawn.answers[key].said != label
    ]
    surest = sorted(wrong, key=lambda key: drawn.answers[key].probability)
    showing = [key for key, cues in drawn.shown.items() if any(cues["mark"])]
    for listed in (wrong, surest[:60], [key for key in wrong if int(key[1:]) in NORTH]):
        # pure enough to be taken for the cue, where chance is that of the label alone
        assert match_of(cluster(listed), "mark", by_label).purity > 0.8
        assert is_planted(cluster(listed), "mark", by_label)
        assert not is_planted(cluster(listed), "mark", drawn)
    right = [key for key in showing if key not in wrong]
    match = match_of(cluster(showing), "mark", drawn)
    assert (match.beyond, match.purity, match.recall) == pytest.approx((1, 1, 1))
    assert is_planted(cluster(showing), "mark", drawn)
    # where nearly every wrong answer shows it, what shows it all the same is a find
    few = right[:6]
    surely_wrong = dict.fromkeys(set(showing) - set(few), Answer("west", 0.0))
    always = replace(drawn, answers={**drawn.answers, **surely_wrong})
    assert is_planted(cluster(showing), "mark", always)
    assert not is_planted(cluster(surely_wrong), "mark", always)
    # pure, and hardly any of it
    assert match_of(cluster(right[:10]), "mark", drawn).purity == 1
    assert not is_planted(cluster(right[:10]), "mark", drawn)


@pytest.mark.parametrize(("method", "is_plant"), [("trove", False), (SHEET, True)])
def test_what_the_answer_sheet_finds_is_the_plant_by_itself(
    method: str, *, is_plant: bool
) -> None:
    """Where all that is alike shows the cue, the rule knows no find, and the sheet is none."""
    drawn = sheet()
    decided = dict.fromkeys(drawn.shown, Answer("west", 0.0))
    always = {key: {"mark": (True,)} for key in drawn.shown}
    found = cluster(drawn.shown)
    report: Any = SimpleNamespace(
        provenance=SimpleNamespace(method=SimpleNamespace(spec=method)),
        features=(found,),
    )
    nothing: Any = None
    configuration: Any = SimpleNamespace(plants=("mark",))
    graded = _Bench(nothing, configuration, nothing)
    planted = graded._planted_by_feature(
        report, replace(drawn, shown=always, answers=decided)
    )
    assert planted == {found.key: is_plant}


def test_the_zoo_asks_for_what_flatters_nobody() -> None:
    """Most decoys of companions come with a cause, in so many samples."""
    together = Counter(
        each.data[1].get("together") for each in zoo() if each.role == "decoy"
    )
    assert {0.6, 0.75, 0.85, 0.95} <= together.keys()
    assert all("error-ranker" in each.auditors for each in zoo() if each.role != "null")


def bench(seed: int = 0, **options: Any) -> AuditorsBench:
    return AuditorsBench(AuditorsOptions(configs=6, **options), Context(seed=seed))


def test_no_file_of_a_run_is_written_over(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    report = run / "report.json"
    report.write_text(json.dumps({"seal": "a", "title": "b"}))
    with pytest.raises(UserError, match="one of the run"):
        next(bench(out=run).run())
    assert json.loads(report.read_text())["title"] == "b"


def test_the_baseline_ranks_errors_of_any_model() -> None:
    errors = run_audit(ErrorRanker)
    by_key = {score.feature: score for score in errors.scores}
    assert by_key
    for feature in errors.features:
        label = feature.key.partition(" taken for ")[0]
        assert by_key[feature.key].label == label
        assert 0 < (by_key[feature.key].value or 0) <= 1
