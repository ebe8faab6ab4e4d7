"""What claims say, in plain words: for tables, and for the beliefs that are compared."""

from collections.abc import Iterable

from cuescope_sdk.grounding import Claim, ClaimKind


def claim_words(claim: Claim) -> str:
    """What is claimed, without when.

    >>> claim_words(
    ...     Claim(kind="relation", text="", subject="red cup", predicate="on", object="table")
    ... )
    'red cup on table'
    """
    kind = ClaimKind.declared[claim.kind]
    words = kind.words.format(
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object or "",
    )
    if kind.composed:
        words = f" {words} ".join(map(claim_words, claim.parts))
    # a claim without an object leaves a gap in its pattern
    words = " ".join(words.split())
    return kind.denial.format(words) if claim.negated else words


def belief_words(claims: Iterable[Claim]) -> str:
    """The belief of a step: what it claims, each thing once, in the step's order."""
    return "; ".join(dict.fromkeys(map(claim_words, claims)))


def moment_words(claim: Claim) -> str:
    """The frames that are meant, counted from 1; "" where nothing is said of time."""
    if claim.frames is None:
        return ""
    if not claim.frames:
        return "no such frame"
    first = claim.frames[0] + 1
    last = claim.frames[-1] + 1
    return f"frame {first}" if first == last else f"frames {first} to {last}"


def flatten(claims: Iterable[Claim]) -> list[Claim]:
    """Claims, and in place of an order of events its parts."""
    flat = []
    for claim in claims:
        flat += (
            flatten(claim.parts) if ClaimKind.declared[claim.kind].composed else [claim]
        )
    return flat
