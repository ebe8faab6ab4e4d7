"""What a server's answer says, and what is kept of it."""

import math
import re

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Tokens = tuple[tuple[str, float], ...]


class Answer(BaseModel):
    """One answer; `first` are the tokens that could begin its first word, the said one first.

    Each has its log-probability. `system_fingerprint` is the server's name for its build.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    first: Tokens = ()
    system_fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Token(BaseModel):
    token: str
    logprob: float


class _Position(_Token):
    top_logprobs: list[_Token] = []


class _Logprobs(BaseModel):
    content: list[_Position] | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int = 0


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: str | None = None


def read_answer(body: str) -> Answer:
    """From the JSON of a chat completion; a refusal is an answer too.

    Raises ValueError with the first fault in it.
    """
    try:
        whole = _Completion.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise ValueError(f"{place}: {fault['msg']}" if place else fault["msg"]) from None
    said, usage = whole.choices[0], whole.usage
    return Answer(
        text=(said.message.content or said.message.refusal or "").strip(),
        first=first_word(said.logprobs.content or []) if said.logprobs else (),
        system_fingerprint=whole.system_fingerprint,
        prompt_tokens=usage and usage.prompt_tokens,
        completion_tokens=usage and usage.completion_tokens,
    )


def first_word(positions: list[_Position]) -> Tokens:
    """The tokens at the first position where the answer has a letter or digit; () without any."""
    said = next((at for at in positions if re.search(r"\w", at.token)), None)
    if said is None:
        return ()
    others = [other for other in said.top_logprobs if other.token != said.token]
    return tuple((t.token, t.logprob) for t in (said, *others) if math.isfinite(t.logprob))
