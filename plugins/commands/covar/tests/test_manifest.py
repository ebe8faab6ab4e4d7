"""What a build writes is what the data set `covar` reads."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cuescope_covar_build.files import JOURNAL, SETTINGS, BuildFolder, _journal_line
from cuescope_sdk import Context, DamagedFileError, UserError
from cuescope_sdk.data import CovarManifest, CovarRow

ROW = CovarRow(
    image="images/hen.png",
    mask="masks/hen.png",
    key="hen",
    source="folder:./photos",
    source_key="hen.jpg",
    group="farm",
    label="hen",
    background="beach",
    subset="scale",
    variant="scale-4",
    parameters=json.dumps({"scale": 4.0}),
    prompt="a beach",
    seed=7,
    editor="composite",
    editor_fingerprint="f",
    licence="CC0",
    kept_exactly=True,
    score_kept=0.5,
)
LOST = replace(ROW, key="lost", image="", mask="", dropped="a seam", score_seam=2.0)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = BuildFolder(tmp_path / "covar", {})
    folder.begin()
    mask = np.zeros((32, 48), bool)
    mask[8:16, 8:24] = True
    image_digest = folder.write_picture(ROW.image, np.full((32, 48, 3), 90, np.uint8))
    mask_digest = folder.write_picture(ROW.mask, mask)
    row = replace(ROW, image_digest=image_digest, mask_digest=mask_digest)
    CovarManifest([row, LOST], ("hen", "ox")).write(folder.folder)
    return folder.folder


def test_the_data_set_shows_what_was_written(built: Path) -> None:
    data = Context().build("dataset", f"covar:{built}")
    assert data.facts["dropped"].endswith("scale: 1 (1 seam or leaked colour)")
    [sample] = list(data)
    assert (sample.key, sample.label, sample.group) == ("hen", "hen", "farm")
    assert sample.choices == ("hen", "ox")
    shown = sample.annotations
    assert shown["factors"] == {
        "background": "beach",
        "subset": "scale",
        "variant": "scale-4",
        "scale": "4",
    }
    for name in ("source", "source_key", "prompt", "editor", "licence", "kept_exactly"):
        assert shown[name] == getattr(ROW, name)
    assert np.asarray(shown["foreground"].load()).any(axis=2).sum() == 8 * 16


def test_a_manifest_comes_back_as_it_was_written(built: Path, tmp_path: Path) -> None:
    manifest = CovarManifest.read(built)
    assert manifest.rows[1] == LOST
    assert manifest.choices == ("hen", "ox")
    manifest.write(tmp_path)
    name = CovarManifest.NAME
    assert (tmp_path / name).read_bytes() == (built / name).read_bytes()


def test_a_manifest_that_was_changed_is_refused(built: Path) -> None:
    table = built / CovarManifest.NAME
    table.write_bytes(table.read_bytes().replace(b"beach", b"bench"))
    with pytest.raises(DamagedFileError, match="covar build"):
        CovarManifest.read(built)


@pytest.mark.parametrize(
    "changes",
    [
        {"image": "/dev/zero"},
        {"image": "../../secret.png"},
        {"image": 5},
        {"key": 5},
        {"subset": "tilt"},
        {"parameters": "[1]"},
        {"seed": 10**30},
    ],
)
def test_a_row_of_a_journal_that_no_build_writes_is_made_again(
    built: Path, changes: dict
) -> None:
    """Its seal fits, which whoever mails the folder can compute."""
    sound = replace(ROW, key="sound")
    forged = replace(ROW, **{"key": "forged", **changes})
    lines = [_journal_line(forged), "[" * 100_000 + "\n", _journal_line(sound)]
    (built / JOURNAL).write_text("".join(lines))
    assert set(BuildFolder(built, {}).rows) == {"hen", "lost", "sound"}


def test_settings_that_are_none_are_one_line(built: Path) -> None:
    (built / SETTINGS).write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"build\.json cannot be read"):
        BuildFolder(built, {})
