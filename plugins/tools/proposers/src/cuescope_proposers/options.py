"""Options of the proposers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import Options
from cuescope_sdk.language import EACH

Source = Literal["all", "annotations", "captions"]


class CoOccurrenceOptions(Options):
    """Options of `co-occurrence`."""

    source: Source = Field(
        "all", description="names of `annotations` (boxes and objects), of `captions`, or `all`"
    )
    split: str | None = Field(
        None, description="count in this split (`train`); default: the audited one"
    )
    least: PositiveInt = Field(5, description="images of the class with the name, or more")
    most: PositiveInt = Field(32, description="names a class")


class CueFileOptions(Options):
    """Options of `cues`; the part after `cues:` is `path`."""

    argument: ClassVar[str | None] = "path"

    path: Path = Field(
        description="YAML or JSON {class: [cues]}, TXT with lines `class: cue, cue`, or a folder "
        "with a class.txt of one cue a line"
    )


class LLMOptions(Options):
    """Options of `llm`; the part after `llm:` is `generator`."""

    argument: ClassVar[str | None] = "generator"

    generator: str = Field(
        description="SPEC of the language model: openai:gpt-4o-mini, transformers-llm:MODEL"
    )
    generator_options: Mapping[str, Any] = Field({}, description="options of that tool")
    each: PositiveInt = Field(EACH, description="names asked for in each of the four ways")
