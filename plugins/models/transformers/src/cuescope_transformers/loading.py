"""Load a stock model with its image processor and tokenizer, strictly and quietly."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import transformers

from cuescope_sdk import UserError, digest, nearest
from cuescope_sdk.torch import (
    Source,
    config_content,
    find_source,
    load_part,
    require_tensors,
    require_vocabulary,
    resolve_dtype,
    tensor_bytes,
    tokenizer_content,
)

OWNER = "transformers"
# kind of configuration -> what builds the model; AutoModel has no projection for CLIP's image tower
BUILDERS = {
    "clip": "AutoModel",
    "siglip": "AutoModel",
    "siglip2": "AutoModel",
    "xclip": "AutoModel",
    "clip_vision_model": "CLIPVisionModelWithProjection",
    "siglip_vision_model": "AutoModel",
    "siglip2_vision_model": "AutoModel",
}
TEXT_PARTS = ("text_", "prompts_", "logit_")


@dataclass(frozen=True)
class Loaded:
    """A model ready to encode, of one of the kinds in `BUILDERS`.

    `tokenizer` is None for an image tower alone.
    """

    model: Any
    kind: str
    source: Source
    image_processor: Any
    tokenizer: Any | None
    device: torch.device

    @property
    def vision_config(self) -> Any:
        """Configuration of the image tower."""
        return getattr(self.model.config, "vision_config", self.model.config)

    @property
    def dim(self) -> int:
        """Size of the shared space; SigLIP's is the image tower's own."""
        siglip = self.kind.startswith("siglip")
        return int(self.vision_config.hidden_size if siglip else self.model.config.projection_dim)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        return {"architecture": type(self.model).__name__, "weights": self.source.title}

    def fingerprint(self, head: str, uses_text_tower: bool) -> str:
        """Digest of the weights in use, the configuration, the preprocessing, dtype and head."""
        used = {
            name: tensor_bytes(tensor)
            for name, tensor in self.model.state_dict().items()
            if uses_text_tower or not name.startswith(TEXT_PARTS)
        }
        config = self.model.config if uses_text_tower else self.vision_config
        words = tokenizer_content(self.tokenizer) if uses_text_tower else None
        return digest(
            used, self.kind, config_content(config), config_content(self.image_processor), words,
            str(self.model.dtype), head,
        )  # fmt: skip


def load(
    model: str, revision: str | None, trust_remote_code: bool, device: torch.device, dtype: str
) -> Loaded:
    """Find and load everything; raises UserError for whatever a person can mend."""
    precision = resolve_dtype(dtype)
    source = find_source(OWNER, model, revision, trust_remote_code)
    read = partial(load_part, source, trust_remote_code)
    config = read("configuration", transformers.AutoConfig)
    kind = kind_of(config, source)
    builder = getattr(transformers, BUILDERS[kind])
    network, info = read(
        "weights", builder, config=config, dtype=precision, output_loading_info=True
    )
    require_tensors(network, info, source)
    _require_head(network, source)
    network.eval().requires_grad_(False).to(device)
    image_processor = read("image processor", transformers.AutoImageProcessor)
    tokenizer = None
    if not kind.endswith("_vision_model"):
        require_vocabulary(source)
        tokenizer = read("tokenizer", transformers.AutoTokenizer)
    return Loaded(network, kind, source, image_processor, tokenizer, device)


def kind_of(config: Any, source: Source) -> str:
    """Which of `BUILDERS` a configuration is (or derives from); raises UserError for another."""
    for kind in BUILDERS:
        if isinstance(config, transformers.CONFIG_MAPPING[kind]):
            return kind
    raise UserError(
        f"{OWNER}: {source.title} is no contrastive image-text model that is known here",
        expected=", ".join(BUILDERS),
        got=f"the architecture '{config.model_type}'",
        remedy="It answers in words: use transformers-vlm in place of transformers."
        if type(config) in transformers.MODEL_FOR_MULTIMODAL_LM_MAPPING
        else nearest(config.model_type, BUILDERS),
    )


def _require_head(network: Any, source: Source) -> None:
    """Without a pooling head there is no image embedding."""
    vision = getattr(network.config, "vision_config", network.config)
    if getattr(vision, "vision_use_head", True) is False:
        raise UserError(
            f"{OWNER}: {source.title} has no pooling head (vision_use_head is false)",
            expected="a model that gives image embeddings",
        )
