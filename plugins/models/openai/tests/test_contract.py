"""The sdk's contract suites, against the server on loopback."""

import re
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_openai import OpenAI
from cuescope_openai.writing import OpenAIWriter
from cuescope_testing import ModelContract, ToolContract


def seeing(body: dict[str, Any]) -> dict[str, Any]:
    """A model that says where the frames of the fake data set are green, with log-probabilities."""
    content = body["messages"][-1]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    shown = [
        np.asarray(Image.open(BytesIO(b64decode(url.partition(",")[2]))))
        for url in urls
    ] or [np.ones((8, 8, 3))]
    green = np.mean([pixels[:, 5:8, 1].mean(axis=1) for pixels in shown], axis=0)
    strength = {
        "top": green[:2].mean(),
        "middle": green[3:5].mean(),
        "bottom": green[6:].mean(),
    }
    listed = dict(re.findall(r"\((\w)\) (\w+)", parts[-1]["text"]))
    weights = {letter: float(strength[name]) for letter, name in listed.items()}
    total = sum(weights.values()) * 1.01
    tokens = [
        {"token": letter, "logprob": float(np.log(weight / total))}
        for letter, weight in sorted(weights.items(), key=lambda item: -item[1])
    ]
    position = {**tokens[0], "top_logprobs": tokens}
    return {
        "message": {"content": tokens[0]["token"]},
        "logprobs": {"content": [position]},
    }


class TestModel(ModelContract):
    plugin = OpenAI
    count = 6

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _served(
        cls, loopback: Any, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[None]:
        loopback.reset()
        loopback.brain = seeing
        cls.folder = tmp_path_factory.mktemp("cache")
        cls.options = {
            "model": "tiny-vision",
            "base_url": loopback.url,
            "question": "Where is it green?",
        }
        cls.other_options = {**cls.options, "prompt": "{question} Look well."}
        yield
        loopback.reset()


class TestTool(ToolContract):
    plugin = OpenAIWriter

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _served(cls, loopback: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
        loopback.reset()
        cls.folder = tmp_path_factory.mktemp("cache")
        cls.options = {"model": "tiny", "base_url": loopback.url}


def test_a_folder_is_the_caches(tmp_path: Path, writer: Any) -> None:
    writer().generate(["a"])
    assert (tmp_path / "openai" / "answers.sqlite").is_file()
