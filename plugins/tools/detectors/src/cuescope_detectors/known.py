"""What a data set itself says of its frames, found by the frame's key."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Context, Detection, Frame, Sample, UserError
from cuescope_sdk.language import singular
from cuescope_sdk.tools import normalise_name

WHITE = 127
REMEDY = "Use a tool that looks at the image, such as owl or sam."


class Known:
    """The samples of the audited data set by the keys of their frames, read when first asked.

    What is annotated of a sample holds for each of its frames. `keys` are the annotations that
    are wanted. Raises UserError where there is no data set, and where nothing is annotated.
    """

    def __init__(self, owner: str, context: Context, keys: tuple[str, ...]) -> None:
        if context.dataset is None:
            raise UserError(
                f"{owner} tells what a data set knows, and there is none here", remedy=REMEDY
            )
        self.owner, self.data, self.keys = owner, context.dataset, keys
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
        found: dict[str, list[Sample]] = defaultdict(list)
        annotated = False
        with self._context.progress(f"reading {self.owner}", len(self.data)) as advance:
            for index in range(len(self.data)):
                sample = self.data[index]
                annotated |= any(key in sample.annotations for key in self.keys)
                for key in {frame.key for frame in sample.frames}:
                    found[key].append(sample)
                advance(1)
        if not annotated:
            raise UserError(
                f"{self.owner}: the data set has none",
                expected=f"{' or '.join(map(repr, self.keys))} among a sample's annotations",
                remedy=REMEDY,
            )
        return dict(found)


@lru_cache(maxsize=4096)
def meant(name: str) -> str:
    """A name without case and number: COCO's "skis" are what a proposer calls "ski"."""
    return singular(normalise_name(name))


def boxes_of(samples: Sequence[Sample], name: str) -> list[Detection]:
    """The boxes of a name, under that name, each once."""
    known = [box for sample in samples for box in sample.annotations.get("boxes", ())]
    ours = (box for box in known if meant(box.name) == meant(name))
    return list(dict.fromkeys(box.model_copy(update={"name": name}) for box in ours))


def mask_of(
    samples: Sequence[Sample], name: str, size: tuple[int, int]
) -> Bool[np.ndarray, "row col"]:
    """Everything of a name in an image of `size` (width, height)."""
    found = np.zeros(size[::-1], dtype=bool)
    for sample in samples:
        for of, mask in _masks(sample):
            if meant(of) == meant(name):
                pixels = shown(mask)
                if pixels.shape != found.shape:
                    raise UserError(
                        f"the mask of '{of}' in sample {sample.key}",
                        expected=f"{size[0]} x {size[1]} pixels, as its image",
                        got=f"{pixels.shape[1]} x {pixels.shape[0]}",
                    )
                found |= pixels
    return found


def shown(mask: Frame | np.ndarray) -> Bool[np.ndarray, "row col"]:
    """A mask as a picture, white on black, or as an array."""
    pixels = mask if isinstance(mask, np.ndarray) else np.asarray(mask.load().convert("L")) > WHITE
    return np.asarray(pixels, dtype=bool)


def _masks(sample: Sample) -> Iterator[tuple[str, Any]]:
    yield from sample.annotations.get("masks", {}).items()
    if sample.label is not None and "foreground" in sample.annotations:
        yield sample.label, sample.annotations["foreground"]
