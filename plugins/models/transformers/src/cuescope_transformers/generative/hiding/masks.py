"""Where a mask over the frames comes to lie in what the processor makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from PIL import Image
from torch import Tensor

from cuescope_sdk import Frame, Sample
from cuescope_transformers.generative.inputs import Inputs, network_inputs
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.patches import grid_shape, seen_area

GREY = (128, 128, 128)
WHITE = 255
QUARTER = 64.5 / WHITE  # a share of exactly a quarter is drawn as 64
Mask = Bool[np.ndarray, "row col"]
Masks = Sequence[Mask]
WITHIN = 0.05  # of a cell
FINE = 8  # cells, of each of the mask's, where it is laid over a part of the frame
Share = Float[np.ndarray, "height width"]
Levels = Float[np.ndarray, "height width"]  # of grey, up to 255
Draw = Callable[[Image.Image, Share], Image.Image]


@dataclass(frozen=True)
class Ends:
    """A quarter of the way from what a processor makes of black to what it makes of white.

    `falls` is True where white is less; None where it is so nowhere.
    """

    quarter: Float[Tensor, "*pixel"]
    falls: Bool[Tensor, "*pixel"] | None

    @classmethod
    def of(cls, black: Tensor, white: Tensor) -> Self:
        falls = white < black
        quarter = torch.lerp(black, white, QUARTER)
        return cls(quarter, falls if falls.any() else None)

    def more_than_a_quarter(self, drawn: Tensor) -> Bool[Tensor, "*pixel"]:
        """Where a drawing is lighter than that."""
        if self.falls is None:
            return drawn > self.quarter
        return torch.where(self.falls, drawn < self.quarter, drawn > self.quarter)


def opened(model: GenerativeModel, sample: Sample) -> Sample:
    """The sample with its frames loaded once: they are drawn, measured and shown."""
    frames = []
    for frame in sample.frames:
        image = model.ahead.take(frame.key, frame.load)
        frames.append(_frame_of(image, frame.key))
    return replace(sample, frames=tuple(frames))


def over_frame(model: GenerativeModel, frame: Frame, mask: Mask) -> Mask:
    """A mask to be stretched over the frame, whatever its resolution.

    On the model's own grid it lay over what the network sees, which may be a part of the frame.
    """
    width, height = frame.load().size
    if mask.shape == (height, width) or mask.shape != grid_shape(model, frame):
        return mask
    down, across = seen_area(model, frame)
    rows, cols = mask.shape
    framed = np.pad(mask, 1)  # False where nothing is seen
    row = 1 + _cells_over(down, rows)
    col = 1 + _cells_over(across, cols)
    row = row.clip(0, rows + 1)
    col = col.clip(0, cols + 1)
    return np.asarray(framed[row[:, None], col])


def _cells_over(seen: tuple[float, float], side: int) -> Int[np.ndarray, " cell"]:
    """Along a frame, which of `side` cells lies there; other numbers where nothing is seen."""
    start, stop = seen
    # nothing is cut off, and nothing is added
    apart = max(abs(start), abs(stop - 1))
    if apart < WITHIN / side:
        return np.arange(side)
    fine = FINE * side
    middles = (np.arange(fine) + 0.5) / fine
    shares = (middles - start) / (stop - start)
    return np.floor(shares * side).astype(int)


def hidden_pixels(
    model: GenerativeModel,
    inputs: Inputs,
    masked: Sequence[tuple[Sample, Masks]],
    prompts: Sequence[str],
) -> dict[str, Bool[Tensor, "*pixel"]]:
    """True for the pixels in `inputs`, by name, of which more than a quarter is under the masks.

    A drawing of the masks goes the way of the frames, resized, cut and padded alike, and is
    compared with black and white ones. What blurs over the edge of a mask is less.
    """

    # no processor tells where a pixel goes, so its own work on a drawing is looked at: normalising
    # keeps shares, whatever it does to values
    def process(draw: Draw) -> Inputs:
        samples = [redraw(sample, masks, draw) for sample, masks in masked]
        outputs = network_inputs(model, samples, prompts)
        return {name: outputs[name] for name in floats}

    floats = [
        name
        for name, value in inputs.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    ]
    # batches of frames of the same sizes are drawn white but once
    sizes = tuple(_sizes_of(sample) for sample, _ in masked)
    if sizes not in model.ends:
        black = process(lambda image, share: Image.new("RGB", image.size))
        white = process(lambda image, share: Image.new("RGB", image.size, "white"))
        model.ends.clear()
        model.ends[sizes] = {name: Ends.of(black[name], white[name]) for name in floats}
    drawn = process(lambda image, share: _grey(WHITE * share).convert("RGB"))
    ends = model.ends[sizes]
    marks = {name: ends[name].more_than_a_quarter(drawn[name]) for name in floats}
    return {name: _merge_patches(model, inputs, mark) for name, mark in marks.items()}


def _merge_patches(
    model: GenerativeModel, inputs: Inputs, marked: Bool[Tensor, "*pixel"]
) -> Bool[Tensor, "*pixel"]:
    """The same, and in flat patches all those that are merged into one token with a hidden one.

    Such patches come block by block (Qwen2-VL).
    """
    side = getattr(model.processor.image_processor, "merge_size", None)
    is_packed = any(name.endswith("grid_thw") for name in inputs) and marked.ndim == 2
    if side is None or not is_packed or len(marked) % side**2:
        return marked
    token = marked.any(dim=1).view(-1, side**2).any(dim=1)
    return token.repeat_interleave(side**2)[:, None].expand_as(marked)


def _sizes_of(sample: Sample) -> tuple[tuple[int, int], ...]:
    return tuple(frame.load().size for frame in sample.frames)


def grey_out(sample: Sample, masks: Masks) -> Sample:
    """The sample with grey under the masks, so that resampling carries nothing away from there."""

    def draw(image: Image.Image, share: Share) -> Image.Image:
        under = _grey(WHITE * (share > 0))
        return Image.composite(Image.new("RGB", image.size, GREY), image, under)

    return redraw(sample, masks, draw)


def redraw(sample: Sample, masks: Masks, draw: Draw) -> Sample:
    """The sample with each frame drawn anew, from its pixels and how much of each is masked."""
    frames = []
    for frame, mask in zip(sample.frames, masks, strict=True):
        image = frame.load()
        share = _coverage(mask.tobytes(), mask.shape, image.height, image.width)
        frames.append(_frame_of(draw(image, share), f"{frame.key}/drawn"))
    return sample.with_frames(tuple(frames), "drawn")


def _frame_of(image: Image.Image, key: str) -> Frame:
    """A frame that never leaves this process, so that its pixels need not be digested."""
    return Frame(key, lambda: image)


def _grey(levels: Levels) -> Image.Image:
    return Image.fromarray(np.rint(levels).astype(np.uint8))


def coverage(mask: Mask, height: int, width: int) -> Share:
    """The share of each pixel under a mask that is stretched over them, in [0, 1]."""
    rows = _stretch(mask.astype(int), height)
    return _stretch(rows.T, width).T / mask.size


# a mask greys its frame, and is drawn for the processor as well
@lru_cache(maxsize=64)
def _coverage(cells: bytes, shape: tuple[int, int], height: int, width: int) -> Share:
    mask = np.frombuffer(cells, dtype=bool).reshape(shape)
    share = coverage(mask, height, width)
    share.flags.writeable = False
    return share


def _stretch(
    share: Int[np.ndarray, "old side"], new: int
) -> Int[np.ndarray, "new side"]:
    """As many rows over the same length, each `old` times the mean of what it covers."""
    old = len(share)
    if old == new:
        return share * new
    # in integers, so that a share of exactly a quarter is one: sums up to each new border
    borders = np.arange(new + 1) * old
    row, past = np.divmod(borders, new)
    sums_of_rows = share.cumsum(axis=0)
    before = np.pad(sums_of_rows, ((1, 0), (0, 0)))
    following = np.pad(share, ((0, 1), (0, 0)))
    sums = before[row] * new + past[:, None] * following[row]
    return np.asarray(np.diff(sums, axis=0))
