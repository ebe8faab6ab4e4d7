"""What a build would cost: edits, hours and gigabytes, from the pace of this machine."""

import time
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

from cuescope.application import duration
from cuescope_covar_build.files import encode_png, folder_size

if TYPE_CHECKING:
    from cuescope_covar_build.building import Builder
    from cuescope_covar_build.opening import OpenBuild
    from cuescope_covar_build.recipe import NamedEditor

GIGABYTE = 1e9


@dataclass(frozen=True)
class BuildPlan:
    """`seconds` and `bytes` are of the images that are still to be made.

    `seconds` is None where an editor never worked here. `free_bytes` is what the disk has left.
    """

    photos: int
    images: int
    made: int
    edits: dict[str, int]
    seconds: float | None
    bytes: float
    free_bytes: int
    viewpoints: bool

    def __str__(self) -> str:
        edits = [f"{number:,} by {spec}" for spec, number in self.edits.items()]
        time = "unknown: no editor's pace was measured here, so make a few first: --limit 1"
        if self.seconds is not None:
            time = f"about {duration(self.seconds)} ({self.seconds / 3600:.2f} hours)"
        needed = f"about {self.bytes / GIGABYTE:.2f} GB"
        free = f"{self.free_bytes / GIGABYTE:,.1f} GB free"
        lines = {
            "photos": f"{self.photos:,}",
            "images": f"{self.images:,}, {self.made:,} of them made already",
            "edits": " and ".join(edits),
            "time": time,
            "disk": f"{needed}, {free}",
        }
        if not self.viewpoints:
            lines["left out"] = "viewpoint: it needs --viewpoint-editor SPEC"
        width = max(map(len, lines))
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines.items())


def plan_build(opened: "OpenBuild") -> BuildPlan:
    """Count what is lacking; a photo on one background is made in memory where that is quick."""
    builder = opened.builder
    recipe = builder.recipe
    editor = recipe.editor
    views = recipe.viewpoint_editor
    folder = builder.folder.folder
    made = builder.folder.rows
    lacking = builder.lacking()
    # 1: the photo itself
    images_each = 1 + len(recipe.backgrounds) * len(recipe.names)
    images = len(builder.sources) * images_each
    on_backgrounds = 0
    for sample in builder.sources.samples():
        _, *keys_on_backgrounds = builder.keys(sample)
        on_backgrounds += builder.count_lacking(keys_on_backgrounds)
    # perhaps not whole: of some pairs a part is made
    pairs = on_backgrounds / len(recipe.names)
    of_editor = round(pairs * (recipe.edits - recipe.views))
    edits = {editor.spec: of_editor}
    seconds = _seconds(editor, of_editor)
    rows, cols = opened.size
    bytes_each = 2.0 * rows * cols  # bytes a pixel of a photo as such a PNG
    # what is on the disk says it better
    if made:
        bytes_each = folder_size(folder, made.values()) / len(made)
    if views is not None:
        of_views = round(pairs * recipe.views)
        # one editor may do both
        edits[views.spec] = edits.get(views.spec, 0) + of_views
        more = _seconds(views, of_views)
        # a sum without the unknown part would promise too little
        seconds = None if seconds is None or more is None else seconds + more
    # not with a viewpoint editor: a rehearsal would generate images
    elif _is_quick(editor):
        seconds_each, rehearsed = _rehearse(builder)
        seconds = seconds_each * lacking
        if not made:
            bytes_each = rehearsed
    return BuildPlan(
        photos=len(builder.sources),
        images=images,
        made=images - lacking,
        edits=edits,
        seconds=seconds,
        bytes=bytes_each * lacking,
        free_bytes=_free_bytes(folder),
        viewpoints=views is not None,
    )


def _is_quick(editor: "NamedEditor") -> bool:
    return bool(getattr(editor.tool, "instant", False))


def _seconds(editor: "NamedEditor", edits: int) -> float | None:
    """At the pace that was measured when this editor last worked here."""
    if _is_quick(editor):
        return 0.0
    tool: Any = editor.tool
    seconds_each: float | None = tool.seconds_each
    return None if seconds_each is None else edits * seconds_each


def _rehearse(builder: "Builder") -> tuple[float, float]:
    """Seconds and bytes of an image, from a photo on two backgrounds; nothing is written."""
    source = builder.sources.open(next(builder.sources.samples()))
    backgrounds = builder.recipe.backgrounds[:2]
    builder.draft(source, backgrounds[:1])  # the first one opens files
    start = time.perf_counter()
    drafts = builder.draft(source, backgrounds)
    # before the clock is read: a build encodes too
    size = sum(len(encode_png(draft.image)) for draft in drafts)
    seconds = time.perf_counter() - start
    return seconds / len(drafts), size / len(drafts)


def _free_bytes(folder: Path) -> int:
    """Of the disk on which a folder is, or will be."""
    # a folder to come is on the disk of its nearest parent
    while not folder.exists():
        folder = folder.absolute().parent
    return disk_usage(folder).free
