"""Where the visual tokens of any family lie on an image, by what its processor does to drawings.

Families cut images in many ways: one view, a view and tiles, patches in rows or block by block. No
processor says where a pixel goes. So ramps are drawn, which tell where each part of its output lies
on the frame. Then places are drawn, on an image of the size that the network sees: where they come
back exactly, it is known which number of the input is which pixel. Tokens come in the order of the
parts, and row by row within them. Where a part shows the whole image its tokens are taken, else
those of the tiles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from cuescope_sdk import Frame, Sample
from cuescope_transformers.generative.inputs import (
    Inputs,
    is_among,
    media_of,
    processor_outputs,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.prompts import render_prompt

Size = tuple[int, int]
Numbers = Int[np.ndarray, " part"]
Grid = Int[np.ndarray, "row col"]

WHITE = 255
CHANNELS = 3
# places are drawn in two digits, levels apart from one another: some processors round to halves
DIGITS = 64
STEP = 4
DIMMEST = 1e-6  # of what black and white are apart where a pixel is shown
EXACT = 0.45  # of a digit
WHOLE = 0.8  # of both sides of the frame that a part must span to show it all
GAP = 0.4  # of a part's length, between the middles of two rows
COPIES = (1, 2)  # of an image in a flat patch: some take it for a video of two frames


@dataclass(frozen=True)
class TokenGrid:
    """What the network sees of images of some size, and the tokens that it reads of it.

    `source` says for each pixel which number of the input `name` it is; `black` and `white` are
    what that number can be. `token` (row, col) are numbers among the visual tokens of the image.
    """

    name: str
    source: Int[np.ndarray, "height width 3"]
    black: Float[np.ndarray, "height width 3"]
    white: Float[np.ndarray, "height width 3"]
    token: Grid

    def canvas(self, inputs: Inputs) -> UInt8[np.ndarray, "height width 3"]:
        """The pixels of an image, given what its processor made of it."""
        numbers = _numbers(inputs[self.name]).ravel()[self.source]
        levels = WHITE * (numbers - self.black) / (self.white - self.black)
        whole = np.rint(levels).clip(0, WHITE)
        return np.asarray(whole, dtype=np.uint8)


def grid_of(model: GenerativeModel, frame: Frame) -> TokenGrid | None:
    """The grid of images of a frame's size; None where the processor does not tell it."""
    width, height = frame.load().size
    if (height, width) not in model.grids:
        model.grids[height, width] = find_grid(model, (height, width))
    grid: TokenGrid | None = model.grids[height, width]
    return grid


def find_grid(model: GenerativeModel, size: Size) -> TokenGrid | None:
    """The grid of images of a size, by drawings."""
    drawings = (*ends(size), *slopes(size))
    outputs = [process(model, draw(levels)) for levels in drawings]
    black = outputs[0]
    prompt = torch.as_tensor(black["input_ids"])
    tokens = int(is_among(prompt, model.visual).sum())
    if not tokens:
        return None
    for name in black:
        parts = find_parts(name, outputs)
        if parts is None:
            continue
        for canvas, numbers in canvases(parts, tokens):
            grid = _grid_on(model, parts, tokens, canvas, numbers)
            if grid is not None:
                return grid
    return None


def without_words(
    model: GenerativeModel, frame: Frame
) -> tuple[list[Sample], list[str]]:
    """A frame with no words, as `network_inputs` takes it."""
    sample = Sample(key=frame.key, frames=(frame,))
    media = media_of(model, sample)
    return [sample], [render_prompt(model.processor, model.kind, "", media)]


def process(model: GenerativeModel, frame: Frame) -> Inputs:
    """What the processor makes of a frame; no weights are opened for it."""
    return processor_outputs(model, *without_words(model, frame))


def draw(levels: Float[np.ndarray, "height width *channel"]) -> Frame:
    """A frame of grey levels, or of those of each channel."""
    by_channel = levels if levels.ndim > 2 else levels[..., None]
    pixels = np.broadcast_to(by_channel, (*levels.shape[:2], CHANNELS))
    return Frame.from_array(np.rint(pixels).astype(np.uint8))


def ends(size: Size) -> Sequence[Float[np.ndarray, "height width"]]:
    """A black image and a white one."""
    return np.zeros(size), np.full(size, float(WHITE))


