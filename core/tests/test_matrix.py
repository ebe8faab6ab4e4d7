"""Matrices of audits: what is read, and what is said about mistakes."""

from pathlib import Path

import pytest

from cuescope.errors import UserError
from cuescope.matrix import read_matrix


def test_a_matrix_is_every_method_on_every_model_on_every_data_set(tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text(
        "methods: [red, {use: counting, options: {a: 1}}]\nmodels: [colour:a, colour:b]\n"
        "data: [clips:8, clips:9]\nseed: 4\n"
    )
    requests = list(read_matrix(file).requests())
    assert len({request.slug for request in requests}) == 8
    assert [r.data for r in requests] == ["clips:8"] * 4 + ["clips:9"] * 4
    assert {r.seed for r in requests} == {4}
    assert [r.method_options for r in requests if r.method == "counting"] == [{"a": 1}] * 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("methods: [a]\nmodels: [b]\ndata: [c]\nsed: 1\n", "has no option 'sed'"),
        ("methods: [a]\nmodels: [b]\ndata: [c]\nsed: 1\n", "Did you mean 'seed'?"),
        ("methods: [a]\nmodels: [b]\n", "needs 'data'"),
        ("methods: []\nmodels: [b]\ndata: [c]\n", "methods"),
        ("methods: [a]\nmodels: [b]\ndata: [c]\nlimit: 0\n", "greater than 0"),
        ("- a\n", "`cuescope schema` describes the file"),
        ("a: [", "is no YAML"),
    ],
)
def test_a_faulty_matrix_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_matrix(file)
    assert said in str(caught.value)
    assert "runs.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_picture_is_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    with pytest.raises(UserError, match="is no YAML"):
        read_matrix(tmp_path / "runs.yaml")


def test_a_missing_matrix_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*: got No such file"):
        read_matrix(tmp_path / "none.yaml")
