"""Every row of a test, kept: sample, intervention, dose and answers, for estimators to share."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cuescope_confirm import Confirm, _results
from cuescope_confirm.analysis import Results
from cuescope_confirm.companions.unnamed import AsTheyAre, as_they_are, beside_all_else
from cuescope_confirm.locating import Target
from cuescope_confirm.looks import ask_in_looks
from cuescope_confirm.testimony.manipulation import share_left
from cuescope_confirm.testimony.witnesses import Dossier, Witness
from cuescope_confirm.trials import (
    _witnesses as witnesses_of,
    ask,
    gather,
    interventions,
    with_answers,
)
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
        dossier, _ = audit.once(ask_in_looks, gathered)
        results = audit.once(_results, audit, self.options, outcomes)
        keep(self.folder, with_answers(dossier, outcomes), results)
        return scores

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Nothing: a world knows the truth."""
        return iter(())


def keep(folder: Path, dossier: Dossier, results: Results) -> None:
    """What was asked about each finding, and what samples as they are say."""
    folder.mkdir(parents=True, exist_ok=True)
    [target] = dossier.targets
    [row] = results.rows
    used = {testimony.spec for testimony in row.measured}
    of_target = dossier.witnesses_of(target)
    asked = [witness for witness in of_target if witness.answers.pairs]
    others = _left_out(dossier, target)
    kept = {
        "direction": vars(target.direction),
        "label": target.cue.label,
        "has_place": target.has_place,
        "purity": target.located.purity if target.located else None,
        "verdict": row.ruling.verdict,
        "missing": str(row.ruling.missing),
        "beside": _gap(row.beside),
        "reasons": {other.spec: other.reason for other in of_target if other.reason},
        "changes": [
            *(_change(dossier, one, used=one.spec in used) for one in asked),
            *(_change(dossier, one, used=None) for one in others),
        ],
        "controls": [
            _change(dossier, one, used=None) | {"of": name}
            for name, placebo in target.placebos.items()
            if isinstance(placebo, Target)
            for one in dossier.witnesses_of(placebo)
            if one.answers.pairs
        ],
    }
    with gzip.open(folder / ROWS, "wt") as file:
        json.dump(kept, file, default=_plain)
    views: dict[str, np.ndarray] = {}
    for number, view in enumerate(as_they_are(dossier, target)):
        views |= {
            f"{name}{number}": column for name, column in _view(dossier, target, view)
        }
    np.savez_compressed(folder / LOOKS, **views)


def _left_out(dossier: Dossier, target: Target) -> list[Witness]:
    """Interventions that apply to a finding and were not asked about, with their answers."""
    study = dossier.study
    asked = {one.spec for one in dossier.witnesses_of(target) if one.answers.pairs}
    plugins = study.audit.once(interventions, study.audit, study.audit.options)
    able = {spec: plugin for spec, plugin in plugins.items() if spec not in asked}
    ready = [one for one in witnesses_of(study, able, target) if one.answers.pairs]
    answered, outcomes = ask(Dossier(study, [target], ready))
    return list(with_answers(answered, outcomes).witnesses)


def _change(dossier: Dossier, witness: Witness, *, used: bool | None) -> dict[str, Any]:
    """What one intervention did; `used` is None where `confirm` did not ask for it."""
    plugin = witness.plugin
    pairs = witness.answers.pairs
    samples = [pair.case.sample for pair in pairs]
    return {
        "spec": witness.spec,
        "used": used,
        "needs": plugin.needs,
        "changes": plugin.changes,
        "effect": plugin.effect,
        "placebo": plugin.placebo,
        "partial": plugin.partial,
        "edits_model": witness.edits_model,
        "doses": _doses(dossier, witness),
        "samples": [sample.key for sample in samples],
        "groups": [sample.group or sample.key for sample in samples],
        "with_cue": witness.answers.with_cue,
        "values": witness.answers.values.round(5),
        "right": witness.answers.right,
    }


def _doses(dossier: Dossier, witness: Witness) -> list[list[float]] | None:
    """Of the first samples with the cue, its share left after the change, and after the placebo.

    None where pictures do not tell the cue.
    """
    if witness.plugin.needs == "pair":
        return None
    left = share_left(dossier.study, witness)
    return None if left is None else left.round(4).tolist()


def _view(
    dossier: Dossier, target: Target, view: AsTheyAre
) -> Iterator[tuple[str, np.ndarray]]:
    """Samples as they are, a row each: what an observational estimator needs."""
    answers = view.answers
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    yield "present", answers.present
    yield "known", view.known
    yield "of_label", answers.of_label
    yield "labels", np.asarray(answers.labels, str)
    yield "right", answers.right
    yield "groups", np.array([sample.group or sample.key for sample in samples], str)
    for choice in samples[0].choices:
        yield f"answer {choice} ", answers.probability_of(choice).astype(np.float32)
    gap = beside_all_else(dossier.study, target, view)
    yield "gap", np.array(_gap(gap) or [], float)
    if view.looks is not None:
        looks = view.looks - view.looks.mean(axis=0)
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
    views: Sequence[Mapping[str, np.ndarray]]

    @classmethod
    def read(cls, folder: Path) -> "Kept":
        """From the folder of a case."""
        graded = json.loads((folder / GRADED).read_text())
        rows: Row = {}
        views: list[dict[str, np.ndarray]] = []
        if (folder / ROWS).exists():
            with gzip.open(folder / ROWS, "rt") as file:
                rows = json.load(file)
            with np.load(folder / LOOKS) as columns:
                for name in columns:
                    number = int(name[-1])
                    views += [{} for _ in range(number + 1 - len(views))]
                    views[number][name[:-1].strip()] = columns[name]
        return cls(graded, rows, views)
