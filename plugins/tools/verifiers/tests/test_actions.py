"""Actions by tiny stock networks, saved as a user would find them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy.special import softmax

from cuescope_sdk import Context, Frame, Sample, UserError
from cuescope_testing import ToolContract
from cuescope_verifiers.actions import Actions, choose_clips, verdict
from cuescope_verifiers.phrases import opposites, sentence

from .claims import action, entity

LETTERS = "abcdefghijklmnopqrstuvwxyz."
VISION = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
SIZE = {"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}}
FRAMES = tuple(
    Frame.from_array(pixels)
    for pixels in np.random.default_rng(5).integers(
        0, 256, (6, 16, 20, 3), dtype=np.uint8
    )
)
VIDEO = Sample(key="v", frames=FRAMES)


def xclip(folder: Path) -> None:
    tokens = [
        *LETTERS,
        *(f"{x}</w>" for x in LETTERS),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    tokenizer = transformers.CLIPTokenizer(
        vocab={token: index for index, token in enumerate(tokens)},
        merges=[],
        model_max_length=48,
    )
    ends = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    text = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 64,
        "max_position_embeddings": 48,
    }
    mit = {
        "mit_hidden_size": 16,
        "mit_intermediate_size": 24,
        "mit_num_hidden_layers": 1,
        "mit_num_attention_heads": 2,
        "num_frames": 4,
    }
    config = transformers.XCLIPConfig(
        text_config={**text, **ends},
        vision_config={**VISION, **mit},
        projection_dim=16,
        prompt_layers=1,
        prompt_num_attention_heads=2,
    )
    model = transformers.XCLIPModel(config)
    for name, weight in model.named_parameters():
        if weight.ndim > 1 and "norm" not in name:
            weight.data.normal_(std=0.4)
    model.save_pretrained(folder)
    images = transformers.VideoMAEImageProcessor(**SIZE)
    transformers.XCLIPProcessor(images, tokenizer).save_pretrained(folder)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder a network."""
    made = {}
    for maker in (xclip,):
        made[maker.__name__] = tmp_path_factory.mktemp(maker.__name__)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            maker(made[maker.__name__])
    return made


@pytest.fixture
def build(folders: dict[str, Path]) -> Callable[..., Actions]:
    def made(kind: str, **options: Any) -> Actions:
        given = Actions.Options(model=str(folders[kind]), **options)
        return Actions(given, Context(device="cpu"))

    return made


class _Tiny(ToolContract):
    plugin = Actions
    device = "cpu"
    kind_of_model: str

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folders: dict[str, Path]) -> None:
        cls.options = {"model": str(folders[cls.kind_of_model])}


class TestXCLIP(_Tiny):
    kind_of_model = "xclip"


def test_xclip_weighs_a_claim_against_others_as_the_stock_model_does(
    build: Callable[..., Actions], folders: dict[str, Path]
) -> None:
    others = ("Nothing happens.", "A person walks.", "A person opens something.")
    claim = action("man", "open", 1, object="door")
    [[found, _]] = build("xclip", alternatives=others).judge(
        [(VIDEO, [claim, entity("door")])]
    )
    texts = [sentence(claim), *opposites(claim), *others[:2]]
    model = transformers.XCLIPModel.from_pretrained(folders["xclip"]).eval()
    processor = transformers.AutoProcessor.from_pretrained(folders["xclip"])
    given = processor(
        text=texts,
        videos=[frame.load() for frame in FRAMES[:4]],
        return_tensors="pt",
        padding="max_length",
        max_length=48,
    )
    with torch.no_grad():
        wanted = softmax(model(**given).logits_per_video[0].numpy())
    assert found.score == pytest.approx(wanted[0], abs=1e-5)
    assert found == verdict(wanted).model_copy(
        update={"score": found.score, "frame": 2}
    )
    [[before], [after]] = build("xclip").judge(
        [(VIDEO, [claim]), (VIDEO.static(0), [claim])]
    )
    assert before.score != after.score


def test_the_most_likely_is_supported_and_less_than_chance_is_not() -> None:
    assert verdict(np.array([0.5, 0.3, 0.2])).verdict == "supported"
    assert verdict(np.array([0.2, 0.3, 0.5])).verdict == "unsupported"
    assert verdict(np.array([0.4, 0.5, 0.1])).reason == "no evidence"


def test_clips_are_of_the_moments_meant() -> None:
    assert choose_clips((1,), 10, 4) == [(0, 1, 2, 3)]
    assert choose_clips((9,), 10, 4) == [(6, 7, 8, 9)]
    assert choose_clips((2, 8), 10, 4) == [(2, 4, 6, 8)]
    assert choose_clips(range(10), 10, 4) == [
        (0, 1, 2, 3),
        (2, 3, 4, 5),
        (4, 5, 6, 7),
        (6, 7, 8, 9),
    ]
    assert choose_clips(range(2), 2, 4) == [(0, 0, 1, 1)]


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    config = transformers.CLIPVisionConfig(hidden_size=8, num_attention_heads=1)
    transformers.CLIPVisionModel(config).save_pretrained(tmp_path)
    with pytest.raises(
        UserError, match="no action network that is known here: expected xclip"
    ):
        Actions(Actions.Options(model=str(tmp_path)), Context(device="cpu"))
