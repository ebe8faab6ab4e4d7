"""What a build would cost: edits, hours and gigabytes, from the pace of this machine."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

import cv2

from cuescope.application import duration
from cuescope_covar_build.files import COMPRESSION, folder_size

if TYPE_CHECKING:
    from cuescope_covar_build.options import OpenBuild
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

    def as_json(self) -> str:
        """All of it."""
        return json.dumps(asdict(self), indent=1)

    def __str__(self) -> str:
        edits = " and ".join(f"{number:,} by {spec}" for spec, number in self.edits.items())
        time = "unknown: no editor's pace was measured here, so make a few first: --limit 1"
        if self.seconds is not None:
            time = f"about {duration(self.seconds)} ({self.seconds / 3600:.2f} hours)"
        disk = f"about {self.bytes / GIGABYTE:.2f} GB, {self.free_bytes / GIGABYTE:,.1f} GB free"
        lines = {
            "photos": f"{self.photos:,}",
            "images": f"{self.images:,}, {self.made:,} of them made already",
            "edits": edits,
            "time": time,
            "disk": disk,
        }
        if not self.viewpoints:
            lines["left out"] = "viewpoint: it needs --viewpoint-editor SPEC"
        return "\n".join(f"{name:<{max(map(len, lines))}}  {told}" for name, told in lines.items())


def plan_build(opened: "OpenBuild") -> BuildPlan:
    """Count what is lacking; a photo on one background is made in memory where that is quick."""
    builder, recipe, sources = opened.builder, opened.builder.recipe, opened.builder.sources
    lacking, known = builder.lacking(), builder.folder.rows
    images = len(sources) * (1 + len(recipe.backgrounds) * len(recipe.names))
    on_backgrounds = (key for sample in sources.samples() for key in builder.keys(sample)[1:])
    pairs = sum(key not in known for key in on_backgrounds) / len(recipe.names)
    edits = {recipe.editor.spec: round(pairs * (recipe.edits - recipe.views))}
    seconds = _seconds(recipe.editor, edits[recipe.editor.spec], opened)
    each = 2.0 * opened.size[0] * opened.size[1]  # bytes a pixel of a photo as such a PNG
    if known:
        each = folder_size(builder.folder.folder, known.values()) / len(known)
    if (views := recipe.viewpoint_editor) is not None:
        edits[views.spec] = edits.get(views.spec, 0) + round(pairs * recipe.views)
        more = _seconds(views, round(pairs * recipe.views), opened)
        seconds = None if seconds is None or more is None else seconds + more
    elif _is_quick(recipe.editor):
        measured, size = _rehearse(opened)
        seconds, each = measured * lacking, each if known else size
    return BuildPlan(
        photos=len(sources),
        images=images,
        made=images - lacking,
        edits=edits,
        seconds=seconds,
        bytes=each * lacking,
        free_bytes=disk_usage(_existing(builder.folder.folder)).free,
        viewpoints=views is not None,
    )


def _is_quick(editor: "NamedEditor") -> bool:
    return bool(getattr(editor.tool, "instant", False))


def _seconds(editor: "NamedEditor", edits: int, opened: "OpenBuild") -> float | None:
    """At the pace that was measured when this editor last worked here."""
    if _is_quick(editor):
        return 0.0
    tool: Any = editor.tool
    hours: float | None = tool.plan_of(edits, 0, opened.size[::-1]).hours
    return None if hours is None else 3600 * hours


def _rehearse(opened: "OpenBuild") -> tuple[float, float]:
    """Seconds and bytes of an image, from a photo on two backgrounds; nothing is written."""
    builder = opened.builder
    source = builder.sources.open(next(iter(builder.sources.samples())))
    backgrounds = builder.recipe.backgrounds[:2]
    builder.draft(source, backgrounds[:1])  # the first one opens files
    since, size = time.perf_counter(), 0
    drafts = builder.draft(source, backgrounds)
    for draft in drafts:
        content = cv2.imencode(".png", draft.image, [cv2.IMWRITE_PNG_COMPRESSION, COMPRESSION])[1]
        size += len(content)
    return (time.perf_counter() - since) / len(drafts), size / len(drafts)


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())
