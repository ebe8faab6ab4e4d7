"""What model plugins share without torch: zero-shot heads, refusals, the hub."""

from cuescope_sdk.models._hub import require_hub
from cuescope_sdk.models._refusals import refuse_unanswerable, refuse_unknown
from cuescope_sdk.models._tower_edit import TowerEdit
from cuescope_sdk.models._zero_shot.heads import read_table
from cuescope_sdk.models._zero_shot.model import ZeroShotModel, ZeroShotOptions
from cuescope_sdk.models._zero_shot.texts import (
    TextTower,
    action_templates,
    fill,
    templates_of,
    unit,
    unit_mean,
)

__all__ = [
    "TowerEdit",
    "require_hub",
    "refuse_unanswerable",
    "refuse_unknown",
    "read_table",
    "ZeroShotModel",
    "ZeroShotOptions",
    "action_templates",
    "fill",
    "templates_of",
    "TextTower",
    "unit",
    "unit_mean",
]
