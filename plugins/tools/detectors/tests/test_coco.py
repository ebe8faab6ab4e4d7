"""DETR and Faster R-CNN against the libraries' own answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.ops.misc import FrozenBatchNorm2d
from torchvision.transforms.functional import to_tensor

from cuescope_detectors.coco import CocoDetector
from cuescope_sdk import Context, Frame, PlanStopped, UserError
from cuescope_testing import ToolContract

CLASSES = {0: "N/A", 1: "person", 2: "Dining Table", 3: "cat"}


@pytest.fixture(scope="module")
def detr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny DETR."""
    backbone = transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8],
        depths=[1, 1],
        layer_type="basic",
        out_features=["stage2"],
    )
    config = transformers.DetrConfig(
        use_timm_backbone=False,
        backbone_config=backbone,
        backbone=None,
        use_pretrained_backbone=False,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        num_queries=12,
        id2label=CLASSES,
        label2id={name: place for place, name in CLASSES.items()},
    )
    folder = tmp_path_factory.mktemp("detr")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = transformers.DetrForObjectDetection(config)
        for name, weight in model.named_parameters():
            if weight.ndim > 1 and "backbone" not in name:
                weight.data.normal_(std=0.5)
    model.save_pretrained(folder)
    size = {"shortest_edge": 32, "longest_edge": 64}
    transformers.DetrImageProcessor(size=size).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def rcnn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FasterRCNN]:
    """A file of weights, and the model that they are of."""
    with torch.random.fork_rng():
        torch.manual_seed(2)
        pyramid = resnet_fpn_backbone(
            backbone_name="resnet18", weights=None, norm_layer=FrozenBatchNorm2d
        )
        model = FasterRCNN(pyramid, num_classes=91, min_size=64, max_size=106).eval()
        model.roi_heads.box_predictor.cls_score.weight.data.normal_(std=3)
    file = tmp_path_factory.mktemp("rcnn") / "weights.safetensors"
    save_file(model.state_dict(), file)
    return file, model


def tool(model: Path, **options: Any) -> CocoDetector:
    return CocoDetector(
        CocoDetector.Options(model=str(model), **options), Context(device="cpu")
    )


class TestContract(ToolContract):
    plugin = CocoDetector
    device = "cpu"
    names = ("person", "cat")

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, detr: Path) -> None:
        cls.options = {"model": str(detr), "threshold": 0.1}


def test_detr_finds_what_the_library_finds(detr: Path, frames: list[Frame]) -> None:
    found = tool(detr, threshold=0.1).detect(
        frames[:2], ("person", "dining  table", "zebra")
    )
    model = transformers.AutoModelForObjectDetection.from_pretrained(detr).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(detr)
    for frame, ours in zip(frames, found, strict=False):
        image = frame.load()
        with torch.no_grad():
            said = model(**processor(image, return_tensors="pt"))
        (theirs,) = processor.post_process_object_detection(
            said, threshold=0.1, target_sizes=[image.size[::-1]]
        )
        wanted = sorted(
            (float(score), CLASSES[int(label)].lower())
            for score, label in zip(theirs["scores"], theirs["labels"], strict=True)
            if int(label) in (1, 2)
        )
        got = sorted((one.score, " ".join(one.name.split())) for one in ours)
        assert [name for _, name in got] == [name for _, name in wanted]
        assert [score for score, _ in got] == pytest.approx(
            [s for s, _ in wanted], abs=1e-4
        )
    assert any(found)


def test_its_names_are_said_without_weights(
    detr: Path, rcnn: tuple[Path, FasterRCNN]
) -> None:
    assert tool(detr).names == {"person", "dining table", "cat"}
    coco = tool(rcnn[0], backbone="resnet18").names
    assert len(coco) == 80
    assert coco >= {"person", "chair", "dining table", "toothbrush"}
    assert coco.isdisjoint({"n/a", "__background__"})


def test_a_plan_opens_no_weights(detr: Path, rcnn: tuple[Path, FasterRCNN]) -> None:
    for options in (
        {"model": str(detr)},
        {"model": str(rcnn[0]), "backbone": "resnet18"},
    ):
        planned = CocoDetector(
            CocoDetector.Options(**options), Context(device="cpu", planning=True)
        )
        with pytest.raises(PlanStopped, match="the weights of"):
            planned.open_weights()


def test_other_names_cost_no_pass(detr: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = tool(detr)
    monkeypatch.setattr(finder._network, "detect", None)
    assert finder.detect(
        [Frame.from_array(np.zeros((9, 9, 3), np.uint8))], ["zebra"]
    ) == [()]


def test_faster_rcnn_finds_what_torchvision_finds(
    rcnn: tuple[Path, FasterRCNN], frames: list[Frame]
) -> None:
    file, model = rcnn
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = 0.0
    model.roi_heads.score_thresh = 0.2
    image = frames[0].load()
    with torch.no_grad():
        (theirs,) = model([to_tensor(image)])
    finder = tool(file, backbone="resnet18", side=64, threshold=0.2)
    [found] = finder.detect(frames[:1], sorted(finder.names))
    named = [label in finder._network.classes for label in theirs["labels"].tolist()]
    scores = sorted(theirs["scores"][named].tolist(), reverse=True)
    assert len(found) == len(scores) > 0
    assert [one.score for one in found] == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("kind", ["backbone", "content"])
def test_other_weights_are_refused(
    rcnn: tuple[Path, FasterRCNN], tmp_path: Path, kind: str, frames: list[Frame]
) -> None:
    file, backbone = rcnn[0], "resnet34"
    if kind == "content":
        file, backbone = tmp_path / "weights.pth", "resnet18"
        file.write_bytes(b"no weights")
    finder = tool(file, backbone=backbone)
    with pytest.raises(
        UserError, match=r"coco-detector: weights\.\w+ (holds no|cannot be)"
    ) as error:
        finder.detect(frames[:1], ["person"])
    assert "\n" not in str(error.value)


def test_a_model_that_detects_nothing_is_refused(folders: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="is no object detector"):
        tool(folders["sam"])


def test_the_fingerprint_is_of_weights_and_threshold(
    detr: Path, rcnn: tuple[Path, FasterRCNN]
) -> None:
    made = [
        tool(file, threshold=threshold).fingerprint
        for file in (detr, rcnn[0])
        for threshold in (0.1, 0.2, 0.2)
    ]
    assert len(set(made)) == 4
