"""A run is asked for again from any folder: its paths are those of where it was typed."""

from pathlib import Path

import pytest

from cuescope_core.registry import Registry
from cuescope_core.request import make_request
from cuescope_core.run_location import FOLDER, from_place, keep_place, place_of


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


def test_the_place_is_remembered_beside_the_answers(
    typed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(typed_in)
    keep_place("c0ffee", tmp_path / "cache")
    assert place_of("c0ffee", tmp_path / "cache") == typed_in
    assert place_of("tea", tmp_path / "cache") is None
    file = tmp_path / "cache" / FOLDER / "c0ffee"
    content = file.read_bytes()
    file.write_bytes(content.replace(b"project", b"Project"))
    with pytest.warns(UserWarning, match="not known: .* is not what cuescope wrote"):
        assert place_of("c0ffee", tmp_path / "cache") is None
    file.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    typed_in.rename(tmp_path / "moved")
    assert place_of("c0ffee", tmp_path / "cache") is None
