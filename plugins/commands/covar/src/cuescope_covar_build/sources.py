"""The photos that a build starts from, each with the mask of its object."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

import cv2
import numpy as np

from cuescope_covar_build.geometry import Mask, Pixels, resize_mask
from cuescope_sdk import (
    BadDataError,
    Context,
    Dataset,
    Frame,
    Sample,
    Segmenter,
    UserError,
    generator,
)
from cuescope_sdk.explain import Canvas, foreground_of

SMALLEST = 32  # pixels of a side
LARGEST = 8192


@dataclass(frozen=True, eq=False)
class Source:
    """A photo (row, col, rgb) with the mask of its object."""

    sample: Sample
    image: Pixels
    mask: Mask

    @property
    def group(self) -> str:
        """What was drawn independently: the sample's group, else the photo."""
        return self.sample.group or self.sample.key

    @property
    def label(self) -> str:
        """Its class."""
        return str(self.sample.label)

    @property
    def licence(self) -> str:
        """What the data set says that may be done with it."""
        known = self.sample.annotations
        return str(known.get("licence") or known.get("license") or "")


def choose_samples(
    data: Dataset,
    classes: Sequence[str],
    per_class: int | None,
    limit: int | None,
    seed: int,
) -> list[int]:
    """The places of the samples that are built from, in the order of the data set.

    `per_class` and `limit` are drawn; of a larger number a smaller one is a part. Raises UserError
    where nothing has one of the classes for a label.
    """
    by_class: dict[str, list[int]] = {name: [] for name in classes}
    for index in range(len(data)):
        label = data[index].label
        if label in by_class:
            by_class[label].append(index)
    chosen: list[int] = []
    for name, indices in by_class.items():
        # with the name: another class changes no draw of this one
        chosen += _draw(indices, per_class, seed, "per class", name)
    if not chosen:
        names = ", ".join(classes[:8]) or "(it has none)"
        raise UserError(
            "covar: nothing to build from",
            expected=f"samples with one of the labels {names}",
            got=f"none of {len(data):,}",
        )
    return _draw(sorted(chosen), limit, seed, "limit")


def _draw(
    indices: list[int],
    most: int | None,
    seed: int,
    *names: str,
) -> list[int]:
    """At most so many of them, in their order."""
    if most is None or most >= len(indices):
        return indices
    # the first of one permutation: a larger number only adds
    order = generator(seed, "covar", *names).permutation(len(indices))
    return sorted(indices[position] for position in order[:most])


class Sources:
    """The chosen samples as photos with masks, one after another.

    A mask is the data set's own, else what the segmenter outlines for the label. `of` are the
    places of the samples that were chosen from. Raises BadDataError for a photo that cannot be
    built from, with what to do.
    """

    def __init__(
        self,
        data: Dataset,
        indices: Sequence[int],
        segmenter: Segmenter | None,
        side: int | None,
        of: Sequence[int] | None = None,
    ) -> None:
        self._data = data
        self._indices = indices
        self._of = of or indices
        self._segmenter = segmenter
        self._side = side

    def __len__(self) -> int:
        return len(self._indices)

    def samples(self) -> Iterator[Sample]:
        """The samples, unopened."""
        return map(self._data.__getitem__, self._indices)

    def typical(self, count: int) -> list[Sample]:
        """So many samples, spread over those that were chosen from; one that fails is left out.

        They do not depend on how many were chosen, so a build of more photos finds the same.
        """
        count = min(count, len(self._of))
        samples = []
        spread = np.linspace(0, len(self._of) - 1, count).round()
        for position in spread.astype(int):
            sample = self._data[self._of[position]]
            with suppress(BadDataError):
                self.open(sample)
                samples.append(sample)
        # where none opens, the build says why
        return samples or list(self.samples())[:count]

    def check(self, context: Context) -> tuple[int, int]:
        """Look at all photos and annotated masks; the rows and columns of a middling one.

        Raises BadDataError for the first that cannot be built from, before anything is made.
        """
        sizes = []
        with context.progress("Checking photos and masks", len(self)) as advance:
            for sample in self.samples():
                # a segmenter takes its time, and is not asked yet
                if self._segmenter is None or foreground_of(sample) is not None:
                    sizes.append(self.open(sample).mask.shape)
                else:
                    sizes.append(_pixels(sample, self._side).shape[:2])
                advance(1)
        sizes.sort(key=prod)
        rows, cols = sizes[len(sizes) // 2]
        return rows, cols

    def open(self, sample: Sample) -> Source:
        """A photo with its mask."""
        image = _pixels(sample, self._side)
        mask = self._mask(sample)
        if mask.shape != image.shape[:2]:
            mask = resize_mask(mask, image.shape[1::-1])
        if not mask.any() or mask.all():
            raise _fault(
                sample,
                "a mask with the object in a part of the image",
                "one that covers the whole image" if mask.any() else "an empty one",
            )
        return Source(sample, image, mask)

    def _mask(self, sample: Sample) -> Mask:
        """The object's, as large as the photo is in the data."""
        frame = Canvas.frame(sample)
        mask = foreground_of(sample)
        if mask is not None:
            cols, rows = frame.load().size
            if mask.shape != (rows, cols):
                raise _fault(
                    sample,
                    f"a mask of {rows} x {cols} (rows x columns), as its image",
                    f"{mask.shape[0]} x {mask.shape[1]}",
                )
            return mask
        if self._segmenter is None:
            raise _fault(
                sample,
                "a mask of its object",
                "none",
                "Data with foreground masks, or --tool segmenter=SPEC, tells where the object is",
            )
        return outline(self._segmenter, frame, str(sample.label))


def outline(segmenter: Segmenter, frame: Frame, label: str) -> Mask:
    """Where the object is in an image that no geometry tells it of."""
    (masks,) = segmenter.segment([frame], [label])
    return np.asarray(np.any(masks, axis=0))


def _pixels(sample: Sample, side: int | None) -> Pixels:
    pixels = np.asarray(Canvas.frame(sample).load())
    rows, cols = pixels.shape[:2]
    longest = max(rows, cols)
    if side is not None and longest > side:
        cols = max(1, round(side / longest * cols))
        rows = max(1, round(side / longest * rows))
        pixels = cv2.resize(pixels, (cols, rows), interpolation=cv2.INTER_AREA)
    if min(rows, cols) < SMALLEST or max(rows, cols) > LARGEST:
        raise _fault(
            sample,
            f"sides of {SMALLEST} to {LARGEST:,} pixels",
            f"{cols:,} x {rows:,}",
            "--side 1024 shrinks larger images" if max(rows, cols) > LARGEST else None,
        )
    return pixels


def _fault(
    sample: Sample,
    expected: str,
    got: str,
    remedy: str | None = None,
) -> BadDataError:
    return BadDataError(
        f"covar: image '{sample.key}'",
        expected=expected,
        got=got,
        remedy=remedy or "Mend it, or leave it out of the data",
    )
