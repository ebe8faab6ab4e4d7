"""What a data set's author reads where it gives what it may not give."""

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope.runner import Runner
from cuescope_core.building import build_data_of
from cuescope_core.context import Context
from cuescope_core.errors import PluginError
from cuescope_core.registry import Registry, blame
from cuescope_core.request import Request
from cuescope_core.types import Frame, Sample

CLIPS = "cuescope_fakes.Clips"  # of the stub that `runner` installs


def sample(**fields: Any) -> Sample:
    frame = Frame.from_array(np.zeros((4, 4, 3), dtype=np.uint8))
    known = {
        "key": "a",
        "frames": (frame,),
        "choices": ("left", "right"),
        "label": "left",
    }
    return Sample(**known | fields)


@pytest.mark.parametrize(
    ("give", "words"),
    [
        (
            lambda: sample(label=1),
            "Sample.label: input should be a valid string, got 1",
        ),
        (lambda: sample(label="top"), "label 'top' is none of the choices"),
        (lambda: sample(key=7), "Sample.key: input should be a valid string, got 7"),
        (lambda: Frame.from_array(np.zeros((4, 4))), "expected uint8 pixels of shape"),
        (
            lambda: Frame.from_file("nowhere.jpg"),
            "No such file or directory: 'nowhere.jpg'",
        ),
        (lambda: None, "expected a Sample at index 0, got None"),
        (lambda: {"key": "a"}, "expected a Sample at index 0, got a dict"),
    ],
)
def test_a_sample_that_is_none_is_told_of_the_data_set(
    give: Callable[[], Any],
    words: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{CLIPS}.__getitem__", lambda self, index: give())
    with pytest.raises(PluginError) as caught:
        runner.run(request_for())
    line = str(caught.value)
    assert words in line
    assert "clips" in line
    assert "validation error" not in line


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("labels", "left", "expected labels, a tuple of texts"),
        ("labels", (1, 2), "got (1, 2)"),
        ("labels", None, "got none"),
        (
            "fingerprint",
            "",
            "expected fingerprint, a text that digests all that it shows",
        ),
        ("fingerprint", 12, "expected fingerprint, a text"),
        ("facts", {"size": 3}, "expected facts, texts by their names, got {'size': 3}"),
    ],
)
def test_a_data_set_that_lacks_what_a_report_needs_is_named(
    name: str,
    value: Any,
    words: str,
    runner: Runner,
    request_for: Callable[..., Request],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # after whatever `__init__` sets
    fixed = property(lambda self: value, lambda self, given: None)
    monkeypatch.setattr(f"{CLIPS}.{name}", fixed, raising=False)
    with pytest.raises(
        PluginError, match="data set clips broke its contract"
    ) as caught:
        runner.run(request_for())
    assert words in str(caught.value)


def test_an_error_that_nobody_caught_has_the_plugin_whose_code_it_was(
    registry: Registry,
) -> None:
    fakes = importlib.import_module("cuescope_fakes")
    with pytest.raises(AttributeError) as caught:
        fakes.Clips.__getitem__(object(), 0)
    entry = registry.owner_of(caught.value)
    assert entry is not None
    assert entry.dist == "cuescope-fakes"
    line = str(blame(entry, caught.value))
    assert "of cuescope-fakes" in line
    assert "(__getitem__, line " in line
    assert registry.owner_of(ValueError("of nobody")) is None


@pytest.mark.parametrize(
    ("of_run", "part", "limits"),
    [("10", None, [10]), ("None", None, [10, None]), ("None", "1/2", [None])],
)
def test_data_of_a_stored_run_are_drawn_as_then(
    monkeypatch: pytest.MonkeyPatch, of_run: str, part: str | None, limits: list[int]
) -> None:
    """A data set that opens what is drawn has another fingerprint than an older one, of all."""
    asked = []

    def build(context: Context) -> SimpleNamespace:
        asked.append(context.limit)
        return SimpleNamespace(fingerprint=str(context.limit))

    resolved = SimpleNamespace(build=build)
    monkeypatch.setattr(Context, "resolve", lambda *words: resolved)
    stamp = SimpleNamespace(fingerprint=of_run)
    origin: Any = SimpleNamespace(part=part, limit=10, seed=3, data=stamp)
    data = build_data_of(origin, Context(), "folder:data", {})
    assert data.fingerprint == of_run
    assert asked == limits
