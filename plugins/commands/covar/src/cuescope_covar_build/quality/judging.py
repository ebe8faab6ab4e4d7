"""The scores of edited images, and which of the images are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cuescope_covar_build.quality.background import background_scores
from cuescope_covar_build.quality.cases import Case, Scores
from cuescope_covar_build.quality.judges import Judges
from cuescope_covar_build.quality.kept import object_scores
from cuescope_covar_build.quality.measures import MEASURES
from cuescope_covar_build.quality.thresholds import Thresholds
from cuescope_sdk.data import CovarManifest


@dataclass(frozen=True)
class Quality:
    """What is known of an edited image.

    `scores` has a number a check: how far its worst measure is above what is usual of clean images,
    in units; above 1 the image is dropped. None could not be computed. `reason` says why it is
    dropped, "" is an image to keep. `excess` is the largest score, that of the base image if it is
    dropped. `measures` are the amounts of each defect as measured.
    """

    scores: Scores
    reason: str
    excess: float
    measures: Scores


def judge(
    cases: Sequence[Case],
    thresholds: Thresholds,
    judges: Judges | None = None,
) -> list[Quality]:
    """Scores and verdicts, one a case.

    A case whose `base` is the edited image of a dropped case is dropped with it.
    """
    verdicts: dict[str, Quality] = {}
    for case, measures in zip(cases, measure(cases, judges), strict=True):
        verdicts[case.edited.key] = _verdict(case, measures, thresholds)
    # after all verdicts: a base may come later than what was made from it
    qualities = []
    for case in cases:
        quality = verdicts[case.edited.key]
        base = verdicts.get(case.base.key)
        # a fault of its own is the better reason
        if base is not None and base.reason and not quality.reason:
            quality = replace(
                quality,
                reason=f"the image that it was made from: {base.reason}",
                excess=max(quality.excess, base.excess),
            )
        qualities.append(quality)
    return qualities


def measure(cases: Sequence[Case], judges: Judges | None = None) -> Iterator[Scores]:
    """The scores of each case, all names of `MEASURES`; None could not be computed."""
    for view, of_models in (judges or Judges()).scores(cases):
        scores = object_scores(view) | background_scores(view) | of_models
        yield {name: scores.get(name) for name in MEASURES}


def _verdict(case: Case, measures: Scores, thresholds: Thresholds) -> Quality:
    excesses = thresholds.excesses(case.subset, measures)
    # None stays where a check has no measure
    scores: Scores = dict.fromkeys(CovarManifest.FAULTS)
    for name, excess in excesses.items():
        check = MEASURES[name].check
        largest = scores[check]
        if largest is None or excess > largest:
            scores[check] = excess
    if not excesses:
        return Quality(scores, "", 0.0, measures)
    worst = max(excesses, key=excesses.__getitem__)
    value = measures[worst]
    reason = ""
    if excesses[worst] > 1 and value is not None:
        reason = MEASURES[worst].sentence.format(
            value=value,
            # at most 30 doublings: a larger power says nothing more
            ratio=2 ** min(abs(value), 30),
            asked=case.background or "the background asked for",
            label=case.label or "the object",
        )
    return Quality(scores, reason, excesses[worst], measures)
