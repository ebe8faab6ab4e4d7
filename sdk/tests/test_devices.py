"""Devices and dtypes by name."""

import sys

import pytest
import torch

from cuescope_sdk import UserError
from cuescope_sdk.torch._devices import quiet, resolve_device, resolve_dtype


def _cuda(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_auto_takes_the_accelerator_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _cuda(monkeypatch, 0)
    assert resolve_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device("auto") == torch.device("mps")
    _cuda(monkeypatch, 1)
    assert resolve_device("auto") == torch.device("cuda")


def test_devices_by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    _cuda(monkeypatch, 2)
    assert resolve_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(
        UserError, match=r"'cuda:2' is not available: .*got 2 cuda devices\. Use"
    ):
        resolve_device("cuda:2")
    with pytest.raises(UserError, match="got 1 cpu device"):
        resolve_device("cpu:1")


@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_a_missing_device_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _cuda(monkeypatch, 0)
    with pytest.raises(
        UserError, match=f"'{name}' is not available: .*got 0 cuda devices"
    ):
        resolve_device(name)


@pytest.mark.parametrize("name", ["cud", "cuda:x", "cuda:-1", "", "gpu", "cuda:"])
def test_an_unknown_device_is_refused(name: str) -> None:
    with pytest.raises(
        UserError, match=f"unknown device '{name}': expected one of auto, cpu"
    ):
        resolve_device(name)


def test_a_typo_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'cuda'"):
        resolve_device("cud")
    with pytest.raises(UserError, match="Did you mean 'float16'"):
        resolve_dtype("flaot16")


def test_dtypes_by_name() -> None:
    assert resolve_dtype("float32") is torch.float32
    assert resolve_dtype("float16") is torch.float16
    assert resolve_dtype("bfloat16") is torch.bfloat16
    with pytest.raises(UserError, match="unknown dtype 'int8'"):
        resolve_dtype("int8")


def test_models_load_quietly_where_transformers_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for `cuescope-open-clip` alone, which does not need it."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    state = torch.random.get_rng_state()
    with quiet():
        torch.rand(3)
    assert torch.equal(torch.random.get_rng_state(), state)
