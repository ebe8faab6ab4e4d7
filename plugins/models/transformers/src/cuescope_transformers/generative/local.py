"""Whether a processor takes each pixel by itself, seen by drawings before any weight is opened.

Tokens are hidden by grey pixels and by where a drawing of the mask comes to lie. Both take it that
a far pixel counts for nothing. A processor that stretches each picture to its own darkest and
lightest pixel, or divides by its spread, would show something else beside the mask.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_sdk import Frame, Sample, UserError
from cuescope_transformers.generative.grids import draw
from cuescope_transformers.generative.inputs import Inputs, media_of, processor_outputs
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.prompts import render_prompt

SIZE = (150, 222)
# of grey: what is resampled beside an edge is cut off neither above nor below
MIDDLE = 128
WHITE = 255
DULL = (96, 160)  # levels that are left to the visible half
SEED = 0
FRAMES = (1, 2)  # an image, and a video where the model takes any
ROUNDING = 1e-4
MIXED = (
    "what its processor makes of a pixel depends on the rest of the picture, so that a mask would "
    "change what is seen beside it"
)

Levels = Float[np.ndarray, "height width"]


def why_not_local(model: GenerativeModel) -> str | None:
    """Why masks cannot be drawn for the model's processor; None where they can."""
    reasons = []
    for count in FRAMES:
        try:
            reasons.append(None if _is_local(model, count) else MIXED)
        # a model may take images alone, or videos alone
        except UserError as refusal:
            reasons.append(str(refusal))
    if MIXED in reasons:
        return MIXED
    return None if None in reasons else reasons[0]


def _is_local(model: GenerativeModel, count: int) -> bool:
    """Whether what lies clear of one half of the frames is the same whatever that half shows."""
    outputs = [_process(model, levels, count) for levels in _drawings()]
    names = [name for name, value in outputs[0].items() if _is_of_pixels(value)]
    return all(_is_clear([output[name] for output in outputs]) for name in names)


def _drawings() -> Sequence[Levels]:
    """Black, white, grey, and grey lit in one half; noise that glares in that half, or is grey."""
    height, width = SIZE
    col = np.arange(width) * np.ones((height, 1))
    half = col >= width // 2
    # more than what changes, so that all that is clear of it is beyond the reach of resampling
    wide = col >= width // 2 - width // 8
    rng = np.random.default_rng(SEED)
    dull = rng.integers(*DULL, SIZE).astype(float)
    glaring = rng.integers(0, WHITE + 1, SIZE).astype(float)
    middle = np.full(SIZE, float(MIDDLE))
    return (
        np.zeros(SIZE),
        np.full(SIZE, float(WHITE)),
        middle,
        np.where(wide, WHITE, middle),
        np.where(half, glaring, dull),
        np.where(half, middle, dull),
    )


def _is_clear(values: Sequence[Tensor]) -> bool:
    """Of what one input is for each drawing."""
    if len({value.shape for value in values}) > 1:
        return False
    black, white, middle, lit, loud, hidden = (value.double() for value in values)
    close = ROUNDING * (white - black).abs().max()
    shown = (hidden - middle).abs() > close
    # of padding, or of sizes, nothing is told
    if not shown.any():
        return torch.equal(loud, hidden)
    clear = shown & ((lit - middle).abs() <= close)
    spans = ((white - black).abs() > close)[shown].all()
    same = ((loud - hidden).abs() <= close)[clear].all()
    return bool(clear.any() and spans and same)


def _is_of_pixels(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _process(model: GenerativeModel, levels: Levels, count: int) -> Inputs:
    """What the processor makes of as many frames without words."""
    frames: Sequence[Frame] = (draw(levels),) * count
    sample = Sample(key="a drawing", frames=tuple(frames))
    prompt = render_prompt(model.processor, model.kind, "", media_of(model, sample))
    return processor_outputs(model, [sample], [prompt])
