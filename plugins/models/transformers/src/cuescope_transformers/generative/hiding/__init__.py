"""`HideTokens` on generative models: token dropping (SpurLens, section 6.1 and appendix K).

A mask lies over the frames, at any resolution. The processor makes of the masked pixels what it
makes of the frames; where they come to lie, the pixels become NaN, and a token made of one is left
out of the vision encoder. A token of the language model that reads a hidden one, alone or merged
with others, is left out too, with its placeholder. All others keep their positions, and whatever
leaked would turn an answer into NaN.
"""

from collections.abc import Sequence

from cuescope_sdk import HideTokens, Trial, UserError
from cuescope_transformers.generative.hiding.families import HIDING
from cuescope_transformers.generative.hiding.masks import grey_out, mark_hidden
from cuescope_transformers.generative.inputs import (
    Batch,
    network_inputs,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel, arguments


def require_hiding(model: GenerativeModel, trial: Trial, edit: HideTokens) -> None:
    """Raises UserError where the model hides no tokens, or the mask is over other frames."""
    if model.kind not in HIDING:
        raise UserError(
            f"{model.title} cannot leave tokens out",
            expected=", ".join(HIDING),
            got=f"the architecture '{model.kind}'",
        )
    # Mllama hides keys by hooks, and needs no argument of `generate`
    if model.kind != "mllama" and "mm_encoder_outputs" not in arguments(
        model.network.forward
    ):
        raise UserError(
            f"{model.title} cannot leave tokens out",
            expected="a transformers whose `generate` takes `mm_encoder_outputs`",
            remedy="pip install -U transformers",
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
            masked.append((trial.sample, trial.edit.mask))
    samples = [grey_out(sample, mask) for sample, mask in masked]
    inputs = network_inputs(model, samples, prompts)
    # without frames there are no pixels to mark
    if not samples[0].frames:
        return with_modalities(model, inputs)
    mark_hidden(model, inputs, masked, prompts)
    return HIDING[model.kind](model, inputs)


__all__ = ["HIDING", "hide", "require_hiding"]
