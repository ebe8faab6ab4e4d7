"""Confirm on causes and decoys: pairs of toys, one that learned a cue and one that learned it away.

    python benchmarks/confirm.py [--pairs 4] [--out FOLDER]

Both toys of a pair answer the same data, in which the cue goes with a class. One was trained where
it did so too, the other where it told nothing: for that one the cue is a decoy. A method that reads
the answer sheet finds the cue in both, so that only the test of causes is tested. Toys are trained
once and kept in the cache folder; a pair that is done is read from FOLDER.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from cuescope_sdk import (
    Audit,
    Context,
    Feature,
    Metric,
    Occurrence,
    Options,
    Outcome,
    Plugin,
    Report,
    Request,
    Requirements,
    Runner,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk.testing import PluginShelf

LEAST_AUROC, MOST_DECOYS, LEAST_CAUSES = 0.95, 0.05, 0.8  # what must be seen


class AnnotatedOptions(Options):
    """Which labels the findings are about."""

    labels: tuple[str, ...] = ()


class Annotated(Plugin):
    """Finds each planted cue, whatever the model does; the gap in accuracy is its score."""

    title = "Annotated cues"
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="accuracy without the cue minus with it"),)
    Options = AnnotatedOptions
    options: AnnotatedOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Where the answer sheet says that the cue is."""
        data: Any = audit.context.dataset
        sheet = {s.key: s.annotations["cues"] for s in (data[n] for n in range(len(data)))}
        for cue in data.planted_cues:
            met = [
                Occurrence(sample=sample.key, frame=frame)
                for sample in audit.samples
                for frame, there in enumerate(sheet[sample.key].get(cue.key, ()))
                if there
            ]
            yield Feature(key=cue.key, kind="cluster", name=cue.name, occurrences=tuple(met))

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Each sample as it is."""
        return (Trial(sample=sample) for sample in audit.samples)

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterator[Score]:
        """The gap on each label."""
        for feature in features:
            shows = {occurrence.sample for occurrence in feature.occurrences}
            for label in self.options.labels:
                own = [o for o in outcomes if o.trial.sample.label == label]
                sides = [
                    [o.correct() for o in own if (o.trial.sample.key in shows) == there]
                    for there in (False, True)
                ]
                if all(sides):
                    gap = float(np.mean(sides[0]) - np.mean(sides[1]))
                    yield Score(
                        feature=feature.key, label=label, metric="gap", value=gap, finding=True
                    )


@dataclass(frozen=True)
class Pair:
    """A world with a cue, and the two ways to train a toy."""

    name: str
    model: str
    data: str
    data_options: dict[str, Any]
    learned: dict[str, Any]
    unlearned: dict[str, Any]
    labels: tuple[str, ...]


def pairs() -> Iterator[Pair]:
    """Forty: cues of moving-shapes by seed and length, and the backgrounds of scenes."""
    for seed in range(5):
        for length in (3, 5):
            for cue in ("background", "object", "attribute"):
                own = {"length": length, "seed": seed}
                yield Pair(
                    name=f"moving-shapes {cue}, {length} frames, seed {seed}",
                    model=f"toy:moving-shapes:{cue}",
                    data=f"moving-shapes:{cue}",
                    data_options={**own, "cramers_v": 0.7, "val": 3000},
                    learned={"data_options": {**own, "cramers_v": 0.9}},
                    unlearned={"data_options": {**own, "cramers_v": 0.01}},
                    labels=("moving west",),
                )
    for seed in range(10):
        yield Pair(
            name=f"scenes, seed {seed}",
            model="toy-clip:scenes",
            data="scenes",
            data_options={"val": 3200, "seed": seed + 1},
            learned={},
            unlearned={"data_options": {"dial": 0.0}},
            labels=("basket", "wreath"),
        )


@dataclass(frozen=True)
class Graded:
    """What was said of one toy's cue; `effect` and `gap` are the scores that rank cues."""

    pair: str
    causal: bool
    verdict: str
    effect: float
    gap: float
    enough: bool
    accuracy: float


