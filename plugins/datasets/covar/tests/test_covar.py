"""A folder that a build wrote becomes samples; each mistake in it is one line."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cuescope_covar import Covar
from cuescope_sdk import Context, UserError, write_sealed
from cuescope_sdk.data import CovarManifest, CovarRow
from cuescope_sdk.explain import foreground_of
from cuescope_testing import DatasetContract

MANIFEST = CovarManifest.NAME
BACKGROUNDS = ("beach", "farmyard")


def row(label: str, background: str, subset: str, **changes) -> CovarRow:
    name = f"{label}-{background}-{subset}"
    made = CovarRow(
        image=f"images/{name}.png",
        mask=f"masks/{name}.png",
        key=name,
        source="folder:./photos",
        source_key=f"{label}.jpg",
        group=label,
        label=label,
        background=background,
        subset=subset,
        variant=subset,
        parameters=json.dumps({"scale": 4.0} if subset == "scale" else {}),
        prompt=background,
        seed=0,
        editor="composite",
        editor_fingerprint="f",
        licence="",
        kept_exactly=True,
        dropped="",
        image_digest="",
        mask_digest="",
        score_kept=0.1,
        score_found=0.1,
        score_background=None,
        score_else=0.1,
        score_changed=0.1,
        score_seam=0.1,
    )
    return replace(made, **changes)


def write_manifest(
    folder: Path, rows: Sequence[CovarRow], choices: Sequence[str]
) -> None:
    """As `cuescope covar build` writes it: its own tests read what it wrote by this data set."""
    table = pa.Table.from_pylist([asdict(row) for row in rows])
    content = BytesIO()
    pq.write_table(
        table.replace_schema_metadata({"choices": json.dumps(choices)}), content
    )
    write_sealed(folder / MANIFEST, content.getvalue())


def picture_digest(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


def write_covar(folder: Path) -> list[CovarRow]:
    """Two objects on two backgrounds in two subsets; one image is dropped."""
    rng = np.random.default_rng(0)
    rows = [
        row(label, background, subset)
        for label in ("hen", "zebra")
        for background in BACKGROUNDS
        for subset in ("background", "scale")
    ]
    rows[-1] = replace(rows[-1], dropped="a seam", score_seam=3.5)
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True)
    for each in rows:
        pixels = rng.integers(0, 256, (32, 48, 3), np.uint8)
        Image.fromarray(pixels).save(folder / each.image)
        mask = np.zeros((32, 48), bool)
        mask[8:16, 8:24] = True
        Image.fromarray(mask).save(folder / each.mask)
    rows = [
        replace(
            each,
            image_digest=picture_digest(folder / each.image),
            mask_digest=picture_digest(folder / each.mask),
        )
        for each in rows
    ]
    write_manifest(folder, rows, ("hen", "ox", "zebra"))
    return rows


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("covar")
    write_covar(folder)
    return folder


def covar(folder: Path, **options) -> Covar:
    return Covar(Covar.Options(path=folder, **options), Context())


PICTURE, MASK = "images/hen-beach-scale.png", "masks/hen-beach-scale.png"


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)


def repaint(file: Path) -> None:
    """Another picture of the same size."""
    pixels = np.asarray(Image.open(file).convert("RGB"))
    Image.fromarray(255 - pixels).save(file)


def swap(file: Path, other: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(other.read_bytes())
    other.write_bytes(content)


class TestContract(DatasetContract):
    plugin = Covar
    split_names = ("test",)

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _folder(cls, built: Path) -> None:
        cls.options = {"path": built}
        cls.other_options = {"path": built, "subset": ("scale",)}


def test_a_sample_says_how_it_was_made(built: Path) -> None:
    data = covar(built)
    assert len(data) == 7
    assert data.facts["dropped"] == (
        "1 of 8 images by the quality filter: scale: 1 (1 seam or leaked colour)"
    )
    sample = next(s for s in data if s.annotations["factors"]["subset"] == "scale")
    assert (sample.label, sample.choices, sample.group) == (
        "hen",
        ("hen", "ox", "zebra"),
        "hen",
    )
    assert sample.annotations["factors"]["scale"] == "4"
    mask = foreground_of(sample)
    assert mask is not None
    assert mask.sum() == 8 * 16
    assert len(covar(built, keep_all=True)) == 8
    assert {s.annotations["dropped"] for s in covar(built, keep_all=True)} == {
        "",
        "a seam",
    }


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda f: (f / MANIFEST).unlink(), "no covar.parquet in"),
        (
            lambda f: flip(f / MANIFEST),
            "got other content. `cuescope covar b",
        ),
        (
            lambda f: (f / MANIFEST).write_bytes(b"PAR1 no"),
            "got no checksum in it",
        ),
        (
            lambda f: write_sealed(f / MANIFEST, b"PAR1 no"),
            "covar.parquet cannot be read: got",
        ),
        (
            lambda f: (f / PICTURE).unlink(),
            f"{PICTURE} is not the picture .* got no such file",
        ),
        (
            lambda f: (f / PICTURE).rename(f / "images/x.png"),
            f"{PICTURE} is not .* no such file",
        ),
        (
            lambda f: repaint(f / PICTURE),
            f"{PICTURE} is not the picture .* got other content",
        ),
        (
            lambda f: repaint(f / MASK),
            f"{MASK} is not .* covar build .* with the same words",
        ),
        (
            lambda f: (f / PICTURE).write_bytes(b"no"),
            f"{PICTURE} is not .* got other content",
        ),
        (
            lambda f: swap(f / PICTURE, f / "images/zebra-beach-scale.png"),
            "got other content",
        ),
        (
            lambda f: write_manifest(f, [row("hen", "beach", "tilt")], ()),
            "row 1: subset: expected one of background, h-flip",
        ),
        (
            lambda f: write_manifest(
                f, [row("hen", "beach", "crop", image="../x.png")], ()
            ),
            "row 1: image: expected a file inside the folder, got '../x.png'",
        ),
        (
            lambda f: write_manifest(
                f, [row("hen", "beach", "crop", parameters="[1]")], ()
            ),
            r"row 1: parameters: expected a JSON object .* got \[1\]",
        ),
        *[
            (
                lambda f, parameters=parameters: write_manifest(
                    f, [row("hen", "beach", "scale", parameters=parameters)], ()
                ),
                "row 1: parameters: expected a JSON object",
            )
            for parameters in (
                '{"scale": "x"}',
                '{"scale": null}',
                "[" * 100_000,
                '{"view": "\\ud800"}',
                '{"scale": 1' + "0" * 400 + "}",
            )
        ],
        *[
            (
                lambda f, choices=choices: write_manifest(
                    f, [row("hen", "beach", "crop")], choices
                ),
                "covar.parquet: choices: expected a list of different answers",
            )
            for choices in (5, "hen", ["ox"], ["hen", "hen"], ["hen", 1], {"hen": 1})
        ],
        (
            lambda f: write_manifest(f, [row("hen", "beach", "crop", group=None)], ()),
            "row 1: group: expected str, got None",
        ),
        (
            lambda f: write_manifest(
                f, [row("hen", "beach", "crop", score_seam="high")], ()
            ),
            "row 1: score_seam: expected float . None, got 'high'",
        ),
    ],
)
def test_damage_is_told_in_one_line(tmp_path: Path, damage, line: str) -> None:
    write_covar(tmp_path)
    covar(tmp_path)  # pictures that were looked at once are looked at again
    damage(tmp_path)
    with pytest.raises(UserError, match=line) as caught:
        covar(tmp_path)
    assert "\n" not in str(caught.value)


def test_some_pictures_may_be_gone_but_none_may_be_another(tmp_path: Path) -> None:
    write_covar(tmp_path)
    (tmp_path / PICTURE).unlink()
    assert len(covar(tmp_path, max_missing=0.5)) == 6
    repaint(tmp_path / "images/zebra-beach-scale.png")
    with pytest.raises(UserError, match="got other content"):
        covar(tmp_path, max_missing=0.5)


def test_a_picture_that_is_edited_after_it_was_listed_is_not_shown(
    tmp_path: Path,
) -> None:
    write_covar(tmp_path)
    samples = {sample.key: sample for sample in covar(tmp_path)}
    repaint(tmp_path / PICTURE)
    with pytest.raises(UserError, match="has changed since it was listed"):
        samples["hen-beach-scale"].frames[0].load()
