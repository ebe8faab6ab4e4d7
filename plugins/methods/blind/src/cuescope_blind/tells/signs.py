"""What an option looks like whatever it says: capitals, digits, commas, scripts, how it ends."""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy import sparse

from cuescope_blind.questions import Questions

# of these the length of a run is kept: "  ", "USA", "1984"
LONGEST_RUN = {" ": 2, "A": 2, "9": 4}
LETTERS = ("a", "A", " ")


def sign_codes(questions: Questions) -> sparse.csr_array:
    """A row an option, a column a sign."""
    numbers: dict[str, int] = {}
    rows = []
    columns = []
    for place, text in enumerate(questions.raw_options):
        for sign in dict.fromkeys(signs_of(text)):
            rows.append(place)
            columns.append(numbers.setdefault(sign, len(numbers)))
    shape = (len(questions.owner), max(len(numbers), 1))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def signs_of(text: str) -> Iterator[str]:
    """Kinds of characters of a text, their neighbours, its ends, how many there are of each.

    Letters and digits count by their kind, in runs: "Mr. Lee, 1984" is `A a . _ A a , _ 9999`.

    >>> list(signs_of("No, 2"))[:6]
    ['ends in 2', '^A', '9$', 'A', 'Aa', 'a']
    """
    runs = []
    for kind, group in itertools.groupby(text, kind_of):
        characters = "".join(group)
        runs.append(kind * min(len(characters), LONGEST_RUN.get(kind, 1)))
        if kind == "9":
            # numbers that end in 0 are round, others even or odd
            yield f"ends in {characters[-1]}"
    yield from (f"^{run}" for run in runs[:1])
    yield from (f"{run}$" for run in runs[-1:])
    for run, following in itertools.zip_longest(runs, runs[1:]):
        yield run
        if following is not None:
            yield run + following
    for run, count in Counter(runs).items():
        # lengths have tells of their own
        if run not in LETTERS:
            yield f"{run} x{count.bit_length()}"


@cache
def kind_of(character: str) -> str:
    """`A` and `a` for letters, `9` for digits, the script for other letters, else itself."""
    if character.isascii():
        if character.isalpha():
            return "A" if character.isupper() else "a"
        return "9" if character.isdigit() else " " if character.isspace() else character
    if character.isalpha():
        # LATIN SMALL LETTER E WITH ACUTE; CYRILLIC ...
        return unicodedata.name(character, "letter").partition(" ")[0]
    return character
