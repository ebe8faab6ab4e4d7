"""An opened pipeline: the size that it works at, its call, and what comes out of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import diffusers
import numpy as np
import torch
from PIL import Image

from cuescope_diffusers.classes import OWN_SIZE, is_distilled, parameters
from cuescope_diffusers.options import EditorOptions
from cuescope_sdk import UserError
from cuescope_sdk.torch import Source, fault_of, quiet, refuse_larger_networks

SIDE = 1024  # pixels, where a pipeline does not say what it was trained at


@dataclass(frozen=True)
class Job:
    """One image for a pipeline; `mask` (mode L) is white where it may change."""

    image: Image.Image
    prompt: str
    seed: int
    mask: Image.Image | None = None


class OpenPipeline:
    """A pipeline of diffusers with its weights."""

    def __init__(self, source: Source, pipe: Any, options: EditorOptions) -> None:
        self._title = f"{source.owner}: {source.title}"
        self.pipe = pipe
        self._options = options
        self._cls = type(pipe)
        self.grid = _grid(pipe)
        self.side = options.size or _native_side(pipe)

    def working_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """(width, height) that the network sees: as many pixels, in the image's own shape."""
        if self._cls.__name__.startswith(OWN_SIZE):
            return size
        # by the root: the option is a side, the pixels are an area
        scale = self.side / (size[0] * size[1]) ** 0.5
        cells = np.maximum(np.round(np.array(size) * scale / self.grid), 1)
        width, height = (cells * self.grid).astype(int).tolist()
        return width, height

    def run(self, job: Job) -> Image.Image | None:
        """The image; None where the model's own safety checker has blackened it.

        It draws from a CPU generator of its own seed, so that the device changes nothing of that.
        """
        try:
            with _silent(), torch.no_grad():
                output = self.pipe(**self._arguments(job))
        except (
            Exception
        ) as error:  # a pipeline refuses what does not suit it in any way it likes
            got = fault_of(error)
            remedy = None
            if isinstance(error, torch.OutOfMemoryError):
                got = "too little memory on the device"
                remedy = "Take a smaller size, or bfloat16"
            raise UserError(
                f"{self._title}: {self._cls.__name__} cannot make this edit",
                got=got,
                remedy=remedy,
            ) from error
        # pipelines without a checker have no such field
        [is_unsafe] = getattr(output, "nsfw_content_detected", None) or [False]
        [image] = output.images
        return None if is_unsafe else image.convert("RGB")

    def _arguments(self, job: Job) -> dict[str, Any]:
        options = self._options
        known = parameters(self._cls)
        width, height = job.image.size
        given: dict[str, Any] = {
            "prompt": job.prompt,
            "image": job.image,
            "generator": torch.Generator("cpu").manual_seed(job.seed),
            "num_inference_steps": options.steps,
            # nothing of what lay under the mask is left
            "strength": 1.0,
        }
        if job.mask is not None:
            given["mask_image"] = job.mask
        if not self._cls.__name__.startswith(OWN_SIZE):
            given |= {"width": width, "height": height}
            # Flux Kontext would choose a size by itself
            given |= {"max_area": width * height, "_auto_resize": False}
        if is_distilled(self._cls):
            # without one there is no guidance; this is what its authors give
            given["negative_prompt"] = " "
        # no pipeline takes all of these
        return {name: value for name, value in given.items() if name in known}


def _factor(pipe: Any) -> int:
    """Pixels of a latent; 1 for a pipeline that works on pixels (DeepFloyd IF)."""
    return int(getattr(pipe, "vae_scale_factor", 1))


def _grid(pipe: Any) -> int:
    """Pixels of a cell that sides must be multiples of."""
    factor = _factor(pipe)
    # a U-Net halves its latents three times, a transformer takes them two by two
    return factor * (8 if getattr(pipe, "unet", None) is not None else 2)


def _native_side(pipe: Any) -> int:
    """Side of the square that the network was trained at, in pixels."""
    factor = _factor(pipe)
    network = getattr(pipe, "unet", None)
    if network is None:
        latents = getattr(pipe, "default_sample_size", None)
    else:
        latents = network.config.sample_size
    return int(latents) * factor if isinstance(latents, int) else SIDE


# ---------------------------------------------------------------------------------------- opening


def open_network(source: Source, cls: Any, title: str, **options: Any) -> Any:
    """A network with all of its weights; raises UserError where a tensor is missing."""
    weights = [*source.folder.rglob("*.safetensors")]
    try:
        with _silent(), refuse_larger_networks(source.owner, weights):
            network, info = cls.from_pretrained(
                source.folder,
                use_safetensors=True,
                output_loading_info=True,
                **options,
            )
    except (
        Exception
    ) as error:  # the reader of a stranger's files fails in any way it likes
        raise UserError(
            f"{source.owner}: the weights of {title} cannot be read",
            got=fault_of(error),
        ) from error
    lacking = sorted(
        map(str, [*info["missing_keys"], *info.get("mismatched_keys", ())])
    )
    if lacking:  # diffusers only warns of what it draws at random
        raise UserError(
            f"{source.owner}: {title} lacks weights of a {cls.__name__}",
            expected="every tensor of the network",
            got=f"{len(lacking)} without, {lacking[0]} the first",
            remedy="Copy or download all of it again",
        )
    return network


def open_pipeline(source: Source, opener: Any, parts: dict[str, Any]) -> Any:
    """`opener.from_pretrained` around opened networks; raises UserError where it fails."""
    try:
        with _silent():
            # the files are here: nothing is downloaded now
            pipe = opener.from_pretrained(
                source.folder,
                local_files_only=True,
                **parts,
            )
            pipe.set_progress_bar_config(disable=True)
    except Exception as error:  # as above
        raise UserError(
            f"{source.owner}: the pipeline {source.title} cannot be opened",
            got=fault_of(error),
        ) from error
    return pipe


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing is said within, and no global generator moves."""
    logging = diffusers.utils.logging
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with quiet():
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
