"""Objects of the caller, through the installed plugins: who answers for them, and what is kept."""

from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
import transformers
from open_clip.transform import PreprocessCfg, image_transform_v2

import cuescope
from cuescope import UserError

VISION = {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 8}
TEXT = {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1}
SMALL |= {"num_attention_heads": 2}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and working folder of their own."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, list[str]]:
    """Forty pictures of noise: what is found in them is not asked here."""
    images = np.random.default_rng(0).integers(0, 256, (40, 32, 32, 3), dtype=np.uint8)
    return images, ["bird", "boat"] * 20


def of_open_clip() -> tuple[Any, Any, Any]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_clip.CLIP(embed_dim=16, vision_cfg=VISION, text_cfg=TEXT).eval()
    preprocess = image_transform_v2(PreprocessCfg(size=32), is_train=False)
    return model, preprocess, open_clip.get_tokenizer("ViT-B-32", context_length=32)


def of_transformers() -> tuple[Any, Any]:
    letters = "abcdefghijklmnopqrstuvwxyz."
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>"]
    words = {token: index for index, token in enumerate([*tokens, "<|endoftext|>"])}
    tokenizer = transformers.CLIPTokenizer(vocab=words, merges=[], model_max_length=32)
    square = {"height": 32, "width": 32}
    images = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size=square
    )
    ends = {
        "bos_token_id": words["<|startoftext|>"],
        "eos_token_id": words["<|endoftext|>"],
    }
    text = {**SMALL, **ends, "vocab_size": 64, "max_position_embeddings": 32}
    vision = {**SMALL, "image_size": 32, "patch_size": 8}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.CLIPConfig(
            text_config=text, vision_config=vision, projection_dim=16
        )
        model = transformers.CLIPModel(config).eval()
    return model, transformers.CLIPProcessor(
        image_processor=images, tokenizer=tokenizer
    )


@pytest.mark.parametrize(
    ("make", "plugin"),
    [
        (of_open_clip, "open-clip"),
        pytest.param(of_transformers, "transformers", marks=pytest.mark.long),
    ],
)
def test_a_model_in_memory_is_audited_and_its_answers_kept(
    make: Any, plugin: str, data: tuple[np.ndarray, list[str]]
) -> None:
    item = make()
    first = cuescope.audit("trove", model=item, data=data, progress=False)
    stamp = first.provenance.model
    assert (stamp.spec, stamp.dist) == (f"{plugin}-in-memory", f"cuescope-{plugin}")
    assert first.cost.model_calls == first.cost.trials == 40
    again = cuescope.audit("trove", model=item, data=data, progress=False)
    assert (again.cost.model_calls, again.hash, again.folder) == (
        0,
        first.hash,
        first.folder,
    )
    # weights that were trained on are another model, in another folder
    with torch.no_grad():
        next(iter(item[0].parameters())).add_(0.01)
    trained = cuescope.audit("trove", model=item, data=data, progress=False)
    assert trained.cost.model_calls == 40
    assert trained.folder != first.folder
    # its insides are open to the methods that look there
    options = {"maps_only": True}
    inside = {"options": options, "progress": False, "limit": 6}
    seen = cuescope.audit("saliency:grad-eclip", model=item, data=data, **inside)
    assert seen.provenance.samples == 6


def test_options_of_the_plugin_are_taken(data: tuple[np.ndarray, list[str]]) -> None:
    given: dict[str, Any] = {"data": data, "progress": False, "model_name": "mine"}
    report = cuescope.audit(
        "trove", model=of_open_clip(), model_options={"templates": "raw"}, **given
    )
    assert report.provenance.model.options["templates"] == "raw"
    assert report.provenance.model.spec == "mine"
    with pytest.raises(
        UserError, match=r"no option 'template'.*Did you mean 'templates'"
    ):
        cuescope.audit(
            "trove", model=of_open_clip(), model_options={"template": "raw"}, **given
        )


def test_who_cannot_be_audited_is_told_what_would_do(
    data: tuple[np.ndarray, list[str]],
) -> None:
    def predict(images: Any) -> np.ndarray:
        return np.full((len(images), 2), 0.5)

    cases = {
        "trove groups images.*embed=EMBED": ("trove", predict),
        "expected a model with edit 'hide-tokens'": ("cci", predict),
        "A network by itself: wrap it in a function": ("trove", torch.nn.Linear(2, 2)),
        r"expected model=\(model, processor\)": ("trove", of_transformers()[0]),
    }
    for words, (method, model) in cases.items():
        with pytest.raises(UserError, match=words):
            cuescope.audit(method, model=model, data=data, progress=False)
