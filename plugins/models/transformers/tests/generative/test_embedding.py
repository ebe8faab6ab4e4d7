"""The embedding is the mean of what the language side reads of the frames, whatever is asked."""

from collections.abc import Callable

import numpy as np
import pytest

from cuescope_sdk import HideTokens, Response, Trial, UserError
from cuescope_transformers.generative import TransformersVLM

Build = Callable[..., TransformersVLM]
EMBEDDING = frozenset({"embedding"})


def embed(plugin: TransformersVLM, *trials: Trial) -> list[np.ndarray]:
    answers: list[Response] = plugin.respond(trials)
    return [np.asarray(answer.embedding) for answer in answers]


@pytest.mark.parametrize("kind", ["qwen2-vl", "llava", "paligemma"])
def test_it_is_the_mean_of_the_projected_patches(
    build: Build, trial: Callable[..., Trial], kind: str
) -> None:
    plugin = build(kind)
    asked = trial(frames=1, outputs=EMBEDDING)
    other = trial(frames=1, question="is the red ball moving east", outputs=EMBEDDING)
    [patches] = plugin.patch_features(asked.sample.frames)
    for embedding in embed(plugin, asked, other):
        np.testing.assert_allclose(embedding, patches.mean(axis=(0, 1)), atol=1e-5)


def test_what_is_hidden_has_no_part_in_it(
    build: Build, trial: Callable[..., Trial]
) -> None:
    plugin = build("mllama")
    mask = np.zeros((1, 4, 4), bool)
    mask[:, :2] = True
    hidden = [HideTokens.from_mask(each) for each in (mask, mask | True)]
    plain, half, nothing = embed(
        plugin,
        *(trial(frames=1, outputs=EMBEDDING, edit=edit) for edit in (None, *hidden)),
    )
    assert np.abs(half - plain).max() > 0.01
    assert np.isfinite(nothing).all()


def test_without_visual_tokens_there_is_none(
    build: Build, trial: Callable[..., Trial]
) -> None:
    [nothing] = embed(build("qwen2-vl"), trial(frames=0, outputs=EMBEDDING))
    assert not nothing.any()
    blip = build("blip")  # no placeholders: nobody says where its visual tokens are
    assert "embedding" not in blip.capabilities.outputs
    with pytest.raises(UserError, match="gives no embedding"):
        blip.respond([trial(frames=1, outputs=EMBEDDING)])
