"""Claims about videos and what is known of them: what reasoning steps are held against."""

from cuescope_sdk.grounding._by_scene import SceneVerifier
from cuescope_sdk.grounding._claims import (
    CLAIM_VERIFIER,
    Case,
    ClaimVerifier,
    Judgement,
    judge_claims,
)
from cuescope_sdk.grounding._kinds import Claim, ClaimKind, KindName
from cuescope_sdk.grounding._relations import RELATIONS, turn_name
from cuescope_sdk.grounding._scenes import (
    SCENE,
    TIMES,
    Action,
    Relation,
    SceneFrame,
    Thing,
)

__all__ = [
    "Action",
    "CLAIM_VERIFIER",
    "Case",
    "Claim",
    "ClaimKind",
    "ClaimVerifier",
    "Judgement",
    "KindName",
    "RELATIONS",
    "Relation",
    "SCENE",
    "SceneFrame",
    "SceneVerifier",
    "TIMES",
    "Thing",
    "judge_claims",
    "turn_name",
]
