"""Each family through the plugin: answers, embeddings, edits, or a refusal that the plan knows."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import every_family

ENCODER = "before the encoder"
DOOR = "at the door"
# of unlike shape: features for later layers and positions in three axes, linear layers, a
# resampler, slices of an image, a resampler of few keys, convolutions, types of tokens that open
# the mask; where tokens are hidden, whether they lie on a grid, whether attention is averaged
QUICK = {
    "qwen3_vl": (ENCODER, True, True),
    "qwen3_5": (ENCODER, True, False),
    "idefics2": (ENCODER, False, True),
    "minicpmv4_6": (ENCODER, False, False),
    "molmo2": (ENCODER, False, True),
    "got_ocr2": (DOOR, False, True),
    "gemma3": (ENCODER, True, True),
}
HIDE = 77  # families that hide tokens


@pytest.mark.parametrize("kind", QUICK)
def test_a_family_does_what_its_plan_says(kind: str, tmp_path: Path) -> None:
    row = every_family.examine(kind, every_family.parts_of(kind, tmp_path))
    assert row.answers == row.embeds == "yes"
    assert (row.hides, bool(row.patches), bool(row.averages)) == QUICK[kind]
    assert bool(row.refuses) != bool(row.averages)


def test_what_reads_no_question_or_sees_nothing_is_refused(tmp_path: Path) -> None:
    for kind, words in (
        ("pix2struct", "reads no question"),
        ("mistral4", "sees no picture"),
        ("pp_formulanet", "reads no question"),
        ("instructblipvideo", "cannot be shown frames"),
    ):
        row = every_family.examine(kind, every_family.parts_of(kind, tmp_path))
        assert words in row.refuses
        assert not row.answers


@pytest.mark.long
def test_every_family_does_what_its_plan_says(tmp_path: Path) -> None:
    """And the page of families says it."""
    rows = [
        every_family.examine(kind, every_family.parts_of(kind, tmp_path))
        for kind in every_family.FAMILIES
    ]
    assert sum(bool(row.hides) for row in rows) >= HIDE
    assert every_family.DOCS.read_text() == every_family.table(rows)
