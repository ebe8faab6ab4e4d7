"""Open answers: when one is right, and what was answered."""

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from textwrap import shorten

from cuescope_sdk import Audit, Cell, Outcome, Sample, Table

ROWS, LONGEST = 6, 60  # answers that are shown, and their characters
ARTICLES = {"a", "an", "the"}
NUMBERS = {
    "none": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
YES_NO = {"yes", "no"}


def normalised(answer: str) -> str:
    """As open answers are compared, after the evaluation of VQA (Antol et al., 2015).

    Lower case, number words as digits, no articles and no punctuation but a decimal point. An
    apostrophe and a full stop join what they stand between, other marks part it. Deviates: an
    answer of articles alone stays, so that "A" may be a letter to choose.

    >>> normalised(" It's the  LEFT one, of 1,000 T-shirts. ")
    'its left 1 of 1000 t shirts'
    """
    text = re.sub(r"(?<=\d),(?=\d)|['\u2019]|(?<!\d)\.|\.(?!\d)", "", answer.lower())
    text = "".join(" " if _is_mark(letter) else letter for letter in text)
    words = [NUMBERS.get(word, word) for word in text.split()]
    return " ".join([word for word in words if word not in ARTICLES] or words)


def agrees(given: str, accepted: Iterable[str]) -> bool:
    """Whether an answer, or its first sentence, equals an accepted one once both are `normalised`.

    Where only yes or no is accepted, the first word answers: "Yes, it is." is yes.
    """
    answers = {normalised(answer) for answer in accepted} - {""}
    first = re.split(r"(?<=[.!?])\s+|\n", given.strip(), maxsplit=1)[0]
    said = {normalised(given), normalised(first)}
    if answers <= YES_NO:
        said = {one.partition(" ")[0] for one in said}
    return bool(said & answers)


def accepted_answers(sample: Sample) -> tuple[str, ...]:
    """The label, then the others that `annotations["answers"]` names."""
    others = map(str, sample.annotations.get("answers", ()))
    return tuple(dict.fromkeys((str(sample.label), *others)))


def none_agrees(outcomes: Sequence[Outcome], right: Sequence[bool]) -> str | None:
    """What is said where all questions are open and no answer is right; else None."""
    if any(right) or any(one.trial.sample.choices for one in outcomes):
        return None
    asked, accepted, given = _words(outcomes[0])
    return (
        f"no answer equals an accepted one: asked \N{LEFT DOUBLE QUOTATION MARK}{asked}"
        f"\N{RIGHT DOUBLE QUOTATION MARK}, the model said \N{LEFT DOUBLE QUOTATION MARK}{given}"
        f"\N{RIGHT DOUBLE QUOTATION MARK}, and accepted is \N{LEFT DOUBLE QUOTATION MARK}{accepted}"
        "\N{RIGHT DOUBLE QUOTATION MARK}. Ask for short answers, as in -M prompt='{question} "
        "Answer in one word.' of transformers-vlm (docs/quag.md)"
    )


def show_answers(audit: Audit, outcomes: Sequence[Outcome], right: Sequence[bool]) -> None:
    """A table of a few open questions, wrong and right ones, with what was answered."""
    asked = [place for place, one in enumerate(outcomes) if not one.trial.sample.choices]
    if not asked:
        return
    wrong, good = ([p for p in asked if bool(right[p]) is kind] for kind in (False, True))
    half = max(ROWS // 2, ROWS - len(good))
    shown = [*wrong[:half], *good][:ROWS]
    columns = ("sample", "question", "accepted", "given", "right")
    rows: list[dict[str, Cell]] = [
        dict(zip(columns, (outcomes[p].trial.sample.key, *_words(outcomes[p]), word), strict=True))
        for p in sorted(shown)
        for word in ("yes" if right[p] else "no",)
    ]
    note = (
        f"{len(shown)} of {len(asked)} open questions, of which {len(good)} are answered rightly. "
        "Compared without case, punctuation and articles; docs/quag.md has the rest."
    )
    audit.attach(Table(title="What was answered", columns=columns, rows=tuple(rows), notes=(note,)))


def _words(outcome: Outcome) -> tuple[str, str, str]:
    """The question, what is accepted, and what was given."""
    sample = outcome.trial.sample
    words = (sample.question or "", " | ".join(accepted_answers(sample)), outcome.response.text)
    question, accepted, given = (shorten(w or "", LONGEST, placeholder=" ...") for w in words)
    return question, accepted, given or "(nothing)"


def _is_mark(letter: str) -> bool:
    """Punctuation, but for the points that are left in numbers."""
    listed = letter in string.punctuation or unicodedata.category(letter).startswith("P")
    return listed and letter != "."