def grade(pair: Pair, causal: bool, folder: Path) -> list[Graded]:
    """Find the cue on one half of the data, confirm it on the other."""
    shelf = PluginShelf({("method", "annotated"): Annotated}, installed=True)
    runner = Runner(Context(registry=shelf, device="cpu"), folder, out=folder / "found")
    asked = Request(
        method="annotated",
        model=pair.model,
        data=pair.data,
        model_options=pair.learned if causal else pair.unlearned,
        data_options=pair.data_options,
        method_options={"labels": pair.labels},
        part="1/2",
    )
    found = runner.run(asked, resume=True)
    tested = replace(runner, out=folder / "confirmed").run(
        asked.model_copy(
            update={
                "method": "confirm",
                "part": "2/2",
                "method_options": {"run": str(folder / "found")},
            }
        ),
        resume=True,
    )
    gaps = {(score.feature, score.label): score.value or 0.0 for score in found.headlines}
    return [
        Graded(
            pair=pair.name,
            causal=causal,
            verdict=verdict_of(tested, score),
            effect=score.value or 0.0,
            gap=gaps[score.feature, score.label],
            enough=tested.notes["power"].endswith("enough"),
            accuracy=tested.accuracy.share if tested.accuracy else 0.0,
        )
        for score in tested.headlines
    ]


def verdict_of(report: Report, score: Score) -> str:
    """From the dossier's table."""
    table = next(each for each in report.tables if each.title.startswith("Cues by harm"))
    rows = [row for row in table.rows if row["label"] == (score.label or "any")]
    return str(next(r["verdict"] for r in rows if r["cue"] == report.names[score.feature]))


def auroc(graded: Sequence[Graded], scores: Sequence[float]) -> float:
    """The chance that a cause scores higher than a decoy."""
    causal = np.array([each.causal for each in graded])
    ranks = stats.rankdata(scores)
    yes, no = int(causal.sum()), int((~causal).sum())
    return float((ranks[causal].sum() - yes * (yes + 1) / 2) / (yes * no))


def main() -> None:
    """Print a line a toy, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=4, help="so many of the forty, evenly drawn")
    parser.add_argument("--out", type=Path, default=Path("runs/confirm-bench"))
    given = parser.parse_args()
    everything = list(pairs())
    chosen = [everything[n * len(everything) // given.pairs] for n in range(given.pairs)]
    graded: list[Graded] = []
    out = sys.stdout
    for pair in chosen:
        for causal in (True, False):
            name = "".join(c if c.isalnum() else "-" for c in pair.name)
            folder = given.out / name / ("cause" if causal else "decoy")
            for each in grade(pair, causal, folder):
                graded.append(each)
                out.write(json.dumps(asdict(each)) + "\n")
                out.flush()
    out.write("".join(f"{line}\n" for line in figures(graded)))
    if not holds(graded):
        sys.exit("confirm does not keep its bounds")


def figures(graded: Sequence[Graded]) -> Iterator[str]:
    """What is asked of all pairs together."""
    decoys = [each for each in graded if not each.causal]
    causes = [each for each in graded if each.causal]
    powered = [each for each in causes if each.enough]
    confirmed = auroc(graded, [each.effect for each in graded])
    observed = auroc(graded, [each.gap for each in graded])
    yield f"{len(causes)} causes, {len(decoys)} decoys"
    yield f"AUROC of the effect {confirmed:.3f} (at least {LEAST_AUROC}); of the gap {observed:.3f}"
    yield f"decoys confirmed: {share(decoys)} (at most {MOST_DECOYS:.0%})"
    yield f"causes called causes: {share(causes)}"
    yield f"  where the plan says enough: {share(powered)} (at least {LEAST_CAUSES:.0%})"


def holds(graded: Sequence[Graded]) -> bool:
    """Whether the bounds are kept."""
    decoys = [each.verdict == "causes" for each in graded if not each.causal]
    powered = [each.verdict == "causes" for each in graded if each.causal and each.enough]
    return bool(
        auroc(graded, [each.effect for each in graded]) >= LEAST_AUROC
        and np.mean(decoys) <= MOST_DECOYS
        and (not powered or np.mean(powered) >= LEAST_CAUSES)
    )


def share(graded: Sequence[Graded]) -> str:
    """How many of them are called causes."""
    count = sum(each.verdict == "causes" for each in graded)
    return f"{count} of {len(graded)}" + (f", {count / len(graded):.0%}" if graded else "")


if __name__ == "__main__":
    main()
