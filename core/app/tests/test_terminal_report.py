"""The report in a terminal: complete at 80 columns, plain in a pipe."""

import io
import re
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from cuescope.cli import terminal
from cuescope.python.stored import StoredReport
from cuescope.report.html import render
from cuescope.report.steps import next_steps
from cuescope.report.terminal import copyable, show
from cuescope_core.conclusions import Evidence, Portrait, Report, with_doubts

from ...engine.tests.reports import make_report


def shown(report: Report, detail: int = 1, **console: object) -> str:
    out = io.StringIO()
    settings = {"width": 80, "color_system": None} | console
    show(report, Console(file=out, highlight=False, **settings), detail=detail)
    return out.getvalue()


def test_nothing_is_wider_than_the_terminal_or_cut() -> None:
    said = shown(make_report(features=14))
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said
    assert "\x1b" not in said


def test_a_terminal_without_an_end_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # pytest asks for the width as well, as soon as the test is over
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", "9" * 11)
        terminal.stdout().rule("a title")
    assert len(capsys.readouterr().out) <= terminal.MOST_COLUMNS + 1


def test_colours_are_for_terminals_only() -> None:
    assert "\x1b[" in shown(make_report(), force_terminal=True, color_system="standard")


def test_the_finding_comes_first_in_the_words_that_a_check_found() -> None:
    report = make_report()
    said = shown(report)
    first = report.sentence(report.findings[0])
    assert first is not None
    words = " ".join(said.split())
    assert f"In words {first}" in words
    assert words.partition(" 1 cue found: ")[2].startswith("RED BACKGROUND ")
    assert report.hash in said
    # a shell reads on after a \\
    again = words.partition(" Run it again ")[2].replace(" \\ ", " ")
    assert again == f"{report.provenance.command} report {report.hash}"


def test_commands_are_shown_as_they_must_be_typed() -> None:
    """Copied from the screen they are the same words to a shell, and name the program at hand."""
    report = make_report()
    out = io.StringIO()
    console = Console(file=out, highlight=False, width=60, color_system=None)
    show(report, console, "runs/one", ".venv/bin/cuescope", detail=1)
    typed = out.getvalue().partition("\nNext\n")[2].replace("\\\n", " ")
    commands = [
        shlex.split(line) for line in typed.splitlines() if line.startswith("    ")
    ]
    steps = [command for _, command in next_steps(report, "runs/one") if command]
    expected = [shlex.split(command) for command in (*steps, report.provenance.command)]
    assert commands == [[".venv/bin/cuescope", *words[1:]] for words in expected]


@pytest.mark.parametrize(
    ("n", "label", "by_folds"),
    [
        (3, "moving east", True),
        (19, "moving east", True),
        (20, "moving east", False),
        (3, None, False),
        (None, "moving east", False),
    ],
)
def test_few_samples_of_the_label_are_tested_by_folds(
    n: int | None, label: str | None, by_folds: bool
) -> None:
    """Thirty samples show the cue, and those of its label test it."""
    report = make_report(1)
    first = report.scores[0].model_copy(
        update={"finding": True, "n": n, "label": label}
    )
    steps = next_steps(report.model_copy(update={"scores": (first,)}), "runs/one")
    [test] = [str(step) for _, step in steps if "confirm" in str(step)]
    assert test == f"cuescope confirm runs/one{' --folds 4' * by_folds}"


