"""Claims as plain words: for tables, and for the beliefs that are compared."""

from collections.abc import Iterable

from cuescope_sdk.grounding import Claim


def words(claim: Claim) -> str:
    """What is claimed, without when.

    >>> words(Claim(kind="relation", text="", subject="red cup", predicate="on", object="table"))
    'red cup on table'
    """
    match claim.kind:
        case "entity":
            said = claim.subject
        case "attribute":
            said = f"{claim.subject} is {claim.predicate}"
        case "temporal":
            said = f" {claim.predicate} ".join(words(part) for part in claim.parts)
        case "ego-motion":
            said = f"camera: {claim.predicate}"
        case "action":
            said = f"{claim.subject}: {claim.predicate} {claim.object or ''}"
        case _:
            said = f"{claim.subject} {claim.predicate} {claim.object or ''}"
    said = " ".join(said.split())
    return f"no {said}" if claim.negated and claim.kind == "entity" else (
        f"not ({said})" if claim.negated else said
    )  # fmt: skip


def belief(claims: Iterable[Claim]) -> str:
    """The belief of a step: what it claims, each thing once, in the step's order."""
    return "; ".join(dict.fromkeys(words(claim) for claim in claims))


def moment(claim: Claim) -> str:
    """The frames that are meant, counted from 1; "" where nothing is said of time."""
    if claim.frames is None:
        return ""
    if not claim.frames:
        return "no such frame"
    first, last = claim.frames[0] + 1, claim.frames[-1] + 1
    return f"frame {first}" if first == last else f"frames {first} to {last}"
