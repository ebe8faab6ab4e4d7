"""The question in other words, the video untouched: the counter-causal control (section 3.5)."""

from collections.abc import Sequence

from cuescope_sdk import TextGenerator

OPENINGS = (
    "Please tell:",
    "Look at what is shown, and say:",
    "Here is what is to be found out.",
    "This is asked of you.",
    "Judge by what can be seen.",
)
_ASK = (
    "Say this question in other words, so that it still asks for exactly the same. Write the "
    "question alone.\n{question}"
)


def paraphrases(
    questions: Sequence[str], generator: TextGenerator | None, instance: int
) -> list[str]:
    """Each question in a text generator's words; without one, or where it has none, re-opened."""
    if generator is None:
        return [reopened(question, instance) for question in questions]
    said = generator.generate([_ASK.format(question=question) for question in questions])
    lines = [" ".join(text.split()) for text in said]
    return [
        new if new and new != old else reopened(old, instance)
        for old, new in zip(questions, lines, strict=True)
    ]


def reopened(question: str, instance: int) -> str:
    """Behind other words of opening, which no rule can get wrong."""
    return f"{OPENINGS[instance % len(OPENINGS)]} {question}"
