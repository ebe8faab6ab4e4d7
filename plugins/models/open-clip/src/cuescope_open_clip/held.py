"""An open_clip model that the caller holds in memory, with its preprocessing and tokenizer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from torch import Tensor

from cuescope_open_clip.configuration import OWNER
from cuescope_sdk import UserError, digest
from cuescope_sdk.report import count_of
from cuescope_sdk.torch import network_digest, place_of

PARTS = "(model, preprocess, tokenizer)"
SOURCES = "model, preprocess = open_clip.create_model_from_pretrained(NAME, TAG); " + (
    "tokenizer = open_clip.get_tokenizer(NAME)"
)
# what tokenizers differ in: case, punctuation, accents
PROBE_TEXTS = [
    "a photo of a bird.",
    "A Person, using 3 chairs & <tables>!",
    "naïve Übung",
]

# sizes that no resizing and cropping treats alike
PROBES = ((37, 53), (64, 64), (90, 41))
Preprocess = Callable[[Image.Image], Tensor]


@dataclass(frozen=True)
class HeldModel:
    """What `StockModel` is for files: the same names, of a network that is open already."""

    network: Any
    preprocess: Preprocess
    tokenizer: Any | None
    device: torch.device
    dtype: torch.dtype
    title: str

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"open-clip: {self.title}"

    @cached_property
    def dim(self) -> int:
        """Size of the space that images and texts share."""
        with torch.inference_mode():
            # asked of the network: one in memory brings no configuration
            image = self.preprocess(Image.new("RGB", (64, 64)))
            batch = image[None].to(self.device, self.dtype)
            return int(self.network.encode_image(batch).shape[-1])

    @property
    def has_text_tower(self) -> bool:
        """Whether there is something to read texts with."""
        return self.tokenizer is not None

    @property
    def logit_scale(self) -> float:
        """Factor on the cosines."""
        # float first: in half precision the factor itself would be rounded
        return float(self.network.logit_scale.detach().float().exp())

    @property
    def logit_bias(self) -> float:
        """What SigLIP adds to its logits, 0 elsewhere."""
        bias = self.network.logit_bias
        return 0.0 if bias is None else float(bias.detach().float())

    @cached_property
    def normalisation(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation (channel) of the preprocessing."""
        return normalisation(self.preprocess)

    @property
    def facts(self) -> dict[str, str]:
        return {"architecture": type(self.network).__name__, "weights": "in memory"}

    def fingerprint(self, head: str) -> str:
        """Digest of the network, the preprocessing, the tokenizer, the dtype and head."""
        # it may be any callable, so it is known by what it makes of texts
        words = None if self.tokenizer is None else self.tokenizer(PROBE_TEXTS).numpy()
        pixels = preprocess_digest(self.preprocess)
        network = network_digest(self.network)
        return digest("held", network, pixels, words, str(self.dtype), head)


def hold(item: Any, title: str, *, reads_texts: bool) -> HeldModel:
    """From `PARTS`; raises UserError where a part is missing or not fit for an audit.

    With `reads_texts` False a table names the classes, and no tokenizer is needed.
    """
    if not isinstance(item, tuple) or len(item) != 3:
        got = (
            f"{count_of(len(item), 'parts')}"
            if isinstance(item, tuple)
            else "the model alone"
        )
        raise UserError(
            f"{OWNER}: a model in memory comes with what belongs to it",
            expected=f"model={PARTS}",
            got=got,
            remedy=SOURCES,
        )
    network, preprocess, tokenizer = item
    device, dtype = place_of(OWNER, network, network.visual)
    if tokenizer is None and reads_texts:
        raise UserError(
            f"{OWNER}: no tokenizer to name the labels with",
            expected=PARTS,
            remedy="tokenizer = open_clip.get_tokenizer(NAME), or give class_embeddings",
        )
    if preprocess is None:
        config = PreprocessCfg(**network.visual.preprocess_cfg)
        preprocess = image_transform_v2(config, is_train=False)
    for part, kind in ((preprocess, "preprocess"), (tokenizer, "tokenizer")):
        if part is not None and not callable(part):
            raise UserError(
                f"{OWNER}: {kind} is a {type(part).__name__}", expected=PARTS
            )
    return HeldModel(network, preprocess, tokenizer, device, dtype, title)


def preprocess_digest(preprocess: Preprocess) -> str:
    """Digest of what a function makes of probe images.

    Raises UserError for one that gives another tensor the second time, as for training.
    """
    rng = np.random.default_rng(0)
    made = []
    for shape in PROBES:
        pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        image = Image.fromarray(pixels)
        first = preprocess(image).numpy()
        if not np.array_equal(first, preprocess(image).numpy()):
            raise UserError(
                f"{OWNER}: the preprocessing draws at random",
                expected="the one for evaluation",
                remedy="create_model_and_transforms gives it last",
            )
        made.append(first)
    return digest(*made)


def normalisation(preprocess: Preprocess) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (channel) that a function subtracts and divides by.

    Read off what it makes of a black and of a white image: 0 and 1 before it normalises.
    """

    def mean_of(colour: str) -> Tensor:
        channels = preprocess(Image.new("RGB", (64, 64), colour))
        return channels.float().mean(dim=(1, 2))

    black = mean_of("black")
    deviation = 1 / (mean_of("white") - black)
    return -black * deviation, deviation
