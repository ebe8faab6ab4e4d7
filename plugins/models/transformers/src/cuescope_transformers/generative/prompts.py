"""The words of a prompt: the question, the listed choices, the chat around them."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, Literal

from cuescope_sdk import Sample, UserError
from cuescope_sdk.torch import render_chat
from cuescope_transformers.options import VLMOptions

Medium = Literal["image", "video"]
Tokens = tuple[int, ...]

# models without a chat template: the prompt, {media} where the images go, and what stands between
# the prompt and an answer
PLAIN = "{media}\n{words}\nAnswer:"
PLAIN_OF = {
    "paligemma": ("{media}answer en {words}", ""),
    "blip-2": ("Question: {words} Answer:", " "),
    "instructblip": ("{words}", " "),
    "instructblipvideo": ("{words}", " "),
    "florence2": ("{words}", ""),
    "fuyu": ("{words}\n", ""),
}


def user_words(sample: Sample, options: VLMOptions) -> str:
    """The user's words; the option `question` stands in where the sample has none.

    Raises UserError for more choices than there are letters to list them with.
    """
    question = sample.question or options.question
    words = options.prompt.replace("{question}", question).strip()
    if options.scoring != "letters" or not sample.choices:
        return words
    if len(sample.choices) > len(ascii_uppercase):
        raise UserError(
            f"sample '{sample.key}' has more choices than letters",
            expected=f"at most {len(ascii_uppercase)} with scoring=letters",
            got=f"{len(sample.choices)}",
            remedy="Use -O model.scoring=likelihood.",
        )
    lines = [words] if words else []
    lines.extend(
        f"({letter}) {choice}" for letter, choice in with_letters(sample.choices)
    )
    lines.append("Answer with the letter.")
    return "\n".join(lines)


def with_letters(choices: Sequence[str]) -> list[tuple[str, str]]:
    # there are more letters than choices
    return list(zip(ascii_uppercase, choices, strict=False))


def render_prompt(
    processor: Any,
    kind: str,
    words: str,
    media: Sequence[Medium],
) -> str:
    """The prompt up to the answer, a placeholder for each medium in it.

    By the processor's chat template where it has one, else by the format of the family `kind`.
    """
    if getattr(processor, "chat_template", None):
        parts: list[dict[str, str]] = [{"type": medium} for medium in media]
        # a part without words would be another prompt, and a chat of nothing is none
        if words or not media:
            parts.append({"type": "text", "text": words})
        chat = [{"role": "user", "content": parts}]
        return render_chat("transformers-vlm", processor, chat)
    pattern, _ = PLAIN_OF.get(kind, (PLAIN, " "))
    # not every processor names a placeholder
    tokens = [str(getattr(processor, f"{medium}_token", "")) for medium in media]
    return pattern.replace("{media}", "".join(tokens)).replace("{words}", words).strip()


def gap_before_answer(
    prompt: str,
    kind: str,
    chat: bool,
    special: Sequence[str],
) -> str:
    """What stands between prompt and answer: nothing after a line's end or a special token."""
    if not chat and kind in PLAIN_OF:
        return PLAIN_OF[kind][1]
    # "assistant\n" and "<|im_start|>" end a word already; a space would make another token
    if not prompt or prompt[-1].isspace() or prompt.endswith(tuple(special)):
        return ""
    return " "


def answer_tokens(tokenizer: Any, prompt: str, gap: str, answer: str) -> Tokens:
    """The tokens of an answer as they follow the prompt.

    Tokenised together, for a word after a space is another token than at the beginning; by itself
    where the two would melt into each other.
    """
    # SentencePiece melts a space into the word after it, byte-level pairs may melt both sides
    head = _ids(tokenizer, prompt)
    whole = _ids(tokenizer, prompt + gap + answer)
    tail = whole[len(head) :]
    if tail and whole == head + tail:
        return tail
    return _ids(tokenizer, answer)


def require_tokens(title: str, sample: Sample, choice: str, answer: Tokens) -> None:
    """Raises UserError for a choice of which no token is left: nothing of it could be scored."""
    if not answer:
        raise UserError(
            f"sample '{sample.key}' has a choice that {title} cannot read",
            expected="a choice with a token or more",
            got=f"'{choice}'",
            remedy="Leave it out, or write it in words.",
        )


def _ids(tokenizer: Any, text: str) -> Tokens:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
