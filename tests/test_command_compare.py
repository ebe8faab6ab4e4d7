"""`cuescope compare`: the strongest finding for each label, run beside run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope.cli.compare import about_no_label, strongest, verdicts
from cuescope.runs import RunFolder
from cuescope_sdk import Report
from cuescope_sdk.testing import FakeMethod, run_audit

Line = Callable[..., str]


@pytest.fixture(scope="module")
def report() -> Report:
    return run_audit(FakeMethod)


@pytest.fixture
def line(capsys: pytest.CaptureFixture[str]) -> Line:
    """What `cuescope compare` prints; of an error, its one line."""

    def said(*words: str | Path, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *map(str, words)])
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        assert len(err.splitlines()) == (1 if code else 0)
        return err if code else out

    return said


def without_findings(report: Report) -> Report:
    scores = tuple(score.model_copy(update={"finding": False}) for score in report.scores)
    return report.model_copy(update={"scores": scores})


def test_the_strongest_finding_of_each_label_is_named(report: Report) -> None:
    [first, *_] = report.findings
    rows = strongest([report, without_findings(report)])
    assert tuple(rows) == report.provenance.labels
    found = {label: cells[0] for label, cells in rows.items() if cells[0]}
    assert found.keys() == {score.label for score in report.findings}
    assert found[str(first.label)] == f"{report.names[first.feature]} {first.value:.2f}"
    assert all(cells[1] is None for cells in rows.values())


def test_labels_of_any_run_are_rows(report: Report) -> None:
    elsewhere = report.provenance.model_copy(update={"labels": ("other", "top")})
    other = report.model_copy(update={"provenance": elsewhere})
    assert list(strongest([report, other])) == [*report.provenance.labels, "other"]


def test_what_is_about_no_label_stands_by_its_feature(report: Report) -> None:
    score = report.headlines[0]
    whole = score.model_copy(update={"label": None, "low": -1.0, "high": 2.0, "finding": True})
    of_model = report.model_copy(update={"scores": (whole,), "notes": {"verdict": "fuses"}})
    name = report.names[score.feature]
    figure, empty = about_no_label([of_model, report])[name]
    assert str(figure).endswith(" [\N{MINUS SIGN}1.00, 2.00] *")
    assert empty is None
    assert strongest([of_model]) == {}
    assert verdicts([of_model, report]) == {"verdict": ["fuses", None]}
    assert verdicts([report]) == {}


def test_runs_stand_side_by_side(line: Line, report: Report, tmp_path: Path) -> None:
    RunFolder(tmp_path / "one").save(report, {})
    RunFolder(tmp_path / "two").save(without_findings(report), {})
    said = line(tmp_path / "one", tmp_path / "two")
    assert "one" in said.splitlines()[0]
    assert "two" in said.splitlines()[0]
    [row] = [row.split() for row in said.splitlines() if row.startswith("findings")]
    assert row == ["findings", str(len(report.findings)), "0"]
    told = json.loads(line(tmp_path / "one", tmp_path / "two", "--json"))
    assert told["labels"] == strongest([report, without_findings(report)])
    assert [run["run"] for run in told["runs"]] == [str(tmp_path / n) for n in ("one", "two")]
    assert told["runs"][0]["method"] == report.provenance.method.spec


def test_help_names_the_command(line: Line) -> None:
    said = line("--help")
    assert said.startswith("Usage: cuescope compare ")
    assert "RUN RUN ..." in said
    assert "--json" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Missing argument 'RUN RUN ...'"),
        (("a",), "compare: expected two runs or more, got 1"),
        (("nowhere-1", "nowhere-2"), "no report at nowhere-1"),
        (("a", "b", "--jsn"), "No such option: --jsn"),
    ],
)
def test_a_mistake_is_one_line(line: Line, words: tuple[str, ...], said: str) -> None:
    assert said in line(*words, code=2)
