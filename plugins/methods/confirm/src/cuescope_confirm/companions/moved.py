"""Does a change of a cue move what goes with it as well? Then it is no witness for the cue.

A companion is told from pictures by a model that is learned within labels, and among samples with
the cue and without it apart, so that the cue is no help.
"""

from collections.abc import Sequence

import numpy as np

from cuescope_confirm.companions import Companion, Discordant, discordant
from cuescope_confirm.locating.learned import training
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.patches import FRAMES
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Cue, Study, pick, shuffle
from cuescope_confirm.testimony.manipulation import (
    A_PART,
    Recogniser,
    by_fold,
    changed_moments,
)
from cuescope_confirm.testimony.witnesses import Witness
from cuescope_sdk.locating import Fitting, Linear, Training
from cuescope_sdk.stills import FrameId

SURE = 1.64  # standard errors, by which a change is beyond chance (5%, one-sided)


def moved_companion(study: Study, witness: Witness) -> str | None:
    """What else a change of pictures moves by a quarter of the way; None where nothing is seen.

    A companion that is surely harmless where it comes apart from the cue may move.
    """
    if witness.edits_model or witness.plugin.needs == "pair":
        return None
    for fold, part in by_fold(study, witness):
        pairs = list(changed_moments(part))
        if len(pairs) < study.options.least:
            continue
        for comparison in study.audit.once(discordant, fold, part.target):
            if _is_harmless(comparison, study):
                continue
            recogniser = study.audit.once(
                _recogniser_of, fold, part.target.cue, comparison.companion
            )
            if recogniser is None:
                continue
            # beyond the placebo, which may move the companion as much
            after, placebo = zip(*pairs, strict=True)
            moved = recogniser.share_left(after) - recogniser.share_left(placebo)
            # in the direction in which the cue goes
            sign = -1 if witness.plugin.effect == "removes" else 1
            share = float(sign * moved.mean())
            error = float(moved.std() / np.sqrt(len(moved)))
            if share >= A_PART and share >= SURE * error:
                return comparison.companion.name
    return None


def _is_harmless(comparison: Discordant, study: Study) -> bool:
    effect = comparison.of_companion
    if effect is None or comparison.alone < study.options.least:
        return False
    return effect.high < study.options.margin


def _recogniser_of(study: Study, cue: Cue, companion: Companion) -> Recogniser | None:
    """Of a companion, by frames of the run; None where pictures do not tell it from the cue."""
    frames, data, has_cue = _frames_with_it(study, cue, companion)
    shows = data.shows
    apart = (shows & ~has_cue).sum(), (has_cue & ~shows).sum()
    # where they never come apart, a model of one is a model of the other
    if min(apart) < study.options.least:
        return None
    rng = study.rng("companion", cue.id, companion.name)
    moments = [Moment(study.seen[key].frames, number) for key, number in frames]
    # a companion is known of samples, and may be anywhere in them
    look = ClipLook.learn(moments, rng, lasts=True)
    rows = look.read(moments)
    model = Linear.learn(rows, data, rng, Fitting.LOOKS)
    if (model.auroc or 0.0) < GOOD_AUROC:
        return None
    scores = model.scores(rows)
    with_it = float(np.median(scores[shows]))
    without = float(np.median(scores[~shows]))
    if with_it <= without:
        return None
    return Recogniser(look, model, with_it, without)


def _frames_with_it(
    study: Study,
    cue: Cue,
    companion: Companion,
) -> tuple[Sequence[FrameId], Training, np.ndarray]:
    """Frames of the run with a companion, then others, and which of them show the cue."""
    listed = cue.samples_with_cue(study.seen)
    keys = [key for key in companion.shown if study.seen[key].frames]
    rng = study.rng("companion frames", cue.id, companion.name)
    # as many of each as can be had: a lopsided training would learn how rare it is
    with_it = [key for key in shuffle(keys, rng) if companion.shown[key]][:FRAMES]
    others = [key for key in shuffle(keys, rng) if not companion.shown[key]][:FRAMES]
    chosen = [*with_it, *others]
    samples = pick(study.seen, chosen)
    frames = [(key, 0) for key in chosen]
    shows = np.arange(len(chosen)) < len(with_it)
    data = training(samples, frames, shows)
    has_cue = np.array([key in listed for key in chosen])
    sides = np.where(has_cue, " with", " without")
    within = np.char.add(data.labels.astype(str), sides)
    return frames, Training(shows, within, data.groups), has_cue
