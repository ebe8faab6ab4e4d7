"""Does an intervention do what it says? Whether pictures still look as those with the cue do.

The place of a cue may be wrong, and a change may leave the cue or take its company away. A model
of whole pictures, which knows neither places nor answers, is learned from the run's frames with the
cue and without it, and looks at what was changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from jaxtyping import Float, Float32

from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.learned import by_pictures, look_of, training_frames
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.places import GOOD_AUROC
from cuescope_confirm.study import Study, prepare
from cuescope_confirm.testimony.witnesses import (
    CHANGED,
    PLACEBO,
    Answers,
    OfPair,
    Witness,
    shown_frames,
)
from cuescope_sdk import Sample
from cuescope_sdk.interventions import Intervention, Place, open_frame
from cuescope_sdk.locating import Linear

LEAST = 0.5  # of the way from pictures with the cue to those without
A_PART = 0.25  # of the way: a change of whole pictures that takes less is about something else
LOOKED_AT = 60  # pairs of a witness
AT_FIRST = 12  # of these: what hardly takes the cue there is looked at no further
SURELY = 3.0  # standard errors
NOTICED = 1.0  # grey levels: a picture that changes by less is as it was
Left = Float[np.ndarray, "pair 2"]


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
    for key, place in islice(located.places.items(), LOOKED_AT):
        showing.append(Moment(target.samples[key].frames, _first_shown(place)))
    others = []
    for key in sorted(located.without)[:LOOKED_AT]:
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


def share_taken(study: Study, witness: Witness) -> float | None:
    """By how much a witness takes the cue out, or puts it in, beyond its placebo, about 0 to 1.

    None where pictures do not tell the cue, and where it edits the model or changes no frames:
    nothing of that is in a picture.
    """
    left = share_left(study, witness)
    if left is None:
        return None
    # no change takes more than all, however little sets held-out samples apart
    return float(beyond_placebo(witness.plugin, left).mean().clip(-1, 1))


def beyond_placebo(plugin: Intervention, left: Left) -> Float[np.ndarray, " pair"]:
    """How much of the cue each pair lost or got, beyond the placebo."""
    changed, placebo = left.T
    return np.asarray(
        placebo - changed if plugin.effect == "removes" else changed - placebo
    )


def share_left(study: Study, witness: Witness) -> Left | None:
    """Of the first pairs with the cue, its share left after the change, and after the placebo.

    None where pictures do not tell it.
    """
    parts = []
    for fold, part in by_fold(study, witness):
        answers = part.answers
        # by what it changes: a witness that is answered is another one, and tells the same
        left = fold.audit.once(
            _left_of_part,
            fold,
            part.target,
            part.plugin,
            answers.pairs,
            answers.trials,
        )
        if left is not None and len(left):
            parts.append(left)
    return np.concatenate(parts) if parts else None


def by_fold(study: Study, witness: Witness) -> Iterator[tuple[Study, Witness]]:
    """A witness, and the study that its cue is learned from; of folds, each with its samples."""
    target = witness.target
    if not target.parts:
        # looks differ in the error that they may spend, and not in what they see
        yield study.audit.once(prepare, study.audit, study.audit.options), witness
    for part in target.parts:
        in_fold = [
            pair.case.sample.key in part.study.held for pair in witness.answers.pairs
        ]
        answers = witness.answers.unanswered(in_fold)
        yield part.study, replace(witness, target=part.target, answers=answers)


def _left_of_part(
    study: Study,
    target: Target,
    plugin: Intervention,
    pairs: Sequence[Pair],
    trials: Sequence[OfPair],
) -> Left | None:
    witness = Witness(target, "", plugin, answers=Answers.unknown(pairs, trials))
    recogniser = recogniser_of(study, target)
    if recogniser is None or witness.edits_model:
        return None
    return _left_of_pairs(recogniser, changed_moments(witness))


def _left_of_pairs(
    recogniser: Recogniser, moments: Iterable[tuple[Moment, Moment]]
) -> Left:
    pairs = list(moments)
    if not pairs:
        return np.zeros((0, 2))
    sides = map(recogniser.share_left, zip(*pairs, strict=True))
    return np.stack([*sides], axis=1) / recogniser.apart


def part_taken(taken: float | None) -> float:
    """The share of a cue's use that such a change takes, 0.5 to 1.

    What the model uses may all be in the part that is gone, or evenly in all of the cue; this is
    between both.
    """
    if taken is None:
        return 1.0
    share = min(max(taken, LEAST), 1.0)
    return 2 / (1 + 1 / share)


def changed_moments(witness: Witness) -> Iterator[tuple[Moment, Moment]]:
    """Of some pairs with the cue, a moment as it was changed, and with the placebo."""
    answers = witness.answers
    rows = np.flatnonzero(answers.with_cue)[:LOOKED_AT]
    for row in rows.tolist():
        trials = answers.trials[row]
        place = answers.pairs[row].case.place
        number = _first_shown(place)
        changed = trials[CHANGED]
        placebo = trials[PLACEBO]
        if changed is not None and placebo is not None and changed.sample.frames:
            yield (
                Moment(changed.sample.frames, number),
                Moment(placebo.sample.frames, number),
            )


def pixel_changes(sample: Sample, changed: Sample) -> Float32[np.ndarray, " channel"]:
    """How much every pixel of its frames has changed, channel by channel, in grey levels."""
    changes = [np.zeros(0, np.float32)]
    for old, new in zip(sample.frames, changed.frames, strict=True):
        before = np.asarray(open_frame(old), np.float32)
        after = np.asarray(open_frame(new), np.float32)
        changes.append(np.abs(after - before).ravel())
    return np.concatenate(changes)


def change_made(witness: Witness) -> float:
    """By how many grey levels pixels change on average."""
    trials = witness.answers.trials[:LOOKED_AT]
    changes = [
        pixel_changes(plain.sample, changed.sample).mean()
        for plain, changed, _ in trials
    ]
    return float(np.mean(changes))


def only_telling(study: Study, witness: Witness) -> Witness:
    """A change of whole pictures without the pairs that it leaves as they are, within a grey level.

    Without any pair where pictures do not show it take a part of the cue. This is told before any
    answer: asking about it would only cost calls and power.
    """
    # most changes are about something else, and a few pairs show it
    most = study.audit.once(most_taken, study, witness)
    if most is None or most < A_PART:
        return replace(witness, answers=Answers.unknown())
    telling = _changing(witness)
    # remembered: how much it weighs is told by it later
    share = study.audit.once(share_taken, study, telling)
    if share is None or share < A_PART:
        return replace(witness, answers=Answers.unknown())
    return telling


def most_taken(study: Study, witness: Witness) -> float | None:
    """How much of the cue it may take at most, by a few of its pairs.

    None where pictures do not tell the cue.
    """
    shares = []
    first = replace(witness, answers=witness.answers.first(AT_FIRST))
    for fold, part in by_fold(study, _changing(first)):
        recogniser = recogniser_of(fold, part.target)
        if recogniser is not None:
            left = _left_of_pairs(recogniser, changed_moments(part))
            shares.append(beyond_placebo(witness.plugin, left))
    if not shares:
        return None
    of_pairs = np.concatenate(shares)
    if len(of_pairs) < 2:
        return np.inf
    error = of_pairs.std(ddof=1) / np.sqrt(len(of_pairs))
    return float(of_pairs.mean() + SURELY * error)


def _changing(witness: Witness) -> Witness:
    """The same, without the pairs that it leaves as they are."""
    answers = witness.answers
    is_changed = [
        pixel_changes(plain.sample, changed.sample).max() > NOTICED
        for plain, changed, _ in answers.trials
    ]
    return replace(witness, answers=answers.unanswered(is_changed))
