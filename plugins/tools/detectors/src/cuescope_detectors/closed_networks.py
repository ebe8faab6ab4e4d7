"""Networks with a fixed list of classes: DETR and its like, and Faster R-CNN."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from torch import Tensor
from torchvision.models.detection import FasterRCNN, FasterRCNN_ResNet50_FPN_Weights
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.ops.misc import FrozenBatchNorm2d
from torchvision.transforms.functional import to_tensor

from cuescope_detectors.options import CocoOptions
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.torch import (
    Checkpoint,
    Pretrained,
    Source,
    files_digest,
    resolve_device,
)

OWNER = "coco-detector"
# score, class, box in pixels
ClassBox = tuple[float, int, tuple[float, float, float, float]]
# what the lists of classes hold beside classes
NO_CLASS = frozenset({"N/A", "__background__"})
CATEGORIES = FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"]


def class_boxes(
    outputs: Sequence[Mapping[str, Tensor]],
    size: tuple[int, int],
    threshold: float,
) -> list[list[ClassBox]]:
    """`outputs` ("scores", "labels", "boxes") with the boxes clipped to images of this size."""
    limits = torch.tensor([*size, *size])
    by_image = []
    for output in outputs:
        scores = output["scores"].tolist()
        labels = output["labels"].tolist()
        # in float32: half precision would round pixels of a large image
        corners = output["boxes"].float().cpu()
        boxes = corners.clamp(min=0).minimum(limits).tolist()
        kept = []
        for score, label, (x0, y0, x1, y1) in zip(scores, labels, boxes, strict=True):
            # a box that lies outside of the image has no extent once it is clipped
            if score > threshold and x1 > x0 and y1 > y0:
                kept.append((score, label, (x0, y0, x1, y1)))
        by_image.append(kept)
    return by_image


def named_classes(classes: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Names by their numbers, without those that stand for no class."""
    return {index: name for index, name in classes if name not in NO_CLASS}


class DetrNetwork:
    """The stock model with the library's own post-processing.

    `classes` are names by the numbers that `detect` gives.
    """

    def __init__(self, options: CocoOptions, context: Context) -> None:
        self._files = Pretrained.find(
            OWNER, options.model, options.revision, context, _builder
        )
        self._processor = self._files.read("processor", transformers.AutoImageProcessor)
        self.classes = named_classes(self._files.config.id2label.items())
        self.fingerprint = self._files.fingerprint(self._processor)
        self.facts = self._files.facts

    def open_weights(self) -> None:
        _ = self._files.network

    @torch.no_grad()
    def detect(
        self,
        images: Sequence[Image.Image],
        threshold: float,
    ) -> list[list[ClassBox]]:
        """Boxes that score more than `threshold` in images of one size, an image each."""
        files = self._files
        inputs = self._processor(list(images), return_tensors="pt").to(
            files.device, files.dtype
        )
        outputs = self._processor.post_process_object_detection(
            files.network(**inputs),
            threshold=threshold,
            # (height, width), as the library has it
            target_sizes=[image.size[::-1] for image in images],
        )
        return class_boxes(outputs, images[0].size, threshold)


def _builder(config: Any, source: Source) -> Any:
    builder = transformers.AutoModelForObjectDetection
    # there is no public name for the configurations that an Auto class knows
    if type(config) in builder._model_mapping:
        return builder
    raise UserError(
        f"{OWNER}: {source.title} is no object detector",
        expected="DETR, RT-DETR, YOLOS or their like",
        got=f"the architecture '{config.model_type}'",
    )


class FasterRCNNNetwork:
    """torchvision's model with a local state dict; it runs in float32."""

    def __init__(self, weights: Path, options: CocoOptions, context: Context) -> None:
        self._weights = weights
        self._options = options
        self._context = context
        self._device = resolve_device(context.device)
        self.classes = named_classes(enumerate(CATEGORIES))
        self.fingerprint = digest(
            "faster-rcnn",
            1,
            files_digest([weights]),
            options.backbone,
            options.side,
        )
        self.facts = {
            "architecture": f"Faster R-CNN, {options.backbone} FPN",
            "weights": weights.name,
        }

    def open_weights(self) -> None:
        _ = self._model

    @cached_property
    def _model(self) -> FasterRCNN:
        """The network as published: batch norms are frozen, and add nothing to the variance."""
        self._context.stop_plan_before(f"the weights of {self._weights.name}")
        backbone = self._options.backbone
        side = self._options.side
        # without weights: the file below has all of them, and none is downloaded
        model = FasterRCNN(
            resnet_fpn_backbone(
                backbone_name=backbone,
                weights=None,
                norm_layer=FrozenBatchNorm2d,
            ),
            num_classes=len(CATEGORIES),
            min_size=side,
            max_size=side * 5 // 3,  # as published: 800 and 1333
        )
        try:
            model.load_state_dict(Checkpoint.read(OWNER, self._weights).tensors)
        except (RuntimeError, ValueError, AttributeError, TypeError) as error:
            raise UserError(
                f"coco-detector: {self._weights.name} holds no Faster R-CNN",
                expected=f"the weights of one with {backbone} and {len(CATEGORIES)} classes",
                remedy="Another backbone: -O tool.detector.backbone=resnet101.",
            ) from error
        # torchvision's own COCO weights were trained so; with its default of 1e-5 scores differ
        for module in model.modules():
            if isinstance(module, FrozenBatchNorm2d):
                module.eps = 0.0
        return model.eval().requires_grad_(False).to(self._device)

    @torch.no_grad()
    def detect(
        self,
        images: Sequence[Image.Image],
        threshold: float,
    ) -> list[list[ClassBox]]:
        """Boxes that score more than `threshold` in images of one size, an image each."""
        # before suppression: the library's default of 0.05 would drop boxes under a lower one
        self._model.roi_heads.score_thresh = threshold
        # a list, for torchvision resizes each image itself
        outputs = self._model([to_tensor(image).to(self._device) for image in images])
        return class_boxes(outputs, images[0].size, threshold)
