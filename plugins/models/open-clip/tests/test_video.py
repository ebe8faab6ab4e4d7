"""ViCLIP and VideoCLIP-XL from checkpoints as published, against their equations by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import hiding_checks
import numpy as np
import pytest
import torch
from open_clip import SimpleTokenizer
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import layer_norm
from video_clip_published import (
    DIM,
    FRAMES,
    PATCH,
    SIDE,
    State,
    viclip_state,
    videoclip_xl_state,
)

from cuescope_open_clip.video import VideoCLIP
from cuescope_sdk import Context, Frame, HideTokens, Sample, Trial, UserError
from cuescope_testing import ModelContract

TEXTS = ["a person climbing a tree", "swimming"]
LONG = "a man in a red coat walks over a bridge, " * 9
MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture(scope="module")
def viclip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("viclip") / "ViCLIP-B_InternVid-FLT-10M.pth"
    torch.save({"model": viclip_state()}, path)
    return path


@pytest.fixture(scope="module")
def xl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, as the hub has it."""
    folder = tmp_path_factory.mktemp("xl") / "VideoCLIP-XL"
    folder.mkdir()
    torch.save(videoclip_xl_state(), folder / "VideoCLIP-XL.bin")
    return folder


def build(model: Path, **options: Any) -> VideoCLIP:
    made = VideoCLIP.Options(model=str(model), templates="raw", **options)
    return VideoCLIP(made, Context(device="cpu"))


class TestContract(ModelContract):
    plugin = VideoCLIP
    device = "cpu"
    data_options: ClassVar[dict[str, Any]] = {"frames": FRAMES}

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, viclip: Path) -> None:
        cls.options = {"model": str(viclip)}
        cls.other_options = {**cls.options, "logit_scale": 2.0}


@pytest.mark.parametrize(
    "check", hiding_checks.CHECKS, ids=lambda check: check.__name__
)
def test_patches_are_hidden(
    viclip: Path, check: hiding_checks.Check, frames: tuple[Frame, ...]
) -> None:
    check(build(viclip).image_tower, frames[:FRAMES])


# ------------------------------------------------------------------------------------- by hand


