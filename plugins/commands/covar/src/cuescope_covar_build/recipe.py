"""What is made of each photo, and with which editors."""

from dataclasses import dataclass

from cuescope_covar_build.lists import Background
from cuescope_covar_build.sources import Source
from cuescope_covar_build.variants import SCALES, VIEWS, Variant, variants
from cuescope_sdk import ImageEditor, Segmenter, generator


@dataclass(frozen=True)
class NamedEditor:
    """An image editor, as it was asked for, with a digest of what it is."""

    spec: str
    fingerprint: str
    tool: ImageEditor


@dataclass(frozen=True)
class Recipe:
    """What is made of each photo of the data set `source`.

    `instruction` is what the editor is told, with {background} and {label} in it. Without a
    `viewpoint_editor` there are no viewpoints; without a `segmenter` these have no mask.
    """

    source: str
    backgrounds: tuple[Background, ...]
    editor: NamedEditor
    instruction: str = "{background}"
    viewpoint_editor: NamedEditor | None = None
    segmenter: Segmenter | None = None
    scales: tuple[float, ...] = SCALES
    seed: int = 0
    licence: str = ""

    @property
    def views(self) -> int:
        """Viewpoints of each image on a background."""
        return 0 if self.viewpoint_editor is None else VIEWS

    @property
    def names(self) -> list[str]:
        """What the images of one photo on one background are called; the first is made first."""
        # the draw does not matter: names say nothing of what is drawn
        examples = variants(generator(0), (64, 64), "", self.scales, views=self.views)
        return ["background", *(variant.name for variant in examples)]

    @property
    def edits(self) -> int:
        """Edits of one photo on one background, viewpoints among them."""
        # 3: the background, a shift and a rotation
        return 3 + len(self.scales) + self.views

    def variants(self, source: Source, background: Background) -> list[Variant]:
        """The variants of a photo on a background, drawn for it."""
        rng = generator(self.seed, "variants", source.sample.key, background.name)
        return variants(
            rng,
            source.mask.shape[:2],
            source.label,
            self.scales,
            views=self.views,
        )

    def prompt(self, background: Background, label: str) -> str:
        """What the editor is told."""
        # not str.format: a person's words may hold other braces
        instruction = self.instruction.replace("{background}", background.prompt)
        return instruction.replace("{label}", label)
