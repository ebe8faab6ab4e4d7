"""Checks of a given cue: how well it is recognised, and whether annotations agree."""

from collections.abc import Iterator

import numpy as np

from cuescope_cue.scores import Analysis, Measured
from cuescope_sdk import Audit, Evidence

CHANCE = 0.5
NOT_RECOGNISED = (
    "the recogniser may not tell the cue; `cuescope cue ask FILE` names samples to mark"
)


def evidence(audit: Audit, analysis: Analysis) -> Iterator[Evidence]:
    """The checks of each cue."""
    for measured in analysis.cues:
        yield _recognised(measured)
        yield from _annotated(audit, measured, analysis)


def _recognised(measured: Measured) -> Evidence:
    """The AUROC of held-out examples, with its standard error (Hanley and McNeil, 1982)."""
    auroc = measured.recognition.auroc
    shown, others = measured.cue.sides()
    about = {"check": "recogniser of the cue", "feature": measured.cue.key}
    # examples that were drawn or chosen by it say nothing of samples as they are
    is_drawn = all(example.made for example in measured.cue.examples)
    if auroc is None or is_drawn:
        return Evidence(
            **about,
            verdict="inconclusive",
            detail="Not known: no samples that somebody marked were held out.",
            n=shown + others,
            doubt=NOT_RECOGNISED,
        )
    first = auroc / (2 - auroc)
    second = 2 * auroc**2 / (1 + auroc)
    variance = auroc * (1 - auroc)
    variance += (shown - 1) * (first - auroc**2) + (others - 1) * (second - auroc**2)
    low = auroc - 1.96 * np.sqrt(max(variance, 0.0) / (shown * others))
    is_told = low > CHANCE
    return Evidence(
        **about,
        verdict="supported" if is_told else "inconclusive",
        detail=f"Examples that were held out are recognised with an AUROC of {auroc:.2f} "
        f"(0.5 is chance; 95% CI from {max(low, 0.0):.2f}).",
        value=auroc,
        threshold=CHANCE,
        n=shown + others,
        doubt=None if is_told else NOT_RECOGNISED,
    )


def _annotated(
    audit: Audit, measured: Measured, analysis: Analysis
) -> Iterator[Evidence]:
    """AUROC and expected share beside each annotated cue."""
    by_key = {sample.key: sample for sample in audit.samples}
    samples = [by_key[sample.key] for sample in analysis.data.samples]
    recognition = measured.recognition
    for planted in audit.planted_cues:
        flags = [
            sample.annotations.get("cues", {}).get(planted.key) for sample in samples
        ]
        if any(each is None for each in flags):
            continue
        shows = np.array([any(each or ()) for each in flags])
        auroc = recognition.agreement(shows, analysis.data)
        if auroc is None:
            continue
        yield Evidence(
            check=f"annotated cue '{planted.name}'",
            verdict="supported" if auroc > CHANCE else "refuted",
            detail=f"AUROC {auroc:.2f} within labels; {recognition.probability.mean():.0%} of the "
            f"samples are expected to show the cue, {shows.mean():.0%} are annotated.",
            value=auroc,
            threshold=CHANCE,
            n=len(shows),
            feature=measured.cue.key,
        )
