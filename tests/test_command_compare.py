"""`cuescope compare`: runs side by side, and their answers paired."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cuescope.cli import main
from cuescope_commands.comparing._pairs import Pairs
from cuescope_commands.comparing._runs import Run, load_runs
from cuescope_commands.comparing._tables import (
    about_no_label,
    strongest,
    unlike,
    verdicts,
)
from cuescope_core.answers import read_answers
from cuescope_core.runs import RunFolder, load_report
from cuescope_sdk import Report
from cuescope_testing import FakeMethod, run_audit

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
    scores = tuple(
        score.model_copy(update={"finding": False}) for score in report.scores
    )
    return report.model_copy(update={"scores": scores})


def test_the_strongest_finding_of_each_label_is_named(report: Report) -> None:
    [first, *_] = report.findings
    rows = strongest(_runs(report, without_findings(report)))
    assert tuple(rows) == report.provenance.labels
    found = {label: cells[0] for label, cells in rows.items() if cells[0]}
    assert found.keys() == {score.label for score in report.findings}
    assert found[str(first.label)].startswith(
        f"{report.names[first.feature]} {first.value:.2f} ["
    )
    assert all(cells[1] is None for cells in rows.values())


def test_labels_of_any_run_are_rows(report: Report) -> None:
    elsewhere = report.provenance.model_copy(update={"labels": ("other", "top")})
    other = report.model_copy(update={"provenance": elsewhere})
    assert list(strongest(_runs(report, other))) == [*report.provenance.labels, "other"]


def test_what_is_about_no_label_stands_by_its_feature(report: Report) -> None:
    score = report.headlines[0]
    whole = score.model_copy(
        update={"label": None, "low": -1.0, "high": 2.0, "finding": True}
    )
    of_model = report.model_copy(
        update={"scores": (whole,), "notes": {"verdict": "fuses"}}
    )
    name = report.names[score.feature]
    figure, empty = about_no_label(_runs(of_model, report))[name]
    assert str(figure).endswith(" [\N{MINUS SIGN}1.00, 2.00] *")
    assert empty is None
    assert strongest(_runs(of_model)) == {}
    doubted = score.model_copy(update={"doubt": "But it may be chance."})
    in_doubt = report.model_copy(update={"scores": (doubted,)})
    [table] = verdicts(_runs(in_doubt))
    cells = [str(row["a"]) for row in table.rows]
    assert any(cell.endswith("?") for cell in cells)
    assert not any(note.startswith("* ") for note in table.notes)
    [table] = verdicts(_runs(of_model, report))
    assert table.rows[0] == {"": "verdict", "a": "fuses", "b": None}


def test_scores_of_unlike_methods_stand_in_tables_of_their_own(report: Report) -> None:
    method = report.provenance.method.model_copy(update={"spec": "other:x"})
    origin = report.provenance.model_copy(update={"method": method})
    other = report.model_copy(update={"provenance": origin})
    tables = list(verdicts(_runs(report, other, report)))
    assert [table.columns for table in tables] == [("", "a", "c"), ("", "b")]
    assert tables[1].title.endswith("(other)")
    assert report.metrics[0].title in tables[0].notes[0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A model that was trained, and the same one hardly trained."""
    folder = tmp_path_factory.mktemp("runs")
    small = [
        "--data",
        "moving-shapes",
        "-O",
        "data.train=300",
        "-O",
        "data.val=120",
        "-O",
        "data.test=40",
    ]
    for epochs in ("30", "1"):
        words = [
            "audit",
            "trove",
            "--model",
            "toy",
            "-O",
            f"model.epochs={epochs}",
            *small,
        ]
        with pytest.raises(SystemExit) as ended:
            main([*words, "--out", str(folder / f"epochs-{epochs}")])
        assert ended.value.code == 0
    return [folder / "epochs-30", folder / "epochs-1"]


def test_answers_are_kept(runs: list[Path]) -> None:
    rows = read_answers(runs[0]).to_pylist()
    plain = [row for row in rows if row["condition"] == "baseline"]
    assert len(plain) == load_report(runs[0]).provenance.samples == 120
    assert all(row["correct"] == (row["prediction"] == row["label"]) for row in rows)
    assert all(0 < row["p_label"] <= row["p_prediction"] <= 1 for row in rows)
    assert {row["condition"] for row in rows} == {"baseline", "static"}


