"""What model plugins share without torch: zero-shot heads, refusals, the hub."""

from cuescope_sdk.models._archives import require_small_archive as require_small_archive
from cuescope_sdk.models._hub import (
    fetch_repository as fetch_repository,
    require_hub as require_hub,
)
from cuescope_sdk.models._refusals import (
    refuse_unanswerable as refuse_unanswerable,
    refuse_unknown as refuse_unknown,
)
from cuescope_sdk.models._tower_edit import TowerEdit as TowerEdit
from cuescope_sdk.models._zero_shot.heads import read_table as read_table
from cuescope_sdk.models._zero_shot.model import (
    ZeroShotModel as ZeroShotModel,
    ZeroShotOptions as ZeroShotOptions,
)
from cuescope_sdk.models._zero_shot.texts import (
    PromptTower as PromptTower,
    Templates as Templates,
    TextTower as TextTower,
    action_templates as action_templates,
    fill as fill,
    prompts_of as prompts_of,
    templates_of as templates_of,
    unit as unit,
    unit_mean as unit_mean,
)
