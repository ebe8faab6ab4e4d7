"""Traces that are wrong on purpose, or random: the verifier must not support them.

Section 7.3 of the paper, "Addressing Verification Circularity": spatial relations inverted,
entities swapped, temporal order reversed; and random reasoning of sampled objects, relations and
timestamps. A verifier that only liked the grammar of claims would not notice.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, get_args

from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.grounding import KINDS, RELATIONS, SCENE, Claim, SceneFrame
from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.claims.english.lexicon import LISTS

# ------------------------------------------------------------------------------- a data set's words


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
    heads: set[str] = set()
    words: dict[str, set[str]] = {}
    for kind in KINDS.values():
        if "predicate" in kind.says:
            words[kind.name] = set()
    frames = chain.from_iterable(
        sample.annotations.get(SCENE, ()) for sample in samples
    )
    for frame in frames:
        for item in frame.things:
            heads.add(item.name)
            words["attribute"].update(item.attributes)
        words["action"].update(action.verb for action in frame.actions)
        words["relation"].update(relation.predicate for relation in frame.relations)
        words["ego-motion"].update(filter(None, [frame.motion]))
    for claim in flatten(claims):
        if "subject" in KINDS[claim.kind].says:
            for phrase in filter(None, (claim.subject, claim.object)):
                heads.add(head_noun(phrase))
                # what stands before a noun describes it
                words["attribute"].update(phrase.split()[:-1])
        if claim.predicate and claim.kind in words:
            words[claim.kind].add(claim.predicate)
    words["count"].update("12345")
    if words["ego-motion"]:  # a camera that moves at all may move in any way
        words["ego-motion"].update(SceneFrame.MOTIONS)
    # Sorted, for the order of a set differs between runs and a draw goes by position.
    predicates = {kind: tuple(sorted(of_kind)) for kind, of_kind in words.items()}
    predicates["relation"] = predicates["relation"] or tuple(RELATIONS)
    return Vocabulary(tuple(sorted(heads)), predicates)


# --------------------------------------------------------------------------- counterfactual traces

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


def counterfactual(
    claim: Claim,
    changes: frozenset[Change],
    words: Vocabulary,
    frames: int,
    rng: Generator,
) -> Claim:
    """The claim made wrong by these changes; one that none of them touches stays as it is.

    A denial that is changed becomes the assertion of what it denies.
    """
    changed = claim
    if "relations" in changes:
        changed = _invert(changed)
    if "entities" in changes:
        changed = _swap(changed, words, rng)
    if "time" in changes:
        changed = _reverse(changed, frames)
    # A denial of another thing may well be true: "there is no blue cup" where there is no red one.
    if changed != claim and claim.negated:
        return claim.replace(negated=False)
    return changed


def opposite_words(step: str) -> str:
    """A step's own words turned round.

    >>> opposite_words("The car is left of the tree before it leaves.")
    'The car is right of the tree after it enters.'
    """
    return _OPPOSED.sub(lambda match: OPPOSITE[match[0].lower()], step)


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


def _swap(claim: Claim, words: Vocabulary, rng: Generator) -> Claim:
    """Another thing in the subject's place; of an attribute another attribute."""
    if claim.kind == "attribute":
        predicate = _draw_other(claim.predicate or "", words.adjectives, rng)
        return claim.replace(predicate=predicate)
    if claim.kind == "temporal":
        parts = tuple(_swap(part, words, rng) for part in claim.parts)
        return claim.replace(parts=parts)
    if not claim.subject or "subject" not in KINDS[claim.kind].says:
        return claim
    return claim.replace(subject=_other_thing(claim.subject, words, rng))


def _other_thing(phrase: str, words: Vocabulary, rng: Generator) -> str:
    """ "red car" becomes "blue car"; what has no adjective becomes another thing."""
    *adjectives, noun = phrase.split()
    # with a single known adjective "red car" would stay a red car
    if adjectives and len(words.adjectives) > 1:
        adjectives = [_draw_other(word, words.adjectives, rng) for word in adjectives]
    else:
        noun = _draw_other(noun, words.heads, rng)
    return " ".join([*adjectives, noun])


def _reverse(claim: Claim, frames: int) -> Claim:
    """The moment seen from the other end; before is after."""
    update: dict[str, object] = {}
    if claim.frames:
        update["frames"] = tuple(sorted(frames - 1 - frame for frame in claim.frames))
    if claim.kind == "temporal":
        # "while" is the same from either end
        opposite = {"before": "after", "after": "before"}.get(claim.predicate or "")
        update["predicate"] = opposite or claim.predicate
        update["parts"] = tuple(_reverse(part, frames) for part in claim.parts)
    return claim.replace(**update)


def _draw_other(word: str, words: Sequence[str], rng: Generator) -> str:
    return _draw([other for other in words if other != word], rng) or word


# -------------------------------------------------------------------------------- random reasoning


def random_trace(
    claims: Sequence[Sequence[Claim]], words: Vocabulary, frames: int, rng: Generator
) -> tuple[tuple[Claim, ...], ...]:
    """As many steps with as many claims of the same kinds, at moments of the same length.

    Words are drawn evenly, whatever their frequency; nothing is denied, for to deny at random is
    to be right. A claim that says nothing of time stays so: it is as easy to meet as the model's.
    """
    return tuple(
        tuple(_random_claim(claim, words, frames, rng) for claim in step)
        for step in claims
    )


def _random_claim(
    claim: Claim, words: Vocabulary, frames: int, rng: Generator
) -> Claim:
    """One claim of the same kind and shape."""
    update: dict[str, object] = {
        "negated": False,
        "frames": _random_moment(claim, frames, rng),
    }
    if claim.kind == "temporal":
        update["predicate"] = _draw(("before", "after"), rng)
        update["parts"] = tuple(
            _random_claim(part, words, frames, rng) for part in claim.parts
        )
        return claim.replace(**update)
    if "subject" in KINDS[claim.kind].says:
        update["subject"] = _random_phrase(claim.subject, words, rng)
    if claim.object:
        update["object"] = _random_phrase(claim.object, words, rng)
    if claim.kind in words.predicates:
        update["predicate"] = (
            _draw(words.predicates[claim.kind], rng) or claim.predicate
        )
    return claim.replace(**update)


def _random_phrase(like: str, words: Vocabulary, rng: Generator) -> str:
    """As many adjectives, and a noun."""
    count = max(len(like.split()) - 1, 0)
    adjectives = [_draw(words.adjectives, rng) for _ in range(count)]
    return " ".join(filter(None, [*adjectives, _draw(words.heads, rng) or like]))


def _random_moment(claim: Claim, frames: int, rng: Generator) -> tuple[int, ...] | None:
    if not claim.frames:
        return claim.frames
    length = min(len(claim.frames), frames)
    start = int(rng.integers(frames - length + 1))
    return tuple(range(start, start + length))


def _draw(words: Sequence[str], rng: Generator) -> str | None:
    return words[int(rng.integers(len(words)))] if words else None
