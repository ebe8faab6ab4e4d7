"""Image editors that run pipelines of diffusers."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from cuescope_diffusers.options import EditorOptions, InpaintOptions, InstructOptions
from cuescope_sdk import Context, Frame, ImageEdit, LazyWeights, Plugin


class DiffusionEditor(Plugin, LazyWeights):
    """Edits images with a pipeline of diffusers, as released.

    The same edit of the same pixels under the same seed gives the same image. Outside of an edit's
    mask every pixel stays the source's. `batch_size` edits go to the pipeline at once.
    """

    options: EditorOptions
    owner: ClassVar[str]

    def __init__(self, options: EditorOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import quiet

        with quiet():  # diffusers imports what others have deprecated
            from cuescope_diffusers.editor import Editor

            self._editor = Editor(self.owner, options, context)
        self.fingerprint = self._editor.fingerprint
        self.facts: Mapping[str, str] = self._editor.facts

    def open_weights(self) -> None:
        _ = self._editor.pipeline

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """A frame of the same size an edit, in memory; raises UserError for what cannot be edited.

        `cuescope_sdk.editing.cached_editor` keeps them on the disk.
        """
        return self._editor.edit(edits)


class Inpaint(DiffusionEditor):
    """Paints anew what lies under a mask, as the instruction describes it; no mask: all of it."""

    Options = InpaintOptions
    options: InpaintOptions
    owner = "inpaint"


class Instruct(DiffusionEditor):
    """Edits the whole image as it is told; with a mask, what lies outside is put back."""

    Options = InstructOptions
    options: InstructOptions
    owner = "instruct"


__all__ = [
    "DiffusionEditor",
    "Inpaint",
    "InpaintOptions",
    "Instruct",
    "InstructOptions",
]
