"""What a run calls a feature of another run: "cluster-01" of two runs may be two things."""

from collections.abc import Mapping, Sequence, Set

from cuescope_sdk import Feature, UserError
from cuescope_sdk.statistics import SAME_CUE, Overlap


def keys_of_same(
    before: Sequence[Feature],
    after: Sequence[Feature],
    texts: Sequence[str],
    labels: Mapping[str, str | None],
) -> list[str]:
    """For each KEY or KEY@LABEL of one run, that of the same feature in another.

    It is the same by the frames that both list (`Overlap.dice`); with a LABEL by those of its
    samples, which are what the finding is about: clusters part a cue by what else is there.
    `labels` are those of the samples of the other run, where it has answers. A feature without
    frames is known by its key alone.

    Raises UserError where the other run has none.
    """
    known = {feature.key: feature for feature in before}
    keys = []
    for text in texts:
        key, at, label = text.rpartition("@")
        # a key may have an @ of its own
        if text in known or not at:
            key, at, label = text, "", ""
        # an unknown one is told by the method, beside those that there are
        if key in known:
            of_label = {sample for sample in labels if labels[sample] == label}
            both = _samples(before) & _samples(after)
            key = _key_of(known[key], after, both & of_label or both)
        keys.append(f"{key}{at}{label}")
    return keys


def _key_of(feature: Feature, after: Sequence[Feature], samples: Set[str]) -> str:
    if not feature.occurrences:
        return feature.key
    # by frames alone: several clusters may have one name, a background or a guess
    frames = _frames(feature)
    shares = {
        other.key: Overlap.dice(frames, _frames(other), samples)
        for other in after
        if other.kind == feature.kind
    }
    best = max(shares, key=lambda key: shares[key], default=None)
    if best is None or shares[best] < SAME_CUE:
        raise UserError(
            f"'{feature.key}' is not found again on the part of the data that is for finding",
            expected="a feature in half or more of the same frames",
            remedy="Audit with --part 1/2, and confirm a feature of that run",
        )
    return best


def _frames(feature: Feature) -> set[tuple[str, int]]:
    """(sample, frame); -1 for all frames of a sample."""
    return {
        (shown.sample, -1 if shown.frame is None else shown.frame)
        for shown in feature.occurrences
    }


def _samples(features: Sequence[Feature]) -> set[str]:
    """The samples in which anything was seen."""
    return {sample for feature in features for sample, _ in _frames(feature)}
