"""CCI's tables on the official layouts of ImageNet and COCO, each by one command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from cuescope.cli import main

CLIP = {
    "embed_dim": 16,
    "vision_cfg": {
        "image_size": 32,
        "layers": 1,
        "width": 32,
        "head_width": 16,
        "patch_size": 8,
    },
    "text_cfg": {
        "context_length": 16,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    },
}
CLASSES = {
    "n01440764": "tench, Tinca tinca",
    "n01443537": "goldfish, Carassius auratus",
}
COUNT = 4


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    content = {"model_cfg": CLIP, "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = open_clip.create_model(f"local-dir:{folder}").state_dict()
    save_file(weights, folder / "open_clip_model.safetensors")
    return f"open-clip:{folder}"


def photo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(list(path.name.encode()))
    Image.fromarray(rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)).save(path)


def bench(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    *words: str,
) -> list[dict[str, Any]]:
    """The tables of `cuescope dev bench cci`."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(folder / "cache"))
    monkeypatch.chdir(folder)
    short = ("--steps", "2", "--explainers", "random,game")
    with pytest.raises(SystemExit) as ended:
        main(["dev", "bench", "cci", "--device", "cpu", "--json", *short, *words])
    told = capsys.readouterr()
    assert ended.value.code == 0, told.err
    return list(json.loads(told.out)["tables"])


def test_imagenet(
    clip: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Table 1; figure 1d needs masks, which ImageNet lacks, and says how to get them."""
    root = tmp_path / "imagenet"
    for wnid in CLASSES:
        for index in range(COUNT):
            photo(root / "val" / wnid / f"ILSVRC2012_val_{index:08d}.JPEG")
    lines = [f"{wnid} {names}" for wnid, names in CLASSES.items()]
    (root / "LOC_synset_mapping.txt").write_text("\n".join(lines))
    words = ("--data", f"imagenet:{root}", "--tasks", "classification,failures")
    tables = bench(monkeypatch, capsys, tmp_path, "--model", clip, *words)
    titles = [table["title"] for table in tables]
    assert titles[0] == "Classification: deletion AUC, lower is better"
    assert [row["explainer"] for row in tables[0]["rows"]] == ["random", "GAME", "CCI"]
    paper = {row["explainer"]: row["GT@1"] for row in tables[0]["paper"]}
    assert paper == {"GAME": 0.3356, "CCI": 0.1809}
    assert f"{2 * COUNT} images of imagenet" in tables[0]["notes"][0]
    assert titles[-1] == "What the wrong answers rely on"
    assert "segmenter" in tables[-1]["notes"][0]


def test_karpathys_split_of_coco(
    clip: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Table 2, over the images that dataset_coco.json puts into val, with its captions."""
    root, rows, images = tmp_path / "coco", [], []
    for number in range(2 * COUNT):
        name = f"COCO_val2014_{number:012d}.jpg"
        photo(root / "val2014" / name)
        images.append({"id": number, "file_name": name, "width": 48, "height": 40})
        split = "val" if number < COUNT else "test"
        captions = [
            {"raw": f"a  photo of\nthing {number} {word}"} for word in ("one", "two")
        ]
        rows.append({"filename": name, "split": split, "sentences": captions})
    (root / "annotations").mkdir()
    categories = [{"id": 1, "name": "person", "supercategory": "person"}]
    content = {"images": images, "annotations": [], "categories": categories}
    (root / "annotations" / "instances_val2014.json").write_text(json.dumps(content))
    (root / "dataset_coco.json").write_text(json.dumps({"images": rows}))
    words = ("--data", f"coco:{root}", "--data-options", '{"split": "karpathy-val"}')
    tables = bench(
        monkeypatch, capsys, tmp_path, "--model", clip, *words, "--tasks", "retrieval"
    )
    assert tables[0]["title"] == "Retrieval: deletion AUC, lower is better"
    assert f"{COUNT} images of coco" in tables[0]["notes"][0]
    assert {row["explainer"]: row["IR@1"] for row in tables[0]["paper"]}["CCI"] == 0.065
    assert all(0 <= row["TR@5"] <= 1 for row in tables[0]["rows"])
