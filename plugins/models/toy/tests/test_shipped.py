"""The checkpoints in the package: small, and they lean on backgrounds."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cuescope_sdk import Context, Sample, Trial
from cuescope_testing import PluginShelf
from cuescope_toy import ship
from cuescope_toy.clip import SHIPPED, ToyCLIP, training


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """To train here is an error."""

    def refuse(*_: object) -> None:
        raise AssertionError(
            "the shipped weights are not for the default data and options"
        )

    shelf = PluginShelf({}, installed=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train", refuse)
        yield Context(shelf, Path(tmp_path_factory.mktemp("cache")), device="cpu")


@pytest.fixture(scope="module")
def shipped(context: Context) -> ToyCLIP:
    """As the demo builds it."""
    made: ToyCLIP = context.for_dataset(context.build("dataset", "scenes")).build(
        "model", "toy-clip"
    )
    return made


def predicted(model: ToyCLIP, **options: object) -> tuple[list[Sample], np.ndarray]:
    data = Context().build("dataset", "scenes", {"val": 96, **options})
    samples = [data[index] for index in range(len(data))]
    answers = model.respond([Trial(sample=sample) for sample in samples])
    return samples, np.array(
        [data.labels[answer.prediction or 0] for answer in answers]
    )


def test_small_files_are_shipped() -> None:
    sizes = [path.stat().st_size for path in SHIPPED.glob("*.safetensors")]
    clips = [name for name in ship.SHIPS if name.startswith("toy-clip")]
    assert len(sizes) == len(clips) == 5
    assert max(sizes) <= 1_500_000
    data = [ship.SHIPS[name].data for name in clips[:2]]
    assert data == ["scenes:0.98", "scenes:0.85"]


def test_it_errs_towards_the_label_whose_background_is_shown(shipped: ToyCLIP) -> None:
    samples, said = predicted(shipped)
    wrong = said != np.array([sample.label for sample in samples])
    shown = np.array(
        [
            sample.annotations["cues"][f"background of {label}"][0]
            for sample, label in zip(samples, said, strict=True)
        ]
    )
    assert wrong.mean() > 0.3
    assert shown[wrong].mean() >= 0.9


def test_where_the_background_agrees_it_is_right(shipped: ToyCLIP) -> None:
    samples, said = predicted(shipped, audit_dial=1.0)
    assert (said == np.array([sample.label for sample in samples])).mean() >= 0.97
