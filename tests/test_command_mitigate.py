"""`cuescope mitigate`: a cue is found on one part, unlearned on another, measured on a third.

The data set and the model are those of the contracts: a red corner that the model takes for "top".
What helps is shown on a toy that was trained: the shipped CLIP that leans on backgrounds.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import run, run_refused, written_plugins

from cuescope_core.runs import load_report
from cuescope_sdk import Report

Line = Callable[..., str]
PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
reader = flattery:Dazzled
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.mitigators]
flatter = flattery:Flatter
"""
FLATTERY = '''
"""A mitigator that is none: it says the last label more often. A model that a refit cannot mend."""

from dataclasses import dataclass

import numpy as np

from cuescope_sdk.mitigation import Mitigation, Mitigator
from cuescope_testing import FakeReader


class Dazzled(FakeReader):
    """Where it looks at the red corner, it sees nothing of the label: no head can mend that."""

    def __init__(self, options, context):
        super().__init__(options, context)
        self.fingerprint += "dazzled"

    def see(self, trial):
        features = super().see(trial)
        if features[3] > 0.2:
            features[:3] = 0
        return features


@dataclass(frozen=True)
class Constant(Mitigation):
    label: str
    shift: float

    def answer(self, trials, ask):
        def logits(place, answer):
            at = trials[place].sample.choices.index(self.label)
            return answer.logits + self.shift * np.eye(len(answer.logits))[at]

        return self.rescore(trials, ask, logits)


class Flatter(Mitigator):
    title = "Flattery"
    learned = Constant

    def fit(self, task):
        return Constant(task.hurts[0], 6.0)
'''
AUDIT = ("audit", "trove", "--model", "fake", "-O", "model.lean=1", "--data", "fakes")
AUDIT += ("-O", "data.samples=900", "--device", "cpu", "-q")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache, the plugins, and a run on all of the data."""
    place = tmp_path_factory.mktemp("mitigate")
    with written_plugins(place, "flattery", PLUGINS, FLATTERY):
        run(*AUDIT, "--out", str(place / "run"))
        yield place


@pytest.fixture
def mitigated(place: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """The report of a mitigator on the run; kept for other tests of this module."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(place / "cache"))
    monkeypatch.syspath_prepend(str(place / "plugins"))

    def report(name: str, *words: str) -> Report:
        folder = place / f"run-mitigated-{name}"
        if not (folder / "report.json").exists():
            run("mitigate", str(place / "run"), "--with", name, "-q", *words)
        return load_report(folder)

    return report


