"""`cuescope confirm`: a red corner that the model takes for "top" is a cause; a blue one is not.

The data set and the model are those of the contracts. Both corners are found by a method that is
told where they are, so that only the test of causes is tested.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_refused, written_plugins
from PIL import Image

from cuescope_core.runs import RunFolder, load_report
from cuescope_sdk import Context, Report
from cuescope_testing import FakeDataset
from cuescope_testing._fake_data import CUE

PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
pixels = corners:PixelsOnly
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.methods]
corners = corners:Corners
[cuescope.tools]
finder = cuescope_testing:FakeDetector
"""
CORNERS = '''
"""A method that finds both corners, whatever the model does."""

import numpy as np

from cuescope_sdk import (
    Capabilities, Feature, Metric, Occurrence, Options, Plugin, Requirements, Score, hookimpl
)
from cuescope_testing import FakeModel
from cuescope_testing._fake_data import CUE_BOX, DECOY_BOX, shows


class PixelsOnly(FakeModel):
    """The same model, which takes no edits and has no patches."""

    capabilities = Capabilities(outputs=frozenset({"logits"}))


class CornersOptions(Options):
    bare: bool = False
    sorts: bool = False
    unfound: bool = False
    renumbers: bool = False


SORTS = {  # as the five methods name their features
    "cluster-1": ("cluster", None),
    "background": ("image-region", "the background"),
    "SC: video": ("short-circuit", "attention to the video"),
    "recognition/middle/red corner": ("recognition", "red corner beside a middle"),
    "named red corner": ("thing", "'red corner'"),
    "regions-top": ("regions", "regions that speak for 'top'"),
    "somebody's frames": ("somebody's", None),
    "somebody's region": ("somebody's", None),
    "somebody's name": ("somebody's", "red corner"),
    "somebody's nothing": ("somebody's", None),
}
SILENT = ("SC: video", "somebody's name", "somebody's nothing")


class Corners(Plugin):
    title = "Corners"
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="nothing"),)
    Options = CornersOptions

    @hookimpl
    def propose_features(self, audit):
        keys = ("red", "blue")
        if self.options.renumbers and len(audit.samples) < 400:
            keys = ("blue", "red")
        boxes = ((CUE_BOX, 0), (DECOY_BOX, 2))
        for name, (box, channel) in zip(keys, boxes):
            met = [
                Occurrence(sample=sample.key, frame=number)
                for sample in audit.samples
                for number, frame in enumerate(sample.frames)
                if shows(frame, box, channel)
            ]
            if not self.options.sorts:
                met = () if self.options.bare else met
                yield Feature(key=name, kind="cluster", occurrences=met)
            elif name == "red":
                for key, (kind, words) in SORTS.items():
                    region = tuple(4.0 * edge for edge in box) if key.endswith("s region") else None
                    own = [each.model_copy(update={"region": region}) for each in met]
                    yield Feature(
                        key=key, kind=kind, name=words, occurrences=() if key in SILENT else own
                    )

    @hookimpl
    def compute_scores(self, audit, features, outcomes):
        return [
            Score(
                feature=f.key,
                label="middle",
                metric="gap",
                value=0.5,
                low=0.4,
                high=0.6,
                q_value=0.0,
                statement="It is so.",
                finding=f.key != "blue" or not self.options.unfound,
            )
            for f in features
        ]
'''
Made = Callable[..., Report]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("confirm")
    with written_plugins(place, "corners", PLUGINS, CORNERS):
        yield place


@pytest.fixture
def audited(place: Path) -> Callable[..., Path]:
    """The folder of an audit of a model; kept for other tests of this module."""

    def folder_of(model: str = "fake", lean: float = 1.0) -> Path:
        folder = place / f"{model}-{lean}"
        if not (folder / "report.json").exists():
            unfound = ("-O", "unfound=true") if model == "pixels" else ()
            run(*audit_of(folder, model, lean, *unfound))
        return folder

    return folder_of


@pytest.fixture
def confirmed(audited: Callable[..., Path]) -> Made:
    """The dossier of such an audit; kept for other tests of this module."""

    def report(model: str = "fake", lean: float = 1.0) -> Report:
        folder = audited(model, lean)
        if not (folder.with_name(f"{folder.name}-confirmed") / "report.json").exists():
            some = ("blank", "transplant", "hide")[
                : 3 if (model, lean) == ("fake", 1.0) else 2
            ]
            ways = (
                [word for name in some for word in ("--with", name)]
                if model == "fake"
                else []
            )
            way = ("--device", "cpu", "--batch-size", "32")
            run("confirm", str(folder), "-q", "-O", "samples=80", *way, *ways)
        return load_report(folder.with_name(f"{folder.name}-confirmed"))

    return report


