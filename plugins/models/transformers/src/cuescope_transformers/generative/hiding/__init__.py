"""`HideTokens` on generative models: token dropping (SpurLens, section 6.1 and appendix K).

A mask lies over the frames, at any resolution. The processor makes of the masked pixels what it
makes of the frames; where they come to lie, the pixels become NaN, and a token made of one is left
out of the vision encoder. A token of the language model that reads a hidden one, alone or merged
with others, is left out too, with its placeholder. All others keep their positions, and whatever
leaked would turn an answer into NaN.
"""

from collections.abc import Callable, Sequence
from typing import Any

from cuescope_sdk import HideTokens, Trial, UserError
from cuescope_transformers.generative.hiding.crossing import without_keys
from cuescope_transformers.generative.hiding.marking import blanked, erase
from cuescope_transformers.generative.hiding.packed import without_packed
from cuescope_transformers.generative.hiding.towers import without_patches
from cuescope_transformers.generative.loading import Loaded, arguments
from cuescope_transformers.generative.showing import Batch, described, processed

HIDING: dict[str, Callable[[Loaded, dict[str, Any]], Batch]] = {
    "qwen2_vl": without_packed,
    "qwen2_5_vl": without_packed,
    "llava": without_patches,
    "llava_next": without_patches,
    "llava_next_video": without_patches,
    "llava_onevision": without_patches,
    "paligemma": without_patches,
    "mllama": without_keys,
}


def require_hiding(loaded: Loaded, trial: Trial, edit: HideTokens) -> None:
    """Raises UserError where the model hides no tokens, or the mask is over other frames."""
    if loaded.kind not in HIDING:
        raise UserError(
            f"{loaded.title} cannot leave tokens out",
            expected=", ".join(HIDING),
            got=f"the architecture '{loaded.kind}'",
        )
    if loaded.kind != "mllama" and "mm_encoder_outputs" not in arguments(loaded.model.forward):
        raise UserError(
            f"{loaded.title} cannot leave tokens out",
            expected="a transformers whose `generate` takes `mm_encoder_outputs`",
            remedy="pip install -U transformers",
        )
    frames, rows, cols = edit.shape
    count = len(trial.sample.frames)
    if frames != count or not rows * cols:
        raise UserError(
            f"hide-tokens on sample '{trial.sample.key}'",
            expected=f"a mask for each of {count} frames",
            got=f"{frames}" if rows * cols else f"masks of {rows} x {cols}",
        )


def hidden(
    loaded: Loaded, pairs: Sequence[tuple[Trial, HideTokens]], prompts: Sequence[str], fps: float
) -> Batch:
    """What `shown` makes of the trials, each without the tokens that its mask touches."""
    for trial, edit in pairs:
        require_hiding(loaded, trial, edit)
    shown = [(trial.sample, edit.mask) for trial, edit in pairs]
    inputs = processed(loaded, [blanked(*pair) for pair in shown], prompts, fps)
    if not shown[0][0].frames:
        return described(loaded, inputs)
    erase(loaded, inputs, shown, prompts, fps)
    return HIDING[loaded.kind](loaded, inputs)


__all__ = ["HIDING", "hidden", "require_hiding"]
