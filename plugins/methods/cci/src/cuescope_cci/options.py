"""What a user can set: what the paper leaves open is an option."""

from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, model_validator

from cuescope_sdk import FindingOptions, Names, Words

Dtype = Literal["float32", "bfloat16", "float16"]
Spec = Annotated[str, Names.plugin()]
PluginOptions = Annotated[dict[str, Any], Names.plugin()]
Tools = Annotated[dict[str, str], Names.plugin()]
Rule = Literal["hidden", "iou"]
Metric = Literal["cosine", "euclidean"]
# what sections 3 and 3.1 say, where the defaults are others
PAPER = MappingProxyType({"starts": 1, "region": "iou"})


class CCIOptions(FindingOptions):
    """docs/cci.md argues the defaults."""

    paper: bool = Field(
        False,
        strict=True,  # what it stands for is filled in before texts are read
        description="the paper's maps and rule: starts=1, region=iou unless they are set; "
        "Euclidean distance, weights normalised by their signed sum",
    )
    k: PositiveInt = Field(7, description="clusters of an image's patches (paper: 7)")
    # one start outlines the object less well: IoU .42, of three .51 (docs/cci.md)
    starts: PositiveInt = Field(
        3,
        description="maps of so many starts of the k-means are averaged (paper: 1): steadier; "
        "each costs k forward passes",
    )
    maps_only: bool = Field(
        False, description="go on where no masks are known: maps, and no finding"
    )
    target: Annotated[str, Words()] = Field(
        "predicted",
        description="what the maps are about: the `predicted` class, the `true` one, or any text",
    )
    # Patches of one background stand in for each other, so that a map passes over them: each region
    # is hidden whole by default, and the paper's IoU is a choice.
    region: Rule = Field(
        "hidden",
        description="what tells foreground from background errors: each region hidden whole, or "
        "IoU of the map's strongest part with it (paper)",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_papers(cls, given: Any) -> Any:
        is_paper = isinstance(given, dict) and given.get("paper") is True
        return {**PAPER, **given} if is_paper else given

    @property
    def metric(self) -> Metric:
        """The distance of the k-means over patch embeddings."""
        # cosine: a few patches of CLIP have norms far above the rest (registers)
        return "euclidean" if self.paper else "cosine"
