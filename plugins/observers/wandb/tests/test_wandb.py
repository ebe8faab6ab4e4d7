"""The client in its offline mode, in a folder of the test: nothing is sent."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuescope_testing import ObserverContract
from cuescope_wandb import WeightsAndBiases


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    # one folder for all: the client reads its settings once a process
    folder = tmp_path_factory.mktemp("wandb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_DIR", str(folder))
        yield folder


class TestWeightsAndBiases(ObserverContract):
    plugin = WeightsAndBiases

    def test_keeps_a_run(self, offline: Path) -> None:
        before = set(offline.rglob("run-*.wandb"))
        self.follow()
        [kept] = set(offline.rglob("run-*.wandb")) - before
        content = kept.read_bytes()
        # a process of its own writes it, and may be behind on a busy machine
        deadline = time.monotonic() + 30
        while b"model_calls" not in content and time.monotonic() < deadline:
            time.sleep(0.1)
            content = kept.read_bytes()
        assert b"model_calls" in content
