"""The photos that a build starts from, each with the mask of its object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cuescope_covar_build.geometry import Mask, Pixels
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
from cuescope_sdk.explain import foreground_of, single_frame

SMALLEST, LARGEST = 32, 8192  # pixels of a side


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
    data: Dataset, classes: Sequence[str], per_class: int | None, limit: int | None, seed: int
) -> list[int]:
    """The places of the samples that are built from, in the order of the data set.

    `per_class` and `limit` are drawn; of a larger number a smaller one is a part. Raises UserError
    where nothing has one of the classes for a label.
    """
    by_class: dict[str, list[int]] = {name: [] for name in classes}
    for index in range(len(data)):
        if (label := data[index].label) in by_class:
            by_class[label].append(index)
    chosen = [
        index
        for name, indices in by_class.items()
        for index in _some(indices, per_class, seed, "per class", name)
    ]
    if not chosen:
        raise UserError(
            "covar: nothing to build from",
            expected=f"samples with one of the labels {', '.join(classes[:8]) or '(it has none)'}",
            got=f"none of {len(data):,}",
        )
    return sorted(_some(sorted(chosen), limit, seed, "limit"))


def _some(indices: list[int], most: int | None, seed: int, *names: str) -> list[int]:
    if most is None or most >= len(indices):
        return indices
    order = generator(seed, "covar", *names).permutation(len(indices))
    return sorted(indices[place] for place in order[:most])


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
        self._data, self._indices = data, indices
        self._of = indices if of is None else of
        self._segmenter, self._side = segmenter, side

    def __len__(self) -> int:
        return len(self._indices)

    def samples(self) -> Iterator[Sample]:
        """The samples, unopened."""
        return (self._data[index] for index in self._indices)

    def typical(self, count: int) -> list[Sample]:
        """So many samples, spread over those that were chosen from; one that fails is left out.

        They do not depend on how many were chosen, so a build of more photos finds the same.
        """
        places = np.linspace(0, len(self._of) - 1, min(count, len(self._of))).round().astype(int)
        samples = [self._data[self._of[place]] for place in places]
        return [sample for sample in samples if self._opens(sample)] or list(self.samples())[:count]

    def _opens(self, sample: Sample) -> bool:
        try:
            self.open(sample)
        except BadDataError:
            return False
        return True

    def check(self, context: Context) -> tuple[int, int]:
        """Look at all photos and annotated masks; the rows and columns of a middling one.

        Raises BadDataError for the first that cannot be built from, before anything is made.
        """
        sizes = []
        with context.progress("Checking photos and masks", len(self)) as advance:
            for sample in self.samples():
                if self._segmenter is None or foreground_of(sample) is not None:
                    sizes.append(self.open(sample).mask.shape)
                else:
                    sizes.append(_pixels(sample, self._side).shape[:2])
                advance(1)
        rows, cols = sorted(sizes, key=lambda size: size[0] * size[1])[len(sizes) // 2]
        return rows, cols

    def open(self, sample: Sample) -> Source:
        """A photo with its mask."""
        image = _pixels(sample, self._side)
        mask = foreground_of(sample)
        if mask is None:
            mask = self._outlined(sample)
        else:
            size = single_frame(sample).load().size[::-1]
            if mask.shape != size:
                raise _fault(
                    sample,
                    f"a mask of {size[0]} x {size[1]} (rows x columns), as its image",
                    f"{mask.shape[0]} x {mask.shape[1]}",
                )
        if mask.shape != image.shape[:2]:
            shrunk = mask.astype(np.uint8)
            how = cv2.INTER_NEAREST_EXACT
            mask = cv2.resize(shrunk, image.shape[1::-1], interpolation=how) > 0
        if not mask.any() or mask.all():
            raise _fault(
                sample,
                "a mask with the object in a part of the image",
                "an empty one" if not mask.any() else "one that covers the whole image",
            )
        return Source(sample, image, mask)

    def _outlined(self, sample: Sample) -> Mask:
        if self._segmenter is None:
            raise _fault(
                sample,
                "a mask of its object",
                "none",
                "Data with foreground masks, or --tool segmenter=SPEC, tells where the object is",
            )
        return outline(self._segmenter, single_frame(sample), str(sample.label))


def outline(segmenter: Segmenter, frame: Frame, label: str) -> Mask:
    """Where the object is in an image that no geometry tells it of."""
    (masks,) = segmenter.segment([frame], [label])
    return np.asarray(np.asarray(masks, bool).any(axis=0))


def _pixels(sample: Sample, side: int | None) -> Pixels:
    image = single_frame(sample).load()
    if side is not None and max(image.size) > side:
        factor = side / max(image.size)
        size = tuple(max(1, round(factor * edge)) for edge in image.size)
        pixels = cv2.resize(np.asarray(image), size, interpolation=cv2.INTER_AREA)
    else:
        pixels = np.asarray(image)
    rows, cols = pixels.shape[:2]
    if min(rows, cols) < SMALLEST or max(rows, cols) > LARGEST:
        raise _fault(
            sample,
            f"sides of {SMALLEST} to {LARGEST:,} pixels",
            f"{cols:,} x {rows:,}",
            "--side 1024 shrinks larger images" if max(rows, cols) > LARGEST else None,
        )
    return pixels


def _fault(sample: Sample, expected: str, got: Any, remedy: str | None = None) -> BadDataError:
    return BadDataError(
        f"covar: image '{sample.key}'",
        expected=expected,
        got=got,
        remedy=remedy or "Mend it, or leave it out of the data",
    )
