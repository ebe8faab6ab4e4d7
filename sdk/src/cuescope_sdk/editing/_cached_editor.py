"""Edited images kept in the user's cache: no edit is made twice, and a killed build goes on.

editor = cached_editor(context.build("tool", "inpaint:MODEL", options), context)
print(editor.plan(edits))
frames = editor.edit(edits)
"""

import errno
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from shutil import disk_usage
from typing import Any

from PIL import Image

from cuescope_core.atomic_files import Draft
from cuescope_core.capabilities import ImageEdit, ImageEditor
from cuescope_core.checksummed_files import read_sealed, with_seal
from cuescope_core.context import Context
from cuescope_core.errors import BadDataError, PluginError, UserError
from cuescope_core.types import Frame
from cuescope_sdk.editing._edits import LARGEST_SIDE, edit_key
from cuescope_sdk.editing._plan import EditPlan, Pace, read_pace, with_pace

FOLDER = "edits"
PACE = "pace.json"
EDITS = "images edited"
COMPRESSION = 1  # zlib's level: 6 takes three times as long, for files a tenth smaller
ESTIMATE = 2.0  # bytes a pixel of a photo as such a PNG
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def cached_editor(editor: ImageEditor, context: Context) -> "CachedEditor":
    """The editor with its edited images on the disk.

    Raises PluginError for an editor without a `fingerprint`, whose images nothing can name.
    """
    return editor if isinstance(editor, CachedEditor) else CachedEditor(editor, context)


class CachedEditor:
    """An `ImageEditor` that asks the real one only for what is not on the disk yet.

    Files are lossless PNG in `edits/FINGERPRINT/` of the cache folder, named by source pixels,
    editor, instruction, mask and seed. Each is written whole or not at all, with a seal in a text
    chunk of its own; one that is damaged or edited is made anew. The real editor is given
    `batch_size` edits at once (its attribute, else 1), and what came is stored before the next.
    `made` counts the edits that it made, `context.tool_calls` those that it will.
    """

    def __init__(self, editor: ImageEditor, context: Context) -> None:
        fingerprint: str | None = getattr(editor, "fingerprint", None)
        if not fingerprint:
            raise PluginError(
                f"the image editor {type(editor).__name__} has no fingerprint",
                expected="a digest of its weights and options, so that edits can be kept",
                remedy="Set self.fingerprint in its __init__",
            )
        self.fingerprint = fingerprint
        self.made = 0
        self.folder = context.cache / FOLDER / fingerprint
        self._editor = editor
        self._context = context
        # of this run: a plan reckons with the pace of the last one (docs/cci.md)
        self._pace = Pace()

    @property
    def facts(self) -> Mapping[str, str]:
        """Facts about the editor."""
        return dict(getattr(self._editor, "facts", {}))

    def frame_of(self, edit: ImageEdit) -> Frame:
        """The edited frame, made or not; loading one that is not made raises BadDataError."""
        key = edit_key(edit, self.fingerprint)
        return Frame(key, partial(_open_edited, self._file(key)))

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """A frame of the same size an edit, read from its file when loaded; picklable.

        Raises UserError for an edit that cannot be made, and where the disk is full.
        """
        lacking = self._lacking(edits)
        if lacking:
            # before the work: a plan and its report speak of the same number (docs/adr/0012)
            self._context.tool_calls[EDITS] += len(lacking)
            self._context.stop_plan_before(f"{len(lacking):,} edits of images")
            self._make_all(lacking)
        return [self.frame_of(edit) for edit in edits]

    def forget(self, edit: ImageEdit) -> None:
        """Make an edit anew when it is asked for next: what is kept is none of the editor."""
        self._file(edit_key(edit, self.fingerprint)).unlink(missing_ok=True)

    def plan(self, edits: Sequence[ImageEdit]) -> EditPlan:
        """Return the cost of `edit`; nothing is made."""
        count = len({edit_key(edit, self.fingerprint) for edit in edits})
        size = (0, 0)
        if edits and self._read_pace() is None:
            size = edits[0].frame.load().size
        return self.plan_of(count, count - len(self._lacking(edits)), size)

    def plan_of(
        self,
        edits: int,
        cached: int,
        size: tuple[int, int] = (512, 512),
    ) -> EditPlan:
        """The same of numbers alone; `size` of an image is for an editor that never worked."""
        pace = self._read_pace()
        folders = (self.folder, *self.folder.parents)
        existing = next(folder for folder in folders if folder.exists())
        return EditPlan(
            edits=edits,
            cached=cached,
            device=self._device,
            seconds_each=pace.seconds / pace.edits if pace else None,
            bytes_each=pace.bytes / pace.edits
            if pace
            else ESTIMATE * size[0] * size[1],
            free_bytes=disk_usage(existing).free,
        )

    @property
    def _device(self) -> str:
        return self.facts.get("device", self._context.device)

    def _read_pace(self) -> Pace | None:
        return read_pace(self.folder / PACE, self._device)

    def _lacking(self, edits: Sequence[ImageEdit]) -> list[ImageEdit]:
        """Those that are not on the disk, each once, in order."""
        distinct: dict[str, ImageEdit] = {}
        for edit in edits:
            distinct.setdefault(edit_key(edit, self.fingerprint), edit)
        return [
            edit
            for key, edit in distinct.items()
            if not _is_whole(self._file(key), edit)
        ]

    def _make_all(self, lacking: Sequence[ImageEdit]) -> None:
        # before the clock runs
        open_weights: Any = getattr(self._editor, "open_weights", None)
        if open_weights is not None:
            open_weights()
        size = max(1, int(getattr(self._editor, "batch_size", 1)))
        with self._context.progress("editing images", len(lacking)) as advance:
            for start in range(0, len(lacking), size):
                batch = lacking[start : start + size]
                self._make(batch)  # a kill loses this batch and no more
                advance(len(batch))

    def _make(self, batch: Sequence[ImageEdit]) -> None:
        since = time.perf_counter()
        written = 0
        for edit, frame in zip(batch, self._editor.edit(batch), strict=True):
            content = BytesIO()
            # lossless: outside of the mask each pixel is the source's own (docs/cci.md)
            frame.load().save(content, "PNG", compress_level=COMPRESSION)
            file = self._file(edit_key(edit, self.fingerprint))
            sealed = with_seal(file.name, content.getvalue())
            _write(file, sealed)
            written += len(sealed)
        self.made += len(batch)
        self._pace = self._pace.add(len(batch), time.perf_counter() - since, written)
        pace = self.folder / PACE
        paces = with_pace(pace, self._device, self._pace)
        _write(pace, with_seal(pace.name, paces))

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.png"  # 1,500 files a folder, of 396,000


