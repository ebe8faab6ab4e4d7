"""The facts at the head of the report: accuracy, what was tested, sizes, suspect labels."""

from collections.abc import Sequence

import numpy as np

from cuescope_cci.backgrounds.measure import Backgrounds
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.tables import by_size, percent, share_of
from cuescope_sdk import Audit

REGION_WORDS = {
    "hidden": "the region whose absence costs the answer more than it costs the other choices",
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}
SMALL_P = 0.05
NAMED = 5  # samples that a note names


def note_accuracy(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource], known: Backgrounds | None
) -> None:
    """How often the model is right, and whether that is better than chance."""
    labelled = [source for source in sources if source.label is not None]
    if not labelled:
        return
    right = share_of([source.correct for source in labelled], labelled, options.confidence)
    words = f"{percent(right)} of {len(labelled)} images"
    if known is not None:
        beats = f"{known.chance:.0%} by chance, p = {known.chance_p:.2g}"
        if known.better_than_chance:
            words += f"; {beats}"
        else:
            words += (
                f": no better than chance ({beats}). What such a model leans on says little; a "
                "cue is found only where it answers so to the background alone as well"
            )
    audit.note("accuracy", words)


def note_backgrounds(audit: Audit, options: CCIOptions, known: Backgrounds) -> None:
    """What was tested, what goes with size, which labels may be wrong, what could be missed."""
    wrong = [source for source in known.sources if source.wrong]
    share = share_of([source.region == "background" for source in wrong], wrong, options.confidence)
    if wrong:
        audit.note(
            "wrong answers",
            f"{percent(share)} of {len(wrong)} lean more on the background than on an object",
        )
    audit.note("kinds of backgrounds", _kinds_words(known))
    audit.note("object's size", _size_words(known, options))
    suspects = possible_mislabels(known.sources) if known.better_than_chance else []
    if suspects:
        named = ", ".join(source.key for source in suspects[:NAMED]) + ", ..." * (
            len(suspects) > NAMED
        )
        audit.note(
            "labels to look at",
            f"{len(suspects)} of {len(known.sources)} images: the objects alone are answered "
            f"another class, as surely as that class is where it is right ({named}). Look-alikes "
            "and wrong labels do this; no finding rests on them",
        )
    if not known.groups.declared:
        audit.note("groups", "none declared: images are taken as independent")
    else:
        mixed = f"; {known.mixed_groups} have images of several labels, and are compared with "
        mixed += "groups of the same labels only"
        audit.note("groups", f"{known.groups.count}" + mixed * (known.mixed_groups > 0))


def _kinds_words(known: Backgrounds) -> str:
    if not known.tests.count:
        return "none could be compared: shares are reported, and no finding"
    p_value = f"; all together p = {known.overall_p:.2g}" if known.overall_p is not None else ""
    return f"{known.tests.count} pairs of a kind and a class tested{p_value}"


def _size_words(known: Backgrounds, options: CCIOptions) -> str:
    parts = by_size(known.sources)
    if not parts or known.size_p is None:
        return "all alike"
    small, large = (
        percent(share_of([s.wrong for s in part], part, options.confidence))
        for part in parts.values()
    )
    named = f" (annotated as {', '.join(known.size_factors)})" * bool(known.size_factors)
    figures = f"wrong: {small} of smaller objects, {large} of larger ones, p = {known.size_p:.2g}"
    if known.size_p <= SMALL_P:
        return f"wrong answers go with it{named}; {figures}. That is no cue of the background"
    return f"no link with wrong answers seen{named}; {figures}"


def missed_words(findable: tuple[float, float | None] | None) -> str:
    if findable is None:
        return "any pull: nothing could be tested"
    share, limit = findable
    if limit is None:
        return (
            f"any pull of a kind of background in {share:.0%} of the images: there are too few "
            "images"
        )
    return (
        f"a kind of background in {share:.0%} of the images that turns {limit:.0%} of their "
        "answers into one class would have been found in 8 of 10 such audits; weaker pulls may be "
        "there"
    )


def possible_mislabels(sources: Sequence[AnswerSource]) -> list[AnswerSource]:
    """Wrong answers that the objects alone give too, as surely as right ones of that class.

    Confident learning (Northcutt et al., 2021): the probability of the class is at least the mean
    that it has in images of its own label.
    """
    own: dict[str, list[float]] = {}
    for source in sources:
        own.setdefault(str(source.label), []).append(_sureness(source, str(source.label)))
    suspects = [
        source
        for source in sources
        if source.wrong
        and source.prediction == source.object_answer
        and source.prediction in own
        and _sureness(source, source.prediction) >= np.mean(own[source.prediction]) - 1e-9
    ]
    return sorted(suspects, key=lambda s: (-_sureness(s, s.prediction), s.key))


def _sureness(source: AnswerSource, choice: str) -> float:
    """Probability of a choice where only the objects are seen."""
    if source.apart is None:
        return 0.0
    logits = source.apart.objects
    odds = np.exp(logits - logits.max())
    return float(odds[source.sample.choices.index(choice)] / odds.sum())


def note_settings(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> None:
    labelled = [source for source in sources if source.label is not None]
    subjects = {"predicted": "the predicted class", "true": "the true class"}
    subject = subjects.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    if not labelled:
        audit.note("error sources", "not known: the data has no labels")
        return
    if all(source.foreground is None for source in sources):
        audit.note(
            "error sources",
            "not known: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note("leans on", REGION_WORDS[options.region].format(strongest=options.strongest))
    audit.note("look-alikes", choose_judge(audit, options)[0])
    if left := len(sources) - sum(source.is_counted for source in sources):
        audit.note(
            "left out",
            f"{left} images: without a label, with a mask that is empty or whole, or with a map "
            "that has no positive part",
        )
