"""Chat templates of strangers: they fail in one line, and reach nothing of ours."""

import re
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast, ProcessorMixin

from cuescope_sdk import UserError
from cuescope_sdk.torch import render_chat

CHAT = [{"role": "user", "content": "a"}]
HONEST = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{{ bos_token }}"
)
STRANGERS = {
    "{{ messages.a.b }}": "has no attribute",
    "{{ 1 / 0 }}": "division by zero",
    "{% if %}": "Expected an expression",
    "{{ messages.__class__.__mro__ }}": "is unsafe",
    "{{ raise_exception('no system') }}": "no system",
}


def a_tokenizer(template: str) -> Any:
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel()), bos_token="<s>"
    )
    tokenizer.chat_template = template
    return tokenizer


class Processor(ProcessorMixin):
    """Looks for the names in its template as well."""

    def __init__(self, template: str) -> None:
        self.tokenizer = a_tokenizer(template)
        self.chat_template = template


KINDS = {"tokenizer": a_tokenizer, "processor": Processor}


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_gives_the_prompt(kind: str) -> None:
    assert render_chat("x", KINDS[kind](HONEST), CHAT) == "<user>a<s>"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("template", STRANGERS, ids=range(len(STRANGERS)))
def test_a_template_of_a_stranger(kind: str, template: str) -> None:
    said = re.escape(STRANGERS[template])
    with pytest.raises(UserError, match=f"x: the model's chat template .*{said}"):
        render_chat("x", KINDS[kind](template), CHAT)
