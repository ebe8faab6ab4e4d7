"""Traces that are wrong on purpose, or random: the verifier must not support them.

Section 7.3 of the paper, "Addressing Verification Circularity": spatial relations inverted,
entities swapped, temporal order reversed; and random reasoning of sampled objects, relations and
timestamps. A verifier that only liked the grammar of claims would not notice.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.grounding import RELATIONS, SCENE, Claim, ClaimKind, SceneFrame
from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.claims.english.words import LISTS

# ------------------------------------------------------------------------------- a data set's words

_HEAD = "head"  # no kind of claim: a noun that can be its subject


@dataclass(frozen=True)
class Vocabulary:
    """What claims can be made of; each word once, so that a draw ignores how often it is said.

    `predicates` are by kind of claim; those of attributes are the adjectives.
    """

    heads: tuple[str, ...]
    predicates: Mapping[str, tuple[str, ...]]

    @property
    def adjectives(self) -> tuple[str, ...]:
        return self.predicates["attribute"]


def vocabulary(samples: Iterable[Sample], claims: Iterable[Claim]) -> Vocabulary:
    """From the annotated scenes and from what was claimed."""
    words: dict[str, set[str]] = {_HEAD: set()}
    for kind in ClaimKind.declared.values():
        if "predicate" in kind.says:
            words[kind.name] = set()
    for sample in samples:
        for frame in sample.annotations.get(SCENE, ()):
            for part, word in _words_of_scene(frame):
                words[part].add(word)
    for claim in flatten(claims):
        for part, word in _words_of_claim(claim):
            # some kinds of claims have no predicate to draw
            if part in words:
                words[part].add(word)
    words["count"].update("12345")
    if words["ego-motion"]:  # a camera that moves at all may move in any way
        words["ego-motion"].update(SceneFrame.MOTIONS)
    # Sorted, for the order of a set differs between runs and a draw goes by position.
    predicates = {part: tuple(sorted(of_part)) for part, of_part in words.items()}
    heads = predicates.pop(_HEAD)
    predicates["relation"] = predicates["relation"] or tuple(RELATIONS)
    return Vocabulary(heads, predicates)


def _words_of_scene(frame: SceneFrame) -> Iterator[tuple[str, str]]:
    """Each word with the part of a claim that it can be: a head, or the predicate of a kind."""
    for item in frame.things:
        yield _HEAD, item.name
        for attribute in item.attributes:
            yield "attribute", attribute
    for action in frame.actions:
        yield "action", action.verb
    for relation in frame.relations:
        yield "relation", relation.predicate
    if frame.motion:
        yield "ego-motion", frame.motion


def _words_of_claim(claim: Claim) -> Iterator[tuple[str, str]]:
    if "subject" in ClaimKind.declared[claim.kind].says:
        for phrase in filter(None, (claim.subject, claim.object)):
            yield _HEAD, head_noun(phrase)
            # what stands before a noun describes it
            for word in phrase.split()[:-1]:
                yield "attribute", word
    if claim.predicate:
        yield claim.kind, claim.predicate


# ----------------------------------------------------------------------------- claims that are made

Change = Literal["relations", "entities", "time"]
CHANGES: tuple[Change, ...] = get_args(Change)
OPPOSITE: dict[str, str] = {}
for _pair in LISTS["opposites"].replace("_", " ").split(","):
    _first, _second = _pair.strip().split("/")
    OPPOSITE |= {_second: _first, _first: _second}
# the longest first, for a shorter one may begin it
_OPPOSED = re.compile(
    rf"\b({'|'.join(sorted(OPPOSITE, key=len, reverse=True))})\b", re.IGNORECASE
)
_INVERTED = {name: relation.inverse for name, relation in RELATIONS.items()}
# what is its own inverse has an opposite
_INVERTED |= {"near": "far from", "touching": "far from", "far from": "near"}


def opposite_words(step: str) -> str:
    """A step's own words turned round.

    >>> opposite_words("The car is left of the tree before it leaves.")
    'The car is right of the tree after it enters.'
    """
    return _OPPOSED.sub(lambda match: OPPOSITE[match[0].lower()], step)


@dataclass(frozen=True)
class Maker:
    """Makes claims about a video of so many frames: wrong ones, and random ones."""

    words: Vocabulary
    frames: int
    rng: Generator

    def counterfactual(self, claim: Claim, changes: frozenset[Change]) -> Claim:
        """The claim made wrong by these changes; one that none of them touches stays as it is.

        A denial that is changed becomes the assertion of what it denies.
        """
        changed = claim
        if "relations" in changes:
            changed = _invert(changed)
        if "entities" in changes:
            changed = self._swap(changed)
        if "time" in changes:
            changed = self._reverse(changed)
        # A denial of another thing may well be true: "there is no blue cup" beside a red one.
        if changed != claim and claim.negated:
            return claim.replace(negated=False)
        return changed

    def _swap(self, claim: Claim) -> Claim:
        """Another thing in the subject's place; of an attribute another attribute."""
        if claim.kind == "attribute":
            words = self.words.predicates[claim.kind]
            predicate = self._draw_other(claim.predicate or "", words)
            return claim.replace(predicate=predicate)
        if claim.kind == "temporal":
            return claim.replace(parts=tuple(map(self._swap, claim.parts)))
        if not claim.subject or "subject" not in ClaimKind.declared[claim.kind].says:
            return claim
        return claim.replace(subject=self._other_thing(claim.subject))

    def _other_thing(self, phrase: str) -> str:
        """ "red car" becomes "blue car"; what has no adjective becomes another thing."""
        *adjectives, noun = phrase.split()
        known = self.words.adjectives
        # with a single known adjective "red car" would stay a red car
        if adjectives and len(known) > 1:
            adjectives = [self._draw_other(word, known) for word in adjectives]
        else:
            noun = self._draw_other(noun, self.words.heads)
        return " ".join([*adjectives, noun])

    def _reverse(self, claim: Claim) -> Claim:
        """The moment seen from the other end; before is after."""
        moment = claim.frames
        if moment:
            moment = tuple(sorted(self.frames - 1 - frame for frame in moment))
        if claim.kind == "temporal":
            # "while" is the same from either end
            turned = {"before": "after", "after": "before"}
            predicate = turned.get(claim.predicate or "", claim.predicate)
            return claim.replace(
                frames=moment,
                predicate=predicate,
                parts=tuple(map(self._reverse, claim.parts)),
            )
        return claim.replace(frames=moment)

    def random_trace(
        self, claims: Sequence[Sequence[Claim]]
    ) -> tuple[tuple[Claim, ...], ...]:
        """As many steps with as many claims of the same kinds, at moments of the same length.

        Words are drawn evenly, whatever their frequency; nothing is denied, for to deny at random
        is to be right. A claim that says nothing of time stays so: it is as easy to meet as the
        model's.
        """
        return tuple(tuple(map(self._random_claim, step)) for step in claims)

    def _random_claim(self, claim: Claim) -> Claim:
        """One claim of the same kind and shape."""
        drawn = claim.replace(negated=False, frames=self._random_moment(claim))
        if claim.kind == "temporal":
            predicate = self._draw(("before", "after"))
            return drawn.replace(
                predicate=predicate,
                parts=tuple(map(self._random_claim, claim.parts)),
            )
        if "subject" in ClaimKind.declared[claim.kind].says:
            drawn = drawn.replace(subject=self._random_phrase(claim.subject))
        if claim.object:
            drawn = drawn.replace(object=self._random_phrase(claim.object))
        predicate = self._draw(self.words.predicates.get(claim.kind, ()))
        return drawn.replace(predicate=predicate or claim.predicate)

    def _random_phrase(self, like: str) -> str:
        """As many adjectives, and a noun."""
        count = max(len(like.split()) - 1, 0)
        words = [self._draw(self.words.adjectives) for _ in range(count)]
        words.append(self._draw(self.words.heads) or like)
        return " ".join(filter(None, words))

    def _random_moment(self, claim: Claim) -> tuple[int, ...] | None:
        if not claim.frames:
            return claim.frames
        length = min(len(claim.frames), self.frames)
        start = int(self.rng.integers(self.frames - length + 1))
        return tuple(range(start, start + length))

    def _draw(self, words: Sequence[str]) -> str | None:
        return words[int(self.rng.integers(len(words)))] if words else None

    def _draw_other(self, word: str, words: Sequence[str]) -> str:
        return self._draw([other for other in words if other != word]) or word


def _invert(claim: Claim) -> Claim:
    """Of two things the relation, of a movement the direction."""
    predicate = claim.predicate or ""
    if claim.kind == "relation":
        inverse = _INVERTED.get(predicate)
        if inverse is None:
            return claim.replace(subject=claim.object, object=claim.subject)
        return claim.replace(predicate=inverse)
    if claim.kind in ("action", "ego-motion"):
        return claim.replace(predicate=opposite_words(predicate))
    return claim
