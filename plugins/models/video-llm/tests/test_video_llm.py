"""Both models from files in the authors' layout: filled, asked, refused where they do not fit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from cuescope_sdk import Context, Frame, Sample, Trial, UserError, generator
from cuescope_testing import FakeDataset, ModelContract
from cuescope_video_llm import VideoChat, VideoLLaMA
from cuescope_video_llm.checkpoints import our_name, published_name

PLUGINS: dict[str, Any] = {"video-llama": VideoLLaMA, "video-chat": VideoChat}
Options = Callable[[str], dict[str, Any]]
both = pytest.mark.parametrize("name", PLUGINS)


def built(name: str, given: dict[str, Any]) -> Any:
    """The model, as the command line builds it."""
    plugin = PLUGINS[name]
    return plugin(plugin.Options(**given), Context(device="cpu"))


def sample(seed: int, frames: int = 3, question: str = "What happens?") -> Sample:
    rng = generator(seed, "video")
    pixels = rng.integers(0, 256, (frames, 1, 1, 3)) * np.ones((1, 10, 14, 1))
    pixels = (pixels * rng.random((1, 10, 14, 1))).astype(np.uint8)
    shown = tuple(map(Frame.from_array, pixels))
    return Sample(key=f"video-{seed}", frames=shown, question=question)


def text(model: Any, *asked: Sample) -> list[str]:
    return [
        r.text
        for r in model.respond(
            [Trial(sample=s, outputs=frozenset({"text"})) for s in asked]
        )
    ]


@both
def test_a_published_model_answers_from_video_and_question(
    name: str, options: Options
) -> None:
    model = built(name, options(name))
    one = sample(1)
    assert text(model, one) == text(model, one)
    assert len(set(text(model, one, replace(one, question="Who is it?")))) == 2
    assert len(set(text(model, *map(sample, range(8))))) > 1  # the question is the same
    backwards = replace(one, frames=one.frames[::-1])
    video = [
        model.network.encode(model.network.pixels(s.frames)) for s in (one, backwards)
    ]
    assert not torch.allclose(*video)  # the order of frames is seen


@both
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda t: t.pop("llama_proj.bias"), "1 missing, the first llama_proj.bias"),
        (
            lambda t: t.update(video_pooler=torch.zeros(2)),
            "1 that fit nowhere, the first video_pooler of damaged.pth, shape (2,)",
        ),
        (
            lambda t: t.update({"llama_proj.bias": torch.zeros(5)}),
            "1 misshapen, the first llama_proj.bias of damaged.pth, shape (5,) instead of (16,)",
        ),
        (dict.clear, "no tensor with a name"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    name: str,
    damage: Callable[[dict[str, Tensor]], Any],
    said: str,
    options: Options,
    place: Path,
) -> None:
    content = torch.load(place / f"{name}.pth", weights_only=True)
    damage(content["model"])
    torch.save(content, place / "damaged.pth")
    model = built(name, options(name) | {"checkpoint": str(place / "damaged.pth")})
    with pytest.raises(UserError) as told:
        text(model, sample(1))
    assert said in str(told.value)
    assert str(told.value).startswith(f"{name}: ")
    assert "\n" not in str(told.value)


@both
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"checkpoint": "nowhere.pth"}, "no file nowhere.pth"),
        ({"vision_head_dim": 3}, "a multiple of vision_head_dim=3"),
        ({"vision_layers": 9}, "visual_encoder.blocks.4"),
        ({"llm": "./nowhere"}, "no model folder ./nowhere"),
    ],
)
def test_what_a_person_can_mend_is_said(
    name: str, given: dict[str, Any], said: str, options: Options
) -> None:
    with pytest.raises(UserError) as told:
        text(built(name, options(name) | given), sample(1))
    assert said in str(told.value)


def test_more_frames_than_places_are_refused(options: Options) -> None:
    with pytest.raises(UserError, match=r"a sample of 6 frames.*4 at most"):
        text(built("video-llama", options("video-llama")), sample(1, frames=6))


def test_names_go_back_and_forth(place: Path) -> None:
    for name in PLUGINS:
        for published in torch.load(place / f"{name}.pth", weights_only=True)["model"]:
            assert published_name(our_name(published)) == published


def test_the_turns_are_the_authors(options: Options) -> None:
    asked = sample(1)
    model = built("video-llama", options("video-llama") | {"note": "{frames} frames."})
    words = [
        p
        for p in model.network.conversation(asked, torch.zeros(1))
        if isinstance(p, str)
    ]
    assert words == [
        "###Human: <Video>",
        "</Video> 3 frames. What happens?###Assistant:",
    ]
    model = built("video-chat", options("video-chat"))
    words = [
        p
        for p in model.network.conversation(asked, torch.zeros(1))
        if isinstance(p, str)
    ]
    assert words == [
        "###Human: <Video>",
        "</Video>\n###Human: What happens?\n###Assistant:",
    ]


class Questions(FakeDataset):
    """The fake data with a question."""

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), question="Where is it?")


class _Small(ModelContract):
    device = "cpu"
    data = Questions
    count = 3
    name: ClassVar[str]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _small(cls, options: Options) -> None:
        cls.options = options(cls.name)
        cls.other_options = {**cls.options, "max_new_tokens": 5}


class TestVideoLLaMA(_Small):
    name, plugin = "video-llama", VideoLLaMA


class TestVideoChat(_Small):
    name, plugin = "video-chat", VideoChat
