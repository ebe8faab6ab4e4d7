"""Open-ended answers: is a class named in a description of the image (appendices C, D and R)?

After CHAIR (Rohrbach et al., 2018): of descriptions of images without an object, the share that
names it; and of images with it, the share that does. Only the class and its own words are looked
for: a description that calls a cup "mug" names no cup, unless the data set lists it as a synonym.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import Audit, Cell, Sample, Table, Trial
from cuescope_sdk.language import description_request, singular, strip_thinking
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.questions import frames_key
from cuescope_spurlens.scores import CaseResult, Results, spurious_gap_interval
from cuescope_spurlens.spuriosity.units import unit_means

DESCRIBE = description_request()
COLUMNS = ("class", "cue", "images", "named with it", "named without", "gap", "95%", "asked gap")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def names_class(description: str, names: Sequence[str]) -> bool:
    """Whether a text has any of the names, as whole words, in singular or plural.

    >>> names_class("Two cups on a table.", ["cup"]), names_class("A cupboard.", ["cup"])
    (True, False)
    """
    words = " ".join(map(singular, _WORD.findall(strip_thinking(description).lower())))
    spoken = (" ".join(map(singular, _WORD.findall(name.lower()))) for name in names)
    return any(f" {name} " in f" {words} " for name in spoken if name)


def describe_images(audit: Audit, samples: Sequence[Sample]) -> dict[str, str]:
    """What the model says of each image, by `frames_key`; an image is asked about once."""
    # By the frames: an image that is in the top of one class may be in the bottom of another.
    distinct = {frames_key(sample): sample for sample in samples}
    outcomes = audit.respond(
        Trial(
            sample=Sample(
                key=f"{sample.key}/described",
                frames=sample.frames,
                question=DESCRIBE,
                group=sample.group,
            ),
            condition="description",
            outputs=frozenset({"text"}),
        )
        for sample in distinct.values()
    )
    texts = (outcome.response.text or "" for outcome in outcomes)
    return dict(zip(distinct, texts, strict=True))


def attach_descriptions(audit: Audit, results: Results) -> None:
    """A table of the strongest cues: how often the class is named with the cue and without."""
    if "text" not in audit.capabilities.outputs or "closed-answers" in audit.capabilities.exposes:
        audit.note("descriptions", "none: the model does not write freely")
        return
    cases = [result for result in results.cases if not result.case.is_changed]
    sides = [list(_sides(result)) for result in cases]
    texts = describe_images(audit, [sample for case in sides for side in case for sample in side])
    synonyms = _synonyms(audit)
    rows: list[list[Cell]] = []
    for result, (top, bottom) in zip(cases, sides, strict=True):
        names = (result.case.label, *synonyms.get(result.case.label, ()))
        with_cue, without = (_named(side, texts, names) for side in (top, bottom))
        low, high = spurious_gap_interval(with_cue, without, audit.options.confidence)
        shares = 100 * float(with_cue.mean()), 100 * float(without.mean())
        gap = 100 * float(result.gap[result.strongest])
        label = f"{result.case.label} ({result.case.task})"
        ends = f"[{100 * low:.0f}, {100 * high:.0f}]"
        count = len(with_cue) + len(without)
        rows.append([label, result.cue, count, *shares, shares[0] - shares[1], ends, gap])
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    audit.attach(
        Table(
            title="Open-ended: is the class named in a description?",
            columns=COLUMNS,
            rows=tuple(named),
            notes=(
                f'The model was asked: "{DESCRIBE}" In percent of the images (groups count once) '
                "that show the strongest cue most and least: those whose description has the "
                "class's name, as a whole word, or a synonym that the data set lists. Of images "
                "without the object (hallucination) that is CHAIR's share. Asked gap: that of the "
                "yes/no questions, for which the cue was chosen in these very images.",
            ),
        )
    )


def _sides(result: CaseResult) -> Iterator[list[Sample]]:
    case, cue = result.case, result.strongest
    for units in (case.top[cue], case.bottom[cue]):
        yield [case.samples[row] for row in case.rows(units)]


def _named(
    samples: Sequence[Sample], texts: Mapping[str, str], names: Sequence[str]
) -> Float[np.ndarray, " unit"]:
    """Of each unit the share of its images whose description names the class."""
    named: Bool[np.ndarray, " image"] = np.array(
        [names_class(texts[frames_key(sample)], names) for sample in samples]
    )
    return unit_means(named.astype(float), Groups.of(samples))


def _synonyms(audit: Audit) -> dict[str, tuple[str, ...]]:
    """Other names of the classes, where the data set lists them (ImageNet)."""
    known: dict[str, tuple[str, ...]] = {}
    for sample in audit.samples:
        if sample.label is not None and "synonyms" in sample.annotations:
            known[sample.label] = tuple(sample.annotations["synonyms"])
    return known
