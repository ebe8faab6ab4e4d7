"""What an editor must leave as it was, and what is done about a kept edit that did not."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cuescope_covar_build.drafts import Draft, paint
from cuescope_covar_build.recipe import NamedEditor
from cuescope_covar_build.variants import Variant
from cuescope_sdk import Context, Frame, ImageEdit, PluginError
from cuescope_sdk.editing import CachedEditor

SIZE = (24, 32)  # row, col
GREY = np.full((*SIZE, 3), 127, np.uint8)


class Whitener:
    """White under the mask; with `spill` everywhere."""

    fingerprint = "whitener"

    def __init__(self, *, spill: bool = False) -> None:
        self.made = 0
        self.spill = spill

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        self.made += len(edits)
        frames = []
        for edit in edits:
            pixels = np.asarray(edit.frame.load()).copy()
            everywhere = self.spill or edit.mask is None
            pixels[... if everywhere else edit.mask] = 255
            frames.append(Frame.from_array(pixels))
        return frames


class Forger(Whitener):
    """Passes for the other one, and gives white images of a size of its own."""

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        white = Frame.from_array(np.full((*self.size, 3), 255, np.uint8))
        return [white] * len(edits)


def edit_of(*, masked: bool) -> ImageEdit:
    mask = np.zeros(SIZE, bool)
    mask[5:15, 5:15] = True
    return ImageEdit(Frame.from_array(GREY), "white", mask if masked else None, 0)


def draft(editor: NamedEditor, *, masked: bool) -> Draft:
    edit = edit_of(masked=masked)
    variant = Variant("background", "background", {})
    mask = edit_of(masked=True).mask
    return Draft(variant, GREY, mask, edit.frame, editor=editor, edit=edit)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("size", [SIZE, (8, 8)])
def test_a_kept_edit_that_no_editor_made_is_made_anew(
    tmp_path: Path, size: tuple[int, int], masked: bool
) -> None:
    """Its seal fits: whoever mails a cache can compute it."""
    context = Context(cache=tmp_path)
    edit = edit_of(masked=masked)
    CachedEditor(Forger(size), context).edit([edit])
    whitener = Whitener()
    tool = CachedEditor(whitener, context)
    editor = NamedEditor("whitener", whitener.fingerprint, tool)
    drawn = draft(editor, masked=masked)
    paint([drawn], editor)
    [expected] = Whitener().edit([edit])
    np.testing.assert_array_equal(drawn.image, np.asarray(expected.load()))
    # of all that may change, anything is an edit
    assert whitener.made == (0 if size == SIZE and not masked else 1)


def test_an_editor_that_paints_elsewhere_is_told(tmp_path: Path) -> None:
    whitener = Whitener(spill=True)
    tool = CachedEditor(whitener, Context(cache=tmp_path))
    editor = NamedEditor("whitener", whitener.fingerprint, tool)
    with pytest.raises(PluginError, match="whitener broke its contract"):
        paint([draft(editor, masked=True)], editor)
