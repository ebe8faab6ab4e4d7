"""Nothing is asked of a model: the questions themselves are what is audited."""

from scipy import sparse

from cuescope_blind.learner import all_columns
from cuescope_blind.learner.meaning import meaning_columns
from cuescope_blind.questions import OneAQuestion, Questions, deal_folds
from cuescope_sdk import Audit, UserError

ENCODER = "sentence-encoder"


def questions_of(audit: Audit) -> Questions:
    """The questions of an audit; for `audit.once`."""
    return Questions.of(audit.samples)


def folds_of(audit: Audit) -> OneAQuestion:
    """The fold of each question; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    if questions.fold_groups.count < 2:
        raise UserError(
            "blind: every question shares a video or its words with another",
            expected="two videos or more that have no question in common",
            got="one",
        )
    # no more folds than there are videos to deal
    folds = min(audit.options.folds, questions.fold_groups.count)
    # with folds of single questions scenes are remembered: VSI-Bench 48.9% in place of 36.7%
    return deal_folds(questions.fold_groups, folds, audit.rng("folds"))


def columns_of(audit: Audit) -> sparse.csr_array:
    """What the learner sees of every option; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    encoder = audit.tools.get(ENCODER)
    if encoder is None:
        return all_columns(questions)
    return all_columns(questions, meaning_columns(questions, encoder))
