"""The blind learner: one conditional logistic model over the options of a question.

McFadden's choice model (1974): the probability of an option is the softmax, within its question, of
a linear score of its features. It is fitted on four folds of whole videos, and asked about the
fifth.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import optimize, sparse

from cuescope_blind.questions import OneAQuestion, PerOption, Questions
from cuescope_blind.tells import (
    consensus,
    learned_strength,
    length,
    length_ranks,
    one_code,
    overlap,
    text_codes,
)
from cuescope_blind.tells.crossed import grammar_codes, question_codes, recurrence
from cuescope_blind.tells.orders import (
    alphabet_ranks,
    number_ranks,
    numeric_middle,
    out_of_order,
)
from cuescope_blind.tells.signs import sign_codes

Weights = Float[np.ndarray, " column"]
# a power of two: FeatureHasher spreads features unevenly over any other count of columns
BUCKETS = 2**18
# a word of one question says nothing of another
LEAST_QUESTIONS = 2
# of options and of ranks by length, that have a column of their own
PLACES = 6
STEPS = 80
# chosen on MVBench and NExT-QA val alone (benchmarks/blind_table.py --tune)
WORD_SCALE = 1.5
SIGN_SCALE = 1.0
MEANING_SCALE = 0.3
PENALTY = 4.0
CLOSE = 1e-5


@dataclass(frozen=True, eq=False)
class OptionFeatures:
    """What the learner sees of every option, but for the answer prior, which labels decide.

    `text` has a column a text of options within a kind. `curvature` is that of the loss along each
    column, where nothing is known.
    """

    matrix: sparse.csr_array
    text: sparse.csr_array
    curvature: Weights


def option_features(
    questions: Questions,
    meaning: Float[np.ndarray, "option column"] | None = None,
) -> OptionFeatures:
    """Words, words by kind of question, lengths, overlaps and places of all options.

    And what they mean, where an encoder said so.
    """
    words = _word_features(questions)
    dense = _dense_features(questions)
    kinds = questions.kind_codes[questions.owner]
    by_kind = _within_kinds(dense, kinds)
    signs = _of_unit_length(_in_several(questions, sign_codes(questions)))
    crossed = _of_unit_length(_in_several(questions, question_codes(questions)))
    grammar = _of_unit_length(_in_several(questions, grammar_codes(questions)))
    blocks = [
        sparse.csr_array(dense),
        by_kind,
        WORD_SCALE * words,
        SIGN_SCALE * signs,
        SIGN_SCALE * crossed,
        SIGN_SCALE * grammar,
    ]
    if meaning is not None:
        blocks.append(sparse.csr_array(MEANING_SCALE * _of_one_spread(meaning)))
    matrix = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    text = one_code(text_codes(questions))
    return OptionFeatures(matrix, text, _curvature(questions, matrix))


def _curvature(questions: Questions, matrix: sparse.csr_array) -> Weights:
    """The second derivative of the loss along each column, when all options are as likely."""
    chance = questions.chance[questions.owner]
    return np.asarray(matrix.power(2).T @ (chance * (1 - chance)))


def _word_features(questions: Questions) -> sparse.csr_array:
    from sklearn.feature_extraction import FeatureHasher

    hasher = FeatureHasher(BUCKETS, input_type="string", alternate_sign=False)
    hashed = sparse.csr_array(hasher.transform(_tokens(questions)))
    # there or not: two words may share a bucket
    hashed.data[:] = 1.0
    return _of_unit_length(_in_several(questions, hashed))


def _in_several(questions: Questions, codes: sparse.csr_array) -> sparse.csr_array:
    """The columns that have an entry in several questions."""
    # of whole questions: a word of all options of one question is still a word of one
    # one entry an option, in the row of its question
    order = np.arange(len(questions.owner))
    entries = (np.ones(len(order)), (questions.owner, order))
    of_question = sparse.csr_array(entries, shape=(len(questions), len(order))) @ codes
    counts = np.bincount(of_question.indices, minlength=codes.shape[1])
    return sparse.csr_array(codes[:, np.flatnonzero(counts >= LEAST_QUESTIONS)])


def _of_unit_length(codes: sparse.csr_array) -> sparse.csr_array:
    # a long option must not weigh more for its length: that has columns of its own
    lengths = np.sqrt(np.maximum(codes.sum(axis=1), 1.0))
    return sparse.csr_array(sparse.diags_array(1 / lengths) @ codes)


def _tokens(questions: Questions) -> Iterator[list[str]]:
    """The names of the features of each option: words, pairs of words, each also by kind."""
    for place, words in enumerate(questions.words):
        kind = questions.kind[questions.owner[place]]
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(words)]
        # sorted: Python gives a set of texts another order in each process
        terms = sorted({*words, *pairs, f"= {questions.flat_options[place]}"})
        yield [*terms, *(f"{kind}\t{term}" for term in terms)]


def _dense_features(questions: Questions) -> Float[np.ndarray, "option feature"]:
    size = np.log1p(length(questions))
    mean_size = questions.sum_within(size) / questions.counts
    shared = consensus(questions)
    offered = np.log(recurrence(questions))
    columns = [
        size - mean_size[questions.owner],
        _is_most(questions, size),
        _is_most(questions, -size),
        shared - (questions.sum_within(shared) / questions.counts)[questions.owner],
        _is_most(questions, shared),
        overlap(questions),
        numeric_middle(questions),
        out_of_order(questions),
        offered - (questions.sum_within(offered) / questions.counts)[questions.owner],
    ]
    # ranks by length came after a look at EgoSchema: its row in docs/blind-evidence.md is no clean
    # test
    orders = (
        questions.position,
        length_ranks(questions),
        number_ranks(questions),
        alphabet_ranks(questions),
    )
    ranks = np.arange(min(int(questions.counts.max()), PLACES))
    for order in orders:
        columns.extend(order == ranks[:, None])
    dense = np.stack(columns, axis=1).astype(float)
    return _of_one_spread(dense)


def _of_one_spread(
    columns: Float[np.ndarray, "option column"],
) -> Float[np.ndarray, "option column"]:
    # one penalty for all columns asks for one scale
    spread = columns.std(axis=0)
    return np.asarray(columns / np.where(spread > 0, spread, 1.0))


def _is_most(questions: Questions, values: PerOption) -> PerOption:
    most = questions.most_within(values)
    # shares of words are sums: equal ones differ in their last bits
    is_most = values >= most[questions.owner] - 1e-9
    return np.asarray(is_most, dtype=float)


def _within_kinds(
    dense: Float[np.ndarray, "option feature"], kind: np.ndarray
) -> sparse.csr_array:
    """The same columns once more for each kind."""
    options, features = dense.shape
    shape = (options, (int(kind.max()) + 1) * features)
    rows, columns = np.nonzero(dense)
    entries = (0.5 * dense[rows, columns], (rows, kind[rows] * features + columns))
    return sparse.csr_array(entries, shape=shape)


def out_of_fold(
    questions: Questions,
    features: OptionFeatures,
    fold: OneAQuestion,
    right: OneAQuestion | None = None,
) -> PerOption:
    """The probability of every option, from a model that saw no question of its fold."""
    right = questions.right if right is None else right
    probability = np.zeros(len(questions.owner))
    for number in np.unique(fold).tolist():
        training = fold != number
        prior = cross_fitted_prior(questions, features, fold, right, number)
        columns = Columns(features, prior)
        weights = fit(questions, columns, right, training)
        tested = ~training[questions.owner]
        probability[tested] = questions.softmax(columns.scores(weights))[tested]
    return probability


def cross_fitted_prior(
    questions: Questions,
    features: OptionFeatures,
    fold: OneAQuestion,
    right: OneAQuestion,
    number: int,
) -> PerOption:
    """The answer prior for fold `number`: of all other folds, and for each of these of the rest.

    A training question whose own answer were in its prior would teach the model to trust it.
    """
    training = fold != number
    prior = learned_strength(questions, features.text, right, training)
    for inner in np.unique(fold[training]).tolist():
        others = training & (fold != inner)
        # inner folds are whole videos as well: a video's other questions tell its answer
        own = learned_strength(questions, features.text, right, others)
        place = (fold == inner)[questions.owner]
        prior[place] = own[place]
    return prior


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the features, and one more that changes from fold to fold.

    Apart, for the matrix of a hundred thousand questions is copied for no fold.
    """

    features: OptionFeatures
    prior: PerOption

    @property
    def steps(self) -> Weights:
        """How far to go along each column: shorter where the loss bends more."""
        # the prior has the scale of a logit
        # a quarter: the most that p * (1 - p) can be
        bends = np.append(self.features.curvature, self.prior @ self.prior / 4)
        return np.sqrt(PENALTY / (PENALTY + bends))

    def scores(self, weights: Weights) -> PerOption:
        """The weighted sum of each option."""
        return np.asarray(
            self.features.matrix @ weights[:-1] + weights[-1] * self.prior
        )

    def sums(self, values: PerOption) -> Weights:
        """The sum of each column, its options weighted."""
        return np.append(self.features.matrix.T @ values, self.prior @ values)