@pytest.fixture
def paired(audited: Callable[..., Path], scenes: Path) -> Callable[..., Path]:
    """The folder of a dossier by pairs of the user's own; kept for other tests of this module."""

    def folder_of(lean: float = 1.0) -> Path:
        found = audited(lean=lean)
        folder = found.with_name(f"{found.name}-paired")
        if not (folder / "report.json").exists():
            words = ("--feature", "red", "--pairs", str(scenes), "--out", str(folder))
            run("confirm", str(found), "-q", *words)
        return folder

    return folder_of


def audit_of(folder: Path, model: str, lean: float, *words: str) -> tuple[str, ...]:
    line = (
        "audit",
        "corners",
        "--model",
        model,
        "-O",
        f"model.lean={lean}",
        "--data",
        "fakes",
    )
    line += (
        "-O",
        "data.samples=600",
        "-O",
        "data.scale=4",
        "--device",
        "cpu",
        "-q",
        "--out",
        str(folder),
    )
    return (*line, *words)


def verdicts(report: Report) -> dict[str, object]:
    table = next(
        each for each in report.tables if each.title.startswith("Cues by harm")
    )
    return {str(row["cue"]): row["verdict"] for row in table.rows}


@pytest.mark.long
def test_the_cause_is_told_from_the_decoy(confirmed: Made) -> None:
    report = confirmed()
    assert verdicts(report)["red"] == "cause"
    assert verdicts(report)["blue"] != "cause"
    [cause] = report.findings
    assert cause.feature == "red"
    sentence = str(report.sentence(cause))
    assert "causes wrong answers, by +" in sentence
    assert "The probability that it moves them by more than 10 points is" in sentence
    checks = {(e.check, e.feature): e.verdict for e in report.evidence}
    assert checks["located where a cue is annotated", "red"] == "supported"
    told = {s.feature: s.value for s in report.scores if s.metric == "probability"}
    assert told["red"] > 0.95
    assert told["blue"] < 0.5
    [lost] = [s for s in report.scores if s.metric == "accuracy_lost"]
    # a third are of the label, three tenths of them show it, and nearly all of these are wrong
    assert lost.value == pytest.approx(0.1 * 0.9, abs=0.03)


@pytest.mark.long
def test_a_feature_of_the_run_is_tested_whatever_half_of_it_calls_it(
    place: Path, tmp_path: Path
) -> None:
    """The whole run calls the cause "red", and the run made again on half calls it "blue"."""
    found = tmp_path / "whole"
    run(*audit_of(found, "fake", 1.0, "-O", "renumbers=true"))
    ways = ("--with", "blank", "--with", "transplant", "-O", "samples=40", "-q")
    run("confirm", str(found), "--feature", "red@middle", *ways)
    assert verdicts(load_report(tmp_path / "whole-confirmed")) == {"blue": "cause"}


