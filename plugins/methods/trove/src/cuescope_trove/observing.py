"""From samples to still clips, and from outcomes to arrays."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk import Audit, Feature, Outcome, Output, Sample, Trial, UserError
from cuescope_sdk.maths import cross_fitted_temperatures, softmax
from cuescope_trove.scoring import Observed

OUTPUTS: frozenset[Output] = frozenset({"logits", "embedding"})


def sequences(audit: Audit, top_k: int) -> list[Sample]:
    """The samples by key; raises UserError where TRoVe cannot work."""
    if top_k >= len(audit.labels):
        raise UserError(
            "trove: with this top_k every answer counts as right",
            expected=f"top_k below the {len(audit.labels)} labels",
            got=str(top_k),
        )
    for sample in audit.samples:
        if sample.label not in audit.labels or set(sample.choices) != set(audit.labels):
            raise UserError(
                f"trove needs one closed label set, and sample '{sample.key}' leaves it",
                expected=f"a label and the choices {', '.join(audit.labels[:4])} ...",
                got=f"label {sample.label!r}, {len(sample.choices)} choices",
            )
    return by_key(audit)


def by_key(audit: Audit) -> list[Sample]:
    """The samples in an order that the data set's own has no part in."""
    return sorted(audit.samples, key=lambda sample: sample.key)


def baseline_trials(
    samples: Iterable[Sample], outputs: frozenset[Output] = OUTPUTS
) -> Iterator[Trial]:
    """The sequences as they are."""
    return (Trial(sample=sample, outputs=outputs) for sample in samples)


def static_trial(sample: Sample, frame: int, feature: str | None = None) -> Trial:
    """One frame, repeated to the sequence's length (section 3.2)."""
    return Trial(sample=sample.static(frame), condition="static", feature=feature, outputs=OUTPUTS)


def trials(audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
    """The sequences by key, then a still clip for each occurrence of each feature."""
    yield from baseline_trials(by_key(audit))
    samples = {sample.key: sample for sample in audit.samples}
    for feature in features:
        for occurrence in feature.occurrences:
            yield static_trial(samples[occurrence.sample], occurrence.frame or 0, feature.key)


def stacked_logits(
    outcomes: Sequence[Outcome], labels: tuple[str, ...]
) -> Float[np.ndarray, "outcome class"]:
    """Logits with one column a label, whatever the order of each sample's choices."""
    columns: dict[tuple[str, ...], list[int]] = {}
    rows = []
    for outcome in outcomes:
        choices, logits = outcome.trial.sample.choices, outcome.response.logits
        if logits is None:
            raise ValueError(f"no logits for sample {outcome.trial.sample.key}")
        if choices not in columns:
            columns[choices] = [choices.index(label) for label in labels]
        rows.append(logits[columns[choices]])
    return np.stack(rows) if rows else np.empty((0, len(labels)), dtype=np.float32)


def among_top(
    logits: Float[np.ndarray, "sample class"], label: Int[np.ndarray, " sample"], top_k: int
) -> Bool[np.ndarray, " sample"]:
    """Whether the label is among the `top_k` highest logits; ties go to the lower class."""
    best = np.argsort(-logits, axis=1, kind="stable")[:, :top_k]
    return np.asarray((best == label[:, None]).any(axis=1))


def observe(
    samples: Sequence[Sample],
    features: Sequence[Feature],
    outcomes: Sequence[Outcome],
    labels: tuple[str, ...],
    top_k: int,
    rng: np.random.Generator,
) -> tuple[Observed, Float[np.ndarray, " sample"]]:
    """Arrays from the outcomes of `perturb`, and each sequence's temperature.

    The outcomes are the samples' own, then one for each occurrence of each feature. A still clip
    takes the temperature of its sequence, which was fitted on other sequences.
    """
    logits = stacked_logits(outcomes[: len(samples)], labels)
    static = stacked_logits(outcomes[len(samples) :], labels)
    place = {sample.key: index for index, sample in enumerate(samples)}
    where = [
        (place[occurrence.sample], cluster)
        for cluster, feature in enumerate(features)
        for occurrence in feature.occurrences
    ]
    frame_sample, frame_cluster = np.array(where, dtype=np.int64).reshape(-1, 2).T
    label = np.array([labels.index(str(sample.label)) for sample in samples])
    temperature = cross_fitted_temperatures(logits, label, rng)
    observed = Observed(
        label=label,
        prediction=logits.argmax(axis=1),
        correct=among_top(logits, label, top_k),
        frame_sample=frame_sample,
        frame_cluster=frame_cluster,
        frame_static=softmax(static, temperature[frame_sample]),
    )
    return observed, temperature