def _write(file: Path, content: bytes) -> None:
    """Whole or not at all; raises UserError where the disk takes no more."""
    try:
        with Draft(file) as draft:
            draft.file.write(content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        mend = "Mend it"
        if error.errno in FULL:
            reason = "a full disk"
            mend = "Free space"
        raise UserError(
            f"an edited image cannot be kept in {file.parents[1]}",
            got=reason,
            remedy=f"{mend}, or set CUESCOPE_CACHE to another folder; the same command goes on "
            "where it stopped",
        ) from error


def _is_whole(file: Path, edit: ImageEdit) -> bool:
    """True if an edited image is there as it was written; its pixels are not decoded."""
    try:
        width, height = _open_png(read_sealed(file)).size
    except Exception:  # the reader of a stranger's bytes fails in any way it likes
        return False
    # without a mask the source would have to be decoded
    return edit.mask is None or edit.mask.shape == (height, width)


def _open_png(content: bytes) -> Image.Image:
    """The image before it is decoded; a seal fits whatever a stranger writes."""
    # by name: else Pillow tries every reader that it has on the bytes (SECURITY.md)
    image = Image.open(BytesIO(content), formats=["PNG"])
    if max(image.size) > LARGEST_SIDE:
        raise ValueError(f"an image of {image.width} x {image.height} pixels")
    return image


def _open_edited(file: Path) -> Image.Image:
    try:
        content = read_sealed(file)
    except (OSError, UserError) as error:
        state = "is damaged" if file.exists() else "is not there"
        raise _lost(file, state) from error
    try:
        with _open_png(content) as image:
            return image.convert("RGB")
    # the reader of a stranger's bytes fails in any way it likes
    except Exception as error:
        # its seal fits: it would be taken for whole again
        with suppress(OSError):
            file.unlink()
        raise _lost(file, "is damaged") from error


def _lost(file: Path, state: str) -> BadDataError:
    return BadDataError(
        f"the edited image {file.name} {state}",
        expected="the file as it was written",
        remedy="Run the same command again: it is made anew",
    )
