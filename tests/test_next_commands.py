"""Every command that a report prints works as it stands, from where it was printed."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run, written_plugins
from next_commands import Copier, printed_calls, printed_commands

import cuescope
from cuescope_core.registry import Registry
from cuescope_sdk import Context
from cuescope_testing import FakeDataset, FakeModel

PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
other = states:Other
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.methods]
stated = states:Stated
"""
STATES = '''
"""A method that ends in whichever state it is told."""

from typing import Literal

from cuescope_sdk import (
    Evidence, Feature, Metric, Occurrence, Options, Plugin, Requirements, Score, Trial, hookimpl
)
from cuescope_testing import FakeModel
from cuescope_testing._fake_data import CUE_BOX, shows


class Other(FakeModel):
    """Another model of the same abilities."""


class StatedOptions(Options):
    state: Literal["finding", "nowhere", "nothing", "untested", "doubted", "own"] = "finding"


class Stated(Plugin):
    title = "Stated"
    Options = StatedOptions
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="nothing"),)

    @hookimpl
    def propose_features(self, audit):
        met = [
            Occurrence(sample=sample.key, frame=number)
            for sample in audit.samples
            for number, frame in enumerate(sample.frames)
            if shows(frame, CUE_BOX, 0)
        ]
        if len(audit.samples) < 50:
            audit.context.announce(f"warning: stated: few samples, got {len(audit.samples)}")
        if self.options.state == "nowhere":
            met = []
        if self.options.state == "own":
            audit.note(
                "next step",
                "Save them: `cuescope export RUN --affected 1 --out FILE` does it.",
            )
        yield Feature(key="corner", kind="slice", occurrences=met)

    @hookimpl
    def perturb(self, audit, features):
        return [Trial(sample=sample) for sample in audit.samples]

    @hookimpl
    def compute_scores(self, audit, features, outcomes):
        found = self.options.state in ("finding", "nowhere", "own")
        value = None if self.options.state == "untested" else 0.5
        return [
            Score(
                feature="corner", label="middle", metric="gap", value=value, low=value,
                high=value, q_value=0.0, finding=found, statement="It is so.",
            )
        ]

    @hookimpl
    def verify(self, audit, features, scores):
        if self.options.state == "doubted":
            yield Evidence(check="premise", verdict="refuted", detail="not so", doubt="Not so.")
'''
DATA = ("--data", "fakes", "-O", "data.samples=60", "-O", "data.scale=4")
# of each method a small audit of a toy, as the gallery has it
SMALL = {
    "trove": "--model toy --data moving-shapes --limit 200",
    "confidence": "--model toy --data moving-shapes --limit 200",
    "distilling-failures": "--model toy --data moving-shapes --limit 200",
    "domino": "--model toy --data moving-shapes --limit 200",
    "george": "--model toy --data moving-shapes --limit 200",
    "random": "--model toy --data moving-shapes --limit 200",
    "answers": "--model toy-clip --data scenes --limit 60",
    "hypotheses": "--model toy-clip --data scenes --limit 200 --tool proposer=known",
    "maps": "--model toy --data moving-shapes --limit 40 -O samples=4",
    "looking": "--model toy-clip --data scenes --limit 60",
    "blind": "--model none --data scenes --limit 60",
    "cci": "--model toy-clip --data scenes --limit 96",
    "saliency": "--model toy-clip --data scenes --limit 96",
    "quag": "--model toy-fusion --data moving-shapes:none -O data.questions=text -O data.val=120",
    "spurlens": "--model toy-fusion:object-scenes:presence -O model.patches=4 -O model.epochs=4 "
    "--data object-scenes -O data.val=300 -O k=20 --tool proposer=co-occurrence "
    "--tool detector=annotations",
    "step-grounding": "--model scripted --data shape-world -O data.val=40",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("next")
    with written_plugins(home, "states", PLUGINS, STATES):
        yield home


@pytest.fixture
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a person works: an own folder, the plugins and answers of all."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("state", "at_least"),
    [
        ("finding", {"confirm", "export", "audit", "compare"}),
        ("nowhere", {"audit", "compare"}),
        ("nothing", {"audit"}),
        ("untested", {"plugins"}),
        ("doubted", {"audit"}),
        ("own", {"export"}),
    ],
)
def test_what_a_report_says_can_be_typed(
    place: Path, capsys: pytest.CaptureFixture[str], state: str, at_least: set[str]
) -> None:
    line = ("audit", "stated", "--model", "fake", *DATA, "-O", f"state={state}")
    # a shell takes a space for the end of a word
    run(*line, "-q", "--out", "runs/the first")
    copier = Copier(capsys, other="other", plans=True)
    commands = copier.follow("runs/the first")
    assert at_least <= {command.split()[1] for command in commands}


