"""Shared parts of models without torch: zero-shot heads, masks, refusals, the hub."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.models._archives import (
        require_small_archive as require_small_archive,
    )
    from cuescope_sdk.models._frames import (
        FrameMemory as FrameMemory,
        require_frames as require_frames,
    )
    from cuescope_sdk.models._hub import (
        before_download as before_download,
        fetch_repository as fetch_repository,
        require_hub as require_hub,
        require_own_files as require_own_files,
    )
    from cuescope_sdk.models._option_types import (
        PromptWords as PromptWords,
        QuestionPrompt as QuestionPrompt,
        RepositoryName as RepositoryName,
        StockOptions as StockOptions,
    )
    from cuescope_sdk.models._refusals import (
        UnopenableError as UnopenableError,
        refuse_unanswerable as refuse_unanswerable,
        refuse_unknown as refuse_unknown,
    )
    from cuescope_sdk.models._tokens_under import tokens_under as tokens_under
    from cuescope_sdk.models._tower_edit import TowerEdit as TowerEdit
    from cuescope_sdk.models._zero_shot.model import (
        ZeroShotModel as ZeroShotModel,
        ZeroShotOptions as ZeroShotOptions,
    )
    from cuescope_sdk.models._zero_shot.texts import (
        PromptTower as PromptTower,
        Templates as Templates,
        TextTower as TextTower,
        unit as unit,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._archives": ["require_small_archive"],
        "._frames": ["FrameMemory", "require_frames"],
        "._hub": [
            "before_download",
            "fetch_repository",
            "require_hub",
            "require_own_files",
        ],
        "._option_types": [
            "PromptWords",
            "QuestionPrompt",
            "RepositoryName",
            "StockOptions",
        ],
        "._refusals": ["UnopenableError", "refuse_unanswerable", "refuse_unknown"],
        "._tokens_under": ["tokens_under"],
        "._tower_edit": ["TowerEdit"],
        "._zero_shot.model": ["ZeroShotModel", "ZeroShotOptions"],
        "._zero_shot.texts": ["PromptTower", "Templates", "TextTower", "unit"],
    },
)
