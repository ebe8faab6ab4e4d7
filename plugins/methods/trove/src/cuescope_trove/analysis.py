"""The audit's numbers: answers as arrays, the pairs with their tests, and their intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy import sparse

from cuescope_sdk import Audit, Feature
from cuescope_sdk.maths import softmax
from cuescope_sdk.statistics import Estimate, Groups
from cuescope_sdk.stills import Answers
from cuescope_trove.candidates.correction import two_sided
from cuescope_trove.candidates.directions import directions_of
from cuescope_trove.candidates.distinct import Distinct, weighed
from cuescope_trove.candidates.foretold import SEEN, AnswerTest, Foreteller, foretell
from cuescope_trove.candidates.groups import FORETOLD, Candidates
from cuescope_trove.maths.calibration import cross_fitted_temperatures
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, PerSample, among_top, bias_limits
from cuescope_trove.selection import (
    ScoredPairs,
    Verdict,
    discovery_part,
    ranking,
    score,
)
from cuescope_trove.trials import Choice, choose_candidates

CALIBRATION = "calibration"  # names the random halves on which temperatures are fitted


@dataclass(frozen=True, eq=False)
class Analysis:
    """All sequences, the part in which cues were looked for, and what the pairs came to.

    `choice` are the candidates that were tried, `table` all their pairs. `chosen` are the numbers
    of those shown, `shown` their pairs, in the order of the report's features. `foretold` are the
    tests of candidates that were learned from answers.
    """

    choice: Choice
    observations: Observations
    part: np.ndarray | None
    table: ScoredPairs
    distinct: Distinct
    chosen: Sequence[int]
    shown: ScoredPairs
    foretold: Sequence[AnswerTest] = ()

    @property
    def candidates(self) -> Candidates:
        """Those shown."""
        return self.choice.candidates.take(self.chosen)


@dataclass(frozen=True)
class PairRow:
    """What a report says of a cluster (`feature`) and a label.

    `gap` is the error contribution, `bias` the static bias over `n_frames`, `score` their sum; both
    None where no frame tells of the bias. The p-values are None where the pair was not tested.
    `starts` counts the starts of the clustering in which the same thing is reported for the label,
    and `by_pictures` is what was learned from the pictures of wrong answers.
    `answer` is the most common wrong answer, of `share` of the errors, which `taken_with` and
    `taken_without` of the label's sequences get; `confidence` is how sure a still frame is of it.
    The others are as in `ScoredPairs`.
    """

    feature: str
    label: str
    n: int
    n_frames: int
    gap: Estimate[float]
    bias: Estimate[float] | None
    score: Estimate[float] | None
    accuracy_with: float
    accuracy_without: float
    p_value: float | None
    q_value: float | None
    verdict: Verdict
    retest: float
    suspects: int
    first_gap: float | None
    starts: int
    by_pictures: bool
    answer: str
    share: float
    taken_with: float
    taken_without: float
    confidence: float


def analyse(audit: Audit, options: TRoVeOptions) -> Analysis:
    """The audit's numbers; for `audit.once`, so that each hook finds what another worked out."""
    answers = audit.once(Answers.ask, audit)
    observations, _ = audit.once(observe, audit, options.top_k, CALIBRATION)
    part = discovery_part(observations, options.discover, audit.rng("discover"))
    choice = choose_candidates(
        audit, options, answers.embedding, observations.frame_label
    )
    tests: Sequence[AnswerTest] = ()
    foreteller: Foreteller | None = None
    # of so many samples that they are two parts, clusters tell
    if options.by_pictures and not options.paper and part is None:
        with audit.spare("what pictures share that get one wrong answer"):
            learned, tests, foreteller = foretell(
                audit, options, observations, len(choice.candidates)
            )
            choice = replace(
                choice, candidates=Candidates.join([choice.candidates, learned])
            )
    candidates = choice.candidates
    observations = replace(
        observations, member=candidates.member, tails=candidates.tails
    )
    table = score(observations, options, audit.rng("permutation"), part, tests)
    directions = directions_of(observations, answers.embedding)
    distinct = Distinct(candidates, table, directions)
    # few samples tell no looks, and what two parts agree on seldom is one
    if not options.paper and part is None and len(observations.label) > SEEN:
        table = weighed(table, foreteller)
        distinct = replace(distinct, table=table).led_by_pictures()
        table = distinct.table
    most = options.k_max * len(audit.labels)
    chosen = distinct.every() if options.paper else distinct.choose(most)
    shown = table.of_clusters(chosen) if options.paper else distinct.told_once(chosen)
    return Analysis(
        choice,
        observations,
        part,
        table,
        distinct,
        chosen,
        shown,
        tests,
    )


