"""DETR (Carion et al., 2020) and what else transformers opens as an object detector."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
import transformers
from PIL import Image

from cuescope_detectors.closed import NO_CLASS, Seen, seen
from cuescope_detectors.open_vocabulary import PretrainedOptions
from cuescope_sdk import Context, UserError
from cuescope_sdk.torch import Source, config_content, find_pretrained

OWNER = "coco-detector"


class DetrNetwork:
    """The stock model with the library's own post-processing."""

    def __init__(self, options: PretrainedOptions, context: Context) -> None:
        self._files = find_pretrained(OWNER, options.model, options.revision, context, _builder)
        self._processor = self._files.read("processor", transformers.AutoImageProcessor)
        named = self._files.config.id2label
        self.classes: dict[int, str] = {
            place: name for place, name in named.items() if name not in NO_CLASS
        }
        self.fingerprint = self._files.fingerprint(config_content(self._processor))
        self.facts = self._files.facts

    @cached_property
    def _model(self) -> Any:
        return self._files.opened()

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self._model

    @torch.no_grad()
    def look(self, images: Sequence[Image.Image], threshold: float) -> list[list[Seen]]:
        """What scores more than `threshold` in images of one size, an image each."""
        given = self._processor(list(images), return_tensors="pt").to(self._files.device)
        given["pixel_values"] = given["pixel_values"].to(self._files.dtype)
        said = self._processor.post_process_object_detection(
            self._model(**given), threshold=threshold,
            target_sizes=[image.size[::-1] for image in images],
        )  # fmt: skip
        return [seen(of, image, threshold) for of, image in zip(said, images, strict=True)]


def _builder(config: Any, source: Source) -> Any:
    builder = transformers.AutoModelForObjectDetection
    if type(config) in builder._model_mapping:
        return builder
    raise UserError(
        f"{OWNER}: {source.title} is no object detector",
        expected="DETR, RT-DETR, YOLOS or their like",
        got=f"the architecture '{config.model_type}'",
    )
