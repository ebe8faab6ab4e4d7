"""What goes with a cue and has no name: pictures that do not show the cue tell it.

A companion that nobody annotated and no method found moves answers where the cue is not, too. So
the answers to samples without the cue tell what pictures with it would be answered, all else alike.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_confirm.asking import (
    MOST_ANSWERS,
    BoolPerSample,
    PerSample,
    RunAnswers,
    probability,
    run_answers,
)
from cuescope_confirm.experiment.arms import Experiment
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.learned import look_of, training
from cuescope_confirm.locating.moments import ClipLook
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Cue, Study, prepare
from cuescope_sdk import Outcome, Sample, Trial
from cuescope_sdk.locating import Fitting, Linear
from cuescope_sdk.statistics import Groups, PrognosticGap, Roc, prognostic_gap

Rows = Float[np.ndarray, "sample figure"]


@dataclass(frozen=True, eq=False)
class Eye:
    """What the run's samples look like, a row a sample, and which look as those with a cue do."""

    look: ClipLook
    model: Linear
    rows: Rows
    shows: BoolPerSample


@dataclass(frozen=True, eq=False)
class AsTheyAre:
    """What the run's samples are answered, and those held out that are asked about anyway.

    `known` are those of which it is known whether they show the cue.
    """

    answers: RunAnswers
    looks: Rows
    known: BoolPerSample

    def gap(
        self,
        values: PerSample,
        among: BoolPerSample,
        rng: Generator,
        own: BoolPerSample,
    ) -> PrognosticGap | None:
        """The gap of `values` in some samples, label by label; that of its `own`."""
        judged = self.known & among
        strata = np.unique(self.answers.labels, return_inverse=True)[1]
        samples = [outcome.trial.sample for outcome in self.answers.outcomes]
        return prognostic_gap(
            values[judged],
            self.answers.present[judged],
            strata[judged],
            self.looks[judged],
            Groups.of(list(compress(samples, judged))),
            rng,
            own[judged],
        )


def gap_as_they_are(experiment: Experiment, target: Target) -> PrognosticGap | None:
    """What a finding does in samples as they are, and with all else in the pictures held alike.

    Positive is what a cause would do. None where all samples show it, pictures do not tell which
    do, or too few of the finding's labels are without it.
    """
    plain = as_they_are(experiment, target)
    if plain is None:
        return None
    answers = plain.answers
    pulls = target.direction.toward == "the label"
    values = answers.probability_of(target.cue.label) if pulls else answers.probability
    # as a change that takes the cue out would be signed
    return plain.gap(
        -target.direction.sign * values,
        _alike_labels(target, answers),
        experiment.study.rng("all else", target.cue.id),
        _own(target, answers),
    )


def as_they_are(experiment: Experiment, target: Target) -> AsTheyAre | None:
    """The samples, and which of them show a cue as pictures tell; None where they do not."""
    study = experiment.study
    cue = target.cue
    if target.by_label or not cue.feature.occurrences:
        return None
    whole = study.audit.once(prepare, study.audit, study.audit.options)
    eye = study.audit.once(_learn_eye, whole, cue)
    if eye is None:
        return None
    answers = run_answers(study, cue)
    looks = eye.rows
    known = _agrees(target, answers, eye)
    answers = replace(answers, present=eye.shows)
    held_out, is_shown = held_out_answers(experiment, target)
    if held_out:
        answers = answers.with_more(held_out, is_shown, cue)
        more = _looks([outcome.trial.sample for outcome in held_out], eye.look)
        looks = np.concatenate([looks, more])
        seen = eye.model.scores(more) >= eye.model.threshold
        known = np.concatenate([known, seen == np.array(is_shown, bool)])
    # where pictures disagree with where the cue is located, nobody knows
    return AsTheyAre(answers, looks, known)


