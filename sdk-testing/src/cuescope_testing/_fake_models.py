"""A model that leans on the planted cue as far as it is told to."""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from PIL import Image
from pydantic import Field, NonNegativeFloat

from cuescope_core.amounts import count_of
from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    HideTokens,
    Options,
    Plugin,
    Response,
    Trial,
    UserError,
    digest,
    generator as seeded,
)
from cuescope_testing._fake_data import CORNERS, CUE, LABELS, SIDE, SIGNAL_ROWS

NAMED = len(LABELS) + 2
# two columns of noise, in three colours
STRIP = 2 * SIDE * 3
NOISE_CEILING = 60 / 255
# the corner outweighs the patch, and the patch outweighs the noise most of the time
SIGNAL = 4.0
LEAN = 12.0
NOISE = 1.5
LONGEST = 500.0  # of the weights of a choice as embedded


class FakeModelOptions(Options):
    """How the model errs."""

    lean: NonNegativeFloat = Field(
        1.0, description="reliance on the red corner; 0: none at all"
    )
    noise: NonNegativeFloat = Field(
        1.0, description="errors from pixels that mean nothing"
    )
    signal: NonNegativeFloat = Field(
        1.0, description="use of the green patch; 0: none at all"
    )


class FakeModel(Plugin):
    """A linear readout of the green patch, the two corners, and a strip of noise.

    It takes what shows the red corner for "top", as far as `lean` says, and errs on about one
    clip in ten for no reason, as far as `noise` says; without `signal` it does not look at the
    green patch. Choices that it was not made for are read out by random weights of their own.
    """

    Options: ClassVar[type[Options]] = FakeModelOptions
    options: FakeModelOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(["logits", "text", "embedding"]),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
    )

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        # all options change answers, so all are in it
        self.fingerprint = digest("fake-model", options.model_dump())
        self.facts = {"reliance on the red corner": str(options.lean)}
        # by the key of a frame: methods show a frame many times, and each is read once
        self._pixels: dict[str, Float[np.ndarray, "row col 3"]] = {}
        # of each choice, for every trial is read out by them
        self._weights: dict[str, Float[np.ndarray, " dim"]] = {}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Whatever each trial asks for."""
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        """One response; raises UserError for an edit that is not declared."""
        features = self.see(trial)
        choices = trial.sample.choices
        outputs = trial.outputs
        logits = np.array([features @ self.readout(choice) for choice in choices])
        # a sample without choices has nothing to say
        best = choices[int(logits.argmax())] if choices else ""
        return Response(
            logits=logits if "logits" in outputs else None,
            text=best if "text" in outputs else None,
            # the last number meets the one that `embed_choices` adds
            embedding=np.append(features * EMBEDDED, 0)
            if "embedding" in outputs
            else None,
        )

    def see(self, trial: Trial) -> Float[np.ndarray, " dim"]:
        """Green patch of each class, red corner, blue corner (0 to 1), then noise; grey gives 0."""
        pixels = np.stack(list(map(self.pixels, trial.sample.frames)))
        if trial.edit is not None:
            if not isinstance(trial.edit, HideTokens):
                raise UserError(
                    "fake: edit",
                    expected="hide-tokens",
                    got=f"'{trial.edit.kind}'",
                )
            # hidden is black: features are differences of colours, so nothing is seen
            pixels = np.where(
                _at_cells(trial.edit.mask, len(pixels))[..., None], 0.0, pixels
            )
        return np.asarray(FEATURES @ pixels.mean(axis=0).ravel())

    def pixels(self, frame: Frame) -> Float[np.ndarray, "row col 3"]:
        """A frame as it sees it, 8 x 8, from 0 to 1."""
        if frame.key not in self._pixels:
            self._pixels[frame.key] = pixels_of(frame)
        return self._pixels[frame.key]

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The 8 x 8 pixels that it sees, uint8."""
        return [np.rint(self.pixels(frame) * 255).astype(np.uint8) for frame in frames]

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """A patch is a pixel; its features are its colour, and whether it is read as noise."""
        strip = np.zeros((SIDE, SIDE, 1))
        strip[:, 3:5] = 1
        features = []
        for frame in frames:
            pixels = self.pixels(frame)
            tokens = np.concatenate([pixels, strip], axis=2, dtype=np.float32)
            features.append(tokens)
        return features

    def embed_choices(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Rows whose dot products with an embedding are the logits, but for one factor.

        A last number, which every embedding has as 0, makes weights of any length unit rows.
        """
        weights = np.stack([self.readout(choice) for choice in choices]) / EMBEDDED
        # longer than weights get with these options, so that the rest has a root
        reach = LONGEST * (1 + self.options.lean + self.options.noise)
        rest = np.sqrt(reach**2 - (weights**2).sum(axis=1))
        return np.column_stack([weights, rest]) / reach

    def readout(self, choice: str) -> Float[np.ndarray, " dim"]:
        """The weights of a choice."""
        if choice not in self._weights:
            self._weights[choice] = self._weights_of(choice)
        return self._weights[choice]

    def _weights_of(self, choice: str) -> Float[np.ndarray, " dim"]:
        # a choice by any name has weights, drawn from the name alone
        random = _random_readout(choice)
        if choice not in LABELS:
            return random
        weights = np.zeros(NAMED + STRIP)
        weights[LABELS.index(choice)] = SIGNAL * self.options.signal
        weights[len(LABELS)] = LEAN * self.options.lean * (choice == LABELS[0])
        weights[NAMED:] = NOISE * self.options.noise * random[NAMED:]
        return weights


class FakeReader(FakeModel):
    """The same, but that it reads its question: told of the red corner, it does not lean on it.

    Any other question makes it lean a little less.
    """

    capabilities: ClassVar[Capabilities] = FakeModel.capabilities.model_copy(
        update={"exposes": frozenset({"patches"})}
    )

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("fake-reader", options.model_dump())

    def see(self, trial: Trial) -> Float[np.ndarray, " dim"]:
        """As of `FakeModel`, the red corner as far as the question lets it be looked at."""
        features = super().see(trial)
        question = trial.sample.question
        if question:
            # the feature behind those of the labels is the red corner
            features[len(LABELS)] *= 0.0 if CUE in question else 0.95
        return features


def _feature_matrix() -> Float[np.ndarray, "dim value"]:
    """Weight of each pixel value in each feature (row, col, channel)."""
    areas = [(rows, slice(5, 8), 1) for rows in SIGNAL_ROWS]
    for (x0, y0, x1, y1), channel in CORNERS.values():
        areas += [(slice(y0, y1), slice(x0, x1), channel)]
    weights = np.zeros((NAMED, SIDE, SIDE, 3))
    for weight, (rows, cols, channel) in zip(weights, areas, strict=True):
        weight[rows, cols, channel] = 1
        weight[rows, cols, (channel + 1) % 3] = -1  # grey noise cancels, colour stays
        # the mean of the area: 1 is a corner that is wholly painted
        weight /= (weight > 0).sum()
    strip = np.zeros((SIDE, 2, 3, SIDE, SIDE, 3))
    for row, col, channel in np.ndindex(SIDE, 2, 3):
        pixel = strip[row, col, channel, row, 3 + col]
        # colour less grey: a painted or grey frame has no noise
        pixel -= 1 / 3
        pixel[channel] += 1
    strip /= NOISE_CEILING
    return np.concatenate([weights.reshape(NAMED, -1), strip.reshape(STRIP, -1)])


FEATURES = _feature_matrix()
# the noise is shrunk, or it would decide which embeddings lie near one another
EMBEDDED = np.concatenate([np.ones(NAMED), np.full(STRIP, 0.05)])


@cache
def _random_readout(choice: str) -> Float[np.ndarray, " dim"]:
    return seeded(0, "fake-model", choice).normal(size=NAMED + STRIP)


def pixels_of(frame: Frame) -> Float[np.ndarray, "row col 3"]:
    image = frame.load()
    # data of larger cells are seen as the same 8 x 8
    if image.size != (SIDE, SIDE):
        image = image.resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.float64) / 255


def _at_cells(mask: np.ndarray, frames: int) -> np.ndarray:
    """A mask of any resolution, at the model's; raises UserError where it does not fit."""
    count, rows, cols = mask.shape
    fits = all(SIDE % size == 0 or size % SIDE == 0 for size in (rows, cols))
    if count != frames or not fits:
        raise UserError(
            "fake: a mask that does not fit",
            got=f"shape {mask.shape}",
            expected=f"{count_of(frames, 'frames')} of {SIDE} x {SIDE} cells, or so many parts "
            f"of them",
        )
    cells = np.arange(SIDE)
    # each cell looks up the mask at its own place
    return mask[:, cells * rows // SIDE][:, :, cells * cols // SIDE]