def test_what_rests_on_a_refuted_premise_has_no_star() -> None:
    report = make_report()
    doubt = "But the samples are of one film."
    check = Evidence(check="films", verdict="refuted", detail="One film.", doubt=doubt)
    scores = with_doubts(report.scores, [*report.evidence, check])
    doubted = report.model_copy(update={"scores": scores})
    assert report.findings
    assert not doubted.findings
    assert len(doubted.statements) == len(report.statements)
    words = " ".join(shown(doubted).split())
    first = report.sentence(report.findings[0])
    assert f"In words {first} {doubt}" in words
    assert "No finding: 1 candidate is set aside" in words
    assert "*" not in words.partition("Ranked")[2].partition("Checks")[0]
    page = render(doubted, {})
    assert "No finding: 1 candidate is set aside" in page
    assert doubt in page
    assert ">in doubt</span>" in page
    assert ">finding</span>" not in page
    holds = check.model_copy(update={"verdict": "supported"})
    assert with_doubts(report.scores, [holds]) == report.scores
    # of a premise that is open they stay findings, which other commands can test, without a star
    is_open = check.model_copy(update={"verdict": "inconclusive"})
    scores = with_doubts(report.scores, [is_open])
    doubted = report.model_copy(update={"scores": scores})
    assert len(doubted.findings) == len(report.findings)
    assert all(score.doubt == doubt for score in doubted.findings)
    ranked = " ".join(shown(doubted).split()).partition("Ranked")[2]
    assert "*" not in ranked.partition("Checks")[0]
    # of several only the first is a "but"
    dark = is_open.model_copy(update={"doubt": "But the film is dark."})
    scores = with_doubts(report.scores, [is_open, dark])
    [both] = {score.doubt for score in scores if score.finding}
    assert both == f"{doubt} And the film is dark."
    # what is no "but" stays as it is
    noise = is_open.model_copy(update={"doubt": "It may be noise."})
    scores = with_doubts(report.scores, [is_open, noise])
    assert {score.doubt for score in scores if score.finding} == {
        f"{doubt} It may be noise."
    }


def test_a_premise_of_one_finding_takes_its_star_alone() -> None:
    report = make_report(features=2)
    first, second = (
        score.model_copy(update={"finding": True, "statement": "{feature} is seen."})
        for score in report.headlines[:2]
    )
    doubt = "But its objects are small."
    check = Evidence(
        check="sizes",
        verdict="refuted",
        detail="Smaller.",
        feature=first.feature,
        label=first.label,
        doubt=doubt,
    )
    scores = with_doubts((first, second), [check])
    assert [score.finding for score in scores] == [False, True]
    checked = report.model_copy(update={"scores": scores})
    # what stands comes first
    doubted = checked.sentence(scores[0])
    assert checked.statements == (checked.sentence(second), doubted)
    assert doubt in str(doubted)
    other = check.model_copy(update={"label": "another label"})
    assert with_doubts((first, second), [other]) == (first, second)


def test_a_row_without_a_figure_speaks_first() -> None:
    """What a method could not decide stands before what it found."""
    report = make_report(features=2)
    undecided = report.scores[0].model_copy(
        update={
            "value": None,
            "finding": False,
            "statement": "{feature}: too few to tell.",
        }
    )
    said = shown(report.model_copy(update={"scores": (undecided, *report.scores[1:])}))
    words = " ".join(said.split())
    assert f"In words {report.names[undecided.feature]}: too few to tell." in words


def test_a_finding_in_doubt_stands_before_what_is_none() -> None:
    report = make_report(features=2)
    doubted, tried, *_ = report.headlines
    doubted = doubted.model_copy(update={"doubt": "its company may do it."})
    tried = tried.model_copy(
        update={"finding": False, "always_reported": True, "statement": "it is none."}
    )
    both = report.model_copy(update={"scores": (tried, doubted)})
    assert both.statements == (both.sentence(doubted), "it is none.")


def test_without_a_finding_it_says_how_many_were_tried() -> None:
    report = make_report(features=3)
    none = [score.model_copy(update={"finding": False}) for score in report.scores]
    said = " ".join(shown(report.model_copy(update={"scores": tuple(none)})).split())
    assert "No cue found. This does not show that there is none." in said
    assert "Tested 6 candidates; the strongest: red background" in said


def test_what_a_method_tells_anyway_is_said_without_being_a_finding() -> None:
    report = make_report(features=3)
    none = [score.model_copy(update={"finding": False}) for score in report.scores]
    first = none.index(
        next(score for score in none if score in report.headlines or score.statement)
    )
    none[first] = none[first].model_copy(
        update={"always_reported": True, "statement": "{feature}: open."}
    )
    told = report.model_copy(update={"scores": tuple(none)})
    assert not told.findings
    said = " ".join(shown(told).split())
    assert "red background: open." in said


