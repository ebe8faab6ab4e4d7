"""The story of a trace: what it has named so far, and what its pronouns mean."""

from dataclasses import dataclass, field

from cuescope_step_grounding.claims.lexicon import AGENT, AGENTS, HE, SHE
from cuescope_step_grounding.claims.phrases import (
    PRONOUNS,
    before,
    called,
    clause_of,
    heads,
    is_named,
    is_person,
)
from cuescope_step_grounding.claims.words import Tree, Word

REMEMBERED = 40  # mentions that a pronoun may look back over


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase that was used; `clause` is its verb's index, `main` whether it was what was done
    something to or did it; `group` the phrases named with it."""

    phrase: str
    sentence: int
    index: int
    clause: int
    main: bool
    group: tuple[str, ...]


@dataclass
class Story:
    """What a trace has named so far, for its pronouns."""

    mentions: list[Mention] = field(default_factory=list)
    sentence: int = 0
    agent: bool = False  # the agent was named

    def read(self, tree: Tree) -> None:
        """Takes note of what a sentence names."""
        self.sentence += 1
        del self.mentions[:-REMEMBERED]
        for word in tree.words:
            if word.lemma in AGENTS or word.text in AGENTS:
                self.agent = True
            elif is_named(tree, word) and word.dep not in {"compound", "amod", "nmod"}:
                if tree.kids(word, "det") and tree.kids(word, "det")[0].text == "no":
                    continue
                first = word
                while first.dep == "conj" and tree.head(first).is_noun:
                    first = tree.head(first)
                group = tuple(
                    called(tree, noun) for noun in heads(tree, first) if is_named(tree, noun)
                )
                main = first.dep in {"nsubj", "nsubjpass", "dobj", "attr"}
                clause = clause_of(tree, word).index
                self.mentions.append(
                    Mention(called(tree, word), self.sentence, word.index, clause, main, group)
                )

    def meant(self, tree: Tree, pronoun: Word) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        One of its own clause cannot be meant; where none came before, one that follows in the
        sentence is ("When he sits, the man ..."). A person who was never named is "person".
        """
        text, clause = pronoun.text, clause_of(tree, pronoun).index
        people = text in {"he", "him", "she", "her"}
        own = _owner(tree, pronoun)
        here = [m for m in self.mentions if m.sentence == self.sentence and m.index != own]
        clause = -1 if own is not None else clause
        past = [m for m in self.mentions if m.sentence < self.sentence]
        earlier = past + [m for m in here if m.index < pronoun.index and m.clause != clause]
        after = [m for m in here if m.index > pronoun.index and m.clause != clause]
        if text in {"they", "them"}:
            groups = [m.group for m in earlier if len(m.group) > 1]
            return list(groups[-1]) if groups else [m.phrase for m in earlier[-1:]]
        fits = [m for m in earlier if self._fits(m, text)]
        if not fits and pronoun.dep in {"nsubj", "nsubjpass"}:
            fits = [m for m in after if self._fits(m, text)][:1]
        if not fits:
            return ["person"] if people else []
        last = [m for m in fits if (m.sentence, m.clause) == (fits[-1].sentence, fits[-1].clause)]
        return [next((m.phrase for m in reversed(last) if m.main), last[-1].phrase)]

    def before(self, word: Word) -> list[str]:
        """The things named before a word of the sentence that was read last."""
        return [
            m.phrase
            for m in self.mentions
            if (m.sentence, m.index) < (self.sentence, word.index) and not is_person(m.phrase)
        ]

    @staticmethod
    def _fits(mention: Mention, pronoun: str) -> bool:
        head = mention.phrase.rpartition(" ")[2]
        if pronoun in {"he", "him"}:
            return is_person(head) and head not in SHE
        if pronoun in {"she", "her"}:
            return is_person(head) and head not in HE
        return not is_person(head)


def _owner(tree: Tree, pronoun: Word) -> int | None:
    """The noun that a pronoun's phrase describes ("a vase with flowers in it": the flowers), which
    it cannot mean; None where it stands in a clause of its own."""
    for word in tree.above(pronoun):
        if word is not pronoun and (word.is_noun or word.is_verb):
            return word.index if word.is_noun else None
    return None


@dataclass(frozen=True, slots=True)
class View:
    """A sentence, and the story that it continues."""

    tree: Tree
    story: Story


def refers(view: View, word: Word) -> list[str]:
    """The phrases that a subject or object means; [] where it means nothing that is seen."""
    tree, found = view.tree, list[str]()
    for noun in heads(tree, word):
        if noun.lemma in AGENTS or noun.text in AGENTS:
            found.append(AGENT)
        elif noun.text in {"one", "ones"} and tree.kids(noun, "det", "amod"):
            found += _one(view, noun)
        elif noun.text in PRONOUNS and noun.name != "each other":
            found += view.story.meant(tree, noun)
        elif is_named(tree, noun):
            found.append(called(tree, noun))
    return found


def _one(view: View, one: Word) -> list[str]:
    """ "the middle one": the adjectives of this, the noun of what was named last."""
    named = view.story.before(one)
    return [" ".join([*before(view.tree, one), named[-1].rpartition(" ")[2]])] if named else []
