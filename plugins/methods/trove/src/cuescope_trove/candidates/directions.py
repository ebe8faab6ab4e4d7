"""Where candidates lie in the embedding, apart from what their labels look like."""

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk.maths import normalise
from cuescope_sdk.statistics import Groups
from cuescope_trove.scores import Observations

FEW = 5  # frames of a label, from which on their mean says how it looks without the cue


def directions_of(
    observations: Observations,
    points: Float[np.ndarray, "frame dim"],
) -> Float[np.ndarray, "candidate dim"]:
    """The unit direction in which each candidate's frames differ from others of their label."""
    everything = np.ones(len(points), dtype=bool)
    unit = normalise(points).astype(np.float64)
    # within labels: a candidate that is mostly of one label would else stand for its looks
    apart = less_label_means(observations, unit, everything)
    return normalise(observations.member.T.astype(np.float64) @ apart)


def less_label_means(
    observations: Observations,
    values: Float[np.ndarray, "frame column"],
    among: Bool[np.ndarray, " frame"],
) -> Float[np.ndarray, "frame column"]:
    """Values less the mean of some frames of the label; of all labels where it has too few."""
    label = observations.label[observations.frame_sample]
    groups = Groups(label[among], observations.classes, declared=True)
    sizes = np.bincount(label[among], minlength=observations.classes)
    overall = values[among if among.any() else slice(None)].mean(axis=0)
    means = groups.sums(values[among]) / np.maximum(sizes, 1)[:, None]
    means[sizes < FEW] = overall
    return np.asarray(values - means[label])
