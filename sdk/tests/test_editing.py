"""Kept pixels, checks of edits, and edited images that outlive their process."""

import errno
import pickle
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from cuescope_core.atomic_files import Draft
from cuescope_core.checksummed_files import with_seal
from cuescope_core.errors import PlanStopped
from cuescope_sdk import BadDataError, Context, Frame, ImageEdit, UserError, generator
from cuescope_sdk.editing import EditableImage, cached_editor, keep_outside
from cuescope_sdk.editing._cached_editor import PACE, CachedEditor


def noise(seed: int, width: int = 40, height: int = 30) -> Image.Image:
    drawn = generator(seed, "noise").integers(
        0, 256, (height, width, 3), dtype=np.uint8
    )
    return Image.fromarray(drawn)


class Painter:
    """Fills the mask with a colour drawn by the seed; `asked` are the seeds that it was given."""

    fingerprint = "painter"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        frames = []
        for edit in edits:
            opened = EditableImage.open("painter", edit)
            self.asked.append(edit.seed)
            painted = Image.new("RGB", opened.source.size, (edit.seed % 256, 0, 0))
            frames.append(opened.frame(painted, self.fingerprint))
        return frames


def some_edits(count: int) -> list[ImageEdit]:
    mask = np.zeros((30, 40), dtype=bool)
    mask[5:20, 10:35] = True
    frame = Frame.from_array(np.asarray(noise(1)))
    return [ImageEdit(frame, "paint it", mask, seed) for seed in range(count)]


def test_the_seam_lies_within_the_mask() -> None:
    """A brute-force seam, on a mask with two parts, one at the image's border."""
    source, edited = noise(1), noise(2)
    mask = np.zeros((30, 40), dtype=bool)
    mask[0:18, 0:15] = mask[12:14, 30:38] = True
    result = np.asarray(keep_outside(source, edited, mask, feather=3)).astype(float)
    before, after = (np.asarray(image).astype(float) for image in (source, edited))
    kept = np.argwhere(~mask)
    assert np.array_equal(result[~mask], before[~mask])
    for row, col in np.argwhere(mask):
        away = np.hypot(*(kept - (row, col)).T)
        share = min(away.min() / 4, 1.0)
        # any of the nearest
        around = before[tuple(kept[np.isclose(away, away.min())].T)]
        wanted = share * after[row, col] + (1 - share) * around
        assert np.abs(wanted - result[row, col]).max(axis=1).min() <= 0.5
    # no seam at the border of the image
    assert np.array_equal(result[3, 3], after[3, 3])


def test_what_lay_under_the_mask_does_not_shine_through() -> None:
    mask = np.asarray(ndimage.binary_dilation(np.pad([[True]], 14), iterations=6))
    source, edited = noise(1, 29, 29), noise(2, 29, 29)
    blackened = Image.fromarray(
        np.where(mask[..., None], 0, np.asarray(source)).astype(np.uint8)
    )
    seams = [
        keep_outside(image, edited, mask, feather=4) for image in (source, blackened)
    ]
    assert np.array_equal(*map(np.asarray, seams))


@pytest.mark.parametrize(
    ("size", "mask", "words"),
    [
        ((1, 1), np.ones((1, 1), bool), "sides of 8 to 8192 pixels, got 1 x 1"),
        ((20_000, 20), None, "got 20000 x 20"),
        ((40, 30), np.ones((40, 30), bool), r"\(30, 40\), got bool of \(40, 30\)"),
        ((40, 30), np.ones((30, 40), np.uint8), "got uint8"),
        ((40, 30), np.zeros((30, 40), bool), "an empty mask lets no pixel change"),
    ],
)
def test_what_cannot_be_edited_is_told(
    size: tuple[int, int], mask: np.ndarray | None, words: str
) -> None:
    frame = Frame.from_array(np.zeros((*size[::-1], 3), np.uint8))
    with pytest.raises(BadDataError, match=words):
        EditableImage.open("painter", ImageEdit(frame, "paint it", mask))


def test_no_edit_is_made_twice(tmp_path: Path) -> None:
    """A build that was killed after two edits; then one file is cut, and one bit is flipped."""
    context, edits, first = Context(cache=tmp_path), some_edits(5), Painter()
    cached_editor(first, context).edit(edits[:2])
    painter = Painter()
    editor = cached_editor(painter, context)
    frames = editor.edit([*edits, edits[4]])
    assert painter.asked == [2, 3, 4]
    direct = [frame.load() for frame in Painter().edit(edits)]
    sent = pickle.loads(pickle.dumps(frames))
    assert [
        np.array_equal(a.load(), b) for a, b in zip(sent, direct, strict=False)
    ] == [True] * 5
    assert [frame.key for frame in frames[:5]] == [
        frame.key for frame in Painter().edit(edits)
    ]
    assert len({frame.key for frame in frames}) == 5

    files = {frame.key: next(tmp_path.rglob(f"{frame.key}.png")) for frame in frames}
    cut, flipped = files[frames[0].key], files[frames[3].key]
    cut.write_bytes(cut.read_bytes()[:-20])
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    with pytest.raises(BadDataError, match=r"is damaged.*it is made anew"):
        frames[3].load()
    editor.edit(edits)
    assert painter.asked == [2, 3, 4, 0, 3]
    assert np.array_equal(frames[3].load(), direct[3])
    assert not list(tmp_path.rglob("*.png.*"))


