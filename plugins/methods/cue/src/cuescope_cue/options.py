"""What a user can set of the method `cue`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cuescope_sdk import Options, Words


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, str | Path) else value


class CueOptions(Options):
    """docs/confirm.md tells what is measured."""

    cue: Annotated[tuple[Path, ...], BeforeValidator(_as_list)] = Field(
        (), description="cue files, as `cuescope cue make` writes them"
    )
    answer: Annotated[str | None, Words()] = Field(
        None,
        description="answer that the cues draw; none: that of the cue's file, or else the common "
        "incorrect answer that correlates with the cue most",
    )
    fdr: float = Field(
        0.05,
        gt=0,
        le=1,
        description="false discovery rate over all cues and answers",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
