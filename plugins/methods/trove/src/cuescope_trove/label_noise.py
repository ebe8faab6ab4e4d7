"""What shows beside a cue: whose frames a sequence's other frames look like.

A mislabelled sequence looks like its true class in every frame. Where a cue misleads, the other
frames still look like the label.
"""

from functools import partial

import numpy as np
from numpy.random import Generator

from cuescope_trove.scores import Observations, Pairs, PerSample, SampleMask


def unlike_label_errors(
    observations: Observations,
    pair: Pairs,
    rng: Generator,
) -> float:
    """The p-value with which label errors would give the wrong answers of a pair."""
    cluster = pair.cluster.item()
    return observations.answered.unlike_p_value(
        pair.label.item(),
        observations.shows(cluster),
        rng,
        partial(_looks, observations, cluster),
    )


def _looks(
    observations: Observations,
    cluster: int,
    like: SampleMask,
    unlike: SampleMask,
) -> PerSample:
    """How much likelier a sequence's other frames are among those of one part than of another.

    Log-probabilities, by the clusters of these frames, for each frame; NaN where there is none.
    """
    member_frame = observations.member_frame
    of_sample = observations.frame_sample[member_frame]
    # frames of the cue are left out: only the other frames tell both apart
    shows_cue = np.zeros(len(observations.frame_sample), dtype=bool)
    shows_cue[observations.frames_of(cluster)] = True
    others = ~shows_cue[member_frame]
    samples = len(observations.label)
    counts = np.bincount(observations.frame_sample[~shows_cue], minlength=samples)
    # of as many frames each: none is far from both where it has few of them
    beside = np.where(counts > 0, counts, np.nan)

    def log_probability(part: SampleMask) -> PerSample:
        shown = observations.member_cluster[part[of_sample] & others]
        # half a frame more each: one unseen cluster must not rule a sequence out
        counts = np.bincount(shown, minlength=observations.clusters) + 0.5
        chance = np.log(counts / np.delete(counts, cluster).sum())
        weights = np.where(others, chance[observations.member_cluster], 0.0)
        return np.bincount(of_sample, weights, minlength=samples)

    return np.asarray((log_probability(like) - log_probability(unlike)) / beside)
