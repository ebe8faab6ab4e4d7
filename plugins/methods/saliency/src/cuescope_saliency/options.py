"""Options of the method; the explainers by name, and the settings that each of them reads."""

from typing import Annotated, Literal, get_args

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk import FindingOptions, Options, UserError, Words, nearest

Explainer = Literal[
    "raw-attention",
    "rollout",
    "grad-cam",
    "game",
    "maskclip",
    "clip-surgery",
    "m2ib",
    "rise",
    "grad-eclip",
    "grad-eclip-no-lambda",
    "random",
]
EXPLAINERS: tuple[Explainer, ...] = get_args(Explainer)
# a text with the other choices
COMPARING = ("clip-surgery", "rise")
BLIND = ("raw-attention", "rollout", "random")  # to the text


class Settings(Options):
    """Settings of the explainers, each with the values of its paper."""

    form: Literal["published", "stock"] = Field(
        "published",
        description="published: as the authors' code runs it by default; stock: what the model "
        "itself computes (docs/cci.md says where they differ)",
    )
    # none: each explainer has another number in its authors' code
    layers: PositiveInt | None = Field(
        None,
        description="how many of the last blocks grad-eclip (none: 1), clip-surgery (none: 6), "
        "game (none: 1 as published, all as stock) and rollout (none: all) go through",
    )
    # the fewest of the paper's: an image costs as many forward passes
    rise_masks: PositiveInt = Field(
        2000, description="rise: random masks an image (2,000-8,000)"
    )
    m2ib_beta: float = Field(
        0.1,
        ge=0,
        description="m2ib: weight of the information, against the similarity",
    )
    m2ib_steps: PositiveInt = Field(
        10, description="m2ib: steps of Adam, learning rate 1"
    )
    # an option, as another seed must be another key in the cache
    seed: NonNegativeInt = Field(
        0,
        description="of random masks and noise; the seed of the audit changes them too",
    )


class SaliencyOptions(FindingOptions, Settings):
    """The explainer, what it explains, and the rule of a finding; the rest are settings."""

    argument = "explainer"

    explainer: Explainer = Field(
        "grad-eclip",
        description=f"which explainer draws the maps: {', '.join(EXPLAINERS)}",
    )
    target: Literal["predicted", "true"] = Field(
        "predicted", description="which label's text is explained in each image"
    )
    text: Annotated[str | None, Words()] = Field(
        None,
        min_length=1,
        description="explain this text in every image instead",
    )
    maps_only: bool = Field(
        False, description="go on where no masks are known: maps, and no finding"
    )


_BY_LAYERS = {"layers", "form"}
USES: dict[str, set[str]] = {
    "rollout": {"layers"},
    "game": _BY_LAYERS,
    "clip-surgery": _BY_LAYERS,
    "grad-eclip": _BY_LAYERS,
    "grad-eclip-no-lambda": _BY_LAYERS,
    "rise": {"rise_masks", "seed", "form"},
    "m2ib": {name for name in Settings.model_fields if name.startswith("m2ib")}
    | {"seed", "form"},
    "random": {"seed"},
}


def relevant_settings(explainer: str, settings: Settings) -> Settings:
    """The settings that this explainer reads; the others at their defaults."""
    # Settings are part of the cache key: one that is not read must not ask for the same map again.
    names = USES.get(explainer, set())
    return Settings(**settings.model_dump(include=names))


def require_explainer(explainer: object) -> None:
    """Raise UserError for any other name than that of an explainer, with the nearest."""
    if explainer not in EXPLAINERS:
        raise UserError(
            "saliency: explainer",
            expected=f"one of {', '.join(EXPLAINERS)}",
            got=f"'{explainer}'",
            remedy=nearest(str(explainer), EXPLAINERS),
        )
