"""Report of labels that look wrong: which samples, and what may come from them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from cuescope_core.amounts import count_of
from cuescope_sdk import Evidence, Feature, Sample, Score, Verdict
from cuescope_sdk.stills import typical_occurrences

if TYPE_CHECKING:  # scipy takes a second
    from cuescope_sdk.statistics import LabelNoise

NAMED = 8  # samples


def label_noise_words(words: str, label: str, suspects: int, p_value: float) -> str:
    """Words for a loss that is not clear without `suspects` samples of its label."""
    return (
        f"It may be label noise: {words} But up to {count_of(suspects, 'samples')} of '{label}' "
        "with it may be "
        f"mislabelled, and without them the loss is not clear (p = {p_value:.2g})."
    )


def mislabelled_samples(
    samples: Sequence[Sample],
    labels: Sequence[str],
    noise: "LabelNoise",
    *,
    explained: int,
    held: int,
    features: Sequence[Feature] = (),
    scores: Sequence[Score] = (),
    share: Callable[[Sequence[Sample]], str | None] | None = None,
) -> Evidence:
    """The check of labels: `explained` losses may be label noise, and `held` findings are none.

    `noise` is of these samples, in their order. What shows the cue of a finding of these `features`
    and `scores` is not named: the cue, and no wrong label, may be why the model errs there. So may
    what other samples `share`, in words (`cuescope_sdk.locating.shared_look`): of the most that are
    of one label and look like one other.
    """
    suspects = np.flatnonzero(noise.looks_like >= 0)
    words = f"{len(suspects)} of {len(samples)} samples look mislabelled"
    frames = sum(len(sample.frames) for sample in samples)
    shown = samples_with_findings(features, scores, frames)
    with_cue = [
        number
        for number in suspects.tolist()
        if (samples[number].key, samples[number].label) in shown
    ]
    if len(with_cue) == 1:
        words += (
            ". 1 of them shows the cue of a finding about its label, which may be why the model "
            "errs there: do not relabel it"
        )
    elif with_cue:
        words += (
            f". {len(with_cue)} of them show the cue of a finding about their label, which may be "
            f"why the model errs there: do not relabel these {len(with_cue)}"
        )
    others = np.setdiff1d(suspects, with_cue)
    if explained:
        losses = "loss" if explained == 1 else "losses"
        words += f". {explained} {losses} may come from them, so nothing is found there"
    if held:
        hold = count_of(held, "findings", "hold")
        have = "has" if held == 1 else "have"
        words += (
            f". {hold} without them, or {have} errors that wrong labels do not explain"
        )
    probability = noise.answered.probability
    if len(others) and probability is not None:
        of_label = probability[others, noise.answered.label[others]]
        # the least probable labels first
        first = others[np.argsort(of_label, kind="stable")][:NAMED]
        names = []
        for number in first:
            sample = samples[number]
            answer = labels[noise.looks_like[number]]
            names.append(f"{sample.key} ('{sample.label}', looks like '{answer}')")
        whose = "these of the others" if with_cue else "these"
        words += f". Look at {whose} first: {', '.join(names)}"
    if len(others) and share is not None:
        words += _words_of_shared(samples, labels, noise, others, share)
    return Evidence(
        check="label noise",
        verdict=_verdict(explained, held),
        detail=words,
        value=len(suspects) / len(samples),
        n=len(samples),
    )


def _words_of_shared(
    samples: Sequence[Sample],
    labels: Sequence[str],
    noise: "LabelNoise",
    suspects: Int[np.ndarray, " suspect"],
    share: Callable[[Sequence[Sample]], str | None],
) -> str:
    """Words for what most samples taken for one label share, as a cue that was not found would."""
    sorts = defaultdict[tuple[str | None, str], list[Sample]](list)
    for number in suspects.tolist():
        sample = samples[number]
        sorts[sample.label, labels[noise.looks_like[number]]].append(sample)
    (label, answer), alike = max(sorts.items(), key=lambda sort: len(sort[1]))
    shared = share(alike)
    if shared is None:
        return ""
    return (
        f". The {len(alike)} of '{label}' that look like '{answer}' share something in their "
        f"pictures (a guess: {shared}): a cue that was not found may be why the model errs there, "
        "so look before you relabel"
    )


def samples_with_findings(
    features: Sequence[Feature],
    scores: Sequence[Score],
    frames: int,
) -> set[tuple[str, str | None]]:
    """The samples, with their label, that show the cue of a finding about this label."""
    by_key = {feature.key: feature for feature in features}
    shown: set[tuple[str, str | None]] = set()
    for score in scores:
        if score.finding:
            occurrences = typical_occurrences(by_key[score.feature], frames)
            shown.update((occurrence.sample, score.label) for occurrence in occurrences)
    return shown


def _verdict(explained: int, held: int) -> Verdict:
    # what was explained away once looked like a finding, so it counts first
    if explained:
        return "refuted"
    return "supported" if held else "inconclusive"
