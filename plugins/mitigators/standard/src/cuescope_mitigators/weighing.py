"""Weights with which groups of unequal size count the same."""

import numpy as np
from jaxtyping import Float, Int


def balanced_weights(
    groups: Int[np.ndarray, " sample"], targets: Int[np.ndarray, " sample"]
) -> Float[np.ndarray, " sample"]:
    """Weights of mean 1: each label weighs the same, and in a label each group."""
    in_label = {
        target: len(np.unique(groups[targets == target]))
        for target in np.unique(targets)
    }
    sizes = np.bincount(groups)[groups]
    weights = 1.0 / (sizes * np.array([in_label[target] for target in targets]))
    return np.asarray(weights / weights.mean())
