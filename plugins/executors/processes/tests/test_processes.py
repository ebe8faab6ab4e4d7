"""Processes hold what an executor promises, and have the GPUs and threads that they are given."""

from typing import Any

import pytest

from cuescope_processes import Processes
from cuescope_processes.gpus import visible_gpus
from cuescope_sdk import Context, UserError
from cuescope_testing import ExecutorContract


class TestContract(ExecutorContract):
    plugin = Processes
    options = {"workers": 2}


def pool(spec: str, device: str = "auto") -> Any:
    return Context(device=device).build("executor", spec).pool()


def test_each_process_has_a_gpu_and_its_share_of_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cuescope_processes.usable_cores", lambda: 8)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    processes, workers = pool("processes")
    seen = [(e["CUDA_VISIBLE_DEVICES"], e["OMP_NUM_THREADS"]) for e in processes._free]
    assert (workers, seen) == (2, [("3", "4"), ("GPU-5", "4")])
    assert pool("processes:2,threads=3")[0]._free[0]["OMP_NUM_THREADS"] == "3"
    with pytest.raises(
        UserError, match=r"processes:4: expected at most 2, one process a GPU"
    ):
        pool("processes:4")
    assert pool("processes:4", "cpu")[1] == 4
    with pytest.raises(UserError, match=r"processes:2 with --device cuda:1: expected"):
        pool("processes:2", "cuda:1")


def test_no_gpu_is_seen_where_none_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert visible_gpus("auto") == []


def test_what_pickle_refuses_is_told_in_one_line() -> None:
    executor = Context(device="cpu").build("executor", "processes:1")
    with pytest.raises(
        UserError, match=r"the model cannot be sent to workers: expected a model"
    ):
        list(executor.map(lambda: None, [[None]]))
