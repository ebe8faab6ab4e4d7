"""`HideTokens` on generative models: token dropping (SpurLens, section 6.1 and appendix K).

A mask lies over the frames, at any resolution; one on the grid of `patch_features` lies over what
the network sees of them. The processor makes of the masked pixels what it makes of the frames;
where they come to lie, the pixels become NaN. No attention reads a patch that is NaN, and a token
of the language model that has read one, alone or merged with others, is left out with its
placeholder. All others keep their positions, and whatever leaked would turn an answer into NaN.
"""

from collections.abc import Sequence

from cuescope_sdk import HideTokens, Trial, UserError
from cuescope_transformers.generative.hiding.door import without_keys, without_visual
from cuescope_transformers.generative.hiding.masks import (
    grey_out,
    hidden_pixels,
    opened,
    over_frame,
)
from cuescope_transformers.generative.inputs import (
    Batch,
    network_inputs,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel


def require_hiding(model: GenerativeModel, trial: Trial, edit: HideTokens) -> None:
    """Raises UserError where the model hides no tokens, or the mask is over other frames."""
    if not model.family.hides:
        raise UserError(
            f"{model.title} cannot leave tokens out",
            got=model.family.why_not_hidden,
        )
    frames, rows, cols = edit.shape
    count = len(trial.sample.frames)
    empty = not rows * cols
    if frames != count or empty:
        raise UserError(
            f"hide-tokens on sample '{trial.sample.key}'",
            expected=f"a mask for each of {count} frames",
            got=f"masks of {rows} x {cols}" if empty else f"{frames}",
        )


def hide(
    model: GenerativeModel,
    trials: Sequence[Trial],
    prompts: Sequence[str],
) -> Batch:
    """The batch of the trials, each without the tokens that its mask touches."""
    masked = []
    for trial in trials:
        if isinstance(trial.edit, HideTokens):
            require_hiding(model, trial, trial.edit)
            sample = opened(model, trial.sample)
            frames = zip(sample.frames, trial.edit.mask, strict=True)
            masks = [over_frame(model, frame, mask) for frame, mask in frames]
            masked.append((sample, masks))
    # nothing is marked: no frames, or empty masks
    if not any(mask.any() for _, masks in masked for mask in masks):
        samples = [sample for sample, _ in masked]
        return with_modalities(model, network_inputs(model, samples, prompts))
    samples = [grey_out(sample, masks) for sample, masks in masked]
    inputs = network_inputs(model, samples, prompts)
    marks = hidden_pixels(model, inputs, masked, prompts)
    if "cross_attention_mask" in inputs:
        return without_keys(model, inputs, marks)
    return without_visual(model, inputs, marks)


__all__ = ["hide", "require_hiding"]
