"""The sdk's contract suite: a trace of each sample that it shows, and a second file."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cuescope_testing import ModelContract
from cuescope_traces import Traces

HERE = Path(__file__).parent


class TestContract(ModelContract):
    plugin = Traces
    options: ClassVar[dict[str, Any]] = {"file": HERE / "recorded.jsonl"}
    other_options: ClassVar[dict[str, Any]] = {"file": HERE / "others.jsonl"}


@pytest.mark.parametrize("name", ["recorded", "others"])
def test_the_files_are_of_the_fake_data(name: str) -> None:
    lines = (HERE / f"{name}.jsonl").read_text().splitlines()
    assert [json.loads(line)["sample"] for line in lines] == [
        f"val-{i:03d}" for i in range(12)
    ]
