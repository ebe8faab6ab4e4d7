"""Other explanations of a finding: how large the object is, where in the data, how sharp, ...

A finding says that a model does worse where something is on screen. Where samples with it also have
smaller objects, later dates or worse pictures, these may be why. What can be measured is held
alike; what cannot is named.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Audit, Evidence, Sample
from cuescope_sdk.data._conditions import (
    ANSWER,
    ORDER,
    QUALITY,
    SIZE,
    Conditions,
    PerSample,
    conditions_of,
    is_size_rough,
    picture_quality,
)
from cuescope_sdk.report import percent

if TYPE_CHECKING:  # scipy takes a second
    from cuescope_sdk.statistics import Groups
    from cuescope_sdk.statistics._held_alike import HeldAlike

CHECK = "other explanations"
NAMED = 3  # answers in a sentence
KNOWN = 0.8  # of the samples must have a value
# of sizes by boxes: a box drawn by half too wide or too narrow leaves no more (docs/adr/0023)
ROUGH = 0.5


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


# a finding that nothing measured explains, and what is not known of it
Lacking = tuple[Comparison, frozenset[str]]


def other_explanations(
    audit: Audit,
    comparisons: Sequence[Comparison],
    *,
    has_others: bool = False,
) -> Iterator[Evidence]:
    """Check each finding among samples that are alike in what can be measured.

    Methods with findings about samples yield it from `verify`, with a comparison a finding; the
    engine takes the star of a finding that does not hold (docs/adr/0023). `has_others` says that a
    method has findings that compare no samples: these are not held alike, nor in doubt.
    """
    held: set[str] = set()
    lacking: list[Lacking] = []
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
        unknown = frozenset(
            name
            for name in conditions.keys() - set(QUALITY)
            if np.isnan(conditions[name]).all()
        )
        doubt = _doubt(comparison, telling)
        if doubt is not None:
            yield doubt
        else:
            lacking.append((comparison, unknown))
    if not lacking:
        return
    in_common = {unknown for _, unknown in lacking}
    if len(in_common) == 1 and not (has_others and any(in_common)):
        yield _holding(lacking, held, set(*in_common))
        return
    yield _holding(lacking, held, set())
    for comparison, unknown in lacking:
        if unknown:
            yield Evidence(
                check=CHECK,
                verdict="inconclusive",
                detail=_not_known(comparison, unknown, _for_label(comparison)),
                feature=comparison.feature,
                label=comparison.label,
            )


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
    mattering: Conditions = {}
    for name, values in conditions.items():
        held = gap_held_alike(comparison.values, shows, values[:, None], groups)
        # where these go with what was found without exception, they may be the very cue
        if name in (ORDER, *QUALITY) and np.isnan(held.left):
            continue
        # the four of a picture are measures of one condition
        level = held.MATTERS / len(QUALITY) if name in QUALITY else held.MATTERS
        if held.matters > level or not held.goes_along:
            continue
        mattering[name] = values
        if held.explains:
            explaining[name] = held
    if not explaining and len(mattering) > 1:
        # together they may explain what none does alone
        table = np.stack(list(mattering.values()), axis=1)
        held = gap_held_alike(comparison.values, shows, table, groups)
        if held.explains:
            explaining = dict.fromkeys(mattering, held)
    if not explaining:
        return _doubt_of_size(comparison, conditions, groups)
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


def _doubt_of_size(
    comparison: Comparison,
    conditions: Conditions,
    groups: "Groups",
) -> Evidence | None:
    """Doubt where size would explain it if boxes tell half of what they should; else None.

    Sizes are known to make models err, so it is not asked whether these tell of the values.
    """
    from cuescope_sdk.statistics._held_alike import gap_held_alike

    if SIZE not in conditions or not is_size_rough(comparison.samples):
        return None
    size = conditions[SIZE][:, None]
    held = gap_held_alike(
        comparison.values, comparison.shows, size, groups, reliability=ROUGH
    )
    if held.is_clear or np.isnan(held.left) or not held.goes_along:
        return None
    sign = np.sign(held.gap)
    gap = percent(abs(held.gap), unit=" points")
    left = percent(max(held.left * sign, 0.0), unit=" points")
    rough = percent(held.rough * sign, unit=" points")
    return Evidence(
        check=CHECK,
        verdict="inconclusive",
        detail=f"Samples{_of_label(comparison)} with it are {gap} apart from those without, and "
        f"{left} are left among samples with boxes of about the same size. Boxes are rough. If "
        f"half of what sets their sizes apart is error, size alone could leave {rough}, and this "
        f"is not clearly more (p = {held.p_value:.3f}). Masks, or sizes as a number "
        "(object_size), decide it.",
        value=held.left,
        n=len(comparison.samples),
        feature=comparison.feature,
        label=comparison.label,
        doubt=f"But {SIZE} may be the reason instead. If half of what boxes tell is error, size "
        f"alone could leave {rough} among boxes of one size, and {left} are left: see the check "
        f"'{CHECK}'.",
    )


def _of_label(comparison: Comparison) -> str:
    return f" of '{comparison.label}'" if comparison.label else ""


def _for_label(comparison: Comparison) -> str:
    return f" for '{comparison.label}'" if comparison.label else ""


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


def _holding(lacking: Sequence[Lacking], held: set[str], unknown: set[str]) -> Evidence:
    count = len(lacking)
    detail = "Nothing was measured in which samples could be alike."
    if held:
        findings = "1 finding is" if count == 1 else f"{count} findings are"
        listed = _list_in_words(sorted(held))
        detail = f"{findings} not explained by {listed} alone."
    if unknown:
        detail += f" {_not_known(lacking[0][0], unknown)}"
    return Evidence(
        check=CHECK,
        verdict="supported" if held and not unknown else "inconclusive",
        detail=detail,
        value=float(count),
    )


def _not_known(
    comparison: Comparison,
    unknown: Collection[str],
    of_what: str = "",
) -> str:
    """Words for what is not known, and what would tell it."""
    tells = "A detector measures it (--tool detector=SPEC), and so do annotated boxes."
    if not any(sample.frames for sample in comparison.samples):
        tells = "Pictures would tell it, and these data have none."
    return f"Not known{of_what}: {_list_in_words(sorted(unknown))}. {tells}"


def _list_in_words(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
