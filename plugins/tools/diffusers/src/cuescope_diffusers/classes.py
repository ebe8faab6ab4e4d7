"""Which class of diffusers edits with a folder's files, and what its call takes."""

import inspect
from collections.abc import Mapping
from typing import Any

import diffusers
from diffusers.pipelines.auto_pipeline import (
    AUTO_INPAINT_PIPELINES_MAPPING,
    _get_task_class,
)

from cuescope_diffusers.files import PipelineFiles
from cuescope_diffusers.options import EditorOptions, InpaintOptions
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
# several images are one question there
ONE_BY_ONE = ("QwenImageEdit", "Flux2", "LongCat")
TEXT_ALONE = ("prompt", "image")
WITH_MASK = (*TEXT_ALONE, "mask_image")


def inpainting_class(
    files: PipelineFiles,
    options: InpaintOptions,
    control: Any | None,
) -> tuple[Any, Any]:
    """What opens the files (diffusers' Auto class where it knows them), and the class that comes.

    `control` is the class of a ControlNet. Raises UserError for a pipeline that takes no mask.
    """
    name = files.class_name
    # the class of such files is known once their code has run
    if _is_custom(name, options):
        return diffusers.DiffusionPipeline, None
    auto = auto_class(name, control)
    if auto is not None:
        return diffusers.AutoPipelineForInpainting, auto
    cls = getattr(diffusers, BESIDE_AUTO.get(name, name))
    if control is None and takes(cls, *WITH_MASK):
        return cls, cls
    purpose = " that takes this ControlNet" if control else ""
    raise UserError(
        f"{files.source.owner}: {files.source.title} is no inpainting pipeline{purpose}",
        expected="a class of diffusers that takes a mask, such as StableDiffusionInpaintPipeline, "
        "FluxFillPipeline or QwenImageEditInpaintPipeline",
        got=name,
        remedy="Use it with the tool instruct" if name in INSTRUCT else None,
    )


def instruct_class(files: PipelineFiles, options: EditorOptions) -> tuple[Any, Any]:
    """The class that edits as told, twice; raises UserError for a pipeline that is none."""
    name = files.class_name
    if _is_custom(name, options):
        return diffusers.DiffusionPipeline, None
    cls = getattr(diffusers, name)
    if name in INSTRUCT:
        return cls, cls
    # for the remedy: the other tool may be the right one
    masked = auto_class(name, None) is not None or takes(cls, *WITH_MASK)
    raise UserError(
        f"{files.source.owner}: {files.source.title} is no pipeline that edits by instruction",
        expected=f"one of {', '.join(INSTRUCT)}",
        got=name,
        remedy="Use it with the tool inpaint" if masked else None,
    )


def auto_class(name: str, control: Any | None) -> Any:
    """What `AutoPipelineForInpainting` would open for files of the class `name`, else None."""
    if control is not None:
        # the Auto class has ControlNet pipelines under such names
        kind = "ControlNetUnion" if "Union" in control.__name__ else "ControlNet"
        end = "InpaintPipeline" if "Inpaint" in name else "Pipeline"
        name = name.removesuffix(end) + kind + end
    return _get_task_class(
        AUTO_INPAINT_PIPELINES_MAPPING,
        name,
        throw_error_if_not_exist=False,
    )


def parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    """What a call of the pipeline takes."""
    return inspect.signature(cls.__call__).parameters


def takes(cls: Any, *names: str) -> bool:
    """Whether a call of the pipeline takes all of these."""
    return set(names) <= set(parameters(cls))


def sequence_length(cls: Any) -> int | None:
    """Tokens that long text encoders are given; None where the pipeline does not say."""
    default = getattr(parameters(cls).get("max_sequence_length"), "default", None)
    return default if isinstance(default, int) else None


def guidance_name(cls: Any) -> str:
    """Guidance that a model was distilled with has no default where it has none of it (Qwen)."""
    default = getattr(parameters(cls).get("guidance_scale"), "default", None)
    return "true_cfg_scale" if default is None else "guidance_scale"


def require_options(owner: str, cls: Any, options: EditorOptions) -> None:
    """Raises UserError for an option that the pipeline would not hear."""
    given = {
        "negative_prompt": options.negative_prompt,
        guidance_name(cls): options.guidance,
        "image_guidance_scale": getattr(options, "image_guidance", None),
    }
    for name, value in given.items():
        if value is not None and not takes(cls, name):
            raise UserError(
                f"{owner}: {cls.__name__} takes no {name.removesuffix('_scale')}",
                remedy="Leave the option out",
            )
    # 1 is what a pipeline without the option does
    strength = getattr(options, "strength", 1.0)
    if strength != 1 and not takes(cls, "strength"):
        raise UserError(
            f"{owner}: {cls.__name__} takes no strength", got=f"{strength:g}"
        )
    if options.size is not None and cls.__name__.startswith(OWN_SIZE):
        raise UserError(
            f"{owner}: {cls.__name__} works on as many pixels as 1024 x 1024 have",
            expected="no option size",
            got=str(options.size),
        )
    # of this many steps diffusers runs the last ones
    if int(options.steps * strength) < 1:
        raise UserError(
            f"{owner}: strength {strength:g} of {options.steps} steps is none",
            expected="steps x strength of 1 or more",
        )


def _is_custom(name: str, options: EditorOptions) -> bool:
    return options.trust_remote_code and not hasattr(diffusers, name)
