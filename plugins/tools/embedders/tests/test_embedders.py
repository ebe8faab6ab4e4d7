"""Outside eyes on tiny networks that were saved to disk, opened by the call that a user makes."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import timm.data
import torch
import transformers

from cuescope_embedders import Timm, VisionTower
from cuescope_sdk import Context, Frame, UserError
from cuescope_sdk.models import unit
from cuescope_testing import ToolContract

SIDE = 28


def drawn(make: Any) -> Any:
    """A network with seeded weights that tell pictures apart."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = make()
        for weight in network.parameters():
            if weight.ndim > 1:
                weight.data.normal_(std=0.2)
    return network.eval()


def frames(count: int = 3) -> list[Frame]:
    rng = np.random.default_rng(0)
    shape = (count, SIDE, SIDE, 3)
    return [
        Frame.from_array(pixels) for pixels in rng.integers(0, 256, shape, np.uint8)
    ]


@pytest.fixture(scope="session")
def dinov2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dinov2")
    config = transformers.Dinov2Config(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        image_size=SIDE,
        patch_size=14,
    )
    drawn(lambda: transformers.Dinov2Model(config)).save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    transformers.BitImageProcessor(size=size, crop_size=size).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained as a classifier, so that no pooler is in the checkpoint."""
    folder = tmp_path_factory.mktemp("vit")
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        image_size=SIDE,
        patch_size=14,
    )
    drawn(lambda: transformers.ViTForImageClassification(config)).save_pretrained(
        folder
    )
    size = {"height": SIDE, "width": SIDE}
    transformers.ViTImageProcessor(size=size).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def swin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its last stage merges patches."""
    folder = tmp_path_factory.mktemp("swin")
    config = transformers.SwinConfig(
        image_size=16, embed_dim=8, depths=[1, 1], num_heads=[1, 1], window_size=2
    )
    drawn(lambda: transformers.SwinModel(config)).save_pretrained(folder)
    size = {"height": 16, "width": 16}
    transformers.ViTImageProcessor(size=size).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def mae(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It looks at a part of its patches, drawn anew each time."""
    folder = tmp_path_factory.mktemp("mae")
    config = transformers.ViTMAEConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        image_size=SIDE,
        patch_size=7,
    )
    drawn(lambda: transformers.ViTMAEModel(config)).save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    transformers.ViTImageProcessor(size=size).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resnet")
    network = drawn(lambda: timm.create_model("test_resnet", pretrained=False))
    timm.models.save_for_hf(network, str(folder), safe_serialization=True)
    return folder


class TestVisionTower(ToolContract):
    plugin = VisionTower

    @pytest.fixture(autouse=True)
    def saved(self, dinov2: Path) -> None:
        type(self).options = {"model": str(dinov2)}


@pytest.mark.long
class TestTimm(ToolContract):
    plugin = Timm

    @pytest.fixture(autouse=True)
    def saved(self, resnet: Path) -> None:
        type(self).options = {"model": str(resnet)}


def build(name: str, folder: Path) -> Any:
    return Context(device="cpu").build("tool", f"{name}:{folder}")


def test_a_tower_is_asked_as_transformers_asks_it(dinov2: Path) -> None:
    network = transformers.AutoModel.from_pretrained(dinov2)
    processor = transformers.AutoImageProcessor.from_pretrained(dinov2)
    images = [frame.load() for frame in frames()]
    with torch.inference_mode():
        rows = network(**processor(images=images, return_tensors="pt")).pooler_output
    got = build("vision-tower", dinov2).embed(frames())
    np.testing.assert_allclose(got, unit(rows.numpy()), atol=1e-5)


@pytest.mark.parametrize(
    "arguments", [{"layers": [10**6] * 4}, {"stem_width": 10**9}, {"channels": "x"}]
)
def test_a_network_of_timm_is_no_larger_than_its_weights(
    resnet: Path, tmp_path: Path, arguments: dict[str, Any]
) -> None:
    folder = shutil.copytree(resnet, tmp_path / "mail")
    config = json.loads((folder / "config.json").read_text())
    config["model_args"] = arguments
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"larger network|cannot be opened") as line:
        build("timm", folder).embed(frames())
    assert "\n" not in str(line.value)


def test_a_network_of_timm_is_asked_as_timm_asks_it(resnet: Path) -> None:
    network = timm.create_model(f"local-dir:{resnet}", pretrained=True, num_classes=0)
    config = timm.data.resolve_model_data_config(network)
    transform = timm.data.create_transform(**config, is_training=False)
    pixels = torch.stack([transform(frame.load()) for frame in frames()])
    with torch.inference_mode():
        rows = network.eval()(pixels)
    got = build("timm", resnet).embed(frames())
    np.testing.assert_allclose(got, unit(rows.numpy()), atol=1e-5)


def test_a_classifier_without_a_pooler_is_an_eye(vit: Path) -> None:
    rows = build("vision-tower", vit).embed(frames())
    assert rows.shape == (3, 16)
    assert not np.allclose(rows[0], rows[1])


@pytest.mark.parametrize(
    ("tool", "saved", "grid"),
    [
        ("vision-tower", "dinov2", (2, 2)),
        ("vision-tower", "vit", (2, 2)),
        ("vision-tower", "swin", (2, 2)),
        ("timm", "resnet", (5, 5)),
    ],
)
@pytest.mark.parametrize("size", [(84, 28), (28, 84)])
def test_patches_lie_where_their_pixels_do(
    request: pytest.FixtureRequest,
    tool: str,
    saved: str,
    grid: tuple[int, int],
    size: tuple[int, int],
) -> None:
    """Of the whole of a long picture, which an embedding is cropped from."""
    eye = build(tool, request.getfixturevalue(saved))
    assert eye.why_no_patches is None
    plain = np.full((*size, 3), 128, np.uint8)
    for row, col in ((0, 0), (0, 1), (1, 0), (1, 1)):
        noisy = plain.copy()
        # an outer part of the picture
        part = noisy[row * size[0] * 3 // 4 :, col * size[1] * 3 // 4 :]
        part = part[: size[0] // 4, : size[1] // 4]
        part[:] = np.random.default_rng(0).integers(0, 256, part.shape, np.uint8)
        shown = [Frame.from_array(plain), Frame.from_array(noisy)]
        before, after = eye.patch_features(shown)
        assert before.shape[:2] == grid
        moved = np.abs(after - before).sum(axis=-1)
        found = np.unravel_index(moved.argmax(), grid)
        assert (found[0] * 2 >= grid[0], found[1] * 2 >= grid[1]) == (row, col)


def test_what_has_no_patches_says_why(dinov2: Path, mae: Path) -> None:
    eye = build("vision-tower", mae)
    assert "5 tokens on 4 x 4 patches" in eye.why_no_patches
    with pytest.raises(UserError, match="5 tokens"):
        eye.patch_features(frames())
    with pytest.raises(UserError, match="has no layer 2"):
        build("vision-tower", dinov2).patch_features(frames(), 2)


def test_no_picture_no_row(resnet: Path) -> None:
    assert len(build("timm", resnet).embed([])) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"architecture": "test_resne"},
            r"cannot be opened: got Unknown model \(test_resne\)",
        ),
        ({"architecture": "test_vit"}, "cannot be opened"),
        ({"architecture": None}, "cannot be opened"),
    ],
)
def test_what_cannot_be_opened_is_one_line(
    resnet: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(resnet, folder)
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(UserError, match=said):
        build("timm", folder).embed(frames())


def test_what_has_no_preprocessing_of_pictures_is_no_eye(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be read"):
        build("vision-tower", tmp_path)
