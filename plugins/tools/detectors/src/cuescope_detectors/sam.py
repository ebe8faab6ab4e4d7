"""SAM by its parts: the image once, then its boxes."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool
from PIL import Image

from cuescope_detectors.loading import StockNetwork

BOXES_AT_ONCE = 32


class SamNetwork(StockNetwork):
    """The stock model, asked for one mask a box."""

    owner = "sam"
    builders = {"sam": "SamModel"}
    takes_text = False

    @torch.no_grad()
    def outline(
        self,
        image: Image.Image,
        boxes: Sequence[tuple[float, float, float, float]],
    ) -> Bool[np.ndarray, "box row col"]:
        """What is in each box (x0, y0, x1, y1) in pixels of the image."""
        if not boxes:
            return np.zeros((0, image.height, image.width), dtype=bool)
        processor = self.processor
        files = self.files
        listed = list(map(list, boxes))
        inputs = processor(image, input_boxes=[listed], return_tensors="pt")
        pixels = inputs.pixel_values.to(files.device, files.dtype)
        embeddings = files.network.get_image_embeddings(pixels)
        masks = []
        prompt_boxes = inputs.input_boxes.float().to(files.device)
        # the image is encoded once; the decoder's memory grows with the boxes of a pass
        for prompts in prompt_boxes.split(BOXES_AT_ONCE, dim=1):
            output = files.network(
                image_embeddings=embeddings,
                input_boxes=prompts,
                multimask_output=False,
            )
            masks += processor.post_process_masks(
                output.pred_masks.float().cpu(),
                inputs.original_sizes,
                inputs.reshaped_input_sizes,
            )
        return torch.cat(masks)[:, 0].numpy()
