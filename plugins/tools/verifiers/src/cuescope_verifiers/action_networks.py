"""X-CLIP of transformers, which reads sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers
from jaxtyping import Float
from PIL import Image

from cuescope_sdk import Context, UserError
from cuescope_sdk.torch import Pretrained, Source, to_array

OWNER = "actions"


class XCLIP:
    """X-CLIP (Ni et al., 2022): a clip of `length` frames and sentences, each by itself.

    Raises UserError for whatever a person can mend.
    """

    def __init__(self, model: str, revision: str | None, context: Context) -> None:
        self.files = Pretrained.find(OWNER, model, revision, context, _builder)
        self.length: int = self.files.config.vision_config.num_frames
        self._processor = self.files.processor()
        self.fingerprint = self.files.fingerprint(
            self._processor.image_processor, self._processor.tokenizer
        )

    @torch.no_grad()
    def logits(
        self,
        clip: Sequence[Image.Image],
        texts: Sequence[str],
    ) -> Float[np.ndarray, " candidate"]:
        """Likeness of the clip to each sentence, times the model's scale."""
        files = self.files
        tokens = self._processor.tokenizer(
            list(texts),
            padding="max_length",
            truncation=True,
            return_tensors="pt",
            max_length=files.config.text_config.max_position_embeddings,
        ).to(files.device)
        # a list of lists: one video of several frames, and not several pictures
        pixels = self._processor.image_processor([list(clip)], return_tensors="pt")
        output = files.network(
            input_ids=tokens.input_ids,
            attention_mask=tokens.attention_mask,
            pixel_values=torch.as_tensor(pixels.pixel_values).to(
                files.device, files.dtype
            ),
        )
        return to_array(output.logits_per_video[0])


def _builder(config: Any, source: Source) -> Any:
    if config.model_type != "xclip":
        raise UserError(
            f"{OWNER}: {source.title} is no action network that is known here",
            expected="xclip",
            got=f"the architecture '{config.model_type}'",
        )
    return transformers.XCLIPModel
