"""The data set's own boxes and masks as tools: what people have drawn, and no network."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Context, Detection, Frame, Plugin, Sample, UserError, digest
from cuescope_sdk.language import singular
from cuescope_sdk.tools import normalise_name, sort_by_score

WHITE = 127  # JPEG masks are not quite black and white
REMEDY = "Use a tool that looks at the image, such as owl or sam."


class AnnotatedBoxes(Plugin):
    """Detects what is annotated under "boxes"; names are compared without case and number."""

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._annotations = Annotations("annotations", context, ("boxes",))
        self.fingerprint = digest("annotations", 2, self._annotations.data.fingerprint)

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """The boxes of any of the names, a tuple a frame; raises UserError for other frames."""
        by_frame = []
        for frame in frames:
            samples = self._annotations.samples(frame)
            boxes = chain.from_iterable(
                boxes_of(samples, name) for name in dict.fromkeys(names)
            )
            by_frame.append(sort_by_score(boxes))
        return by_frame


class AnnotatedMasks(Plugin):
    """Outlines what is annotated under "masks", and the label by its "foreground"."""

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._annotations = Annotations("masks", context, ("masks", "foreground"))
        self.fingerprint = digest("masks", 2, self._annotations.data.fingerprint)

    def segment(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[Bool[np.ndarray, "name row col"]]:
        """Masks at the size of each frame, empty where a name has none."""
        by_frame = []
        for frame in frames:
            image = frame.load()
            samples = self._annotations.samples(frame)
            masks = np.zeros((len(names), image.height, image.width), dtype=bool)
            for row, name in zip(masks, names, strict=True):
                row |= mask_of(samples, name, image.size)
            by_frame.append(masks)
        return by_frame


class Annotations:
    """The samples of the audited data set by the keys of their frames, read when first asked.

    What is annotated of a sample holds for each of its frames. `keys` are the annotations to look
    for. Raises UserError where there is no data set, and where nothing is annotated.
    """

    def __init__(self, owner: str, context: Context, keys: tuple[str, ...]) -> None:
        if context.dataset is None:
            raise UserError(
                f"{owner} reads what a data set annotates, and there is no data set here",
                remedy=REMEDY,
            )
        self.owner = owner
        self.data = context.dataset
        self.keys = keys
        self._context = context
        self._samples: dict[str, list[Sample]] = {}

    def samples(self, frame: Frame) -> Sequence[Sample]:
        """The samples that show a frame; raises UserError for one that is not of the data set."""
        self._samples = self._samples or self._read()
        if frame.key not in self._samples:
            raise UserError(
                f"{self.owner}: asked about an image that is not of the data set",
                expected="frames of the audited samples, unchanged",
                remedy=REMEDY,
            )
        return self._samples[frame.key]

    def _read(self) -> dict[str, list[Sample]]:
        by_key = defaultdict(list)
        annotated = False
        with self._context.progress(f"reading {self.owner}", len(self.data)) as advance:
            for index in range(len(self.data)):
                sample = self.data[index]
                annotated |= any(key in sample.annotations for key in self.keys)
                # a still clip shows one frame many times
                for key in {frame.key for frame in sample.frames}:
                    by_key[key].append(sample)
                advance(1)
        if not annotated:
            raise UserError(
                f"{self.owner}: the data set has none",
                expected=f"{' or '.join(map(repr, self.keys))} among a sample's annotations",
                remedy=REMEDY,
            )
        return dict(by_key)


@lru_cache(maxsize=4096)
def comparable(name: str) -> str:
    """A name without case and number: COCO's "skis" are what a proposer calls "ski"."""
    return singular(normalise_name(name))


def boxes_of(samples: Sequence[Sample], name: str) -> list[Detection]:
    """The boxes of a name, under that name, each once."""
    # several samples may show one image, each with its boxes
    boxes: dict[Detection, None] = {}
    for sample in samples:
        for box in sample.annotations.get("boxes", ()):
            if comparable(box.name) == comparable(name):
                # under the name that was asked, by which the caller looks
                boxes[box.model_copy(update={"name": name})] = None
    return list(boxes)


def mask_of(
    samples: Sequence[Sample],
    name: str,
    size: tuple[int, int],
) -> Bool[np.ndarray, "row col"]:
    """Everything of a name in an image of `size` (width, height)."""
    union = np.zeros(size[::-1], dtype=bool)
    for sample in samples:
        for object_name, mask in _masks(sample):
            if comparable(object_name) != comparable(name):
                continue
            pixels = mask_pixels(mask)
            if pixels.shape != union.shape:
                raise UserError(
                    f"the mask of '{object_name}' in sample {sample.key}",
                    expected=f"{size[0]} x {size[1]} pixels, as its image",
                    got=f"{pixels.shape[1]} x {pixels.shape[0]}",
                )
            union |= pixels  # several things of a name are one mask
    return union


def mask_pixels(mask: Frame | np.ndarray) -> Bool[np.ndarray, "row col"]:
    if isinstance(mask, Frame):
        mask = np.asarray(mask.load().convert("L")) > WHITE
    return np.asarray(mask, dtype=bool)


def _masks(sample: Sample) -> Iterator[tuple[str, Any]]:
    yield from sample.annotations.get("masks", {}).items()
    # the foreground is the object that the label names
    if sample.label is not None and "foreground" in sample.annotations:
        yield sample.label, sample.annotations["foreground"]
