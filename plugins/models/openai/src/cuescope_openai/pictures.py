"""Frames as they are shown: resized, encoded, in a data URL."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

import numpy as np
from PIL import Image

from cuescope_sdk import Frame, digest

JPEG_QUALITY = 95


@dataclass(frozen=True)
class Look:
    """How a frame is shown; `max_side` in pixels, None as it is; `detail` is OpenAI's."""

    form: Literal["png", "jpeg"] = "png"
    max_side: int | None = None
    detail: str | None = None

    def shown(self, frame: Frame) -> Image.Image:
        """The pixels that are sent, before they are encoded."""
        image = frame.load().convert("RGB")
        longest = max(image.size)
        if self.max_side is None or longest <= self.max_side:
            return image
        width, height = (max(1, round(side * self.max_side / longest)) for side in image.size)
        return image.resize((width, height), Image.Resampling.LANCZOS)

    def encoded(self, frame: Frame) -> dict[str, Any]:
        """The frame as a part of a message."""
        stream = BytesIO()
        self.shown(frame).save(stream, self.form, quality=JPEG_QUALITY)
        url = f"data:image/{self.form};base64,{b64encode(stream.getvalue()).decode()}"
        detail = {} if self.detail is None else {"detail": self.detail}
        return {"type": "image_url", "image_url": {"url": url, **detail}}


def pixel_digests(look: Look, frames: Sequence[Frame]) -> list[str]:
    """What tells the frames apart for a server: pixels after resizing, and how they are encoded.

    A repeated frame is loaded once.
    """
    distinct = {frame.key: frame for frame in frames}
    form = (look.form, JPEG_QUALITY if look.form == "jpeg" else None, look.detail)
    found = {key: digest(np.asarray(look.shown(frame)), form) for key, frame in distinct.items()}
    return [found[frame.key] for frame in frames]


def image_parts(look: Look, frames: Sequence[Frame]) -> list[dict[str, Any]]:
    """The frames as parts of a message, in order; a repeated frame is encoded once."""
    distinct = {frame.key: frame for frame in frames}
    found = {key: look.encoded(frame) for key, frame in distinct.items()}
    return [found[frame.key] for frame in frames]
