"""Nothing is asked of a model: the questions themselves are what is audited."""

from scipy import sparse

from cuescope_blind.learner import all_columns
from cuescope_blind.questions import OneAQuestion, Questions, deal_folds
from cuescope_sdk import Audit, UserError


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
    # with folds of single questions scenes are remembered: VSI-Bench 46.1% in place of 37.4%
    return deal_folds(questions.fold_groups, audit.options.folds, audit.rng("folds"))


def columns_of(audit: Audit) -> sparse.csr_array:
    """What the learner sees of every option; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    return all_columns(questions)
