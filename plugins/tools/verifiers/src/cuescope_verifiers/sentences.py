"""Claims in words, and what would be said if they were false."""

from cuescope_sdk.grounding import INVERSE, Claim
from cuescope_sdk.language import normalise_words
from cuescope_verifiers.movement import COLOURS

_PAIRS = (
    ("open", "closed"), ("open", "close"), ("on", "off"), ("big", "small"), ("large", "small"),
    ("tall", "short"), ("long", "short"), ("full", "empty"), ("clean", "dirty"), ("old", "new"),
    ("wet", "dry"), ("light", "dark"), ("wooden", "metal"), ("round", "square"),
    ("sitting", "standing"), ("moving", "still"), ("move left", "move right"),
    ("move up", "move down"), ("appear", "disappear"), ("pick up", "put down"), ("take", "put"),
    ("sit down", "stand up"), ("sit", "stand"), ("enter", "leave"), ("turn on", "turn off"),
    ("push", "pull"), ("rise", "fall"), ("lie down", "get up"), ("walk up", "walk down"),
)  # fmt: skip
_DISTANT = {"near": "far from", "far from": "near", "touching": "far from"}


def sentence(claim: Claim) -> str | None:
    """ "There is a red chair.", "The chair is open." ...; None for the camera and for order."""
    one, said, other = (
        normalise_words(claim.subject),
        normalise_words(claim.predicate or ""),
        normalise_words(claim.object or ""),
    )
    match claim.kind:
        case "entity":
            return f"There is {_one(one)}."
        case "attribute":
            return f"The {one} is {said}."
        case "relation":
            return f"The {one} is {said} the {other}."
        case "action":
            return f"The {one or 'person'} {third_person(said)}{other and f' the {other}'}."
    return None


def opposites(claim: Claim, swaps: bool = True) -> list[str]:
    """Sentences that are false where the claim is true: the inverse, the swapped, the denied.

    Without `swaps` things and attributes are denied alone.
    """
    one, said, other = (
        normalise_words(claim.subject),
        normalise_words(claim.predicate or ""),
        normalise_words(claim.object or ""),
    )
    match claim.kind:
        case "entity":
            swapped = [_one(phrase) for phrase in _swapped(one) if swaps]
            return [f"There is no {one}.", *(f"There is {phrase}." for phrase in swapped)]
        case "attribute":
            swapped = [word for word in _swapped(said) if swaps]
            return [f"The {one} is {word}." for word in (*swapped, f"not {said}")]
        case "relation":
            inverse = _DISTANT.get(said, INVERSE.get(said, f"not {said}"))
            return [f"The {one} is {inverse} the {other}."]
        case "action":
            rest = other and f" the {other}"
            does = [third_person(verb) for verb in _swapped(said)] or [f"does not {said}"]
            return [f"The {one or 'person'} {verb}{rest}." for verb in does]
    return []


def third_person(verb: str) -> str:
    """ "pick up" -> "picks up"."""
    first, space, rest = verb.partition(" ")
    if first.endswith(("s", "sh", "ch", "x", "z", "o")):
        first += "es"
    elif first.endswith("y") and first[-2:-1] not in "aeiou":
        first = f"{first[:-1]}ies"
    else:
        first += "s"
    return f"{first}{space}{rest}"


def _one(phrase: str) -> str:
    return f"{'an' if phrase[:1] in 'aeiou' else 'a'} {phrase}"


def _swapped(words: str) -> list[str]:
    """The words with one colour, or one of a pair of opposites, exchanged."""
    parts = words.split()
    return _exchanged(words) or [
        " ".join((*parts[:place], other, *parts[place + 1 :]))
        for place, word in enumerate(parts)
        for other in _exchanged(word)
    ]


def _exchanged(word: str) -> list[str]:
    if word in COLOURS:
        return sorted(COLOURS - {word})
    return [other if word == one else one for one, other in _PAIRS if word in (one, other)]
