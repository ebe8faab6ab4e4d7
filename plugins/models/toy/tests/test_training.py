"""What is trained on, what is cached, and what is refused in words."""

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Context, Options, Sample, Trial, UserError
from cuescope_testing import PluginShelf
from cuescope_toy import Toy, ToyOptions, training
from cuescope_toy.loading import load_checkpoint, weights_digest
from cuescope_toy.training import frame_positions, read_sequences


class Fixed:
    """Given samples as a data set."""

    Options: ClassVar[type[Options]] = Options
    labels: tuple[str, ...] = ("going left", "going right")
    fingerprint = "fixed"
    facts: Mapping[str, str] = {}

    def __init__(self, *samples: Sample) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


class WithSplits(Fixed):
    """The same; each of its splits is itself."""

    def split(self, name: str) -> "WithSplits":
        return self


def weights_of(path: Path) -> str:
    """Digest of the weights in a file: its head may have another order each time."""
    checkpoint = load_checkpoint(path)
    assert checkpoint is not None
    return weights_digest(checkpoint[0])


def test_sequences_hold_each_distinct_frame_once(dots: Callable[..., Any]) -> None:
    one, other = dots()[0], dots()[1]
    still = one.static(0)
    sequences = read_sequences(WithSplits(one, still, other))
    assert [frame.key for frame in sequences.frames] == [
        frame.key for frame in (*one.frames, *other.frames)
    ]
    assert sequences.index.tolist() == [[0, 1], [0, 0], [2, 3]]
    assert sequences.label.tolist() == [0, 0, 1]


def test_positions_that_are_looked_at() -> None:
    assert frame_positions("all", 3) == (0, 1, 2)
    assert [frame_positions("first", n) for n in (2, 3, 10)] == [(0,)] * 3
    assert [frame_positions("middle", n) for n in (1, 2, 3, 10)] == [
        (0,),
        (1,),
        (1,),
        (5,),
    ]


def test_equal_trainings_are_cached(
    toy: Callable[..., Toy],
    dots: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fitted = []

    def counting(*arguments: Any) -> Any:
        fitted.append(arguments)
        return original(*arguments)

    original = training.fit
    monkeypatch.setattr(training, "fit", counting)
    small = {"epochs": 2, "folder": tmp_path}
    first = toy(dots(samples=20), **small)
    again = toy(dots(samples=20), **small)
    assert len(fitted) == 1
    assert first.fingerprint == again.fingerprint
    assert first.facts == again.facts
    by_spec = toy(None, data="dots", data_options={"samples": 20}, **small)
    assert len(fitted) == 1
    assert by_spec.fingerprint == first.fingerprint
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"frames": "first"},
        {"learning_rate": 0.5},
    ]
    found = {
        toy(dots(samples=20), **{**small, **other}).fingerprint for other in others
    }
    found.add(toy(dots(samples=22), **small).fingerprint)
    assert len(fitted) == 5
    assert len(found | {first.fingerprint}) == 5


def test_the_seed_option_stands_for_the_audits(
    dots: Callable[..., Any], tmp_path: Path
) -> None:
    def built(audits: int, **options: Any) -> str:
        context = Context(
            PluginShelf({}), tmp_path, seed=audits, dataset=dots(samples=20)
        )
        return Toy(ToyOptions(epochs=1, **options), context).fingerprint

    assert built(0) != built(1) == built(0, seed=1) == built(7, seed=1)


def test_the_engines_batch_size_trains_the_same_weights(
    dots: Callable[..., Any], tmp_path: Path
) -> None:
    def trained(size: int) -> str:
        folder = tmp_path / str(size)
        context = Context(
            PluginShelf({}), folder, batch_size=size, dataset=dots(samples=60)
        )
        model = Toy(ToyOptions(epochs=3), context)
        model.open_weights()
        return weights_of(model.weights_file.path)

    assert trained(1) == trained(7) == trained(64)


def test_a_corrupt_cache_is_trained_again(
    toy: Callable[..., Toy], dots: Callable[..., Any], tmp_path: Path
) -> None:
    toy(dots(samples=20), epochs=2, folder=tmp_path)
    (path,) = (tmp_path / "toy").glob("*.safetensors")
    before = weights_of(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(UserWarning, match="corrupt"):
        toy(dots(samples=20), epochs=2, folder=tmp_path)
    assert weights_of(path) == before
    toy(dots(samples=20), epochs=2, folder=tmp_path)  # without a warning


def test_refuses_data_that_cannot_be_trained_on(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    sample = dots()[0]

    class Unlabelled(WithSplits):
        labels = ()

    faults: list[tuple[Any, str]] = [
        (None, r"nothing to train on. Name a data set: -O model.data=SPEC"),
        (
            Fixed(sample),
            r"has no splits to train on: expected .* Name a data set that has them",
        ),
        (Unlabelled(sample), r"has no labels"),
        (WithSplits(), r"wants to train on .* the split 'train' is empty"),
        (
            WithSplits(sample, sample.with_frames(sample.frames * 2, "long")),
            r"another length than 'val-0': expected 2 frames in every sequence, got 4",
        ),
        (
            WithSplits(sample, replace(sample, label=None)),
            r"cannot be trained on: expected a label of the data set, got no label",
        ),
    ]
    for data, message in faults:
        with pytest.raises(UserError, match=message):
            toy(data)


def test_progress_ends_full(
    dots: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bars: dict[str, list[int]] = {}

    @contextmanager
    def progress(description: str, total: int) -> Any:
        bars[description] = [total, 0]

        def advance(step: int) -> None:
            bars[description][1] += step

        yield advance

    context = Context(
        PluginShelf({("model", "toy"): Toy}),
        tmp_path,
        dataset=dots(samples=20),
        progress=progress,
    )
    # it stops early, and the bar is filled all the same
    monkeypatch.setattr(training, "PATIENCE", 1)
    model = context.build("model", "toy", {"epochs": 9, "learning_rate": 0.3})
    assert not bars
    model.open_weights()
    assert set(bars) == {
        "encoding train frames",
        "encoding val frames",
        "training the toy model",
    }
    assert bars["training the toy model"] == [9, 9]
    assert all(total == done > 0 for total, done in bars.values())


def test_facts_are_what_was_measured(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    data = dots()
    model = toy(data)
    samples = [data[index] for index in range(len(data))]
    responses = model.respond([Trial(sample=sample) for sample in samples])
    right = [
        sample.choices[response.prediction or 0] == sample.label
        for sample, response in zip(samples, responses, strict=True)
    ]
    assert model.facts["validation accuracy"] == f"{np.mean(right):.3f}"