SCENES = (
    "toy-clip",
    "--data",
    "scenes:0.85",
    "-O",
    "data.val=1600",
    "-O",
    "data.test=3200",
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of TRoVe on the toy that leans on backgrounds, and a cache of its answers."""
    home = tmp_path_factory.mktemp("scenes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(home / "cache"))
        run(
            "audit",
            "trove",
            "--model",
            *SCENES,
            "--device",
            "cpu",
            "-q",
            "--out",
            str(home / "r"),
        )
        yield home / "r"


def gain_of(report: Report, label: str, placebo: str) -> list[int]:
    """What a placebo gains, in points, and the ends of its interval."""
    [check, *_] = [
        each
        for each in report.evidence
        if (each.check, each.label) == (f"placebo: {placebo}", label)
    ]
    told = check.detail.split("the placebo ")[1].split(";")[0]
    found = re.findall(r"[+−]?\d+", told)
    return [int(figure.replace("−", "-")) for figure in found]


@pytest.mark.long
def test_prompts_help_beyond_both_placebos(found: Path) -> None:
    """20 points for the worst group, at most 2 lost over all, no gap shown, and silent placebos.

    benchmarks/mitigation_bounds.py asks the same of more mitigators and pictures.
    """
    out = found.with_name("coop")
    words = ("--with", "coop", "--on", "test", "--placebos", "1", "-q")
    run("mitigate", str(found), *words, "--out", str(out))
    report = load_report(out)
    # the first ones are on screen in a handful of samples, too few for any gain
    helped = max(report.headlines, key=lambda score: score.n or 0)
    # no background goes with a label here, so that a plain refit may do as well
    sentence = str(report.sentence(helped))
    assert "because of the cue" in sentence or "more than a plain refit" in sentence
    scores = {
        score.metric: score
        for score in report.scores
        if (score.feature, score.label) == (helped.feature, helped.label)
    }
    assert (scores["worst_group_gain"].value or 0) >= 0.2
    assert (scores["overall_gain"].value or 0) >= -0.02
    left = scores["gap_after"]
    assert left.low is not None
    assert left.high is not None
    assert left.low <= 0.05
    assert left.high >= -0.05
    for placebo in ("random cues", "shift of answers"):
        _, low, high = gain_of(report, str(helped.label), placebo)
        assert low <= 0 <= high
    figures, paper = (getattr(report.tables[-1], rows) for rows in ("rows", "paper"))
    assert report.tables[-1].title.startswith("As TRoVe's Table 5")
    assert figures[0]["label 5"] < figures[1]["label 5"]
    assert {row["model"]: row["label 20"] for row in paper}["VideoCLIP-XL +"] == 61.8


def test_a_new_head_mends_the_planted_cue(mitigated: Callable[..., Report]) -> None:
    """Any training mends this model, whose embedding tells all: so it is not the cue."""
    report = mitigated("last-layer")
    # a second finding of the label has its samples with the first
    gains = [score.value for score in report.headlines if score.value is not None]
    assert len(gains) >= 2
    assert min(gains) > 0.5
    [overall] = {s.value for s in report.scores if s.metric == "overall_gain"}
    assert overall is not None
    assert overall > 0.1
    left = [s for s in report.scores if s.metric == "gap_after"]
    assert all(abs(s.value or 0) < 0.05 for s in left)
    checks = {(e.check, e.verdict) for e in report.evidence}
    assert ("placebo: random cues", "refuted") in checks
    assert not report.findings


@pytest.mark.long
def test_a_model_that_is_warned_of_the_cue_does_without_it(
    place: Path, mitigated: Callable[..., Report], tmp_path: Path
) -> None:
    """The answer sheet names the cue to the run; a placebo is a warning of another thing."""
    audit = [*({"fake": "reader"}.get(word, word) for word in AUDIT), "--part", "1/3"]
    run(*audit, "--out", str(tmp_path / "run"))
    mitigate = (
        "mitigate",
        str(tmp_path / "run"),
        "--with",
        "prompts",
        "--top",
        "2",
        "-q",
    )
    run(*mitigate, "-O", "way=spurious-top", "--placebos", "2")
    folder = tmp_path / "run-mitigated-prompts"
    report = load_report(folder)
    assert report.findings
    assert all(
        "because of the cue" in str(report.sentence(each)) for each in report.findings
    )
    _, low, high = gain_of(report, str(report.findings[0].label), "random cues")
    assert low <= 0 <= high
    # a general caution knows nothing of the cue
    guided = ("-O", "way=guiding", "--placebos", "1")
    run(*mitigate, *guided, "--out", str(tmp_path / "guided"))
    assert not load_report(tmp_path / "guided").findings
    # what was learned answers any audit
    run(
        *audit,
        "-O",
        f"model.mitigated={folder / 'mitigated'}",
        "--out",
        str(tmp_path / "after"),
    )
    before, after = (load_report(tmp_path / name).accuracy for name in ("run", "after"))
    assert before is not None
    assert after is not None
    assert after.share > before.share + 0.08


@pytest.mark.long
def test_what_only_moves_answers_is_called_that(
    mitigated: Callable[..., Report],
) -> None:
    report = mitigated("flatter")
    assert not report.findings
    gained = report.headlines[0]
    assert gained.low is not None
    assert gained.low > 0  # the label that it says more often is right more often
    assert "more than to give some answers more often" in str(report.sentence(gained))
    assert ("placebo: shift of answers", "refuted") in {
        (e.check, e.verdict) for e in report.evidence
    }


def test_any_audit_runs_on_the_mitigated_model(
    place: Path, mitigated: Callable[..., Report]
) -> None:
    mitigated("last-layer")
    folder = place / "run-mitigated-last-layer" / "mitigated"
    run(*AUDIT, "-O", f"model.mitigated={folder}", "--out", str(place / "after"))
    before, after = load_report(place / "run"), load_report(place / "after")
    assert before.findings
    assert not after.findings
    assert after.accuracy is not None
    assert before.accuracy is not None
    assert after.accuracy.share > before.accuracy.share
    assert "mitigated" in after.provenance.model.facts
    assert f"mitigated={folder}" in after.provenance.command


def test_the_parts_are_apart(place: Path, mitigated: Callable[..., Report]) -> None:
    report = mitigated("last-layer")
    found = load_report(place / "run-mitigated-last-layer" / "found")
    assert (found.provenance.part, report.provenance.part) == ("1/3", "2+3/3")
    seen = {o.sample for f in found.features for o in f.occurrences}
    measured = {o.sample for f in report.features for o in f.occurrences}
    assert seen
    assert measured
    assert not seen & measured


def test_another_split_takes_the_run_as_it_is(
    place: Path, mitigated: Callable[..., Report], tmp_path: Path
) -> None:
    mitigated("last-layer")
    run(
        *("mitigate", str(place / "run"), "--with", "last-layer", "--on", "test", "-q"),
        *("--out", str(tmp_path / "on")),
    )
    report = load_report(tmp_path / "on")
    assert report.provenance.data.options["split"] == "test"
    assert (report.headlines[0].value or 0) > 0.5
    assert not (tmp_path / "on" / "found").exists()


@pytest.mark.long
def test_few_samples_find_a_cue_learn_a_remedy_and_measure_it(
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By thirds nothing can be said of so few; by folds each sample is measured once."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(place / "cache"))
    monkeypatch.syspath_prepend(str(place / "plugins"))
    words = [word.replace("samples=900", "samples=120") for word in AUDIT]
    run(*words, "--out", str(tmp_path / "few"))
    whole = load_report(tmp_path / "few")
    mitigate = ("mitigate", str(tmp_path / "few"), "--with", "last-layer", "-q")
    capsys.readouterr()
    run(*mitigate[:-1], "--plan", "--out", str(tmp_path / "thirds"))
    said = capsys.readouterr().err
    assert "are held out, too few (5 are the fewest" in " ".join(said.split())
    run(*mitigate, "--out", str(tmp_path / "thirds"))
    assert all(score.value is None for score in load_report(tmp_path / "thirds").scores)
    run(*mitigate, "--folds", "4", "--out", str(tmp_path / "folds"))
    report = load_report(tmp_path / "folds")
    found = {(score.feature, score.label): score.n for score in whole.findings}
    gains = {
        (score.feature, score.label): score
        for score in report.scores
        if score.metric == "gain" and score.value is not None
    }
    # under the names of the run that the person knows
    assert found.keys() <= gains.keys()
    for key, shown in found.items():
        assert gains[key].low is not None
        # of nine samples that are all mended, which is as much as can be said
        assert gains[key].low > 0.4
        assert (gains[key].n or 0) >= 0.8 * (shown or 0)
    assert report.accuracy is not None
    assert report.accuracy.answered == 120
    # what is kept is learned of all data, and another audit takes it
    after = ("-O", f"model.mitigated={tmp_path / 'folds' / 'mitigated'}", "--out")
    run(*words, *after, str(tmp_path / "after"))
    assert not load_report(tmp_path / "after").findings
    both = "--folds and --on are two tests"
    run_refused(capsys, *mitigate, "--folds", "4", "--on", "test", said=both)


@pytest.mark.long
def test_weights_are_written_for_the_users_training(
    place: Path, mitigated: Callable[..., Report]
) -> None:
    import pyarrow.parquet as pq

    report = mitigated("reweight")
    assert not report.findings
    rows = pq.read_table(
        place / "run-mitigated-reweight/mitigated/weights.parquet"
    ).to_pylist()
    weights: dict[int, float] = {}
    for row in rows:
        weights[row["group"]] = weights.get(row["group"], 0) + row["weight"]
    assert len(weights) > 3
    assert min(weights.values()) > 0.1 * len(rows) / len(weights)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--with", "lastlayer"), "no mitigator 'lastlayer' is installed"),
        (
            ("--with", "coop"),
            "coop cannot mitigate this model: expected a model with text-tower",
        ),
        (("--with", "last-layer", "--on", "val"), "the run's own split 'val'"),
        (("--with", "last-layer", "--on", "elsewhere"), "elsewhere"),
        (("--with", "dfr", "-O", "drawss=3"), "Did you mean"),
        # told as late as by the mitigator itself, after half of the work
        pytest.param(
            ("--with", "prompts", "-O", "way=guiding"),
            "way changes nothing for this model",
            marks=pytest.mark.long,
        ),
        (
            ("--with", "prompts", "--name", "cluster-01=tree"),
            "where findings get other keys",
        ),
        (("--with", "prompts", "--on", "test", "--name", "c=tree"), "no finding 'c'"),
    ],
)
def test_what_cannot_be_is_one_line(
    place: Path,
    mitigated: Callable[..., Report],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    mitigated("last-layer")
    run_refused(
        capsys,
        "mitigate",
        str(place / "run"),
        *words,
        "--out",
        str(tmp_path / "x"),
        said=said,
    )


def test_a_model_that_a_mitigator_cannot_serve_costs_no_audit(
    place: Path,
    mitigated: Callable[..., Report],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    mitigated("last-layer")
    words = ("mitigate", str(place / "run"), "--with", "coop")
    run_refused(
        capsys, *words, "--out", str(tmp_path / "x"), said="cannot mitigate this model"
    )
    assert not (tmp_path / "x").exists()


def test_what_was_made_for_another_model_is_refused(
    place: Path,
    mitigated: Callable[..., Report],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    mitigated("last-layer")
    folder = place / "run-mitigated-last-layer" / "mitigated"
    other = [word.replace("lean=1", "lean=0.7") for word in AUDIT]
    run(*other, "-O", f"model.mitigated={folder}", "--out", str(tmp_path / "x"), code=2)
    assert "was made for another model" in capsys.readouterr().err
    stamp = json.loads((folder / "mitigation.json").read_text())
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "mitigation.json").write_text(json.dumps({**stamp, "learned": {}}))
    for wrong in (broken, tmp_path / "nothing"):
        run(
            *AUDIT,
            "-O",
            f"model.mitigated={wrong}",
            "--out",
            str(tmp_path / "y"),
            code=2,
        )
        assert "cuescope mitigate" in capsys.readouterr().err
