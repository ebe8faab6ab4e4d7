"""Where candidates lie in the embedding, apart from what their labels look like."""

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk.maths import normalise
from cuescope_sdk.statistics import Groups
from cuescope_trove.scores import IntPerFrame, Observations

FEW = 5  # frames of a label, from which on their mean says how it looks without the cue


def directions_of(
    observations: Observations,
    points: Float[np.ndarray, "frame dim"],
) -> Float[np.ndarray, "candidate dim"]:
    """The unit direction in which each candidate's frames differ from others of their label."""
    # within labels: a candidate that is mostly of one label would else stand for its looks
    apart = apart_from_labels(points, observations.frame_label)
    return normalise(observations.member.T.astype(np.float64) @ apart)


def apart_from_labels(
    points: Float[np.ndarray, "frame dim"],
    label: IntPerFrame,
) -> Float[np.ndarray, "frame dim"]:
    """Unit points less the mean of their label."""
    return less_label_means(normalise(points).astype(np.float64), label)


def less_label_means(
    values: Float[np.ndarray, "frame column"],
    label: IntPerFrame,
    among: Bool[np.ndarray, " frame"] | None = None,
) -> Float[np.ndarray, "frame column"]:
    """Values less the mean of the label, of some of its frames; of all labels where it has few."""
    among = np.ones(len(label), dtype=bool) if among is None else among
    labels = label.max() + 1
    groups = Groups(label[among], labels, declared=True)
    sizes = np.bincount(label[among], minlength=labels)
    overall = values[among if among.any() else slice(None)].mean(axis=0)
    means = groups.sums(values[among]) / np.maximum(sizes, 1)[:, None]
    means[sizes < FEW] = overall
    return np.asarray(values - means[label])