def slopes(size: Size) -> Sequence[Float[np.ndarray, "height width"]]:
    """From black to white, downwards and across."""
    height, width = size
    down = np.linspace(0, WHITE, height)[:, None] * np.ones(width)
    across = np.linspace(0, WHITE, width) * np.ones((height, 1))
    return down, across


# ------------------------------------------------------------------------------ parts on the frame


@dataclass(frozen=True)
class Parts:
    """The parts of one size in which the input `name` shows an image: views, tiles or patches.

    `shown` are those in which something of it is; `middle` and `length` say where, down and across,
    in shares of the frame's sides.
    """

    name: str
    shape: tuple[int, ...]
    size: Size
    shown: Numbers
    middle: Float[np.ndarray, "part 2"]
    length: Float[np.ndarray, "part 2"]

    @property
    def is_whole(self) -> Bool[np.ndarray, " part"]:
        """Which of those that are shown show the whole frame."""
        return np.asarray((self.length > WHOLE).all(axis=1))

    @property
    def numbers(self) -> int:
        """How many numbers a part has."""
        return _numbers_a_part(self.shape, self.size)

    @property
    def count(self) -> int:
        """All parts, those that pad among them."""
        return int(np.prod(self.shape)) // self.numbers

    def merged(self, tokens: int) -> int:
        """How many patches a side make a token; 1 where a part makes one token or more."""
        for count in (len(self.shown), self.count):
            side = isqrt(count // tokens)
            if count == side * side * tokens:
                return side
        return 1

    def levels(self, axis: int) -> int:
        """How many rows or columns the tiles or patches stand in."""
        tiles = ~self.is_whole
        middles = np.sort(self.middle[tiles, axis])
        length = np.median(self.length[tiles, axis])
        apart = GAP * length + DIMMEST
        gaps = np.diff(middles) > apart
        return 1 + int(gaps.sum())


def find_parts(name: str, outputs: Sequence[Inputs]) -> Parts | None:
    """Of an input, by what becomes of black, white, and ramps down and across."""
    value = outputs[0][name]
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return None
    if value.ndim < 2:
        return None
    size = _part_size(value.shape)
    if size is None:
        return None
    numbers = _numbers_a_part(value.shape, size)
    by_part = [_numbers(output[name]).reshape(-1, numbers) for output in outputs]
    black, white, *ramps = by_part
    seen = np.abs(white - black) > DIMMEST
    shown = np.flatnonzero(seen.any(axis=1))
    if not len(shown):
        return None
    starts = []
    stops = []
    for ramp in ramps:
        share = (ramp - black) / np.where(seen, white - black, 1)
        # a number that shows nothing is neither end
        first = np.where(seen, share, np.inf)
        last = np.where(seen, share, -np.inf)
        starts.append(first[shown].min(axis=1))
        stops.append(last[shown].max(axis=1))
    start = np.stack(starts, axis=1)
    stop = np.stack(stops, axis=1)
    return Parts(
        name=name,
        shape=tuple(value.shape),
        size=size,
        shown=shown,
        middle=(start + stop) / 2,
        length=stop - start,
    )


def _is_view(shape: Sequence[int]) -> bool:
    """Whether an input is laid out as torchvision lays out images; flat patches are not."""
    return len(shape) > 3 and shape[-3] == CHANNELS


def _part_size(shape: Sequence[int]) -> Size | None:
    """Rows and columns of pixels in a part; None for what is no image."""
    if _is_view(shape):
        return shape[-2], shape[-1]
    for copies in COPIES:
        side = isqrt(shape[-1] // (CHANNELS * copies))
        if side and side * side * CHANNELS * copies == shape[-1]:
            return side, side
    return None


def _numbers_a_part(shape: Sequence[int], size: Size) -> int:
    return CHANNELS * size[0] * size[1] if _is_view(shape) else shape[-1]


def _numbers(value: Tensor) -> Float[np.ndarray, "*shape"]:
    return np.asarray(value.double().numpy())


# ------------------------------------------------------------------- pixels and tokens on a canvas


def canvases(parts: Parts, tokens: int) -> Iterator[tuple[Size, Numbers]]:
    """Sizes that the image may have for the network, and the parts that would show it."""
    height, width = parts.size
    whole = parts.is_whole
    if whole.any():
        yield parts.size, parts.shown[whole][:1]
    if whole.all():
        return
    merged = parts.merged(tokens)
    # what ends a row of merged patches may be padding alone
    rows = merged * -(-parts.levels(0) // merged)
    cols = merged * -(-parts.levels(1) // merged)
    for numbers in (parts.shown[~whole], np.arange(parts.count)):
        if rows * cols == len(numbers):
            yield (rows * height, cols * width), numbers
            return


def _grid_on(
    model: GenerativeModel,
    parts: Parts,
    tokens: int,
    canvas: Size,
    numbers: Numbers,
) -> TokenGrid | None:
    """The grid where some parts show a canvas; None where the processor changes such an image."""
    drawn = _draw_places(model, parts, canvas)
    if drawn is None:
        return None
    black, white, *codes = drawn
    by_part = np.arange(black.size).reshape(parts.count, -1)
    flat = by_part[numbers].ravel()
    is_shown = np.abs(white - black)[flat] > DIMMEST
    flat = flat[is_shown]
    digits = []
    for code in codes:
        digit = _read_digits(code[flat], black[flat], white[flat])
        if digit is None:
            return None
        digits.append(digit)
    high_row, low_row, high_col, low_col, channel = digits
    row = high_row * DIGITS + low_row
    col = high_col * DIGITS + low_col
    height, width = canvas
    if row.max() >= height or col.max() >= width or channel.max() >= CHANNELS:
        return None
    source = np.full((height, width, CHANNELS), -1)
    source[row, col, channel] = flat
    token = _tokens(parts, tokens, source)
    if token is None or (source < 0).any():
        return None
    return TokenGrid(
        name=parts.name,
        source=source,
        black=black[source],
        white=white[source],
        token=token,
    )


def _draw_places(
    model: GenerativeModel,
    parts: Parts,
    canvas: Size,
) -> Sequence[Float[np.ndarray, " number"]] | None:
    """What becomes of black, white, and the digits of row, column and channel.

    None where an image of this size comes in other parts.
    """
    row, col = np.indices(canvas)
    channel = np.broadcast_to(np.arange(CHANNELS), (*canvas, CHANNELS))
    digits = [
        row // DIGITS,
        row % DIGITS,
        col // DIGITS,
        col % DIGITS,
        channel,
    ]
    drawings = [*ends(canvas), *(STEP * digit for digit in digits)]
    numbers = []
    for levels in drawings:
        output = process(model, draw(levels)).get(parts.name)
        if output is None or tuple(output.shape) != parts.shape:
            return None
        numbers.append(_numbers(output).ravel())
    return numbers


def _read_digits(
    numbers: Float[np.ndarray, " pixel"],
    black: Float[np.ndarray, " pixel"],
    white: Float[np.ndarray, " pixel"],
) -> Int[np.ndarray, " pixel"] | None:
    """The digits that became these numbers; None where they are mixed."""
    drawn = WHITE * (numbers - black) / (white - black) / STEP
    digits = np.rint(drawn).clip(0, DIGITS - 1)
    mixed = np.abs(drawn - digits).max(initial=0) > EXACT
    return None if mixed else digits.astype(int)


def _tokens(parts: Parts, tokens: int, source: np.ndarray) -> Grid | None:
    """The numbers of the tokens on the canvas; None where parts and tokens do not go together."""
    height, width = parts.size
    part = source[::height, ::width, 0] // parts.numbers
    rows, cols = part.shape
    merged = parts.merged(tokens)
    if merged > 1:
        whole = tokens * merged * merged == rows * cols
        return np.arange(tokens).reshape(rows // merged, -1) if whole else None
    each, left = divmod(tokens, len(parts.shown))
    down = isqrt(each * height // width)
    if left or not down or each % down:
        return None
    across = each // down
    # square cells, or nothing is known of them
    if down * width != across * height:
        return None
    within = np.arange(each).reshape(down, -1)
    number = np.searchsorted(parts.shown, part)
    before = each * number
    token = before[:, None, :, None] + within[:, None, :]
    return np.asarray(token.reshape(rows * down, -1))
