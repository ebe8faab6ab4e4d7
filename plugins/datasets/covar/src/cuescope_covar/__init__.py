"""COVAR: objects on many backgrounds, each in eleven controlled variants (section 4)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_sdk import (
    BadDataError,
    Context,
    Names,
    PlantedCue,
    Sample,
    UserError,
    Words,
)
from cuescope_sdk.data import (
    CovarManifest,
    CovarRow,
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
)
from cuescope_sdk.models import refuse_unknown

ORIGINAL = CovarManifest.ORIGINAL
SUBSETS = CovarManifest.SUBSETS


class CovarOptions(ImageFolderOptions):
    """Where the folder is, and which of its images are shown."""

    split: Annotated[str, Names.part()] = Field(
        "test", description="the only one: a COVAR is for auditing, not training"
    )
    max_missing: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of images that may be missing or unreadable",
    )
    subset: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description=f"only these subsets: {ORIGINAL}, {', '.join(SUBSETS)}"
    )
    keep_all: bool = Field(
        False,
        description="show the images too that the quality filter dropped, flagged",
    )


class Covar(ImageFolder):
    """A folder that `cuescope covar build` wrote: one sample an image.

    The group is the photo that an image was made from. An image that the quality filter dropped
    is left out, unless `keep_all`; `facts` count them by subset and reason. Raises BadDataError for
    a picture that is not the one that was built; with `max_missing` some may be gone.
    """

    Options: ClassVar[type[CovarOptions]] = CovarOptions
    title: ClassVar[str] = "covar"
    split_names: ClassVar[tuple[str, ...]] = ("test",)
    turned: ClassVar[bool] = False
    group_source: ClassVar[str] = "source photo"
    options: CovarOptions

    def __init__(self, options: CovarOptions, context: Context) -> None:
        super().__init__(options, context)
        cues = {}
        # collected while rows are read: only backgrounds of the chosen subset are planted
        for item in self.items:
            name = item.annotations["factors"]["background"]
            if name != ORIGINAL:
                cues[name] = PlantedCue(key=name, name=name)
        self.planted_cues = tuple(cues.values())

    def read(self, split: str) -> list[ImageItem]:
        """The rows of the manifest that are shown."""
        manifest = CovarManifest.read(self.root)
        rows = manifest.rows
        self.labels = manifest.choices
        if self.options.subset is not None:
            # a misspelled subset would else filter everything away, and be told as an empty
            # folder
            for name in self.options.subset:
                refuse_unknown(self.title, "subset", name, (ORIGINAL, *SUBSETS))
            rows = [row for row in rows if row.subset in self.options.subset]
            manifest = replace(manifest, rows=rows)
        dropped = manifest.describe_dropped(shown=self.options.keep_all)
        if dropped:
            self.facts["dropped"] = dropped
        # a dropped image has a row, but a file only where the build kept it
        rows = [
            row
            for row in rows
            if row.image and (self.options.keep_all or not row.dropped)
        ]
        if not rows:
            raise UserError(
                f"covar: nothing to show of {self.root}",
                expected="an image or more that the quality filter kept",
                remedy="-O data.keep_all=true shows dropped ones that a build with "
                "--keep-all has kept",
            )
        # one look at each file tells that it can be read and that it is the one that was built
        self._digests: dict[Path, str] = {}
        backgrounds: dict[str, None] = {}  # a dict keeps their order
        for row in rows:
            self._digests[self.root / row.image] = row.image_digest
            self._digests[self.root / row.mask] = row.mask_digest
            backgrounds[row.background] = None
        backgrounds.pop(ORIGINAL, None)
        return [self._item(row, backgrounds) for row in rows]

    def __getitem__(self, index: int) -> Sample:
        """The image; the mask of its object is the annotation "foreground"."""
        sample = super().__getitem__(index)
        annotations = dict(sample.annotations)
        if "masks" in annotations:
            # the method that cuts objects out looks for the annotation, not for a mask's name
            annotations["foreground"] = annotations["masks"]["object"]
        return replace(sample, annotations=annotations)

    def _problem(self, files: Sequence[Path]) -> str | None:
        """The first fault of a picture or its mask."""
        for file in files:
            probe = self.probes[file]
            if not probe.digest and self.options.max_missing > 0:
                continue  # it is gone, and counted among what is left out
            if probe.digest != self._digests[file]:
                raise BadDataError(
                    f"covar: {file} is not the picture that was built",
                    expected="the file as `cuescope covar build` wrote it",
                    got="other content" if probe.digest else probe.problem,
                    remedy=f"`cuescope covar build ... --out {self.root}` with the same words "
                    "makes it again",
                )
        return super()._problem(files)

    def _item(self, row: CovarRow, backgrounds: Iterable[str]) -> ImageItem:
        factors = {
            "background": row.background,
            "subset": row.subset,
            "variant": row.variant,
        }
        parameters = json.loads(row.parameters)
        if "scale" in parameters:
            # factors are words: 0.50 and 0.5 must be one level
            factors["scale"] = f"{parameters['scale']:g}"
        return ImageItem(
            row.key,
            self.root / row.image,
            (row.label,),
            label=row.label,
            annotations={
                "factors": factors,
                "parameters": parameters,
                "source": row.source,
                "source_key": row.source_key,
                "prompt": row.prompt,
                "editor": row.editor,
                "licence": row.licence,
                "kept_exactly": row.kept_exactly,
                "dropped": row.dropped,
                # each background is a cue that an image has or lacks; that of the photo itself
                # is none
                "cues": {name: (name == row.background,) for name in backgrounds},
            },
            masks={"object": self.root / row.mask} if row.mask else {},
            group=row.group,
        )


__all__ = ["Covar", "CovarOptions"]
