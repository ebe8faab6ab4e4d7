"""Files that do not fit are told in one line, and what is a stranger's is never run."""

import json
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import videoqa_published as published
from safetensors.torch import save_file
from videoqa_samples import PLUGINS, SAMPLES, asked, video

from cuescope_sdk import Trial, UserError
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.features import possible_ids, shown_video
from cuescope_videoqa.loading import read_answers

NAMES = tuple(PLUGINS)
FILES = {
    "just-ask": "just-ask.pth",
    "frozen-bilm": "frozen-bilm.pth",
    "singularity": "singularity.pth",
    "all-in-one": "all-in-one.ckpt",
}


def one_line(error: pytest.ExceptionInfo[UserError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


@pytest.mark.parametrize("name", NAMES)
def test_faults_of_a_checkpoint(
    name: str, place: Path, build: Callable[..., Any]
) -> None:
    """Not there, no weights, another model's, a tensor too few, too many, of another size."""
    other = FILES[NAMES[NAMES.index(name) - 1]]
    tensors = read_checkpoint(name, place / FILES[name]).tensors
    last = next(n for n in reversed(tensors) if "layer" in n or "blocks" in n)
    faults: dict[str, Any] = {
        "missing": {n: t for n, t in tensors.items() if n != last},
        "that fit nowhere": {**tensors, "stranger.weight": torch.zeros(2)},
        "misshapen": {**tensors, last: torch.zeros(3)},
    }
    for fault, content in faults.items():
        torch.save(content, place / "faulty.pth")
        with pytest.raises(UserError, match=f"got 1 {fault}") as error:
            build(name, checkpoint=place / "faulty.pth")
        assert name in one_line(error)
    (place / "noise.pth").write_bytes(b"no weights at all")
    torch.save([1, 2], place / "list.pth")
    for file, problem in (
        ("absent.pth", "no file"),
        ("noise.pth", "cannot be read as weights"),
        ("list.pth", "no tensor with a name"),
        (other, "expected a tensor '"),
    ):
        with pytest.raises(UserError, match=problem) as error:
            build(name, checkpoint=place / file)
        one_line(error)


def test_the_same_weights_in_any_container(
    place: Path, build: Callable[..., Any]
) -> None:
    """A state dict, one within a training checkpoint, torch's old format, safetensors."""
    tensors = published.drawn(published.just_ask())
    torch.save({"state_dict": tensors, "epoch": 2}, place / "nested.pth")
    torch.save(tensors, place / "old.pth", _use_new_zipfile_serialization=False)
    save_file(tensors, place / "safe.safetensors")
    trials = [Trial(sample=sample) for sample in SAMPLES]
    plain = build("just-ask")
    for file in ("nested.pth", "old.pth", "safe.safetensors"):
        model = build("just-ask", checkpoint=place / file)
        for one, other in zip(
            plain.respond(trials), model.respond(trials), strict=True
        ):
            np.testing.assert_array_equal(one.logits, other.logits)


class _Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_objects_of_strangers_are_never_made(tmp_path: Path) -> None:
    """Training options of a library that is not here; and code that a pickle would run."""
    module = types.ModuleType("not_installed_here")
    config = type(
        "Config", (), {"__module__": "not_installed_here", "__qualname__": "Config"}
    )
    module.Config = config  # type: ignore[attr-defined]
    sys.modules["not_installed_here"] = module
    try:
        options = config()
        options.lr = 0.1
        content = {
            "model": {"weight": torch.ones(2)},
            "config": options,
            "callbacks": {config: {}},
        }
        torch.save(content, tmp_path / "training.pth")
    finally:
        del sys.modules["not_installed_here"]
    found = read_checkpoint("x", tmp_path / "training.pth").tensors
    assert found["weight"].tolist() == [1, 1]
    evil = _Evil(tmp_path / "ran")
    torch.save(
        {"model": {"weight": torch.ones(2)}, "evil": evil}, tmp_path / "evil.pth"
    )
    (tmp_path / "pickle.pth").write_bytes(pickle.dumps(evil))
    for file in ("evil.pth", "pickle.pth"):
        with pytest.raises(UserError, match="cannot be read as weights"):
            read_checkpoint("x", tmp_path / file)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content",
    [
        '{"yes": 1, "no": 2}',
        '{"yes": 0, "no": 0}',
        "[]",
        "3",
        "{",
        '{"yes": "first"}',
        '["a", "a"]',
    ],
)
def test_faults_of_a_vocabulary(content: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"answers vocab\.json") as error:
        read_answers("just-ask", path)
    one_line(error)


def test_a_vocabulary_is_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps({"two": 1, "one": 0, "three": 2}))
    assert read_answers("x", path) == ("one", "two", "three")
    path.write_text(json.dumps(["b", "a"]))
    assert read_answers("x", path) == ("b", "a")
    assert read_answers("x", None) == ()


def test_open_questions_need_a_vocabulary(build: Callable[..., Any]) -> None:
    trial = Trial(sample=asked("one", "what is it ?", ()), outputs=frozenset({"text"}))
    for name in ("just-ask", "frozen-bilm", "singularity"):
        with pytest.raises(UserError, match=r"an open question.*-O model.answers=FILE"):
            build(name, answers=None).respond([trial])


def test_videos_without_features(place: Path, build: Callable[..., Any]) -> None:
    """An unknown one, a changed one, none at all, rows of another width."""
    model, frames = build("just-ask"), video("one")
    sample = asked("one", "what is it ?")
    changed = (
        frames[:1] * 3,
        frames[::-1],
        frames[:2],
        tuple(f.derive("x", abs) for f in frames),
    )
    for shown in changed:
        with pytest.raises(UserError, match="does not show one video file as it is"):
            model.respond([Trial(sample=sample.with_frames(shown, "changed"))])
    with pytest.raises(
        UserError, match=r"no features of video 'six': expected one of the 5 in s3d"
    ):
        model.respond([Trial(sample=asked("six", "what is it ?"))])
    with pytest.raises(UserError, match="features=FILE"):
        build("just-ask", features=None).respond([Trial(sample=sample)])
    with pytest.raises(
        UserError, match=r"expected a tensor \(feature, 6\), got shape \(3, 10\)"
    ):
        build("just-ask", features=place / "clip.pth").respond([Trial(sample=sample)])
    with pytest.raises(UserError, match="no features in"):
        build("just-ask", features=place / "deberta")


def test_which_video_is_told_by_the_frames() -> None:
    frames = video("v_abcdefghijk")
    assert shown_video(frames) == ("v_abcdefghijk", None)
    assert shown_video((*frames[:2], *video("other")[2:])) is None
    assert list(possible_ids("video7010")) == [
        "video7010",
        "video7010",
        "video7010",
        "7010",
    ]
    assert "abcdefghijk" in list(possible_ids("v_abcdefghijk"))


@pytest.mark.parametrize("name", NAMES)
def test_words_that_are_not_there(
    name: str, place: Path, build: Callable[..., Any]
) -> None:
    for folder in (str(place / "nowhere"), str(place)):
        with pytest.raises(
            UserError, match=r"no folder|no tokenizer|cannot be read"
        ) as error:
            build(name, text_encoder=folder)
        one_line(error)


@pytest.mark.parametrize("name", ["just-ask", "all-in-one"])
def test_heads_that_do_not_divide(name: str, build: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match="expected a multiple of head_dim=5"):
        build(name, head_dim=5)


def test_positions_of_the_question(build: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match="expected 2 to 16, of the 17 positions"):
        build("just-ask", question_tokens=17)
