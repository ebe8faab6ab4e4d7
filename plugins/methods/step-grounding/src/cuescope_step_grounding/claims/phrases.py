"""Noun phrases: what a sentence names, and what its pronouns mean."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.lexicon import AGENT, WORDS
from cuescope_step_grounding.claims.tree import Tree, Word


def modifiers(tree: Tree, noun: Word) -> Iterator[str]:
    """The adjectives and nouns before a noun, in order."""
    for kid in tree.kids(noun, "amod", "compound", "nmod", "advmod"):
        if (
            kid.index > noun.index
            or kid.text in WORDS["no_adjectives"]
            or not kid.text[0].isalpha()
        ):
            continue
        # Adverbs are no part of a name, but parsers take the "light" of "light blue" for one.
        if kid.dep == "advmod" and kid.text not in WORDS["shades"]:
            continue
        yield from modifiers(tree, kid)
        yield kid.text
        yield from (other.text for other in tree.kids(kid, "conj") if other.index < noun.index)


def heads(tree: Tree, noun: Word) -> list[Word]:
    """The nouns that a phrase stands for: each of "a cup and a plate", the chairs of "a row of
    chairs", no one for "no chair"."""
    nouns = [noun]
    if noun.lemma in WORDS["parts"]:
        prepositions = [prep for prep in tree.kids(noun, "prep") if prep.text == "of"]
        wholes = [kid for prep in prepositions for kid in tree.kids(prep, "pobj")]
        nouns = [inner for whole in wholes for inner in heads(tree, whole)] or nouns
    joined = [
        kid for kid in tree.kids(noun, "conj") if kid.is_noun or kid.text in WORDS["pronouns"]
    ]
    return nouns + [inner for kid in joined for inner in heads(tree, kid)]


def is_person(phrase: str) -> bool:
    return head_noun(phrase) in WORDS["people"]


def is_actor(phrase: str) -> bool:
    """Whether a phrase names one who acts: a person, an animal, the agent."""
    return phrase == AGENT or head_noun(phrase) in WORDS["people"] | WORDS["animals"]


def is_nameable(tree: Tree, noun: Word) -> bool:
    """Whether a word can name something that is seen."""
    unseen = noun.lemma in WORDS["unseen"] or noun.text in WORDS["unseen"]
    if noun.lemma == "frame":  # of a picture, not of the video
        unseen = all(kid.lemma in WORDS["unseen"] for kid in tree.kids(noun, "compound"))
    return (noun.is_noun and not unseen) or noun.text in WORDS["anyone"] or noun.text == "steps"


def name_of(tree: Tree, noun: Word) -> str:
    """A noun in the singular with its adjectives and the nouns before it: "red chair", "kitchen
    counter"; a person for "someone"."""
    if noun.text in WORDS["anyone"]:
        return "person"
    plural = noun.tag in {"NNS", "NNPS"} and noun.text not in WORDS["plural_only"]
    return " ".join([*modifiers(tree, noun), noun.lemma if plural else noun.text])


def clause_of(tree: Tree, word: Word) -> Word:
    """The verb that a word hangs on, or the root."""
    above = list(tree.above(word))
    return next((verb for verb in above[1:] if verb.is_verb), above[-1])


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
    agent: bool = False  # whether the agent was named

    def read(self, tree: Tree) -> None:
        """Takes note of what a sentence names."""
        self.sentence += 1
        del self.mentions[:-REMEMBERED]
        for word in tree.words:
            if word.lemma in WORDS["agents"] or word.text in WORDS["agents"]:
                self.agent = True
            elif is_nameable(tree, word) and word.dep not in {"compound", "amod", "nmod"}:
                if tree.kids(word, "det") and tree.kids(word, "det")[0].text == "no":
                    continue  # "no chair" leaves nothing that "it" could mean
                first = word
                while first.dep == "conj" and tree.head(first).is_noun:
                    first = tree.head(first)
                group = tuple(
                    name_of(tree, noun) for noun in heads(tree, first) if is_nameable(tree, noun)
                )
                main = first.dep in {"nsubj", "nsubjpass", "dobj", "attr"}
                clause = clause_of(tree, word).index
                self.mentions.append(
                    Mention(name_of(tree, word), self.sentence, word.index, clause, main, group)
                )

    def resolve(self, tree: Tree, pronoun: Word) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        One of its own clause cannot be meant; where none came before, one that follows in the
        sentence is ("When he sits, the man ..."). A person who was never named is "person".
        """
        text, clause = pronoun.text, clause_of(tree, pronoun).index
        people = text in {"he", "him", "she", "her"}
        own = _owner(tree, pronoun)
        here = [m for m in self.mentions if m.sentence == self.sentence and m.index != own]
        # Binding (Chomsky's principle B): a plain pronoun is free within its own clause. Inside a
        # noun's phrase it is that noun alone which it cannot mean.
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
        # Of the nearest clause the subject or object wins over what stands in its prepositions.
        last = [m for m in fits if (m.sentence, m.clause) == (fits[-1].sentence, fits[-1].clause)]
        return [next((m.phrase for m in reversed(last) if m.main), last[-1].phrase)]

    @staticmethod
    def _fits(mention: Mention, pronoun: str) -> bool:
        head = head_noun(mention.phrase)
        if pronoun in {"he", "him"}:
            return is_person(head) and head not in WORDS["she"]
        if pronoun in {"she", "her"}:
            return is_person(head) and head not in WORDS["he"]
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


def referents(view: View, word: Word) -> list[str]:
    """The phrases that a subject or object means; [] where it means nothing that is seen."""
    tree, phrases = view.tree, list[str]()
    for noun in heads(tree, word):
        if noun.lemma in WORDS["agents"] or noun.text in WORDS["agents"]:
            phrases.append(AGENT)
        elif noun.text in {"one", "ones"} and tree.kids(noun, "det", "amod"):
            phrases += _noun_of_one(view, noun)
        elif noun.text in WORDS["pronouns"] and noun.name != "each other":
            phrases += view.story.resolve(tree, noun)
        elif is_nameable(tree, noun):
            phrases.append(name_of(tree, noun))
    return phrases


def _noun_of_one(view: View, pronoun: Word) -> list[str]:
    """ "the middle one": the adjectives of this, the noun of what was named last."""
    here = (view.story.sentence, pronoun.index)
    for mention in reversed(view.story.mentions):
        if (mention.sentence, mention.index) < here and not is_person(mention.phrase):
            return [" ".join([*modifiers(view.tree, pronoun), head_noun(mention.phrase)])]
    return []
