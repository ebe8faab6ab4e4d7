"""The options of CLAVI."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from cuescope_sdk import Names, Options


class ClaviOptions(Options):
    """Where the videos and their actions come from, and how segments are cut."""

    argument: ClassVar[str | None] = "source"

    source: Annotated[str, Names.file(or_words=True)] = Field(
        description="a Charades folder (annotation and videos), or else a data set NAME[:ARG] "
        "whose samples have timed actions, such as moving-shapes"
    )
    source_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that data set, as YAML"
    )
    annotation: Path | None = Field(
        None,
        description="the published annotation (its file or folder) instead of curation",
    )
    videos: Path | None = Field(
        None, description="folder of the Charades videos; default PATH"
    )
    clips: Path | None = Field(
        None,
        description="folder with the clips that `cuescope dev bench clavi --write` wrote: "
        "frames and "
        "features are of these files",
    )
    frames: int = Field(
        8,
        ge=1,
        description="frames sampled uniformly from each segment",
    )
    split: Annotated[str | None, Names.part()] = Field(
        None,
        description="train, val or test; default test of Charades, else what the source shows",
    )
    seed: int = Field(
        0,
        ge=0,
        description="another seed, other borders and negative controls",
    )
    # 4 and 2 s are read off the published annotation; the paper gives no figures
    shortest: float = Field(
        4.0,
        ge=0,
        description="least length of an action, seconds or frames",
    )
    extension: float = Field(
        2.0,
        ge=0,
        description="most that an action's region grows outwards, seconds or frames",
    )
    max_missing: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of segments whose video may be missing or unreadable",
    )
