"""A contrastive model whose tower is open at once, and one that opens it late."""

import numpy as np
import pytest
import torch

from cuescope_sdk import Context, LazyWeights, Sample, Trial
from cuescope_sdk.models import ZeroShotModel, ZeroShotOptions
from cuescope_sdk.models._zero_shot.texts import TextTower
from cuescope_sdk.torch._image_tower import ImageTower, Pooling
from cuescope_testing import FakeDataset


def tower() -> ImageTower:
    """The mean colour of an image."""
    return ImageTower(
        name="colours",
        prepare=lambda frames: {
            "image": torch.from_numpy(np.array(frames[0], np.float32))[None]
        },
        canvas=np.asarray,
        encode=lambda inputs: inputs["image"].mean(dim=(1, 2)),
        grid=lambda inputs: (0, 0),
        blocks=(),
        pooling=Pooling("token"),
        device=torch.device("cpu"),
    )


def text_tower() -> TextTower:
    """The position of a text's first letter, three times over."""
    return TextTower(
        lambda texts: np.array([[ord(t[0]), 1.0, 2.0] for t in texts]), 3, 10.0
    )


class Open(ZeroShotModel):
    """Has its tower as it is built."""

    owner = "open"
    fingerprint = "open"

    def __init__(self, options: ZeroShotOptions, context: Context) -> None:
        super().__init__(options, context)
        head = self.use(tower(), text_tower(), 3)
        self.facts = head.facts


class Late(ZeroShotModel):
    """Opens its tower when it is asked."""

    owner = "late"
    fingerprint = "late"

    def __init__(self, options: ZeroShotOptions, context: Context) -> None:
        super().__init__(options, context)
        self.opened = 0
        self.facts = self.choose_head("late", "cpu", text_tower(), 3).facts

    def open_image_tower(self) -> ImageTower:
        self.opened += 1
        return tower()


def trial() -> Trial:
    dataset = FakeDataset(FakeDataset.Options(), Context())
    sample: Sample = dataset[0]
    return Trial(sample=sample, outputs=frozenset({"logits", "embedding"}))


def test_open_and_late_answer_alike() -> None:
    models = [kind(ZeroShotOptions(), Context()) for kind in (Open, Late)]
    [first], [second] = (model.respond([trial()]) for model in models)
    assert np.array_equal(first.logits, second.logits)
    assert np.array_equal(first.embedding, second.embedding)
    assert models[0].facts == models[1].facts
    assert [model.device for model in models] == ["cpu", "cpu"]


def test_a_late_tower_is_opened_once_and_not_by_building() -> None:
    model = Late(ZeroShotOptions(), Context())
    assert isinstance(model, LazyWeights)
    assert model.opened == 0
    model.open_weights()
    model.respond([trial()])
    model.canvas(trial().sample.frames)
    assert model.opened == 1


def test_a_subclass_without_a_tower_is_told_what_it_lacks() -> None:
    class Towerless(Late):
        open_image_tower = ZeroShotModel.open_image_tower

    with pytest.raises(
        NotImplementedError, match=r"Towerless: open_image_tower\(\), or use\(\)"
    ):
        Towerless(ZeroShotOptions(), Context()).open_weights()
