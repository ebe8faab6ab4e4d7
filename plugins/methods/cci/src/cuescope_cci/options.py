"""What a user can set: what the paper leaves open is an option."""

from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from cuescope_sdk import Names, Options, Words

Dtype = Literal["float32", "bfloat16", "float16"]
Spec = Annotated[str, Names.plugin()]
PluginOptions = Annotated[dict[str, Any], Names.plugin()]
Tools = Annotated[dict[str, str], Names.plugin()]
Rule = Literal["hidden", "iou", "soft-iou", "mass"]
Negative = Literal["keep", "zero", "signed"]
# what sections 3 and 3.1 say, where the defaults are others
PAPER = MappingProxyType(
    {"starts": 1, "metric": "euclidean", "negative": "signed", "region": "iou"}
)


class CCIOptions(Options):
    """docs/cci.md argues the defaults."""

    paper: bool = Field(
        False,
        strict=True,  # what it stands for is filled in before texts are read
        description="the paper's maps and rule: starts=1, metric=euclidean, negative=signed, "
        "region=iou, unless they are set",
    )
    k: PositiveInt = Field(7, description="clusters of an image's patches (paper: 7)")
    layer: int = Field(
        -1, description="block whose patch embeddings are clustered; -1 is the last"
    )
    # cosine: a few patches of CLIP have norms far above the rest
    metric: Literal["cosine", "euclidean"] = Field(
        "cosine", description="distance of the k-means over patch embeddings"
    )
    restarts: PositiveInt = Field(
        1, description="of the k-means; the tightest clusters are kept"
    )
    # one start outlines the object less well: IoU .42, of three .51 (docs/cci.md)
    starts: PositiveInt = Field(
        3,
        description="maps of so many starts of the k-means are averaged (paper: 1): steadier; "
        "each costs k forward passes",
    )
    # dividing by a signed sum turns a map over where that sum is negative
    negative: Negative = Field(
        "keep",
        description="a cluster whose absence helps the text: negative weight, or none; weights "
        "are normalised by the sum of sizes. signed: by the sum itself (paper)",
    )
    maps_only: bool = Field(
        False, description="go on where no masks are known: maps, and no finding"
    )
    target: Literal["predicted", "true", "text"] = Field(
        "predicted", description="the text that the maps are about"
    )
    text: Annotated[str | None, Words()] = Field(
        None, description="the text of target=text"
    )
    # Patches of one background stand in for each other, so that a map passes over them: each region
    # is hidden whole by default, and the paper's IoU is a choice.
    region: Rule = Field(
        "hidden",
        description="what tells foreground from background errors: each region hidden whole, "
        "or the map's overlap with it: IoU of its strongest part (paper), IoU of all its "
        "weights, or their share",
    )
    strongest: float = Field(
        0.5,
        gt=0,
        le=1,
        description="region=iou counts weights of at least this times the top",
    )
    judge: Literal["auto", "llm", "taxonomy", "embedding"] = Field(
        "auto",
        description="what decides that two classes look alike: a text-generator tool, families of "
        "labels, or the model's own class embeddings; auto takes the first that is there",
    )
    taxonomy: Path | None = Field(
        None, description="YAML of label -> family, for judge=taxonomy"
    )
    # the closest tenth: cosines of texts are all high, only their ranks tell
    alike: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="judge=embedding: pairs of labels above this rank look alike",
    )
    kinds: Literal["auto", "factors", "clusters"] = Field(
        "auto",
        description="what backgrounds are told apart by: annotated factors, or clusters of the "
        "model's embeddings of the background alone; auto clusters where no factor is annotated "
        "but the object's size",
    )
    min_pull: float = Field(
        0.05,
        ge=0,
        le=1,
        description="a finding moves at least this share of the answers",
    )
    fdr: float = Field(
        0.05,
        gt=0,
        le=1,
        description="chance of any false finding among all that is tried",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
    # a draw: each image costs two curves
    faithfulness: NonNegativeInt = Field(
        24, description="images of the deletion and insertion check; 0 leaves it out"
    )
    steps: PositiveInt = Field(
        20,
        description="steps of that check over half of the pixels (paper: 100 of 0.5%)",
    )
    pictures: NonNegativeInt = Field(3, description="images shown of each kind")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_papers(cls, given: Any) -> Any:
        is_paper = isinstance(given, dict) and given.get("paper") is True
        return {**PAPER, **given} if is_paper else given
