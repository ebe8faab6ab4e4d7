"""What of a benchmark is answered without looking: tells in questions and options."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cuescope_blind.options import BlindOptions
from cuescope_sdk import (
    Audit,
    DataNeeds,
    Evidence,
    Feature,
    Metric,
    Plugin,
    Requirements,
    Score,
    Trial,
    hookimpl,
)

if TYPE_CHECKING:
    from cuescope_blind.study import Study


class Blind(Plugin):
    """Answers questions by rules and by a learner that see no pixel, and asks no model.

    Of data that have one set of labels and no questions: tells labels by files and by colours.
    """

    title = "Blind: what is answered without looking"
    finds = "What gives answers away in the questions alone: lengths, places, words, priors."
    # an audit has a model; `none` stands in its place and is asked nothing
    requires = Requirements(outputs=frozenset(), labels=0)
    asks_nothing = True  # `cuescope investigate` runs it first
    data_needs = DataNeeds(
        each="data set",
        least=20,
        enough=400,
        enough_for="a text shortcut of 10 points",
        choices=2,
    )
    no_effect = 0.0
    metrics = (
        Metric(
            name="gain",
            title="Gain",
            meaning="accuracy of answering by the tell, minus chance level (-1 to 1)",
            unit="proportion",
        ),
        Metric(
            name="blind_accuracy",
            title="Blind accuracy",
            meaning="how often the tell is right, on the questions on which it prefers an option",
            unit="proportion",
        ),
    )
    Options = BlindOptions
    options: BlindOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature a tell, and one a tell and kind of question."""
        # late: scipy and scikit-learn are not loaded to list plugins (docs/adr/0002)
        from cuescope_blind.report import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "blind")
        audit.expect_more(0)
        audit.context.stop_plan_before("what learns to do without the pictures")
        yield from features(audit, _study(audit))

    @hookimpl
    def perturb(self) -> Iterable[Trial]:
        """Nothing: no model is asked."""
        return ()

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """Accuracy minus chance of each tell."""
        from cuescope_blind.report import scores

        return list(scores(audit, _study(audit)))

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """The null of redrawn answers."""
        from cuescope_blind.verify import evidence

        if audit.options is self.options:  # else another method's audit
            yield from evidence(audit, _study(audit))


def _study(audit: Audit) -> "Study":
    """What is measured of questions, or of labels where there are none."""
    from cuescope_blind.analysis import question_study
    from cuescope_blind.labels import is_labelled, label_study

    labelled = audit.once(is_labelled, audit.samples)
    return audit.once(label_study if labelled else question_study, audit)


__all__ = ["Blind", "BlindOptions"]
