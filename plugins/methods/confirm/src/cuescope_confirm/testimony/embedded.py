"""Does a change reach what the model sees? Whether its own embedding still tells the cue.

Pictures may lose a cue that the network keeps, or keep one that it no longer sees. A classifier of
the cue, which knows neither places nor answers, is learned from the model's embeddings of the run's
samples, and judged on groups that it has not learned from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_confirm.asking import can_embed
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.learned import training, training_frames
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Study
from cuescope_confirm.testimony.manipulation import by_fold
from cuescope_confirm.testimony.witnesses import CHANGED, PLACEBO, Witness
from cuescope_sdk import Sample, Trial
from cuescope_sdk.locating import Fitting, Linear
from cuescope_sdk.statistics import Roc
from cuescope_sdk.stills import Answers

LOOKED_AT = 30  # pairs of a witness: the first half asks about as many in any case
Rows = Float[np.ndarray, "sample dim"]


@dataclass(frozen=True, eq=False)
class InnerEye:
    """How much of a cue is in embeddings, from those of the run with it (1) to those without (0).

    `apart` is by how much the means of both differ: less than 1 where some are listed wrongly.
    """

    model: Linear
    with_cue: float
    without: float
    apart: float

    def share_left(self, rows: Rows) -> Float[np.ndarray, " sample"]:
        """Of the cue in each embedding, 0 to 1."""
        scores = self.model.scores(rows) - self.model.threshold
        return _share(scores, self.with_cue, self.without)


def _share(
    scores: Float[np.ndarray, " sample"],
    with_cue: float,
    without: float,
) -> Float[np.ndarray, " sample"]:
    # beyond both ends embeddings are no more with or without it
    return np.asarray(((scores - without) / (with_cue - without)).clip(0, 1))


def share_taken_inside(study: Study, witness: Witness) -> float | None:
    """By how much a change takes the cue out of the embedding, or puts it in, about 0 to 1.

    Beyond its placebo. None where the model gives no embedding, or where embeddings do not tell the
    cue, and for edits of the embedding itself. The answers come with the embeddings, so that what
    is asked about anyway costs no call more.
    """
    if not can_embed(study.audit.capabilities) or witness.edits_model:
        return None
    shares = []
    weights = []
    for fold, part in by_fold(study, witness):
        share = _share_taken(fold, part)
        if share is not None:
            shares.append(share)
            weights.append(part.answers.with_cue.sum())
    return float(np.average(shares, weights=weights)) if sum(weights) else None


def _share_taken(study: Study, witness: Witness) -> float | None:
    eye = study.audit.once(_learn, study, witness.target)
    if eye is None:
        return None
    answers = witness.answers
    changed = []
    placebos = []
    for row in np.flatnonzero(answers.with_cue)[:LOOKED_AT].tolist():
        trials = answers.trials[row]
        placebo = trials[PLACEBO]
        if placebo is not None:
            changed.append(trials[CHANGED])
            placebos.append(placebo)
    if not changed:
        return None
    rows = _embeddings(study, [*changed, *placebos])
    left = eye.share_left(rows)
    moved = left[: len(changed)] - left[len(changed) :]
    sign = -1 if witness.plugin.effect == "removes" else 1
    return float(sign * moved.mean() / eye.apart)


def _learn(study: Study, target: Target) -> InnerEye | None:
    """Of the run's samples; None where their embeddings do not tell the cue on groups held out."""
    cue = target.cue
    if not cue.feature.occurrences:
        return None
    frames, _ = training_frames(study, cue)
    keys = list(dict.fromkeys(key for key, _ in frames))
    shown = cue.samples_with_cue(study.seen)
    shows = np.array([key in shown for key in keys])
    if shows.all() or not shows.any():
        return None
    data = training(study.seen, [(key, 0) for key in keys], shows)
    rows = _embeddings(study, [_as_it_is(study.seen[key]) for key in keys])
    rng = study.rng("inner eye", cue.id)
    scores = data.held_out_scores(rows, rng, Fitting.FEW)
    if np.isnan(scores).any():
        return None
    if (Roc(scores, shows).auroc(data.labels) or 0.0) < GOOD_AUROC:
        return None
    # middles: a few that are listed wrongly do not move them
    with_cue = float(np.median(scores[shows]))
    without = float(np.median(scores[~shows]))
    if with_cue <= without:
        return None
    share = _share(scores, with_cue, without)
    apart = float(share[shows].mean() - share[~shows].mean())
    model = Linear.fit(rows, shows, data.weights(), Fitting.FEW)
    return InnerEye(model, with_cue, without, apart)


def _as_it_is(sample: Sample) -> Trial:
    return Trial(sample=sample, condition="static", outputs=Answers.outputs)


def _embeddings(study: Study, trials: Sequence[Trial]) -> Rows:
    rows = Answers.stack_embeddings(study.audit.respond(trials))
    return np.asarray(rows, np.float64)
