"""The order of frames for a label: those first that show what costs it accuracy."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit
from cuescope_sdk.maths import normalise
from cuescope_sdk.stills import Answers, FrameId
from cuescope_trove.analysis import Analysis
from cuescope_trove.candidates.directions import less_label_means
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.maths.ranking import rank_frames, standardise
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, Pairs, PerPair
from cuescope_trove.selection import Verdict

FrameOrder = Int[np.ndarray, " frame"]
PerFrame = Float[np.ndarray, " frame"]

DIRECTION = 0.5  # weight of the direction, which few frames tell, beside the pull


def ranked_frames(
    audit: Audit,
    options: TRoVeOptions,
    analysis: Analysis,
    label: str,
) -> Sequence[FrameId]:
    """All frames: by what costs the label most, or what it is mistaken for if nothing is reported.

    The paper's way is by candidates.
    """
    code = audit.labels.index(label)
    answers = audit.once(Answers.ask, audit)
    if options.paper:
        table = analysis.shown
        # without a wrong frame a pair has no score
        value = np.where(table.scored, table.score, -np.inf)
        order = by_candidate(analysis.candidates, table.pairs, value, code)
    else:
        order = by_cue(answers.embedding, analysis, code)
    frames = list(answers.row)
    return [frames[number] for number in order.tolist()]


def by_candidate(
    candidates: Candidates,
    pairs: Pairs,
    value: PerPair,
    label: int,
) -> FrameOrder:
    """The paper's: clusters by the value of their pair with the label, frames by their strength.

    A pair whose value is -inf comes last, as a candidate without a pair does. A frame of several
    candidates counts for the best of them.
    """
    of_label = pairs.label == label
    score = np.full(len(candidates), -np.inf)
    score[pairs.cluster[of_label]] = value[of_label]
    candidate = np.zeros(candidates.points, dtype=np.int64)
    strength = np.zeros(candidates.points)
    # the best comes last, and stays
    for number in np.argsort(score, kind="stable"):
        members = candidates.members[number]
        candidate[members] = number
        strength[members] = candidates.strength[number]
    return rank_frames(candidate, strength, score)


def by_cue(
    points: Float[np.ndarray, "frame dim"],
    analysis: Analysis,
    label: int,
) -> FrameOrder:
    """By what shows the cue of the label's first finding, as far as it is known.

    Where it was learned from pictures, they say which frames show it: not all that is drawn to its
    mistake does. Else by how frames are drawn. It may be put down to wrong labels: where few of a
    label show a cue, it often is.
    """
    table = analysis.table
    reported = np.flatnonzero(table.verdict != Verdict.NOTHING)
    of_label = reported[table.pairs.label[reported] == label]
    best = int(of_label[table.worth[of_label].argmax()]) if len(of_label) else None
    drawn = _drawn(points, analysis, label, best)
    told = None if best is None else _told(analysis, best)
    return np.lexsort((-drawn,) if told is None else (-drawn, -told))


def _told(analysis: Analysis, pair: int) -> PerFrame | None:
    """How far each frame looks as if it led to the pair's mistake; None: pictures do not tell."""
    table = analysis.table
    for learned in analysis.foretold:
        is_its = learned.answer == table.mistake.prediction[pair]
        cluster = table.pairs.cluster[pair]
        if is_its and analysis.distinct.is_told_by(learned.candidate, cluster):
            return learned.told
    return None


def _drawn(
    points: Float[np.ndarray, "frame dim"],
    analysis: Analysis,
    label: int,
    pair: int | None,
) -> PerFrame:
    """Two signs of what leads the label most often to one mistake, in standard deviations.

    How far a still clip is pulled to the mistake that goes with it, which is what the model makes
    of the frame, and how far its embedding lies in its direction, which is what is seen in it.
    Both beside the label's frames in which nothing is reported, so that the label's own looks and
    answers count for nothing. Where no pair is reported no direction is known: only the pull to the
    label's most common mistake.
    """
    observations = analysis.observations
    table = analysis.table
    clusters = table.pairs.cluster[table.verdict != Verdict.NOTHING]
    shows_any = observations.member[:, clusters].sum(axis=1) > 0
    if pair is None:
        mistake = _mistake_of(observations, label)
        shown = np.zeros(len(points))
    else:
        mistake = table.mistake.prediction[pair]
        unit = normalise(points).astype(np.float64)
        direction = analysis.distinct.directions[table.pairs.cluster[pair]]
        shown = less_label_means(unit, observations.frame_label, ~shows_any) @ direction
    pulled = less_label_means(
        observations.frame_static[:, [mistake]], observations.frame_label, ~shows_any
    )
    return standardise(pulled[:, 0]) + DIRECTION * standardise(shown)


def _mistake_of(observations: Observations, label: int) -> int:
    """What the label is most often mistaken for; of equals, and without mistakes, the first."""
    wrong = (observations.label == label) & ~observations.correct
    counts = np.bincount(observations.prediction[wrong], minlength=observations.classes)
    counts[
        label
    ] = -1  # with several right answers the first of a wrong sequence may be its own
    return int(counts.argmax())
