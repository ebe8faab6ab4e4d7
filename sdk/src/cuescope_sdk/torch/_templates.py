"""Chat templates of strangers, in the sandbox of transformers."""

from collections.abc import Mapping, Sequence
from typing import Any

from cuescope_core.errors import UserError
from cuescope_sdk.torch._strangers import fault_of


def render_chat(
    owner: str,
    renderer: Any,
    chat: Sequence[Mapping[str, Any]],
    remedy: str | None = None,
    **options: Any,
) -> str:
    """A chat up to the answer, in the template of a tokenizer or processor.

    Raises UserError where the template refuses it or fails.
    """
    try:
        prompt = renderer.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=False, **options
        )
    except Exception as error:
        raise UserError(
            f"{owner}: the model's chat template refuses the prompt",
            got=fault_of(error),
            remedy=remedy,
        ) from error
    return str(prompt)
