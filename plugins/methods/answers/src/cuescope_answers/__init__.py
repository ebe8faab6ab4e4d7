"""What answers alone tell: options that a model prefers, and questions that it fails together."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_answers.options import AnswersOptions
from cuescope_sdk import (
    Audit,
    Capabilities,
    DataNeeds,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    hookimpl,
)


class Answers(Plugin):
    """Asks each sample once, as it is; so recorded answers are enough."""

    title = "Answers: what a model prefers, and what it fails together"
    finds = (
        "Places, lengths and words that a model prefers as answers; words, data columns and "
        "confusable labels that correlate with its errors. Recorded answers are enough."
    )
    # text is all that open questions have; logits are asked for where there are choices
    requires = Requirements(
        outputs=frozenset(), may_use=frozenset({"embedder"}), labels=0
    )
    reads_recorded = True
    data_needs = DataNeeds(
        each="data set",
        least=20,
        enough=1000,
        enough_for="a word in a tenth of the questions that costs 20 points of accuracy",
    )
    no_effect = 0.0
    metrics = (
        Metric(
            name="points",
            title="Points",
            meaning="of a preference: how much more often it is chosen than by a model as accurate "
            "whose errors go to all options alike; of anything else: accuracy without it minus "
            "accuracy with it (-1 to 1)",
            unit="proportion",
            accuracy_cost=True,
        ),
    )
    Options = AnswersOptions
    options: AnswersOptions

    @staticmethod
    def refuses(capabilities: Capabilities) -> str | None:
        """Why a model cannot be audited: what it gives where it answers nothing."""
        if {"logits", "text"} & capabilities.outputs:
            return None
        return " and ".join(sorted(capabilities.outputs)) or "no answers"

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature a preference, and one a word, value or cluster."""
        # late: scikit-learn is not loaded to list plugins (docs/adr/0002)
        from cuescope_answers.report import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "answers")
        yield from features(audit)

    @hookimpl
    def perturb(self, audit: Audit) -> Iterable[Outcome]:
        """Nothing more: proposing asked every sample."""
        from cuescope_answers.trials import ask

        return audit.once(ask, audit)

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """What each preference and each word is worth."""
        from cuescope_answers.report import findings, scores

        for found in findings(audit):
            audit.attach(found)
        return list(scores(audit))

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Independence, and what else may explain a finding."""
        from cuescope_answers.verify import evidence

        if audit.options is self.options:  # else another method's audit
            yield from evidence(audit, scores)


__all__ = ["Answers", "AnswersOptions"]
