"""Cue files in each form, and mistakes in them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuescope_proposers.cues import CueFile, read_cues
from cuescope_sdk import Context, UserError

Write = Callable[[str, str | bytes], Path]


def tool(path: Path) -> CueFile:
    return CueFile(CueFile.Options(path=path), Context())


def said(path: Path) -> str:
    """The one line of a refusal."""
    with pytest.raises(UserError) as caught:
        read_cues(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """`written(name, text)`: a file of that name."""

    def write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


WANTED: dict[str, list[str]] = {
    "toaster": ["kitchen counter", "bread"],
    "dining table": ["plate"],
    "kite": [],
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.yaml",
            "toaster: [kitchen counter, bread]\ndining table:\n- plate\nkite: []\n",
        ),
        ("a.json", json.dumps(WANTED)),
    ],
)
def test_each_form_of_a_file(written: Write, name: str, text: str) -> None:
    assert read_cues(written(name, text)) == WANTED


def test_each_cue_is_proposed_once_under_any_spelling_of_its_class(
    written: Write,
) -> None:
    proposer = tool(written("a.yaml", "dining_table: [plate, plate]\nkite: [sky]"))
    assert proposer.propose("Dining Table") == ["plate"]
    assert proposer.facts == {"cues": "3 for 2 classes, a.yaml"}


def test_the_class_itself_is_no_cue(written: Write) -> None:
    assert tool(written("a.yaml", "kite: [Kite, sky]")).propose("kite") == ["sky"]


def test_a_class_that_is_not_there(written: Write) -> None:
    proposer = tool(written("a.yaml", "toastr: [bread]\nkite: []\n"))
    assert proposer.propose("kite") == []
    with pytest.raises(
        UserError, match=r"no class 'toaster': .*Did you mean 'toastr'\?"
    ):
        proposer.propose("toaster")
    with pytest.raises(UserError, match=r"Write `zebra: \[\]` if it has no cues"):
        proposer.propose("zebra")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", "", "got all of it: Input should be a valid dictionary"),
        ("a.yaml", "- bread", "got all of it: Input should be a valid dictionary"),
        (
            "a.yaml",
            "toaster: bread",
            "got toaster: Input should be a valid list",
        ),
        (
            "a.yaml",
            "toaster: [no]",
            "in quotes, got toaster.0: Input should be a valid string",
        ),
        (
            "a.yaml",
            "12: [bread]",
            "in quotes, got 12.[key]: Input should be a valid string",
        ),
        ("a.yaml", "a: [b\nc: [d]", "got no YAML: line 2"),
        ("a.json", "[" * 100_000, "got no YAML"),
        (
            "a.yaml",
            b"\xff\xfe\xfa",
            "a.yaml: expected a mapping {class: [cue, cue]} in UTF-8",
        ),
        (
            "a.yaml",
            "dining_table: []\nDining table: []",
            "has class 'Dining table' twice",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(
    written: Write, name: str, text: str, line: str
) -> None:
    assert line in said(written(name, text))


def test_a_missing_file_is_told(written: Write, tmp_path: Path) -> None:
    assert "got No such file" in said(tmp_path / "cue.yaml")


def test_the_fingerprint_is_that_of_the_cues(written: Write) -> None:
    first, second = (written(f"{i}.yaml", "a: [b]  # " + i) for i in "12")
    other = written("3.yaml", "a: [c]")
    assert (
        tool(first).fingerprint == tool(second).fingerprint != tool(other).fingerprint
    )


def test_yaml_that_unfolds_without_end_is_refused(written: Write) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for name, inner in zip("bcdefgh", "abcdefg", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{inner}'] * 9)}]")
    assert "aliases" in said(written("a.yaml", "\n".join(lines)))
    assert "no YAML" in said(written("c.yaml", "a: !!python/object/apply:os.getcwd []"))
    assert "no YAML" in said(written("d.json", "[" * 100_000))
