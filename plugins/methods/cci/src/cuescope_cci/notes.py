"""The facts at the head of the report: accuracy, what was tested, what could be missed."""

from cuescope_cci.analysis import share_of
from cuescope_cci.backgrounds.measure import Backgrounds
from cuescope_cci.error_source import Sources
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Figure
from cuescope_sdk import Audit
from cuescope_sdk.report import count_of

REGION_WORDS = {
    "hidden": "the region whose absence costs the answer more than it costs the other choices",
    "iou": "IoU of the map's strongest part (at least half of its top) with each region",
}


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
    """How often the model is right, beside chance."""
    # of all labelled images, masked or not: this is the accuracy of the model
    labelled = [source for source in sources if source.label is not None]
    if not labelled:
        return
    right = share_of(labelled, lambda source: source.correct, options.confidence)
    words = f"{percent(right)} of {len(labelled)} images"
    if known is not None:
        words += f"; {known.chance:.0%} by chance, p = {known.chance_p:.2g}"
    audit.note("accuracy", words)


def note_backgrounds(audit: Audit, known: Backgrounds) -> None:
    """What was tested, and of what."""
    words = "none could be compared: shares are reported, and no finding"
    if known.tests.count:
        pairs = count_of(known.tests.count, "pairs")
        together = f"all together p = {known.tests.overall_p:.2g}"
        words = f"{pairs} of a kind and a class tested; {together}"
    audit.note("kinds of backgrounds", words)
    if known.beside:
        audit.note(
            "things beside",
            f"{count_of(known.beside, 'answers')} of a class that is on screen too: these are read "
            "there, and count for no background",
        )
    groups = known.observed.groups
    audit.note(
        "groups",
        f"{groups.count}"
        if groups.declared
        else "none declared: images are taken as independent",
    )


def missed_words(findable: tuple[float, float | None] | None) -> str:
    """What could be missed, of `smallest_findable`."""
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
    subject = subjects.get(options.target, repr(options.target))
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
    audit.note("relies on", REGION_WORDS[options.region])
    judge = choose_judge(audit)
    audit.note(
        "look-alikes",
        judge[0]
        if judge
        else "not known: --tool text-generator=SPEC, or annotations['family']",
    )
    # said, as shares of fewer images than the data has would look like a mistake
    left = sum(not source.is_counted for source in sources)
    if left:
        audit.note(
            "left out",
            f"{count_of(left, 'images')}: without a label, with a mask that is empty or whole, "
            "or with a map that has no positive part",
        )
