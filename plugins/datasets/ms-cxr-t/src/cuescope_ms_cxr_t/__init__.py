"""MS-CXR-T (Bannur et al., 2023): pairs of chest X-rays in which a finding gets better or worse.

PhysioNet's table, and the images of MIMIC-CXR-JPG, which its `dicom_id` names by their paths.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from cuescope_sdk import Names, UserError, nearest
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem, TextFile

TABLE = "MS_CXR_T_temporal_image_classification_v1.0.0.csv"
PROGRESSIONS = ("improving", "stable", "worsening")
Finding = Literal[
    "consolidation", "edema", "pleural_effusion", "pneumonia", "pneumothorax"
]


class PairRow(BaseModel):
    """A row of the table; a finding that was not judged is empty."""

    subject_id: str = Field(min_length=1)
    dicom_id: str = Field(pattern=r"^[^/\\].*[^/\\]$")
    previous_dicom_id: str = Field(pattern=r"^[^/\\].*[^/\\]$")
    consolidation_progression: str
    edema_progression: str
    pleural_effusion_progression: str
    pneumonia_progression: str
    pneumothorax_progression: str


class MSCXRTOptions(ImageFolderOptions):
    """Those of every image folder, the finding, and where MIMIC-CXR-JPG is."""

    split: Annotated[str, Names.part()] = Field(
        "test", description="which split to show: there is only test"
    )
    images: Path | None = Field(
        None,
        description="the folder of MIMIC-CXR-JPG, with files/p10/...; default PATH",
    )
    finding: Finding = Field("pneumonia", description="what gets better or worse")
    stable: bool = Field(
        False, description="also the pairs, and the answer, in which it does neither"
    )


class MSCXRT(ImageFolder):
    """A sample two X-rays of a patient, the earlier first; the group is the patient.

    The label is "improving" or "worsening" (TRoVe, appendix C), with `stable` also "stable".
    """

    Options = MSCXRTOptions
    options: MSCXRTOptions
    title: ClassVar[str] = "ms-cxr-t"
    benchmark: str | None = "MS-CXR-T"
    split_names: ClassVar[tuple[str, ...]] = ("test",)
    group_source: ClassVar[str] = "patient"

    def read(self, split: str) -> Iterator[ImageItem]:
        """The pairs in which the finding was judged; raises UserError for another word of it."""
        table = TextFile.find(self.root, TABLE, self.title)
        images = (self.options.images or self.root).expanduser()
        images = images / "files" if (images / "files").is_dir() else images
        column = f"{self.options.finding}_progression"
        labels = tuple(p for p in PROGRESSIONS if self.options.stable or p != "stable")
        self.labels = labels
        shown = 0
        left = 0
        for number, row in enumerate(table.csv_rows(PairRow), start=1):
            progression = getattr(row, column).strip()
            if progression and progression not in PROGRESSIONS:
                raise UserError(
                    f"{table.name} row {number}, {column}",
                    expected=f"{', '.join(PROGRESSIONS)}, or nothing",
                    got=f"'{progression[:40]}'",
                    remedy=nearest(progression, PROGRESSIONS),
                )
            if progression in labels:
                shown += 1
                yield _pair(row, progression, images)
            else:
                left += 1
        self.facts["pairs"] = (
            f"{shown} in which {self.options.finding.replace('_', ' ')} is "
            f"{' or '.join(labels)}; {left} others of the table are not shown"
        )


def _pair(row: PairRow, progression: str, images: Path) -> ImageItem:
    previous, current = (
        images / f"{i}.jpg" for i in (row.previous_dicom_id, row.dicom_id)
    )
    return ImageItem(
        # a current image may be compared with several earlier ones
        f"{row.dicom_id} after {previous.stem[:8]}",
        current,
        (progression,),
        label=progression,
        group=row.subject_id,
        earlier=(previous,),
    )
