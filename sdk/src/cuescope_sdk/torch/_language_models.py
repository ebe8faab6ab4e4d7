"""Which models of transformers continue texts."""

from typing import Any

from cuescope.errors import UserError
from cuescope_sdk.torch._pretrained import Source


def causal_builder(config: Any, source: Source) -> Any:
    """What opens a causal language model, as `Pretrained.find` asks for it.

    Raises UserError for an architecture that does not continue texts.
    """
    import transformers

    # code of the model's own names its Auto class here
    own = getattr(config, "auto_map", None) or {}
    stock = type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    if stock or "AutoModelForCausalLM" in own:
        return transformers.AutoModelForCausalLM
    raise UserError(
        f"{source.owner}: {source.title} does not continue texts",
        expected="a causal language model",
        got=f"the architecture '{config.model_type}'",
    )
