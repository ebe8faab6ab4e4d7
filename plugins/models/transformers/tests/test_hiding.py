"""`HideTokens` on every architecture, and against forward passes that know nothing of hooks."""

from collections.abc import Callable
from typing import Any

import hiding_checks
import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear

from cuescope_sdk import Frame, HideTokens, Sample, Trial
from cuescope_transformers import Transformers

LABELS = ("bird", "boat", "cow")
Build = Callable[..., Transformers]
KINDS = (
    "clip",
    "siglip",
    "siglip2",
    "xclip",
    "clip-vision",
    "siglip-vision",
    "siglip2-vision",
)


@pytest.mark.parametrize(
    "check", hiding_checks.CHECKS, ids=lambda check: check.__name__
)
@pytest.mark.parametrize(
    "kind",
    # the towers alone hide as they do in their models
    [
        pytest.param(kind, marks=pytest.mark.long if kind.endswith("-vision") else ())
        for kind in KINDS
    ],
)
def test_every_architecture_hides(
    build: Build, kind: str, check: hiding_checks.Check, frames: tuple[Frame, ...]
) -> None:
    check(build(kind).image_tower, frames)


@pytest.mark.parametrize("kind", KINDS)
def test_every_tower_says_its_layers_and_heads(build: Build, kind: str) -> None:
    tower = build(kind).image_tower
    assert (tower.layers, tower.heads) == (2, 2)


def masked_by_hand(
    weights: dict[str, Tensor], pixels: Tensor, hidden: Tensor
) -> Tensor:
    """A two-layer, two-head CLIP image tower, each query over the visible keys alone."""
    vision = {k.removeprefix("vision_model."): v for k, v in weights.items()}

    def normed(tokens: Tensor, name: str) -> Tensor:
        return layer_norm(
            tokens, (32,), vision[f"{name}.weight"], vision[f"{name}.bias"]
        )

    def through(tokens: Tensor, name: str) -> Tensor:
        return linear(tokens, vision[f"{name}.weight"], vision[f"{name}.bias"])

    kernel = vision["embeddings.patch_embedding.weight"].flatten(1)
    patches = torch.stack(
        [
            kernel @ pixels[:, y : y + 8, x : x + 8].flatten()
            for y in range(0, 32, 8)
            for x in range(0, 32, 8)
        ]
    )
    tokens = torch.cat([vision["embeddings.class_embedding"][None], patches])
    tokens = normed(
        tokens + vision["embeddings.position_embedding.weight"], "pre_layrnorm"
    )
    visible = [0, *(1 + place for place in range(16) if not hidden[place])]
    for layer in ("encoder.layers.0", "encoder.layers.1"):
        inside = normed(tokens, f"{layer}.layer_norm1")
        q, k, v = (through(inside, f"{layer}.self_attn.{name}_proj") for name in "qkv")
        heads = []
        for head in (slice(0, 16), slice(16, 32)):
            weight = (q[:, head] @ k[visible, head].T / 16**0.5).softmax(dim=-1)
            heads.append(weight @ v[visible, head])
        tokens = tokens + through(
            torch.cat(heads, dim=1), f"{layer}.self_attn.out_proj"
        )
        inside = through(normed(tokens, f"{layer}.layer_norm2"), f"{layer}.mlp.fc1")
        inside = inside * (1.702 * inside).sigmoid()
        tokens = tokens + through(inside, f"{layer}.mlp.fc2")
    return linear(
        normed(tokens[0], "post_layernorm"), weights["visual_projection.weight"]
    )


def test_hidden_keys_are_absent_as_computed_by_hand(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    model = build("clip-vision")
    tower = model.image_tower
    weights = model._model.files.network.state_dict()
    rng = np.random.default_rng(1)
    for frame in frames[:3]:
        inputs = tower.prepare([frame.load()])
        hidden = rng.random(16) < 0.6
        expected = masked_by_hand(
            weights, inputs["pixel_values"][0], torch.from_numpy(hidden)
        )
        # `hiding_checks` compare the other way, by masks
        trial = Trial(
            sample=Sample(key=frame.key, frames=(frame,)),
            edit=HideTokens.from_mask(hidden.reshape(1, 4, 4)),
            outputs=frozenset({"embedding"}),
        )
        [response] = model.respond([trial])
        np.testing.assert_allclose(
            response.embedding, expected / expected.norm(), atol=1e-5
        )
        assert not np.allclose(tower.encode(inputs)[0], expected, atol=1e-3)


def seen_by_hand(model: Any, pixels: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """X-CLIP's video embedding and the visible places (place, dim), by its layers' own masks."""
    vision, patches = model.vision_model, ~hidden
    always = torch.ones(len(hidden), 1, dtype=torch.bool)
    keys = torch.cat([always, patches, always], dim=1)  # class, patches, message
    mask = torch.zeros(keys.shape).masked_fill(~keys, float("-inf"))[:, None, None]
    tokens = vision.pre_layernorm(vision.embeddings(pixels))
    for layer in vision.encoder.layers:
        tokens = layer(tokens, mask)
    projected = model.visual_projection(vision.post_layernorm(tokens[:, 0]))
    video = model.mit(projected[None]).pooler_output[0]
    features = (
        model.prompts_visual_layernorm(tokens[:, 1:]) @ model.prompts_visual_projection
    )
    places = [
        features[patches[:, place], place].mean(dim=0)
        for place in range(hidden.shape[1])
        if patches[:, place].any()
    ]
    return video, torch.stack(places)


@torch.inference_mode()
def test_a_videos_hidden_patches_reach_neither_video_nor_texts(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    plugin = build("xclip")
    model = plugin._model.files.network
    mask = np.random.default_rng(2).random((4, 4, 4)) < 0.5
    mask[:, 1, 2] = True  # at one place in every frame
    mask[:, 3, 3] = False
    hidden = torch.from_numpy(mask).flatten(1)
    pixels = plugin.image_tower.prepare([frame.load() for frame in frames[:4]])[
        "pixel_values"
    ][0]
    video, places = seen_by_hand(model, pixels, hidden)
    assert len(places) < 16
    tokenizer = plugin._model.tokenizer
    prompts = [f"a photo of a {label}." for label in LABELS]
    texts = model.get_text_features(
        **tokenizer(prompts, padding=True, return_tensors="pt")
    )
    raw = texts.pooler_output[None]
    prompted = (raw + model.prompts_generator(raw, places[None]))[0]
    cosines = torch.cosine_similarity(prompted, video[None], dim=1)
    sample = Sample(key="clip", frames=frames[:4], choices=LABELS)
    [answer] = plugin.respond([Trial(sample=sample, edit=HideTokens.from_mask(mask))])
    np.testing.assert_allclose(
        answer.logits, model.logit_scale.exp() * cosines, atol=1e-5
    )


def test_a_video_of_which_nothing_is_seen_leaves_texts_as_they_are(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    model = build("xclip")
    everything = HideTokens.from_mask(np.ones((4, 4, 4), dtype=bool))
    sample = Sample(key="clip", frames=frames[:4], choices=LABELS)
    both = frozenset({"logits", "embedding"})
    [answer] = model.respond([Trial(sample=sample, edit=everything, outputs=both)])
    expected = model._head.scale * model.embed_choices(LABELS) @ answer.embedding
    np.testing.assert_allclose(answer.logits, expected, atol=1e-5)
