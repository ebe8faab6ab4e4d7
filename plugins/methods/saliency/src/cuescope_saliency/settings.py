"""The explainers by name, what each of them looks at, and their settings."""

from typing import Literal, get_args

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from cuescope_sdk import Options, UserError, nearest

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
BLIND: frozenset[str] = frozenset({"raw-attention", "rollout", "random"})


class Settings(Options):
    """Settings of the explainers, each with the values of its paper."""

    layers: PositiveInt | None = Field(
        None,
        description="how many of the last blocks grad-eclip (none: 1), clip-surgery (none: 6), "
        "game and rollout (none: all) go through",
    )
    rise_masks: PositiveInt = Field(2000, description="rise: random masks an image (2,000-8,000)")
    rise_grid: PositiveInt = Field(8, description="rise: cells a side of a mask")
    rise_kept: float = Field(0.5, gt=0, lt=1, description="rise: share of the cells that is kept")
    m2ib_layer: NonNegativeInt | None = Field(
        None, description="m2ib: the block behind which noise comes in, from 0; none: 9 of 12"
    )
    m2ib_beta: float = Field(0.1, ge=0, description="m2ib: weight of what passes against the fit")
    m2ib_variance: PositiveFloat = Field(1.0, description="m2ib: variance of the noise")
    m2ib_steps: PositiveInt = Field(10, description="m2ib: steps of Adam, learning rate 1")
    m2ib_draws: PositiveInt = Field(10, description="m2ib: draws of noise a step")
    seed: NonNegativeInt = Field(
        0, description="of random masks and noise; an audit mixes its own seed in"
    )


USES: dict[str, frozenset[str]] = {
    "rollout": frozenset({"layers"}),
    "game": frozenset({"layers"}),
    "clip-surgery": frozenset({"layers"}),
    "grad-eclip": frozenset({"layers"}),
    "grad-eclip-no-lambda": frozenset({"layers"}),
    "rise": frozenset({"rise_masks", "rise_grid", "rise_kept", "seed"}),
    "m2ib": frozenset(name for name in Settings.model_fields if name.startswith("m2ib")) | {"seed"},
    "random": frozenset({"seed"}),
}


def used(explainer: str, settings: Settings) -> Settings:
    """The settings that this explainer reads; the others at their defaults."""
    mine = USES.get(explainer, frozenset())
    return Settings(**{name: getattr(settings, name) for name in mine})


def known(explainer: object) -> object:
    """The name of an explainer; raises UserError for any other, with the nearest."""
    if explainer not in EXPLAINERS:
        raise UserError(
            "saliency: explainer",
            expected=f"one of {', '.join(EXPLAINERS)}",
            got=f"'{explainer}'",
            remedy=nearest(str(explainer), EXPLAINERS),
        )
    return explainer
