"""Where things are for who holds the camera: "the chair is on my right".

The picture is what the agent sees: its left half lies to the left, and all of it in front.
"""

from cuescope_sdk.grounding._claims import Claim, Judgement
from cuescope_sdk.grounding._relations import IN_DEPTH, INVERSE, box_centre
from cuescope_sdk.language._words import AGENTS, normalise_words


def agent_relation(claim: Claim) -> tuple[str, str] | None:
    """The thing, and where it is for the agent; None unless a relation has the agent on one side.

    "I am left of the chair" has the chair on the right; "in front of the chair" says nothing of
    which way the agent looks.
    """
    one, other, said = (
        normalise_words(claim.subject),
        normalise_words(claim.object or ""),
        claim.predicate or "",
    )
    if claim.kind != "relation" or (one in AGENTS) == (other in AGENTS):
        return None
    if other in AGENTS:
        return one, said
    return other, "" if said in IN_DEPTH else INVERSE.get(said, "")


def holds_for_agent(relation: str, seen: Judgement, width: float) -> Judgement:
    """Whether a thing is there, given whether it is in the picture, `width` pixels wide, and where.

    What is in the picture is not behind the agent; what is not may be.
    """
    there = seen.verdict == "supported"
    if relation == "in front of":
        return seen
    if relation == "behind":
        return Judgement.of(False, box=seen.box) if there else Judgement.open("no evidence")
    if relation not in ("left of", "right of"):
        return Judgement.open("complex relation")
    if not there:
        return seen
    if seen.box is None:
        return Judgement.open("no evidence")
    off = box_centre(seen.box)[0] - width / 2
    return Judgement.of(
        off < 0 if relation == "left of" else off > 0, box=seen.box, score=seen.score
    )
