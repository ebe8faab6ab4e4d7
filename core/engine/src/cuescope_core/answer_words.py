"""Answers in free words as one spelling: "Yes." and "yes", "a dog" and "dog" are one answer."""

import unicodedata
from functools import lru_cache

# articles and digits as the official VQA evaluation drops and writes them (Antol et al., 2015)
_ARTICLES = {"a", "an", "the"}
_DIGITS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
        ]
    )
}
_EDGES = " \t\n.,;:!?\"'`*()[]{}"


# the same few answers are compared again and again
@lru_cache(maxsize=65_536)
def normalise_answer(text: str) -> str:
    """Return an answer in lower case, without articles, outer marks and repeated blanks.

    Number words become digits. Inner marks stay: "1.5" is not "15", nor "3/4" "34".
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    words = [word.strip(_EDGES) for word in plain.split()]
    kept = [_DIGITS.get(word, word) for word in words if word not in _ARTICLES]
    # "A" alone is a letter, and no article
    return " ".join(filter(None, kept)) or " ".join(filter(None, words))
