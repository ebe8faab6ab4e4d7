"""The order of frames for a label: those first that show what costs it accuracy."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from cuescope_sdk import Audit
from cuescope_sdk.stills import Answers, FrameId
from cuescope_trove.analysis import Analysis
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.maths.ranking import rank_frames
from cuescope_trove.scores import Pairs, PerPair
from cuescope_trove.selection import ranking

FrameOrder = Int[np.ndarray, " frame"]


def ranked_frames(audit: Audit, analysis: Analysis, label: str) -> Sequence[FrameId]:
    """All frames, by the cue that costs the label most; none where no cue was recognised.

    The paper's way is by clusters.
    """
    code = audit.labels.index(label)
    answers = audit.once(Answers.ask, audit)
    frames = list(answers.row)
    if analysis.clustering is None:
        if not analysis.cues:
            return []
        order = by_cue(analysis, code)
    else:
        table = analysis.table
        # without a wrong frame a pair has no score
        value = np.where(table.scored, table.score, -np.inf)
        order = by_candidate(analysis.candidates, table.pairs, value, code)
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


def by_cue(analysis: Analysis, label: int) -> FrameOrder:
    """Frames by their odds to show the cue of the label's first pair; else of the surest cue."""
    table = analysis.table
    ranked = ranking(table)
    is_cue = table.pairs.cluster[ranked] < len(analysis.cues)
    of_label = ranked[is_cue & (table.pairs.label[ranked] == label)]
    cue = int(table.pairs.cluster[of_label[0]]) if len(of_label) else 0
    return np.argsort(-analysis.cues[cue].odds, kind="stable")
