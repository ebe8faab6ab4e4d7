"""Tiny stock models of transformers with seeded random weights, saved as a user would find them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from cuescope_sdk import Context, Frame
from cuescope_transformers import Transformers, TransformersOptions

LETTERS = "abcdefghijklmnopqrstuvwxyz."
LABELS = ("bird", "boat", "cow")
WORDS = (
    *LABELS,
    "a",
    "photo",
    "of",
    "the",
    "top",
    "middle",
    "bottom",
    "dog",
    "cat",
    "text",
    "number",
    ".",
    "<unk>",
    "<pad>",
)
SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
TEXT = {**SIZE, "vocab_size": 64, "max_position_embeddings": 32}
VISION = {**SIZE, "image_size": 32, "patch_size": 8}
FRAMES = 4
KINDS = ("clip", "siglip", "siglip2", "xclip")
ALONE = ("clip-vision", "siglip-vision", "siglip2-vision")


def _clip_tokenizer() -> Any:
    """CLIP's own over letters: byte-level pairs without merges."""
    tokens = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    return transformers.CLIPTokenizer(
        vocab=_numbered(tokens), merges=[], model_max_length=32
    )


def _siglip2_tokenizer() -> Any:
    """SigLIP 2's own over letters."""
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "\u2581", *LETTERS]
    return transformers.Siglip2Tokenizer(vocab=_numbered(tokens), merges=[])


def _numbered(tokens: Sequence[str]) -> dict[str, int]:
    return {token: index for index, token in enumerate(tokens)}


def _word_tokenizer() -> Any:
    """Whole words, lower-cased, with an end token; no mask is made, as in SigLIP."""
    vocabulary = _numbered([*WORDS, "</s>"])
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    rules.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="</s>",
        model_input_names=["input_ids"],
    )


def _parts(kind: str) -> tuple[Any, Any, Any]:
    """Configuration, image processor, tokenizer."""
    square = {"height": 32, "width": 32}
    cropped = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size=square
    )
    match kind:
        case "clip" | "xclip":
            tokenizer = _clip_tokenizer()
            ends = {
                "bos_token_id": tokenizer.bos_token_id,
                "eos_token_id": tokenizer.eos_token_id,
            }
            text = {**TEXT, **ends, "pad_token_id": tokenizer.pad_token_id}
            if kind == "clip":
                config = transformers.CLIPConfig(
                    text_config=text, vision_config=VISION, projection_dim=24
                )
                return config, cropped, tokenizer
            mit = {f"mit_{name}": value for name, value in SIZE.items()}
            config = transformers.XCLIPConfig(
                text_config=text,
                projection_dim=32,
                prompt_num_attention_heads=2,
                prompt_alpha=0.5,
                vision_config={
                    **VISION,
                    **mit,
                    "num_frames": FRAMES,
                    "mit_num_hidden_layers": 1,
                },
            )
            processor = transformers.VideoMAEImageProcessor(
                size={"shortest_edge": 32}, crop_size=square
            )
            return config, processor, tokenizer
        case "siglip":
            config = transformers.SiglipConfig(
                text_config={**TEXT, "projection_size": 32}, vision_config=VISION
            )
            return (
                config,
                transformers.SiglipImageProcessor(size=square),
                _word_tokenizer(),
            )
        case "siglip2":
            vision = {**SIZE, "patch_size": 8, "num_patches": 16}
            config = transformers.Siglip2Config(
                text_config={**TEXT, "projection_size": 32}, vision_config=vision
            )
            processor = transformers.Siglip2ImageProcessor(
                patch_size=8, max_num_patches=20
            )
            return config, processor, _siglip2_tokenizer()
        case _:
            whole, processor, _ = _parts(kind.removesuffix("-vision"))
            config = whole.vision_config
            if kind == "clip-vision":
                config.projection_dim = 24
            return config, processor, None


def write_model(kind: str, folder: Path) -> Path:
    """A model folder: configuration, weights, image processor and tokenizer."""
    config, processor, tokenizer = _parts(kind)
    builder = transformers.AutoModel.from_config
    if kind == "clip-vision":
        builder = transformers.CLIPVisionModelWithProjection
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = builder(config)
        for (
            name,
            parameter,
        ) in model.named_parameters():  # wide enough for differences to show
            with torch.no_grad():
                if parameter.ndim > 1:
                    parameter.normal_(std=0.2)
                elif "bias" in name:
                    parameter.normal_(std=0.1)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    return {kind: write_model(kind, root / kind) for kind in (*KINDS, *ALONE)}


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Class embeddings for the labels here and those of the sdk's fake data."""
    names = (*LABELS, "top", "middle", "bottom")
    rows = np.random.default_rng(3).normal(size=(len(names), 24)).astype(np.float32)
    path = tmp_path_factory.mktemp("table") / "classes.npz"
    np.savez(path, names=np.array(names), embeddings=rows)
    return path


@pytest.fixture(scope="session")
def build(folders: dict[str, Path]) -> Callable[..., Transformers]:
    """`build("clip", dtype=...)`: the plugin on a tiny model."""

    def make(
        kind: str, *, dtype: str = "float32", planning: bool = False, **options: Any
    ) -> Transformers:
        context = Context(device="cpu", dtype=dtype, planning=planning)
        return Transformers(
            TransformersOptions(**{"model": str(folders.get(kind, kind)), **options}),
            context,
        )

    return make


@pytest.fixture(scope="session")
def frames() -> tuple[Frame, ...]:
    """Eight images of two shapes."""
    rng = np.random.default_rng(5)
    shapes = [(40, 52), (64, 30)] * 4
    return tuple(
        Frame.from_array(rng.integers(0, 256, (*shape, 3), dtype=np.uint8))
        for shape in shapes
    )


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The architectures whose weights are opened from now on."""
    found: list[str] = []
    real = transformers.PreTrainedModel.from_pretrained.__func__  # type: ignore[attr-defined]

    def noting(cls: type, *args: Any, **given: Any) -> Any:
        found.append(cls.__name__)
        return real(cls, *args, **given)

    monkeypatch.setattr(
        transformers.PreTrainedModel, "from_pretrained", classmethod(noting)
    )
    return found
