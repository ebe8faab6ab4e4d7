"""What an editor must leave as it was, and what is done about a kept edit that did not."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cuescope_covar_build.drafts import Draft, paint
from cuescope_covar_build.recipe import NamedEditor
from cuescope_covar_build.variants import Variant
from cuescope_sdk import Context, Frame, ImageEdit, PluginError
from cuescope_sdk.editing import CachedEditor
from cuescope_sdk.editing._cached_editor import _with_seal

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


def draft(editor: NamedEditor, *, masked: bool) -> Draft:
    mask = np.zeros(SIZE, bool)
    mask[5:15, 5:15] = True
    base = Frame.from_array(GREY)
    edit = ImageEdit(base, "white", mask if masked else None, 0)
    variant = Variant("background", "background", {})
    return Draft(variant, GREY, mask, base, editor=editor, edit=edit)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("size", [SIZE, (8, 8)])
def test_a_kept_edit_that_no_editor_made_is_made_anew(
    tmp_path: Path, size: tuple[int, int], masked: bool
) -> None:
    """Its seal fits: whoever mails a cache can compute it."""
    whitener = Whitener()
    tool = CachedEditor(whitener, Context(cache=tmp_path))
    editor = NamedEditor("whitener", whitener.fingerprint, tool)
    drawn = draft(editor, masked=masked)
    paint([drawn], editor)
    expected = drawn.image
    file = next(tmp_path.rglob("*.png"))
    Image.new("RGB", size[::-1], "white").save(file)
    file.write_bytes(_with_seal(file.name, file.read_bytes()))
    again = draft(editor, masked=masked)
    paint([again], editor)
    np.testing.assert_array_equal(again.image, expected)
    # of all that may change, anything is an edit
    assert whitener.made == (1 if size == SIZE and not masked else 2)


def test_an_editor_that_paints_elsewhere_is_told(tmp_path: Path) -> None:
    whitener = Whitener(spill=True)
    tool = CachedEditor(whitener, Context(cache=tmp_path))
    editor = NamedEditor("whitener", whitener.fingerprint, tool)
    with pytest.raises(PluginError, match="whitener broke its contract"):
        paint([draft(editor, masked=True)], editor)
