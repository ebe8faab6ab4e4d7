"""Claims about videos and what is known of them: what reasoning steps are held against."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.grounding._by_scene import SceneVerifier as SceneVerifier
    from cuescope_sdk.grounding._claims import (
        CLAIM_VERIFIER as CLAIM_VERIFIER,
        Case as Case,
        ClaimVerifier as ClaimVerifier,
        Judgement as Judgement,
        judge_claims as judge_claims,
    )
    from cuescope_sdk.grounding._kinds import (
        Claim as Claim,
        ClaimKind as ClaimKind,
        KindName as KindName,
    )
    from cuescope_sdk.grounding._relations import (
        RELATIONS as RELATIONS,
        turn_name as turn_name,
    )
    from cuescope_sdk.grounding._scenes import (
        SCENE as SCENE,
        TIMES as TIMES,
        Action as Action,
        Relation as Relation,
        SceneFrame as SceneFrame,
        Thing as Thing,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._by_scene": ["SceneVerifier"],
        "._claims": [
            "CLAIM_VERIFIER",
            "Case",
            "ClaimVerifier",
            "Judgement",
            "judge_claims",
        ],
        "._kinds": ["Claim", "ClaimKind", "KindName"],
        "._relations": ["RELATIONS", "turn_name"],
        "._scenes": ["SCENE", "TIMES", "Action", "Relation", "SceneFrame", "Thing"],
    },
)
