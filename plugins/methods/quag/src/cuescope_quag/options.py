"""Options of QUAG, and how quadrants and layers are written in them."""

import re
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from cuescope_sdk import LevelOptions, Words

MergedModality = Literal["video", "text", "video-text"]
Layers = tuple[int, ...] | None  # None: all of them


def parse_layers(words: str) -> Layers:
    """The layers of "0-3" or "4,5"; None for "all"; raises ValueError for anything else.

    >>> parse_layers("0-2,5"), parse_layers("all")
    ((0, 1, 2, 5), None)
    """
    if words.strip() == "all":
        return None
    layers: set[int] = set()
    for part in words.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+))?\s*", part)
        numbers: set[int] = set()
        if match is not None:
            # a single number is a range of one
            last = match[2] or match[1]
            numbers.update(range(int(match[1]), int(last) + 1))
        # A range that counts down has no layer either.
        if not numbers:
            raise ValueError("all, a range as 0-3, or numbers as 4,5")
        layers |= numbers
    return tuple(sorted(layers))


def parse_map(words: str) -> tuple[int, int]:
    """Layer and head of "1:0"; raises ValueError for anything else.

    >>> parse_map("1:0")
    (1, 0)
    """
    match = re.fullmatch(r"\s*(\d+)\s*:\s*(\d+)\s*", words)
    if match is None:
        raise ValueError("a layer and a head, counted from 0, as 1:0")
    return int(match[1]), int(match[2])


class QUAGOptions(LevelOptions):
    """docs/quag.md argues the defaults."""

    layers: Annotated[str, Words()] = Field(
        "all",
        description="fusion layers that are changed, counted from 0: all, 0-3, or 4,5",
    )
    quag_attention: tuple[MergedModality, ...] = Field(
        ("video", "text", "video-text"),
        description="modalities whose tokens are averaged before keys and values (section 2.4)",
    )
    # added, as in the equation: only that keeps the attention that the tokens had together
    size_term: Literal["add", "multiply"] = Field(
        "add",
        description="weight of a token that replaces n others: log n is added to its logit (the "
        "paper's equation), or multiplies it (its listing)",
    )
    drop: float = Field(
        2.0,
        ge=0,
        le=100,
        description="points from which a loss counts (paper: 2)",
    )
    margin: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="share of the accuracy above chance from which a loss counts for the verdict, "
        "though never less than `drop` points",
    )
    beside: Literal["FrozenBiLM", "JustAsk", "All-in-one+", "Singularity-T"] = Field(
        "FrozenBiLM",
        description="the model whose figures of the paper are printed beside ours, on its data",
    )
    attention_map: Annotated[str | None, Words()] = Field(
        None,
        description="LAYER:HEAD, counted from 0, whose attention to the first question is drawn, "
        "as it is and under each short-circuit; the paper's figure 5 is 1:0",
    )
    captures: NonNegativeInt = Field(
        3, description="samples whose attention is checked against the theory; 0: none"
    )
    pairs: NonNegativeInt = Field(
        20,
        description="complement pairs, right and wrong ones of each kind, whose attention is "
        "compared; 0: none",
    )
    # captured attention grows with the square of the tokens
    longest: PositiveInt = Field(
        512,
        description="samples of more tokens are left out where attention is checked or drawn",
    )

    @field_validator("attention_map")
    @classmethod
    def _is_layer_and_head(cls, words: str | None) -> str | None:
        if words is not None:
            parse_map(words)
        return words

    @field_validator("layers")
    @classmethod
    def _are_layers(cls, words: str) -> str:
        parse_layers(words)
        return words