def _agrees(target: Target, answers: RunAnswers, eye: Eye) -> BoolPerSample:
    """Of which of the run's samples pictures say the same as where the cue is located.

    All, but of folds: there each of these was held out of a run, and located.
    """
    located = target.located
    if not target.parts or located is None:
        return np.ones(len(eye.shows), bool)
    keys = [outcome.trial.sample.key for outcome in answers.outcomes]
    return np.array(
        [
            key in (located.places if shows else located.without)
            for key, shows in zip(keys, eye.shows, strict=True)
        ]
    )


def held_out_answers(
    experiment: Experiment,
    target: Target,
) -> tuple[Sequence[Outcome], Sequence[bool]]:
    """What held-out samples are answered as they are, and which of them show the cue."""
    if target.located is None:
        return [], []
    trials: dict[str, Trial] = {}
    for arm in experiment.arms_of(target):
        for plain, *_ in arm.answers.trials:
            # of folds every sample is one of the runs'
            if plain.sample.key not in experiment.study.seen:
                trials[plain.sample.key] = plain
    # from memory: they were asked beside what was changed
    outcomes = experiment.study.audit.respond(list(trials.values()))
    # a pair that puts the cue in is of a sample without it
    return outcomes, [key in target.located.places for key in trials]


def _learn_eye(study: Study, cue: Cue) -> Eye | None:
    """By the samples of the run; None where they have no pictures, or these do not tell the cue."""
    answers = run_answers(study, cue)
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    listed = answers.present
    has_pictures = all(sample.frames for sample in samples)
    if not has_pictures or listed.all() or not listed.any():
        return None
    rng = study.rng("eye", cue.id)
    look = look_of(study, cue)
    rows = _looks(samples, look)
    by_key = {sample.key: sample for sample in samples}
    data = training(by_key, [(key, 0) for key in by_key], listed)
    model = Linear.learn(rows, data, rng, Fitting.LOOKS)
    if (model.auroc or 0.0) < GOOD_AUROC:
        return None
    # each by a model of other groups: its own would repeat what the run lists
    scores = data.held_out_scores(rows, rng, Fitting.LOOKS)
    cut = Roc(scores, listed).youden_cut()
    return Eye(look, model, rows, scores >= cut)


def _looks(samples: Sequence[Sample], look: ClipLook) -> Rows:
    """A row a sample."""
    rows = look.read_clips([sample.frames for sample in samples])
    # they are kept for each cue, and need not be exact
    return rows.astype(np.float32)


def _own(target: Target, answers: RunAnswers) -> BoolPerSample:
    """The samples that the finding is about."""
    pulls = target.direction.toward == "the label"
    return ~answers.of_label if pulls else answers.of_label


def _alike_labels(
    target: Target,
    answers: RunAnswers,
) -> BoolPerSample:
    """The samples whose answers the cue may move in the same way.

    A cue that takes answers from a label brings those of another one, and makes that one's answers
    right: these are left out. One that makes a label's answers right does so there alone.
    """
    own = _own(target, answers)
    if target.direction.sign < 0 or not target.cue.labels:
        return own
    brought = _answer_brought(answers, own)
    return np.asarray(own | (answers.labels != brought), bool)


def _answer_brought(answers: RunAnswers, own: BoolPerSample) -> str | None:
    """The wrong answer of some samples that becomes likeliest with the cue."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    counts = [
        max((own & ~answers.present).sum(), 1),
        max((own & answers.present).sum(), 1),
    ]
    for row in np.flatnonzero(own).tolist():
        outcome = answers.outcomes[row]
        side = int(answers.present[row])
        for answer, share in _shares(outcome):
            sums[answer][side] += share / counts[side]
    right = set(answers.labels[own])
    brought = {}
    for answer, (without, with_cue) in sums.items():
        if answer not in right:
            brought[answer] = with_cue - without
    return max(brought, key=lambda answer: (brought[answer], answer), default=None)


def _shares(outcome: Outcome) -> Iterator[tuple[str, float]]:
    """How probable each answer is; of many, or of a text, the one that is given."""
    choices = outcome.trial.sample.choices
    if outcome.response.logits is None or len(choices) > MOST_ANSWERS:
        yield outcome.prediction or "", 1.0
        return
    for choice in choices:
        yield choice, probability(outcome, choice)
