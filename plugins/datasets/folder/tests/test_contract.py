"""The sdk's contract suite: class folders with splits, and a manifest with an answer sheet."""

import json
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from cuescope_folder import Folder
from cuescope_testing import DatasetContract

FRAMES = 3


def write_tree(root: Path) -> list[Path]:
    """`root/SPLIT/CLASS/CLIP/FRAME.png`: two clips a class and split, every frame another grey."""
    places = list(product(("train", "val", "test"), ("cat", "dog"), ("clip1", "clip2")))
    clips = [root.joinpath(*parts) for parts in places]
    for level, (clip, frame) in enumerate(product(clips, range(FRAMES)), start=10):
        clip.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (12, 10), (level, level, level)).save(clip / f"{frame}.png")
    return clips


class TestContract(DatasetContract):
    plugin = Folder

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tree(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = tmp_path_factory.mktemp("tree")
        write_tree(root)
        cls.options = {"path": root, "frames": FRAMES}
        cls.other_options = {"path": root, "frames": FRAMES - 1}


class TestManifest(DatasetContract):
    plugin = Folder

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _manifest(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = tmp_path_factory.mktemp("manifest")
        rows = [
            {
                "path": clip.relative_to(root).as_posix(),
                "label": clip.parent.name,
                "split": clip.parent.parent.name,
                "cues": {"dark": [True, False, False]},
            }
            for clip in write_tree(root)
        ]
        table = root / "manifest.jsonl"
        table.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        cls.options = {"path": table, "frames": FRAMES}
        cls.other_options = {**cls.options, "split": "val"}
