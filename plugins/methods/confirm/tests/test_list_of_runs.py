"""The list of runs that `cuescope investigate` writes: what is wrong with it is told in a line."""

import json
from pathlib import Path

import pytest

from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import LISTED, folders_of
from cuescope_sdk import UserError, write_sealed


def test_the_runs_are_folders_beside_the_list(tmp_path: Path) -> None:
    content = {"runs": ["trove"], "left_out": {"cci": "no towers"}}
    write_sealed(tmp_path / LISTED, json.dumps(content).encode())
    folders, left_out = folders_of(ConfirmOptions(run=tmp_path))
    assert folders == [tmp_path / "trove"]
    assert left_out == {"cci": "no towers"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not JSON", "Invalid JSON"),
        ("[]", "Input should be an object"),
        ("{}", "runs Field required"),
        ('{"runs": "trove", "left_out": {}}', "runs Input should be a valid array"),
        ('{"runs": [1], "left_out": {}}', "runs 0 Input should be a valid string"),
        (
            '{"runs": [], "left_out": {"cci": null}}',
            "left_out cci Input should be a valid string",
        ),
        ('{"runs": ["../../etc"], "left_out": {}}', "../../etc"),
    ],
)
def test_a_list_of_another_shape_is_one_line(
    content: str, words: str, tmp_path: Path
) -> None:
    write_sealed(tmp_path / LISTED, content.encode())
    with pytest.raises(UserError) as raised:
        folders_of(ConfirmOptions(run=tmp_path))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_edited_list_is_one_line_and_says_what_to_do(tmp_path: Path) -> None:
    write_sealed(tmp_path / LISTED, b'{"runs": ["trove", "quag"], "left_out": {}}')
    (tmp_path / LISTED).write_text('{"runs": ["quag"], "left_out": {}}')
    with pytest.raises(
        UserError, match=r"is not what cuescope wrote.*`cuescope investigate`"
    ):
        folders_of(ConfirmOptions(run=tmp_path))
