"""Cues that somebody names: recognised by their words, tested, and told to who names more."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from cuescope_hypotheses.options import HypothesesOptions
from cuescope_sdk import Audit, DataNeeds, Requirements
from cuescope_sdk.association import Candidate, CandidateMethod, Known


class Hypotheses(CandidateMethod):
    """Tests what a proposer names as causes of errors, in rounds that learn from one another."""

    title = "Hypotheses: named things that correlate with errors"
    sees: ClassVar[Literal["images", "embeddings"]] = "embeddings"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}),
        tools=frozenset({"proposer"}),
        may_use=frozenset({"embedder"}),
        labels=2,
    )
    finds = "Things that a language model or a word list names, and with which answers are wrong."
    data_needs = DataNeeds(
        least=20,
        enough=120,
        enough_for="a thing in a quarter of a label's samples that costs it 70 points of accuracy",
        choices=2,
    )
    Options = HypothesesOptions
    options: HypothesesOptions

    def candidates(self, audit: Audit, known: Known) -> Iterable[Candidate]:
        """Yield all that was named, by how strongly it goes with an answer."""
        # imported as it runs: a list of plugins must not pay for scipy
        from cuescope_hypotheses.rounds import Rounds
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "hypotheses")
        return Rounds.of(audit, known, self.options).search()


__all__ = ["Hypotheses"]
