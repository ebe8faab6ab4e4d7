"""Claims in few words, for tests: `relation("chair", "left of", "table", 3)` is about frame 3."""

from typing import Any

from cuescope_sdk import Sample
from cuescope_sdk.grounding import Claim, ClaimKind, ClaimVerifier


def claim(kind: ClaimKind, subject: str, *frames: int, **more: Any) -> Claim:
    """A claim about these frames, any where none is named."""
    said = (subject, more.get("predicate"), more.get("object"))
    given = {"text": " ".join(filter(None, said)), "frames": frames or None, **more}
    return Claim.model_validate({"kind": kind, "subject": subject, **given})


def entity(subject: str, *frames: int, **more: Any) -> Claim:
    """It is on screen."""
    return claim("entity", subject, *frames, **more)


def attribute(subject: str, said: str, *frames: int, **more: Any) -> Claim:
    """It is so."""
    return claim("attribute", subject, *frames, predicate=said, **more)


def action(subject: str, verb: str, *frames: int, **more: Any) -> Claim:
    """It does so."""
    return claim("action", subject, *frames, predicate=verb, **more)


def relation(one: str, said: str, other: str, *frames: int, **more: Any) -> Claim:
    """One is so to the other."""
    return claim("relation", one, *frames, predicate=said, object=other, **more)


def motion(said: str, *frames: int, **more: Any) -> Claim:
    """The camera does so."""
    return claim("ego-motion", "", *frames, predicate=said, **more)


def order(one: Claim, said: str, other: Claim, **more: Any) -> Claim:
    """One before, after or while the other."""
    return claim("temporal", "", predicate=said, parts=(one, other), **more)


def says(verifier: ClaimVerifier, sample: Sample, *claims: Claim) -> list[str]:
    """The verdict on each claim, or the reason that there is none."""
    [found] = verifier.judge([(sample, claims)])
    return [one.reason or one.verdict for one in found]
