"""Edited images kept in the user's cache: no edit is made twice, and a killed build goes on.

editor = cached_editor(context.build("tool", "inpaint:MODEL", options), context)
frames = editor.edit(edits)
"""

import errno
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

from PIL import Image

from cuescope_core.atomic_files import Draft
from cuescope_core.capabilities import ImageEdit, ImageEditor
from cuescope_core.checksummed_files import LARGEST_WORDS, read_sealed, with_seal
from cuescope_core.context import Context
from cuescope_core.errors import BadDataError, PluginError, UserError
from cuescope_core.plain_json import parse_json
from cuescope_core.store import UNREADABLE
from cuescope_core.types import Frame
from cuescope_sdk.editing._edits import LARGEST_SIDE, edit_key

FOLDER = "edits"
PACE = "pace.json"
EDITS = "images edited"
# zlib's level: 6 takes 3 to 4 times as long, for photos 8 to 19% smaller (three photos, 2026)
COMPRESSION = 1
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
    chunk of its own; one that is damaged or edited is made anew. The real editor is given one edit
    at a time, which is stored before the next.
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
        self._seconds = 0.0

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

    @property
    def seconds_each(self) -> float | None:
        """Pace measured when this editor last worked on this device; None where it never has."""
        try:
            paces = parse_json(
                read_sealed(self.folder / PACE, most=LARGEST_WORDS), PACE
            )
            edits, seconds = map(float, paces[self._device])
            pace = seconds / edits
        except (OSError, UserError, *UNREADABLE):
            return None
        # a stranger's numbers may be infinite
        return pace if isfinite(pace) and pace >= 0 else None

    @property
    def _device(self) -> str:
        return self.facts.get("device", self._context.device)

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
        with self._context.progress("editing images", len(lacking)) as advance:
            for edit in lacking:
                self._make(edit)  # a kill loses this edit and no more
                advance(1)

    def _make(self, edit: ImageEdit) -> None:
        since = time.perf_counter()
        [frame] = self._editor.edit([edit])
        content = BytesIO()
        # lossless: outside of the mask each pixel is the source's own (docs/cci.md)
        frame.load().save(content, "PNG", compress_level=COMPRESSION)
        file = self._file(edit_key(edit, self.fingerprint))
        _write(file, with_seal(file.name, content.getvalue()))
        self.made += 1
        self._seconds += time.perf_counter() - since
        paces = json.dumps({self._device: [self.made, self._seconds]}).encode()
        _write(self.folder / PACE, with_seal(PACE, paces))

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
