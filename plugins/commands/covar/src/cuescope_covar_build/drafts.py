"""Images in the making: what an editor is given, and what of it must come back unchanged."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cuescope_covar_build.geometry import Mask, Moved, Pixels
from cuescope_covar_build.lists import Background
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Source
from cuescope_covar_build.variants import Variant
from cuescope_sdk import Frame, ImageEdit, PluginError, derive
from cuescope_sdk.data import CovarManifest
from cuescope_sdk.editing import CachedEditor

GONE = "the object left the image"


@dataclass(eq=False)
class Draft:
    """An image to be, row, col, rgb; `mask` None where nobody knows where the object is.

    `base` is the image that it is made from. `edit` is asked of `editor`, if there is anything to
    paint. `scores` are by check of the quality filter.
    """

    variant: Variant
    image: Pixels
    mask: Mask | None
    base: Frame
    background: Background | None = None
    prompt: str = ""
    seed: int = 0
    editor: NamedEditor | None = None
    edit: ImageEdit | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    dropped: str = ""
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def shows_object(self) -> bool:
        """Whether it is known where the object is, and something of it is there."""
        return self.mask is not None and bool(self.mask.any())

    @property
    def paints_background(self) -> bool:
        """True if the editor paints all but the object."""
        if self.mask is None or self.edit is None or self.edit.mask is None:
            return False
        return np.array_equal(self.edit.mask, ~self.mask)

    @property
    def frame(self) -> Frame:
        """The image as a frame."""
        return Frame.from_array(self.image)


def original(source: Source) -> Draft:
    """The photo itself."""
    return Draft(
        variant=Variant(CovarManifest.ORIGINAL, CovarManifest.ORIGINAL, {}),
        image=source.image,
        mask=source.mask,
        base=Frame.from_array(source.image),
    )


def on_background(recipe: Recipe, source: Source, background: Background) -> Draft:
    """The photo with another background, to be painted."""
    draft = original(source)
    draft.variant = Variant("background", "background", {})
    draft.background = background
    draft.prompt = recipe.prompt(background, source.label)
    # One for all images of a photo on a background: so a variant differs from its image there in
    # its factor alone, as far as an editor paints alike with the same seed.
    draft.seed = derive(recipe.seed, "edit", source.sample.key, background.name)
    draft.editor = recipe.editor
    draft.edit = ImageEdit(draft.base, draft.prompt, ~source.mask, draft.seed)
    return draft


def with_variants(recipe: Recipe, source: Source, first: Draft) -> list[Draft]:
    """An image on a background and its variants, some of them to be painted."""
    background = first.background
    if background is None:
        raise ValueError("expected an image on a background")
    base = first.frame
    drafts = [first]
    for variant in recipe.variants(source, background):
        # without the edit of the first, which is done
        draft = replace(first, variant=variant, base=base, edit=None)
        draft.parameters = variant.parameters
        if variant.move is None:
            _ask_for_view(draft, recipe.viewpoint_editor)
        else:
            moved = variant.move(first.image, source.mask)
            _move(draft, moved)
        drafts.append(draft)
    return drafts


def _ask_for_view(draft: Draft, editor: NamedEditor | None) -> None:
    draft.editor = editor
    draft.prompt = draft.variant.instruction
    # no geometry says where an editor puts the object of another view
    draft.mask = None
    draft.edit = ImageEdit(draft.base, draft.prompt, None, draft.seed)


def _move(draft: Draft, moved: Moved) -> None:
    """Make it the moved picture, of which the border may be to paint."""
    draft.image = moved.image
    draft.mask = moved.mask
    editable = draft.variant.editable(moved)
    # painting it would be paid for and thrown away
    if not moved.mask.any():
        draft.dropped = GONE
    elif editable.any():
        draft.edit = ImageEdit(draft.frame, draft.prompt, editable, draft.seed)


def paint(drafts: Sequence[Draft], editor: NamedEditor) -> None:
    """Have those that wait for this editor painted.

    Raises PluginError where it gives back another size, or changed what it was to keep. A kept edit
    that did so is made anew.
    """
    # viewpoints wait for another editor, which is asked after this one
    mine = [draft for draft in drafts if draft.editor is editor]
    waiting = [(draft, draft.edit) for draft in mine if draft.edit is not None]
    if not waiting:
        return
    frames = editor.tool.edit([edit for _, edit in waiting])
    for (draft, edit), frame in zip(waiting, frames, strict=True):
        after = np.asarray(frame.load())
        fault = _fault_of(editor.spec, edit, draft.image, after)
        if fault is not None and isinstance(editor.tool, CachedEditor):
            # a stranger's cache may hold any image: its editor is not blamed for it
            editor.tool.forget(edit)
            [anew] = editor.tool.edit([edit])
            after = np.asarray(anew.load())
            fault = _fault_of(editor.spec, edit, draft.image, after)
        if fault is not None:
            raise fault
        draft.image = after


def _fault_of(
    spec: str, edit: ImageEdit, before: Pixels, after: Pixels
) -> PluginError | None:
    """What to say of another size, and of changes outside of the mask."""
    problem = f"image editor {spec} broke its contract"
    rows, cols = before.shape[:2]
    if after.shape != before.shape:
        return PluginError(
            problem,
            expected=f"an image of {cols} x {rows} pixels",
            got=f"{after.shape[1]} x {after.shape[0]}",
        )
    # without a mask every pixel may change
    if edit.mask is None:
        return None
    changed = (before != after)[~edit.mask].any(axis=-1)
    if changed.any():
        return PluginError(
            problem,
            expected="pixels outside of the mask as they were",
            got=f"others in {changed.sum():,} of them",
            remedy="An editor puts the source's own pixels back: EditableImage of the sdk",
        )
    return None
