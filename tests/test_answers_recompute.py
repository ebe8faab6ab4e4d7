"""The rows of `answers.parquet` alone give the figure of each method's report again."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file

from cuescope.runner import Runner
from cuescope_cci import CCI
from cuescope_core.affected import root
from cuescope_core.answers import read_answers
from cuescope_core.context import Context
from cuescope_core.request import Request
from cuescope_quag import QUAG
from cuescope_saliency import Saliency
from cuescope_sdk import Capabilities, Plugin, Report, Response, Sample, Score, Trial
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_spurlens import SpurLens
from cuescope_step_grounding import StepGrounding
from cuescope_testing import (
    FAKE_TOOLS,
    FakeDataset,
    FakeDetector,
    FakeModel,
    PluginShelf,
)
from cuescope_trove import TRoVe

Row = dict[str, Any]


class Asking(FakeDataset):
    """The fake data set with a question."""

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), question="Where is the patch?")


class Averaged(FakeModel):
    """Answers every third sample the other way round once anything is averaged."""

    capabilities: ClassVar[Capabilities] = FakeModel.capabilities.model_copy(
        update={
            "edits": frozenset({"average-attention", "average-tokens"}),
            "exposes": frozenset(),
        }
    )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        answers = super().respond([replace(trial, edit=None) for trial in trials])
        return [
            replace(answer, logits=-answer.logits)
            if trial.edit and int(trial.sample.key.rpartition("-")[2]) % 3 == 0
            else answer
            for trial, answer in zip(trials, answers, strict=True)
        ]


class Asked(FakeModel):
    """Says yes to the class that the fake would choose."""

    def answer(self, trial: Trial) -> Response:
        words = (trial.sample.question or "").split()
        labels = FakeDataset.all_labels
        chosen = replace(trial, sample=replace(trial.sample, choices=labels))
        asked = next(label for label in labels if label in words)
        return Response(text="Yes." if super().answer(chosen).text == asked else "No.")


class OfEveryThird(Plugin):
    """Supports the claims of every third sample."""

    fingerprint = "every third"

    def judge(
        self, cases: Sequence[tuple[Sample, Sequence[Claim]]]
    ) -> list[list[Judgement]]:
        return [
            [Judgement.of(int(sample.key.rpartition("-")[2]) % 3 == 0) for _ in claims]
            for sample, claims in cases
        ]


class Telling(FakeModel):
    """The fake model, which writes a trace."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(text=self.told(trial)) for trial in trials]

    def told(self, trial: Trial) -> str:
        answer = "top" if self.see(trial)[0] > 0.5 else "bottom"
        return f"1. At frame 1, there is a red cup.\nAnswer: {answer}"


@dataclass(frozen=True)
class Case:
    """A method on fakes, the score that is computed again, and how."""

    method: type[Any]
    metric: str
    figure: Callable[[Score, Report, Sequence[Row]], float]
    model: type[Any] = FakeModel
    data: type[Any] = FakeDataset
    options: Mapping[str, Any] = field(default_factory=dict)
    data_options: Mapping[str, Any] = field(default_factory=dict)


def plain(rows: Sequence[Row], condition: str = "baseline") -> list[Row]:
    return [row for row in rows if row["condition"] == condition]


def seen(report: Report, score: Score, rows: Sequence[Row]) -> set[str]:
    """The rows' samples in which the score's feature occurs."""
    [feature] = [each for each in report.features if each.key == score.feature]
    known = {occurrence.sample for occurrence in feature.occurrences}
    return {row["sample"] for row in rows if root(row["sample"], known)}


def accuracy_lost_with_the_cue(
    score: Score, report: Report, rows: Sequence[Row]
) -> float:
    """TRoVe, eq. 1."""
    of_label = [row for row in plain(rows) if row["label"] == score.label]
    cued = seen(report, score, of_label)
    with_it = [row["correct"] for row in of_label if row["sample"] in cued]
    without = [row["correct"] for row in of_label if row["sample"] not in cued]
    return float(np.mean(without) - np.mean(with_it))


def answers_of_the_background(
    score: Score, report: Report, rows: Sequence[Row]
) -> float:
    """CCI's pull of all backgrounds."""
    said = {(row["sample"], row["condition"]): row["prediction"] for row in rows}
    names = [row["sample"] for row in plain(rows)]
    changed = [
        said[name, "baseline"] != said[name, "background-hidden"] for name in names
    ]
    return float(np.mean(changed))


def points_lost(score: Score, report: Report, rows: Sequence[Row]) -> float:
    """QUAG, table 1."""
    before = [row["correct"] for row in plain(rows)]
    after = [row["correct"] for row in rows if row["feature"] == score.feature]
    return 100 * float(np.mean(before) - np.mean(after))


def lean_of_maps(score: Score, report: Report, rows: Sequence[Row]) -> float:
    """Saliency's lean on the background, which is measured of each image's map."""
    leans = [row for row in rows if row["condition"] == "background_lean"]
    return float(
        np.mean([row["figure"] for row in leans if row["feature"] == score.feature])
    )


