"""Claims about videos and what is known of them: what reasoning steps are held against."""

from cuescope_sdk.grounding._by_scene import (
    SceneEvidence as SceneEvidence,
    SceneVerifier as SceneVerifier,
    agent_relation as agent_relation,
    holds_for_agent as holds_for_agent,
)
from cuescope_sdk.grounding._claims import (
    CLAIM_VERIFIER as CLAIM_VERIFIER,
    Case as Case,
    Claim as Claim,
    ClaimVerifier as ClaimVerifier,
    Judgement as Judgement,
    KindName as KindName,
    Look as Look,
    best_judgement as best_judgement,
    frames_meant as frames_meant,
    judge_claim as judge_claim,
    judge_count as judge_count,
    negate as negate,
    per_frame as per_frame,
    why_unverifiable as why_unverifiable,
)
from cuescope_sdk.grounding._kinds import (
    KINDS as KINDS,
    ClaimKind as ClaimKind,
    declare_kind as declare_kind,
)
from cuescope_sdk.grounding._naming import is_kind_only as is_kind_only
from cuescope_sdk.grounding._relations import (
    IN_DEPTH as IN_DEPTH,
    INVERSE as INVERSE,
    RELATIONS as RELATIONS,
    Box as Box,
    box_centre as box_centre,
    relation_holds as relation_holds,
    turn_name as turn_name,
)
from cuescope_sdk.grounding._scenes import (
    MOTIONS as MOTIONS,
    SCENE as SCENE,
    TIMES as TIMES,
    Action as Action,
    Relation as Relation,
    SceneFrame as SceneFrame,
    Thing as Thing,
    scene_of as scene_of,
    times_of as times_of,
)
