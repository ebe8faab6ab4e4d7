"""What candidates come to: answers, two parts, effects, and the rows of the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from cuescope_core.auditing import Audit
from cuescope_core.capabilities import Requirements
from cuescope_core.conclusions import Contrast, Feature, Finding, Occurrence, Score
from cuescope_core.errors import PluginError, with_article
from cuescope_core.types import Outcome, Sample, Trial
from cuescope_sdk.association._candidates import (
    AssociationOptions,
    Box,
    Candidate,
    Codes,
    Finder,
    Known,
    Shares,
)
from cuescope_sdk.report import contrast, count_of, drawn_answer, percent, shares_row
from cuescope_sdk.statistics import (
    SAME_CUE,
    Estimate,
    Groups,
    LabelEffects,
    benjamini_hochberg,
)


@dataclass(frozen=True, eq=False)
class Tested:
    """A candidate: who shows it, the effects on each label, and the rows of the report."""

    feature: Feature
    shows: Shares
    effects: LabelEffects
    rows: Sequence[Score]


@dataclass(frozen=True, eq=False)
class Study:
    """The answers, the part in which candidates were looked for, and what they came to."""

    outcomes: Sequence[Outcome]
    names: tuple[str, ...]
    label: Codes
    known: Bool[np.ndarray, " sample"]
    tested: Sequence[Tested]

    @classmethod
    def make(cls, audit: Audit, method: Finder) -> "Study":
        """Look for candidates in one part, and measure them in the other."""
        audit.require_closed_labels(method.title)
        outcomes = audit.once(ask, audit, method.requires)
        samples = [outcome.trial.sample for outcome in outcomes]
        label = np.array([audit.labels.index(str(each.label)) for each in samples])
        correct = np.array([float(outcome.correct()) for outcome in outcomes])
        groups = Groups.of(samples)
        known = groups.split(audit.rng("held out"), strata=label)
        study = cls(outcomes, audit.labels, label, known, [])
        # with answers of one kind there is nothing to tell apart
        if len(np.unique(correct[known])) < 2:
            return study
        told = Known(
            _seen(method, outcomes),
            np.where(known, 1 - correct, np.nan),
            np.array(audit.labels)[label],
            groups.codes,
            audit.rng("find"),
            samples,
            [
                outcome.prediction if is_known else None
                for outcome, is_known in zip(outcomes, known, strict=True)
            ],
        )
        found = method.candidates(audit, told)
        return study.measure(
            list(found), correct, groups, method.options, audit.rng("effects")
        )

    def measure(
        self,
        found: Sequence[Candidate],
        correct: Shares,
        groups: Groups,
        options: AssociationOptions,
        rng: np.random.Generator,
    ) -> "Study":
        """The effects of the candidates in the part that they were not found in."""
        rest = ~self.known
        samples = [outcome.trial.sample for outcome in self.outcomes]
        features: list[Feature] = []
        shown: list[Shares] = []
        effects: list[LabelEffects] = []
        for words, box, given in found:
            shows = _shares(words, given, len(samples))
            # a cue is one: what the same samples show has been found by another name
            if any(_dice(shows, other) >= SAME_CUE for other in shown):
                continue
            features.append(_feature(words, box, shows, samples))
            shown.append(shows)
            effects.append(
                LabelEffects.of(
                    shows[rest],
                    correct[rest],
                    self.label[rest],
                    self._signs(shows, correct),
                    groups.take(rest),
                    rng,
                )
            )
        rows = [
            self._rows(*each, options)
            for each in zip(features, shown, effects, strict=True)
        ]
        q_values = iter(
            benjamini_hochberg([row.p_value for some in rows for row in some])
        )
        tested = []
        for feature, shows, effect, some in zip(
            features, shown, effects, rows, strict=True
        ):
            judged = [_judged(row, next(q_values), options) for row in some]
            tested.append(Tested(feature, shows, effect, judged))
        return Study(self.outcomes, self.names, self.label, self.known, tested)

    def _signs(self, shows: Shares, correct: Shares) -> Float[np.ndarray, " label"]:
        """1 for labels that a candidate seems to help, -1 for others, by the part it is from."""
        signs = np.full(len(self.names), -1.0)
        for code in range(len(self.names)):
            mine = self.known & (self.label == code)
            weights = shows[mine], 1 - shows[mine]
            if all(weight.sum() > 0 for weight in weights):
                inside, outside = (
                    np.average(correct[mine], weights=w) for w in weights
                )
                signs[code] = 1.0 if inside > outside else -1.0
        return signs

    def _rows(
        self,
        feature: Feature,
        shows: Shares,
        effects: LabelEffects,
        options: AssociationOptions,
    ) -> list[Score]:
        """A row for each label with samples that show the candidate and others that do not."""
        lows, highs = effects.interval(options.confidence)
        rows = []
        for code, name in enumerate(self.names):
            mine = shows[~self.known & (self.label == code)] > 0.5
            if not mine.any() or mine.all():
                continue
            change, low, high = (
                float(ends[code]) for ends in (effects.value, lows, highs)
            )
            rows.append(
                Score(
                    feature=feature.key,
                    label=name,
                    metric="accuracy_lost",
                    value=-change,
                    low=-high,
                    high=-low,
                    n=int(mine.sum()),
                    p_value=float(effects.label_p_value[code]),
                    statement=f"'{name}': {effects.accuracy_with[code]:.0%} correct with "
                    f"{{feature}}, {effects.accuracy_without[code]:.0%} without "
                    f"({100 * change:+.0f} points, {100 * low:+.0f} to {100 * high:+.0f}).",
                )
            )
        return rows

    def note(self, audit: Audit) -> None:
        """How often the model is correct, and what was tested where."""
        right = [bool(outcome.correct()) for outcome in self.outcomes]
        audit.note("accuracy", f"{percent(float(np.mean(right)))} of {len(right)}")
        found, measured = int(self.known.sum()), int((~self.known).sum())
        audit.note(
            "two parts",
            f"{count_of(len(self.tested), 'candidates')} of {count_of(found, 'samples')}, "
            f"measured in {measured:,} others",
        )

    def finding(self, tested: Tested) -> Finding:
        """The candidate with the labels that it costs, and the errors that it explains."""
        shows = tested.shows > 0.5
        by_code = {self.names.index(str(row.label)): row for row in tested.rows}
        lost = {code: row for code, row in by_code.items() if row.finding}
        costs = np.isin(self.label, list(lost))
        wrong = [
            str(outcome.prediction)
            for outcome, is_in in zip(self.outcomes, shows & costs, strict=True)
            if is_in and not outcome.correct()
        ]
        rows = []
        for code, row in lost.items():
            change = Estimate(-(row.value or 0), -(row.high or 0), -(row.low or 0))
            name = self.names[code]
            rows.append(
                shares_row(
                    name,
                    float(tested.effects.accuracy_with[code]),
                    float(tested.effects.accuracy_without[code]),
                    change,
                    label=name,
                    n=row.n,
                    q_value=row.q_value,
                )
            )
        return drawn_answer(
            tested.feature.key,
            max(sorted(set(wrong)), key=wrong.count, default=""),
            rows,
            labels=[outcome.trial.sample.label for outcome in self.outcomes],
            predictions=[outcome.prediction for outcome in self.outcomes],
            shows=shows,
        )

    def contrast(self, tested: Tested, row: Score) -> Contrast | None:
        """Samples of the label that show the candidate beside others."""
        where = {place.sample: place for place in tested.feature.occurrences}
        shown: list[Outcome] = []
        others: list[Outcome] = []
        for outcome in self.outcomes:
            sample = outcome.trial.sample
            if sample.label == row.label:
                (shown if sample.key in where else others).append(outcome)
        sides = {"with it": shown, "without it": others}
        return contrast(row.feature, sides, label=row.label, where=where)


def ask(audit: Audit, requires: Requirements) -> Sequence[Outcome]:
    """The model's answers to the samples as they are, by their keys."""
    return audit.respond(
        [
            Trial(sample=sample, outputs=requires.outputs)
            for sample in audit.samples_by_key()
        ]
    )


