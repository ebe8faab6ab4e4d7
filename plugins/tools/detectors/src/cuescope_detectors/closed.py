"""What a network with a fixed list of classes brings."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from PIL import Image
from torch import Tensor

Seen = tuple[float, int, tuple[float, float, float, float]]  # score, class, box in pixels
NO_CLASS = frozenset({"N/A", "__background__"})


class ClosedNetwork(Protocol):
    """`classes` are names by the numbers that `look` gives."""

    classes: dict[int, str]
    fingerprint: str
    facts: dict[str, str]

    def open_weights(self) -> None: ...

    def look(self, images: Sequence[Image.Image], threshold: float) -> list[list[Seen]]:
        """What scores more than `threshold` in images of one size, an image each."""
        ...


def seen(said: Mapping[str, Tensor], image: Image.Image, threshold: float) -> list[Seen]:
    """`said` ("scores", "labels", "boxes") with the boxes clipped to the image."""
    limits = torch.tensor([*image.size, *image.size])
    boxes = said["boxes"].float().cpu().clamp(min=0).minimum(limits).tolist()
    figures = zip(said["scores"].tolist(), said["labels"].tolist(), boxes, strict=True)
    return [
        (score, label, (x0, y0, x1, y1))
        for score, label, (x0, y0, x1, y1) in figures
        if score > threshold and x1 > x0 and y1 > y0
    ]
