"""Faster R-CNN (Ren et al., 2015) with a feature pyramid, by torchvision."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors.torch import load_file
from torchvision.models.detection import FasterRCNN, FasterRCNN_ResNet50_FPN_Weights
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.ops.misc import FrozenBatchNorm2d
from torchvision.transforms.functional import to_tensor

from cuescope_detectors.closed import NO_CLASS, Seen, seen
from cuescope_detectors.coco import CocoOptions
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.torch import files_digest, resolve_device

CATEGORIES = FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"]


class FasterRCNNNetwork:
    """torchvision's model with a local state dict; it runs in float32."""

    def __init__(self, weights: Path, options: CocoOptions, context: Context) -> None:
        self._weights, self._backbone, self._side = weights, options.backbone, options.side
        self._device = resolve_device(context.device)
        self.classes = {
            place: name for place, name in enumerate(CATEGORIES) if name not in NO_CLASS
        }
        self.fingerprint = digest(
            "faster-rcnn", 1, files_digest([weights]), options.backbone, options.side
        )
        self.facts = {
            "architecture": f"Faster R-CNN, {options.backbone} FPN",
            "weights": weights.name,
        }

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self._model

    @cached_property
    def _model(self) -> FasterRCNN:
        """The network as published: batch norms are frozen, and add nothing to the variance."""
        pyramid = resnet_fpn_backbone(
            backbone_name=self._backbone, weights=None, norm_layer=FrozenBatchNorm2d
        )
        model = FasterRCNN(
            pyramid, num_classes=len(CATEGORIES), min_size=self._side, max_size=self._side * 5 // 3
        )
        try:
            model.load_state_dict(self._state())
        except (RuntimeError, ValueError, AttributeError) as error:
            raise UserError(
                f"coco-detector: {self._weights.name} holds no Faster R-CNN",
                expected=f"the weights of one with {self._backbone} and {len(CATEGORIES)} classes",
                remedy="Another backbone: -T detector.backbone=resnet101.",
            ) from error
        for module in model.modules():
            if isinstance(module, FrozenBatchNorm2d):
                module.eps = 0.0
        return model.eval().requires_grad_(False).to(self._device)

    def _state(self) -> dict[str, Any]:
        if self._weights.suffix == ".safetensors":
            return load_file(self._weights)
        try:
            found: dict[str, Any] = torch.load(self._weights, map_location="cpu", weights_only=True)
        except Exception as error:  # a stranger's pickle fails in any way it likes
            raise UserError(
                f"coco-detector: {self._weights.name} cannot be read",
                expected="tensors by name, as torch.save(model.state_dict()) writes them",
            ) from error
        return found

    @torch.no_grad()
    def look(self, images: Sequence[Image.Image], threshold: float) -> list[list[Seen]]:
        """What scores more than `threshold` in images of one size, an image each."""
        self._model.roi_heads.score_thresh = threshold
        said = self._model([to_tensor(image).to(self._device) for image in images])
        return [seen(of, image, threshold) for of, image in zip(said, images, strict=True)]
