"""A parsed sentence: words, each hanging on its head, and what is claimed in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cuescope_sdk.grounding import KINDS, Claim
from cuescope_step_grounding.claims.times import Frames

_NO_CLAUSE = frozenset({"aux", "auxpass", "amod", "compound", "nmod"})  # verbs that head none


class Analysis(NamedTuple):
    """What a parser says of a word: lemma, Penn tag, ClearNLP dependency, index of its head."""

    lemma: str
    tag: str
    dep: str
    head: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a parsed sentence; `start` and `end` are its position in the step.

    `text` is the word that the parser was shown, `name` what it stands for (see `sentences`).
    """

    index: int
    text: str
    name: str
    lemma: str
    tag: str
    dep: str
    head: int
    start: int
    end: int

    @property
    def is_noun(self) -> bool:
        return self.tag.startswith("NN")

    @property
    def is_verb(self) -> bool:
        """A verb that heads a clause."""
        return self.tag.startswith("VB") and self.dep not in _NO_CLAUSE


@dataclass(frozen=True)
class Tree:
    words: tuple[Word, ...]

    @cached_property
    def _children(self) -> list[list[Word]]:
        children: list[list[Word]] = [[] for _ in self.words]
        for word in self.words:
            if word.head != word.index:
                children[word.head].append(word)
        return children

    def kids(self, word: Word, *deps: str) -> list[Word]:
        """The words that hang on a word, of these dependencies (none: all)."""
        return [kid for kid in self._children[word.index] if not deps or kid.dep in deps]

    def head(self, word: Word) -> Word:
        """What a word hangs on; the root hangs on itself."""
        return self.words[word.head]

    def above(self, word: Word) -> Iterator[Word]:
        """The word and what it hangs on, up to the root."""
        yield word
        while word.head != word.index:
            word = self.head(word)
            yield word

    def below(self, word: Word) -> Iterator[Word]:
        """The word and all that hangs on it."""
        # A stack in place of recursion: a sentence of 120 words may be one long chain.
        stack = [word]
        while stack:
            yield (word := stack.pop())
            stack += self.kids(word)


@dataclass(frozen=True, slots=True)
class UntimedClaim:
    """A claim as it is said; `word` is the word that says it."""

    word: Word
    kind: str
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False

    @property
    def happens(self) -> bool:
        """Whether it can come before or after something else."""
        return KINDS[self.kind].happens

    def claim(self, text: str, frames: Frames | None) -> Claim:
        return Claim(
            kind=self.kind,
            text=text,
            subject=self.subject,
            predicate=self.predicate,
            object=self.object,
            negated=self.negated,
            frames=frames,
        )
