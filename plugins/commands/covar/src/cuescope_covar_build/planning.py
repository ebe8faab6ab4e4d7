"""What a build would cost: edits, hours and gigabytes, from the pace of this machine."""

import time
from pathlib import Path
from shutil import disk_usage
from typing import Any

from cuescope.application import duration
from cuescope_covar_build.files import encode_png
from cuescope_covar_build.opening import OpenBuild
from cuescope_covar_build.outputs import CovarPlan
from cuescope_covar_build.recipe import NamedEditor

GIGABYTE = 1e9


def plan_build(opened: OpenBuild) -> CovarPlan:
    """Count what is lacking; a photo on one background is made in memory where that is quick."""
    builder = opened.builder
    recipe = builder.recipe
    lacking = builder.lacking()
    # 1: the photo itself
    images = len(builder.sources) * (1 + len(recipe.backgrounds) * len(recipe.names))
    pairs = len(builder.sources) * len(recipe.backgrounds) * lacking / images
    editors = [(recipe.editor, round(pairs * (recipe.edits - recipe.views)))]
    if recipe.viewpoint_editor is not None:
        editors.append((recipe.viewpoint_editor, round(pairs * recipe.views)))
    edits: dict[str, int] = {}
    for editor, number in editors:
        # one editor may do both
        edits[editor.spec] = edits.get(editor.spec, 0) + number
    source = builder.sources.open(next(builder.sources.samples()))
    seconds: float | None
    if all(_is_quick(editor) for editor, _ in editors):
        start = time.perf_counter()
        drafts = builder.draft(source, recipe.backgrounds[:1])
        # before the clock is read: a build encodes too
        size = sum(len(encode_png(draft.image)) for draft in drafts) / len(drafts)
        seconds = (time.perf_counter() - start) / len(drafts) * lacking
    else:
        size = len(encode_png(source.image))
        known = [_seconds(editor, number) for editor, number in editors]
        measured = [pace for pace in known if pace is not None]
        # a sum without the unknown part would promise too little
        seconds = sum(measured) if len(measured) == len(known) else None
    return CovarPlan(
        photos=len(builder.sources),
        images=images,
        made=images - lacking,
        edits=edits,
        seconds=seconds,
        bytes=float(size * lacking),
        free_bytes=_free_bytes(builder.folder.folder),
        viewpoints=recipe.viewpoint_editor is not None,
    )


def describe_plan(plan: CovarPlan) -> str:
    """The plan as lines."""
    time = "unknown: no editor's pace was measured here, so make a few first: --limit 1"
    if plan.seconds is not None:
        time = f"about {duration(plan.seconds)} ({plan.seconds / 3600:.2f} hours)"
    free = f"{plan.free_bytes / GIGABYTE:,.1f} GB free"
    lines = {
        "photos": f"{plan.photos:,}",
        "images": f"{plan.images:,}, {plan.made:,} of them made already",
        "edits": " and ".join(f"{n:,} by {spec}" for spec, n in plan.edits.items()),
        "time": time,
        "disk": f"about {plan.bytes / GIGABYTE:.2f} GB, {free}",
    }
    if not plan.viewpoints:
        lines["left out"] = "viewpoint: it needs --viewpoint-editor SPEC"
    return "\n".join(f"{name:<8}  {text}" for name, text in lines.items())


def _is_quick(editor: NamedEditor) -> bool:
    return bool(getattr(editor.tool, "instant", False))


def _seconds(editor: NamedEditor, edits: int) -> float | None:
    """At the pace that was measured when this editor last worked here."""
    if _is_quick(editor):
        return 0.0
    tool: Any = editor.tool
    seconds_each: float | None = tool.seconds_each
    return None if seconds_each is None else edits * seconds_each


def _free_bytes(folder: Path) -> int:
    """Of the disk on which a folder is, or will be."""
    # a folder to come is on the disk of its nearest parent
    while not folder.exists():
        folder = folder.absolute().parent
    return disk_usage(folder).free
