"""What the pronouns of a trace mean: a story remembers what was named, and where."""

from dataclasses import dataclass, field

from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.english.lexicon import WORDS
from cuescope_step_grounding.claims.english.names import (
    heads,
    is_actor,
    is_agent,
    is_nameable,
    is_person,
    name_of,
)
from cuescope_step_grounding.claims.english.tree import Tree, Word

REMEMBERED = 40  # mentions that a pronoun may look back over
_PLURAL = frozenset({"they", "them", "themselves"})
_MAN, _WOMAN = frozenset({"he", "him"}), frozenset({"she", "her"})
_REFLEXIVE = frozenset({"himself", "herself", "itself", "themselves"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase that was used; `clause` is its verb's index, `main` whether it was what was done
    something to or did it; `group` the phrases named with it."""

    phrase: str
    sentence: int
    index: int
    clause: int
    main: bool
    plural: bool
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
            if is_agent(tree, word):
                self.agent = True
            elif is_nameable(tree, word) and word.dep not in {"compound", "amod", "nmod"}:
                if tree.kids(word, "det") and tree.kids(word, "det")[0].text == "no":
                    continue  # "no chair" leaves nothing that "it" could mean
                self.mentions.append(self._mention(tree, word))

    def _mention(self, tree: Tree, word: Word) -> Mention:
        first = word
        while first.dep == "conj" and tree.head(first).is_noun:
            first = tree.head(first)
        group = tuple(name_of(tree, noun) for noun in heads(tree, first) if is_nameable(tree, noun))
        main = first.dep in {"nsubj", "nsubjpass", "dobj", "attr", "ROOT"}
        plural = word.tag in {"NNS", "NNPS"} or bool(tree.kids(word, "nummod"))
        clause = clause_of(tree, word).index
        return Mention(name_of(tree, word), self.sentence, word.index, clause, main, plural, group)

    def resolve(self, tree: Tree, pronoun: Word) -> list[str]:
        """What a pronoun means: the nearest fitting phrase before it, of another clause.

        One of its own clause cannot be meant; where none came before, one that follows in the
        sentence is ("When he sits, the man ..."). A person who was never named is "person".
        """
        text, clause = pronoun.text, clause_of(tree, pronoun).index
        if text == "it" and _is_of_weather(tree, clause_of(tree, pronoun)):
            return []
        if text in _REFLEXIVE:
            return self._subject(tree, pronoun)
        own = _owner(tree, pronoun)
        here = [m for m in self.mentions if m.sentence == self.sentence and m.index != own]
        # Binding (Chomsky's principle B): a plain pronoun is free within its own clause, and the
        # subject that it shares with another ("sees it, picks it up") cannot be meant either.
        bound = {clause} if own is None else set()
        if own is None and pronoun.dep == "dobj":
            bound |= _clauses_of_subject(tree, pronoun)
        past = [m for m in self.mentions if m.sentence < self.sentence]
        earlier = past + [
            m for m in here if m.index < pronoun.index and not _is_bound(tree, m, bound, clause)
        ]
        after = [m for m in here if m.index > pronoun.index and m.clause != clause]
        if text in _PLURAL:
            return _plural(earlier, acts=pronoun.dep in {"nsubj", "nsubjpass"})
        # "It drops the sponge" is said of something else than the sponge.
        others = {m.phrase for m in here if m.clause == clause and m.main and own is None}
        fits = [m for m in earlier if _fits(m, text) and m.phrase not in others]
        if text == "it":
            fits = [m for m in fits if not m.plural] or fits
        if not fits and pronoun.dep in {"nsubj", "nsubjpass"}:
            fits = [m for m in after if _fits(m, text)][:1]
        if not fits:
            return ["person"] if text in _MAN | _WOMAN else []
        # Of the nearest clause the subject or object wins over what stands in its prepositions.
        nearest = fits[-1]
        if (
            pronoun.dep != "pobj" and not nearest.main
        ):  # "marks the board with a pencil, and saws it"
            main = [m for m in fits if m.main and m.sentence == nearest.sentence]
            nearest = main[-1] if main else nearest
        last = [m for m in fits if (m.sentence, m.clause) == (nearest.sentence, nearest.clause)]
        return [_best(last, text, pronoun)]

    def actor(self) -> str:
        """Who is meant where nobody is named: "Opens the fridge"."""
        actors = [m for m in self.mentions if m.main and is_actor(m.phrase)]
        return actors[-1].phrase if actors else "person"

    def _subject(self, tree: Tree, pronoun: Word) -> list[str]:
        """ "looks at himself": whoever looks."""
        for subject in tree.kids(clause_of(tree, pronoun), "nsubj"):
            if is_nameable(tree, subject):
                return [name_of(tree, subject)]
            if subject.text not in _REFLEXIVE:
                return self.resolve(tree, subject)
        return []


def clause_of(tree: Tree, word: Word) -> Word:
    """The verb that a word hangs on, or the root."""
    above = list(tree.above(word))
    return next((verb for verb in above[1:] if verb.is_verb), above[-1])


def _is_of_weather(tree: Tree, verb: Word) -> bool:
    """ "it rains", "it is dark outside"."""
    states = {kid.text for kid in tree.kids(verb, "acomp")} & WORDS["weather_states"]
    outside = any(kid.text == "outside" for kid in tree.kids(verb, "advmod", "prt"))
    return verb.lemma in WORDS["weather"] or bool(states) or outside


def _best(mentions: list[Mention], text: str, pronoun: Word) -> str:
    """The subject for a subject, the object for an object, else the last one in a main role."""
    main = [mention for mention in mentions if mention.main]
    if text in _MAN | _WOMAN and main:
        return main[0].phrase if pronoun.dep.startswith("nsubj") else main[-1].phrase
    return (main or mentions)[-1].phrase


def _plural(earlier: list[Mention], acts: bool) -> list[str]:
    """Those named together, or the plural that was named last; who acts is a person, where one was
    named ("they" may be one)."""
    people = [mention for mention in earlier if is_person(mention.phrase)] if acts else []
    for mention in reversed(people or earlier):
        if len(mention.group) > 1:
            return list(mention.group)
        if mention.plural:
            return [mention.phrase]
    return [mention.phrase for mention in (people or earlier)[-1:]] or ["person"] * acts


def _clauses_of_subject(tree: Tree, pronoun: Word) -> set[int]:
    """The clauses before a pronoun's own with the same subject: "sees the vase, picks it up"."""
    verb, clauses = clause_of(tree, pronoun), set[int]()
    while not tree.kids(verb, "nsubj", "nsubjpass") and tree.head(verb) is not verb:
        verb = tree.head(verb)
        clauses.add(verb.index)
    return clauses


def _is_bound(tree: Tree, mention: Mention, bound: set[int], clause: int) -> bool:
    if mention.clause == clause:
        return clause in bound
    return mention.clause in bound and tree.words[mention.index].dep in {"nsubj", "nsubjpass"}


def _fits(mention: Mention, pronoun: str) -> bool:
    head = head_noun(mention.phrase)
    if pronoun in _MAN:
        return is_person(head) and head not in WORDS["she"]
    if pronoun in _WOMAN:
        return is_person(head) and head not in WORDS["he"]
    return not is_person(head)


def _owner(tree: Tree, pronoun: Word) -> int | None:
    """The noun that a pronoun's phrase describes ("a vase with flowers in it": the flowers), which
    it cannot mean; None where it stands in a clause of its own."""
    for word in tree.above(pronoun):
        if word is not pronoun and (word.is_noun or word.is_verb):
            return word.index if word.is_noun else None
    return None
