"""Tiny real videos for the tests of what reads them. Extra `media`."""

from pathlib import Path
from typing import Any, cast

import numpy as np

STEP = 20
RATE = 10


def write_video(path: Path, frames: int, codec: str = "mpeg4", **options: str) -> Path:
    """A video of `RATE` frames a second whose frame i is plain grey of level i * STEP.

    `options` are those of the container. With no frames at all, it is a file whose video stream
    is empty.
    """
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options=options) as container:
        stream = cast(Any, container.add_stream(codec, rate=RATE))
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        container.start_encoding()
        for index in range(frames):
            pixels = np.full((32, 48, 3), index * STEP % 256, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def grey_levels(images: Any) -> list[int]:
    """Which frame of `write_video` each frame shows, by its pixels."""
    return [round(float(np.asarray(image.load()).mean()) / STEP) for image in images]
