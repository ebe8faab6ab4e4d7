"""Outside eyes: networks that embed pictures and their patches, for models that tell none."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float
from PIL import Image
from pydantic import Field

from cuescope_sdk import Context, Frame, LazyWeights, Names, Options, Plugin, UserError
from cuescope_sdk.models import unit


class EyeOptions(Options):
    """Options of an eye; the part after its name and a colon is `model`."""

    argument = "model"

    model: Annotated[str, Names.repository()] = Field(
        "facebook/dinov2-small",
        description="a folder that save_pretrained wrote, or a hub id",
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )


class Eye(Plugin, LazyWeights):
    """A network that embeds pictures, some at a time."""

    Options: ClassVar[type[Options]] = EyeOptions
    options: EyeOptions
    answers_version = 1

    def __init__(self, options: EyeOptions, context: Context) -> None:
        super().__init__(options, context)
        self.network = self.find_network()
        self.fingerprint: str = self.network.fingerprint
        self.facts: dict[str, str] = self.network.facts

    @abstractmethod
    def find_network(self) -> Any:
        """The network, with its weights not opened yet."""

    def open_weights(self) -> None:
        """Open the network's weights."""
        self.network.open()

    def embed(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame dim"]:
        """Unit rows."""
        rows = list(self._rows(frames))
        if not rows:
            return np.zeros((0, 1), np.float32)
        return unit(np.concatenate(rows))

    def _rows(self, frames: Sequence[Frame]) -> Iterator[np.ndarray]:
        for images in self._batches(frames):
            yield self.network.embed(images)

    def _batches(self, frames: Sequence[Frame]) -> Iterator[list[Image.Image]]:
        size = self.context.batch_size
        for start in range(0, len(frames), size):
            yield [frame.load() for frame in frames[start : start + size]]

    @cached_property
    def why_no_patches(self) -> str | None:
        """Why its network gives no map of places, or None; no weights are opened for it."""
        # torch, which a list of plugins must not wait for
        from cuescope_sdk.torch import fault_of

        try:
            self.network.try_patches()
        # networks of any kind are tried
        except Exception as error:
            return f"its network gives no map of places ({fault_of(error)})"
        return None

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[Float[np.ndarray, "row col dim"]]:
        """Patches after a layer, on a grid over the whole frame: nothing is cropped away."""
        if self.why_no_patches is not None:
            raise UserError(f"{self.network.title}: {self.why_no_patches}")
        maps: list[np.ndarray] = []
        try:
            for images in self._batches(frames):
                maps += list(self.network.patches(images, layer))
        except (IndexError, AssertionError) as error:
            raise UserError(f"{self.network.title} has no layer {layer}") from error
        return maps


class VisionTower(Eye):
    """A network of transformers that embeds images: DINOv2, ViT, SigLIP, CLIP and others."""

    def find_network(self) -> Any:
        """By its configuration."""
        # torch, which a list of plugins must not wait for
        from cuescope_embedders.towers import Tower

        return Tower.find(self.options.model, self.options.revision, self.context)


class TimmOptions(EyeOptions):
    """Options of `timm`; the part after `timm:` is `model`."""

    model: Annotated[str, Names.repository()] = Field(
        "vit_small_patch14_dinov2.lvd142m",
        description="a name of timm, a folder that save_for_hf wrote, or a hub id",
    )


class Timm(Eye):
    """A network of timm, those of torchvision among them ("resnet50.tv_in1k")."""

    Options: ClassVar[type[Options]] = TimmOptions

    def find_network(self) -> Any:
        """By its config.json."""
        from cuescope_embedders.of_timm import TimmNetwork

        return TimmNetwork.find(
            self.options.model,
            self.options.revision,
            self.context,
        )
