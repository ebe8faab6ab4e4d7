"""PhysioNet's layout becomes pairs; each mistake in it is one line."""

from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_ms_cxr_t import MSCXRT, TABLE
from cuescope_testing import LayoutContract, Mistake

FINDINGS = ("consolidation", "edema", "pleural_effusion", "pneumonia", "pneumothorax")
COLUMNS = ("dicom_id", "previous_dicom_id", "subject_id", "study_id")
HEADER = ",".join(
    [*COLUMNS, *(f"{f}_progression" for f in FINDINGS), "pneumonia_label_quality"]
)
PAIRS = (
    ("10", "improving"),
    ("10", "worsening"),
    ("11", "stable"),
    ("12", ""),
    ("13", "worsening"),
)


def name(patient: str, number: int) -> str:
    return f"p{patient}/p{patient}000{patient}/s{number:08d}/{number:08x}-{patient}"


class TestMSCXRT(LayoutContract):
    plugin = MSCXRT
    options = {"max_missing": 0.4}
    other_options = {"stable": True}
    mistakes = (
        Mistake(f"ms-cxr-t/{TABLE}", None, f"no {TABLE}"),
        Mistake(f"ms-cxr-t/{TABLE}", "dicom_id\nx\n", "no column 'subject_id'"),
        Mistake(
            f"ms-cxr-t/{TABLE}",
            f"{HEADER}\n{name('10', 1)},{name('10', 0)},10,1,,,,better,,\n",
            "row 1, pneumonia_progression: expected improving, stable, worsening, or nothing, got "
            "'better'",
        ),
        Mistake(
            f"ms-cxr-t/{TABLE}",
            f"{HEADER}\n/etc/x,{name('10', 0)},10,1,,,,stable,,\n",
            "line 2 'dicom_id': expected ",
        ),
        Mistake("", None, "no split 'val': expected one of test", {"split": "val"}),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """The table beside the folders of MIMIC-CXR-JPG."""
        rows = []
        for number, (patient, progression) in enumerate(PAIRS):
            current, previous = name(patient, 2 * number + 1), name(patient, 2 * number)
            rows.append(
                f"{current},{previous},{patient},{number},,stable,,{progression},,1"
            )
            for index, stem in enumerate((previous, current)):
                pixels = np.full((20, 24, 3), 20 * number + 100 * index, np.uint8)
                file = root / "files" / f"{stem}.jpg"
                file.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(file)
        (root / "ms-cxr-t").mkdir()
        (root / "ms-cxr-t" / TABLE).write_text("\n".join([HEADER, *rows]))

    def test_a_pair_is_a_sample_the_earlier_image_first(self):
        data = self.open()
        assert data.labels == ("improving", "worsening")
        assert [(s.label, s.group) for s in data] == [
            ("improving", "10"),
            ("worsening", "10"),
            ("worsening", "13"),
        ]
        levels = [
            [round(float(np.asarray(f.load()).mean())) for f in s.frames] for s in data
        ]
        np.testing.assert_allclose(levels, [[0, 100], [20, 120], [80, 180]], atol=2)
        assert data.facts["groups"].startswith("2 of 3 samples, by patient")
        assert [s.label for s in self.open(stable=True)] == [p for _, p in PAIRS if p]
        assert len(self.open(finding="edema", stable=True)) == 5

    def test_a_pair_with_one_image_missing_is_left_out(self):
        with self.copy() as root:
            (root / "files" / f"{name('13', 8)}.jpg").unlink()  # the earlier one
            assert "1 of 3 images" in self.open(root).facts["left out"]
            assert len(self.open(root)) == 2
