"""What `cuescope audit cci` says to masks and models that do not fit, given as files."""

import json
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from cuescope.cli import main
from cuescope_sdk import Report

VIT = {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 8}
RESNET = {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8}
TEXT = {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
COUNT = 8
SIDE = 40


def write_clip(folder: Path, vision: dict[str, object]) -> Path:
    """A tiny open_clip model with random weights."""
    folder.mkdir()
    config = {"model_cfg": {"embed_dim": 16, "vision_cfg": vision, "text_cfg": TEXT}}
    (folder / "open_clip_config.json").write_text(
        json.dumps({**config, "preprocess_cfg": {}})
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip") / "vit", VIT)


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip") / "resnet", RESNET)


def write_photos(folder: Path, masks: dict[int, np.ndarray]) -> Path:
    """Photos of two classes, each with a mask over its left half, or with that of `masks`."""
    rng = np.random.default_rng(0)
    left = np.zeros((SIDE, SIDE), np.uint8)
    left[:, : SIDE // 2] = 255
    rows = ["path,label,mask"]
    (folder / "masks").mkdir(parents=True)
    for index in range(COUNT):
        pixels = rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{index}.png")
        Image.fromarray(masks.get(index, left)).save(folder / "masks" / f"{index}.png")
        rows.append(f"{index}.png,{'cat' if index % 2 else 'dog'},masks/{index}.png")
    (folder / "manifest.csv").write_text("\n".join(rows))
    return folder


def audit(model: Path, data: Path, out: Path) -> int:
    words = (
        "--model",
        f"open-clip:{model}",
        "--data",
        f"folder:{data}",
        "--device",
        "cpu",
    )
    options = ("-O", "k=2")
    with pytest.raises(SystemExit) as ended:
        main(["audit", "cci", *words, *options, "--no-cache", "--out", str(out)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_network_without_tokens_is_one_line(
    resnet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(resnet, write_photos(tmp_path / "photos", {}), tmp_path / "run") == 2
    *warnings, line = capsys.readouterr().err.splitlines()
    assert all(each.startswith("cuescope: warning: ") for each in warnings)
    assert "expected a model with edit 'hide-tokens'" in line
    assert "its image tower is convolutional and has no tokens; take a ViT" in line


def test_a_mask_of_another_size_is_one_line(
    vit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = write_photos(tmp_path / "photos", {3: np.full((20, 30), 255, np.uint8)})
    assert audit(vit, photos, tmp_path / "run") == 2
    *warnings, line = capsys.readouterr().err.splitlines()
    assert all(each.startswith("cuescope: warning: ") for each in warnings)
    assert "annotations['foreground'] is not what methods read" in line
    assert "as large as the frame" in line
    assert "got 20 x 30 (rows x columns) in sample '3.png'" in line


def test_an_empty_mask_leaves_its_image_out(vit: Path, tmp_path: Path) -> None:
    whole, empty = (np.full((SIDE, SIDE), value, np.uint8) for value in (255, 0))
    photos = write_photos(tmp_path / "photos", {2: empty, 5: whole})
    assert audit(vit, photos, tmp_path / "run") == 0
    report = Report.model_validate_json((tmp_path / "run" / "report.json").read_bytes())
    count, _, reason = report.notes["left out"].partition(" images")
    # of a model that was never taught a map may have no positive part either
    assert int(count) in {2, 3}
    assert "a mask that is empty or whole" in reason
    [of_all, *_] = report.tables[0].rows
    assert str(of_all["wrong"]).endswith(f" of {COUNT - int(count)}")
