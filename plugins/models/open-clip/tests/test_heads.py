"""Class-embedding tables in place of the text tower."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_open_clip import OpenCLIP
from cuescope_sdk import EmbedsText, Sample, Trial, UserError

Build = Callable[..., OpenCLIP]
BOTH = frozenset({"logits", "embedding"})


def test_logits_are_a_hundred_times_the_cosines(
    build: Build, table: Path, image_tower: Path, clip: Sample
) -> None:
    model = build(checkpoint=image_tower, class_embeddings=table)
    [answer] = model.respond([Trial(sample=clip, outputs=BOTH)])
    rows = np.load(table)["embeddings"]
    cosines = rows @ answer.embedding / np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(answer.logits, 100 * cosines, atol=1e-4)
    assert model.facts["text"] == "3 class embeddings (classes.npz)"


def test_choices_are_looked_up_by_name_in_any_order(
    build: Build, table: Path, clip: Sample
) -> None:
    model = build(class_embeddings=table)
    swapped = replace(clip, choices=("cow", "bird"))
    [first], [second] = (
        model.respond([Trial(sample=clip)]),
        model.respond([Trial(sample=swapped)]),
    )
    np.testing.assert_allclose(second.logits, first.logits[[2, 0]], rtol=1e-6)


def test_logit_scale_is_an_option(build: Build, table: Path, clip: Sample) -> None:
    [hundred] = build(class_embeddings=table).respond([Trial(sample=clip)])
    [ten] = build(class_embeddings=table, logit_scale=10).respond([Trial(sample=clip)])
    np.testing.assert_allclose(10 * ten.logits, hundred.logits, rtol=1e-5)


def test_a_choice_that_is_not_there_suggests_the_nearest(
    build: Build, table: Path, clip: Sample
) -> None:
    model = build(class_embeddings=table)
    misspelt = replace(clip, choices=("brid", "boat"), label="boat")
    with pytest.raises(
        UserError, match=r"'brid' in classes.npz.*Did you mean 'bird'\?"
    ):
        model.respond([Trial(sample=misspelt)])


def test_the_labels_of_the_data_are_checked_before_anything_runs(
    build: Build, table: Path
) -> None:
    data: Any = SimpleNamespace(labels=("bird", "yacht"))
    with pytest.raises(UserError, match=r"'yacht'.*1 of 2 choices"):
        build(class_embeddings=table, dataset=data)


def test_an_image_tower_alone_embeds_and_says_what_it_lacks(
    build: Build, image_tower: Path, clip: Sample
) -> None:
    model = build(checkpoint=image_tower)
    assert not isinstance(model, EmbedsText)
    [answer] = model.respond([Trial(sample=clip, outputs=frozenset({"embedding"}))])
    assert answer.embedding.shape == (16,)
    with pytest.raises(UserError, match=r"no text tower.*class_embeddings=FILE.npz"):
        model.respond([Trial(sample=clip)])
    data: Any = SimpleNamespace(labels=clip.choices)
    with pytest.raises(UserError, match="no text tower"):
        build(checkpoint=image_tower, dataset=data)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"names": np.array(["a"])}, "embeddings"),
        (
            {"names": np.array(["a"]), "embeddings": np.ones((2, 4))},
            r"\(1,\) and \(2, 4\)",
        ),
        (
            {"names": np.array(["a", "a"]), "embeddings": np.ones((2, 4))},
            "a name twice",
        ),
        (
            {"names": np.array(["a"]), "embeddings": np.zeros((1, 4))},
            "zero or not finite",
        ),
        (
            {"names": np.array(["a", None]), "embeddings": np.ones((2, 4))},
            "Object arrays",
        ),
    ],
)
def test_what_is_no_table_is_refused(
    build: Build, tmp_path: Path, arrays: dict[str, Any], said: str
) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)
    with pytest.raises(UserError, match=said):
        build(class_embeddings=path)


def test_other_files_are_refused(build: Build, tmp_path: Path) -> None:
    text, array = tmp_path / "text.npz", tmp_path / "array.npz"
    text.write_text("not a zip")
    with array.open("wb") as file:
        np.save(file, np.ones(3))
    for path in (text, array):
        with pytest.raises(UserError, match="no table of class embeddings"):
            build(class_embeddings=path)
    with pytest.raises(UserError, match="no file"):
        build(class_embeddings=tmp_path / "gone.npz")


def test_a_table_of_another_model_is_refused(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "wide.npz"
    np.savez(path, names=np.array(["a"]), embeddings=np.ones((1, 512)))
    with pytest.raises(
        UserError, match="expected embeddings of 16 dimensions, got 512"
    ):
        build(class_embeddings=path)
