"""The facts at the head of the report: accuracy, what was tested, sizes, suspect labels."""

from cuescope_cci.analysis import by_size, possible_mislabels, share_of
from cuescope_cci.backgrounds.measure import Backgrounds
from cuescope_cci.error_source import Sources, wrong_answers
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Figure
from cuescope_sdk import Audit
from cuescope_sdk.report import count_of

REGION_WORDS = {
    "hidden": "the region whose absence costs the answer more than it costs the other choices",
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}
SMALL_P = 0.05
NAMED = 5  # samples that a note names


def percent(share: Figure) -> str:
    """`33% [23, 45], few`."""
    if share.points is None:
        return "none"
    few = ", few" if share.few else ""
    return "{:.0f}% [{:.0f}, {:.0f}]".format(*share.points) + few


def note_accuracy(
    audit: Audit,
    options: CCIOptions,
    sources: Sources,
    known: Backgrounds | None,
) -> None:
    """How often the model is right, and whether that is better than chance."""
    # of all labelled images, masked or not: this is the accuracy of the model
    labelled = [source for source in sources if source.label is not None]
    if not labelled:
        return
    right = share_of(labelled, lambda source: source.correct, options.confidence)
    words = f"{percent(right)} of {len(labelled)} images"
    if known is not None:
        beats = f"{known.chance:.0%} by chance, p = {known.chance_p:.2g}"
        if known.better_than_chance:
            words += f"; {beats}"
        else:
            words += (
                f": no better than chance ({beats}). What such a model relies on says little; a "
                "cue is found only where it answers so to the background alone as well"
            )
    audit.note("accuracy", words)


def note_backgrounds(audit: Audit, options: CCIOptions, known: Backgrounds) -> None:
    """What was tested, what goes with size, which labels may be wrong, what could be missed."""
    wrong = wrong_answers(known.sources)
    if wrong:
        share = share_of(wrong, lambda source: source.on_background, options.confidence)
        audit.note(
            "wrong answers",
            f"{percent(share)} of {len(wrong)} lean more on the background than on an object",
        )
    audit.note("kinds of backgrounds", _kinds_words(known))
    audit.note("object's size", _size_words(known, options))
    # a model that guesses disagrees with right labels as well
    suspects = possible_mislabels(known.sources) if known.better_than_chance else []
    if suspects:
        named = ", ".join(source.key for source in suspects[:NAMED])
        if len(suspects) > NAMED:
            named += ", ..."
        audit.note(
            "labels to look at",
            f"{len(suspects)} of {len(known.sources)} images: the objects alone are answered "
            f"another class, as surely as that class is where it is right ({named}). Look-alikes "
            "and wrong labels do this; no finding rests on them",
        )
    audit.note("groups", _groups_words(known))


def _groups_words(known: Backgrounds) -> str:
    groups = known.observed.groups
    if not groups.declared:
        return "none declared: images are taken as independent"
    # groups of several labels need words: they are exchanged only among their like
    if not known.mixed_groups:
        return f"{groups.count}"
    return (
        f"{groups.count}; {known.mixed_groups} have images of several labels, and are compared "
        "with groups of the same labels only"
    )


def _kinds_words(known: Backgrounds) -> str:
    if not known.tests.count:
        return "none could be compared: shares are reported, and no finding"
    words = f"{count_of(known.tests.count, 'pairs')} of a kind and a class tested"
    # where a pair was tested, all together were
    return f"{words}; all together p = {known.tests.overall_p:.2g}"


def _size_words(known: Backgrounds, options: CCIOptions) -> str:
    parts = by_size(known.sources)
    if not parts or known.size_p is None:
        return "all alike"
    shares = []
    for part in parts.values():
        wrong = share_of(part, lambda source: source.wrong, options.confidence)
        shares.append(percent(wrong))
    small, large = shares
    named = (
        f" (annotated as {', '.join(known.size_factors)})" if known.size_factors else ""
    )
    figures = f"wrong: {small} of smaller objects, {large} of larger ones, p = {known.size_p:.2g}"
    # not corrected: it is a warning beside the findings, and no finding
    if known.size_p <= SMALL_P:
        return f"wrong answers go with it{named}; {figures}. That is no cue of the background"
    return f"no link with wrong answers seen{named}; {figures}"


def missed_words(findable: tuple[float, float | None] | None) -> str:
    if findable is None:
        return "none: nothing could be tested"
    share, limit = findable
    if limit is None:
        return f"none for a kind of background in {share:.0%} of the images: too few images"
    return (
        f"80% for a kind of background in {share:.0%} of the images that turns {limit:.0%} of "
        "their answers into one class"
    )


def note_settings(audit: Audit, options: CCIOptions, sources: Sources) -> None:
    """What the maps are about, and what tells which region an answer relies on."""
    subjects = {"predicted": "the predicted class", "true": "the true class"}
    subject = subjects.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    # without labels no answer is wrong, so there are no errors to sort
    if all(source.label is None for source in sources):
        audit.note("error sources", "not known: the data has no labels")
        return
    if all(source.foreground is None for source in sources):
        audit.note(
            "error sources",
            "not known: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note(
        "relies on", REGION_WORDS[options.region].format(strongest=options.strongest)
    )
    audit.note("look-alikes", choose_judge(audit, options)[0])
    # said, as shares of fewer images than the data has would look like a mistake
    left = sum(not source.is_counted for source in sources)
    if left:
        audit.note(
            "left out",
            f"{count_of(left, 'images')}: without a label, with a mask that is empty or whole, "
            "or with a map "
            "that has no positive part",
        )