@pytest.mark.long
def test_few_samples_serve_both_jobs(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tmp_path / "few"
    few = ("-O", "data.samples=150", "-O", "data.scale=4", "--out", str(found))
    run("audit", "corners", "--model", "fake", "--data", "fakes", "-q", *few)
    ways = ("--with", "blank", "--with", "transplant", "-q", "--folds", "3")
    run("confirm", str(found), *ways)
    report = load_report(tmp_path / "few-confirmed")
    assert report.notes["findings"].startswith("2, 2, 2 in 3 runs")
    assert verdicts(report) == {"red": "cause", "blue": "inconclusive"}
    # each run left a third out, and every sample is tested once
    shown = {
        occurrence.sample
        for feature in report.features
        if feature.key == "red"
        for occurrence in feature.occurrences
    }
    data = FakeDataset(FakeDataset.Options(samples=150, scale=4), Context())
    samples = map(data.__getitem__, range(len(data)))
    planted = [sample for sample in samples if any(sample.annotations["cues"][CUE])]
    assert len(shown) > 0.8 * len(planted)
    twice = ("--folds", "3", "--on", "test")
    both = "--folds and --on are two tests"
    run_refused(capsys, "confirm", str(found), *twice, said=both)


@pytest.mark.long
def test_of_a_model_that_does_not_lean_on_it_nothing_is_confirmed(
    confirmed: Made,
) -> None:
    report = confirmed("fake", 0.0)
    assert not report.findings
    assert "cause" not in verdicts(report).values()


@pytest.mark.long
def test_a_model_without_edits_is_tested_by_pixels(confirmed: Made) -> None:
    report = confirmed("pixels")
    assert verdicts(report)["red"] == "cause"
    table = next(t for t in report.tables if "were not asked about" in t.title)
    reasons = {str(row["intervention"]): str(row["why"]) for row in table.rows}
    assert reasons["hide"] == "the model does not take the edit 'hide-tokens'"
    assert reasons["inpaint"].startswith("there is no image-editor")


@pytest.mark.long
def test_a_feature_of_each_method_is_taken(place: Path) -> None:
    """Frames, a region, a modality, an object's name and a thing that reasoning names.

    What a method brings that nobody knows is located by what it carries: frames, regions, a name.
    """
    folder = place / "sorts"
    run(*audit_of(folder, "fake", 1.0, "-O", "sorts=true"))
    words = (
        "--with",
        "blank",
        "--with",
        "swap",
        "-O",
        "samples=40",
        "-O",
        "merge=false",
    )
    run("confirm", str(folder), *words, "--tool", "detector=finder", "-q")
    report = load_report(place / "sorts-confirmed")
    said = verdicts(report)
    assert len(said) == 10
    for name in ("red corner beside a middle", "'red corner'", "red corner"):
        assert said[name] == "cause"
    # two interventions alone leave open what is located by frames or a region that was learned
    for name in ("cluster-1", "somebody's frames", "somebody's region"):
        assert said[name] != "not a cause"
    assert said["somebody's nothing"] == "inconclusive"
    for evidence in report.evidence:
        if (
            evidence.check == "located where a cue is annotated"
            and evidence.feature
            in ("recognition/middle/red corner", "named red corner")
        ):
            assert evidence.value == 1
    table = next(t for t in report.tables if "were not asked about" in t.title)
    assert all(row["why"] for row in table.rows)
    reasons = {str(row["cue"]): str(row["why"]) for row in table.rows}
    assert reasons["somebody's nothing"].endswith(
        "it occurs in no sample, and has no name"
    )


@pytest.mark.long
def test_no_sample_that_found_the_cues_is_changed(place: Path, confirmed: Made) -> None:
    report = confirmed()
    found = load_report(place / "fake-1.0-confirmed" / "found")
    assert (found.provenance.part, report.provenance.part) == ("1/2", "2/2")
    assert all(
        "--device cpu --batch-size 32" in r.provenance.command for r in (found, report)
    )
    seen = {o.sample for f in found.features for o in f.occurrences}
    tested = {o.sample for f in report.features for o in f.occurrences}
    assert seen
    assert tested
    assert not seen & tested


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--with", "hid"), "no intervention 'hid' is installed"),
        (("--with", "average"), "does not take the edit 'average-attention'"),
        (("--feature", "green"), "no feature 'green'"),
        (("--on", "val"), "the run's own split 'val'"),
        (("-O", "sample=3"), "Did you mean"),
        (("--tool", "proposer=known"), "has no use for a proposer"),
        (
            ("-O", "tool.detector.score=1"),
            "-O tool.detector: no tool has this role here",
        ),
        (("--tool", "detector=finder", "-O", "tool.detector.x=1"), "'x'"),
    ],
)
def test_what_cannot_be_is_one_line(
    place: Path,
    audited: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    audited()
    run_refused(
        capsys,
        "confirm",
        str(place / "fake-1.0"),
        *words,
        "--out",
        str(tmp_path / "x"),
        said=said,
    )


@pytest.mark.parametrize(
    "option",
    [
        "-O folds=3",
        "-O nope=1",
        "--feature green",
        "--tool detector=nosuch",
        "--executor nosuch",
        "--pairs nowhere",
    ],
)
def test_a_wrong_option_is_told_before_anything_else(
    place: Path,
    audited: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    option: str,
) -> None:
    audited()
    capsys.readouterr()
    out = ("--out", str(tmp_path / "x"))
    run("confirm", str(place / "fake-1.0"), *option.split(), *out, code=2)
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    # nothing was made again for it
    assert not (tmp_path / "x").exists()


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples of "middle" with the red corner, and the same where it was painted over."""
    folder = tmp_path_factory.mktemp("scenes")
    data = FakeDataset(FakeDataset.Options(samples=400, scale=4, seed=7), Context())
    for index in range(len(data)):
        sample = data[index]
        if sample.label != "middle" or not sample.annotations["cues"][CUE][0]:
            continue
        for number, frame in enumerate(sample.frames):
            pixels = np.asarray(frame.load())
            without = pixels.copy()
            without[:12, :12] = pixels[:12, 12:24]
            for side, shown in (("with", pixels), ("without", without)):
                clip = folder / side / "middle" / sample.key
                clip.mkdir(parents=True, exist_ok=True)
                Image.fromarray(shown).save(clip / f"{number}.png")
    return folder


@pytest.mark.parametrize(
    ("lean", "verdict"),
    [(1.0, "cause"), pytest.param(0.0, "not a cause", marks=pytest.mark.long)],
)
def test_pairs_of_the_users_own_decide_alone(
    paired: Callable[..., Path], lean: float, verdict: str
) -> None:
    """For a model that leans on the cue, and for one that does not."""
    report = load_report(paired(lean))
    assert verdicts(report) == {"red": verdict}
    [table] = [t for t in report.tables if t.title.startswith("Interventions (")]
    [arm] = table.rows
    assert arm["intervention"] == "pairs"
    assert arm["samples"] >= 10
    if verdict == "cause":
        [headline] = report.headlines
        assert headline.value is not None
        assert headline.low is not None
        assert headline.low > 0.1


def test_pairs_that_cannot_be_read_are_told_in_a_line(
    place: Path,
    audited: Callable[..., Path],
    scenes: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    audited()
    alone, unlike, few = (tmp_path / name for name in ("alone", "unlike", "few"))
    shutil.copytree(scenes / "with", alone / "with")
    shutil.copytree(scenes, unlike)
    first, *others = sorted((unlike / "without" / "middle").iterdir())
    shutil.rmtree(first)
    shutil.copytree(scenes, few)
    for side in ("with", "without"):
        for other in others:
            shutil.rmtree(few / side / "middle" / other.name)
    for folder, feature, said in (
        (alone, "red", "there is no folder"),
        (unlike, "red", "is not in 'without'"),
        (few, "red", "of 1 pairs can be asked about"),
        (scenes, "red --feature blue", "got 2 findings"),
    ):
        words = ("--feature", *feature.split(), "--pairs", str(folder))
        where = ("--out", str(tmp_path / "x"))
        run_refused(
            capsys, "confirm", str(place / "fake-1.0"), *words, *where, said=said
        )


def test_runs_that_cannot_be_tested_are_told_in_a_line(
    place: Path,
    audited: Callable[..., Path],
    paired: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    audited()
    names = ("bare", "all", "old", "changed", "gone")
    bare, whole, old, changed, gone = (tmp_path / name for name in names)
    clips = tmp_path / "clips"
    run(*audit_of(bare, "fake", 1.0, "-O", "bare=true"))
    run(*audit_of(whole, "fake", 1.0, "--part", "1/1"))
    stored = json.loads((place / "fake-1.0" / "report.json").read_text())
    for folder, update in (
        (old, {"schema_version": 0}),
        (changed, other_data(stored, fingerprint="another")),
        (
            gone,
            other_data(stored, spec=f"folder:{clips}", options={"path": str(clips)}),
        ),
    ):
        folder.mkdir()
        text = json.dumps({**stored, **update, "seal": None})
        (folder / "report.json").write_text(text)
    for folder in (changed, gone):  # as this user would have made it
        RunFolder(folder).save(load_report(folder), {}, own=True)
    for folder, said in (
        (bare, "no finding of"),
        (old, "is no report of schema version 2: got version 0"),
        (changed, "has changed since the run was made"),
        (gone, str(clips)),
        (whole, "the run looked at part 1/1"),
        (tmp_path / "nothing", "no report at"),
        (paired(), "which tests what other runs found"),
    ):
        run_refused(
            capsys, "confirm", str(folder), "--out", str(tmp_path / "x"), said=said
        )
    twice = (str(place / "fake-1.0"), str(place / "fake-1.0"))
    run_refused(
        capsys, "confirm", *twice, "--out", str(tmp_path / "x"), said="named twice"
    )


def test_a_run_of_somebody_else_is_asked_again_as_it_is_typed(
    place: Path,
    audited: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    audited()
    mail, out = tmp_path / "mail", str(tmp_path / "out")
    shutil.copytree(place / "fake-1.0", mail)
    stored = json.loads((mail / "report.json").read_text())
    (mail / "report.json").write_text(json.dumps({**stored, "seal": None}))
    words = ("confirm", str(mail), "--out", out, "--plan")
    run_refused(capsys, *words, said="nothing of it was run")
    made = audit_of(place / "fake-1.0", "fake", 1.0)
    model = made[made.index("--model") : made.index("--model") + 2]
    run_refused(capsys, *words, *model, said="nothing of it was run")
    typed = [
        word
        for flag in ("--model", "--data")
        for word in (flag, made[made.index(flag) + 1])
    ]
    for place_of in [
        number
        for number, word in enumerate(made)
        if word == "-O" and made[number + 1].startswith(("model.", "data."))
    ]:
        typed += made[place_of : place_of + 2]
    run(*words, *typed)
    assert "what you typed is asked instead" in capsys.readouterr().err


def other_data(
    stored: dict[str, dict[str, dict[str, object]]], **other: object
) -> object:
    data = {**stored["provenance"]["data"], **other}
    return {"provenance": {**stored["provenance"], "data": data}}


@pytest.mark.long
def test_the_cue_of_the_demo_is_a_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody sees who types the first two commands of the quickstart."""
    monkeypatch.chdir(tmp_path)
    run("demo")
    run("confirm", "runs/demo", "-q")
    report = load_report(tmp_path / "runs" / "demo-confirmed")
    assert verdicts(report)["red background"] == "cause"
    # taught to be of one label in 96 of 100 clips
    assert max(score.value for score in report.findings) > 0.3
