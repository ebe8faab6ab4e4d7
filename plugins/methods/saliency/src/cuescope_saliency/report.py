"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.scores import TextFigures, measure_text
from cuescope_saliency.trials import ExplainedImage, feature_key
from cuescope_sdk import Accuracy, Audit, Score
from cuescope_sdk.statistics import (
    Groups,
    benjamini_hochberg,
    chance_accuracy,
    change_interval,
    mean_above_zero_p_value,
    mean_interval,
    smallest_mean_above_zero,
)

CHANCE_P = 0.05
NO_MASKS = (
    "Nothing could be tested: no image has a usable foreground mask, so nothing is known of the "
    "background. Add annotations['foreground'], a mask for each image."
)


class LeanTest(NamedTuple):
    """Whether the maps of one text lean on the background."""

    p_value: float | None
    q_value: float | None
    finding: bool


def report_scores(
    audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]
) -> Iterator[Score]:
    """The rows of the report, findings first."""
    better_than_chance = _note(audit, options, images)
    by_text: dict[str, list[ExplainedImage]] = {}
    for image in images:
        by_text.setdefault(image.text, []).append(image)
    # Sorted, for the correction below and the ranking must not depend on the data's order.
    texts = [measure_text(by_text[text]) for text in sorted(by_text)]
    for figures in texts:
        for image, lean in zip(figures.masked, figures.lean.tolist(), strict=True):
            audit.record(image.sample, feature_key(figures.text), "background_lean", lean)
    p_values = [mean_above_zero_p_value(figures.lean, figures.masked_groups) for figures in texts]
    q_values = benjamini_hochberg(p_values)
    ranked = []
    for figures, p_value, q_value in zip(texts, p_values, q_values, strict=True):
        # A finding looks at the background more than its share of the picture, by `min_lean` at
        # the least. What a model that guesses looks at is no finding.
        rejected = better_than_chance and q_value is not None and q_value <= options.fdr
        finding = rejected and figures.strength > options.min_lean
        ranked.append((figures, LeanTest(p_value, q_value, finding)))
    if not any(test.finding for _, test in ranked):
        audit.note("could be missed", _missed_words(audit, options, texts))
    ranked.sort(key=lambda pair: (not pair[1].finding, -pair[0].strength))
    untested = None if any(len(figures.lean) for figures in texts) else NO_MASKS
    for figures, test in ranked:
        yield from _rows(audit, options, figures, test, untested)
        untested = None  # said once


def _rows(
    audit: Audit,
    options: SaliencyOptions,
    figures: TextFigures,
    test: LeanTest,
    untested: str | None = None,
) -> Iterator[Score]:
    """Four figures, the headline first; `untested` says why nothing could be tested."""
    by_metric = {
        "background_lean": figures.lean,
        "foreground_share": figures.share,
        "iou": figures.iou,
        "accuracy": figures.correct,
    }
    for metric, values in by_metric.items():
        groups = figures.groups if metric == "accuracy" else figures.masked_groups
        interval = change_interval if metric == "background_lean" else mean_interval
        low, high = interval(values, groups, confidence=options.confidence)
        tested: dict[str, Any] = {}
        if metric == "background_lean":  # one test a text: more would cost power
            words = statement(figures) if test.finding else untested
            tested = {**test._asdict(), "statement": words}
        yield Score(
            feature=feature_key(figures.text),
            label=figures.text if figures.text in audit.labels else None,
            metric=metric,
            value=float(values.mean()) if len(values) else None,
            low=low,
            high=high,
            n=len(values),
            **tested,
        )


def statement(figures: TextFigures) -> str:
    """The finding as a sentence."""
    few = " Few groups: the figures are rough." if figures.masked_groups.few else ""
    return (
        "The {feature} lie on the background more than its size explains: the background has "
        f"{1 - figures.share.mean():.0%} of their importance and {1 - figures.area.mean():.0%} of "
        f"the picture. The model answers {figures.correct.mean():.0%} of these "
        f"{len(figures.correct)} images rightly.{few}"
    )


def _missed_words(audit: Audit, options: SaliencyOptions, texts: Sequence[TextFigures]) -> str:
    """What lean would have been found, in the text of middling many images."""
    masked = [figures for figures in texts if figures.masked_groups.count > 1]
    if not masked:
        return "any lean: there are no two images with a mask about one text"
    masked.sort(key=lambda figures: (figures.masked_groups.count, figures.text))
    middle = masked[len(masked) // 2]
    # The smallest of the p-values must pass the level over their number.
    limit = smallest_mean_above_zero(
        middle.lean,
        middle.masked_groups,
        options.fdr / len(masked),
        audit.rng("limit of detection"),
    )
    images = f"'{middle.text}' ({len(middle.lean)} images)"
    if limit is None:
        return f"any lean of the maps for {images}: there are too few"
    return (
        f"maps for {images} with {limit:.0%} more of their importance on the background than its "
        "size explains would have been found in 8 of 10 such audits; smaller leans may be there"
    )


def _note(audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]) -> bool:
    """What is explained, how often the model is right, which masks say nothing.

    Whether the model is better than chance; True where there are no labels to tell by.
    """
    target = f"the text '{options.text}'" if options.text else f"the {options.target} label"
    masks = [image.foreground for image in images if image.foreground is not None]
    blank = sum(not mask.any() or bool(mask.all()) for mask in masks)
    audit.note("explained", f"{target} in {len(images)} images, by {options.explainer}")
    better = _note_accuracy(audit, options, images)
    if not masks:
        audit.note("foreground", "the data has no masks, so nothing is known of the background")
    elif blank or len(masks) < len(images):
        lacking = len(images) - len(masks)
        audit.note(
            "foreground",
            f"left out: {lacking} images without a mask, {blank} whose mask is "
            "empty or fills the picture",
        )
    return better


def _note_accuracy(
    audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]
) -> bool:
    labelled = [image for image in images if image.sample.label is not None]
    if not labelled:
        audit.note("accuracy", "not known: the data has no labels")
        return True
    groups = Groups.of([image.sample for image in labelled])
    right = np.array([image.is_right for image in labelled], dtype=np.float64)
    low, high = mean_interval(right, groups, confidence=options.confidence)
    answers = np.array([str(image.outcome.prediction) for image in labelled])
    labels = np.array([str(image.sample.label) for image in labelled])
    chance, p_value = chance_accuracy(answers, labels, groups, audit.rng("chance"))
    words = f"{right.mean():.1%} of {len(labelled)} images"
    if low is not None and high is not None:
        words += f" [{100 * low:.0f}, {100 * high:.0f}]" + " few" * groups.few
    beats = f"{chance:.0%} by chance, p = {p_value:.2g}"
    better = p_value <= CHANCE_P
    correct = int(right.sum())
    audit.attach(Accuracy(correct=correct, answered=len(labelled), chance=chance, p_value=p_value))
    said = f"; {beats}" if better else f": no better than chance ({beats}), so nothing is found"
    audit.note("accuracy", words + said)
    declared = f"{groups.count}" if groups.declared else "none declared: taken as independent"
    audit.note("groups", declared)
    return better
