"""`cuescope covar build`: what must stay stays, a kill costs nothing, a mistake is one line."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cuescope.cli import main
from cuescope_covar import Covar
from cuescope_covar_build.composite import Composite
from cuescope_covar_build.files import BuildFolder
from cuescope_sdk import Context, Frame, ImageEdit, UserError, generator, read_sealed
from cuescope_sdk.data import CovarManifest, CovarRow

Line = Callable[..., str]
SIZE = (64, 96)  # row, col
VARIANTS = 10  # without viewpoints: five, four scales, and the background itself
PLACES = ("beach", "farmyard", "savanna")

# The command line with an editor that takes its time: each edit is written down as it is made, and
# the seventh takes so long that a kill meets it.
SLOW = """
import os, time
from functools import partial
from cuescope.cli import main
from cuescope_covar_build import opening
from cuescope_covar_build.composite import Composite
from cuescope_sdk.editing._edits import edit_key

Composite.instant, keep = False, opening.cached_editor

def edit(editor, edits):
    with open(os.environ["LOG"], "a") as log:
        made = [line for line in open(os.environ["LOG"]) if line.startswith("made")]
        if len(made) == int(os.environ["HANG"]):
            print("hangs", file=log, flush=True)
            time.sleep(60)
        print("made", *(edit_key(edit, "") for edit in edits), file=log)
    return Composite.edit(editor, edits)

def slow(editor, context):
    editor.edit = partial(edit, editor)
    return keep(editor, context)

opening.cached_editor = slow
main()
"""


def write_photos(folder: Path, labels: Sequence[str] = ("hen", "zebra")) -> Path:
    """A photo of noise a label, with a blob as its object, as a folder data set with masks."""
    rng, rows = generator(0, "photos"), []
    folder.mkdir(parents=True)
    for label in labels:
        Image.fromarray(rng.integers(0, 256, (*SIZE, 3), np.uint8)).save(
            folder / f"{label}.png"
        )
        mask = np.zeros(SIZE, bool)
        mask[20:44, 30:58] = True
        mask[20:26, 30:36] = False
        Image.fromarray(mask).save(folder / f"{label}-mask.png")
        rows.append(
            {"path": f"{label}.png", "label": label, "mask": f"{label}-mask.png"}
        )
    (folder / "manifest.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    return folder


@pytest.fixture
def cuescope(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Line:
    """What a command prints, both streams, in a folder with photos and a list of backgrounds."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write_photos(tmp_path / "photos")
    (tmp_path / "places.yaml").write_text("".join(f"- {name}\n" for name in PLACES))

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["covar", "build", *words])
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        return out + err

    return said


BUILD = (
    "folder:photos",
    "--backgrounds",
    "places.yaml",
    "--no-filter",
    "--out",
    "covar",
)


def image(folder: Path, row: CovarRow) -> np.ndarray:
    return np.asarray(Image.open(folder / row.image))


def mask(folder: Path, row: CovarRow) -> np.ndarray:
    return np.asarray(Image.open(folder / row.mask)) > 0


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_covar_of_ones_own_photos(cuescope: Line, tmp_path: Path) -> None:
    said = cuescope(*BUILD)
    assert "62 images: 2 original, 6 background, 6 h-flip" in said
    assert "viewpoint is left out" in said
    folder = tmp_path / "covar"
    rows = {row.key: row for row in CovarManifest.read(folder).rows}
    assert Counter(row.subset for row in rows.values())["scale"] == 24
    photo, blob = (np.asarray(Image.open(f"photos/hen{n}.png")) for n in ("", "-mask"))
    object_pixels = photo[blob]
    on_beach = rows["hen.png--beach--background"]
    pixels = image(folder, on_beach)
    assert (pixels[blob] == object_pixels).all()
    assert (pixels != photo)[~blob].any(axis=-1).mean() > 0.9
    # A flip and a shift move the object's pixels and change none.
    for name in ("h-flip", "v-flip", "translate"):
        row = rows[f"hen.png--beach--{name}"]
        moved, seen = image(folder, row), mask(folder, row)
        right, down = (
            json.loads(row.parameters).get(key, 0) for key in ("right", "down")
        )
        there = np.pad(blob, SIZE[0])[
            SIZE[0] - down : 2 * SIZE[0] - down,
            SIZE[0] - right : SIZE[0] - right + SIZE[1],
        ]
        flipped = {"h-flip": np.fliplr, "v-flip": np.flipud}.get(name, np.asarray)
        assert (seen == flipped(there)).all()
        assert row.kept_exactly
        if name != "translate":
            assert (moved == flipped(pixels)).all()
        else:
            assert (moved[seen] == np.roll(pixels, (down, right), (0, 1))[seen]).all()
    for scale in (1.5, 2, 4, 8):
        row = rows[f"hen.png--beach--scale-{scale:g}"]
        seen = mask(folder, row)
        assert np.sqrt(blob.sum() / seen.sum()) == pytest.approx(scale, rel=0.2)
        middle = np.argwhere(seen).mean(axis=0) + 0.5
        assert abs(middle - np.array(SIZE) / 2).max() < 4
    # Again nothing is made, and in another folder all is the same to the byte.
    before = content(folder)
    cuescope(*BUILD)
    assert content(folder) == before
    cuescope(*BUILD[:-1], "other")
    assert content(tmp_path / "other") == before
    assert "covar holds a build with another seed" in cuescope(
        *BUILD, "--seed", "1", code=2
    )


