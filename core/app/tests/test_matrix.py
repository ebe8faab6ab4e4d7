"""Matrices of audits: what is read, and what is said about mistakes."""

from pathlib import Path

import pytest

from cuescope.cli.run import lasting_findings
from cuescope.matrix import read_matrix
from cuescope_core.conclusions import Report
from cuescope_core.errors import UserError

from ...engine.tests.reports import make_report


def test_a_matrix_is_every_method_on_every_model_on_every_data_set(
    tmp_path: Path,
) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text(
        "methods: [red, {use: counting, options: {a: 1}}]\nmodels: [colour:a, colour:b]\n"
        "data: [clips:8, clips:9]\nseed: 4\n"
    )
    requests = list(read_matrix(file).requests())
    assert len({request.slug for request in requests}) == 8
    assert [r.data for r in requests] == ["clips:8"] * 4 + ["clips:9"] * 4
    assert {r.seed for r in requests} == {4}
    assert [r.method_options for r in requests if r.method == "counting"] == [
        {"a": 1}
    ] * 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("methods: [a]\nmodels: [b]\ndata: [c]\nsed: 1\n", "has no option 'sed'"),
        ("Methods: [a]\nmodels: [b]\ndata: [c]\n", "has no option 'Methods'"),
        ("methods: [a]\nmodels: [b]\ndata: [c]\nsed: 1\n", "Did you mean 'seed'?"),
        ("methods: [a]\nmodels: [b]\n", "needs 'data'"),
        ("methods: []\nmodels: [b]\ndata: [c]\n", "methods"),
        ("methods: [a]\nmodels: [b]\ndata: [c]\nlimit: 0\n", "greater than 0"),
        ("- a\n", "`cuescope dev schema` describes the file"),
        ("a: [", "is no YAML"),
    ],
)
def test_a_faulty_matrix_is_told_in_one_line(
    tmp_path: Path, text: str, said: str
) -> None:
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
    with pytest.raises(
        UserError,
        match=r"cannot read .*: expected a run file, in YAML or TOML, got No such file",
    ):
        read_matrix(tmp_path / "none.yaml")


def _with_q_values(*q_values: float) -> Report:
    """Findings with these q-values, and no other figure."""
    report = make_report()
    score = report.headlines[0].model_copy(update={"finding": True})
    scores = (
        score.model_copy(update={"q_value": q, "finding": q <= 0.05}) for q in q_values
    )
    return report.model_copy(update={"scores": tuple(scores)})


@pytest.mark.parametrize(
    ("audits", "holding"),
    [
        (((0.001, 0.04, 0.2), (0.03,)), [2, 1]),
        # two of four are chosen: their findings have half the level
        (((0.001, 0.02, 0.04), (0.024,), (0.2,), (0.9,)), [2, 1, 0, 0]),
        (((0.04,), (0.5,), (0.9,)), [0, 0, 0]),
        (((0.04,),), [1]),
        ((), []),
    ],
)
def test_audits_share_one_error_budget(
    audits: tuple[tuple[float, ...], ...], holding: list[int]
) -> None:
    assert lasting_findings([_with_q_values(*audit) for audit in audits]) == holding


def test_what_has_no_q_value_takes_no_part() -> None:
    report = _with_q_values(0.001)
    bare = report.model_copy(
        update={
            "scores": tuple(
                s.model_copy(update={"q_value": None}) for s in report.scores
            )
        }
    )
    assert lasting_findings([bare, report]) == [1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a mapping, got nothing: it is empty"),
        ("- a\n", "expected a mapping, got a list (['a'])"),
        ("methods: [red]\nmodels: [colour]\n", "needs 'data': expected `data: VALUE`"),
    ],
)
def test_a_file_that_is_no_run_file_says_what_it_is(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_matrix(file)
    assert words in str(caught.value)
