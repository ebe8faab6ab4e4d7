"""Options of `sentence-transformers`."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from cuescope_sdk import Options


class SentenceOptions(Options):
    """Options of `sentence-transformers`; the part after `sentence-transformers:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="a folder that SentenceTransformer.save wrote, or a hub id",
    )
    revision: str | None = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )
    sentences: PositiveInt = Field(64, description="sentences that the network reads at once")
