"""Methods of association: a planted cue is found, once, and of no cue nothing is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LassoCV

import cuescope
from cuescope_sdk import PluginError, Report
from cuescope_sdk.association import AssociationMethod, Candidate
from cuescope_testing import Setup, run_audit

BOX = Image.Resampling.BOX
LABELS = ("cow", "dog", "hen")
ACCURACY = {"hurts": 0.4, "helps": 0.35, "none": 0.8}


class Probe(AssociationMethod):
    """The redness of quarters, by an L1 probe of each label."""

    title = "Probe: parts of the picture that go with errors"

    def find(
        self,
        seen: Sequence[Image.Image],
        wrong: np.ndarray,
        labels: np.ndarray,
        groups: np.ndarray,
        rng: np.random.Generator,
    ) -> Iterator[Candidate]:
        red = np.stack(
            [np.asarray(image.resize((2, 2), BOX))[..., 0] for image in seen]
        )
        values = (red / 255.0).reshape(len(red), 4)
        for number in range(4):
            weight = 0.0
            for label in np.unique(labels):
                known = (labels == label) & ~np.isnan(wrong)
                fit = LassoCV().fit(values[known], wrong[known])
                weight = max(weight, abs(fit.coef_[number]))
            if weight:
                row, column = divmod(number, 2)
                box = (column / 2, row / 2, (column + 1) / 2, (row + 1) / 2)
                own = values[:, number]
                yield f"red in quarter {number}", box, own > (own.min() + own.max()) / 2


def planted(kind: str, seed: int) -> tuple[Any, Any]:
    """A model in memory, and pictures of which three in ten have a red top right quarter."""
    rng = np.random.default_rng(seed)
    images, labels, answers = [], [], {}
    for number in range(450):
        pixels = rng.integers(60, 160, (16, 16, 3), dtype=np.uint8)
        label, shows = number % 3, rng.random() < 0.3
        if shows:
            pixels[:8, 8:] = (230, 30, 30)
        accuracy = ACCURACY[kind] if shows else 0.8
        # what the cue draws: it helps the label itself
        if kind == "helps" and label == 0 and shows:
            accuracy = 0.98
        said = label if rng.random() < accuracy else int(label == 0)
        images.append(Image.fromarray(pixels))
        labels.append(LABELS[label])
        answers[pixels.tobytes()] = said

    def model(batch: Sequence[Image.Image]) -> np.ndarray:
        rows = [answers[np.asarray(image).tobytes()] for image in batch]
        return 0.1 + 0.7 * np.eye(3)[rows]

    return model, (images, labels)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and working folder of their own."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def audit(kind: str, seed: int) -> Report:
    model, data = planted(kind, seed)
    return cuescope.audit(
        Probe, model=model, data=data, seed=seed, model_name="m", progress=False
    )


@pytest.mark.parametrize("kind", ["hurts", "helps"])
def test_a_planted_cue_is_the_only_finding_of_most_seeds(kind: str) -> None:
    hit = 0
    for seed in range(5):
        report = audit(kind, seed)
        found = {score.feature for score in report.findings}
        assert found <= {"red in quarter 1"}
        # not blind to a cue that helps one label and hurts others
        hit += {"dog", "hen"} <= {score.label for score in report.findings}
    assert hit >= 4
    [cue] = report.cues
    assert cue.impact.count > 20
    assert {each.feature for each in report.contrasts} == {"red in quarter 1"}
    [shown] = [each for each in report.features if each.key == cue.feature]
    assert shown.occurrences[0].region == (8, 0, 16, 8)


def test_of_no_cue_nothing_is_found() -> None:
    assert not [seed for seed in range(5) if audit("none", seed).findings]


class Embedded(AssociationMethod):
    """Which side of the first axis of the model's own vectors a sample is on."""

    title = "Embedded: the first axis"
    sees: Literal["images", "embeddings"] = "embeddings"

    def find(
        self,
        seen: np.ndarray,
        wrong: np.ndarray,
        labels: np.ndarray,
        groups: np.ndarray,
        rng: np.random.Generator,
    ) -> Iterator[Candidate]:
        assert seen.ndim == 2
        assert np.isnan(wrong).any()
        yield "the first axis", None, seen[:, 0] > np.median(seen[:, 0])


def test_embeddings_are_given_to_who_sees_them() -> None:
    assert Embedded.requires.outputs == {"logits", "embedding"}
    assert Probe.requires.outputs == {"logits"}
    report = run_audit(Embedded)
    assert [feature.key for feature in report.features] == ["the first axis"]
    assert report.cost.conditions == {"baseline": 150}
    assert Setup(Embedded).plan().model_calls == 150


@pytest.mark.parametrize(
    "shows", [np.zeros(3), np.full(150, 2.0), np.full(150, np.nan)]
)
def test_what_is_no_share_of_each_sample_is_refused(
    shows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Embedded, "find", lambda *given: [("odd", None, shows)])
    with pytest.raises(PluginError, match="find: 'odd': expected for each of 150"):
        run_audit(Embedded)
