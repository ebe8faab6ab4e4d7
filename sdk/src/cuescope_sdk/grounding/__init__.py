"""Claims about videos and what is known of them: what reasoning steps are held against."""

from cuescope_sdk.grounding.claims import (
    CLAIM_VERIFIER,
    Case,
    Claim,
    ClaimKind,
    ClaimVerifier,
    Judgement,
    Reason,
    Verdict,
)
from cuescope_sdk.grounding.scenes import (
    MOTIONS,
    SCENE,
    TIMES,
    Action,
    Relation,
    SceneFrame,
    Thing,
    scene_of,
    times_of,
)

__all__ = [
    "Claim", "ClaimKind", "Judgement", "Verdict", "Reason", "Case", "ClaimVerifier",
    "CLAIM_VERIFIER",
    "SceneFrame", "Thing", "Relation", "Action", "SCENE", "TIMES", "MOTIONS",
    "scene_of", "times_of",
]  # fmt: skip