def gap_of_the_cue(score: Score, report: Report, rows: Sequence[Row]) -> float:
    """SpurLens, eq. 6: the share of yes with the cue minus that without."""
    own = [row for row in rows if row["feature"] == score.feature]
    with_cue, without = (
        np.mean(
            [row["text"].startswith("Yes") for row in plain(own, f"{side} the cue")]
        )
        for side in ("with", "without")
    )
    return float(with_cue - without)


def supported_claims(score: Score, report: Report, rows: Sequence[Row]) -> float:
    """Step grounding's SGR, which is measured of each trace of a sample as it is."""
    of_traces = [
        row for row in plain(rows, score.metric) if row["feature"] == score.feature
    ]
    return float(np.mean([row["figure"] for row in of_traces]))


def right_traces(score: Score, report: Report, rows: Sequence[Row]) -> float:
    """Step grounding's accuracy: the rows have what was told, the data what is right."""
    data = FakeDataset(
        FakeDataset.Options(**CASES["step-grounding"].data_options), Context()
    )
    labels = {data[index].key: data[index].label for index in range(len(data))}
    return float(
        np.mean(
            [
                row["text"].endswith(
                    f"Answer: {labels[str(root(row['sample'], labels))]}"
                )
                for row in plain(rows)
            ]
        )
    )


CASES = {
    # by default the figure is that of a model of effects; the paper counts (eq. 1)
    "trove": Case(
        TRoVe,
        "error_contribution",
        accuracy_lost_with_the_cue,
        options={"paper": True},
    ),
    "cci": Case(
        CCI,
        "pull",
        answers_of_the_background,
        data_options={"frames": 1},
    ),
    "quag": Case(
        QUAG, "points_lost", points_lost, Averaged, Asking, data_options={"samples": 30}
    ),
    "spurlens": Case(
        SpurLens, "spurious_gap", gap_of_the_cue, Asked, options={"k": 10}
    ),
    "saliency": Case(
        Saliency,
        "background_lean",
        lean_of_maps,
        data_options={"frames": 1, "samples": 60},
    ),
    "step-grounding/SGR": Case(
        StepGrounding,
        "step_grounding_rate",
        supported_claims,
        Telling,
        options={
            "shown": 1,
            "perturbations": ("irrelevant",),
        },
        data_options={"samples": 30},
    ),
    "step-grounding": Case(
        StepGrounding,
        "accuracy",
        right_traces,
        Telling,
        options={"shown": 1},
        data_options={"samples": 70},
    ),
}


TOOLS = {
    "spurlens": {"detector": "finder", "proposer": "namer"},
    "step-grounding/SGR": {"claim-verifier": "thirds"},
}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A stock open_clip model with few and random weights."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    vision = {
        "image_size": 32,
        "layers": 2,
        "width": 32,
        "head_width": 16,
        "patch_size": 8,
    }
    text = {
        "context_length": 16,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    }
    config = {"embed_dim": 16, "vision_cfg": vision, "text_cfg": text}
    content = {"model_cfg": config, "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        weights = open_clip.create_model(f"local-dir:{folder}").state_dict()
    save_file(weights, folder / "open_clip_model.safetensors")
    return f"open-clip:{folder}"


QUICK = ("quag", "step-grounding/SGR", "step-grounding")  # of which `make test` asks


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.long)
        for name in CASES
    ],
)
def test_the_rows_give_the_figure_again(name: str, tmp_path: Path, clip: str) -> None:
    case, method = CASES[name], name.partition("/")[0]
    shelf = {
        ("method", method): case.method,
        ("model", "fake"): case.model,
        ("dataset", "fake"): case.data,
        ("tool", "finder"): FakeDetector,
        ("tool", "namer"): FAKE_TOOLS["proposer"],
        ("tool", "thirds"): OfEveryThird,
    }
    context = Context(registry=PluginShelf(shelf, installed=True), cache=tmp_path)
    runner = Runner(context, tmp_path / "runs", cache_responses=False)
    request = Request(
        method=method,
        model=clip if name == "saliency" else "fake",
        device="cpu",
        data="fake",
        method_options=case.options,
        data_options=case.data_options,
        tools=TOOLS.get(name, {}),
    )
    report = runner.run(request)
    runner.cache.close()
    rows = read_answers(runner.folder(request).path).to_pylist()
    scores = [
        s for s in report.scores if s.metric == case.metric and s.value is not None
    ]
    if name == "cci":
        # of all backgrounds; those of a kind are weighted by true classes
        scores = [score for score in scores if score.feature == "background"]
    if name == "step-grounding/SGR":
        scores = [score for score in scores if score.feature == "reasoning"]
    if name == "spurlens":  # of the strongest cue of each class, the headlines
        scores = [score for score in scores if score.q_value is not None]
    assert any(abs(score.value or 0) > 0.01 for score in scores)
    for score in scores:
        assert case.figure(score, report, rows) == pytest.approx(
            score.value, abs=1e-6
        ), score
