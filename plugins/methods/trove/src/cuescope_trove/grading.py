"""How well a ranking of frames shows a planted cue, and whether the cue is worth ranking for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk import Report
from cuescope_sdk.maths import precision_at_k, r_precision, rank_frames
from cuescope_trove.scoring import Observed

KS = (10, 25, 100)
METRICS = (*(f"P@{k}" for k in KS), "R-Prec")
RANDOM_DRAWS = 20


@dataclass(frozen=True)
class Frames:
    """Every frame of a data set, in the order of a report's features and their occurrences."""

    shows_cue: Bool[np.ndarray, " frame"]
    in_sequence_with_cue: Bool[np.ndarray, " frame"]
    cluster: Int[np.ndarray, " frame"]
    strength: Float[np.ndarray, " frame"]
    confidence: Float[np.ndarray, " frame"]

    @classmethod
    def of(cls, report: Report, observed: Observed, shown: Mapping[str, np.ndarray]) -> "Frames":
        """`shown` maps a sample's key to the presence of the cue in each of its frames."""
        places = [place for feature in report.features for place in feature.occurrences]
        return cls(
            shows_cue=np.array([shown[place.sample][place.frame or 0] for place in places]),
            in_sequence_with_cue=np.array([shown[place.sample].any() for place in places]),
            cluster=observed.frame_cluster,
            strength=np.array([place.strength for place in places]),
            confidence=observed.frame_static.max(axis=1),
        )


@dataclass(frozen=True)
class Gaps:
    """Accuracy on a label without the cue minus with it: of still frames, and of sequences."""

    label: str
    image: float
    sequence: float


def gaps_by_label(observed: Observed, frames: Frames, labels: Sequence[str]) -> list[Gaps]:
    """The gaps of each label that occurs with and without the cue (appendix A)."""
    image_right = observed.frame_static.argmax(axis=1) == observed.label[observed.frame_sample]
    with_cue = np.zeros(len(observed.label), dtype=bool)
    with_cue[observed.frame_sample[frames.in_sequence_with_cue]] = True
    found = []
    for index, label in enumerate(labels):
        of_label = observed.label == index
        image = _gap(image_right, frames.shows_cue, of_label[observed.frame_sample])
        sequence = _gap(observed.correct, with_cue, of_label)
        if image is not None and sequence is not None:
            found.append(Gaps(label, image, sequence))
    return found


def grades(
    report: Report, frames: Frames, label: str, rng: np.random.Generator
) -> dict[str, tuple[float | None, ...]]:
    """Precision at each K and R-Precision of four rankings for a label (Tables 1 and 3)."""
    by_confidence = np.argsort(-frames.confidence, kind="stable")
    shuffles = [rng.permutation(len(frames.shows_cue)) for _ in range(RANDOM_DRAWS)]
    random = np.array([_grade(frames.shows_cue[order]) for order in shuffles], dtype=float)
    return {
        "Random": tuple(random.mean(axis=0)),
        "Confidence": _grade(frames.shows_cue[by_confidence]),
        "Static bias alone": _grade(_ranked(report, frames, label, "static_bias")),
        "TRoVe": _grade(_ranked(report, frames, label, "trove_score")),
    }


def _ranked(report: Report, frames: Frames, label: str, metric: str) -> Bool[np.ndarray, " rank"]:
    """Presence of the cue along the ranking: clusters by score, then frames by strength."""
    place = {feature.key: index for index, feature in enumerate(report.features)}
    by_cluster = np.full(len(place), -np.inf)
    for score in report.scores:
        if score.metric == metric and score.label == label and score.value is not None:
            by_cluster[place[score.feature]] = score.value
    order = rank_frames(frames.cluster, frames.strength, by_cluster)
    return np.asarray(frames.shows_cue[order])


def _grade(relevant: Bool[np.ndarray, " rank"]) -> tuple[float | None, ...]:
    return (*(precision_at_k(relevant, k) for k in KS), r_precision(relevant))


def _gap(
    right: Bool[np.ndarray, " item"],
    cue: Bool[np.ndarray, " item"],
    of_label: Bool[np.ndarray, " item"],
) -> float | None:
    with_cue, without = right[of_label & cue], right[of_label & ~cue]
    return float(without.mean() - with_cue.mean()) if with_cue.size and without.size else None
