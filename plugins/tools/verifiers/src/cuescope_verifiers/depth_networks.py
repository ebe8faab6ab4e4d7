"""Stock depth networks of transformers: Depth Anything, DPT, ZoeDepth, GLPN ..."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers
from jaxtyping import Float
from torch.nn.functional import interpolate

from cuescope_sdk import Context, Frame, UserError
from cuescope_sdk.models import FrameMemory
from cuescope_sdk.torch import Pretrained, Source, to_array

OWNER = "depth"
METRIC = frozenset({"zoedepth", "glpn", "depth_pro"})  # architectures that give metres
REMEMBERED = 2**28  # bytes: 512 maps of 256 x 256 numbers
LARGEST = 256  # pixels of a map's longer side


class DepthNetwork:
    """Depth of each pixel: in metres where `metric`, else larger is farther on no known scale.

    Networks that are not metric give nearness up to scale and shift (Ranftl et al., 2020), which
    is turned round here: their maps of two frames cannot be compared.
    """

    def __init__(self, model: str, revision: str | None, context: Context) -> None:
        def builder_of(config: Any, source: Source) -> Any:
            if type(config) not in transformers.MODEL_FOR_DEPTH_ESTIMATION_MAPPING:
                raise UserError(
                    f"{OWNER}: {source.title} estimates no depth",
                    expected="a model of transformers' depth estimation, as Depth Anything or DPT",
                    got=f"the architecture '{config.model_type}'",
                )
            return transformers.AutoModelForDepthEstimation

        self.files = Pretrained.find(OWNER, model, revision, context, builder_of)
        config = self.files.config
        # the networks of Depth Anything are of both kinds, and say which in their config
        self.metric: bool = (
            config.model_type in METRIC
            or getattr(config, "depth_estimation_type", None) == "metric"
        )
        self._processor = self.files.read("processor", transformers.AutoImageProcessor)
        self.fingerprint = self.files.fingerprint(self._processor, LARGEST)
        self._maps = FrameMemory(self._estimate, 1, REMEMBERED)

    def depth(self, frame: Frame) -> Float[np.ndarray, "row col"]:
        """Of a frame, at most `LARGEST` pixels a side; looked at once while it is remembered."""
        [depth] = self._maps.rows([frame])
        return depth

    @torch.inference_mode()
    def _estimate(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """Of one frame."""
        [frame] = frames
        # the networks take three channels, and a frame may be grey
        image = frame.load().convert("RGB")
        inputs = self._processor(images=image, return_tensors="pt")
        values = inputs["pixel_values"].to(self.files.device, self.files.dtype)
        answer = self.files.network(pixel_values=values)
        predicted = answer.predicted_depth.float()
        rows, cols = predicted.shape[-2:]
        # a batch of one map of one channel
        maps = predicted.reshape(1, 1, rows, cols)
        size = _map_size(image.width, image.height)
        [[depth]] = interpolate(maps, size=size, mode="bilinear")
        if not self.metric:
            depth = -depth
        return [to_array(depth).astype(float)]


def _map_size(width: int, height: int) -> tuple[int, int]:
    """Rows and columns of the map of a picture."""
    share = min(LARGEST / max(width, height), 1.0)
    rows = max(round(height * share), 1)
    cols = max(round(width * share), 1)
    return rows, cols
