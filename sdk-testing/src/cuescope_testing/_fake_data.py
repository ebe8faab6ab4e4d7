"""A tiny data set with a planted cue: three classes, a red corner, and a blue corner as decoy."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool
from pydantic import Field, PositiveInt

from cuescope_sdk import (
    Context,
    Feature,
    Frame,
    Names,
    Options,
    PlantedCue,
    Plugin,
    Sample,
    UserError,
    digest,
    generator as seeded,
)

Box = tuple[int, int, int, int]  # left, top, right, bottom, in cells

SIDE = 8
LABELS = ("top", "middle", "bottom")
SPLITS = ("train", "val", "test")
CUE = "red corner"
DECOY = "blue corner"
CUE_BOX = (0, 0, 3, 3)
DECOY_BOX = (0, 5, 3, 8)
# where each is, and the channel that it is painted in
CORNERS = {CUE: (CUE_BOX, 0), DECOY: (DECOY_BOX, 2)}
SIGNAL_ROWS = (slice(0, 2), slice(3, 5), slice(6, 8))
# the share of each label's samples that shows the cue; the model takes every one for the first
CUE_RATES = (0.75, 0.3, 0.3)
# about as frequent as the cue, and the fake model does not care for it
DECOY_RATE = 0.4
# Where the cue helps, it stands in for the green patch of the first label, which then shows the
# patch of the second: a model that is right there is right by the cue alone. Where it trades, the
# first label has no patch, so that the model guesses without the corner, and the corner misleads in
# as many of the others as leave the accuracy of all labels together about the same without it.
RATES = {
    "misleads": CUE_RATES,
    "helps": (1.0, 0.0, 0.0),
    "trades": (0.4, 0.07, 0.07),
    "rare": (0.05, 0.05, 0.05),
}
# A feature is on the cue where this share of its occurrences is; an occurrence with a region is
# where it covers this share of the corner.
POINTS = 0.8
COVERS = 0.5


class FakeDataOptions(Options):
    """Options of the drawing."""

    samples: PositiveInt = Field(
        150, description="sequences, label after label in turn"
    )
    frames: PositiveInt = Field(3, description="frames of a sequence")
    labels: int = Field(
        len(LABELS),
        ge=1,
        le=len(LABELS),
        description="how many classes",
    )
    scale: PositiveInt = Field(
        1, description="pixels a side of each of the 8 x 8 cells"
    )
    split: Annotated[str, Names.part()] = Field("val", description="train, val or test")
    identical: bool = Field(False, description="every frame the same")
    cue: Literal["misleads", "helps", "trades", "rare"] = Field(
        "misleads",
        description="whether the red corner makes the model err (often, or in one sample of "
        "twenty), is why it is right, or trades the one for the other",
    )
    wrong_labels: float = Field(
        0.0, ge=0, lt=1, description="share of samples whose label is another's"
    )
    seed: int = Field(0, ge=0, description="another seed, another draw")


class FakeDataset(Plugin):
    """A green patch tells the class; a red corner goes with "top"; a blue corner means nothing.

    Where the cue "helps", the samples of "top" show it in place of their green patch; where it
    "trades", the samples of "top" have no patch, and some the corner.
    The red corner shows in all frames of a sequence but the last. It is annotated under "cues".
    Every sample is drawn by itself, and is a group of its own.
    The foreground is the right of the frame: the green patch, and the strip of noise beside it.
    """

    Options: ClassVar[type[Options]] = FakeDataOptions
    options: FakeDataOptions
    cue: ClassVar[str] = CUE
    decoy: ClassVar[str] = DECOY
    all_labels: ClassVar[tuple[str, ...]] = LABELS
    facts: ClassVar[Mapping[str, str]] = {"cue": CUE, "decoy": DECOY}
    planted_cues: ClassVar[tuple[PlantedCue, ...]] = (
        PlantedCue(key=CUE, name=CUE, labels=LABELS[:1]),
    )

    def __init__(self, options: FakeDataOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.split not in SPLITS:
            raise UserError(
                "fake: split",
                expected=", ".join(SPLITS),
                got=f"'{options.split}'",
            )
        self.labels = LABELS[: options.labels]
        # by split, so that no split is another's start
        rng = seeded(options.seed, "fake-data", options.split)
        # label after label in turn: any part of the data set has all of them
        self._label = np.arange(options.samples) % options.labels
        self._cue = _spread(self._label, RATES[options.cue], rng)
        self._decoy = _spread(self._label, (DECOY_RATE,) * len(LABELS), rng)
        self._written = self._label.copy()
        if options.wrong_labels:
            count = round(options.wrong_labels * options.samples)
            wrong = rng.permutation(options.samples)[:count]
            self._written[wrong] = (self._label[wrong] + 1) % options.labels
        # drawn once for all, so that a sample is the same whichever is read first
        size = (options.samples, options.frames, SIDE, SIDE, 3)
        # dark, so that the corners stand out
        self._noise = rng.integers(0, 60, size, dtype=np.uint8)
        # options alone decide what is drawn
        self.fingerprint = digest("fake-data", options.model_dump())

    def __len__(self) -> int:
        return self.options.samples

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        presence = self._presence(index)
        # the split is part of it: no sample of one split is in another
        key = f"{self.options.split}-{index:03d}"
        return Sample(
            key=key,
            group=key,
            frames=tuple(
                self._frame(index, number, cue) for number, cue in enumerate(presence)
            ),
            choices=self.labels,
            label=self.labels[self._written[index]],
            annotations=self.annotations(presence),
        )

    def annotations(self, shown: tuple[bool, ...]) -> dict[str, Any]:
        """Annotations of a sample besides its label."""
        cells = np.zeros((SIDE, SIDE), dtype=bool)
        # the left three columns are background: both corners lie there
        cells[:, 3:8] = True
        scale = self.options.scale
        foreground = cells.repeat(scale, axis=0).repeat(scale, axis=1)
        return {
            "split": self.options.split,
            "foreground": foreground,
            "cues": {CUE: shown},
        }

    def split(self, name: str) -> "FakeDataset":
        """The same options on another split; raises UserError where there is no such split."""
        return type(self)(self.options.model_copy(update={"split": name}), self.context)

    def _presence(self, index: int) -> tuple[bool, ...]:
        """True if each frame shows the cue."""
        frames = self.options.frames
        with_cue = max(frames - 1, 1) if self._cue[index] else 0
        return tuple(frame < with_cue for frame in range(frames))

    def _frame(self, index: int, number: int, cue: bool) -> Frame:
        if self.options.identical:
            # the noise and the patch of the first sample's first frame for all
            index = number = 0
            cue = False
        pixels = self._noise[index, number].copy()
        label = self._label[index]
        if self.options.cue == "helps" and self._cue[index]:
            # without the corner the model is wrong: what it sees is the patch of the second label
            label = 1
        if label > 0 or self.options.cue != "trades":
            pixels[SIGNAL_ROWS[label], 5:8] = (0, 220, 0)
        if cue:
            _part(pixels, CUE_BOX)[:] = (230, 0, 0)
        if self._decoy[index]:
            _part(pixels, DECOY_BOX)[:] = (0, 0, 230)
        scale = self.options.scale
        return Frame.from_array(pixels.repeat(scale, axis=0).repeat(scale, axis=1))


def _part(pixels: np.ndarray, box: Box) -> np.ndarray:
    left, top, right, bottom = box
    return pixels[top:bottom, left:right]


def _spread(
    label: np.ndarray,
    rates: tuple[float, ...],
    rng: np.random.Generator,
) -> Bool[np.ndarray, " sample"]:
    """Who bears it: this share of each label's samples, to the nearest sample."""
    bears = np.zeros(len(label), dtype=bool)
    for index, rate in enumerate(rates):
        # label by label, so that the rates hold in each
        samples = rng.permutation(np.flatnonzero(label == index))
        # so many, not about so many: a small data set has its cue too
        bears[samples[: round(rate * len(samples))]] = True
    return bears


