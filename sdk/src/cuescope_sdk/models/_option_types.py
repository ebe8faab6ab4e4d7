"""Options that models share: words, names of repositories, where a stock model's files are."""

from typing import Annotated

from pydantic import AfterValidator, Field

from cuescope_core.trust.risks import Names, RunsCode, Words
from cuescope_core.types import Options

SLOT = "{question}"


def _require_slot(prompt: str) -> str:
    if SLOT not in prompt:
        raise ValueError(f"{SLOT} in it")
    return prompt


PromptWords = Annotated[str, Words()]
# text in which {question} stands for the question
QuestionPrompt = Annotated[PromptWords, AfterValidator(_require_slot)]
RepositoryName = Annotated[str, Names.repository()]


class StockOptions(Options):
    """Where a model's files are; the part after `NAME:` is `model`."""

    argument = "model"

    model: RepositoryName = Field(
        description="a folder that save_pretrained wrote, or a hub id"
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )
    # opened for one command, it is closed in the next one (docs/adr/0021)
    trust_remote_code: Annotated[bool, RunsCode()] = Field(
        False, description="run Python files that come with the model; read them first"
    )