def test_the_table_ranks_all() -> None:
    report = make_report(features=14)
    said = shown(report, detail=1)
    assert f"Ranked cues ({len(report.headlines)}; starred: findings" in said
    table = said[said.index("Ranked cues") : said.index("\nChecks\n")]
    assert table.count("\n *  ") == sum(score.finding for score in report.headlines)
    intervals = re.findall(r"-?\d\.\d+ to -?\d\.\d+", table.replace("−", "-"))
    assert len(intervals) == 2 * len(report.headlines)
    assert re.search(r"red +moving east", table)


def test_checks_are_told_with_their_verdicts() -> None:
    said = shown(make_report())
    for verdict, check in (("passed", "precision@10"), ("note", "R-precision")):
        assert re.search(rf"{verdict} +{check}", said)
    assert "1 passed, 2 notes (-v: all)" in said
    assert "none was made" in shown(make_report(evidence=()))


def test_markup_in_names_stays_text() -> None:
    named = Evidence(
        check="[red]c[/red]",
        verdict="supported",
        detail="[bold]d",
        feature="cluster-00",
        name="[link=x]cue[/link]",
    )
    said = shown(make_report(evidence=(named,)))
    for literal in ("[red]c[/red]", "[bold]d"):
        assert literal in said
    assert "[link=x]cue[/link]" in "".join(said.split())


@pytest.mark.parametrize(
    "command", ["cuescope 'open", 'a "b', "a\\", "'", '"', "$'", "a --data", "\x00'"]
)
def test_a_command_that_no_shell_takes_is_printed(command: str) -> None:
    assert copyable(command, 40)
    report = make_report()
    origin = report.provenance.model_copy(update={"command": command})
    console = Console(width=80, file=io.StringIO())
    show(report.model_copy(update={"provenance": origin}), console, run="it's here")


def test_what_is_seen_names_the_cue_as_the_finding_does() -> None:
    report = make_report()
    key = report.findings[0].feature
    portrait = Portrait(feature=key, name=None, where="top", what="more red", auroc=1)
    said = shown(report.model_copy(update={"portraits": (portrait,)}))
    seen = " ".join(said.partition("What is seen there")[2].split())
    assert report.names[key] != key
    assert seen.startswith(report.names[key].split()[0])
    assert f"({key})" in seen.partition("Ranked")[0]


def test_the_data_of_a_step_are_those_that_were_typed() -> None:
    report = make_report()
    own = {"next step": "Ask yours, in place of OTHER: `cuescope blind DATA -O a=b`."}
    origin = report.provenance.model_copy(
        update={"command": "cuescope audit blind --data 'a b' -O data.c=1 --seed 1"}
    )
    made = report.model_copy(update={"notes": own, "provenance": origin})
    commands = [command for _, command in next_steps(made) if command]
    assert commands[0] == "cuescope blind 'a b' -O data.c=1 -O a=b"


def test_what_is_held_back_is_told_behind_what_is_counted() -> None:
    """`--affected 1` counts findings, so no sentence that it passes over stands before them."""
    report = make_report()
    first, second, *others = report.findings
    held = first.model_copy(update={"finding": False, "doubt": "But it may be luck."})
    open_one = second.model_copy(update={"doubt": "It may be the light."})
    scores = (held, open_one, *others)
    doubted = report.model_copy(update={"scores": scores})
    assert set(doubted.told[:-1]) == set(doubted.findings)
    assert doubted.told[-1] == held
    lines = str(StoredReport.of(doubted, Path("runs/one"))).splitlines()
    told = [line for line in lines if line.endswith("But it may be luck.")]
    assert [line.startswith("- seen, but in doubt: ") for line in told] == [True]
    assert sum("seen, but in doubt" in line for line in lines) == 1
    told = doubted.doubts_in_words
    assert told == "2 in doubt: it may be luck. It may be the light"
    assert report.doubts_in_words is None
