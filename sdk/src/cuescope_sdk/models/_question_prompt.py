"""The words around a question, as an option."""

from typing import Annotated

from pydantic import AfterValidator

from cuescope.trust.risks import Words

SLOT = "{question}"


def _require_slot(prompt: str) -> str:
    if SLOT not in prompt:
        raise ValueError(f"{SLOT} in it")
    return prompt


# an option of text in which {question} stands for the question
QuestionPrompt = Annotated[str, Words(), AfterValidator(_require_slot)]
