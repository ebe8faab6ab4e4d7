"""What a user can set of the method `cue`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cuescope_sdk import FindingOptions, Words


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, str | Path) else value


class CueOptions(FindingOptions):
    """docs/confirm.md tells what is measured."""

    cue: Annotated[tuple[Path, ...], BeforeValidator(_as_list)] = Field(
        (), description="cue files, as `cuescope cue make` writes them"
    )
    answer: Annotated[str | None, Words()] = Field(
        None,
        description="answer that the cues draw; none: that of the cue's file, or else the common "
        "incorrect answer that correlates with the cue most",
    )
