"""A parsed sentence: words, each hanging on its head."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a parser says of a word: lemma, Penn tag, ClearNLP dependency, index of its head."""

    lemma: str
    tag: str
    dep: str
    head: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a parsed sentence; `start` and `end` are its place in the step."""

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
        """A common or proper noun."""
        return self.tag.startswith("NN")

    @property
    def is_verb(self) -> bool:
        """A verb that heads a clause."""
        return self.tag.startswith("VB") and self.dep not in {
            "aux", "auxpass", "amod", "compound", "nmod",
        }  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """The words of a sentence."""

    words: tuple[Word, ...]

    @cached_property
    def _children(self) -> list[list[Word]]:
        found: list[list[Word]] = [[] for _ in self.words]
        for word in self.words:
            if word.head != word.index:
                found[word.head].append(word)
        return found

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
        open_ = [word]
        while open_:
            yield (word := open_.pop())
            open_ += self.kids(word)
