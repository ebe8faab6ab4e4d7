"""Sentences by the words and letters in them: an encoder that needs no weights.

It knows no synonyms; reports that use it in place of a network say so by its `title`.
"""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from cuescope.digest import digest
from cuescope.errors import UserError

DIM = 4096
LETTERS = 3  # a run of so many letters is a feature beside the word
_LIGHT = frozenset({"a", "an", "the", "is", "are", "was", "were", "be", "and", "of", "to", "it"})
_WORD = re.compile(r"\w+")


class BagOfWords:
    """Hashed counts of lemmas and of their runs of three letters; rows have unit length."""

    title: ClassVar[str] = "bag of words (no synonyms are known)"
    fingerprint: ClassVar[str] = digest("bag-of-words", 1, DIM, LETTERS)

    def __init__(self) -> None:
        try:
            from sklearn.feature_extraction.text import HashingVectorizer
        except ImportError as error:
            raise UserError(
                "the bag-of-words encoder needs scikit-learn", remedy="pip install scikit-learn"
            ) from error
        self._counts: Any = HashingVectorizer(
            analyzer=features, n_features=DIM, alternate_sign=False, norm="l2", dtype=np.float32
        )

    def encode(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows; texts without words are alike."""
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        return np.asarray(self._counts.transform(texts).toarray())


def features(text: str) -> list[str]:
    """Lemmas without the light words, and the runs of letters in each."""
    from simplemma import lemmatize

    words = _WORD.findall(text.lower())
    lemmas = [lemmatize(word, lang="en").lower() for word in words if word not in _LIGHT]
    runs = [
        padded[start : start + LETTERS]
        for padded in (f"<{lemma}>" for lemma in lemmas)
        for start in range(len(padded) - LETTERS + 1)
    ]
    return [*(f"{lemma}=" for lemma in lemmas), *runs] or ["="]
