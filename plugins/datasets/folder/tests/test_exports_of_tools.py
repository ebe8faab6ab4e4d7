"""What labelling tools wrote themselves (benchmarks/exports_of_tools.py), of photos drawn here."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Context

EXPORTS: dict[str, Any] = json.loads(
    Path(__file__).with_name("exports_of_tools.json").read_text()
)
NAMES = ("cat", "dog")
SIZE = (64, 48)


def put_back(export: dict[str, Any], root: Path) -> None:
    for name, text in export["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for number, name in enumerate(export["pictures"]):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", SIZE, (40 * number, 0, 0)).save(root / name)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_a_tool_is_read(name: str, tmp_path: Path) -> None:
    put_back(EXPORTS[name], tmp_path)
    data = Context(cache=tmp_path / ".cache").build("dataset", f"folder:{tmp_path}")
    assert len(data) == 6
    numbers = set()
    for sample in data:
        found = re.search(r"shot_(\d\d)", sample.key)
        assert found is not None
        number = int(found[1])
        numbers.add(number)
        if EXPORTS[name]["kind"] == "photos":
            assert sample.label is None
            continue
        assert sample.label == NAMES[number % 2]
        if EXPORTS[name]["kind"] == "boxes":
            (box,) = sample.annotations["boxes"]
            expected = (4 + number, 6, 34 + number, 30)
            # VOC's writers count from 1, and some the last pixel of a box
            np.testing.assert_allclose(box.box, expected, atol=1)
    assert numbers == set(range(6))
    if "train" in "".join(EXPORTS[name]["pictures"]):
        assert len(data.split("val")) == 2
