"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator
from typing import Any

from cuescope_saliency.analysis import (
    Labelled,
    LeanTest,
    lean_tests,
    measure_accuracy,
    smallest_findable,
)
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.scores import TextFigures
from cuescope_saliency.trials import Images, feature_key
from cuescope_sdk import Audit, Finding, Score
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate, change_interval, mean_interval

NO_MASKS = (
    "Nothing could be tested: no image has a usable foreground mask, so nothing is known of the "
    "background. Add annotations['foreground'], a mask for each image."
)


AT_CHANCE = "Nothing is tested: the maps of a model at chance may lie anywhere."


def report_scores(
    audit: Audit,
    options: SaliencyOptions,
    images: Images,
) -> Iterator[Score]:
    """The rows of the report, findings first."""
    labelled = measure_accuracy(audit, options, images)
    _note(audit, images, labelled)
    # True where there are no labels to tell by.
    better = labelled is None or labelled.better_than_chance
    tests = lean_tests(options, images, better_than_chance=better)
    for image in images:
        if image.lean is not None:
            audit.record(
                image.sample, feature_key(image.text), "background_lean", image.lean
            )
    # without a finding a reader must know what could have been seen at all
    if not better:
        audit.note("result", AT_CHANCE)
    elif not any(test.finding for test in tests):
        audit.note("power", _missed_words(smallest_findable(audit, options, tests)))
    for test in tests:
        if test.finding:
            audit.attach(_finding(audit, options, test))
    has_masks = any(len(test.figures.lean) for test in tests)
    for number, test in enumerate(tests):
        # said once
        untested = None if has_masks or number else NO_MASKS
        yield from _rows(audit, options, test, untested)


def _finding(audit: Audit, options: SaliencyOptions, test: LeanTest) -> Finding:
    """How much of the maps lies on the background, beside its share of the picture."""
    figures = test.figures
    low, high = change_interval(
        figures.lean, figures.masked_groups, confidence=options.confidence
    )
    change = None
    if low is not None and high is not None:
        change = Estimate(float(figures.lean.mean()), low, high)
    label = figures.text if figures.text in audit.labels else None
    row = shares_row(
        figures.text,
        1 - float(figures.share.mean()),
        1 - float(figures.area.mean()),
        change,
        label=label,
        n=len(figures.lean),
        q_value=test.q_value,
    )
    return Finding(
        feature=feature_key(figures.text),
        claim="{feature} lie on the background",
        measure="share on the background",
        columns=("of the maps", "of the picture"),
        rows=(row,),
    )


def _rows(
    audit: Audit,
    options: SaliencyOptions,
    test: LeanTest,
    untested: str | None,
) -> Iterator[Score]:
    """Four figures, the headline first; `untested` says why nothing could be tested."""
    figures = test.figures
    by_metric = {
        "background_lean": figures.lean,
        "foreground_share": figures.share,
        "iou": figures.iou,
        "accuracy": figures.correct,
    }
    for metric, values in by_metric.items():
        groups = figures.groups if metric == "accuracy" else figures.masked_groups
        tested: dict[str, Any] = {}
        if metric != "background_lean":
            low, high = mean_interval(values, groups, confidence=options.confidence)
        else:  # one test a text: more would cost power
            low, high = change_interval(values, groups, confidence=options.confidence)
            tested = {
                "p_value": test.p_value,
                "q_value": test.q_value,
                "finding": test.finding,
                "statement": statement(figures) if test.finding else untested,
            }
        yield Score(
            feature=feature_key(figures.text),
            label=figures.text if figures.text in audit.labels else None,
            metric=metric,
            # the mean of no image is NaN, which JSON does not know
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
        f"the picture. {_preferred_words(figures)} The model answers "
        f"{figures.correct.mean():.0%} of these {len(figures.correct)} images rightly.{few}"
    )


def _preferred_words(figures: TextFigures) -> str:
    """How much of the lean is a liking of the explainer or the model."""
    return (
        f"Of these {100 * figures.lean.mean():.0f} points more, "
        f"{100 * figures.own_lean.mean():.0f} are not what the maps give to such places and to "
        "flat parts in all images."
    )


def _missed_words(findable: tuple[TextFigures, float | None] | None) -> str:
    """What lean would have been found, in the text of middling many images."""
    if findable is None:
        return "any lean: there are no two images with a mask about one text"
    figures, limit = findable
    images = f"'{figures.text}' ({count_of(len(figures.lean), 'images')})"
    if limit is None:
        return f"any lean of the maps for {images}: there are too few"
    return (
        f"80% for maps of {images} with {limit:.0%} more of their importance on the background "
        "than its size explains"
    )


def _note(audit: Audit, images: Images, labelled: Labelled | None) -> None:
    """Whether the model knows the classes, and which masks say nothing."""
    if labelled is None:
        audit.note("accuracy", "not known: the data has no labels")
    else:
        audit.attach(labelled.accuracy)
    masked = sum(image.foreground is not None for image in images)
    usable = sum(image.usable_mask is not None for image in images)
    if not masked:
        audit.note(
            "foreground", "the data has no masks, so nothing is known of the background"
        )
    elif usable < len(images):
        audit.note(
            "foreground",
            f"left out: {count_of(len(images) - masked, 'images')} without a mask, "
            f"{masked - usable} whose mask "
            "is empty or fills the picture",
        )