def observe(
    audit: Audit,
    top_k: int,
    stream: str,
) -> tuple[Observations, PerSample]:
    """The answers as arrays, without clusters, and each sequence's temperature.

    `stream` names the random halves.
    """
    answers = audit.once(Answers.ask, audit)
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    number = {sample.key: index for index, sample in enumerate(samples)}
    frame_sample = np.array([number[sample] for sample, _ in answers.row])
    label = np.array([audit.labels.index(str(sample.label)) for sample in samples])
    logits = Answers.stack_logits(answers.outcomes, audit.labels)
    temperature = cross_fitted_temperatures(logits, label, audit.rng(stream))
    observations = Observations(
        label=label,
        # the best answer, whatever top_k counts as right: eq. 2 is about what was answered
        prediction=logits.argmax(axis=1),
        correct=among_top(logits, label, top_k),
        frame_sample=frame_sample,
        # A still clip takes the temperature of its sequence, which was fitted on other sequences:
        # no answer has a part in its own calibration.
        frame_static=softmax(answers.static_logits, temperature[frame_sample]),
        member=sparse.csr_array((len(frame_sample), 0), dtype=bool),
        groups=Groups.of(samples),
        probability=softmax(logits, temperature),
    )
    return observations, temperature


def pair_rows(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    analysis: Analysis,
) -> Iterator[PairRow]:
    """The pairs that are shown, as they are ranked, with all that is said of each."""
    table = analysis.shown
    pairs = table.pairs
    bounds = pair_intervals(table, options)
    mistake = table.mistake
    values = np.array([pairs.error_contribution, table.bias.value, table.score])
    estimates = np.concatenate([values[:, None], bounds], axis=1)
    p_value = two_sided(table.p_value)
    for pair in ranking(table):
        gap, bias, score = (
            Estimate(*figures) for figures in estimates[..., pair].tolist()
        )
        scored = table.scored[pair]
        tried = table.tried[pair]
        yield PairRow(
            feature=features[pairs.cluster[pair]].key,
            label=audit.labels[pairs.label[pair]],
            n=int(pairs.n_with[pair]),
            n_frames=int(table.bias.n_frames[pair]),
            gap=gap,
            bias=bias if scored else None,
            score=score if scored else None,
            accuracy_with=float(pairs.accuracy_with[pair]),
            accuracy_without=float(pairs.accuracy_without[pair]),
            p_value=float(p_value[pair]) if tried else None,
            q_value=float(table.q_value[pair]) if tried else None,
            verdict=Verdict(table.verdict[pair]),
            retest=float(two_sided(table.retest)[pair]),
            suspects=int(table.suspects[pair]),
            first_gap=None if table.first_gap is None else float(table.first_gap[pair]),
            starts=analysis.distinct.starts_of(
                pairs.label[pair],
                analysis.chosen[pairs.cluster[pair]],
            ),
            by_pictures=bool(
                analysis.candidates.start[pairs.cluster[pair]] == FORETOLD
            ),
            # -1, where nothing is wrong, names the last label: no finding has such a pair
            answer=audit.labels[mistake.prediction[pair]],
            share=float(mistake.share[pair]),
            taken_with=float(mistake.taken_with[pair]),
            taken_without=float(mistake.taken_without[pair]),
            confidence=float(mistake.confidence[pair]),
        )


def pair_intervals(
    table: ScoredPairs, options: TRoVeOptions
) -> Float[np.ndarray, "3 2 pair"]:
    """Low and high end of each pair's error contribution, static bias and TRoVe score."""
    measured = table.observations
    across_labels = options.static_bias == "cluster"
    gap = table.gap_low, table.gap_high
    bias = bias_limits(
        measured, table.pairs, table.confidence, across_labels=across_labels
    )
    # uncorrelated: one part counts wrong answers, the other says how sure the wrong ones are
    static_bias = Estimate(table.bias.value, *bias)
    both = Estimate(table.pairs.error_contribution, *gap).plus(static_bias)
    return np.array([gap, bias, (both.low, both.high)])
