"""Fine-tuning: a planted answer is learned, and the file is read as the authors' is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from videoqa_samples import PLUGINS, asked, options

from cuescope_sdk import Context, Options, Plugin, Sample, Trial, UserError, digest
from cuescope_testing import PluginShelf
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.finetuning import RECIPES, Finetune

EPOCHS = {"all-in-one": 40}  # the small one is slow to start
QUESTIONS = {"is the dog red ?": "yes", "is the cat red ?": "no"}


class ColourOptions(Options):
    """Which part."""

    split: str = "val"


class Colours(Plugin):
    """The dog is red and the cat is not, whatever is shown."""

    Options = ColourOptions
    labels = ("yes", "no")
    facts: dict[str, str] = {}

    def __init__(self, options: ColourOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("colours", options.split)

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Sample:
        index = range(8)[index]
        question, label = list(QUESTIONS.items())[index % 2]
        sample = asked(("one", "two")[index // 2 % 2], question, ("yes", "no"), count=3)
        return Sample(
            key=f"{self.options.split}-{index}",
            frames=sample.frames,
            question=question,
            choices=sample.choices,
            label=label,
        )

    def split(self, name: str) -> "Colours":
        return type(self)(ColourOptions(split=name), self.context)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if number else ())
        for number, name in enumerate(RECIPES)
    ],
)
def test_a_planted_answer_is_learned_and_read_again(
    name: str, place: Path, build: Callable[..., Any], tmp_path: Path
) -> None:
    """From a published layout to a file in the same layout, which an audit opens."""
    shelf = PluginShelf(
        {("dataset", "colours"): Colours, ("model", name): PLUGINS[name]}
    )
    given = options(name, place)
    checkpoint = given.pop("checkpoint")
    bench = Finetune(
        Finetune.Options(
            model=name,
            checkpoint=checkpoint,
            out=tmp_path / "tuned.pth",
            model_options={
                key: str(v) if isinstance(v, Path) else v for key, v in given.items()
            },
            data="colours",
            epochs=EPOCHS.get(name, 12),
            learning_rate=2e-3,
            batch_size=4,
        ),
        Context(shelf, tmp_path / "cache", device="cpu"),
    )
    [table] = bench.run()
    assert len(table.rows) == EPOCHS.get(name, 12)
    assert float(table.rows[-1]["loss"]) < 0.5 * float(table.rows[0]["loss"])
    assert max(float(row["balanced accuracy"]) for row in table.rows) == 100
    before, after = (
        read_checkpoint(name, file) for file in (checkpoint, tmp_path / "tuned.pth")
    )
    assert set(before.tensors) == set(after.tensors)
    model = build(name, checkpoint=tmp_path / "tuned.pth")
    data = Colours(ColourOptions(), Context())
    trials = [Trial(sample=data[index]) for index in range(len(data))]
    answers = [np.argmax(response.logits) for response in model.respond(trials)]
    assert answers == [0, 1] * 4


def test_a_data_set_without_splits_is_refused(tmp_path: Path) -> None:
    class Whole(Colours):
        split = None  # type: ignore[assignment]

    given = {
        "model": "just-ask",
        "checkpoint": "x.pth",
        "out": tmp_path / "o.pth",
        "data": "whole",
    }
    shelf = PluginShelf({("dataset", "whole"): Whole})
    bench = Finetune(Finetune.Options(**given), Context(shelf, tmp_path, device="cpu"))
    with pytest.raises(UserError, match="whole has no splits"):
        list(bench.run())
