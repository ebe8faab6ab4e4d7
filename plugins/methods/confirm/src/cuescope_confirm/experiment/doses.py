"""The dose of an intervention: the share of a cue that it takes out of pictures, or puts in.

The place of a cue may be wrong, and a change may leave the cue. A model of whole pictures, which
knows neither places nor answers, is learned from the run's frames with the cue and without it, and
looks at what was changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from jaxtyping import Float

from cuescope_confirm.cases import Pair
from cuescope_confirm.experiment.arms import (
    CHANGED,
    CONTROL,
    Answers,
    Arm,
    OfPair,
    shown_frames,
)
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.learned import by_pictures, look_of, training_frames
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Study, prepare
from cuescope_sdk.interventions import Place
from cuescope_sdk.locating import Linear

Left = Float[np.ndarray, "pair 2"]


@dataclass(frozen=True)
class Dose:
    """The share of a cue that goes or comes beyond the control, with its standard error.

    `left` is what the control seems to leave of it.
    """

    share: float
    error: float
    left: float | None = None


# of an intervention whose dose no picture shows, anything between none and all
UNKNOWN = Dose(0.5, 12**-0.5)
WHOLE = Dose(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Recogniser:
    """How much of a cue is in pictures, from its held-out samples with it (1) and without (0).

    `apart` is by how much the means of both differ: less than 1 where some are taken wrongly.
    """

    look: ClipLook
    model: Linear
    with_cue: float
    without: float
    apart: float = 1.0

    def share_left(self, moments: Sequence[Moment]) -> Float[np.ndarray, " moment"]:
        """Of the cue at each moment, 0 to 1."""
        scores = self.model.scores(self.look.read(moments))
        share = (scores - self.without) / (self.with_cue - self.without)
        # beyond both ends pictures are no more with or without it
        return np.asarray(share.clip(0, 1))


def dose_of(study: Study, arm: Arm, most: int | None = None) -> Dose | None:
    """By so many pairs, or all; None where no picture shows it."""
    if arm.is_exact:
        return WHOLE
    left = share_left(study, arm, most)
    if left is None or not len(left):
        return None
    changed, control = left.T
    shares = control - changed if arm.removes else changed - control
    error = float(shares.std() / np.sqrt(len(shares)))
    of_control = float(control.mean()) if arm.removes else None
    return Dose(float(shares.mean().clip(-1, 1)), error, of_control)


def spread_of_controls(doses: Sequence[Dose]) -> float:
    """How far a recogniser errs on changed pictures, as a standard deviation.

    Each control leaves all of the cue: what it seems to leave differs from one to the next.
    """
    left = [dose.left for dose in doses if dose.left is not None]
    return float(np.std(left, ddof=1)) if len(left) > 1 else 0.0


def recogniser_of(study: Study, target: Target) -> Recogniser | None:
    """Learned from the run; None where pictures do not tell the cue in what is held out."""
    with study.audit.spare(f"recognising {target.cue.name} in changed pictures"):
        return study.audit.once(_learn_recogniser, study, target)
    return None


def _learn_recogniser(study: Study, target: Target) -> Recogniser | None:
    cue = target.cue
    located = target.located
    if located is None or not located.without or not cue.feature.occurrences:
        return None
    _, data = training_frames(study, cue)
    # of one side, or without frames, nothing is learned
    if data.shows.all() or not data.shows.any():
        return None
    told = by_pictures(study, cue)
    if told.auroc < GOOD_AUROC:
        return None
    look = look_of(study, cue)
    model = told.model
    showing = []
    for key, place in islice(located.places.items(), study.options.samples):
        showing.append(Moment(target.samples[key].frames, _first_shown(place)))
    others = []
    for key in sorted(located.without)[: study.options.samples]:
        clip = target.samples[key].frames
        others.append(Moment(clip, len(clip) // 2))
    # middles: a few that are taken wrongly do not move them
    with_cue = float(np.median(model.scores(look.read(showing))))
    without = float(np.median(model.scores(look.read(others))))
    if with_cue <= without:
        return None
    recogniser = Recogniser(look, model, with_cue, without)
    left = recogniser.share_left(showing).mean()
    left_without = recogniser.share_left(others).mean()
    # of two samples the middles may be apart where the means are not
    if left <= left_without:
        return None
    return replace(recogniser, apart=float(left - left_without))


def _first_shown(place: Place) -> int:
    """The number of the first frame that shows the cue there."""
    return next(iter(shown_frames(place)), 0)


def share_left(study: Study, arm: Arm, most: int | None = None) -> Left | None:
    """Of the first pairs with the cue, its share left after the change, and after the control.

    None where pictures do not tell it.
    """
    parts = []
    for fold, part in by_fold(study, arm):
        answers = part.answers
        # by what it changes: an arm that is answered is another one, and tells the same
        left = fold.audit.once(
            _left_of_part, fold, part.target, answers.pairs, answers.trials, most
        )
        if left is not None and len(left):
            parts.append(left)
    return np.concatenate(parts) if parts else None


def by_fold(study: Study, arm: Arm) -> Iterator[tuple[Study, Arm]]:
    """An arm, and the study that its cue is learned from; of folds, each with its samples."""
    target = arm.target
    if not target.parts:
        yield study.audit.once(prepare, study.audit, study.audit.options), arm
    for part in target.parts:
        in_fold = [
            pair.case.sample.key in part.study.held for pair in arm.answers.pairs
        ]
        answers = arm.answers.unanswered(in_fold)
        yield part.study, replace(arm, target=part.target, answers=answers)


def _left_of_part(
    study: Study,
    target: Target,
    pairs: Sequence[Pair],
    trials: Sequence[OfPair],
    most: int | None,
) -> Left | None:
    recogniser = recogniser_of(study, target)
    # an edit of the model leaves pictures as they are
    if recogniser is None or any(changed.edit for _, changed, _ in trials[:1]):
        return None
    moments = list(changed_moments(Answers.unknown(pairs, trials), most))
    if not moments:
        return np.zeros((0, 2))
    sides = map(recogniser.share_left, zip(*moments, strict=True))
    return np.stack([*sides], axis=1) / recogniser.apart


def changed_moments(
    answers: Answers, most: int | None
) -> Iterator[tuple[Moment, Moment]]:
    """Of some pairs with the cue, a moment as it was changed, and with the control."""
    rows = np.flatnonzero(answers.with_cue)[:most]
    for row in rows.tolist():
        changed, control = (
            answers.trials[row][column] for column in (CHANGED, CONTROL)
        )
        number = _first_shown(answers.pairs[row].case.place)
        if changed is not None and control is not None and changed.sample.frames:
            yield (
                Moment(changed.sample.frames, number),
                Moment(control.sample.frames, number),
            )
