"""One part that fails costs itself, named in the report with its reason, and never the report.

Parts are interventions, methods, mitigators, tools and the last steps of a command. Each is made to
fail at every moment that it has.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import numpy as np
import pytest
from command_line import run, written_plugins

import cuescope_confirm.report
import cuescope_mitigation.report
from cuescope.application import Entry, Runner
from cuescope_confirm import Confirm
from cuescope_core.engine import FAILED
from cuescope_core.runs import load_report
from cuescope_interventions.pixels import Blank
from cuescope_mitigation import MitigationTrial
from cuescope_mitigation.options import NOT_TRIED
from cuescope_sdk import (
    Accuracy,
    Context,
    Evidence,
    Feature,
    Metric,
    Occurrence,
    Plugin,
    Report,
    Request,
    Requirements,
    Response,
    Score,
    Table,
    Trial,
    UserError,
    hookimpl,
)
from cuescope_sdk.interventions import Intervention, change_frames
from cuescope_sdk.mitigation import Mitigation, Mitigator
from cuescope_testing import FakeDataset, FakeDetector, FakeModel, PluginShelf
from cuescope_testing._fake_data import CUE, CUE_BOX, shows

RED = "red"
NAME = f"'{CUE}'"
HOOKS = ("propose_features", "perturb", "compute_scores", "verify")
ERRORS = {"defect": ValueError, "refusal": UserError}


class Corners(Plugin):
    """Finds the red corner, whatever the model does; `broken` is the hook that fails."""

    title = "Corners"
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="nothing"),)
    broken: ClassVar[str] = ""
    error: ClassVar[type[Exception]] = ValueError

    def fail_at(self, moment: str) -> None:
        if moment == self.broken:
            raise self.error(f"boom at {moment}")

    @hookimpl
    def propose_features(self, audit: Any) -> Iterator[Feature]:
        self.fail_at("propose_features")
        shown = [
            Occurrence(sample=sample.key, frame=number)
            for sample in audit.samples
            for number, frame in enumerate(sample.frames)
            if shows(frame, CUE_BOX, 0)
        ]
        yield Feature(key=RED, kind="thing", name=NAME, occurrences=tuple(shown))

    @hookimpl
    def perturb(self) -> list[Trial]:
        self.fail_at("perturb")
        return []

    @hookimpl
    def compute_scores(self) -> list[Score]:
        self.fail_at("compute_scores")
        return [
            Score(
                feature=RED,
                label="middle",
                metric="gap",
                value=0.5,
                low=0.4,
                high=0.6,
                q_value=0.0,
                finding=True,
                statement="It is so.",
            )
        ]

    @hookimpl
    def verify(self) -> list[Evidence]:
        self.fail_at("verify")
        return []


def failing_methods() -> Iterator[tuple[str, type[Plugin]]]:
    for hook in HOOKS:
        for word, error in ERRORS.items():
            fields = {"broken": hook, "error": error}
            yield (
                f"{word}-{hook.replace('_', '-')}",
                type("Failing", (Corners,), fields),
            )


# --------------------------------------------------------------------------------- interventions


class Sound(Intervention):
    """Blanks the region; a subclass fails at one moment."""

    title = "its pixels are black"
    needs = "region"
    broken: ClassVar[str] = ""
    error: ClassVar[type[Exception]] = ValueError

    def __init__(self, options: Any, context: Context) -> None:
        self.fail_at("construction")
        super().__init__(options, context)

    @classmethod
    def fail_at(cls, moment: str) -> None:
        if moment == cls.broken:
            raise cls.error(f"boom at {moment}")

    @classmethod
    def lacks(cls, *args: Any) -> str | None:
        cls.fail_at("lacks")
        return super().lacks(*args)

    @classmethod
    def why_not(cls, *args: Any) -> str | None:
        cls.fail_at("why_not")
        return super().why_not(*args)

    def intervene(self, cases: Sequence[Any], tools: Mapping[str, Any]) -> list[Trial]:
        self.fail_at("intervene")

        def black(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
            self.fail_at("loading")
            return np.zeros_like(pixels)

        # the name is part of the key of an answer, and each moment is asked for itself
        name = f"black for {self.broken}"
        trials = [
            change_frames(case.sample, case.place, name, lambda _: black)
            for case in cases
        ]
        return trials[self.broken == "counting" :]


MOMENTS = (
    "construction",
    "lacks",
    "why_not",
    "intervene",
    "counting",
    "loading",
)


def failing_interventions() -> Iterator[tuple[str, type[Intervention]]]:
    for moment in MOMENTS:
        for word, error in ERRORS.items():
            fields: dict[str, Any] = {"broken": moment, "error": error}
            yield f"{word}-{moment}", type("FailingIntervention", (Sound,), fields)


class Shelf(PluginShelf):
    """With an intervention that nobody can import."""

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        nowhere = Entry("intervention", "gone", "no_such_module:X", "gone", "0", "gone")
        return (*super().entries, nowhere)


class Blind(Plugin):
    """A detector that fails."""

    def detect(self, frames: Any, names: Any) -> list[Any]:
        raise ValueError("boom in the detector")


# ------------------------------------------------------------------------------------- mitigators


@dataclass(frozen=True)
class Plain(Mitigation):
    """Answers as before, or not at all."""

    broken: str

    def answer(self, trials: Sequence[Trial], ask: Any) -> list[Response]:
        if self.broken == "answer":
            raise ValueError("boom at answer")
        return list(ask(trials))

    def save(self, *args: Any, **named: Any) -> None:
        if self.broken == "save":
            raise OSError("boom at save")
        super().save(*args, **named)


class Faulty(Mitigator):
    """Fails at one moment; a placebo is what is fitted second."""

    title = "Faulty"
    learned = Plain
    broken: ClassVar[str] = ""
    fitted: ClassVar[list[int]] = []

    def fit(self, task: Any) -> Plain:
        self.fitted.append(1)
        if self.broken == "fit" or (self.broken == "placebo" and len(self.fitted) > 1):
            raise ValueError(f"boom at {self.broken}")
        return Plain(self.broken)


REMEDIES = ("fit", "answer", "save", "placebo")


# ------------------------------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    place = tmp_path_factory.mktemp("fails")
    shelf = Shelf(
        {
            ("method", "corners"): Corners,
            ("method", "confirm"): Confirm,
            ("method", "mitigation"): MitigationTrial,
            ("model", "fake"): FakeModel,
            ("dataset", "fake"): FakeDataset,
            ("tool", "finder"): FakeDetector,
            ("tool", "blind"): Blind,
            ("intervention", "blank"): Blank,
            **{("intervention", name): kind for name, kind in failing_interventions()},
            **{
                ("mitigator", moment): type(
                    "Failing", (Faulty,), {"broken": moment, "fitted": []}
                )
                for moment in (*REMEDIES, "sound")
            },
        }
    )
    made = Runner(
        Context(registry=shelf, cache=place / "cache", device="cpu"), place / "runs"
    )
    made.run(request("corners", part="1/2"))
    return made


def request(method: str, *, part: str = "2/2", **fields: Any) -> Request:
    return Request(
        method=method,
        model="fake",
        data="fake",
        data_options={"samples": 240},
        part=part,
        **fields,
    )


def confirm(runner: Runner, detector: str = "finder", **given: Any) -> Report:
    found = runner.folder(request("corners", part="1/2")).path
    options = {"run": str(found), "samples": 40, **given}
    tools = {"detector": detector}
    return runner.run(request("confirm", method_options=options, tools=tools))


def failures(report: Report) -> dict[str, str]:
    """What failed, with the reasons."""
    tables = [table for table in report.tables if table.title == FAILED]
    return {str(row["part"]): str(row["why"]) for table in tables for row in table.rows}


def arm(report: Report, name: str) -> list[dict[str, Any]]:
    [table] = [
        table for table in report.tables if table.title.startswith("Interventions (")
    ]
    return [dict(row) for row in table.rows if row["intervention"] == name]


def boom(*args: Any, **named: Any) -> Any:
    raise ValueError("boom in the last step")


BARS = (
    "looking for the cues",
    "changing pictures of the cues",
    "weighing the evidence",
)
# of confirm: where the step is called, and what its failure is told under
LAST_STEPS = {
    "cuescope_confirm.trials.merge_cues": "merging of findings that are one cue",
    "cuescope_confirm.experiment.doses.look_of": (
        f"recognising {NAME} in changed pictures"
    ),
    "cuescope_confirm.reasoning.say_do_gap": "say-do gap",
    "cuescope_confirm.merging.sources.sources": "tables of what found the cues",
    "cuescope_confirm.figures.contrasts": "pictures of what was changed",
    "cuescope_confirm.scores.gap_as_they_are": f"what else correlates with {NAME}",
    "cuescope_confirm.verify.planted_check": f"check of where {NAME} is",
}
# of a remedy
LAST_STEPS_OF_REMEDY = {
    "cuescope_mitigation.verify.placebo_checks": f"checks of the remedy against {NAME}",
}


def makers(module: Any) -> list[str]:
    """Where the functions of a module are that make what a report shows."""
    shown = {Table, Table | None, Accuracy, Iterator[Table]}
    return [
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and (get_type_hints(value).get("return") in shown or name == "statement")
    ]


def break_all(monkeypatch: pytest.MonkeyPatch, places: Iterable[str]) -> None:
    for place in places:
        monkeypatch.setattr(place, boom)


def test_an_intervention_or_a_last_step_that_fails_costs_itself(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each of its moments: all in one test, in which what is sound measures as it would."""
    report = confirm(runner)
    names = dict(failing_interventions())
    reasons = failures(report)
    assert set(reasons) == {f"intervention {name}" for name in [*names, "gone"]}
    for name, kind in names.items():
        expected = (
            "one a case" if kind.broken == "counting" else f"boom at {kind.broken}"
        )
        assert expected in reasons[f"intervention {name}"]
    assert "no_such_module" in reasons["intervention gone"]
    break_all(monkeypatch, LAST_STEPS)
    short = confirm(runner, interventions=("blank",))
    assert set(failures(short)) == set(LAST_STEPS.values())
    [alone], [beside] = arm(short, "blank"), arm(report, "blank")
    assert alone | {"dose": None} == beside | {"dose": None}
    made = makers(cuescope_confirm.report)
    break_all(monkeypatch, made)
    bare = confirm(runner, interventions=("blank",))
    told = failures(bare)
    assert len(told) == len(LAST_STEPS) + len(made)
    assert all("boom in the last step" in why for why in told.values())
    assert [table.title for table in bare.tables] == [FAILED]
    [row], [before] = bare.headlines, short.headlines
    assert row.model_copy(update={"statement": before.statement}) == before


