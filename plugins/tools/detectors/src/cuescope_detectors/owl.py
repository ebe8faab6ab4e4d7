"""OWLv2 and OWL-ViT by their parts: the image once, each name once, then every pair."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from cuescope_detectors.loading import ScoredBoxes, StockNetwork, corners
from cuescope_detectors.options import OwlOptions
from cuescope_sdk import Context


class OwlNetwork(StockNetwork):
    """The stock model, with the names that it has read so far."""

    owner = "owl"
    builders = {
        "owlv2": "Owlv2ForObjectDetection",
        "owlvit": "OwlViTForObjectDetection",
    }

    def __init__(self, options: OwlOptions, context: Context) -> None:
        super().__init__(options, context, options.prompt)
        self._prompt = options.prompt
        self._texts: dict[str, Float[Tensor, " dim"]] = {}
        self.facts = {**self.facts, "prompt": options.prompt}

    @torch.no_grad()
    def detect(
        self,
        images: Sequence[Image.Image],
        names: Sequence[str],
    ) -> list[ScoredBoxes]:
        """Probability of each name on each box, an image after the other."""
        files = self.files
        network = files.network
        pixels = self.processor.image_processor(
            list(images), return_tensors="pt"
        ).pixel_values
        grid, _ = network.image_embedder(pixels.to(files.device, files.dtype))
        # `forward` would encode the image again for every batch of names
        cells = grid.flatten(1, 2)
        boxes = network.box_predictor(cells, grid)
        texts = self.texts(names).expand(len(images), -1, -1)
        logits, _ = network.class_predictor(cells, texts)
        scores = logits.float().sigmoid().cpu().numpy()
        # what a box of side 1 spans in pixels: OWLv2 pads images to squares
        padded = self.processor.image_processor.do_pad
        answers = []
        for image, of_image, shares in zip(images, scores, boxes, strict=True):
            side = max(image.size)
            extent = (side, side) if padded else image.size
            answers.append((of_image, corners(shares, extent)))
        return answers

    def texts(self, names: Sequence[str]) -> Float[Tensor, "name dim"]:
        """Unit embeddings; a name beyond the model's context is cut at its end."""
        # a name is read once for all images; its row depends on no other, for padding is fixed
        new = [name for name in names if name not in self._texts]
        if new:
            network = self.files.network
            tower = getattr(network, network.config.model_type)
            prompts = [self._prompt.replace("{name}", name) for name in new]
            tokens = self.processor.tokenizer(
                prompts,
                padding="max_length",
                truncation=True,
                return_tensors="pt",
                max_length=network.config.text_config.max_position_embeddings,
            ).to(self.files.device)
            rows = tower.get_text_features(
                tokens.input_ids, tokens.attention_mask
            ).pooler_output
            unit = rows / rows.norm(dim=-1, keepdim=True)
            self._texts |= zip(new, unit, strict=True)
        return torch.stack([self._texts[name] for name in names])
