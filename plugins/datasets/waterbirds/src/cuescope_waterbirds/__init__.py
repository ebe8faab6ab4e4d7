"""Waterbirds (Sagawa et al., 2020): birds of CUB cut out and pasted on scenes of land and water.

`metadata.csv` of the authors' `waterbird_complete95_forest2water2`, beside its species folders.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from cuescope_sdk import PlantedCue
from cuescope_sdk.data import ImageFolder, ImageItem

BIRDS = ("landbird", "waterbird")
BACKGROUNDS = ("land", "water")  # at the index of the bird that it gives away
Bit = Annotated[int, Field(ge=0, le=1)]


class PhotoRow(BaseModel):
    """A row of `metadata.csv`; `y` and `place` are 1 for water, `split` counts from train."""

    img_filename: str
    y: Bit
    place: Bit
    split: Annotated[int, Field(ge=0, le=2)]


class Waterbirds(ImageFolder):
    """A sample a photo, labelled "landbird" or "waterbird"; the background is the annotated cue.

    In the split train 95% of the birds are on their own background, in val and test half. No group:
    the authors used every photo of a bird, and every background, once.
    """

    title: ClassVar[str] = "waterbirds"
    benchmark: str | None = "Waterbirds"
    planted_cues: tuple[PlantedCue, ...] = tuple(
        PlantedCue(
            key=f"{background} background",
            name=f"{background} background",
            labels=(bird,),
        )
        for bird, background in zip(BIRDS, BACKGROUNDS, strict=True)
    )
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test")

    def read(self, split: str) -> Iterator[ImageItem]:
        """The photos of a split."""
        self.labels = BIRDS
        table = self.file(
            "metadata.csv", "waterbird_complete95_forest2water2/metadata.csv"
        )
        folder = table.path.parent
        # 0 train, 1 val, 2 test, as the authors count
        number = self.split_names.index(split)
        for row in table.csv_rows(PhotoRow):
            if row.split == number:
                bird = BIRDS[row.y]
                name = row.img_filename
                yield ImageItem(name, folder / name, (bird,), bird, _annotations(row))


def _annotations(row: PhotoRow) -> dict[str, object]:
    bird = BIRDS[row.y]
    background = BACKGROUNDS[row.place]
    # A folder is called as in CUB: "001.Black_footed_Albatross".
    species = row.img_filename.partition("/")[0].partition(".")[2].replace("_", " ")
    return {
        "factors": {"background": background, "species": species},
        "subgroup": f"{bird} on {background}",
        "cues": {f"{name} background": (name == background,) for name in BACKGROUNDS},
    }
