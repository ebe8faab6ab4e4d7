"""A claim in words: what a detector is asked for, and sentences for and against it."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from cuescope_sdk.grounding import RELATIONS, Claim
from cuescope_sdk.language import is_name_of, normalise_words

Movement = Literal["left", "right", "up", "down", "any", "none", "appear", "disappear"]

WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
COLOURS = frozenset(WORDS["colours"].split())
GOING = frozenset(WORDS["going"].split())
_WAYS: dict[str, Movement] = {}
for _how, _words in WORDS["ways"].items():
    _WAYS |= dict.fromkeys(_words, _how)
_ALONE: dict[str, Movement] = {}
for _how, _words in WORDS["alone"].items():
    _ALONE |= dict.fromkeys(_words, _how)
_PAIRS = [pair.split("/") for pair in WORDS["opposites"].split(", ")]
_DISTANT = {"near": "far from", "far from": "near", "touching": "far from"}


def plain_words(claim: Claim) -> tuple[str, str, str]:
    """Its subject, predicate and object; "" for what it lacks."""
    return (
        normalise_words(claim.subject),
        normalise_words(claim.predicate or ""),
        normalise_words(claim.object or ""),
    )


def movement(verb: str) -> Movement | None:
    """What a verb or adjective says of boxes, None where it says nothing of them."""
    first, _, way = verb.partition(" ")
    if first in GOING:
        return _WAYS.get(way)
    return _ALONE.get(verb)


# --------------------------------------------------------------------- what to look for


@dataclass(frozen=True)
class Query:
    """The names that a phrase is asked by; `exact` is False where the adjectives are not in it."""

    names: tuple[str, ...]
    exact: bool = True


def query(phrase: str, vocabulary: frozenset[str] | None) -> Query:
    """The phrase itself, or of a closed vocabulary what its longest known end means."""
    if vocabulary is None:
        return Query((phrase,))
    words = phrase.split()
    for start in range(len(words)):
        tail = " ".join(words[start:])
        if tail in vocabulary:  # as it is, before other forms of the name
            return Query((tail,), exact=start == 0)
        names = [name for name in vocabulary if is_name_of(tail, normalise_words(name))]
        if names:
            # the order of a set differs between runs
            return Query(tuple(sorted(names)), exact=start == 0)
    return Query(())


def phrases(claim: Claim) -> tuple[str, ...]:
    """The noun phrases whose boxes tell of an atomic claim; () where boxes tell nothing."""
    subject, verb, other = plain_words(claim)
    match claim.kind:
        case "entity" | "count":
            return (subject,)
        case "attribute":
            if claim.in_sight is not None or movement(verb):
                return (subject,)
            return (describe(subject, verb),)
        case "relation" if beside := claim.beside_agent:
            return (beside[0],)
        case "relation":
            return (subject, other)
        case "action" if movement(verb):
            return (subject,)
    return ()


def of_change(claim: Claim) -> bool:
    """Whether it is told by the boxes of successive frames."""
    _, verb, _ = plain_words(claim)
    return claim.kind in ("action", "attribute") and movement(verb) is not None


def describe(subject: str, attribute: str) -> str:
    """ "red", "chair" -> "red chair"; said of it already, nothing is added."""
    return subject if attribute in subject.split() else f"{attribute} {subject}"


def atoms(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims themselves, and the parts of those in order at any moment."""
    for claim in claims:
        if claim.kind == "temporal":
            yield from atoms(part.replace(frames=None) for part in claim.parts)
        elif claim.why_unverifiable is None:
            yield claim


def names_by_frame(
    claims: Sequence[Claim],
    frames: int,
    vocabulary: frozenset[str] | None,
) -> list[set[str]]:
    """The names to look for in each frame; what moves is looked for beside it as well."""
    by_frame: list[set[str]] = [set() for _ in range(frames)]
    for claim in atoms(claims):
        of_claim = _names_of(claim, vocabulary)
        # movement is told from the frames before and after: the thing is looked for there too
        reach = int(of_change(claim))
        for frame in claim.frames_meant(frames):
            first = max(frame - reach, 0)
            for near in by_frame[first : frame + reach + 1]:
                near.update(of_claim)
    return by_frame


def _names_of(claim: Claim, vocabulary: frozenset[str] | None) -> set[str]:
    names: set[str] = set()
    for phrase in filter(None, phrases(claim)):
        names.update(query(phrase, vocabulary).names)
    return names


# ------------------------------------------------------------------------- in sentences


def sentence(claim: Claim) -> str | None:
    """ "There is a red chair.", "The chair is open." ...; None for the camera and for order."""
    subject, predicate, other = plain_words(claim)
    match claim.kind:
        case "entity":
            return f"There is {_with_article(subject)}."
        case "attribute":
            return f"The {subject} is {predicate}."
        case "relation":
            return f"The {subject} is {predicate} the {other}."
        case "action":
            rest = other and f" the {other}"
            return f"The {subject or 'person'} {third_person(predicate)}{rest}."
    return None


def opposites(claim: Claim) -> list[str]:
    """Sentences that are false where the claim is true: the inverse, the swapped, the denied."""
    subject, predicate, other = plain_words(claim)
    match claim.kind:
        case "entity":
            swapped = map(_with_article, _swap(subject))
            affirmed = [f"There is {phrase}." for phrase in swapped]
            return [f"There is no {subject}.", *affirmed]
        case "attribute":
            words = (*_swap(predicate), f"not {predicate}")
            return [f"The {subject} is {word}." for word in words]
        case "relation":
            # the inverse says how the other stands to this one: near stays near
            opposite = _DISTANT.get(predicate, f"not {predicate}")
            if predicate in RELATIONS and predicate not in _DISTANT:
                opposite = RELATIONS[predicate].inverse
            return [f"The {subject} is {opposite} the {other}."]
        case "action":
            rest = other and f" the {other}"
            verbs = list(map(third_person, _swap(predicate)))
            if not verbs:
                verbs = [f"does not {predicate}"]
            # a passive may not say who does it
            agent = subject or "person"
            return [f"The {agent} {verb}{rest}." for verb in verbs]
    return []


def third_person(verb: str) -> str:
    """ "pick up" -> "picks up"."""
    first, space, rest = verb.partition(" ")
    # "o" too: "goes"
    if first.endswith(("s", "sh", "ch", "x", "z", "o")):
        first += "es"
    # carry: carries, but play: plays
    elif first.endswith("y") and first[-2:-1] not in "aeiou":
        first = f"{first[:-1]}ies"
    else:
        first += "s"
    return f"{first}{space}{rest}"


def _with_article(phrase: str) -> str:
    article = "an" if phrase[:1] in "aeiou" else "a"
    return f"{article} {phrase}"


def _swap(words: str) -> list[str]:
    """The words with one colour, or one of a pair of opposites, exchanged."""
    # "move left" as a whole first: word by word "left" alone has no opposite here
    swapped = _opposites_of(words)
    if swapped:
        return swapped
    parts = words.split()
    for index, word in enumerate(parts):
        for opposite in _opposites_of(word):
            exchanged = [*parts[:index], opposite, *parts[index + 1 :]]
            swapped.append(" ".join(exchanged))
    return swapped


def _opposites_of(word: str) -> list[str]:
    if word in COLOURS:
        return sorted(COLOURS - {word})
    opposites = []
    for first, second in _PAIRS:
        if word == first:
            opposites.append(second)
        elif word == second:
            opposites.append(first)
    return opposites
