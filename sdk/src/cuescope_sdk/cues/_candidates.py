"""Which of the cues that were found a few samples speak of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_core.auditing import Audit
from cuescope_core.conclusions import Report
from cuescope_sdk.cues._embedded import Embedded
from cuescope_sdk.cues._learning import IntPerSample, learn
from cuescope_sdk.cues._recognition import WRONGLY_TOLD
from cuescope_sdk.statistics import TwoGroups, recognise

PerSample = Float[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cue that was found, and how likely each sample shows it; the `answer` that it draws."""

    name: str
    probability: PerSample
    answer: str | None = None

    def log_likelihood(self, shows: IntPerSample) -> float:
        """Log-likelihood of what was told of samples: 1 with the cue, 0 without it, -1 nothing."""
        known = shows >= 0
        shown = self.probability[known]
        # who tells errs as well
        shown = shown * (1 - WRONGLY_TOLD) + (1 - shown) * WRONGLY_TOLD
        return float(np.log(np.where(shows[known] == 1, shown, 1 - shown)).sum())


def choose_candidate(
    candidates: Sequence[Candidate], shows: IntPerSample
) -> tuple[Candidate | None, float]:
    """The likeliest candidate, with its posterior probability; None where none is meant.

    Each of them, and that none is, is as likely before; where none is, an answer is even odds.
    """
    logs = [np.log(0.5) * float((shows >= 0).sum())]
    logs += [candidate.log_likelihood(shows) for candidate in candidates]
    posterior = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    best = int(np.argmax(posterior))
    chosen = candidates[best - 1] if best else None
    return chosen, float(posterior[best])


def found_features(audit: Audit, data: Embedded, report: Report) -> Iterator[Candidate]:
    """Features that a run found, each recognised in all samples by what is listed of it."""
    features = {feature.key: feature for feature in report.features}
    for key in dict.fromkeys(score.feature for score in report.findings):
        listed = data.listed([seen.sample for seen in features[key].occurrences])
        if not listed.any() or listed.all():
            continue
        name = report.names[key]
        yield _of_listed(audit, data, name, listed)


def drawing_answers(audit: Audit, data: Embedded) -> Iterator[Candidate]:
    """Candidates shared by samples of an answer, for each that samples wrongly get."""
    prediction = np.array(data.prediction, dtype=object)
    labels = len(data.labels)
    for answer in common_wrong_answers(data):
        given = prediction == answer
        rng = audit.rng("cue candidates", answer)
        found = recognise(data.points, data.label, given, labels, data.groups, rng)
        if found is not None:
            yield Candidate(f"what draws '{answer}'", found.probability, answer)


def common_wrong_answers(data: Embedded) -> list[str]:
    """The answers that samples get wrongly, the commonest first."""
    counts: dict[str, int] = {}
    for sample, answer in zip(data.samples, data.prediction, strict=True):
        if answer is not None and answer != sample.label:
            counts[answer] = counts.get(answer, 0) + 1
    return sorted(counts, key=lambda answer: (-counts[answer], answer))


def _of_listed(
    audit: Audit, data: Embedded, name: str, listed: np.ndarray
) -> Candidate:
    rng = audit.rng("cue candidates", name)
    shows = listed.astype(int)
    learned = learn(data.points, data.label, shows, data.groups, rng)
    score = data.points @ learned.direction
    groups = TwoGroups.fit(score, data.label, listed, len(data.labels))
    return Candidate(name, groups.probability(score, data.label))
