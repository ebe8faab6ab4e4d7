"""The blind learner: a logistic regression on what the right option has and another one has not.

Of a question's pairs of right and wrong option the differences are learned (Bradley and Terry,
1952); the probability of an option is the softmax of its score within its question (Luce, 1959).
Each fold of whole videos is answered from the others.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from cuescope_blind.questions import OneAQuestion, PerOption, Questions, number_texts
from cuescope_blind.tells import TELLS
from cuescope_sdk import SentenceEncoder

# dimensions of the encoder's space that are kept; columns are dense, and a hundred thousand
# questions must fit in memory
DIRECTIONS = 64


def all_columns(
    questions: Questions, encoder: SentenceEncoder | None = None
) -> sparse.csr_array:
    """The columns of all tells, and what options mean, where an encoder says so."""
    blocks = [tell.columns(questions) for tell in TELLS]
    if encoder is not None:
        blocks.append(sparse.csr_array(meaning(questions, encoder)))
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def meaning(
    questions: Questions, encoder: SentenceEncoder
) -> Float[np.ndarray, "option column"]:
    """What each option means, how it goes with the question, and how alike the others are.

    In the principal directions of all options, for which no label is looked at.
    """
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

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
    columns = np.column_stack([option, option * about, likeness, agreement])
    return np.asarray(StandardScaler().fit_transform(columns))


def out_of_fold(
    questions: Questions,
    columns: sparse.csr_array,
    fold: OneAQuestion,
    right: OneAQuestion | None = None,
) -> PerOption:
    """The probability of every option, from a model that saw no question of its fold."""
    right = questions.right if right is None else right
    scores = np.zeros(len(questions.owner))
    for number in np.unique(fold).tolist():
        training = fold != number
        asked = ~training[questions.owner]
        weights = fit(questions, columns, right, training)
        scores[asked] = columns[asked] @ weights
    return questions.softmax(scores)


def fit(
    questions: Questions,
    columns: sparse.csr_array,
    right: OneAQuestion,
    training: Bool[np.ndarray, " question"],
) -> Float[np.ndarray, " column"]:
    """Weights by which right options are told from wrong ones, of the training questions."""
    from sklearn.linear_model import LogisticRegression

    best = (questions.starts + right)[questions.owner]
    option = np.arange(len(best))
    other = np.flatnonzero(training[questions.owner] & (option != best))
    # by turns right minus wrong and wrong minus right: a classifier wants two classes
    sign = np.where(np.arange(len(other)) % 2, 1.0, -1.0)
    # a question counts once, however many options it has
    weight = 1 / (questions.counts[questions.owner[other]] - 1)
    differences = sparse.diags_array(sign) @ (columns[best[other]] - columns[other])
    model = LogisticRegression(fit_intercept=False, solver="liblinear")
    model.fit(differences, sign, sample_weight=weight)
    return np.asarray(model.coef_[0])
