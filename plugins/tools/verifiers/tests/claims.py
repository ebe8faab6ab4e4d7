"""Claims in a few words, and what a verifier says of them."""

from typing import Any

from cuescope_sdk import Sample
from cuescope_sdk.grounding import Claim, ClaimVerifier


def _claim(kind: str, subject: str, *frames: int, **more: Any) -> Claim:
    words = (subject, more.get("predicate"), more.get("object"))
    fields = {"text": " ".join(filter(None, words)), "frames": frames or None, **more}
    return Claim.model_validate({"kind": kind, "subject": subject, **fields})


def entity(subject: str, *frames: int, **more: Any) -> Claim:
    """It is on screen."""
    return _claim("entity", subject, *frames, **more)


def attribute(subject: str, predicate: str, *frames: int, **more: Any) -> Claim:
    """It is so."""
    return _claim("attribute", subject, *frames, predicate=predicate, **more)


def action(subject: str, verb: str, *frames: int, **more: Any) -> Claim:
    """It does so."""
    return _claim("action", subject, *frames, predicate=verb, **more)


def relation(
    subject: str, predicate: str, other: str, *frames: int, **more: Any
) -> Claim:
    """One is so to the other."""
    return _claim(
        "relation", subject, *frames, predicate=predicate, object=other, **more
    )


def motion(predicate: str, *frames: int, **more: Any) -> Claim:
    """The camera does so."""
    return _claim("ego-motion", "", *frames, predicate=predicate, **more)


def order(part: Claim, predicate: str, other: Claim, **more: Any) -> Claim:
    """One before, after or while the other."""
    return _claim("temporal", "", predicate=predicate, parts=(part, other), **more)


def says(verifier: ClaimVerifier, sample: Sample, *claims: Claim) -> list[str]:
    """The verdict on each claim, or the reason that there is none."""
    [judgements] = verifier.judge([(sample, claims)])
    return [judgement.reason or judgement.verdict for judgement in judgements]
