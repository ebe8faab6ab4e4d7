"""A model that looks at one patch for each text: the explainers must point there."""

from typing import Any

import numpy as np
import pytest

from cuescope_saliency import EXPLAINERS, Settings, explain
from cuescope_sdk import Frame


def hits(model: Any, draw: Any, explainer: Any) -> float:
    """Share of (image, colour) pairs whose map is highest on the colour's own patch."""
    rng = np.random.default_rng(11)
    is_hit = []
    for _ in range(6):
        pixels, patches = draw(rng)
        for colour, patch in patches.items():
            settings = Settings(rise_masks=256)
            heat = explain(model, Frame.from_array(pixels), colour, explainer, settings)
            if heat.shape != (4, 4):
                heat = heat.reshape(4, 8, 4, 8).mean(axis=(1, 3))
            is_hit.append(int(heat.argmax()) == patch)
    return float(np.mean(is_hit))


# they see both patches, and not the text
BLIND = {"raw-attention": 0.5, "rollout": 0.5}


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_points_at_the_patch_that_the_text_is_about(
    planted: Any, draw: Any, explainer: Any
) -> None:
    share = hits(planted, draw, explainer)
    if explainer == "random":
        assert share < 0.3
    else:
        assert share == BLIND.get(explainer, 1.0)
