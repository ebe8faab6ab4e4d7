"""Other explanations of a finding: how large the object is, where in the data, how sharp, ...

A finding says that a model does worse where something is on screen. Where samples with it also have
smaller objects, later dates or worse pictures, these may be why. What can be measured is held
alike; what cannot is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Audit, Evidence, Sample
from cuescope_sdk.data._conditions import (
    ANSWER,
    ORDER,
    QUALITY,
    Conditions,
    PerSample,
    conditions_of,
    picture_quality,
)
from cuescope_sdk.report import percent

if TYPE_CHECKING:  # scipy takes a second
    from cuescope_sdk.statistics._held_alike import HeldAlike

CHECK = "other explanations"
NAMED = 3  # answers in a sentence
KNOWN = 0.8  # of the samples must have a value


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of a finding: the `values` of samples that show a feature, and of the others.

    `feature` and `label` are those of its score. `answers` are what the model says wrongly, where
    these are things that may be on screen. `measured` has values of other conditions by their
    names, NaN where one is unknown.
    """

    feature: str
    label: str | None
    samples: Sequence[Sample]
    shows: Bool[np.ndarray, " sample"]
    values: PerSample
    answers: Sequence[str] = ()
    measured: Mapping[str, PerSample] = field(default_factory=dict)

    @property
    def has_whole_pictures(self) -> bool:
        """True if their quality is that of all of a picture, with what was found in it."""
        return not self.measured.keys() & set(QUALITY)


def other_explanations(
    audit: Audit, comparisons: Sequence[Comparison]
) -> Iterator[Evidence]:
    """Check each finding among samples that are alike in what can be measured.

    Methods with findings about samples yield it from `verify`, with a comparison a finding; the
    engine takes the star of a finding that does not hold (docs/adr/0023).
    """
    held: set[str] = set()
    unknown: set[str] = set()
    lacking = 0
    for comparison in comparisons:
        conditions = conditions_of(
            audit,
            comparison.samples,
            comparison.label,
            comparison.answers,
        )
        if comparison.has_whole_pictures:
            # findings of a label mostly compare the same samples
            conditions |= audit.once(quality_of_files, comparison.samples)
        conditions |= comparison.measured
        telling = {
            name: values for name, values in conditions.items() if _tells(values)
        }
        held |= telling.keys()
        for name in conditions.keys() - set(QUALITY):
            if np.isnan(conditions[name]).all():
                unknown.add(name)
        doubt = _doubt(comparison, telling)
        if doubt is not None:
            yield doubt
        else:
            lacking += 1
    if lacking:
        yield _holding(lacking, held, unknown)


def quality_of_files(samples: Sequence[Sample]) -> Conditions:
    """The quality of each sample's middle frame; nothing of frames that come from no file.

    In drawn pictures the things themselves are most of what makes them bright or sharp.
    """
    frames = [
        sample.frames[len(sample.frames) // 2] for sample in samples if sample.frames
    ]
    if len(frames) < len(samples) or any(frame.source is None for frame in frames):
        return {}
    return picture_quality(frames, [None] * len(frames))


def _tells(values: PerSample) -> bool:
    known = values[~np.isnan(values)]
    return len(known) >= KNOWN * len(values) and bool(np.ptp(known) > 0)


def _doubt(comparison: Comparison, conditions: Conditions) -> Evidence | None:
    """Explanation of a finding; None where it holds."""
    from cuescope_sdk.statistics import Groups
    from cuescope_sdk.statistics._held_alike import gap_held_alike

    shows = comparison.shows
    if shows.all() or not shows.any():
        return None
    groups = Groups.of(comparison.samples)
    explaining: dict[str, HeldAlike] = {}
    for name, values in conditions.items():
        held = gap_held_alike(comparison.values, shows, values[:, None], groups)
        # where these go with what was found without exception, they may be the very cue
        if name in (ORDER, *QUALITY) and np.isnan(held.left):
            continue
        # the four of a picture are measures of one condition
        level = held.MATTERS / len(QUALITY) if name in QUALITY else held.MATTERS
        if held.matters > level or not held.goes_along:
            continue
        if held.explains:
            explaining[name] = held
    if not explaining:
        return None
    names = list(explaining)
    least = min(explaining.values(), key=lambda held: abs(np.nan_to_num(held.left)))
    detail = _detail(comparison, names, least)
    # of a whole picture: fog is less contrast, and a lamp more light
    is_of_cue = comparison.has_whole_pictures and set(names) <= set(QUALITY)
    if is_of_cue:
        detail += " But what is on screen may itself change this: `confirm` tells."
    return Evidence(
        check=CHECK,
        verdict="inconclusive" if is_of_cue else "refuted",
        detail=detail,
        value=None if np.isnan(least.left) else least.left,
        n=len(comparison.samples),
        feature=comparison.feature,
        label=comparison.label,
        doubt=_words_of_doubt(comparison, names),
    )


def _of_label(comparison: Comparison) -> str:
    return f" of '{comparison.label}'" if comparison.label else ""


def _detail(comparison: Comparison, names: Sequence[str], held: "HeldAlike") -> str:
    gap = percent(abs(held.gap), unit=" points")
    if np.isnan(held.left):
        left = "there are no samples with and without it that are alike in this"
    else:
        sign = np.sign(held.gap)
        points = percent(max(held.left * sign, 0.0), unit=" points")
        rough = percent(held.rough * sign, unit=" points")
        left = (
            f"{points} are left among samples that are alike in this. A rough measure of it could "
            f"leave {rough}, and this is not clearly more (p = {held.p_value:.3f})"
        )
    return (
        f"Samples{_of_label(comparison)} with it are {gap} apart from those without. They also "
        f"differ in {_list_in_words(names)}: {left}."
    )


def _words_of_doubt(comparison: Comparison, names: Sequence[str]) -> str:
    see = f"see the check '{CHECK}'."
    if ANSWER in names:
        shown = " or ".join(f"'{answer}'" for answer in comparison.answers[:NAMED])
        return f"But {shown} may be on screen in them too, and a right answer: {see}"
    return f"But {_list_in_words(names)} may be the reason instead: {see}"


def _holding(count: int, held: set[str], unknown: set[str]) -> Evidence:
    detail = "Nothing was measured in which samples could be alike."
    if held:
        findings = "1 finding is" if count == 1 else f"{count} findings are"
        listed = _list_in_words(sorted(held))
        detail = f"{findings} not explained by {listed} alone."
    if unknown:
        detail += (
            f" Not known: {_list_in_words(sorted(unknown))}. A detector measures it (--tool "
            "detector=SPEC), and so do annotated boxes."
        )
    return Evidence(
        check=CHECK,
        verdict="supported" if held and not unknown else "inconclusive",
        detail=detail,
        value=float(count),
    )


def _list_in_words(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
