"""Claims about videos and what is known of them: what reasoning steps are held against."""

from cuescope_sdk.grounding._agent import agent_relation, holds_for_agent
from cuescope_sdk.grounding._by_scene import SceneEvidence, SceneVerifier
from cuescope_sdk.grounding._claims import (
    CLAIM_VERIFIER,
    Case,
    Claim,
    ClaimKind,
    ClaimVerifier,
    Judgement,
)
from cuescope_sdk.grounding._judging import (
    Look,
    best_judgement,
    frames_meant,
    judge_claim,
    per_frame,
    why_unverifiable,
)
from cuescope_sdk.grounding._motions import turn_name
from cuescope_sdk.grounding._noise import noisy
from cuescope_sdk.grounding._relations import (
    IN_DEPTH,
    INVERSE,
    RELATIONS,
    Box,
    box_centre,
    relation_holds,
)
from cuescope_sdk.grounding._scenes import (
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
    "agent_relation",
    "holds_for_agent",
    "SceneEvidence",
    "SceneVerifier",
    "CLAIM_VERIFIER",
    "Case",
    "Claim",
    "ClaimKind",
    "ClaimVerifier",
    "Judgement",
    "Look",
    "best_judgement",
    "frames_meant",
    "judge_claim",
    "per_frame",
    "why_unverifiable",
    "turn_name",
    "noisy",
    "Box",
    "INVERSE",
    "IN_DEPTH",
    "RELATIONS",
    "box_centre",
    "relation_holds",
    "Action",
    "MOTIONS",
    "Relation",
    "SCENE",
    "SceneFrame",
    "TIMES",
    "Thing",
    "scene_of",
    "times_of",
]
