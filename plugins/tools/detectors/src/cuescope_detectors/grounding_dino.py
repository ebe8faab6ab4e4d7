"""Grounding DINO: a pass for each caption of names, and of a box the tokens that are a name's.

A caption is "[CLS] red cat . dog . [SEP]", with the positions of each name's tokens.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image

from cuescope_detectors.loading import ScoredBoxes, StockNetwork, corners
from cuescope_detectors.options import GroundingDinoOptions
from cuescope_sdk import Context
from cuescope_sdk.tools import normalise_name

PHRASE_END = "."
ENDS = str.maketrans(".?", "  ")  # within a name they would end its phrase
FRAME_TOKENS = 2  # before the first phrase and after the last


@dataclass(frozen=True)
class Caption:
    """Token ids; for each of its names the index among all names, and where its tokens are."""

    ids: tuple[int, ...]
    positions: dict[int, range]


def make_captions(
    names: Sequence[str],
    tokenizer: Any,
    limit: int,
) -> list[Caption]:
    """Captions of at most `limit` tokens; a name that fits in none is cut."""
    # one more goes to the "." that ends the phrase
    room = limit - FRAME_TOKENS - 1
    phrases = []
    for name in names:
        word = normalise_name(name.translate(ENDS))
        phrases.append(tokenizer(word, add_special_tokens=False).input_ids[:room])
    # the model splits phrases at this token
    end = tokenizer.convert_tokens_to_ids(PHRASE_END)
    captions = []
    for part in pack([len(phrase) + 1 for phrase in phrases], room + 1):
        ids = [tokenizer.cls_token_id]
        positions = {}
        for index in part:
            start = len(ids)
            ids += phrases[index]
            positions[index] = range(start, len(ids))
            ids.append(end)
        captions.append(Caption((*ids, tokenizer.sep_token_id), positions))
    return captions


def pack(lengths: Sequence[int], room: int) -> list[range]:
    """Consecutive runs whose lengths add up to no more than `room`."""
    runs = []
    start = used = 0
    for index, length in enumerate(lengths):
        if index > start and used + length > room:
            runs.append(range(start, index))  # in order: which names meet must not vary
            start = index
            used = 0
        used += length
    if lengths:
        runs.append(range(start, len(lengths)))
    return runs


class GroundingDinoNetwork(StockNetwork):
    """The stock model, asked with captions whose tokens are known one by one."""

    owner = "grounding-dino"
    builders = {
        "grounding-dino": "GroundingDinoForObjectDetection",
        "mm-grounding-dino": "MMGroundingDinoForObjectDetection",
    }

    def __init__(self, options: GroundingDinoOptions, context: Context) -> None:
        super().__init__(options, context)
        self.facts = {
            **self.facts,
            "names": "together in a caption",
            "score of a name": "max of its tokens",
        }

    def detect(
        self,
        images: Sequence[Image.Image],
        names: Sequence[str],
    ) -> list[ScoredBoxes]:
        """Probability of each name on its caption's boxes, 0 on the boxes of another caption."""
        limit = self.files.network.config.max_text_len
        captions = make_captions(names, self.processor.tokenizer, limit)
        answers = {}
        by_size = defaultdict(list)
        # images of one size go together: beside a larger one an image would be padded, and that
        # changes its boxes a little
        for index, image in enumerate(images):
            by_size[image.size].append(index)
        for size, indices in by_size.items():
            alike = [images[index] for index in indices]
            batch = self.processor.image_processor(alike, return_tensors="pt")
            pixels = batch.to(self.files.device, self.files.dtype)
            passes = [self._pass(pixels, size, caption) for caption in captions]
            for index, *by_caption in zip(indices, *passes, strict=True):
                answers[index] = merge_captions(captions, by_caption, len(names))
        return [answers[index] for index in range(len(images))]

    @torch.no_grad()
    def _pass(
        self,
        pixels: Any,
        size: tuple[int, int],
        caption: Caption,
    ) -> list[ScoredBoxes]:
        """Probability of each name of a caption on each box, an image after the other."""
        ids = torch.tensor(
            [caption.ids] * len(pixels.pixel_values), device=self.files.device
        )
        output = self.files.network(**pixels, input_ids=ids)
        # in float32: half precision tells few scores near 1 apart
        tokens = output.logits.float().sigmoid().cpu().numpy()
        spans = caption.positions.values()
        columns = [tokens[:, :, span].max(axis=2) for span in spans]
        scores = np.stack(columns, axis=2)
        boxes = [corners(of_image, size) for of_image in output.pred_boxes]
        return list(zip(scores, boxes, strict=True))


def merge_captions(
    captions: Sequence[Caption],
    answers: Sequence[ScoredBoxes],
    names: int,
) -> ScoredBoxes:
    """The boxes of all captions, with the scores of all names."""
    all_scores = []
    all_boxes = []
    for caption, (scores, boxes) in zip(captions, answers, strict=True):
        wide = np.zeros((len(scores), names), dtype=np.float32)
        wide[:, list(caption.positions)] = scores
        all_scores.append(wide)
        all_boxes.append(boxes)
    return np.concatenate(all_scores), np.concatenate(all_boxes)
