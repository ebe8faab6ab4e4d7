"""A prompt without the placeholders of hidden tokens; what is left keeps its positions."""

from typing import Any

from jaxtyping import Bool
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutputWithPooling

from cuescope_sdk import UserError
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.showing import Batch, described
from cuescope_transformers.generative.tokens import among, placeholders

PER_TOKEN = ("attention_mask", "mm_token_type_ids", "token_type_ids")


def medium_of(inputs: dict[str, Any]) -> str:
    """Whether the frames are shown as images or as videos."""
    return "video" if "pixel_values_videos" in inputs else "image"


def without_placeholders(
    loaded: Loaded,
    inputs: dict[str, Any],
    medium: str,
    seen: Bool[Tensor, " visual"],
    features: Any,
) -> Batch:
    """The batch of a prompt with all its placeholders, of which only those that are `seen` stay.

    `features` are what the language model reads at those, as the library's `pooler_output`. Raises
    UserError where configuration and prompt are at odds about placeholders.
    """
    tokens = inputs["input_ids"]
    # generate would count positions without what is gone
    positions = loaded.model._prepare_position_ids_for_generation(tokens, dict(inputs))
    kept = inputs["attention_mask"].bool()
    visual = among(tokens, placeholders(loaded.model.config, loaded.processor))
    if int(visual.sum()) != len(seen):
        raise UserError(
            f"{loaded.title} cannot leave tokens out",
            expected=f"placeholders in the prompt for {len(seen)} visual tokens",
            got=f"{int(visual.sum())}",
            remedy="Mend image_token_id or video_token_id in config.json.",
        )
    kept[visual] = seen
    most = int(kept.sum(dim=1).max())
    places = kept.int().argsort(dim=1, stable=True)[:, -most:]
    fills = ~kept.gather(1, places)
    left: dict[str, Any] = {
        "input_ids": tokens.gather(1, places).masked_fill(fills, loaded.tokenizer.pad_token_id),
        "position_ids": positions.gather(-1, places.expand(*positions.shape[:-1], -1)),
    }
    for name in PER_TOKEN:
        if name in inputs:
            left[name] = inputs[name].gather(1, places).masked_fill(fills, 0)
    if bool(seen.any()):
        left["mm_encoder_outputs"] = {medium: BaseModelOutputWithPooling(pooler_output=features)}
    return described(loaded, left)
