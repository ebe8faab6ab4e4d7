"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.scores import TextFigures, lean_p_value, measure_text
from cuescope_saliency.trials import ExplainedImage, feature_key
from cuescope_sdk import Audit, Score
from cuescope_sdk.maths import benjamini_hochberg, bootstrap_mean_interval


class LeanTest(NamedTuple):
    """Whether the maps of one text lean on the background."""

    p_value: float | None
    q_value: float | None
    finding: bool


def report_scores(
    audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]
) -> Iterator[Score]:
    """The rows of the report, findings first."""
    _note(audit, options, images)
    by_text: dict[str, list[ExplainedImage]] = {}
    for image in images:
        by_text.setdefault(image.text, []).append(image)
    # Sorted, for the correction below and the ranking must not depend on the data's order.
    texts = [measure_text(by_text[text]) for text in sorted(by_text)]
    p_values = [lean_p_value(figures, audit.rng("sign flips", figures.text)) for figures in texts]
    tests = [
        # A finding looks at the background more than a blind map would, by `min_lean` at the least.
        LeanTest(p, q, q is not None and q <= options.fdr and figures.strength > options.min_lean)
        for figures, p, q in zip(texts, p_values, benjamini_hochberg(p_values), strict=True)
    ]
    ranked = sorted(
        zip(texts, tests, strict=True), key=lambda pair: (not pair[1].finding, -pair[0].strength)
    )
    for figures, test in ranked:
        yield from _rows(audit, options, figures, test)


def _rows(
    audit: Audit, options: SaliencyOptions, figures: TextFigures, test: LeanTest
) -> Iterator[Score]:
    """Four figures, the headline first."""
    by_metric = {
        "background_lean": figures.lean,
        "foreground_share": figures.share,
        "iou": figures.iou,
        "accuracy": figures.correct,
    }
    for metric, values in by_metric.items():
        tested = metric == "background_lean"  # one test a text: more would cost power
        rng = audit.rng("bootstrap", metric, figures.text)
        value = low = high = None
        if len(values):
            value = float(values.mean())
            low, high = bootstrap_mean_interval(values, rng, confidence=options.confidence)
        yield Score(
            feature=feature_key(figures.text),
            label=figures.text if figures.text in audit.labels else None,
            metric=metric,
            value=value,
            low=low,
            high=high,
            n=len(values),
            p_value=test.p_value if tested else None,
            q_value=test.q_value if tested else None,
            finding=tested and test.finding,
            statement=statement(figures) if tested and test.finding else None,
        )


def statement(figures: TextFigures) -> str:
    """The finding as a sentence."""
    return (
        "The {feature} lie on the background more than chance explains: the background has "
        f"{1 - figures.share.mean():.0%} of their importance and {1 - figures.area.mean():.0%} of "
        f"the picture. The model answers {figures.correct.mean():.0%} of these "
        f"{len(figures.correct)} images rightly."
    )


def _note(audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]) -> None:
    """What is explained, how often the model is right, and which masks say nothing."""
    target = f"the text '{options.text}'" if options.text else f"the {options.target} label"
    right = sum(image.is_right for image in images)
    masks = [image.foreground for image in images if image.foreground is not None]
    blank = sum(not mask.any() or bool(mask.all()) for mask in masks)
    audit.note("explained", f"{target} in {len(images)} images, by {options.explainer}")
    audit.note("accuracy", f"{right / max(len(images), 1):.1%} of {len(images)} images")
    if not masks:
        audit.note("foreground", "the data has no masks, so nothing is known of the background")
    elif blank or len(masks) < len(images):
        audit.note(
            "foreground",
            f"left out: {len(images) - len(masks)} images without a mask, {blank} whose mask is "
            "empty or fills the picture",
        )
