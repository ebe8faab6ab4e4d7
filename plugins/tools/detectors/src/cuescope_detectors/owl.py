"""OWLv2 and OWL-ViT by their parts: the image once, each name once, then every pair."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from cuescope_detectors.boxes import corners
from cuescope_detectors.loading import Loaded
from cuescope_detectors.open_vocabulary import Found


class OwlNetwork:
    """The stock model, with the names that it has read so far."""

    builders: ClassVar[Mapping[str, str]] = {
        "owlv2": "Owlv2ForObjectDetection",
        "owlvit": "OwlViTForObjectDetection",
    }

    def __init__(self, loaded: Loaded, prompt: str) -> None:
        self._loaded, self._prompt = loaded, prompt
        self._texts: dict[str, Float[Tensor, " dim"]] = {}
        self.fingerprint = loaded.fingerprint("owl", prompt)
        self.facts = {**loaded.facts, "prompt": prompt}

    @torch.no_grad()
    def look(self, images: Sequence[Image.Image], names: Sequence[str]) -> list[Found]:
        """Probability of each name on each box, an image after the other."""
        loaded = self._loaded
        pixels = loaded.processor.image_processor(list(images), return_tensors="pt").pixel_values
        grid, _ = loaded.model.image_embedder(pixels.to(loaded.device, loaded.dtype))
        cells = grid.flatten(1, 2)
        boxes = loaded.model.box_predictor(cells, grid)
        texts = self.texts(names).expand(len(images), -1, -1)
        logits, _ = loaded.model.class_predictor(cells, texts)
        scores = logits.float().sigmoid().cpu().numpy()
        return [
            (scores[index], corners(boxes[index], self._extent(image)))
            for index, image in enumerate(images)
        ]

    def texts(self, names: Sequence[str]) -> Float[Tensor, "name dim"]:
        """Unit embeddings; a name beyond the model's context is cut at its end."""
        if new := [name for name in names if name not in self._texts]:
            tower = getattr(self._loaded.model, self._loaded.model.config.model_type)
            tokens = self._loaded.processor.tokenizer(
                [self._prompt.replace("{name}", name) for name in new],
                padding="max_length", truncation=True, return_tensors="pt",
                max_length=self._loaded.model.config.text_config.max_position_embeddings,
            ).to(self._loaded.device)  # fmt: skip
            rows = tower.get_text_features(tokens.input_ids, tokens.attention_mask).pooler_output
            self._texts |= zip(new, rows / rows.norm(dim=-1, keepdim=True), strict=True)
        return torch.stack([self._texts[name] for name in names])

    def _extent(self, image: Image.Image) -> tuple[int, int]:
        """What a box of side 1 spans in pixels; OWLv2 pads images to squares."""
        if self._loaded.processor.image_processor.do_pad:
            return max(image.size), max(image.size)
        return image.size
