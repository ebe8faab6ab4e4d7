"""The options of the data set `folder`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cuescope_folder.addresses import is_address
from cuescope_folder.layout import Nested
from cuescope_folder.roots import parse_root
from cuescope_sdk import Address, Names, Options, UserError, Words

Answers = Literal["auto", "pooled", "open"]


def _is_address(text: str) -> str:
    if not is_address(text):
        raise ValueError("an address such as s3://bucket/photos")
    return text


def _is_root(text: str) -> str:
    try:
        parse_root(text)
    except UserError as error:
        raise ValueError(str(error)) from None
    return text


FileAddress = Annotated[Address, AfterValidator(_is_address)]
Root = Annotated[Address, AfterValidator(_is_root)]


class SampleOptions(Options):
    """How files become samples, wherever they are."""

    frames: int = Field(8, ge=1, description="frames sampled uniformly from each clip")
    group: Annotated[str | None, Names.pattern()] = Field(
        None,
        description="what each sample was taken from (video, patient, scene), so that tests draw "
        "it whole: a column of the manifest, or a regular expression on paths whose one capturing "
        "group names it, such as (.*)_clip; none: each was drawn by itself; default the column "
        "'group', or one whose name and values show it",
    )
    choices: Annotated[tuple[str, ...] | None, Names.file(or_words=True)] = Field(
        None, description="the label set: names, or one file with a label a line"
    )
    answers: Answers = Field(
        "auto",
        description="questions without choices of their own are answered from all labels (pooled), "
        "or in free words (open); auto: pooled where few answers are shared by all questions",
    )
    max_bad: float = Field(
        0.01,
        ge=0,
        le=1,
        description="share of samples that may be unreadable",
    )
    split: Annotated[str | None, Names.part()] = Field(
        None, description="one split (train, val, test); default all"
    )
    boxes_in: Literal["auto", "shown", "stored"] = Field(
        "auto",
        description="pixels that boxes and masks count: those of the picture as it is shown "
        "(turned by its EXIF), or as it is stored; auto: as sizes say, else shown",
    )
    roots: Annotated[tuple[Root, ...], Names.host()] = Field(
        (),
        description="addresses that cells of a table may name, and all below them: "
        "https://images.example.org, s3://bucket/photos",
    )


class FolderOptions(SampleOptions):
    """Where the files are, and how they are read."""

    argument = "path"

    path: Annotated[Path | FileAddress, Names.file()] = Field(
        description="the folder, a manifest in it, or tar shards (train-{000..009}.tar); also at "
        "an address (s3://, gs://, https:// ...)"
    )
    manifest: Annotated[Path | FileAddress | None, Names.file()] = Field(
        None,
        description="CSV, TSV, JSONL or Parquet table; default PATH/manifest.*, if there",
    )
    image: Annotated[str | None, Words()] = Field(
        None,
        description="column of a manifest that names the files; a.b is the field b of a; default: "
        "path, video, image, file or filename",
    )
    label: Annotated[str | None, Words()] = Field(
        None,
        description="column of a manifest that holds the labels, or the right answers; default: "
        "label or answer",
    )
    nested: Nested = Field(
        "auto",
        description="images in folders below the class folders are frames of clips, or photos "
        "whose folder is their group; auto: as they look",
    )
    links: Annotated[Path | None, Names.file()] = Field(
        None,
        description="folder that links among the files may lead into: the store of a cache, DVC or "
        "git-annex; the hub's own is known",
    )
