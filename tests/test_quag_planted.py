"""A toy that was trained to use text, video or both is told so, by a method that only asks it."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope.application import Runner
from cuescope_quag.trials import CROSSMODAL, WITHOUT_QUESTION, WITHOUT_VIDEO
from cuescope_sdk import (
    Context,
    Options,
    Plugin,
    Report,
    Request,
    Sample,
    Score,
    Trial,
    digest,
)
from cuescope_sdk.fusion import AverageAttention
from cuescope_testing import PluginShelf

# `make faults` trains three of each kind
WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))
SEEDS = (0, 1, 2) if WHOLE else (0,)
TRAINED = {"text": 600, "video": 1000, "both": 2000}  # clips that the toy is trained on
VERDICTS = {"text": "text alone", "video": "video alone", "both": "fuses"}
SMALL = {"train": 150, "val": 30, "test": 20, "actions": 2}
LEARNING = {"learning_rate": 2e-3, "epochs": 30, "patience": 30, "enough": 0.98}


class WrappedOptions(Options):
    """Those of the data set inside."""

    inside: dict[str, Any] = {}
    split: str = "test"


class Wrapped(Plugin):
    """The samples of another data set, changed."""

    Options = WrappedOptions
    options: WrappedOptions
    labels: tuple[str, ...]
    facts: dict[str, str] = {}
    name: str

    def __init__(self, options: WrappedOptions, context: Context) -> None:
        super().__init__(options, context)
        data = context.build(
            "dataset", self.name, {**options.inside, "split": options.split}
        )
        self.labels = data.labels
        self.samples = self.changed([data[index] for index in range(len(data))])
        self.fingerprint = digest(type(self).__name__, data.fingerprint)

    def changed(self, samples: list[Sample]) -> list[Sample]:
        """What is shown in their place."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]

    def split(self, name: str) -> "Wrapped":
        """The same of another split."""
        return type(self)(self.options.model_copy(update={"split": name}), self.context)


class Shuffled(Wrapped):
    """Questions that neither text nor video answers: each has the answer of another one."""

    name = "moving-shapes:none"

    def changed(self, samples: list[Sample]) -> list[Sample]:
        """The same with labels in a random order."""
        order = self.context.rng("shuffled", self.options.split).permutation(
            len(samples)
        )
        labels = [samples[index].label for index in order]
        return [
            replace(sample, label=label)
            for sample, label in zip(samples, labels, strict=True)
        ]


class Beginnings(Wrapped):
    """CLAVI without "end" and "after", so that the toy learns the order of events in seconds.

    Of the whole of CLAVI it learns only what happens: when depends on frames and words together.
    """

    name = "clavi:moving-shapes"

    def changed(self, samples: list[Sample]) -> list[Sample]:
        """Without half of the questions about the order."""
        return [
            s for s in samples if s.annotations["subset"] == "control" or not is_late(s)
        ]


class OneKind(Wrapped):
    """A third of the questions need video and words together, the others words alone."""

    name = "moving-shapes:none"

    def __init__(self, options: WrappedOptions, context: Context) -> None:
        inside = {**options.inside, "questions": "text", "split": options.split}
        alone = context.build("dataset", self.name, inside)
        self.alone = [alone[index] for index in range(len(alone))]
        super().__init__(options, context)

    def changed(self, samples: list[Sample]) -> list[Sample]:
        """Every third as it is, and the question of the others from the same clips with others."""
        return [
            replace(
                own if index % 3 == 0 else other, annotations={"question_type": kind}
            )
            for index, (own, other) in enumerate(zip(samples, self.alone, strict=True))
            for kind in ("turn" if index % 3 == 0 else "words",)
        ]


def is_late(sample: Sample) -> bool:
    """Whether it asks about the end, or what came after."""
    return " after " in str(sample.question) or str(sample.question).endswith("end?")


