"""Models of an image tower and a projector: LLaVA and its kin, PaliGemma."""

from typing import Any

import torch
from torch import Tensor

from cuescope_sdk import UserError
from cuescope_sdk.torch import hook_input
from cuescope_transformers.generative.hiding.marking import grown
from cuescope_transformers.generative.hiding.placeholding import medium_of, without_placeholders
from cuescope_transformers.generative.hiding.sparse import embedding_apart, leaving_out, placed
from cuescope_transformers.generative.loading import Loaded, arguments
from cuescope_transformers.generative.showing import Batch, pixels_in

TOWERS = ("clip_vision_model", "siglip_vision_model")


@torch.inference_mode()
def without_patches(loaded: Loaded, inputs: dict[str, Any]) -> Batch:
    """The batch without the patches that are NaN, and without the tokens that read one.

    In a model of tiles the mask hides in the tiles and in the whole image; the tokens that end
    lines see nothing, and stay.
    """
    base, medium, name = loaded.model.base_model, medium_of(inputs), pixels_in(inputs)
    tower = _require_tower(loaded, base.vision_tower)
    pooling = getattr(base, "vision_resampler", None) if medium == "video" else None
    merge = _merged(base.config, medium)
    if merge > 1:
        patch = base.config.vision_config.patch_size
        inputs = {**inputs, name: grown(inputs[name], patch * merge)}
    features_of = getattr(base, f"get_{medium}_features")
    given = {key: inputs[key] for key in arguments(features_of) if key in inputs}
    reader = pooling or base.multi_modal_projector
    with (
        embedding_apart(tower.embeddings.patch_embedding),
        leaving_out(tower.encoder) as entered,
        hook_input(reader, lambda tokens: _back(tokens, entered[-1])),
    ):
        features = features_of(**given, return_dict=True).pooler_output
    rows = torch.cat([part.reshape(-1, part.shape[-1]) for part in features])
    seen = ~rows.isnan().any(dim=1)
    left = rows[seen]
    packed = left[None] if isinstance(features, Tensor) else [left]
    return without_placeholders(loaded, inputs, medium, seen, packed)


def _back(tokens: Tensor, seen: Tensor) -> Tensor:
    """Tokens of the encoder, perhaps without its class token, at their places."""
    first = max(1, int(seen.sum(dim=1).max())) - tokens.shape[1]
    return placed(tokens, seen[:, first:])


def _merged(config: Any, medium: str) -> int:
    """Patches a side that one token of the language model reads, 1 where tokens share them."""
    if medium == "image":
        return 1
    if config.model_type == "llava_next_video":
        return int(config.spatial_pool_stride)
    side = config.vision_config.image_size // config.vision_config.patch_size
    return 2 if side % 2 == 0 else 1  # LLaVA-OneVision halves it by interpolation


def _require_tower(loaded: Loaded, tower: Any) -> Any:
    kind = tower.config.model_type
    if kind not in TOWERS:
        raise UserError(
            f"{loaded.title} cannot leave tokens out",
            expected=" or ".join(TOWERS),
            got=f"the image tower '{kind}'",
        )
    return getattr(tower, "vision_model", tower)
