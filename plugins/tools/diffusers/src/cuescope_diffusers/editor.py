"""What `inpaint` and `instruct` do once they are built: jobs for the pipeline, kept pixels back."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import diffusers
import numpy as np
import torch
from PIL import Image

from cuescope_diffusers.classes import (
    inpainting_class,
    instruct_class,
    require_options,
    sequence_length,
)
from cuescope_diffusers.files import find_network, find_pipeline, weight_files
from cuescope_diffusers.options import EditorOptions, InpaintOptions
from cuescope_diffusers.pipelines import Job, OpenPipeline, open_network, open_pipeline
from cuescope_diffusers.prompts import open_tokenizers, require_fitting, token_limits
from cuescope_sdk import Context, Frame, ImageEdit, derive, digest
from cuescope_sdk.editing import EditableImage
from cuescope_sdk.torch import files_digest, resolve_device, resolve_dtype

# files count by their digests, the dtype as it was resolved; a batch changes nothing
NOT_CONTENT = {
    "model",
    "revision",
    "controlnet",
    "controlnet_revision",
    "images",
    "dtype",
}
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
        self._dtype = resolve_dtype(options.dtype or context.dtype)
        files = find_pipeline(owner, options, context)
        self._files = files
        self._control = self._find_control()
        if isinstance(options, InpaintOptions):
            kind = self._control[1] if self._control else None
            self._opener, cls = inpainting_class(files, options, kind)
        else:
            self._opener, cls = instruct_class(files, options)
        self._sequence = None
        self._announced = set[str]()
        if cls is not None:  # None: it will be known once trusted code has run
            require_options(owner, cls, options)
            self._sequence = sequence_length(cls)
        self.fingerprint = self._fingerprint()
        self.facts = {
            "pipeline": files.class_name if cls is None else cls.__name__,
            "weights": files.source.title,
            "steps": str(options.steps),
            "guidance": "its own"
            if options.guidance is None
            else f"{options.guidance:g}",
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self._device_name(),
        }

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """The edited frames, in order."""
        # all are checked before the first is painted
        opened = [EditableImage.open(self.owner, edit) for edit in edits]
        self._require_fitting_prompts(edits)
        images = self._run(list(map(self._job, opened)))
        frames = []
        for editable, image in zip(opened, images, strict=True):
            source = editable.source
            if image is None:
                self._context.announce(
                    f"{self.owner}: the model's own safety checker refused an edit "
                    f"('{editable.edit.instruction[:60]}'); the image stays as it was"
                )
                image = source
            elif image.size != source.size:
                # the network works on a grid of cells, which the image need not fit
                image = image.resize(source.size, Image.Resampling.LANCZOS)
            feather = self._options.feather
            frames.append(editable.frame(image, self.fingerprint, feather))
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
        if self._control:
            control, cls = self._control
            parts["controlnet"] = open_network(
                control,
                cls,
                control.title,
                dtype=self._dtype,
            )
        trusted = self._options.trust_remote_code
        pipe = open_pipeline(source, self._opener, trusted, parts).to(self._device)
        return OpenPipeline(source, pipe, self._options, masked=self._masked)

    @cached_property
    def _tokenizers(self) -> dict[str, Any]:
        return open_tokenizers(self._files)

    def _find_control(self) -> Any:
        options = self._options
        if not isinstance(options, InpaintOptions) or options.controlnet is None:
            return None
        return find_network(
            self.owner, options.controlnet, options.controlnet_revision, self._context
        )

    def _fingerprint(self) -> str:
        control = self._control[0] if self._control else None
        more = files_digest(weight_files(control, control.folder)) if control else None
        return digest(
            self.owner,
            VERSION,
            # another version may paint other pixels
            diffusers.__version__,
            str(self._dtype),
            self._files.fingerprint(),
            more,
            self._options.model_dump(exclude=NOT_CONTENT),
        )

    def _device_name(self) -> str:
        if self._device.type != "cuda":
            return str(self._device)
        return f"{self._device} ({torch.cuda.get_device_name(self._device)})"

    def _prompt(self, edit: ImageEdit) -> str:
        return self._options.prompt.replace("{instruction}", edit.instruction)

    def _require_fitting_prompts(self, edits: Sequence[ImageEdit]) -> None:
        """Before weights are opened; what one of several text encoders cuts is announced once."""
        prompts = [self._prompt(edit) for edit in edits]
        if self._options.negative_prompt:
            prompts.append(self._options.negative_prompt)
        limits = token_limits(self._tokenizers, self._sequence)
        for name in require_fitting(self.owner, prompts, self._tokenizers, limits):
            if name not in self._announced:
                self._announced.add(name)
                self._context.announce(
                    f"{self.owner}: one of the text encoders ({name}) reads the first "
                    f"{limits[name]} tokens of a prompt alone; another reads all of it"
                )

    def _job(self, editable: EditableImage) -> Job:
        """What the pipeline is given; all of its randomness is the seed's of this very edit."""
        edit = editable.edit
        source = editable.source
        mask = None if edit.mask is None else digest(edit.mask)
        seed = derive(edit.seed, "edit", edit.frame.key, edit.instruction, str(mask))
        size = self.pipeline.working_size(source.size)
        image = source.resize(size, Image.Resampling.LANCZOS)
        if not self._masked:
            return Job(image, self._prompt(edit), seed)
        pixels = np.full(source.size[::-1], 255, np.uint8)
        if edit.mask is not None:
            pixels *= edit.mask
        # a cell that the mask touches is all repainted: else its old colours would be left in it
        shrunk = Image.fromarray(pixels).resize(size, Image.Resampling.BOX)
        return Job(
            image,
            self._prompt(edit),
            seed,
            shrunk.point(lambda value: 255 * (value > 0)),
        )

    def _run(self, jobs: Sequence[Job]) -> list[Image.Image | None]:
        """Images of one size go together."""
        by_size: dict[tuple[int, int], list[int]] = {}
        for index, job in enumerate(jobs):
            by_size.setdefault(job.image.size, []).append(index)
        results: dict[int, Image.Image | None] = {}
        for indices in by_size.values():
            for start in range(0, len(indices), self._options.images):
                batch = indices[start : start + self._options.images]
                images = self.pipeline.run([jobs[index] for index in batch])
                results |= zip(batch, images, strict=True)
        return [results[index] for index in range(len(jobs))]
