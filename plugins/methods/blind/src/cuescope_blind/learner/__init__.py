"""The blind learner: a logistic regression on what the right option has and another one has not.

Of a question's pairs of right and wrong option the differences are learned (Bradley and Terry,
1952); the probability of an option is the softmax of its score within its question (Luce, 1959).
Each fold of whole videos is answered from the others.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from cuescope_blind.questions import OneAQuestion, PerOption, Questions
from cuescope_blind.tells import TELLS, Tell

# C of scikit-learn, the inverse of the penalty. By MVBench and NExT-QA val alone (blind_table.py
# --tune): 0.1 to 0.5 has 43.0 to 43.9% right in the one, 28.9 to 28.1% in the other
STRENGTH = 0.25
CLOSE = 0.03  # 0.1 to 0.01 moves neither by more than 0.1 points


def all_columns(
    questions: Questions,
    meaning: Float[np.ndarray, "option column"] | None = None,
) -> sparse.csr_array:
    """The columns of all groups, and what options mean, where an encoder said so."""
    blocks = [tell.columns(questions) for tell in TELLS if tell.in_learner]
    if meaning is not None:
        spread = meaning.std(axis=0)
        blocks.append(sparse.csr_array(meaning / np.where(spread > 0, spread, 1.0)))
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def tell_strengths(
    questions: Questions,
    right: OneAQuestion,
    fold: OneAQuestion,
) -> Iterator[tuple[Tell, PerOption]]:
    """Each tell, with the strength that it gives every option: all other groups are left out."""
    for tell in TELLS:
        if tell.strength is not None:
            yield tell, tell.strength(questions)
        else:
            yield tell, out_of_fold(questions, tell.columns(questions), fold, right)


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
    if not columns.shape[1]:
        return np.zeros(0)
    # late: half a second
    from sklearn.linear_model import LogisticRegression

    best = (questions.starts + right)[questions.owner]
    option = np.arange(len(best))
    other = np.flatnonzero(training[questions.owner] & (option != best))
    # by turns right minus wrong and wrong minus right: a classifier wants two classes
    sign = np.where(np.arange(len(other)) % 2, 1.0, -1.0)
    pair = np.arange(len(other))
    entries = np.concatenate([sign, -sign])
    places = (np.tile(pair, 2), np.concatenate([best[other], other]))
    pairs = sparse.csr_array((entries, places), shape=(len(pair), len(option)))
    # a question counts once, however many options it has
    weight = 1 / (questions.counts[questions.owner[other]] - 1)
    model = LogisticRegression(
        C=STRENGTH, fit_intercept=False, solver="liblinear", tol=CLOSE
    )
    differences = pairs @ columns
    # liblinear takes no other
    differences.indices = differences.indices.astype(np.int32)
    differences.indptr = differences.indptr.astype(np.int32)
    model.fit(differences, sign, sample_weight=weight)
    return np.asarray(model.coef_[0])