def test_what_takes_time_beside_the_model_has_a_bar(runner: Runner) -> None:
    left: dict[str, int] = {}

    @contextmanager
    def bar(doing: str, total: int) -> Iterator[Callable[[int], None]]:
        left[doing] = total

        def advance(step: int) -> None:
            left[doing] -= step

        yield advance

    told = replace(runner, context=replace(runner.context, progress=bar))
    confirm(told, interventions=("blank",), samples=41)
    assert left.items() >= dict.fromkeys(BARS, 0).items()


def test_a_last_step_of_a_remedy_that_fails_costs_itself(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = runner.folder(request("corners", part="1/2")).path
    options = {"run": str(found), "mitigator": "sound", "placebos": 1}
    made = makers(cuescope_mitigation.report)
    break_all(monkeypatch, [*LAST_STEPS_OF_REMEDY, *made])
    report = runner.run(request("mitigation", method_options=options))
    told = failures(report)
    assert set(LAST_STEPS_OF_REMEDY.values()) < set(told)
    assert len(told) == len(LAST_STEPS_OF_REMEDY) + len(made)
    assert [table.title for table in report.tables] == [FAILED]
    assert len(report.headlines) == 1


def test_a_tool_that_fails_costs_the_cues_that_need_it(runner: Runner) -> None:
    report = confirm(runner, "blind", interventions=("blank",))
    assert "boom in the detector" in failures(report)[f"locating {NAME} by detector"]
    assert "inconclusive" in report.statements[0]


def test_a_model_that_is_gone_is_no_failure_of_a_part(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a server that was switched off would leave a stored report of nothing."""
    monkeypatch.setattr(FakeModel, "respond", boom)
    with pytest.raises(UserError, match="boom in the last step"):
        confirm(runner, interventions=("blank:white",))


@pytest.mark.parametrize("moment", REMEDIES)
def test_a_mitigator_that_fails_costs_the_remedy(runner: Runner, moment: str) -> None:
    found = runner.folder(request("corners", part="1/2")).path
    options = {"run": str(found), "mitigator": moment, "placebos": 1}
    save = runner.runs / f"learned-{moment}"
    report = runner.run(
        request("mitigation", method_options={**options, "save": str(save)})
    )
    part = {"save": "saving what was learned", "placebo": "placebo 1"}
    [(told, why)] = failures(report).items()
    assert told == part.get(moment, f"mitigator {moment}")
    assert f"boom at {moment}" in why
    assert (NOT_TRIED in report.notes) == (moment in ("fit", "answer"))
    assert len(report.headlines) == 1


PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.methods]
corners = failing:Corners
"""
SOURCE = """
from test_one_part_fails import Corners, Sound, failing_methods

globals().update({name.replace("-", "_"): kind for name, kind in failing_methods()})
"""


def test_an_investigation_whose_test_fails_has_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And every method that fails is named there; the command tells the error all the same."""
    points = [
        f"{name} = failing:{name.replace('-', '_')}" for name, _ in failing_methods()
    ]
    names = ",".join(["corners", *(name for name, _ in failing_methods())])
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setattr("cuescope_confirm.study._held_out_samples", boom)
    folder = tmp_path / "out"
    with written_plugins(tmp_path, "failing", PLUGINS + "\n".join(points), SOURCE):
        words = (
            "--model",
            "fake",
            "--data",
            "fakes",
            "--methods",
            names,
            "--device",
            "cpu",
        )
        run("investigate", *words, "--out", str(folder), "-q", code=2)
    assert "boom in the last step" in capsys.readouterr().err
    report = load_report(folder)
    assert "boom in the last step" in report.notes["failed"]
    [row] = report.headlines
    assert (row.label, row.value) == ("middle", None)
    assert "not tested" in report.statements[0]
    [table] = [table for table in report.tables if table.title == "Methods"]
    reasons = {row["method"]: row["left out because"] for row in table.rows}
    assert reasons.pop("corners") is None
    for name, kind in failing_methods():
        assert f"boom at {kind.broken}" in str(reasons[name])
    assert (folder / "report.html").is_file()
