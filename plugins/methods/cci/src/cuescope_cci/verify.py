"""A check of what CCI found: images of one source."""

from collections.abc import Iterator
from dataclasses import replace

from cuescope_cci.backgrounds import Backgrounds, measure_backgrounds
from cuescope_cci.error_source import BACKGROUND, AnswerSource, Sources, varying_factors
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit, Evidence

SOURCES = "images of one source"


def evidence(audit: Audit, options: CCIOptions, sources: Sources) -> Iterator[Evidence]:
    """Images of one source."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    if known is None:
        return
    yield from check_sources(audit, options, known)


def check_sources(
    audit: Audit,
    options: CCIOptions,
    known: Backgrounds,
) -> Iterator[Evidence]:
    """Whether findings hold if all images of a label before one kind of background are one source.

    Clips of one film share label and background, and are answered alike. Nobody can see that in
    data that are shuffled. Nothing where groups are declared, or without findings.
    """
    claimed = {(row.feature, row.label) for row in known.found(options.fdr)}
    if not claimed or any(source.sample.group for source in known.sources):
        return
    holding: set[tuple[str, str]] = set()
    for factor in varying_factors(known.sources):
        grouped = [_of_one_source(source, factor) for source in known.sources]
        again = measure_backgrounds(audit, options, grouped)
        if again is not None:
            holding |= {(row.feature, row.label) for row in again.found(options.fdr)}
    doubted: set[tuple[str, str | None]] = set(claimed - holding)
    # the background as a whole stands on its kinds
    if len({feature for feature, _ in claimed}) > 1 and not claimed & holding:
        doubted.add((BACKGROUND, None))
    for feature, label in sorted(doubted, key=str):
        yield Evidence(
            check=SOURCES,
            verdict="inconclusive",
            detail="No groups are declared. This is not found where all images of a class before "
            "one kind of background count as one, as if they came from one video. Declare which "
            "images are of one source (-O data.group=..., Sample.group), or a group of its own for "
            "each.",
            n=len(known.sources),
            feature=feature,
            label=label,
            doubt="But if images of a class before one kind of background come from one video or "
            "place, this may be chance: no groups are declared, see the check "
            f"'{SOURCES}'.",
        )


def _of_one_source(source: AnswerSource, factor: str) -> AnswerSource:
    """The image in the group of all with its label and its kind of background."""
    group = f"{source.sample.label} before {source.factors.get(factor)}"
    return replace(source, sample=replace(source.sample, group=group))
