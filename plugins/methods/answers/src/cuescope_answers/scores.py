"""Pure functions of arrays: what an evenly erring model would choose, and what accuracy costs."""

import numpy as np
from jaxtyping import Bool, Float, Int


def even_choices(
    label: Int[np.ndarray, " sample"],
    option: Int[np.ndarray, " sample"],
    counts: Int[np.ndarray, " sample"],
    accuracy: float,
) -> Float[np.ndarray, " sample"]:
    """How likely a model of this accuracy chooses `option`, if its errors go to all others alike.

    `option` is one number a question. A model that is often wrong chooses a frequent right answer
    less often than the data have it, and prefers nothing by that: hence not the data's own share.
    """
    # a lone choice has no other to go wrong to
    return np.where(
        option == label, accuracy, (1 - accuracy) / np.maximum(counts - 1, 1)
    )


def preference(
    choice: Int[np.ndarray, " sample"],
    label: Int[np.ndarray, " sample"],
    option: Int[np.ndarray, " sample"],
    counts: Int[np.ndarray, " sample"],
) -> Float[np.ndarray, " sample"]:
    """Of each question, whether `option` was chosen, less how likely `even_choices` makes it."""
    # of the model itself: whoever is right more often has fewer errors to spread
    accuracy = float((choice == label).mean())
    expected = even_choices(label, option, counts, accuracy)
    return np.asarray((choice == option) - expected)


def accuracy_gap(
    right: Float[np.ndarray, " sample"],
    shows: Bool[np.ndarray, " sample"],
) -> tuple[float, float]:
    """Accuracy with a feature, and without it."""
    return float(right[shows].mean()), float(right[~shows].mean())
