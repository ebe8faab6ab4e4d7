"""What else may explain what was found, where it is measured, and groups."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Detection, Plugin, Response, Sample, Trial, UserError
from cuescope_testing import Setup, run_audit
from cuescope_trove import TRoVe

from .clips import Clips, Honest, Leaning, by_check


def test_every_report_and_plan_says_what_could_be_missed() -> None:
    report = run_audit(TRoVe, Honest, Clips)
    assert not report.findings
    assert report.notes["power"].startswith("80% for a cue in 25% of a label's samples")
    assert (
        "if 80% of the answers are right" in Setup(TRoVe).plan().notes["can be found"]
    )


class Sized(Clips):
    """The annotated size of the object is small just where red is on screen."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        red = any(sample.annotations["cues"]["red"])
        more = {"object_size": 0.1 if red else 0.4, "weather": "rain" if red else "sun"}
        return replace(sample, annotations={**sample.annotations, **more})


QUICK = {"null_shuffles": 0}  # where the null check is not looked at


@pytest.mark.parametrize("options", [{}, {"control": "weather"}])
def test_what_goes_with_the_size_is_no_cue(options: dict[str, str]) -> None:
    report = run_audit(TRoVe, Leaning, Sized, **QUICK, **options)
    assert not report.findings
    name = "'weather' (rain)" if options else "the size of the labelled object"
    checks = [item for item in report.evidence if item.check == "other explanations"]
    assert checks
    assert all(item.verdict == "refuted" for item in checks)
    assert all(name in item.detail for item in checks)
    assert report.doubts


class Measuring(Plugin):
    """Boxes the first thing: small where red is on screen, large elsewhere."""

    score = 0.9

    def detect(self, frames: Any, names: Any) -> list[tuple[Detection, ...]]:
        name, *_ = names
        sides = [
            1.0 if np.asarray(frame.load())[0, 0, 1] == 0 else 4.0 for frame in frames
        ]
        return [
            (Detection(name=name, score=self.score, box=(0.0, 0.0, side, side)),)
            for side in sides
        ]


class Unsure(Measuring):
    """The same boxes, with too low a score to count."""

    score = 0.1


def test_the_detected_size_is_held_alike() -> None:
    options = {"control": "detected-size", **QUICK}
    report = Setup(
        TRoVe, Leaning, Clips, options, tools={"detector": Measuring}
    ).report()
    assert not report.findings
    assert "the size of the labelled object" in report.doubts[0]
    unsure = Setup(TRoVe, Leaning, Clips, options, tools={"detector": Unsure}).report()
    assert {unsure.names[score.feature] for score in unsure.findings} == {"red"}
    with pytest.raises(UserError, match="detected-size needs a detector"):
        run_audit(TRoVe, Leaning, Clips, **options)


def test_a_control_that_says_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="object_size, weather"):
        run_audit(TRoVe, Leaning, Sized, control="wether")
    with pytest.raises(UserError, match="1 different values, for 160 of 160"):
        run_audit(TRoVe, Leaning, SameWeather, control="weather")


class SameWeather(Clips):
    """It always rains."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        return replace(sample, annotations={**sample.annotations, "weather": "rain"})


class InGroups(Clips):
    """Clips of named groups."""

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), group=self.group_of(index))

    def group_of(self, index: int) -> str | None:
        raise NotImplementedError


class OneGroup(InGroups):
    """All clips are of one video."""

    def group_of(self, index: int) -> str | None:
        return "video"


class SomeGroups(InGroups):
    """Half of the clips name a group."""

    def group_of(self, index: int) -> str | None:
        return f"video-{index // 8}" if index < 80 else None


class AcrossLabels(InGroups):
    """Each group has a clip of each label."""

    def group_of(self, index: int) -> str | None:
        return f"video-{index // 4}"


def test_one_group_proves_nothing_and_says_so() -> None:
    with pytest.raises(UserError, match=r"too few samples for any finding.*of 1 group"):
        run_audit(TRoVe, Leaning, OneGroup)


@pytest.mark.parametrize(
    "data", [pytest.param(SomeGroups, marks=pytest.mark.long), AcrossLabels]
)
def test_groups_of_some_and_across_labels_are_taken_as_they_are(
    data: type[Clips],
) -> None:
    report = run_audit(TRoVe, Leaning, data)
    assert {report.names[score.feature] for score in report.findings} == {"red"}
    assert "groups" in by_check(report.evidence, "null").check


class AlwaysWrong(Leaning):
    """Knows every clip by its number, and answers something else."""

    fingerprint = "wrong"

    def answer(self, trial: Trial) -> Response:
        clip = int(np.asarray(trial.sample.frames[0].load())[0, 1, 0])
        wrong = (clip + 1) % 4
        return Response(
            logits=9.0 * (np.arange(4) == wrong), embedding=np.eye(4)[clip % 4]
        )


def test_all_wrong_leaves_nothing_to_lose() -> None:
    report = run_audit(TRoVe, AlwaysWrong, Clips)
    assert not report.findings
    assert "never right" in report.notes["errors"]
