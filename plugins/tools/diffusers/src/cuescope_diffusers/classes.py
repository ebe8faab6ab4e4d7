"""Class of diffusers that edits with a folder's files, and the parameters of its call."""

import inspect
from collections.abc import Mapping
from typing import Any

import diffusers
from diffusers.pipelines.auto_pipeline import (
    AUTO_INPAINT_PIPELINES_MAPPING,
    _get_task_class,
)

from cuescope_diffusers.files import PipelineFiles
from cuescope_diffusers.options import EditorOptions
from cuescope_sdk import UserError

# Those that take a mask but are in no list of the Auto class, by the class of the released files.
BESIDE_AUTO = {
    "FluxKontextPipeline": "FluxKontextInpaintPipeline",
    "Flux2KleinPipeline": "Flux2KleinInpaintPipeline",
    "ChromaPipeline": "ChromaInpaintPipeline",
}
INSTRUCT = (
    "StableDiffusionInstructPix2PixPipeline",
    "StableDiffusionXLInstructPix2PixPipeline",
    "FluxKontextPipeline",
    "Flux2Pipeline",
    "Flux2KleinPipeline",
    "QwenImageEditPipeline",
    "QwenImageEditPlusPipeline",
    "LongCatImageEditPipeline",
)
OWN_SIZE = ("QwenImageEdit",)  # works on 1024 x 1024 pixels, whatever it is told


def inpainting_class(files: PipelineFiles) -> tuple[Any, Any]:
    """Class that opens the files (diffusers' Auto class where it knows them), and class that comes.

    Raises UserError for a pipeline that takes no mask.
    """
    name = files.class_name
    auto = _get_task_class(
        AUTO_INPAINT_PIPELINES_MAPPING, name, throw_error_if_not_exist=False
    )
    if auto is not None:
        return diffusers.AutoPipelineForInpainting, auto
    cls = getattr(diffusers, BESIDE_AUTO.get(name, name))
    if "mask_image" in parameters(cls):
        return cls, cls
    raise UserError(
        f"{files.source.owner}: {files.source.title} is no inpainting pipeline",
        expected="a class of diffusers that takes a mask, such as StableDiffusionInpaintPipeline, "
        "FluxFillPipeline or QwenImageEditInpaintPipeline",
        got=name,
        remedy="Use it with the tool instruct" if name in INSTRUCT else None,
    )


def instruct_class(files: PipelineFiles) -> tuple[Any, Any]:
    """Class that edits as told, twice; raises UserError for a pipeline that is none."""
    name = files.class_name
    if name not in INSTRUCT:
        raise UserError(
            f"{files.source.owner}: {files.source.title} is no pipeline that edits by instruction",
            expected=f"one of {', '.join(INSTRUCT)}",
            got=name,
            remedy="A pipeline that takes a mask is for the tool inpaint",
        )
    cls = getattr(diffusers, name)
    return cls, cls


def parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    """Parameters of a call of the pipeline."""
    return inspect.signature(cls.__call__).parameters


def is_distilled(cls: Any) -> bool:
    """True if guidance was distilled into a model: it has no default where there is none."""
    return getattr(parameters(cls).get("guidance_scale"), "default", None) is None


def require_size(owner: str, cls: Any, options: EditorOptions) -> None:
    """Raise UserError for a size that the pipeline would not hear."""
    if options.size is not None and cls.__name__.startswith(OWN_SIZE):
        raise UserError(
            f"{owner}: {cls.__name__} takes no size",
            remedy="Leave the option out",
        )
