"""How often the model is right before anything is changed: the first thing to know of an audit."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuescope_core.conclusions import Accuracy, Finding, Impact, Report
from cuescope_core.hookspecs import hookimpl
from cuescope_core.types import Outcome

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit


class Tally:
    """Observes an audit and counts right answers to samples as they are, each once."""

    def __init__(self) -> None:
        self._samples: frozenset[str] = frozenset()
        self._marks: dict[tuple[str, int], tuple[bool, float, str]] = {}

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Which samples are as they are: others were made from them."""
        self._samples = frozenset(sample.key for sample in audit.samples)

    @hookimpl
    def answered(self, outcomes: Sequence[Outcome]) -> None:
        """Count the answers among choices, without an edit."""
        # of answers that pass anyway: nothing more is asked for it (docs/adr/0016)
        for outcome in outcomes:
            trial = outcome.trial
            sample = trial.sample
            changed = trial.edit is not None or sample.key not in self._samples
            if not (changed or outcome.response.logits is None or sample.label is None):
                mark = outcome.correct(), 1 / len(sample.choices), sample.label
                # a sample may be asked several things, and a method may ask again
                self._marks.setdefault((sample.key, hash(sample.question)), mark)

    @property
    def accuracy(self) -> Accuracy | None:
        """None where no answer could be marked. Who guesses best gives the commonest answer."""
        if not (answered := len(self._marks)):
            return None
        right, shares, labels = zip(*self._marks.values(), strict=True)
        chance = max(sum(shares), max(Counter(labels).values())) / answered
        return Accuracy(correct=sum(right), answered=answered, chance=chance)

    def with_impacts(self, report: Report) -> tuple[Finding, ...]:
        """The cues of a report; one without an impact has that of the errors that show it."""
        wrong = [key for (key, _), mark in self._marks.items() if not mark[0]]
        places = {feature.key: feature.occurrences for feature in report.features}
        cues = []
        for cue in report.cues:
            shown = {occurrence.sample for occurrence in places[cue.feature]}
            if cue.impact is None and shown and wrong:
                impact = Impact(
                    count=sum(key in shown for key in wrong),
                    total=len(wrong),
                    detail="in samples that show the cue",
                )
                cue = cue.model_copy(update={"impact": impact})
            cues.append(cue)
        return tuple(cues)
