"""`cuescope investigate`: methods run, findings that are one cue merged, one dossier of causes.

The data set and the model are those of the contracts: the model takes a red corner for "top", and
does not look at a blue one. Two methods are told where both are, and split them as methods do; what
they find must come together again, red with red and blue with blue.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run, run_refused, written_plugins

from cuescope_core.runs import load_report
from cuescope_sdk import Report, StoredRun

PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
talker = halves:Talker
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.methods]
halves = halves:Halves
regions = halves:Regions
modal = halves:Modal
needy = halves:Needy
broken = halves:Broken
"""
HALVES = '''
"""Methods that find both corners, whatever the model does: in halves, and by their regions."""

import re
from dataclasses import replace

from cuescope_sdk import (
    Feature, Metric, Occurrence, Options, Plugin, Requirements, Response, Score, UserError, hookimpl
)
from cuescope_testing import FakeModel
from cuescope_testing._fake_data import CUE_BOX, DECOY_BOX, shows

CORNERS = (("red corner", CUE_BOX, 0), ("blue corner", DECOY_BOX, 2))


class Talker(FakeModel):
    """Writes a step before its answer; half of them say what it saw in the corner."""

    def answer(self, trial):
        sample = trial.sample
        listed = re.search(r"Choices: (.*)[.]", sample.question or "")
        if sample.choices or not listed:
            return super().answer(trial)
        choices = tuple(listed[1].split("; "))
        asked = replace(trial, sample=replace(sample, choices=choices))
        text = super().answer(replace(asked, outputs=frozenset({"text"}))).text
        red = any(shows(frame, CUE_BOX, 0) for frame in sample.frames)
        admits = red and sum(map(ord, sample.key)) % 2
        seen = "There is a red corner in the picture." if admits else "Green is what I look for."
        return Response(text=f"1. {seen}\\n2. That settles where it is.\\nAnswer: {text}")


class FinderOptions(Options):
    finds: bool = True


class Finder(Plugin):
    title = "Halves"
    Options = FinderOptions
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="nothing"),)

    def _met(self, audit, box, channel, region=None):
        return [
            Occurrence(sample=sample.key, frame=number, region=region)
            for sample in audit.samples
            for number, frame in enumerate(sample.frames)
            if shows(frame, box, channel)
        ]

    @hookimpl
    def compute_scores(self, audit, features, outcomes):
        return [
            Score(
                feature=f.key, label=label, metric="gap", value=0.5, low=0.4, high=0.6,
                q_value=0.0, finding=self.options.finds, statement="It is so.",
            )
            for f in features
            for label in ("middle", "bottom")
        ]


class Halves(Finder):
    @hookimpl
    def propose_features(self, audit):
        for name, box, channel in CORNERS:
            met = self._met(audit, box, channel)
            for half in (0, 1):
                key = f"slice-{channel}{half}"
                yield Feature(key=key, kind="slice", occurrences=met[half::2])


class Regions(Finder):
    title = "Regions"

    @hookimpl
    def propose_features(self, audit):
        for name, box, channel in CORNERS:
            region = tuple(float(edge * 4) for edge in box)
            met = self._met(audit, box, channel, region)
            yield Feature(key=f"slice-{channel}0", kind="slice", name=name, occurrences=met)


class ModalOptions(FinderOptions):
    about: str = "question"


class Modal(Finder):
    Options = ModalOptions

    @hookimpl
    def propose_features(self, audit):
        for name in ("verdict", *(f"without {word}" for word in self.options.about.split("+"))):
            yield Feature(key=name, kind="verdict" if name == "verdict" else "modality")
        yield Feature(key="steps", kind="steps", name="Steps")


class NeedyOptions(FinderOptions):
    wish: str


class Needy(Finder):
    Options = NeedyOptions


class Broken(Finder):
    @hookimpl
    def propose_features(self, audit):
        raise UserError("broken on purpose")
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("investigate")
    with written_plugins(place, "halves", PLUGINS, HALVES):
        yield place


def line(
    folder: Path, *words: str, model: str = "talker", samples: int = 600
) -> tuple[str, ...]:
    data = ("--data", "fakes", "-O", f"data.samples={samples}", "-O", "data.scale=4")
    given = ("--model", model, *data)
    ways = ("-O", "confirm.samples=60", "-O", "confirm.interventions=blank,transplant")
    return (
        "investigate",
        *given,
        *ways,
        "--device",
        "cpu",
        "--out",
        str(folder),
        *words,
    )


def table(report: Report, title: str) -> list[dict[str, object]]:
    return [
        dict(row) for t in report.tables if t.title.startswith(title) for row in t.rows
    ]


@pytest.fixture(scope="module")
def dossier(place: Path) -> Report:
    methods = ("--methods", "halves,regions,needy,broken")
    run(*line(place / "run", *methods, "-q", samples=360))
    return load_report(place / "run")


def test_what_two_methods_found_stands_once(dossier: Report) -> None:
    cues = {str(row["cue"]): row for row in table(dossier, "Cues by harm")}
    assert list(cues) == ["red corner", "blue corner"]
    assert cues["red corner"]["verdict"] == "cause"
    assert cues["blue corner"]["verdict"] != "cause"
    assert cues["red corner"]["label"] == "bottom, middle"
    assert "on 'bottom', 'middle' causes wrong answers" in dossier.statements[0]
    for name, found in zip(cues, table(dossier, "What found each cue"), strict=True):
        assert found["cue"] == name
        assert found["methods"] == 2
        halves, _, regions = str(found["findings"]).partition("; ")
        assert (halves.count("@"), regions.count("@")) == (4, 2)
    [finding] = dossier.findings
    [lost] = [score for score in dossier.scores if score.metric == "accuracy_lost"]
    assert lost.feature == finding.feature
    assert lost.value == pytest.approx(0.18, abs=0.05)


def test_no_sample_that_found_or_decided_is_asked_about(
    place: Path, dossier: Report
) -> None:
    found = load_report(place / "run" / "found" / "halves")
    assert (found.provenance.part, dossier.provenance.part) == ("1/2", "2/2")
    seen = {o.sample for f in found.features for o in f.occurrences}
    tested = {o.sample for f in dossier.features for o in f.occurrences}
    assert seen
    assert tested
    assert not seen & tested


def test_the_page_says_where_the_cause_is(dossier: Report) -> None:
    [portrait] = dossier.portraits
    assert portrait.where == "top left"
    assert "red" in portrait.what
    assert portrait.name is None


@pytest.mark.long
def test_what_the_model_does_not_look_at_is_no_cause(place: Path) -> None:
    """It reads a strip of noise, which learned regions hold, with a corner and without one."""
    words = ("--methods", "halves,regions", "-O", "model.lean=0", "-q")
    run(*line(place / "null", *words, model="fake"))
    report = load_report(place / "null")
    assert not report.findings
    assert "cause" not in {row["verdict"] for row in table(report, "Cues by harm")}


def test_the_reasoning_is_held_against_the_cue(dossier: Report) -> None:
    [row] = table(dossier, "Say-do gap")
    admitted, elsewhere = str(row["admitted"]), str(row["named there"])
    assert 30 <= int(admitted.partition("%")[0]) <= 70
    assert elsewhere.startswith("0%")


def test_what_was_left_out_is_told_in_a_line(dossier: Report) -> None:
    methods = {row["method"]: row for row in table(dossier, "Methods")}
    assert methods["halves"]["findings"] == 8
    assert methods["halves"]["cues"] == 2
    assert (
        methods["needy"]["left out because"] == "options of its own: wish (-O wish=...)"
    )
    assert methods["broken"]["left out because"] == "it failed: broken on purpose"


@pytest.mark.long
def test_few_samples_are_tested_by_what_was_found_in_the_others(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--methods", "halves,regions,broken", "-q", "--folds", "3")
    run(*line(tmp_path / "few", *few, samples=150))
    report = load_report(tmp_path / "few")
    found = {str(row["cue"]): row for row in table(report, "What found each cue")}
    assert found.keys() == {"red corner", "blue corner"}
    verdicts = {row["cue"]: row["verdict"] for row in table(report, "Cues by harm")}
    assert verdicts["red corner"] == "cause"
    assert verdicts["blue corner"] != "cause"
    left_out = {row["method"]: row for row in table(report, "Methods")}
    assert left_out["broken"]["left out because"] == "it failed: broken on purpose"
    # nothing was found where it was tested: three runs of each method, of two thirds each
    parts = {
        load_report(file).provenance.part
        for file in (tmp_path / "few" / "found").glob("*/halves/report.json")
    }
    assert parts == {"2+3/3", "1+3/3", "1+2/3"}
    capsys.readouterr()
    sound = ("--methods", "halves,regions", *few[2:])
    run(*line(tmp_path / "few", *sound, "--plan", samples=150))
    assert "has run" in capsys.readouterr().out
    nothing = ("-O", "halves.finds=false", "-O", "regions.finds=false")
    run(*line(tmp_path / "none", *sound, *nothing, samples=150))
    assert not load_report(tmp_path / "none").findings


@pytest.mark.long
def test_what_has_run_is_not_run_again(
    place: Path, dossier: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a kill: the runs are stored, the dossier is not."""
    made = (place / "run" / "found" / "halves" / "report.json").stat().st_mtime_ns
    (place / "run" / "report.json").unlink()
    capsys.readouterr()
    run(*line(place / "run", "--methods", "halves,regions,needy", "--json"))
    said = capsys.readouterr()
    again = Report.model_validate_json(said.out)
    assert (
        place / "run" / "found" / "halves" / "report.json"
    ).stat().st_mtime_ns == made
    assert again.cost.model_calls == 0
    assert table(again, "Cues by harm") == table(dossier, "Cues by harm")
    assert "[3/3] confirm" in said.err
    other = line(place / "run", "--methods", "halves", model="fake")
    run_refused(capsys, *other, said="found/halves holds the report of another audit")


def test_a_modality_is_one_cue_and_none_where_both_are_needed(place: Path) -> None:
    """Nor is a figure of the run as a whole."""
    for about in ("question", "question+video"):
        run(
            *line(
                place / about, "--methods", "modal", "-O", f"modal.about={about}", "-q"
            )
        )
    alone, both = (
        load_report(place / about) for about in ("question", "question+video")
    )
    [found] = table(alone, "What found each cue")
    assert found["cue"] == "the question"
    assert {"verdict@middle", "without question@bottom"} <= set(
        str(found["findings"]).removeprefix("modal: ").split(", ")
    )
    assert (
        alone.notes["no cue"]
        == "'Steps' (modal): figures of the run as a whole, and no cues."
    )
    assert "no cues, since the model needs both" in both.statements[0]
    assert not both.findings


def test_where_nothing_is_found_the_report_says_so(
    place: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = (
        "--methods",
        "halves,regions",
        "-O",
        "halves.finds=false",
        "-O",
        "regions.finds=false",
    )
    run(*line(tmp_path / "none", *words, "-q"))
    report = load_report(tmp_path / "none")
    assert not report.findings
    assert [row["findings"] for row in table(report, "Methods")] == [0, 0]
    assert "No method has a finding" in capsys.readouterr().out


def test_the_plan_says_what_would_run(
    place: Path, dossier: Report, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capsys.readouterr()
    run(*line(tmp_path / "x", "--plan", "--json", "--methods", "halves,needy,broken"))
    plan = json.loads(capsys.readouterr().out)
    assert set(plan["plans"]) == {"halves"}
    assert "wish" in plan["left_out"]["needy"]
    assert plan["left_out"]["broken"] == "broken on purpose"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--methods", "halfs"), "no method 'halfs' is installed"),
        (("--methods", "needy"), "no method fits talker on fakes"),
        (("-O", "halvs.x=1"), "no method 'halvs'"),
        (("-O", "samples=1"), "-O samples=1: expected method.key=value"),
        (("--tool", "judge=x"), "a role that one of the methods has use for"),
        (("--on", "val", "--methods", "halves"), "the run's own split 'val'"),
        (("--on", "tset", "--methods", "halves"), "'tset'"),
        (("--on", "tset", "--methods", "halves", "--plan"), "'tset'"),
        (("--on", "test", "--folds", "4"), "--folds and --on are two tests"),
        (("--folds", "100000"), "expected a whole number from 3 to 20, got 100000"),
    ],
)
def test_what_cannot_be_is_one_line(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    run_refused(capsys, *line(tmp_path / "x", *words), said=said)


@pytest.mark.long
def test_runs_that_exist_are_confirmed_together(
    place: Path, dossier: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `investigate` does; a run of another model is refused."""
    for method, model in (
        ("halves", "talker"),
        ("regions", "talker"),
        ("regions", "fake"),
    ):
        words = (
            "--model",
            model,
            "--data",
            "fakes",
            "-O",
            "data.samples=600",
            "-O",
            "data.scale=4",
            "-q",
        )
        folder = place / f"{method}-{model}"
        run("audit", method, *words, "--device", "cpu", "--out", str(folder))
    runs = [
        str(place / name)
        for name in ("halves-talker", "regions-talker", "regions-fake")
    ]
    ways = (
        "-O",
        "samples=60",
        "-O",
        "admitted=0",
        "--with",
        "blank",
        "--with",
        "transplant",
        "-q",
    )
    run("confirm", *runs[:2], *ways, "--out", str(place / "both"))
    both = load_report(place / "both")
    assert table(both, "What found each cue") == table(dossier, "What found each cue")
    assert table(both, "Cues by harm") == table(dossier, "Cues by harm")
    capsys.readouterr()
    run("confirm", runs[0], runs[2], *ways, "--out", str(place / "x"), code=2)
    assert "is about another model than the first run" in capsys.readouterr().err


@pytest.mark.long
def test_the_backgrounds_of_the_toy_clip_are_its_causes(place: Path) -> None:
    """Each background is a cue of its own, and what two methods found of one stands once."""
    words = (
        "--model",
        "toy-clip",
        "--data",
        "scenes",
        "--methods",
        "cci,distilling-failures",
    )
    ways = ("-O", 'confirm.interventions=["swap","transplant"]')
    few = ("-O", "confirm.samples=16", "-q")
    run(
        "investigate",
        *words,
        *ways,
        *few,
        "--device",
        "cpu",
        "--out",
        str(place / "clip"),
    )
    cues = table(load_report(place / "clip"), "Cues by harm")
    names = [str(row["cue"]) for row in cues]
    assert len(names) == len(set(names)) >= 7
    assert cues[0]["verdict"] == "cause"
    assert sum(row["verdict"] == "cause" for row in cues) >= 6


@pytest.mark.long
def test_cues_of_a_log_cost_no_call_and_a_model_is_asked_what_decides(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answers that the model would give, as a log; the plan says what that spares."""
    data = ("--data", "fakes", "-O", "data.samples=120")
    run("audit", "answers", "--model", "fake", *data, "--out", str(place / "answered"))
    log = place / "log.jsonl"
    rows = StoredRun(place / "answered").answers
    lines = [
        json.dumps(
            {"id": r["sample"], "prediction": r["prediction"], "answer": r["label"]}
        )
        for r in rows
    ]
    log.write_text("\n".join(lines))
    capsys.readouterr()
    line = ("investigate", "--log", str(log), *data, "--methods", "answers")
    run(*line, "--out", str(place / "from-log"), "--quiet")
    report = load_report(place / "from-log" / "candidates")
    assert "not tested" in report.notes
    assert load_report(place / "from-log" / "found" / "answers").cost.model_calls == 0
    capsys.readouterr()
    run(*line, "--model", "fake", "--out", str(place / "from-log"), "--plan")
    planned = capsys.readouterr().out.splitlines()
    # what the log answered is not asked again, and the test is planned
    assert any(row.split()[0] == "answers" and "has run" in row for row in planned)
    assert any(row.startswith("confirm ") for row in planned)
    refused = ("investigate", "--model", "fake", *data, "-O", "log.a=b")
    run_refused(capsys, *refused, said="Add --log")
