"""SAM by its parts: the image once, then its boxes."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool
from PIL import Image

from cuescope_detectors.loading import Loaded

BOXES_AT_ONCE = 32


class SamNetwork:
    """The stock model, asked for one mask a box."""

    builders: ClassVar[Mapping[str, str]] = {"sam": "SamModel"}

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.fingerprint = loaded.fingerprint("sam")
        self.facts = loaded.facts

    @torch.no_grad()
    def outline(
        self, image: Image.Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> Bool[np.ndarray, "box row col"]:
        """What is in each box (x0, y0, x1, y1) in pixels of the image."""
        if not boxes:
            return np.zeros((0, image.height, image.width), dtype=bool)
        loaded = self._loaded
        shown = loaded.processor(image, input_boxes=[[list(b) for b in boxes]], return_tensors="pt")
        seen = loaded.model.get_image_embeddings(shown.pixel_values.to(loaded.device, loaded.dtype))
        masks = []
        for prompts in shown.input_boxes.float().to(loaded.device).split(BOXES_AT_ONCE, dim=1):
            said = loaded.model(image_embeddings=seen, input_boxes=prompts, multimask_output=False)
            masks += loaded.processor.post_process_masks(
                said.pred_masks.float().cpu(), shown.original_sizes, shown.reshaped_input_sizes
            )
        return np.asarray(torch.cat(masks)[:, 0].numpy())
