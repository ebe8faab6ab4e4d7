"""What a detector is asked for, claim by claim."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuescope_sdk.grounding import Claim, agent_relation, frames_meant, why_unverifiable
from cuescope_sdk.language import IN_SIGHT, OUT_OF_SIGHT, head_noun, is_name_of, normalise_words
from cuescope_verifiers.movement import colour_after, movement

OUTRIGHT = IN_SIGHT | OUT_OF_SIGHT  # said of a thing without describing it


@dataclass(frozen=True)
class Query:
    """The names that a phrase is asked by; `exact` False leaves its adjectives untold."""

    is_name_of: tuple[str, ...]
    exact: bool = True


def query(phrase: str, vocabulary: frozenset[str] | None) -> Query:
    """The phrase itself, or of a closed vocabulary what its longest known end means."""
    if vocabulary is None:
        return Query((phrase,))
    words = phrase.split()
    for start in range(len(words)):
        tail = " ".join(words[start:])
        known = {tail} & vocabulary or {
            name for name in vocabulary if is_name_of(tail, normalise_words(name))
        }
        if known:
            return Query(tuple(sorted(known)), exact=start == 0)
    return Query(())


def phrases(claim: Claim) -> tuple[str, ...]:
    """The noun phrases whose boxes tell of an atomic claim; () where boxes tell nothing."""
    subject, other = normalise_words(claim.subject), normalise_words(claim.object or "")
    verb = normalise_words(claim.predicate or "")
    match claim.kind:
        case "entity":
            return (subject,)
        case "attribute":
            return (subject,) if verb in OUTRIGHT or movement(verb) else (described(subject, verb),)
        case "relation" if beside := agent_relation(claim):
            return (beside[0],)
        case "relation":
            return (subject, other)
        case "action" if colour := colour_after(verb):
            return subject, described(head_noun(subject), colour)
        case "action" if movement(verb):
            return (subject,)
    return ()


def of_change(claim: Claim) -> bool:
    """Whether it is told by the boxes of successive frames."""
    verb = normalise_words(claim.predicate or "")
    if claim.kind == "action":
        return bool(movement(verb) or colour_after(verb))
    return claim.kind == "attribute" and movement(verb) is not None


def described(subject: str, attribute: str) -> str:
    """ "red", "chair" -> "red chair"; said of it already, nothing is added."""
    return subject if attribute in subject.split() else f"{attribute} {subject}"


def atoms(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims themselves, and the parts of those in order at any moment."""
    for claim in claims:
        if claim.kind == "temporal":
            yield from atoms(p.model_copy(update={"frames": None}) for p in claim.parts)
        elif why_unverifiable(claim) is None:
            yield claim


def wanted(
    claims: Sequence[Claim], frames: int, vocabulary: frozenset[str] | None
) -> list[set[str]]:
    """The names to look for in each frame; what moves is looked for beside it as well."""
    asked: list[set[str]] = [set() for _ in range(frames)]
    for claim in atoms(claims):
        known = (query(phrase, vocabulary).names for phrase in phrases(claim) if phrase)
        found = {name for names_of_phrase in known for name in names_of_phrase}
        reach = int(of_change(claim))
        for frame in frames_meant(claim, frames):
            for near in range(max(frame - reach, 0), min(frame + reach + 1, frames)):
                asked[near] |= found
    return asked