def _judged(row: Score, q_value: float | None, options: AssociationOptions) -> Score:
    """The row with its q-value; a finding costs accuracy by the test and by the interval."""
    passes = q_value is not None and q_value <= options.fdr and (row.low or 0) > 0
    return row.model_copy(update={"q_value": q_value, "finding": passes})


def _middle(sample: Sample) -> int:
    return len(sample.frames) // 2


def _seen(method: Finder, outcomes: Sequence[Outcome]) -> Any:
    if method.sees == "embeddings":
        return np.stack([outcome.embedding for outcome in outcomes])
    samples = [outcome.trial.sample for outcome in outcomes]
    return [sample.frames[_middle(sample)].load() for sample in samples]


def _shares(words: str, given: Any, count: int) -> Shares:
    shows = np.asarray(given, dtype=float)
    if shows.shape != (count,) or not ((shows >= 0) & (shows <= 1)).all():
        raise PluginError(
            f"find: {words!r}",
            expected=f"for each of {count} samples a number from 0 to 1, or True and False",
            got=f"{with_article(type(given).__name__)} of shape {shows.shape}",
        )
    return shows


def _dice(one: Shares, other: Shares) -> float:
    """Share that two candidates have in common (Dice, 1945)."""
    both = np.minimum(one, other).sum()
    return float(2 * both / max((one + other).sum(), 1))


def _feature(
    words: str, box: Box | None, shows: Shares, samples: Sequence[Sample]
) -> Feature:
    places = []
    for row in np.argsort(-shows, kind="stable").tolist():
        if shows[row] <= 0.5:
            break
        sample = samples[row]
        frame = _middle(sample) if sample.frames else None
        region = None
        if box is not None and frame is not None:
            width, height = sample.frames[frame].load().size
            x0, y0, x1, y1 = box
            region = (x0 * width, y0 * height, x1 * width, y1 * height)
        places.append(
            Occurrence(
                sample=sample.key,
                frame=frame,
                region=region,
                strength=float(shows[row]),
            )
        )
    return Feature(key=words, name=words, kind="slice", occurrences=tuple(places))
