"""Words of a parsed sentence: what hangs on them, and the patterns of spaCy that they match."""

import importlib
import re
from collections import defaultdict
from typing import Any

from cuescope_step_grounding.claims.english.words import PATTERNS, WORDS

# spaCy's Token and Doc; spaCy is imported only where claims are read
Token = Any
Doc = Any

SUBJECTS = ("nsubj", "nsubjpass")
_NO_CLAUSE = {"aux", "auxpass", "amod", "compound", "nmod"}  # verbs that head none
_ATTRIBUTES = {":": "LOWER", "~": "LEMMA", "/": "TAG"}


def kids(token: Token, *deps: str) -> list[Token]:
    """The words that hang on it, of these dependencies (none: all)."""
    return [kid for kid in token.children if not deps or kid.dep_ in deps]


def grandkids(token: Token, dep: str, *deps: str) -> list[Token]:
    """The kids of dependencies `deps` of its kids of the dependency `dep`."""
    return [inner for kid in kids(token, dep) for inner in kids(kid, *deps)]


def texts(token: Token, *deps: str) -> set[str]:
    """The texts of its kids of these dependencies."""
    return {kid.lower_ for kid in kids(token, *deps)}


def is_noun(token: Token) -> bool:
    return bool(token.tag_.startswith("NN"))


def is_verb(token: Token) -> bool:
    """True of a verb that heads a clause."""
    # "moving left": a side after a verb is no form of "leave", but "is left" is one
    before = token.nbor(-1) if token.i else token
    side = token.lower_ == "left" and before.tag_[:2] == "VB" and before.head != token
    return not side and token.tag_[:2] == "VB" and token.dep_ not in _NO_CLAUSE


def clause_of(token: Token) -> Token:
    """The verb that a word hangs on, or the root."""
    return next(filter(is_verb, token.ancestors), token.sent.root)


def first_of_list(noun: Token) -> Token:
    """The noun that a list begins with."""
    return next(filter(is_noun, noun.conjuncts[:1] * (noun.dep_ == "conj")), noun)


def is_definite(noun: Token) -> bool:
    """True if a noun names something known: "the door", "his keys"."""
    return bool(kids(noun, "poss") or texts(noun, "det") & WORDS.definite)


class Patterns:
    """The patterns of `patterns.toml`, as spaCy's DependencyMatcher reads them."""

    def __init__(self, vocabulary: Any) -> None:
        matcher = importlib.import_module("spacy.matcher").DependencyMatcher
        self._matcher = matcher(vocabulary)
        for mark, patterns in PATTERNS.items():
            self._matcher.add(mark, list(map(_pattern, patterns)))

    def marks(self, sentence: Doc) -> dict[str, set[int]]:
        """By mark the indices of the words that carry it: the first word of each match."""
        marks: dict[str, set[int]] = defaultdict(set)
        for mark, (word, *others) in self._matcher(sentence):
            # "the screwdriver, not the hammer": that "not" is the hammer's
            if not (others and others[0] and sentence[others[0] - 1].text == ","):
                marks[sentence.vocab.strings[mark]].add(word)
        for word in sentence:
            # "no cup or plate", "does not sit or stand": a list is denied as a whole
            joint = {kid.lower_ for one in word.conjuncts for kid in kids(one, "cc")}
            joint |= texts(word, "cc")
            joining = WORDS.either if is_verb(word) else WORDS.joining
            shares = word.dep_ == "conj" and word.head.i in marks["denied"]
            before = word.doc[max(word.left_edge.i - 2, 0) : word.i]
            corrected = ", not" in " ".join(other.lower_ for other in before)
            if corrected or (shares and joint & joining and "but" not in joint):
                marks["denied"].add(word.i)
        return marks


def _pattern(text: str) -> list[dict[str, Any]]:
    """A line of `patterns.toml`: a word, and chains of heads (<) and of what hangs on it (>)."""
    first, _, chains = text.partition(" ")
    nodes: list[dict[str, Any]] = [{"RIGHT_ID": "0", "RIGHT_ATTRS": _attributes(first)}]
    for chain in chains.split(","):
        left = nodes[0]
        parts = iter(chain.split())
        for relation, word in zip(parts, parts, strict=True):
            node = {
                "LEFT_ID": left["RIGHT_ID"],
                "REL_OP": relation[0],
                "RIGHT_ID": str(len(nodes)),
                "RIGHT_ATTRS": _attributes(word),
            }
            below = node if relation[0] == ">" else left
            if relation[1:]:
                below["RIGHT_ATTRS"]["DEP"] = {"IN": relation[1:].split("|")}
            nodes.append(node)
            left = node
    return nodes


def _attributes(word: str) -> dict[str, Any]:
    """As "~failing": the lemma is of that list; ":of": this word; "/VBN": this tag."""
    attributes: dict[str, Any] = {}
    for mark, name in re.findall(r"([:~/])(\w+)", word):
        words = {"IN": sorted(getattr(WORDS, name, {name}))}
        attributes[_ATTRIBUTES[mark]] = {"REGEX": name} if mark == "/" else words
    return attributes
