"""English word lists of claims: what no picture shows, what names nothing, what means the same."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_sdk.language._tables import word_sets

CLAIM_WORDS = word_sets("claims")
STATES = CLAIM_WORDS["states"]  # attributes that no picture shows
MENTAL = CLAIM_WORDS["mental"]  # verbs that no picture shows
IDEAS = CLAIM_WORDS["ideas"]  # nouns that no picture shows
UNCLEAR = CLAIM_WORDS["unclear"]
ANYTHING = CLAIM_WORDS["anything"]  # names of everything
ANYONE = CLAIM_WORDS["anyone"]
PEOPLE = ANYONE | CLAIM_WORDS["someone"]
AGENTS = CLAIM_WORDS["agents"]  # they need not be in the picture
IN_SIGHT = frozenset(
    {"visible", "present", "there", "seen", "in view", "in sight", "on screen"}
)
OUT_OF_SIGHT = frozenset(
    {"hidden", "occluded", "invisible", "out of view", "out of sight"}
)
COMING_AND_GOING = CLAIM_WORDS["passing"]  # verbs of what is out of sight
# as data sets spell them
_SPELLINGS = {"gray": "grey", "violet": "purple", "vanish": "disappear"}


# the same few words are asked about many times
@lru_cache(maxsize=65_536)
def normalise_words(words: str) -> str:
    """Lower case, single spaces, one spelling or word for the same."""
    return " ".join(_SPELLINGS.get(word, word) for word in words.lower().split())


def head_noun(phrase: str) -> str:
    """The noun of a noun phrase: its last word."""
    return phrase.rpartition(" ")[2]


def is_name_of(word: str, known: str) -> bool:
    """True if `word` names what is known as `known`: "table" a "dining table", "i" the "agent".

    What is known may have several names, as in "cup/glass".
    """
    if word in ANYTHING:
        return True
    for name in known.split("/"):
        if word == name or name.endswith(f" {word}") or _same_agent(word, name):
            return True
    return False


def _same_agent(word: str, name: str) -> bool:
    """Both the agent, or both a person of whom no more is said than that."""
    both = {word, name}
    return both <= AGENTS or (both <= PEOPLE and not both.isdisjoint(ANYONE))


# ------------------------------------------------------------------------------------ bag of words


DIM = 4096  # collisions are rare among the words of steps
LETTERS = 3  # a run of so many letters is a feature beside the word
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
                "the bag-of-words encoder needs scikit-learn",
                remedy="pip install scikit-learn",
            ) from error
        # no alternating signs: a collision must not make two texts opposite
        self._counts: Any = HashingVectorizer(
            analyzer=features,
            n_features=DIM,
            alternate_sign=False,
            norm="l2",
            dtype=np.float32,
        )

    def encode(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows; texts without words are alike."""
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        return np.asarray(self._counts.transform(texts).toarray())


def features(text: str) -> list[str]:
    """Lemmas without the light words, and the runs of letters in each."""
    from simplemma import lemmatize

    lemmas = []
    runs = []
    for word in _WORD.findall(text.lower()):
        if word not in CLAIM_WORDS["light"]:
            lemma = lemmatize(word, lang="en").lower()
            lemmas.append(f"{lemma}=")  # "=" keeps words apart from runs
            padded = f"<{lemma}>"  # marks tell a beginning from a middle
            runs += [padded[start : start + LETTERS] for start in range(len(lemma))]
    return [*lemmas, *runs] or ["="]
