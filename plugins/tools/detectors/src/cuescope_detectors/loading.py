"""A stock model with its processor: files now, weights when they are first needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import transformers
from jaxtyping import Float
from torch import Tensor

from cuescope_detectors.options import PretrainedOptions
from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.torch import (
    Pretrained,
    Source,
    config_content,
    find_pretrained,
    tokenizer_content,
)

ScoredBoxes = tuple[Float[np.ndarray, "box name"], Float[np.ndarray, "box 4"]]


@dataclass(frozen=True)
class StockModel:
    """A model of transformers with its processor; `files.network` opens its weights."""

    files: Pretrained
    processor: Any

    def fingerprint(self, *more: object) -> str:
        """Digest of weights, configuration, preprocessing, words, dtype and whatever is added."""
        # SAM takes no words, and its processor has no tokenizer
        tokenizer = getattr(self.processor, "tokenizer", None)
        words = None if tokenizer is None else tokenizer_content(tokenizer)
        return self.files.fingerprint(config_content(self.processor.image_processor), words, *more)


def find_model(
    owner: str,
    builders: Mapping[str, str],
    options: PretrainedOptions,
    context: Context,
    takes_text: bool = True,
) -> StockModel:
    """Find the files and read all but the weights; `builders` are classes by `model_type`.

    Raises UserError for whatever a person can mend.
    """

    def builder_of(config: Any, source: Source) -> Any:
        kind = config.model_type
        if kind in builders:
            return getattr(transformers, builders[kind])
        raise UserError(
            f"{owner}: {source.title} is no model that is known here",
            expected=", ".join(builders),
            got=f"the architecture '{kind}'",
            remedy=nearest(kind, builders),
        )

    files = find_pretrained(owner, options.model, options.revision, context, builder_of)
    return StockModel(files, files.processor(takes_text))


def corners(boxes: Float[Tensor, "box 4"], extent: tuple[int, int]) -> Float[np.ndarray, "box 4"]:
    """(x0, y0, x1, y1) in pixels of (centre x, centre y, width, height) in shares of `extent`."""
    shares = boxes.float().cpu().numpy()
    # in float32 on the CPU: half precision would round pixels of a large image
    centres, halves = shares[:, :2], shares[:, 2:] / 2
    return np.asarray(np.hstack((centres - halves, centres + halves)) * (*extent, *extent))
