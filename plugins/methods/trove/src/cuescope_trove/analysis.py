"""The audit's numbers: answers as arrays, the pairs with their tests, and their intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from scipy import sparse

from cuescope_sdk import Audit, Feature
from cuescope_sdk.maths import normalise, softmax, spherical_kmeans
from cuescope_sdk.statistics import Estimate, Groups
from cuescope_sdk.stills import Answers
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.cues import Cue, candidates_of, recognise_cues
from cuescope_trove.maths.calibration import cross_fitted_temperatures
from cuescope_trove.maths.clustering import Clusters
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, PerSample, among_top, bias_limits
from cuescope_trove.selection import (
    ScoredPairs,
    describe_clusters,
    ranking,
    score_clusters,
    score_cues,
)
from cuescope_trove.trials import Clustering, choose_clusters

CALIBRATION = "calibration"  # names the random halves on which temperatures are fitted


@dataclass(frozen=True, eq=False)
class Analysis:
    """The candidates that are shown, and what their pairs came to; so many `tests` were made.

    `cues` are the first candidates, in this order, and the others are clusters of frames that show
    none that was found; in the paper's way there are no cues, and a `clustering`.
    """

    candidates: Candidates
    observations: Observations
    table: ScoredPairs
    tests: int
    cues: Sequence[Cue] = field(default_factory=list)
    clustering: Clustering | None = None


@dataclass(frozen=True)
class PairRow:
    """What a report says of a candidate (`feature`) and a label.

    `gap` is the accuracy lost, `bias` the static bias over `n_frames`, `score` their sum; both
    None where no frame tells of the bias. `n` sequences of the label show it.
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
    is_finding: bool
    answer: str
    share: float
    taken_with: float
    taken_without: float
    confidence: float


def analyse(audit: Audit, options: TRoVeOptions) -> Analysis:
    """The audit's numbers; for `audit.once`, so that each hook finds what another worked out."""
    answers = audit.once(Answers.ask, audit)
    observations, _ = audit.once(observe, audit, options.top_k, CALIBRATION)
    if options.paper:
        clustering = choose_clusters(audit, options, answers.embedding)
        candidates = largest_first(clustering.candidates)
        observations = replace(observations, member=candidates.member)
        table = score_clusters(observations, options, audit.rng("permutation"))
        return Analysis(
            candidates, observations, table, len(table.pairs), clustering=clustering
        )
    cues, tests = recognise_cues(audit, observations, options.fdr)
    shown = candidates_of(cues, observations)
    of_cues = score_cues(replace(observations, member=shown.member), cues, options)
    found = np.unique(of_cues.pairs.cluster[of_cues.finding])
    others = _other_frames(audit, options, shown.take(found.tolist()))
    of_others = describe_clusters(replace(observations, member=others.member), options)
    candidates = Candidates.join([shown, others])
    observations = replace(observations, member=candidates.member)
    table = ScoredPairs.join(observations, [of_cues, of_others])
    return Analysis(candidates, observations, table, tests, cues)


def _other_frames(audit: Audit, options: TRoVeOptions, found: Candidates) -> Candidates:
    """Clusters of the frames that show no cue that was found: what else there is to see.

    As many as the largest of the paper's numbers, and no test of them.
    """
    points = normalise(audit.once(Answers.ask, audit).embedding)
    shows_any = np.asarray(found.member.sum(axis=1)).ravel() > 0
    rest = np.flatnonzero(~shows_any)
    count = min(options.k_max * len(audit.labels), len(rest) - 1)
    if count < 1:
        return Candidates(len(points), [], [])
    seed = audit.derive_seed("other frames")
    clusters = Clusters(*spherical_kmeans(points[rest], count, seed))
    some = largest_first(Candidates.of(clusters))
    return Candidates(
        len(points), [rest[members] for members in some.members], some.strength
    )


def largest_first(candidates: Candidates) -> Candidates:
    """The candidates by the number of their points."""
    return candidates.take(np.argsort(-candidates.sizes, kind="stable").tolist())


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
    )
    return observations, temperature


def pair_rows(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    analysis: Analysis,
) -> Iterator[PairRow]:
    """The pairs, as they are ranked, with all that is said of each."""
    table = analysis.table
    pairs = table.pairs
    mistake = table.mistake
    bounds = pair_intervals(table, options)
    values = np.array([table.gap, table.bias.value, table.score])
    estimates = np.concatenate([values[:, None], bounds], axis=1)
    for pair in ranking(table):
        gap, bias, score = (
            Estimate(*figures) for figures in estimates[..., pair].tolist()
        )
        scored = table.scored[pair]
        cluster = int(pairs.cluster[pair])
        yield PairRow(
            feature=features[cluster].key,
            label=audit.labels[pairs.label[pair]],
            n=int(pairs.n_with[pair]),
            n_frames=int(table.bias.n_frames[pair]),
            gap=gap,
            bias=bias if scored else None,
            score=score if scored else None,
            accuracy_with=float(table.accuracy_with[pair]),
            accuracy_without=float(table.accuracy_without[pair]),
            p_value=_or_none(table.p_value[pair]),
            q_value=_or_none(table.q_value[pair]),
            is_finding=bool(table.finding[pair]),
            # -1, where nothing is wrong, names the last label: no finding has such a pair
            answer=audit.labels[mistake.prediction[pair]],
            share=float(mistake.share[pair]),
            taken_with=float(mistake.taken_with[pair]),
            taken_without=float(mistake.taken_without[pair]),
            confidence=float(mistake.confidence[pair]),
        )


def _or_none(figure: float) -> float | None:
    return None if np.isnan(figure) else float(figure)


def pair_intervals(
    table: ScoredPairs, options: TRoVeOptions
) -> Float[np.ndarray, "3 2 pair"]:
    """Low and high end of each pair's accuracy lost, static bias and TRoVe score."""
    gap = table.gap_low, table.gap_high
    bias = bias_limits(
        table.observations,
        table.pairs,
        options.confidence,
        across_labels=options.static_bias == "cluster",
    )
    # uncorrelated: one part counts wrong answers, the other says how sure the wrong ones are
    static_bias = Estimate(table.bias.value, *bias)
    both = Estimate(table.gap, *gap).plus(static_bias)
    return np.array([gap, bias, (both.low, both.high)])
