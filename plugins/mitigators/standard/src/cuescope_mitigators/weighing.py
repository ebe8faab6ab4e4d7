"""Weights with which groups of unequal size count the same."""

import numpy as np
from jaxtyping import Float, Int


def balanced_weights(
    groups: Int[np.ndarray, " sample"], targets: Int[np.ndarray, " sample"]
) -> Float[np.ndarray, " sample"]:
    """Weights of mean 1: each label weighs the same, and in a label each of its groups."""
    _, first = np.unique(groups, return_index=True)
    # a group has one label, which its first sample tells
    groups_of_label = np.bincount(targets[first])
    sizes = np.bincount(groups)
    weights = 1.0 / (sizes[groups] * groups_of_label[targets])
    return np.asarray(weights / weights.mean())