def points_at(
    feature: Feature,
    samples: Mapping[str, Sample],
    corner: str = CUE,
) -> float | None:
    """Share of a feature's occurrences that lie on the cue (or on the decoy); None without any.

    An occurrence with a region lies on the cue where it covers half of the corner or more. One
    without lies on it where the frame shows it, and without a frame, where any frame does.
    """
    box, channel = CORNERS[corner]

    hits = []
    for occurrence in feature.occurrences:
        frames = samples[occurrence.sample].frames
        if occurrence.frame is not None:
            frames = (frames[occurrence.frame],)
        if occurrence.region is None:
            hits.append(any(shows(frame, box, channel) for frame in frames))
        else:
            # regions are pixels, which a data set of larger cells draws larger
            scale = frames[0].load().width / SIDE
            region = np.array(occurrence.region) / scale
            hits.append(_share_covered(region, np.array(box)) >= COVERS)
    return float(np.mean(hits)) if hits else None


def _share_covered(region: np.ndarray, corner: np.ndarray) -> float:
    """How much of a corner a region covers, both in cells."""
    starts = np.maximum(corner[:2], region[:2])
    # a region beside the corner ends before it starts
    ends = np.minimum(corner[2:], region[2:])
    common = (ends - starts).clip(min=0).prod()
    return float(common / (corner[2:] - corner[:2]).prod())


def shows(frame: Frame, box: Box, channel: int) -> bool:
    """True if the corner is painted in the colour of `channel`."""
    image = frame.load()
    scale = image.width // SIDE
    left, top, right, bottom = (edge * scale for edge in box)
    corner = _part(np.asarray(image), (left, top, right, bottom))
    return bool((corner[..., channel] > 200).all())
