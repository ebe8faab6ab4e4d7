"""Solids before a camera: backgrounds, viewpoints and scales as exact factors.

The planted truth for audits of what a change of background, viewpoint or scale does: each object
stands before each background, and there in the eight subsets of a controlled benchmark.
"""

from typing import Self

from pydantic import Field

from cuescope_scenes import NOISE
from cuescope_scenes.camera.pictures import DRAWING_VERSION, foreground, frame
from cuescope_scenes.camera.variants import COUNT, Variant, draw_photo, variants
from cuescope_scenes.camera.words import FAMILY_OF, LABELS, ORIGINAL, PARTNER_OF
from cuescope_scenes.composition import draw_backgrounds, draw_labels
from cuescope_scenes.cues import background_cues, shown_cues
from cuescope_scenes.words import BACKGROUNDS
from cuescope_sdk import (
    Context,
    DrawnOptions,
    PlantedCue,
    Plugin,
    Sample,
    derive,
    digest,
    generator,
)


class CameraScenesOptions(DrawnOptions):
    """What to generate; the part after `camera-scenes:` is `dial`."""

    argument = "dial"

    dial: float = Field(
        0.98,
        ge=0,
        le=1,
        description="how often a photo shows its label's own background",
    )
    backgrounds: int = Field(
        len(BACKGROUNDS),
        ge=2,
        le=len(BACKGROUNDS),
        description="that each object stands before",
    )
    train: int = Field(4800, ge=8, description="photos for training")
    val: int = Field(40, ge=8, description="photos for the audit")
    test: int = Field(40, ge=8, description="photos held out")


class CameraScenes(Plugin):
    """Eight solids in four families of look-alikes, each with a background as its partner.

    A photo (the subset "original") shows an object from about its front, before its partner as
    often as the dial says. In `val` and `test` it is followed by the object before each background,
    and before each by the eleven variants. All pictures of a photo are one group.
    """

    Options = CameraScenesOptions
    options: CameraScenesOptions
    labels: tuple[str, ...] = LABELS
    planted_cues: tuple[PlantedCue, ...] = background_cues(PARTNER_OF)

    def __init__(self, options: CameraScenesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.targets = draw_labels(options.size, options.split, options.seed)
        self.backgrounds = draw_backgrounds(
            self.targets, options.dial, options.split, options.seed
        )
        variants = 0 if options.split == "train" else options.backgrounds * COUNT
        self.pictures_per_photo = 1 + variants
        self.fingerprint = digest(
            "camera-scenes",
            DRAWING_VERSION,
            options.split,
            options.seed,
            NOISE,
            self.pictures_per_photo,
            self.targets,
            self.backgrounds,
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        partners = (self.backgrounds == self.targets).mean()
        return {
            "pictures": f"{len(self)} of {options.size} photos, split {options.split}",
            "own background": f"{partners:.1%} of the photos show the background of their label; "
            "their variants show each of "
            f"{options.backgrounds} backgrounds as often",
            "viewpoint and scale": "drawn by a camera, exactly as the factors say",
        }

    def __len__(self) -> int:
        return self.options.size * self.pictures_per_photo

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        options = self.options
        photo, number = divmod(index, self.pictures_per_photo)
        group = f"{options.split}-{photo:05d}"
        seed = derive(options.seed, "camera-scenes", options.split, str(photo))
        label = LABELS[self.targets[photo]]
        key = group
        background = BACKGROUNDS[self.backgrounds[photo]]
        scene = draw_photo(label, background, NOISE, seed)
        variant = Variant(ORIGINAL, scene)
        if number:
            behind, variant_number = divmod(number - 1, COUNT)
            key = f"{group}-{behind}-{variant_number:02d}"
            background = _draw_backgrounds(seed, options.backgrounds)[behind]
            scene = draw_photo(label, background, NOISE, seed)
            variant = list(variants(scene))[variant_number]
        return Sample(
            key=key,
            group=group,
            frames=(frame(variant.scene),),
            choices=LABELS,
            label=label,
            annotations={
                "split": options.split,
                "caption": f"a {scene.colour} {label} on {background}",
                "factors": {
                    "background": background,
                    "subset": variant.subset,
                    **variant.factors,
                },
                "family": FAMILY_OF[label],
                "foreground": foreground(variant.scene),
                "source": group,
                "kept_exactly": True,
                "dropped": "",
                "cues": shown_cues(self.planted_cues, (background,)),
            },
        )

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no photo is in two of them."""
        return self.with_options(split=name)


def _draw_backgrounds(seed: int, count: int) -> list[str]:
    """Those that an object stands before."""
    rng = generator(seed, "camera-scenes", "backgrounds")
    order = rng.permutation(len(BACKGROUNDS))
    chosen = sorted(order[:count])
    return list(map(BACKGROUNDS.__getitem__, chosen))