SHELF = {
    ("dataset", "shuffled"): Shuffled,
    ("dataset", "beginnings"): Beginnings,
    ("dataset", "one-kind"): OneKind,
}
Audited = Callable[..., Report]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where trained toys are kept."""
    return tmp_path_factory.mktemp("planted")


def runner(folder: Path, **settings: Any) -> Runner:
    """Audits with what is installed and the data sets above."""
    context = Context(
        PluginShelf(SHELF, installed=True), folder / "cache", device="cpu"
    )
    return Runner(context, folder / "runs", **settings)


def planted(questions: str, seed: int, **settings: Any) -> Request:
    """One seed draws the clips, the first weights, and the audited samples."""
    sizes = {"train": TRAINED[questions], "val": 200, "test": 500, "seed": seed}
    return Request(
        method="quag",
        model="toy-fusion",
        data="moving-shapes:none",
        model_options={"enough": 0.98},
        data_options={"questions": questions, "split": "test", **sizes},
        **{"seed": seed, "limit": 400, "device": "cpu", **settings},
    )


@pytest.fixture(scope="module")
def audited(folder: Path) -> Audited:
    """`audited("both", seed)`: the report."""
    return cache(lambda questions, seed: runner(folder).run(planted(questions, seed)))


def lost(report: Report) -> dict[str, float]:
    """Points of accuracy by condition."""
    return {score.feature: float(score.value or 0) for score in report.headlines}


# ------------------------------------------------------------------------- the three truths


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "questions",
    [
        "text",
        pytest.param("video", marks=pytest.mark.long),
        pytest.param("both", marks=pytest.mark.long),
    ],
)
def test_what_answers_is_called_by_its_name(
    audited: Audited, questions: str, seed: int
) -> None:
    report = audited(questions, seed)
    assert report.notes["verdict"] == VERDICTS[questions]
    points = lost(report)
    needed = {
        WITHOUT_VIDEO: questions != "text",
        WITHOUT_QUESTION: questions != "video",
    }
    for condition, is_needed in needed.items():
        assert points[condition] >= 35 if is_needed else abs(points[condition]) <= 5, (
            points
        )
    # there the answer token, which is text, must be told of the video
    if questions != "video":
        assert (
            points[CROSSMODAL] >= 20
            if questions == "both"
            else abs(points[CROSSMODAL]) <= 5
        )


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_fusing_by_means_is_called_by_its_name(folder: Path, seed: int) -> None:
    """Every token takes the mean of all: no averaged quadrant changes anything."""
    means = {"mixing": "means", "layers": 3, "learning_rate": 2e-3, "patience": 40}
    request = planted("both", seed)
    request = request.model_copy(
        update={
            "model_options": {**means, "enough": 0.9},
            "data_options": {**request.data_options, "train": 3000},
            "method_options": {"captures": 0},
        }
    )
    report = runner(folder).run(request)
    assert report.notes["verdict"] == "fuses by means"
    sentence = str(report.sentence(report.findings[0]))
    assert "joins them by their means at most" in sentence
    assert "what a model takes from a mean is not" in sentence
    points = lost(report)
    assert min(points[WITHOUT_VIDEO], points[WITHOUT_QUESTION]) >= 10
    assert abs(points[CROSSMODAL]) < 0.1


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_one_kind_of_question_is_not_diluted(folder: Path, seed: int) -> None:
    inside = {"questions": "both", "train": 4000, "val": 300, "test": 800, "seed": seed}
    request = planted("both", seed).model_copy(
        update={"data": "one-kind", "data_options": {"inside": inside}, "limit": 600}
    )
    report = runner(folder).run(request)
    assert report.notes["verdict"] == "fuses"
    sentence = str(report.sentence(report.findings[0]))
    assert "on turn questions (" in sentence
    assert (
        "of 600), the only ones in which the video surely matters, the model fuses"
        in sentence
    )


@pytest.mark.parametrize(
    "questions",
    [
        "text",
        pytest.param("video", marks=pytest.mark.long),
        pytest.param("both", marks=pytest.mark.long),
    ],
)
def test_the_verdict_is_a_finding_tied_to_its_figures(
    audited: Audited, questions: str
) -> None:
    report = audited(questions, 0)
    first = report.findings[0]
    sentence = str(report.sentence(first))
    assert first.feature == "verdict"
    assert first.q_value is not None
    assert first.q_value <= 0.025
    points = lost(report)
    words = {"text": "text alone", "video": "video alone", "both": "fuses them"}
    assert words[questions] in sentence
    for condition in (WITHOUT_VIDEO, WITHOUT_QUESTION, CROSSMODAL):
        assert f"{abs(points[condition]):.1f} points" in sentence


@pytest.mark.long
def test_the_theory_holds_on_what_was_trained(audited: Audited) -> None:
    checks = {check.check: check for check in audited("both", 0).evidence}
    for words in ("theorem 2.1", "lemma 2.2"):
        [check] = [check for name, check in checks.items() if words in name]
        assert check.verdict == "supported", check.detail


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_labels_that_nothing_tells_are_answered_at_chance(
    folder: Path, seed: int
) -> None:
    inside = {"questions": "both", "train": 300, "val": 100, "test": 400}
    request = planted("both", seed).model_copy(
        update={
            "data": "shuffled",
            "data_options": {"inside": inside},
            "model_options": {"epochs": 4},
        }
    )
    report = runner(folder).run(request)
    assert "at chance" in report.notes["verdict"]
    assert not report.findings


# ---------------------------------------------------------------------------------- CLAVI


def consistent(
    folder: Path, data: str, **model_options: Any
) -> tuple[Report, dict[str, float]]:
    """A report, with the consistent accuracies (percent) of the unchanged model."""
    inside = {"frames": 4, "source_options": SMALL}
    request = Request(
        method="quag",
        model="toy-fusion",
        data=data,
        device="cpu",
        limit=500 if data != "beginnings" else None,
        data_options={"inside": inside}
        if data == "beginnings"
        else {**inside, "split": "test"},
        model_options={**LEARNING, **model_options},
        method_options={
            "quag_attention": [],
            "captures": 0,
            "pairs": 0,
        },
    )
    report = runner(folder).run(request)
    [table] = [
        table
        for table in report.tables
        if table.title.startswith("Consistent accuracy")
    ]
    [row] = [row for row in table.rows if row["condition"] == "baseline"]
    cells = {name: cell for name, cell in row.items() if name.startswith("CAcc_")}
    return report, {name: float(str(cell).split()[0]) for name, cell in cells.items()}


@pytest.mark.long
def test_a_bag_of_frames_is_seen_through_by_complements(folder: Path) -> None:
    report, accuracies = consistent(
        folder, "clavi:moving-shapes", positions=False, epochs=8
    )
    assert min(accuracies["CAcc_V control"], accuracies["CAcc_T control"]) >= 90
    assert max(accuracies["CAcc_V complement"], accuracies["CAcc_T complement"]) <= 10
    # --limit keeps complements together, of 13 videos with 38 questions each
    assert "complements left out" not in report.notes
    [by_question] = [
        t for t in report.tables if t.title.startswith("Accuracy by video")
    ]
    cells = {row["condition"]: row for row in by_question.rows}
    assert cells["V BE Q"]["n"] == cells["V' BE Q'"]["n"] == 2 * 13
    assert accuracies["CAcc_V control (Q')"] >= 90  # of BA-NC alone, as table 3 counts


@pytest.mark.long
def test_who_sees_the_order_answers_complements_too(folder: Path) -> None:
    _, ordered = consistent(folder, "beginnings", positions=True)
    _, bag = consistent(folder, "beginnings", positions=False, epochs=6)
    assert min(ordered["CAcc_V control"], bag["CAcc_V control"]) >= 90
    assert ordered["CAcc_V complement"] >= 80
    assert bag["CAcc_V complement"] <= 20


# ------------------------------------------------------------------- the same, whenever asked


@pytest.mark.long
def test_same_seed_same_report_cold_and_warm(folder: Path, tmp_path: Path) -> None:
    request = planted("text", 0)
    cold = runner(tmp_path).run(request)  # trains again
    warm = runner(tmp_path).run(request)
    assert cold.cost.model_calls > 0
    assert warm.cost.model_calls == 0
    assert (
        cold.hash
        == warm.hash
        == runner(folder, cache_responses=False).run(request).hash
    )
    assert runner(folder).run(planted("text", 1)).hash != cold.hash


@pytest.mark.long
def test_the_batch_size_decides_nothing(folder: Path, audited: Audited) -> None:
    """Down to single samples: see the test of logits."""
    expected = audited("both", 0)
    report = runner(folder, cache_responses=False).run(planted("both", 0, batch_size=7))
    assert report.notes["verdict"] == expected.notes["verdict"]
    assert [s.feature for s in report.headlines] == [
        s.feature for s in expected.headlines
    ]
    for score, other in zip(report.scores, expected.scores, strict=True):
        assert figures(score) == pytest.approx(figures(other), rel=0, abs=1e-5)


def figures(score: Score) -> list[float]:
    """All that is computed; -1 for what is missing."""
    values = [score.value, score.low, score.high, score.p_value, score.q_value]
    return [-1.0 if value is None else value for value in values]


def test_logits_are_those_of_each_sample_alone(folder: Path) -> None:
    edit = AverageAttention(quadrants=frozenset(("VT", "TV")))
    rows = []
    for size in (1, 7, 64):
        session = runner(folder, cache_responses=False).session(
            planted("text", 0, batch_size=size)
        )
        samples = session.audit.samples[:20]
        trials = [Trial(sample=s, edit=e) for e in (None, edit) for s in samples]
        answers = [outcome.response.logits for outcome in session.audit.respond(trials)]
        rows.append(np.array(answers, dtype=np.float32))
    np.testing.assert_allclose(rows[1], rows[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(rows[2], rows[0], rtol=0, atol=1e-5)
