"""What model plugins share without torch: zero-shot heads, masks, refusals, the hub."""

from cuescope_sdk.models._archives import require_small_archive
from cuescope_sdk.models._frames import FrameMemory, require_frames
from cuescope_sdk.models._hub import (
    before_download,
    fetch_repository,
    require_hub,
    require_own_files,
)
from cuescope_sdk.models._option_types import (
    PromptWords,
    QuestionPrompt,
    RepositoryName,
    StockOptions,
)
from cuescope_sdk.models._refusals import (
    UnopenableError,
    refuse_unanswerable,
    refuse_unknown,
)
from cuescope_sdk.models._tokens_under import tokens_under
from cuescope_sdk.models._tower_edit import TowerEdit
from cuescope_sdk.models._zero_shot.model import ZeroShotModel, ZeroShotOptions
from cuescope_sdk.models._zero_shot.texts import PromptTower, Templates, TextTower, unit

__all__ = [
    "FrameMemory",
    "PromptTower",
    "PromptWords",
    "QuestionPrompt",
    "RepositoryName",
    "StockOptions",
    "Templates",
    "TextTower",
    "TowerEdit",
    "UnopenableError",
    "ZeroShotModel",
    "ZeroShotOptions",
    "before_download",
    "fetch_repository",
    "refuse_unanswerable",
    "refuse_unknown",
    "require_frames",
    "require_hub",
    "require_own_files",
    "require_small_archive",
    "tokens_under",
    "unit",
]
