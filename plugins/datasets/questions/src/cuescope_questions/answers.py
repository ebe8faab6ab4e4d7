"""Which option is the right one, as a file says it: by number, letter or text."""

import re
import string
from array import array
from collections.abc import Sequence
from typing import Any

from cuescope_questions.layouts import FORMS, AnswerForm
from cuescope_sdk import UserError
from cuescope_sdk.logs import letters_before, without_letters
from cuescope_sdk.report import count_of

LETTERS = string.ascii_uppercase
# "A. red", "(A) red", "A) red", "A: red"
_PREFIX = re.compile(r"\(?([A-Z])[.):]\s*(.*)", re.DOTALL)
_LETTER = re.compile(r"\(?([A-Za-z])[.):]?")
# a table with an empty cell has 3.0 for 3
_NUMBER = re.compile(r"(\d{1,3})(?:\.0)?")


def single_answer(value: Any, place: str) -> str | None:
    """The answer as text, None where there is none; raises UserError for several."""
    if isinstance(value, list):
        # which of two is right nobody can say, and a sample has one label
        if len(value) > 1:
            raise UserError(
                place,
                expected="one right answer",
                got=f"{len(value)}: {value!r:.60}",
            )
        value = value[0] if value else None
    if value is None or isinstance(value, bool):
        return None
    return str(value).strip() or None


def find_index(answer: str, options: Sequence[str], form: AnswerForm) -> int | None:
    """Which option the answer means when read in this form; None where it means none.

    `options` are as the file has them, with their letters.
    """
    if form == "text":
        # the first of equal texts: whose right answer stands there twice is left out later
        for texts in (list(options), without_letters(options)):
            if answer in texts:
                return texts.index(answer)
        return _of_letter_and_text(answer, list(options))
    if form == "letter":
        match = _LETTER.fullmatch(answer)
        letters = letters_before(options) or LETTERS
        index = letters.find(match[1].upper()) if match else -1
    else:
        number = _NUMBER.fullmatch(answer)
        index = int(number[1]) if number else -1
        if form == "number":
            index -= 1
    return index if 0 <= index < len(options) else None


def _of_letter_and_text(answer: str, options: Sequence[str]) -> int | None:
    """Which option "B. red" means where options have no letters: the second, if that is "red"."""
    match = _PREFIX.fullmatch(answer)
    if match is None:
        return None
    index = LETTERS.index(match[1])
    said = index < len(options) and options[index] == match[2].strip()
    return index if said else None


class AnswerForms:
    """Which option each answer of a file means, in each form in which it may be read.

    `indices` are -1 where it means none; of rows in `twice` that option stands there twice.
    """

    def __init__(self, forms: Sequence[AnswerForm] = FORMS) -> None:
        self.indices = {form: array("i") for form in forms}
        self.twice: dict[AnswerForm, set[int]] = {form: set() for form in forms}
        # of the first answer that means none: its place, itself, and how many options it has
        self._misfits: dict[AnswerForm, tuple[str, str, int]] = {}
        self._first_place = ""

    def add(self, answer: str, options: Sequence[str], place: str) -> None:
        """The answer of one more row; `place` stands before it in errors."""
        self._first_place = self._first_place or place
        texts = without_letters(options)
        for form, indices in self.indices.items():
            index = find_index(answer, options, form)
            if index is None:
                self._misfits.setdefault(form, (place, answer[:60], len(texts)))
            elif texts.count(texts[index]) > 1:
                self.twice[form].add(len(indices))
            indices.append(-1 if index is None else index)

    def choose(self) -> AnswerForm:
        """The one form in which every answer means an option.

        Raises UserError where none fits all, with the first that differs, and where two fit and
        would give different answers.
        """
        if len(self.indices) == 1:
            return next(iter(self.indices))
        fitting = [form for form in self.indices if form not in self._misfits]
        if not fitting:
            raise self._no_form()
        for form in fitting[1:]:
            # options "1", "0" and the answer "0": by text the second, by number the first
            if self.indices[form] != self.indices[fitting[0]]:
                raise UserError(
                    f"{self._first_place} can be read as {fitting[0]} and as {form}",
                    expected="one way to read it",
                    remedy="Say which: -O data.answer_is=text, letter or index",
                )
        return fitting[0]

    def _no_form(self) -> UserError:
        best = min(self.indices, key=lambda form: self.indices[form].count(-1))
        place, answer, _ = self._misfits[best]
        count = len(self.indices[best]) - self.indices[best].count(-1)
        expected = "an option's text, letter, or number from 0"
        if count:
            expected = f"the {best} of an option, as in {count_of(count, 'other rows')}"
        remedy = None
        if best == "index":
            remedy = (
                "An index counts from 0; -O data.answer_is=number is for numbers from 1"
            )
        return UserError(place, expected=expected, got=f"'{answer}'", remedy=remedy)

    def require_few_misfits(self, form: AnswerForm, share: float) -> None:
        """Raise UserError where more than a `share` of the answers mean no option.

        A few are slips of the authors; with many, the columns are others than we think.
        """
        indices = self.indices[form]
        if indices.count(-1) > share * len(indices):
            place, answer, count = self._misfits[form]
            raise UserError(
                place,
                expected=f"the {form} of one of {count} options",
                got=f"'{answer}'",
            )