@pytest.mark.long
def test_what_an_investigation_says_can_be_typed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The dossier of the test, as its cues are merged and tested by one intervention."""
    line = ("investigate", "--model", "fake", *DATA, "--methods", "stated")
    ways = ("-O", "confirm.interventions=blank", "-O", "confirm.samples=20")
    run(*line, *ways, "--out", "runs/all", "-q")
    Copier(capsys, other="other", plans=True).follow("runs/all")


WAYS = ("interventions=blank,transplant", "samples=40")
MANY = (
    "--data",
    "fakes",
    "-O",
    "data.samples=120",
    "-O",
    "data.scale=4",
    "-O",
    "data.frames=2",
)


@pytest.mark.parametrize(
    ("command", "folds"),
    [
        ("confirm", ("--folds", "3")),
        pytest.param("confirm", (), marks=pytest.mark.long),
        pytest.param("investigate", (), marks=pytest.mark.long),
        pytest.param("investigate", ("--folds", "3"), marks=pytest.mark.long),
    ],
)
def test_what_the_dossier_of_a_cause_says_can_be_typed(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    folds: tuple[str, ...],
) -> None:
    """The remedy for the cause, of the run that found it; the refusal says it too."""
    if command == "confirm":
        run("audit", "stated", "--model", "fake", *MANY, "-q", "--out", "runs/first")
        line = [command, "runs/first", *(f"-O{way}" for way in WAYS)]
    else:
        line = [command, "--model", "fake", *MANY, "--methods", "stated"]
        line += [f"-Oconfirm.{way}" for way in WAYS]
    run(*line, *folds, "--out", "runs/dossier", "-q")
    capsys.readouterr()
    run("show", "runs/dossier", "-v")
    printed = printed_commands(capsys.readouterr().out)
    run("mitigate", "runs/dossier", "--with", "last-layer", "-q", code=2)
    refused = printed_commands(capsys.readouterr().err)
    assert "cuescope plugins list --kind mitigator" in printed
    # the test itself takes long, and is typed by another test
    left_out = (" confirm ", " plugins list", "--seed 1")
    for said, name in ((printed, "last-layer"), (refused, "NAME")):
        assert any(" confirm " in line for line in said)
        commands = [line for line in said if not any(map(line.__contains__, left_out))]
        assert commands[-1].startswith("cuescope mitigate ")
        assert commands[-1].endswith(shlex.join(["--with", name, *folds]))
        Copier(capsys, other="other", plans=True).type(commands)
    # without a note of it, it was made elsewhere: no command of a stranger is advised
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(place / "notes of another"))
    again = ("--model", "fake", *MANY, "-q")
    capsys.readouterr()
    run("mitigate", "runs/dossier", "--with", "last-layer", *again, code=2)
    refusal = capsys.readouterr().err
    assert "Take the run that it tested" in refusal
    assert not printed_commands(refusal)


@pytest.mark.parametrize("command", ["mitigate", "investigate"])
def test_a_warning_of_all_folds_is_said_once(
    place: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    few = ("--model", "fake", "--data", "fakes", "-O", "data.samples=61")
    if command == "mitigate":
        run("audit", "stated", *few, "-q", "--out", "runs/first")
        run(command, "runs/first", "--with", "last-layer", "--folds", "4")
    else:
        run(command, *few, "--methods", "stated", "--folds", "4", "--plan")
    assert capsys.readouterr().err.count("warning: stated: few samples") == 1


@pytest.mark.parametrize("state", ["finding", "nothing", "doubted"])
def test_what_a_report_of_objects_says_can_be_typed_in_python(
    place: Path, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    """With the objects as `model` and `data`; no command is printed that would need them."""
    drawn = FakeDataset(FakeDataset.Options(samples=60, scale=4), Context())
    model = FakeModel(FakeModel.Options(), Context(dataset=drawn))
    given = {"model": model, "data": drawn, "progress": False}
    options = {"state": state}
    cuescope.audit("stated", **given, options=options, limit=50, out="runs/first")
    run("show", "runs/first", "-v")
    said = capsys.readouterr().out
    assert not printed_commands(said)
    calls = printed_calls(said)
    run("confirm", "runs/first", "-q", code=2)
    refusal = capsys.readouterr().err
    assert len(refusal.splitlines()) == 1
    names = {"cuescope": cuescope, "model": model, "data": drawn, "other": model}
    tried = printed_calls(refusal)
    assert [call.partition("(")[0] for call in tried] == [
        "cuescope.confirm",
        "cuescope.mitigate",
    ]
    if state != "finding":  # there is nothing to test
        tried = []
    for call in [*calls, *tried]:
        planned = call.replace("'NAME'", "'last-layer'")
        if "confirm(" in call or "mitigate(" in call:
            planned = f"{planned[:-1]}, plan=True)"
        assert eval(planned, names) is not None


def test_what_needs_the_data_of_objects_is_refused_in_a_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = FakeDataset(FakeDataset.Options(samples=60, scale=4), Context())
    cuescope.audit("stated", model="fake", data=drawn, progress=False, out="runs/first")
    run("export", "runs/first", "--affected", "1", code=2)
    refusal = capsys.readouterr().err
    assert "'FakeDataset', were objects in memory" in refusal
    assert len(refusal.splitlines()) == 1


@pytest.mark.long
@pytest.mark.parametrize("method", sorted(SMALL))
def test_what_a_report_of_a_method_says_can_be_typed(
    place: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    """Of a small audit, with the confirming done in full where there is a finding."""
    line = ["audit", method, *SMALL[method].split(), "--out", "runs/first", "-q"]
    run(*line)
    words = SMALL[method].split()
    model = words[words.index("--model") + 1]
    Copier(capsys, other=model, plans=False).follow("runs/first")


def test_every_method_is_in_the_long_test() -> None:
    registry = Registry()
    for entry in registry.of_kind("method"):
        method = registry.load(entry)
        own = entry.dist.startswith("cuescope-")
        # they need a file or pairs of their own, and are tried in their own tests
        needs = entry.name in ("cue", "contamination")
        if own and not needs and getattr(method, "started_by", None) is None:
            assert entry.name in SMALL