def fit(
    questions: Questions,
    columns: Columns,
    right: OneAQuestion,
    training: np.ndarray,
) -> Weights:
    """Weights of least penalised loss over the training questions.

    By L-BFGS (Liu and Nocedal, 1989), scaled by the diagonal of the Hessian: words of two questions
    and columns of all are then as long, and a quarter of the steps suffices.
    """
    scale = columns.steps
    counted = training[questions.owner]
    target = questions.is_right(right)
    is_target = counted & (target > 0)

    def loss(scaled: Weights) -> tuple[float, Weights]:
        weights = scale * scaled
        scores = columns.scores(weights)
        # exp would overflow
        shifted = scores - questions.most_within(scores)[questions.owner]
        powers = np.exp(shifted)
        sums = questions.sum_within(powers)
        log_likelihood = shifted[is_target].sum() - np.log(sums[training]).sum()
        # questions that are not learned from have no say
        excess = np.where(counted, powers / sums[questions.owner] - target, 0.0)
        gradient = columns.sums(excess) + PENALTY * weights
        return float(
            PENALTY * (weights @ weights) / 2 - log_likelihood
        ), scale * gradient

    found = optimize.minimize(
        loss,
        np.zeros(len(scale)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "ftol": CLOSE},
    )
    return np.asarray(scale * found.x)
