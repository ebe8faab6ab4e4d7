"""What the model is shown: each sample as it is, and with a quarter of its frames hidden."""

from collections.abc import Iterator, Sequence
from functools import partial

from PIL import Image

import cuescope_sdk as sdk

GREY = (128, 128, 128)
# column and row of each quarter
QUARTERS = {
    "top left": (0, 0),
    "top right": (1, 0),
    "bottom left": (0, 1),
    "bottom right": (1, 1),
}


def candidates(samples: Sequence[sdk.Sample]) -> Iterator[sdk.Feature]:
    """The quarters, and where each lies in every sample."""
    for name in QUARTERS:
        places = tuple(
            sdk.Occurrence(
                sample=sample.key, region=box(name, sample.frames[0].load().size)
            )
            for sample in samples
        )
        yield sdk.Feature(
            key=name, kind="quarter", name=f"the {name}", occurrences=places
        )


def trials(
    samples: Sequence[sdk.Sample], features: Sequence[sdk.Feature]
) -> Iterator[sdk.Trial]:
    """A baseline for each sample, and a trial for each feature that is hidden."""
    for sample in samples:
        yield sdk.Trial(sample=sample)
        for feature in features:
            hidden = without(sample, feature.key)
            yield sdk.Trial(sample=hidden, feature=feature.key, condition="hidden")


def without(sample: sdk.Sample, name: str) -> sdk.Sample:
    """The sample with a quarter painted grey."""
    # The operation enters the key of the frame, so it names the change with all its parameters.
    frames = [
        frame.derive(f"grey {name}", partial(paint, name)) for frame in sample.frames
    ]
    return sample.with_frames(tuple(frames), f"without {name}")


def paint(name: str, image: Image.Image) -> Image.Image:
    """The image with a quarter painted grey; at module level, so that workers can load it."""
    painted = image.copy()
    painted.paste(GREY, box(name, image.size))
    return painted


def box(name: str, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """A quarter in pixels: x0, y0, x1, y1, with the origin at the top left."""
    (column, row), (width, height) = QUARTERS[name], (size[0] // 2, size[1] // 2)
    return column * width, row * height, (column + 1) * width, (row + 1) * height