def test_a_plan_counts_and_writes_nothing(cuescope: Line, tmp_path: Path) -> None:
    said = json.loads(cuescope(*BUILD, "--plan", "--json"))
    assert (said["photos"], said["images"], said["made"]) == (2, 62, 0)
    assert said["edits"] == {"composite": 42}
    assert said["seconds"] > 0
    assert not (tmp_path / "covar").exists()
    # a line each, and no line end that is written out
    lines = cuescope(*BUILD, "--plan").splitlines()
    assert any(line.startswith("photos ") for line in lines)
    assert any(line.startswith("disk ") for line in lines)
    cuescope(*BUILD, "--limit", "1")
    assert json.loads(cuescope(*BUILD, "--plan", "--json"))["made"] == 31


def test_viewpoints_are_said_to_be_uncontrolled(
    cuescope: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    edit_known = Composite.edit

    def edit(editor: Composite, edits: Sequence[ImageEdit]) -> list[Frame]:
        return [
            edit_known(editor, [each])[0]
            if each.mask is not None
            else Frame.from_array(255 - np.asarray(each.frame.load()))
            for each in edits
        ]

    monkeypatch.setattr(Composite, "edit", edit)
    assert "12 viewpoint" in cuescope(*BUILD, "--viewpoint-editor", "composite")
    rows = [
        row
        for row in CovarManifest.read(tmp_path / "covar").rows
        if row.subset == "viewpoint"
    ]
    assert {row.kept_exactly for row in rows} == {False}
    assert {row.mask for row in rows} == {""}
    assert len({row.prompt for row in rows}) > 2
    assert all("Show the same " in row.prompt for row in rows)


@pytest.mark.long
def test_killed_and_the_same_manifest(cuescope: Line, tmp_path: Path) -> None:
    """No edit is made twice, and a line that was torn is no row."""
    cuescope(*BUILD)
    log = tmp_path / "log"
    log.touch()

    def start(hang: int) -> "subprocess.Popen[bytes]":
        env = {**os.environ, "LOG": str(log), "HANG": str(hang)}
        words = [sys.executable, "-c", SLOW, "covar", "build", *BUILD[:-1], "killed"]
        return subprocess.Popen(
            words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    process, deadline = start(30), time.monotonic() + 60
    while log.read_text().splitlines()[-1:] != ["hangs"]:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    with (tmp_path / "killed/.journal.jsonl").open("a") as journal:
        journal.write('{"image": "torn')
    process = start(-1)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    made = [line for line in log.read_text().splitlines() if line != "hangs"]
    assert len(made) == len(set(made)) == 42
    assert content(tmp_path / "killed") == content(tmp_path / "covar")


def damage(photo: np.ndarray | None = None, outline: np.ndarray | None = None) -> None:
    if photo is not None:
        Image.fromarray(photo).save("photos/hen.png")
    if outline is not None:
        Image.fromarray(outline).save("photos/hen-mask.png")


def without_mask() -> None:
    lines = Path("photos/manifest.jsonl").read_text().replace('"mask"', '"other"')
    Path("photos/manifest.jsonl").write_text(lines)


@pytest.mark.parametrize(
    ("prepare", "words", "line"),
    [
        (
            without_mask,
            (),
            "image 'hen.png': expected a mask of its object, got none. Data with",
        ),
        (
            lambda: damage(outline=np.zeros(SIZE, bool)),
            (),
            "expected a mask with the object in a part of the image, got an empty one",
        ),
        (
            lambda: damage(outline=np.ones(SIZE, bool)),
            (),
            "got one that covers the whole image",
        ),
        (
            lambda: damage(outline=np.ones((9, 9), bool)),
            (),
            "expected a mask of 64 x 96 (rows x columns), as its image, got 9 x 9",
        ),
        (
            lambda: damage(np.zeros((1, 1, 3), np.uint8), np.ones((1, 1), bool)),
            (),
            "expected sides of 32 to 8,192 pixels, got 1 x 1",
        ),
        (
            lambda: damage(
                np.zeros((40, 20_000, 3), np.uint8), np.eye(40, 20_000, dtype=bool)
            ),
            (),
            "got 20,000 x 40. --side 1024 shrinks larger images",
        ),
        (
            None,
            ("--classes", "hem"),
            "no class 'hem': expected one of hen, zebra. Did you mean",
        ),
        (
            None,
            ("--scales", "2,0.5"),
            "--scales 2,0.5: expected numbers above 1, up to 16",
        ),
        (
            None,
            ("-O", "tool.editr.feather=1"),
            "-O tool.editr: no tool has this role here. Did you mean",
        ),
        (
            None,
            ("-O", "tool.editor.feather=65"),
            "composite: option 'feather': expected less than",
        ),
        (
            None,
            ("--editor", "composite:nowhere"),
            "composite: no such folder: expected a folder of",
        ),
        (
            lambda: Path("places.yaml").write_text("- kitchen\n"),
            (),
            "composite: no background for 'kitchen': expected words of one of beach",
        ),
        (
            lambda: Path("places.yaml").write_text("- {nme: beach}\n"),
            (),
            "places.yaml: background 1: expected a name, or {name: ..., prompt: ...}",
        ),
        (
            lambda: Path("covar").mkdir() or Path("covar/x").touch(),
            (),
            "without build.json",
        ),
    ],
)
def test_a_mistake_is_one_line(
    cuescope: Line, prepare: Callable[[], None] | None, words: Sequence[str], line: str
) -> None:
    if prepare is not None:
        prepare()
    said = cuescope(*BUILD, *words, code=2)
    assert line in said
    assert len(said.strip().splitlines()) == 1


def test_a_full_disk_loses_nothing(cuescope: Line, tmp_path: Path) -> None:
    """The limit on a file's size is what a disk without space looks like to a program."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE[0] * SIZE[1], hard))
    try:
        said = cuescope(*BUILD, code=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (
        "cannot write to covar: got a full disk. 0 images are kept. Free space" in said
    )
    cuescope(*BUILD)
    assert len(CovarManifest.read(tmp_path / "covar").rows) == 62


def repaint(file: Path) -> None:
    Image.fromarray(255 - np.asarray(Image.open(file))).save(file)


def covar_data(folder: Path) -> Covar:
    return Covar(Covar.Options(path=folder), Context(cache=folder.parent / "cache"))


def test_changed_pictures_are_refused_and_made_again(
    cuescope: Line, tmp_path: Path
) -> None:
    """Edited, deleted, taken for another; a picture, a mask, and a whole background's."""
    folder = tmp_path / "covar"
    cuescope(*BUILD)
    before = content(folder)
    changed = [
        row
        for row in CovarManifest.read(folder).rows
        if row.key.startswith("hen.png--beach--")
    ]
    flipped, moved, turned = (folder / row.image for row in changed[1:4])
    repaint(flipped)
    repaint(folder / changed[4].mask)
    moved.unlink()
    turned.rename(turned.with_name("renamed.png"))
    with pytest.raises(
        UserError, match=f"covar: {flipped} is not .* `cuescope covar build"
    ) as error:
        covar_data(folder)
    assert "\n" not in str(error.value)
    said = cuescope(*BUILD)
    assert "4 images made again, since their files were changed" in said
    turned.with_name("renamed.png").unlink()
    assert content(folder) == before
    assert len(covar_data(folder)) == 62


def test_a_killed_build_whose_pictures_were_changed(
    cuescope: Line, tmp_path: Path
) -> None:
    """The manifest is not there yet: the journal knows what the pictures were."""
    folder = tmp_path / "covar"
    cuescope(*BUILD)
    before = content(folder)
    rows = CovarManifest.read(folder).rows
    for name in ("covar.parquet", "grid.png"):
        (folder / name).unlink(missing_ok=True)
    BuildFolder(folder, json.loads((folder / "build.json").read_text())).add(rows)
    journal = folder / ".journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text(
        "".join([lines[0].replace("hen", "cat"), *lines[1:], '{"row": {"im'])
    )
    repaint(folder / rows[5].image)
    cuescope(*BUILD)
    assert content(folder) == before


@pytest.mark.filterwarnings("default:images that it lists")
@pytest.mark.parametrize(
    "damage", ["edited", pytest.param("without a checksum", marks=pytest.mark.long)]
)
def test_a_table_that_is_not_as_it_was_written_is_written_again(
    cuescope: Line, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "covar"
    cuescope(*BUILD)
    before = content(folder)
    table = folder / "covar.parquet"
    if damage == "edited":
        table.write_bytes(table.read_bytes().replace(b"beach", b"bench"))
    else:
        table.write_bytes(read_sealed(table))
    with pytest.raises(
        UserError, match="`cuescope covar build` with the same words writes it"
    ):
        covar_data(folder)
    assert "images that it lists are made again" in cuescope(*BUILD)
    assert content(folder) == before
