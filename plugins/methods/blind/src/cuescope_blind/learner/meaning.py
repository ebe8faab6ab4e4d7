"""What options mean to a sentence encoder: a word that no other question has tells by its sense."""

import numpy as np
from jaxtyping import Float

from cuescope_blind.questions import Questions, number_texts
from cuescope_sdk import SentenceEncoder

Columns = Float[np.ndarray, "option column"]
# of the encoder's space; columns are dense, and a hundred thousand questions must fit in memory
DIRECTIONS = 64


def meaning_columns(questions: Questions, encoder: SentenceEncoder) -> Columns:
    """What each option means, how it goes with the question, and how alike the others are.

    In the principal directions of all options, for which no label is looked at.
    """
    # late: half a second
    from sklearn.decomposition import PCA

    of_option = number_texts(questions.raw_options)
    shown = number_texts(questions.texts)[questions.owner]
    # each text once: benchmarks repeat their options a thousand times
    options = np.asarray(encoder.encode(sorted(set(questions.raw_options))), float)
    asked = np.asarray(encoder.encode(sorted(set(questions.texts))), float)
    directions = PCA(min(DIRECTIONS, *options.shape), svd_solver="covariance_eigh")
    option = directions.fit_transform(options)[of_option]
    about = directions.transform(asked)[shown]
    # of the whole vectors: the directions are those of options, and likeness may lie outside
    rows = options[of_option]
    likeness = np.einsum("od,od->o", rows, asked[shown])
    # the mean cosine of each option with the others of its question
    together = np.add.reduceat(rows, questions.starts)[questions.owner]
    others = questions.counts[questions.owner] - 1
    agreement = np.einsum("od,od->o", rows, together - rows) / others
    return np.hstack([option, option * about, likeness[:, None], agreement[:, None]])


__all__ = ["meaning_columns"]
