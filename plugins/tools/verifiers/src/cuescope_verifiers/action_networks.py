"""Stock action networks of transformers: X-CLIP, which reads sentences, and VideoMAE."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from jaxtyping import Float
from PIL import Image

from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.torch import Pretrained, Source, to_array

OWNER = "actions"


class XCLIP:
    """X-CLIP (Ni et al., 2022): a clip of `length` frames and sentences, each by itself."""

    classes: tuple[str, ...] | None = None

    def __init__(self, files: Pretrained) -> None:
        self.files = files
        self.length: int = files.config.vision_config.num_frames
        self._processor = files.processor()
        self.fingerprint = files.fingerprint(
            self._processor.image_processor, self._processor.tokenizer
        )

    @torch.no_grad()
    def logits(
        self,
        clip: Sequence[Image.Image],
        texts: Sequence[str],
    ) -> Float[np.ndarray, " candidate"]:
        """Likeness of the clip to each sentence, times the model's scale."""
        tokens = self._processor.tokenizer(
            list(texts),
            padding="max_length",
            truncation=True,
            return_tensors="pt",
            max_length=self.files.config.text_config.max_position_embeddings,
        ).to(self.files.device)
        output = self.files.network(
            input_ids=tokens.input_ids,
            attention_mask=tokens.attention_mask,
            pixel_values=_pixels(self.files, self._processor.image_processor, clip),
        )
        return to_array(output.logits_per_video[0])


class VideoMAE:
    """VideoMAE (Tong et al., 2022), fine-tuned on classes of actions."""

    def __init__(self, files: Pretrained) -> None:
        self.files = files
        self.length: int = files.config.num_frames
        # in the order of the file, which need not be that of logits
        names = files.config.id2label
        self.classes: tuple[str, ...] | None = tuple(
            names[index] for index in sorted(names)
        )
        self._processor = files.read("processor", transformers.AutoImageProcessor)
        self.fingerprint = files.fingerprint(self._processor)

    @torch.no_grad()
    def logits(
        self,
        clip: Sequence[Image.Image],
        texts: Sequence[str],
    ) -> Float[np.ndarray, " candidate"]:
        """Of each class; `texts` are not read."""
        output = self.files.network(
            pixel_values=_pixels(self.files, self._processor, clip)
        )
        return to_array(output.logits[0])


def _pixels(
    files: Pretrained,
    processor: Any,
    clip: Sequence[Image.Image],
) -> torch.Tensor:
    """(1, frame, channel, row, col) on the model's device."""
    # a list of lists: one video of several frames, and not several pictures
    values = processor([list(clip)], return_tensors="pt").pixel_values
    return torch.as_tensor(values).to(files.device, files.dtype)


KINDS: Mapping[str, tuple[str, type[XCLIP] | type[VideoMAE]]] = {
    "xclip": ("XCLIPModel", XCLIP),
    "videomae": ("VideoMAEForVideoClassification", VideoMAE),
}


def find_network(
    model: str,
    revision: str | None,
    context: Context,
) -> XCLIP | VideoMAE:
    """The network of a folder or hub id; raises UserError for whatever a person can mend."""

    def builder_of(config: Any, source: Source) -> Any:
        if config.model_type not in KINDS:
            raise UserError(
                f"{OWNER}: {source.title} is no action network that is known here",
                expected=", ".join(KINDS),
                got=f"the architecture '{config.model_type}'",
                remedy=nearest(config.model_type, KINDS),
            )
        architecture, _ = KINDS[config.model_type]
        return getattr(transformers, architecture)

    files = Pretrained.find(OWNER, model, revision, context, builder_of)
    _, network = KINDS[files.config.model_type]
    return network(files)