def png(width: int, height: int, data: bytes, text: bytes = b"") -> bytes:
    """A PNG that says what it likes of itself."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content).to_bytes(4, "big")
        return len(content).to_bytes(4, "big") + kind + content + checksum

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    parts = [chunk(b"IHDR", size + bytes((8, 2, 0, 0, 0)))]
    if text:
        parts.append(chunk(b"zTXt", b"k\0\0" + zlib.compress(text)))
    parts += [chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


PIXELS = bytes(30 * (1 + 3 * 40))
FORGED = {
    "more pixels than memory": png(20_000, 20_000, b""),
    "a side too long": png(9_000, 8, b""),
    "another size": png(8, 8, bytes(8 * (1 + 3 * 8))),
    "no size": png(0, 30, b""),
    "no image": b"hello IEND",
    "a text without end": png(40, 30, PIXELS, bytes(2**24)),
    "pixels that are not there": png(40, 30, b"abc"),
}


@pytest.mark.parametrize("case", FORGED)
def test_an_edit_of_a_stranger_is_made_anew(tmp_path: Path, case: str) -> None:
    """Its seal fits: whoever mails a cache can compute it."""
    editor = CachedEditor(Painter(), Context(cache=tmp_path))
    edits = some_edits(1)
    [frame] = editor.edit(edits)
    painted = frame.load()
    file = next(tmp_path.rglob("*.png"))
    file.write_bytes(with_seal(file.name, FORGED[case]))
    [frame] = editor.edit(edits)
    # nobody looks at pixels before they are needed
    if case == "pixels that are not there":
        with pytest.raises(BadDataError, match="it is made anew"):
            frame.load()
        [frame] = editor.edit(edits)
    assert np.array_equal(frame.load(), painted)


@pytest.mark.parametrize(
    "content",
    [
        '{"auto": [0, 1]}',
        '{"auto": [1, 1e999]}',
        '{"auto": [1, NaN]}',
        '{"auto": [1]}',
        "[" * 100_000,
        "1" * 5_000,
    ],
)
def test_a_pace_of_a_stranger_is_none(tmp_path: Path, content: str) -> None:
    editor = CachedEditor(Painter(), Context(cache=tmp_path))
    editor.folder.mkdir(parents=True)
    (editor.folder / PACE).write_text(content)
    assert editor.seconds_each is None
    editor.edit(some_edits(1))
    assert editor.seconds_each is not None


def test_an_image_of_other_pixels_is_no_edit(tmp_path: Path) -> None:
    """Whole PNG files all of them: one that somebody drew, and one of another edit."""
    editor = CachedEditor(Painter(), Context(cache=tmp_path))
    edits = some_edits(3)
    frames = editor.edit(edits)
    drawn, other, third = (next(tmp_path.rglob(f"{frame.key}.png")) for frame in frames)
    Image.new("RGB", frames[0].load().size).save(drawn)
    other.write_bytes(third.read_bytes())
    for frame in frames[:2]:
        with pytest.raises(BadDataError, match="is damaged"):
            frame.load()
    editor.edit(edits)
    assert editor.made == 5
    assert third.read_bytes().startswith(b"\x89PNG")
    with Image.open(third) as image:
        assert image.text.keys() == {"cuescope"}  # other programs read it


def test_a_plan_tells_the_measured_pace(tmp_path: Path) -> None:
    context, edits = Context(cache=tmp_path, device="cpu"), some_edits(4)
    editor = CachedEditor(Painter(), context)
    assert editor.seconds_each is None
    editor.edit(edits[:2])
    assert (CachedEditor(Painter(), context).seconds_each or 0) > 0
    planned = Painter()
    with pytest.raises(PlanStopped, match="2 edits of images"):
        CachedEditor(planned, replace(context, planning=True)).edit(edits)
    assert not planned.asked


def test_a_full_disk_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, edits, painter = Context(cache=tmp_path), some_edits(4), Painter()
    keep, kept = Draft.keep, list[Path]()

    def until_full(draft: Draft) -> None:
        if len(kept) == 4:  # two images, each with its pace
            raise OSError(errno.ENOSPC, "No space left on device")
        kept.append(draft.path)
        keep(draft)

    monkeypatch.setattr(Draft, "keep", until_full)
    with pytest.raises(
        UserError, match=r"got a full disk\. Free space, or set CUESCOPE_CACHE"
    ):
        cached_editor(painter, context).edit(edits)
    monkeypatch.undo()
    assert not [file for file in tmp_path.rglob("*") if "draft" in file.name]
    again = Painter()
    cached_editor(again, context).edit(edits)
    assert again.asked == [2, 3]
