"""Grounding DINO: a pass for each caption of names, and of a box the tokens that are a name's."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image

from cuescope_detectors.boxes import corners
from cuescope_detectors.captions import Caption, captions
from cuescope_detectors.loading import Loaded
from cuescope_detectors.open_vocabulary import Found


class GroundingDinoNetwork:
    """The stock model, asked with captions whose tokens are known one by one."""

    builders: ClassVar[Mapping[str, str]] = {
        "grounding-dino": "GroundingDinoForObjectDetection",
        "mm-grounding-dino": "MMGroundingDinoForObjectDetection",
    }

    def __init__(self, loaded: Loaded, one_by_one: bool, tokens: Literal["max", "mean"]) -> None:
        self._loaded, self._most = loaded, 1 if one_by_one else None
        self._over_tokens = np.max if tokens == "max" else np.mean
        self.fingerprint = loaded.fingerprint("grounding-dino", one_by_one, tokens)
        names = "one by one" if one_by_one else "together in a caption"
        self.facts = {**loaded.facts, "names": names, "score of a name": f"{tokens} of its tokens"}

    def look(self, images: Sequence[Image.Image], names: Sequence[str]) -> list[Found]:
        """Probability of each name on its caption's boxes, 0 on the boxes of another caption.

        Images of one size go together: beside a larger one an image would be padded, and that
        changes its boxes a little.
        """
        limit = self._loaded.model.config.max_text_len
        asked = captions(names, self._loaded.processor.tokenizer, limit, self._most)
        found: dict[int, Found] = {}
        by_size = sorted(range(len(images)), key=lambda place: images[place].size)
        for size, alike in groupby(by_size, key=lambda place: images[place].size):
            places = list(alike)
            shown = self._loaded.processor.image_processor(
                [images[place] for place in places], return_tensors="pt"
            ).to(self._loaded.device, self._loaded.dtype)
            passes = [self._pass(shown, size, caption) for caption in asked]
            for place, of_image in zip(places, zip(*passes, strict=True), strict=True):
                found[place] = side_by_side(asked, of_image, len(names))
        return [found[place] for place in range(len(images))]

    @torch.no_grad()
    def _pass(self, shown: Any, size: tuple[int, int], caption: Caption) -> list[Found]:
        """Probability of each name of a caption on each box, an image after the other."""
        ids = torch.tensor([caption.ids] * len(shown.pixel_values), device=self._loaded.device)
        said = self._loaded.model(**shown, input_ids=ids)
        tokens = said.logits.float().sigmoid().cpu().numpy()
        over, places = self._over_tokens, caption.places.values()
        return [
            (np.stack([over(tokens[image][:, at], axis=1) for at in places], axis=1),
             corners(said.pred_boxes[image], size))
            for image in range(len(tokens))
        ]  # fmt: skip


def side_by_side(
    asked: Sequence[Caption], found: Sequence[Found], names: int
) -> tuple[Float[np.ndarray, "box name"], Float[np.ndarray, "box 4"]]:
    """The boxes of all captions, with the scores of all names."""
    spread = []
    for caption, (scores, _) in zip(asked, found, strict=True):
        wide = np.zeros((len(scores), names), dtype=np.float32)
        wide[:, list(caption.places)] = scores
        spread.append(wide)
    return np.concatenate(spread), np.concatenate([boxes for _, boxes in found])
