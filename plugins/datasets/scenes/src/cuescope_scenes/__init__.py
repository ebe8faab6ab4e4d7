"""Captioned scenes: an object on a textured background, and a dial for how far one tells the other.

The planted truth for audits of where a model looks: masks of everything in the foreground, every
factor in words, and which background goes with which label.
"""

from typing import Self

from pydantic import Field

from cuescope_scenes.composition import compose, draw_backgrounds, draw_labels
from cuescope_scenes.cues import background_cues, shown_cues
from cuescope_scenes.pictures import DRAWING_VERSION, foreground, frame
from cuescope_scenes.words import BACKGROUNDS, FAMILY_OF, LABELS, PARTNER_OF
from cuescope_sdk import (
    Context,
    DrawnOptions,
    PlantedCue,
    Plugin,
    Sample,
    derive,
    digest,
)

NOISE = 8.0  # standard deviation of the grain, grey levels
BLURRED = 0.2  # share of the pictures that is out of focus


class ScenesOptions(DrawnOptions):
    """What to generate; the part after `scenes:` is `dial`."""

    argument = "dial"

    dial: float = Field(
        0.98,
        ge=0,
        le=1,
        description="how often a training picture shows its label's background",
    )
    audit_dial: float = Field(
        0.0,
        ge=0,
        le=1,
        description="the same in the splits val and test; 0 is balanced",
    )
    train: int = Field(4800, ge=8, description="pictures for training")
    val: int = Field(400, ge=8, description="pictures for validation and audit")
    test: int = Field(400, ge=8, description="pictures held out")

    @property
    def own_rate(self) -> float:
        """How often the chosen split shows the label's background."""
        # balanced, as a rule: there a model that leans on the background errs
        return self.dial if self.split == "train" else self.audit_dial


class Scenes(Plugin):
    """Eight labels in four families of look-alikes, each with a background as its partner.

    `backgrounds` and `targets` are indices into BACKGROUNDS and `labels`, by sample. With another
    dial the same objects stand in the same places. Every picture is drawn by itself, and is a group
    of its own.
    """

    Options = ScenesOptions
    options: ScenesOptions
    labels: tuple[str, ...] = LABELS
    planted_cues: tuple[PlantedCue, ...] = background_cues(PARTNER_OF)

    def __init__(self, options: ScenesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.targets = draw_labels(options.size, options.split, options.seed)
        self.backgrounds = draw_backgrounds(
            self.targets, options.own_rate, options.split, options.seed
        )
        self.fingerprint = digest(
            "scenes",
            DRAWING_VERSION,
            options.split,
            options.seed,
            NOISE,
            BLURRED,
            # in place of the dials: what they drew, which other dials may have drawn as well
            self.targets,
            self.backgrounds,
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        partners = (self.backgrounds == self.targets).mean()
        # A background that is drawn among all may be the partner too.
        expected = options.own_rate + (1 - options.own_rate) / len(BACKGROUNDS)
        return {
            "pictures": f"{options.size}, split {options.split}",
            "own background": f"{partners:.1%} of the pictures show the background of their label "
            f"({expected:.1%} asked for); in training the dial is {options.dial:g}",
        }

    def __len__(self) -> int:
        return self.options.size

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        options = self.options
        label = LABELS[self.targets[index]]
        background = BACKGROUNDS[self.backgrounds[index]]
        seed = derive(options.seed, "scenes", options.split, str(index))
        composition = compose(label, background, NOISE, BLURRED, seed)
        scene = composition.scene
        key = f"{options.split}-{index:05d}"
        return Sample(
            key=key,
            group=key,
            frames=(frame(scene),),
            choices=LABELS,
            label=label,
            annotations={
                "split": options.split,
                "caption": composition.caption,
                "factors": composition.factors,
                "family": FAMILY_OF[label],
                "foreground": foreground(scene.things),
                "cues": shown_cues(self.planted_cues, (background,)),
            },
        )

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no picture is in two of them."""
        return self.with_options(split=name)
