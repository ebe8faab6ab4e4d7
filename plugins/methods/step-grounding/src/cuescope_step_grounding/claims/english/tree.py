"""A parsed sentence: words, each hanging on its head, and what is claimed in them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_step_grounding.claims.times import Frames

_NO_CLAUSE = {"aux", "auxpass", "amod", "compound", "nmod"}  # verbs that head none


class Analysis(NamedTuple):
    """What a parser says of a word: lemma, Penn tag, ClearNLP dependency, index of its head."""

    lemma: str
    tag: str
    dep: str
    head: int


# by identity: words are keys of dicts, and are linked to each other in rings
@dataclass(eq=False, slots=True)
class Word:
    """A word of a parsed sentence; `start` and `end` are its position in the step.

    `text` is the word that the parser was shown, `name` what it stands for (see `sentences`).
    `head` is the word that it hangs on; the root hangs on itself. `sentence` has all words.
    """

    index: int
    text: str
    name: str
    lemma: str
    tag: str
    dep: str
    start: int
    end: int
    head: "Word" = field(init=False, repr=False)
    sentence: "Words" = field(init=False, repr=False)
    children: "list[Word]" = field(init=False, repr=False, default_factory=list)

    @property
    def is_noun(self) -> bool:
        return self.tag.startswith("NN")

    @property
    def is_plural(self) -> bool:
        return self.tag in {"NNS", "NNPS"}

    @property
    def is_verb(self) -> bool:
        """A verb that heads a clause."""
        return self.tag.startswith("VB") and self.dep not in _NO_CLAUSE

    @property
    def before(self) -> str:
        """The text of the word before it; "" at the start."""
        return self.sentence[self.index - 1].text if self.index else ""

    def kids(self, *deps: str) -> "list[Word]":
        """The words that hang on it, of these dependencies (none: all)."""
        return [kid for kid in self.children if not deps or kid.dep in deps]

    def texts(self, *deps: str) -> set[str]:
        """The texts of its kids of these dependencies."""
        return {kid.text for kid in self.kids(*deps)}

    def tags(self, *deps: str) -> set[str]:
        """The tags of its kids of these dependencies."""
        return {kid.tag for kid in self.kids(*deps)}

    def kids_after(self, *deps: str) -> "list[Word]":
        """Its kids of these dependencies that stand behind it."""
        return [kid for kid in self.kids(*deps) if kid.index > self.index]

    def nouns_of(self, preps: Collection[str]) -> "list[Word]":
        """The nouns that it is joined to by one of these prepositions."""
        nouns = self.grandkids("prep", "pobj")
        return [noun for noun in nouns if noun.head.text in preps]

    def has(self, texts: Collection[str], *deps: str) -> bool:
        """Whether a kid of these dependencies is one of the texts."""
        return not self.texts(*deps).isdisjoint(texts)

    def grandkids(self, dep: str, *deps: str) -> "list[Word]":
        """The kids of dependencies `deps` of its kids of the dependency `dep`."""
        return [inner for kid in self.kids(dep) for inner in kid.kids(*deps)]

    def above(self) -> "Iterator[Word]":
        """The word and what it hangs on, up to the root."""
        word = self
        yield word
        while word.head is not word:
            word = word.head
            yield word

    def below(self) -> "Iterator[Word]":
        """The word and all that hangs on it."""
        # A stack in place of recursion: a sentence of 120 words may be one long chain.
        stack = [self]
        while stack:
            word = stack.pop()
            yield word
            stack += word.children


Words = tuple[Word, ...]
text_of: Callable[[Word], str] = attrgetter("text")


def link(words: Sequence[Word], heads: Sequence[int]) -> Words:
    """The words as a sentence, each hung on the word with the index of its head."""
    sentence = tuple(words)
    for word, head in zip(sentence, heads, strict=True):
        word.sentence = sentence
        word.head = sentence[head]
        # the root hangs on itself: as its own child `below` would never end
        if head != word.index:
            word.head.children.append(word)
    return sentence


@dataclass(frozen=True)
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
        return ClaimKind.declared[self.kind].happens

    def claim(self, text: str, frames: Frames | None) -> Claim:
        return Claim(
            kind=ClaimKind.of(self.kind, self.predicate or ""),
            text=text,
            subject=self.subject,
            predicate=self.predicate,
            object=self.object,
            negated=self.negated,
            frames=frames,
        )
