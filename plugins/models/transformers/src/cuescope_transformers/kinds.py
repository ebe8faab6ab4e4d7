"""Contrastive models of the library, each by what is peculiar to its kind."""

from dataclasses import dataclass
from typing import Literal

CONVOLUTIONS = "its image tower is convolutional and has no tokens; take a ViT"
NO_MASK = "the attention of its image tower takes no mask"
APART = (
    "its layers look at space and at time by turns, so a patch stands in two sequences"
)


@dataclass(frozen=True)
class Kind:
    """How a kind is opened, and how its texts and cosines are made.

    `width` names the size of the shared space, of the whole configuration or of that of the image
    tower. `lower` and `pads` say that texts are lower-cased and filled up to the context, as in
    training. `scale` is what the cosines are multiplied by: the exponential of a weight, one over
    a weight, or 1. `prefix` tokens stand before the patches; `closed` says why these cannot be
    hidden or shown, or None.
    """

    builder: str = "AutoModel"
    width: Literal["projection_dim", "hidden_size", "image_text_hidden_size"] = (
        "projection_dim"
    )
    lower: bool = False
    pads: bool = False
    scale: Literal["logit_scale", "temperature"] | None = "logit_scale"
    biased: bool = False
    prefix: int = 1
    takes_video: bool = False
    closed: str | None = None

    @property
    def pools_token(self) -> bool:
        """Whether the first token is the embedding; else attention pools all."""
        return self.prefix > 0


SIGLIP = Kind(width="hidden_size", lower=True, pads=True, biased=True, prefix=0)
KINDS = {
    "clip": Kind(),
    "siglip": SIGLIP,
    "siglip2": SIGLIP,
    "xclip": Kind(takes_video=True),
    "clip_vision_model": Kind(builder="CLIPVisionModelWithProjection"),
    "siglip_vision_model": SIGLIP,
    "siglip2_vision_model": SIGLIP,
    "altclip": Kind(),
    "chinese_clip": Kind(),
    "metaclip_2": Kind(),
    # two class tokens; the first one is the embedding
    "tipsv2": Kind(width="hidden_size", pads=True, scale="temperature", prefix=2),
    "align": Kind(scale="temperature", closed=CONVOLUTIONS),
    # its checkpoints keep no temperature
    "blip": Kind(
        builder="BlipForImageTextRetrieval",
        width="image_text_hidden_size",
        scale=None,
        closed=NO_MASK,
    ),
    "videoprism": Kind(
        width="hidden_size", pads=True, scale=None, takes_video=True, closed=APART
    ),
}
