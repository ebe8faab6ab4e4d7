"""The blind learner: a logistic regression on what the right option has and another one has not.

Of a question's pairs of right and wrong option the differences are learned (Bradley and Terry,
1952); the probability of an option is the softmax of its score within its question (Luce, 1959).
Each fold of whole videos is answered from the others.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from cuescope_blind.questions import OneAQuestion, PerOption, Questions
from cuescope_blind.tells import TELLS


def all_columns(questions: Questions) -> sparse.csr_array:
    """The columns of all tells."""
    blocks = [tell.columns(questions) for tell in TELLS]
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


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
