"""What TRoVe asks, and the clusters of what came back (section 3.2, first step)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Feature, Occurrence, Outcome, Output, Sample, Trial, UserError
from cuescope_sdk.maths import Clusters, best_clusters
from cuescope_sdk.tools import NameGuess
from cuescope_trove.options import TRoVeOptions

OUTPUTS: frozenset[Output] = frozenset({"logits", "embedding"})
FrameId = tuple[str, int]  # the key of a sample, and the number of a frame in it


def check(audit: Audit, top_k: int) -> None:
    """Raise UserError where TRoVe cannot work."""
    if top_k >= len(audit.labels):
        raise UserError(
            "trove: with this top_k every answer counts as right",
            expected=f"top_k below the {len(audit.labels)} labels",
            got=str(top_k),
        )
    for sample in audit.samples:
        if sample.label not in audit.labels or set(sample.choices) != set(audit.labels):
            raise UserError(
                "trove needs the same closed label set for all samples, and sample "
                f"'{sample.key}' has another",
                expected=f"a label and the choices {', '.join(audit.labels[:4])} ...",
                got=f"label {sample.label!r}, {len(sample.choices)} choices",
            )


def samples_by_key(audit: Audit) -> list[Sample]:
    """The samples in the order of their keys."""
    # k-means and the halves of the calibration depend on the order, and findings must not.
    return sorted(audit.samples, key=lambda sample: sample.key)


def baseline_trials(
    samples: Iterable[Sample], outputs: frozenset[Output] = OUTPUTS
) -> Iterator[Trial]:
    """The sequences as they are."""
    return (Trial(sample=sample, outputs=outputs) for sample in samples)


@dataclass(frozen=True, eq=False)
class Answers:
    """The model's answers to the sequences, and to every frame of them held still.

    `row` says which row of `stills`, `embedding` (still, dim) and `static_logits` (still, class) a
    frame has.
    """

    outcomes: Sequence[Outcome]
    stills: Sequence[Outcome]
    row: Mapping[FrameId, int]
    embedding: np.ndarray
    static_logits: np.ndarray


def ask(audit: Audit) -> Answers:
    """The sequences, and each frame repeated to the length of its sequence (section 3.2).

    For `audit.once`: the clusters need the embeddings of all still clips, so proposing asks all
    that TRoVe ever asks, and the other hooks find it here.
    """
    samples = samples_by_key(audit)
    frames = [(sample, frame) for sample in samples for frame in range(len(sample.frames))]
    stills = (
        Trial(sample=sample.static(frame), condition="static", outputs=OUTPUTS)
        for sample, frame in frames
    )
    audit.expect_more(0)
    # In one go: the batches are full, and a plan, which ends at its first question, counts all.
    outcomes = audit.respond(chain(baseline_trials(samples), stills))
    still_outcomes = outcomes[len(samples) :]
    return Answers(
        outcomes=outcomes[: len(samples)],
        stills=still_outcomes,
        row={(sample.key, frame): row for row, (sample, frame) in enumerate(frames)},
        embedding=np.stack([np.asarray(outcome.response.embedding) for outcome in still_outcomes]),
        static_logits=stack_logits(still_outcomes, audit.labels),
    )


@dataclass(frozen=True, eq=False)
class ClusterChoice:
    """The clusters, the mean silhouette of each number that was tried, and the numbers wanted."""

    clusters: Clusters
    silhouettes: Mapping[int, float]
    wanted: Sequence[int]


def cluster(audit: Audit, options: TRoVeOptions, answers: Answers) -> ClusterChoice:
    """Spherical k-means of the still clips, the number of clusters chosen by silhouette."""
    wanted = sweep(len(audit.labels), options.k_min, options.k_max, options.step)
    counts = feasible(wanted, len(answers.row))
    with audit.context.progress("clustering", len(counts)) as advance:
        clusters, silhouettes = best_clusters(
            answers.embedding, counts, audit.derive_seed("kmeans"), advance
        )
    return ClusterChoice(clusters, silhouettes, wanted)


def sweep(labels: int, k_min: int, k_max: int, step: int | None) -> list[int]:
    """Numbers of clusters to try: [k_min * |Y|, k_max * |Y|] by `step`, |Y| unless given."""
    return list(range(k_min * labels, k_max * labels + 1, step or labels))


def feasible(counts: Sequence[int], points: int) -> list[int]:
    """The counts that leave at least one cluster with two points."""
    # With a point a cluster every silhouette is 0, and nothing would recur that could be scored.
    return sorted({min(count, max(points - 1, 1)) for count in counts})


def cluster_features(
    clusters: Clusters, frames: Sequence[FrameId], guesses: Sequence[NameGuess | None] = ()
) -> Iterator[Feature]:
    """A feature a cluster, the largest first; the frame nearest to the centroid stands for it.

    Behind its key a name that was guessed says what it looks like.
    """
    digits = max(2, len(str(clusters.count - 1)))
    order = np.lexsort((-clusters.strength, clusters.cluster))  # by cluster, strongest first
    ends = np.cumsum(np.bincount(clusters.cluster, minlength=clusters.count))
    for number, members in enumerate(np.split(order, ends[:-1])):
        key, guess = f"cluster-{number:0{digits}d}", guesses[number] if guesses else None
        yield Feature(
            key=key,
            name=None if guess is None else f"{key}, looks like: {guess}",
            kind="cluster",
            occurrences=tuple(
                Occurrence(
                    sample=frames[member][0],
                    frame=frames[member][1],
                    strength=float(clusters.strength[member]),
                )
                for member in members.tolist()
            ),
        )


def stack_logits(
    outcomes: Sequence[Outcome], labels: tuple[str, ...]
) -> Float[np.ndarray, "outcome class"]:
    """Logits with one column a label, whatever the order of each sample's choices."""
    columns: dict[tuple[str, ...], list[int]] = {}
    rows = []
    for outcome in outcomes:
        choices, logits = outcome.trial.sample.choices, outcome.response.logits
        if logits is None:
            raise ValueError(f"no logits for sample {outcome.trial.sample.key}")
        if choices not in columns:  # a question may list the same labels in an order of its own
            columns[choices] = [choices.index(label) for label in labels]
        rows.append(logits[columns[choices]])
    return np.stack(rows) if rows else np.empty((0, len(labels)), dtype=np.float32)