def transform(
    state: State, prefix: str, tokens: Tensor, mask: Tensor | None = None
) -> Tensor:
    """CLIP's residual blocks over (token, width), each head in a loop."""
    width = tokens.shape[1]
    for layer in range(2):
        own = {
            name.removeprefix(f"{prefix}transformer.resblocks.{layer}."): tensor
            for name, tensor in state.items()
            if name.startswith(f"{prefix}transformer.resblocks.{layer}.")
        }
        normed = layer_norm(tokens, (width,), own["ln_1.weight"], own["ln_1.bias"])
        joint = normed @ own["attn.in_proj_weight"].T + own["attn.in_proj_bias"]
        heads = []
        for head in range(width // 64):
            part = slice(64 * head, 64 * head + 64)
            query, key, value = (third[:, part] for third in joint.split(width, dim=1))
            logits = query @ key.T / 8
            logits = logits if mask is None else logits + mask
            heads.append(logits.softmax(dim=1) @ value)
        mixed = torch.cat(heads, dim=1) @ own["attn.out_proj.weight"].T
        tokens = tokens + mixed + own["attn.out_proj.bias"]
        normed = layer_norm(tokens, (width,), own["ln_2.weight"], own["ln_2.bias"])
        hidden = normed @ own["mlp.c_fc.weight"].T + own["mlp.c_fc.bias"]
        hidden = hidden * torch.sigmoid(1.702 * hidden)
        tokens = tokens + hidden @ own["mlp.c_proj.weight"].T + own["mlp.c_proj.bias"]
    return tokens


def embed_video(
    state: State, prefix: str, pixels: np.ndarray, seen: np.ndarray | None = None
) -> Tensor:
    """From uint8 (frame, row, col, 3) of the network's size; the class token sees all frames.

    `seen` (frame, row, col) are the patches that are there at all.
    """
    own = {
        name.removeprefix(prefix): t
        for name, t in state.items()
        if name.startswith(prefix)
    }
    values = torch.from_numpy((pixels / 255 - MEAN) / STD).float()
    kernel = own["conv1.weight"][:, :, 0]
    tokens = [own["class_embedding"] + own["positional_embedding"][0]]
    for frame in range(FRAMES):
        for row in range(SIDE):
            for col in range(SIDE):
                if seen is not None and not seen[frame, row, col]:
                    continue
                rows, cols = (
                    slice(PATCH * at, PATCH * at + PATCH) for at in (row, col)
                )
                patch = values[frame, rows, cols].permute(2, 0, 1)
                place = own["positional_embedding"][1 + SIDE * row + col]
                time = own["temporal_positional_embedding"][0, frame]
                tokens.append((kernel * patch).sum(dim=(1, 2, 3)) + place + time)
    entering = torch.stack(tokens)
    width = (entering.shape[1],)
    entering = layer_norm(entering, width, own["ln_pre.weight"], own["ln_pre.bias"])
    first = transform(state, prefix, entering)[0]
    return (
        layer_norm(first, width, own["ln_post.weight"], own["ln_post.bias"])
        @ own["proj"]
    )


def embed_text(state: State, prefix: str, text: str, positions: Tensor) -> Tensor:
    """The last token, which sees all before it."""
    ids = SimpleTokenizer(context_length=len(positions))([text])[0]
    ids = ids[: int(ids.argmax()) + 1]
    tokens = state[f"{prefix}token_embedding.weight"][ids] + positions[: len(ids)]
    mask = torch.full((len(ids), len(ids)), float("-inf")).triu(1)
    last = transform(state, prefix, tokens, mask)[-1]
    norm = (state[f"{prefix}ln_final.{part}"] for part in ("weight", "bias"))
    return layer_norm(last, last.shape, *norm) @ state[f"{prefix}text_projection"]


def unit(rows: Tensor) -> np.ndarray:
    return (rows / rows.norm(dim=-1, keepdim=True)).numpy()


def sized_frames() -> tuple[Frame, ...]:
    shape = (FRAMES, SIDE * PATCH, SIDE * PATCH, 3)
    return tuple(
        map(
            Frame.from_array, np.random.default_rng(1).integers(0, 256, shape, np.uint8)
        )
    )


BOTH = frozenset({"logits", "embedding"})


def test_viclip_answers_by_its_equations(viclip: Path) -> None:
    model, state, frames = build(viclip), viclip_state(), sized_frames()
    pixels = np.stack([np.asarray(frame.load()) for frame in frames])
    texts = [
        embed_text(
            state, "text_encoder.", t, state["text_encoder.positional_embedding"]
        )
        for t in TEXTS
    ]
    sample = Sample(key="clip", frames=frames, choices=tuple(TEXTS))
    seen = np.random.default_rng(2).random((FRAMES, SIDE, SIDE)) < 0.6
    for edit, there in ((None, None), (HideTokens.from_mask(~seen), seen)):
        [answer] = model.respond([Trial(sample=sample, edit=edit, outputs=BOTH)])
        video = unit(embed_video(state, "vision_encoder.", pixels, there))
        np.testing.assert_allclose(answer.embedding, video, atol=2e-6)
        expected = 100 * unit(torch.stack(texts)) @ video
        np.testing.assert_allclose(answer.logits, expected, atol=5e-4)


def test_videoclip_xl_reads_long_texts_by_two_tables_of_positions(xl: Path) -> None:
    model, state, frames = build(xl), videoclip_xl_state(), sized_frames()
    assert model.facts["architecture"] == "VideoCLIP-XL"
    own, later = (
        state[f"text_model.positional_embedding{end}"] for end in ("", "_res")
    )
    positions = torch.cat([own[:20], later[20:]])
    texts = [
        embed_text(state, "text_model.", text, positions) for text in (*TEXTS, LONG)
    ]
    np.testing.assert_allclose(
        model.embed_texts([*TEXTS, LONG]), unit(torch.stack(texts)), atol=2e-6
    )
    pixels = np.stack([np.asarray(frame.load()) for frame in frames])
    video = unit(embed_video(state, "vision_model.vision_encoder.", pixels))
    sample = Sample(key="clip", frames=frames)
    [answer] = model.respond([Trial(sample=sample, outputs=frozenset({"embedding"}))])
    np.testing.assert_allclose(answer.embedding, video, atol=2e-6)


def test_frames_are_stretched_as_opencv_does(viclip: Path) -> None:
    """Half a pixel's centre, no smoothing: a level lies between its neighbours."""
    tower = build(viclip).image_tower
    levels = np.array([[0, 100], [200, 40]], np.uint8)
    [image] = [Frame.from_array(np.repeat(levels[..., None], 3, axis=2)).load()]
    at = np.clip((np.arange(SIDE * PATCH) + 0.5) / (SIDE * PATCH / 2) - 0.5, 0, 1)
    rows = levels[0] + at[:, None] * (levels[1].astype(float) - levels[0])
    expected = rows[:, :1] + at[None] * (rows[:, 1:] - rows[:, :1])
    assert np.abs(tower.canvas(image)[..., 0] - expected).max() <= 0.5 + 1e-4


# -------------------------------------------------------------------------------------- refusals


def without(name: str) -> Callable[[State], State]:
    return lambda state: {key: tensor for key, tensor in state.items() if key != name}


LAST = "vision_encoder.transformer.resblocks.1.ln_2.bias"
SPOILT: dict[str, tuple[Callable[[State], State], str]] = {
    "missing": (without(LAST), f"got 1 missing, the first {LAST}"),
    "missing at once": (
        without("vision_encoder.proj"),
        "expected a tensor 'vision_encoder.proj'",
    ),
    "extra": (
        lambda s: {**s, "itm_head.weight": torch.zeros(2)},
        "fit nowhere, the first itm_head.wei",
    ),
    "misshapen": (
        lambda s: {**s, LAST: torch.zeros(7)},
        f"1 misshapen, the first {LAST}, shape (7,) instead of (128,)",
    ),
    "odd width": (
        lambda s: {**s, "vision_encoder.conv1.weight": torch.zeros(100, 3, 1, 8, 8)},
        "expected a video tower whose width is a multiple of 64, got 100",
    ),
    "another model": (
        lambda s: {"visual.proj": s["temp"]},
        "no checkpoint of ViCLIP or VideoCLI",
    ),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_checkpoint_that_does_not_fit_is_refused(fault: str, tmp_path: Path) -> None:
    spoil, words = SPOILT[fault]
    save_file(spoil(viclip_state()), tmp_path / "spoilt.safetensors")
    with pytest.raises(UserError) as caught:
        build(tmp_path / "spoilt.safetensors").open_weights()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_and_frames_that_do_not_fit_are_refused(
    viclip: Path, tmp_path: Path
) -> None:
    for name in ("a.bin", "b.pth"):
        torch.save({"x": torch.zeros(1)}, tmp_path / name)
    for model, words in (
        (
            tmp_path,
            "expected one that ends in .safetensors, .pt, .pth, .bin, got a.bin, b.pth",
        ),
        (tmp_path / "none.pth", "no file or folder"),
    ):
        with pytest.raises(UserError, match=words):
            build(model)
    sample = Sample(key="short", frames=sized_frames()[:3], choices=("a", "b"))
    with pytest.raises(
        UserError, match=f"expected {FRAMES} frames a sample, got 3. Sample as many"
    ):
        build(viclip).respond([Trial(sample=sample)])
    assert build(viclip).embed_texts([]).shape == (0, DIM)
