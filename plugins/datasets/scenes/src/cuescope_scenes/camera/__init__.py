"""Solids before a camera: backgrounds, viewpoints and scales as exact factors.

The planted truth for audits of what a change of background, viewpoint or scale does: each object
stands before each background, and there in the eight subsets of a controlled benchmark.
"""

from dataclasses import replace
from typing import ClassVar, Literal, Self

from pydantic import Field

from cuescope_scenes.camera.camera import View
from cuescope_scenes.camera.pictures import DRAWING_VERSION, CameraScene, foreground, frame
from cuescope_scenes.camera.variants import COUNT, Variant, draw_place, variants
from cuescope_scenes.camera.words import FAMILY_OF, LABELS, ORIGINAL, PARTNER_OF
from cuescope_scenes.composition import draw_backgrounds, draw_labels
from cuescope_scenes.textures import SIZE
from cuescope_scenes.words import BACKGROUNDS, COLOUR_NAMES
from cuescope_sdk import Context, Options, PlantedCue, Plugin, Sample, derive, digest, generator


class CameraScenesOptions(Options):
    """What to generate; the part after `camera-scenes:` is `dial`."""

    argument: ClassVar[str | None] = "dial"

    dial: float = Field(
        0.98, ge=0, le=1, description="how often a photo shows its label's own background"
    )
    backgrounds: int = Field(
        len(BACKGROUNDS), ge=2, le=len(BACKGROUNDS), description="that each object stands before"
    )
    split: Literal["train", "val", "test"] = Field(
        "val", description="train: photos alone; val and test: photos and all their variants"
    )
    train: int = Field(4800, ge=8, description="photos for training")
    val: int = Field(40, ge=8, description="photos for the audit")
    test: int = Field(40, ge=8, description="photos held out")
    noise: float = Field(8.0, ge=0, le=100, description="grain of the pictures, grey levels")
    seed: int = Field(0, ge=0, description="another seed, another draw")

    @property
    def sources(self) -> int:
        """Photos of the chosen split."""
        return {"train": self.train, "val": self.val, "test": self.test}[self.split]


def cue_key(label: str) -> str:
    """What the answer sheet calls the background of a label."""
    return f"background of {label}"


class CameraScenes(Plugin):
    """Eight solids in four families of look-alikes, each with a background as its partner.

    A photo (the subset "original") shows an object from about its front, before its partner as
    often as the dial says. In `val` and `test` it is followed by the object before each background,
    and before each by the eleven variants. All pictures of a photo are one group.
    """

    Options = CameraScenesOptions
    labels: tuple[str, ...] = LABELS
    planted_cues: tuple[PlantedCue, ...] = tuple(
        PlantedCue(key=cue_key(label), name=background, labels=(label,))
        for label, background in PARTNER_OF.items()
    )

    def __init__(self, options: CameraScenesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: CameraScenesOptions = options
        self.targets = draw_labels(options.sources, options.split, options.seed)
        self.backgrounds = draw_backgrounds(self.targets, options.dial, options.split, options.seed)
        self.each = 1 if options.split == "train" else 1 + options.backgrounds * COUNT
        self.fingerprint = digest(
            "camera-scenes",
            DRAWING_VERSION,
            options.split,
            options.seed,
            options.noise,
            self.each,
            self.targets,
            self.backgrounds,
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        partners = (self.backgrounds == self.targets).mean()
        return {
            "pictures": f"{len(self)} of {options.sources} photos, split {options.split}",
            "own background": f"{partners:.1%} of the photos show the background of their label; "
            "their variants show each of "
            f"{options.backgrounds} backgrounds as often",
            "viewpoint and scale": "drawn by a camera, exactly as the factors say",
        }

    def __len__(self) -> int:
        return self.options.sources * self.each

    def __getitem__(self, index: int) -> Sample:
        source, place = divmod(range(len(self))[index], self.each)
        if place == 0:
            return self._sample(source, BACKGROUNDS[self.backgrounds[source]], None, 0)
        behind, number = divmod(place - 1, COUNT)
        background = self._others(source)[behind]
        return self._sample(source, background, number, behind)

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no photo is in two of them."""
        return self.with_options(split=name)

    def _others(self, source: int) -> list[str]:
        """The backgrounds that an object stands before, in their own order."""
        order = generator(self._seed(source), "camera-scenes", "backgrounds")
        chosen = order.permutation(len(BACKGROUNDS))[: self.options.backgrounds]
        return [BACKGROUNDS[i] for i in sorted(chosen.tolist())]

    def _seed(self, source: int) -> int:
        return derive(self.options.seed, "camera-scenes", self.options.split, str(source))

    def _sample(self, source: int, background: str, number: int | None, behind: int) -> Sample:
        options, label, seed = self.options, LABELS[self.targets[source]], self._seed(source)
        colours = generator(seed, "camera-scenes", "colour")
        colour, place = str(colours.choice(COLOUR_NAMES)), draw_place(seed)
        of_ground = derive(seed, background)  # one texture and grain for all of its variants
        key = group = f"{options.split}-{source:05d}"
        made = Variant(ORIGINAL, place.pose)
        if number is not None:
            made = list(variants(place.pose, of_ground))[number]
            key = f"{group}-{behind}-{number:02d}"
        scene = CameraScene(
            label,
            colour,
            background,
            place.row,
            place.col,
            place.radius,
            made.pose,
            made.view,
            options.noise,
            of_ground,
        )
        if made.subset == "scale":  # an object that gets smaller is brought to the middle
            scene = _centred(scene)
        return Sample(
            key=key,
            group=group,
            frames=(frame(scene),),
            choices=LABELS,
            label=label,
            annotations={
                "split": options.split,
                "caption": f"a {colour} {label} on {background}",
                "factors": {"background": background, "subset": made.subset, **made.factors},
                "family": FAMILY_OF[label],
                "foreground": foreground(scene),
                "source": group,
                "kept_exactly": True,
                "dropped": "",
                "cues": {
                    cue_key(owner): (partner == background,)
                    for owner, partner in PARTNER_OF.items()
                },
            },
        )


def _centred(scene: CameraScene) -> CameraScene:
    """The object in the middle of the shrunk picture."""
    zoom = scene.view.zoom
    down, right = zoom * (SIZE / 2 - scene.row), zoom * (SIZE / 2 - scene.col)
    return replace(scene, view=View(zoom=zoom, down=down, right=right))
