"""Every row of a test, kept: sample, intervention, dose and answers, for estimators to share."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cuescope_confirm import Confirm, _results
from cuescope_confirm.experiment.arms import Arm, Experiment
from cuescope_confirm.experiment.as_they_are import as_they_are
from cuescope_confirm.experiment.doses import share_left
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import Results
from cuescope_confirm.trials import _arms, ask, gather, interventions, with_answers
from cuescope_sdk import Audit, Evidence, Feature, Outcome, Score, hookimpl
from cuescope_sdk.statistics import Estimate, PrognosticGap

ROWS = "rows.json.gz"
LOOKS = "looks.npz"
GRADED = "graded.json"
DIRECTIONS = 60  # of looks, the main ones
Row = Mapping[str, Any]


class KeptRows(Confirm):
    """`confirm` as it is, which writes what was asked and answered beside its verdicts.

    Interventions that it left out, though they apply, are asked about afterwards; its verdicts do
    not see them.
    """

    folder: ClassVar[Path]

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """The verdicts; rows are written by the way."""
        scores = list(super().compute_scores(audit, features, outcomes))
        gathered = audit.once(gather, audit, self.options)
        experiment, _ = audit.once(ask, gathered)
        results = audit.once(_results, audit, self.options, outcomes)
        keep(self.folder, with_answers(experiment, outcomes), results)
        return scores

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Nothing: a world knows the truth."""
        return iter(())


def keep(folder: Path, experiment: Experiment, results: Results) -> None:
    """What was asked about each finding, and what samples as they are say."""
    folder.mkdir(parents=True, exist_ok=True)
    [target] = experiment.targets
    [row] = results.rows
    of_target = experiment.arms_of(target)
    asked = [arm for arm in of_target if arm.answers.pairs]
    others = _left_out(experiment, target)
    measured = {arm.spec for arm in row.measured}
    kept = {
        "direction": vars(target.direction),
        "label": target.cue.label,
        "purity": target.located.purity if target.located else None,
        "verdict": row.verdict,
        "beside": _gap(row.beside),
        "reasons": {arm.spec: arm.reason for arm in of_target if arm.reason},
        "changes": [
            *(_change(experiment, arm, used=arm.spec in measured) for arm in asked),
            *(_change(experiment, arm, used=None) for arm in others),
        ],
    }
    with gzip.open(folder / ROWS, "wt") as file:
        json.dump(kept, file, default=_plain)
    columns = dict(_columns(experiment, target, row.beside))
    np.savez_compressed(folder / LOOKS, **columns)


def _left_out(experiment: Experiment, target: Target) -> list[Arm]:
    """Interventions that apply to a finding and were not asked about, with their answers."""
    study = experiment.study
    asked = {arm.spec for arm in experiment.arms_of(target) if arm.answers.pairs}
    plugins = study.audit.once(interventions, study.audit, study.audit.options)
    able = {spec: plugin for spec, plugin in plugins.items() if spec not in asked}
    ready = [arm for arm in _arms(study, able, target) if arm.answers.pairs]
    answered, outcomes = ask(Experiment(study, [target], ready))
    return list(with_answers(answered, outcomes).arms)


def _change(experiment: Experiment, arm: Arm, *, used: bool | None) -> dict[str, Any]:
    """What one intervention did; `used` is None where `confirm` did not ask for it."""
    plugin = arm.plugin
    pairs = arm.answers.pairs
    samples = [pair.case.sample for pair in pairs]
    return {
        "spec": arm.spec,
        "used": used,
        "needs": plugin.needs,
        "changes": plugin.changes,
        "effect": plugin.effect,
        "placebo": plugin.placebo,
        "partial": plugin.partial,
        "edits_model": arm.edits_model,
        "doses": _doses(experiment, arm),
        "samples": [sample.key for sample in samples],
        "groups": [sample.group or sample.key for sample in samples],
        "with_cue": arm.answers.with_cue,
        "values": arm.answers.values.round(5),
        "right": arm.answers.right,
    }


def _doses(experiment: Experiment, arm: Arm) -> list[list[float]] | None:
    """Of the first samples with the cue, its share left after the change, and after the placebo.

    None where pictures do not tell the cue.
    """
    if arm.plugin.needs == "pair":
        return None
    left = share_left(experiment.study, arm)
    return None if left is None else left.round(4).tolist()


def _columns(
    experiment: Experiment, target: Target, gap: PrognosticGap | None
) -> Iterator[tuple[str, np.ndarray]]:
    """Samples as they are, a row each: what an observational estimator needs."""
    plain = as_they_are(experiment, target)
    if plain is None:
        return
    answers = plain.answers
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    yield "present", answers.present
    yield "known", plain.known
    yield "of_label", answers.of_label
    yield "labels", np.asarray(answers.labels, str)
    yield "right", answers.right
    yield "groups", np.array([sample.group or sample.key for sample in samples], str)
    for choice in samples[0].choices:
        yield f"answer {choice}", answers.probability_of(choice).astype(np.float32)
    yield "gap", np.array(_gap(gap) or [], float)
    looks = plain.looks - plain.looks.mean(axis=0)
    spread = looks.std(axis=0)
    looks = looks[:, spread > 0] / spread[spread > 0]
    axes, sizes, _ = np.linalg.svd(looks, full_matrices=False)
    yield "looks", (axes * sizes)[:, :DIRECTIONS].astype(np.float32)


def _gap(gap: PrognosticGap | None) -> list[list[float]] | None:
    """The plain gap, and what is left with all else held alike, each with its interval."""
    return None if gap is None else [_ends(gap.plain), _ends(gap.alike)]


def _ends(estimate: Estimate[float]) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


@dataclass(frozen=True)
class Kept:
    """What was kept of one case, with its truth and what `confirm` said."""

    graded: Row
    rows: Row
    columns: Mapping[str, np.ndarray]

    @classmethod
    def read(cls, folder: Path) -> "Kept":
        """From the folder of a case."""
        graded = json.loads((folder / GRADED).read_text())
        rows: Row = {}
        columns: dict[str, np.ndarray] = {}
        if (folder / ROWS).exists():
            with gzip.open(folder / ROWS, "rt") as file:
                rows = json.load(file)
            with np.load(folder / LOOKS) as kept:
                columns = dict(kept)
        return cls(graded, rows, columns)
