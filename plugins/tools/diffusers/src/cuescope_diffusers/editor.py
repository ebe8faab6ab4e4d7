"""What `inpaint` and `instruct` do once they are built: jobs for the pipeline, kept pixels back."""

from collections.abc import Sequence
from functools import cached_property

import diffusers
import numpy as np
import torch
from PIL import Image

from cuescope_diffusers.classes import inpainting_class, instruct_class, require_size
from cuescope_diffusers.files import find_pipeline
from cuescope_diffusers.options import EditorOptions, InpaintOptions
from cuescope_diffusers.pipelines import Job, OpenPipeline, open_network, open_pipeline
from cuescope_sdk import Context, Frame, ImageEdit, derive, digest
from cuescope_sdk.editing import EditableImage
from cuescope_sdk.torch import resolve_device, resolve_dtype

# files count by their digests, the dtype as it was resolved
NOT_CONTENT = {"model", "revision"}
VERSION = 1  # of how jobs are made and results are put back


class Editor:
    """A pipeline's files, checked; its weights are opened by the first edit.

    Raises UserError for whatever a person can mend.
    """

    def __init__(self, owner: str, options: EditorOptions, context: Context) -> None:
        self.owner = owner
        self._options = options
        self._context = context
        self._masked = isinstance(options, InpaintOptions)
        self._device = resolve_device(context.device)
        self._dtype = resolve_dtype(context.dtype)
        files = find_pipeline(owner, options, context)
        self._files = files
        find = inpainting_class if self._masked else instruct_class
        self._opener, cls = find(files)
        require_size(owner, cls, options)
        self.fingerprint = self._fingerprint()
        self.facts = {
            "pipeline": cls.__name__,
            "weights": files.source.title,
            "steps": str(options.steps),
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self._device_name(),
        }

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """The edited frames, in order."""
        # all are checked before the first is painted
        opened = [EditableImage.open(self.owner, edit) for edit in edits]
        frames = []
        for editable in opened:
            source = editable.source
            image = self.pipeline.run(self._job(editable))
            if image is None:
                self._context.announce(
                    f"{self.owner}: the model's own safety checker refused an edit "
                    f"('{editable.edit.instruction[:60]}'); the image stays as it was"
                )
                image = source
            elif image.size != source.size:
                # the network works on a grid of cells, which the image need not fit
                image = image.resize(source.size, Image.Resampling.LANCZOS)
            frames.append(editable.frame(image, self.fingerprint))
        return frames

    @cached_property
    def pipeline(self) -> OpenPipeline:
        """The pipeline with its weights, on its device; a plan ends there."""
        source = self._files.source
        self._context.stop_plan_before(f"the weights of {source.title}")
        parts = {}
        # each by itself, so that a missing tensor is told with its part
        for name, cls in self._files.networks().items():
            title = f"{name} of {source.title}"
            parts[name] = open_network(
                source,
                cls,
                title,
                subfolder=name,
                dtype=self._dtype,
            )
        pipe = open_pipeline(source, self._opener, parts).to(self._device)
        return OpenPipeline(source, pipe, self._options)

    def _fingerprint(self) -> str:
        return digest(
            self.owner,
            VERSION,
            # another version may paint other pixels
            diffusers.__version__,
            str(self._dtype),
            self._files.fingerprint(),
            self._options.model_dump(exclude=NOT_CONTENT),
        )

    def _device_name(self) -> str:
        if self._device.type != "cuda":
            return str(self._device)
        return f"{self._device} ({torch.cuda.get_device_name(self._device)})"

    def _job(self, editable: EditableImage) -> Job:
        """What the pipeline is given; all of its randomness is the seed's of this very edit."""
        edit = editable.edit
        source = editable.source
        mask = None if edit.mask is None else digest(edit.mask)
        seed = derive(edit.seed, "edit", edit.frame.key, edit.instruction, str(mask))
        size = self.pipeline.working_size(source.size)
        image = source.resize(size, Image.Resampling.LANCZOS)
        if not self._masked:
            return Job(image, edit.instruction, seed)
        pixels = np.full(source.size[::-1], 255, np.uint8)
        if edit.mask is not None:
            pixels *= edit.mask
        # a cell that the mask touches is all repainted: else its old colours would be left in it
        shrunk = Image.fromarray(pixels).resize(size, Image.Resampling.BOX)
        return Job(
            image,
            edit.instruction,
            seed,
            shrunk.point(lambda value: 255 * (value > 0)),
        )
