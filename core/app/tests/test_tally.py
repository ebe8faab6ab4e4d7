"""How often the model is right, and what guessing gives."""

from dataclasses import replace

import numpy as np

from cuescope.report.tally import Tally
from cuescope_core.auditing import Audit
from cuescope_core.context import Context
from cuescope_core.types import Outcome, Response, Sample, Trial


def answer(key: str, label: str, given: int) -> Outcome:
    sample = Sample(key=key, frames=(), choices=("a", "b", "c", "d"), label=label)
    return Outcome(
        Trial(sample=sample), Response(logits=np.eye(4, dtype=np.float32)[given])
    )


def test_guessing_gives_the_commonest_answer() -> None:
    answers = [
        answer("1", "a", 0),
        answer("2", "a", 1),
        answer("3", "a", 0),
        answer("4", "b", 1),
    ]
    tally, samples = Tally(), tuple(each.trial.sample for each in answers)
    tally.audit_started(
        Audit(labels=(), options=None, respond=list, context=Context(), samples=samples)
    )
    other = answer("elsewhere", "a", 0)
    unlabelled = replace(answers[0].trial.sample, label=None)
    unmarked = Outcome(Trial(sample=unlabelled), Response(text="a"))
    tally.answered([*answers, *answers, other, unmarked])
    known = tally.accuracy
    assert known is not None
    assert (known.correct, known.answered, known.chance) == (3, 4, 0.75)
    assert Tally().accuracy is None
