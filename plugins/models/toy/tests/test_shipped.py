"""The checkpoint in the package: small, for the leaning scenes, and it leans."""

from pathlib import Path

import numpy as np
import pytest

from cuescope_sdk import Context, Sample, Trial
from cuescope_toy import ship
from cuescope_toy.clip import ToyCLIP, training
from cuescope_toy.clip.training import SHIPPED


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> ToyCLIP:
    """As the demo builds it; to train here is an error."""

    def refuse(*_: object) -> None:
        raise AssertionError("the shipped weights are not for the default data and options")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train", refuse)
        context = Context(cache=Path(tmp_path_factory.mktemp("cache")), device="cpu")
        made: ToyCLIP = context.auditing(context.build("dataset", "scenes")).build(
            "model", "toy-clip"
        )
    return made


def predicted(model: ToyCLIP, **options: object) -> tuple[list[Sample], np.ndarray]:
    data = Context().build("dataset", "scenes", {"val": 160, **options})
    samples = [data[index] for index in range(len(data))]
    answers = model.respond([Trial(sample=sample) for sample in samples])
    return samples, np.array([data.labels[answer.prediction or 0] for answer in answers])


def test_one_small_file_is_shipped() -> None:
    (path,) = SHIPPED.glob("*.safetensors")
    assert path.stat().st_size <= 2_000_000
    assert ship.CLIP.data == "scenes:0.98"


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
