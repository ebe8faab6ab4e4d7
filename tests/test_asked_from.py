"""A run is asked for again from any folder: its paths are those of where it was typed."""

from pathlib import Path

import pytest

from cuescope_core.registry import Registry
from cuescope_core.request import make_request
from cuescope_core.run_location import from_place
from cuescope_core.runs import RunFolder, asked_in
from cuescope_testing import FakeMethod, run_audit


@pytest.fixture
def typed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "photos" / "cat").mkdir(parents=True)
    (folder / "words.txt").touch()
    return folder


def test_paths_of_a_run_are_found_from_elsewhere(
    typed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    asked = make_request(
        method="trove",
        model="toy-clip:scenes",
        data="folder:photos",
        data_options={"frames": 4, "choices": "words.txt", "manifest": "gone.csv"},
    )
    again = from_place(asked, typed_in, Registry())
    assert again.data == f"folder:{typed_in / 'photos'}"
    assert again.data_options["frames"] == 4
    # no path, and a path to nowhere, are as they were typed
    assert again.data_options["manifest"] == "gone.csv"
    assert again.model == "toy-clip:scenes"
    # what lies here by the same name is another
    (tmp_path / "here" / "photos").mkdir()
    again = from_place(asked, typed_in, Registry())
    assert again.data == f"folder:{typed_in / 'photos'}"


def test_a_place_that_is_gone_is_none(
    typed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run_audit(FakeMethod)
    RunFolder(tmp_path / "others").save(report, {})
    monkeypatch.chdir(typed_in)
    RunFolder(tmp_path / "run").save(report, {}, own=True)
    assert asked_in(tmp_path / "run") == typed_in
    monkeypatch.chdir(tmp_path)
    typed_in.rename(tmp_path / "moved")
    assert asked_in(tmp_path / "run") is None
