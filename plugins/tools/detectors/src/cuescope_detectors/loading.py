"""A stock model with its processor: files now, weights when they are first needed."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import transformers
from jaxtyping import Float
from torch import Tensor

from cuescope_detectors.options import PretrainedOptions
from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.torch import Pretrained, Source

ScoredBoxes = tuple[Float[np.ndarray, "box name"], Float[np.ndarray, "box 4"]]


class StockNetwork:
    """A model of transformers with its processor; `files.network` opens its weights.

    `builders` are classes by `model_type`. Raises UserError for whatever a person can mend.
    """

    owner: ClassVar[str]
    builders: ClassVar[Mapping[str, str]]
    takes_text: ClassVar[bool] = True

    def __init__(
        self,
        options: PretrainedOptions,
        context: Context,
        *entering: object,
    ) -> None:
        """Find the files and read all but the weights; what is `entering` is fingerprinted too."""
        self.files = Pretrained.find(
            self.owner, options.model, options.revision, context, self._builder_of
        )
        self.processor = self.files.processor(self.takes_text)
        words = self.processor.tokenizer if self.takes_text else None
        # preprocessing and tokens change what the network sees
        self.fingerprint = self.files.fingerprint(
            self.processor.image_processor, words, self.owner, *entering
        )
        self.facts = self.files.facts

    def open_weights(self) -> None:
        _ = self.files.network

    def _builder_of(self, config: Any, source: Source) -> Any:
        kind = config.model_type
        if kind in self.builders:
            return getattr(transformers, self.builders[kind])
        raise UserError(
            f"{self.owner}: {source.title} is no model that is known here",
            expected=", ".join(self.builders),
            got=f"the architecture '{kind}'",
            remedy=nearest(kind, self.builders),
        )


def corners(
    boxes: Float[Tensor, "box 4"], extent: tuple[int, int]
) -> Float[np.ndarray, "box 4"]:
    """(x0, y0, x1, y1) in pixels of (centre x, centre y, width, height) in shares of `extent`."""
    shares = boxes.float().cpu().numpy()
    # in float32 on the CPU: half precision would round pixels of a large image
    centres = shares[:, :2]
    halves = shares[:, 2:] / 2
    starts_and_ends = np.hstack((centres - halves, centres + halves))
    return np.asarray(starts_and_ends * np.tile(extent, 2))