def test_runs_stand_side_by_side(line: Line, runs: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said = line(*runs, "--html", page)
    assert "model: epochs" in said
    [settings, *_, last] = json.loads(line(*runs, "--json"))["tables"]
    rows = last["rows"]
    assert last["title"] == "Answers of epochs-1 against epochs-30, paired by sample"
    [epochs] = [row for row in settings["rows"] if row[""] == "model: epochs"]
    assert (epochs["epochs-30"], epochs["epochs-1"], epochs["runs"]) == (
        "30",
        "1",
        "differs",
    )
    [accuracy] = [row for row in settings["rows"] if row[""] == "accuracy"]
    assert accuracy["epochs-30"].endswith("% of 120")
    assert rows[0]["answers"] == "baseline"
    assert rows[0]["n"] == 120
    plain = [pair for pair in _pairs(runs).rows if pair[0]["condition"] == "baseline"]
    lost = sum(a["correct"] and not b["correct"] for a, b in plain)
    assert rows[0]["lost"] == lost > 0
    html = page.read_text()
    assert "Right before, wrong now" in html
    assert "data:image/jpeg" in html


def _runs(*reports: Report) -> list[Run]:
    return [
        Run(name, Path(), report) for name, report in zip("abc", reports, strict=False)
    ]


def _pairs(runs: list[Path]) -> Pairs:
    return Pairs(*(read_answers(run).to_pylist() for run in runs))


def test_what_is_not_alike_is_not_paired(
    line: Line, runs: list[Path], report: Report, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs[0], other)
    origin = report.provenance.model_copy(
        update={"data": report.provenance.data.model_copy(update={"spec": "coco"})}
    )
    RunFolder(other).save(
        report.model_copy(update={"provenance": origin}), {}, own=True
    )
    assert (
        "Not paired: they are of other data sets (moving-shapes and coco)"
        in " ".join(line(runs[0], other).split())
    )
    (other / "answers.parquet").unlink()
    # a report without its folder, as it is mailed
    mailed = tmp_path / "mailed.json"
    mailed.write_bytes((other / "report.json").read_bytes())
    assert "Not paired: no answers at" in line(runs[0], mailed)


def test_runs_without_a_common_sample_say_what_the_same_is(runs: list[Path]) -> None:
    first, second = load_runs(runs[:2])
    rows = [{**row, "sample": f"other-{row['sample']}"} for row in second.answers]
    why = str(unlike(first, second, Pairs(first.answers, rows)))
    assert "0 are to the same sample" in why
    assert "Samples are the same by key" in why
    assert "label" not in why


def _answers(right: np.ndarray, groups: np.ndarray) -> list[dict[str, object]]:
    same = {"condition": "baseline", "feature": None, "edit": None, "label": "a"}
    return [
        {"sample": f"{i}", "group": f"{group}", "correct": bool(correct), **same}
        for i, (correct, group) in enumerate(zip(right, groups, strict=True))
    ]


@pytest.mark.parametrize("audits", [25, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize(("samples", "size"), [(300, 1), (400, 5)])
def test_small_changes_are_found_and_none_are_not(
    samples: int, size: int, audits: int
) -> None:
    rng, found, alarms = np.random.default_rng(0), 0, 0
    for _ in range(audits):
        groups = np.arange(samples) // size
        before = rng.random(samples) < 0.8
        lost, won = rng.random((2, samples)) < [[0.08], [0.02]]
        after = np.where(before, ~lost, won)
        pairs = Pairs(_answers(before, groups), _answers(after, groups))
        found += pairs.changes()[0].p_value <= 0.05
        # both runs, exchanged for some groups
        luck = (rng.random(samples) < 0.5)[groups]
        first, second = np.where(luck, (before, after), (after, before))
        null = Pairs(_answers(first, groups), _answers(second, groups))
        alarms += null.changes()[0].p_value <= 0.05
    assert found >= 0.9 * audits
    # the binomial 99.9th percentile of 5%, or a little less
    assert alarms <= (14 if audits == 100 else 5)


def test_other_pictures_under_the_same_names_are_no_pairs(
    line: Line, runs: list[Path], tmp_path: Path
) -> None:
    rows = read_answers(runs[0]).to_pylist()
    other = [{**row, "content": f"other {row['content']}"} for row in rows]
    assert len(Pairs(rows, rows).rows) == len(Pairs(rows, other, by_name=True).rows)
    assert not Pairs(rows, other).rows
    # an older run does not tell
    older = [{**row, "content": None} for row in rows]
    assert len(Pairs(rows, older).rows) == len(Pairs(rows, rows).rows)
    few = Pairs(rows, [*other[:1], *rows[1:]])
    assert few.unlike == (rows[0]["sample"],)
    first, second = _runs(*map(load_report, runs))
    assert "with other pictures" in (unlike(first, second, Pairs(rows, other)) or "")
    assert unlike(first, second, few) is None


def test_other_rows_have_no_star_where_the_first_has_none() -> None:
    rng = np.random.default_rng(1)
    stars = np.zeros(2)
    for _ in range(60):
        label = rng.integers(0, 12, 600)
        before = rng.random(600) < 0.9
        # one label of twelve loses eight points, which all answers hardly show
        after = before & ~((label == 3) & (rng.random(600) < 0.08))
        answers = []
        for right in (before, after):
            of_run = _answers(right, np.arange(600))
            for row, code in zip(of_run, label, strict=True):
                row["label"] = f"label {code}"
            answers.append(of_run)
        overall, *others = Pairs(*answers).changes()
        assert all(other.p_value >= overall.p_value for other in others)
        stars += overall.p_value <= 0.05, any(other.p_value <= 0.05 for other in others)
    assert stars[1] <= stars[0]


def test_many_labels_do_not_hide_what_all_answers_lose() -> None:
    before = np.ones(800, bool)
    # p = 0.002: corrected for a hundred labels beside it, nothing would be left
    after = np.arange(800) % 80 > 0
    of_runs = []
    for right in (before, after):
        answers = _answers(right, np.arange(800))
        for number, row in enumerate(answers):
            row["label"] = f"label {number % 100}"
        of_runs.append(answers)
    overall, *_ = Pairs(*of_runs).changes()
    assert 1e-3 < overall.p_value < 0.01


def test_a_consensus_says_who_found_what(
    line: Line, report: Report, tmp_path: Path
) -> None:
    """The same findings twice, and a run without any; then the label sets differ."""
    [finding, *_] = report.findings
    about = {score.feature for score in report.findings}
    # on screen in a third of the frames: what is always there meets everything by chance
    rarer = tuple(
        feature.model_copy(update={"occurrences": feature.occurrences[::3]})
        if feature.key in about
        else feature
        for feature in report.features
    )
    report = report.model_copy(update={"features": rarer})
    shifted = tuple(
        feature.model_copy(update={"key": f"other {feature.key}", "name": None})
        for feature in report.features
    )
    moved = tuple(
        score.model_copy(update={"feature": f"other {score.feature}"})
        for score in report.scores
    )
    renamed = report.model_copy(
        update={
            "features": shifted,
            "scores": moved,
            "cues": (),
            "evidence": (),
            "contrasts": (),
        }
    )
    paths = []
    for name, made in (("a", report), ("b", renamed), ("c", without_findings(report))):
        RunFolder(tmp_path / name).save(made, {}, own=True)
        paths.append(tmp_path / name)
    tables = json.loads(line("--consensus", *paths[:2], "--json"))["tables"]
    _, labels, by_label = (table["rows"] for table in tables)
    found = {score.label for score in report.findings}
    total = len(report.provenance.labels)
    by_all, some, none = labels
    assert (by_all["labels"], some["labels"], none["labels"]) == (
        len(found),
        0,
        total - len(found),
    )
    assert by_all["by chance"] == pytest.approx(len(found) ** 2 / total)
    assert all(row["runs"] == "2 of 2" for row in by_label)
    assert finding.label in {row["label"] for row in by_label}
    said = json.loads(line("--consensus", *paths, "--json"))["tables"]
    assert {row["runs"] for row in said[-1]["rows"]} == {"2 of 3"}
    elsewhere = report.provenance.model_copy(update={"labels": ("other", "top")})
    RunFolder(tmp_path / "d").save(
        report.model_copy(update={"provenance": elsewhere}), {}, own=True
    )
    fault = line("--consensus", paths[0], tmp_path / "d", code=2)
    assert "d: expected the 3 labels of a, got 2 labels, 1 of them the same" in fault


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
        (("a", "b", "--data", "scenes"), "expected it with --html FILE"),
        (
            ("a", "b", "-O", "data.seed=1", "--consensus", "--html", "x.html"),
            "without --consensus",
        ),
    ],
)
def test_a_mistake_is_one_line(line: Line, words: tuple[str, ...], said: str) -> None:
    assert said in line(*words, code=2)
