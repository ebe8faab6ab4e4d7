"""How far two lists of proposals agree."""

from collections.abc import Sequence

from cuescope.capabilities import SentenceEncoder

THRESHOLDS = (0.8, 0.6)


def proposal_agreement(
    first: Sequence[str],
    second: Sequence[str],
    encoder: SentenceEncoder,
    thresholds: Sequence[float] = THRESHOLDS,
) -> dict[float, float | None]:
    """Proposal similarity (SpurLens, appendix E): the share of `second` that `first` has too.

    A cue of `second` is had where its best cosine with a cue of `first` is the threshold or more:
    by the higher one, nearly the same thing; by the lower, one closely related. It is no symmetric
    measure. None where `second` is empty; 0 where only `first` is. The figures of the two
    thresholds are lost from the text of the paper; 0.8 and 0.6 are ours.
    """
    if not second:
        return dict.fromkeys(thresholds)
    if not first:
        return dict.fromkeys(thresholds, 0.0)
    cosines = encoder.encode(second) @ encoder.encode(first).T
    best = cosines.max(axis=1)
    return {threshold: float((best >= threshold).mean()) for threshold in thresholds}
