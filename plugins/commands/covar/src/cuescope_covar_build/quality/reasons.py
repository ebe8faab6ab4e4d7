"""Why an image was dropped, in one sentence; and how many were, for which fault."""

from collections import Counter
from collections.abc import Sequence

from cuescope_covar_build.manifest import Row
from cuescope_covar_build.quality.cases import Case

FAULTS = {  # what a check says of an image that it drops
    "kept": "object damaged",
    "found": "object not where it should be",
    "background": "another background",
    "else": "something else in the background",
    "changed": "background unchanged",
    "seam": "seam or leaked colour",
}

# By score: what a value says. {asked} and {label} are the background and the class.
_SENTENCES: dict[str, str] = {
    "object_pixels": "the object's pixels differ in {value:.0%} of its area",
    "object_colour": "a part of the object has shifted by {value:.0f} grey levels",
    "object_colours": "the object's colours are {value:.0f} grey levels from the source's",
    "object_place": "{value:.0%} of the object is not where it should be",
    "object_size": "the object's side is {ratio:.1f} times too large or too small",
    "object_embedding": "the cut-out no longer looks like the source's "
    "(cosine distance {value:.2f})",
    "object_class": "the probability of '{label}' for the cut-out is {value:.2f} lower than for "
    "the source's",
    "object_box": "the detector's box of '{label}' misses the object's by {value:.0%}",
    "background_image": "{value:.0%} of the background is not what was asked ({asked})",
    "background_text": "the background looks more like another one than like '{asked}' "
    "(by {value:.2f} of probability)",
    "background_unchanged": "{value:.0%} of the source's background is still there",
    "second_object_known": "something else is in the background, {value:.0%} of the image's side",
    "second_object": "a region of the background differs from all around it, {value:.1f} times "
    "the usual contrast",
    "second_copy": "a region of the background has the object's own colours, "
    "{value:.1f} nats a pixel above the usual",
    "second_detection": "the detector finds a further object (confidence {value:.2f})",
    "border_image": "{value:.0%} of the pixels beside the object are neither background nor object",
    "seam": "a seam runs along the object's border, {ratio:.1f} times the usual edge energy",
    "leak": "{value:.0%} of the object's colour has leaked into the background beside it",
}


def sentence(name: str, value: float, case: Case) -> str:
    """What a score says of an image."""
    return _SENTENCES[name].format(
        value=value,
        ratio=2 ** min(abs(value), 30),
        asked=case.background or "the background asked for",
        label=case.label or "the object",
    )


def describe_faults(dropped: Sequence[Row]) -> str:
    """How many were dropped, by subset, and which check of the quality filter was the worst."""
    by_subset: dict[str, Counter[str]] = {}
    for row in dropped:
        by_subset.setdefault(row.subset, Counter())[worst_fault(row)] += 1
    parts = []
    for subset, faults in sorted(by_subset.items(), key=lambda item: -item[1].total()):
        counts = ", ".join(f"{count} {fault}" for fault, count in faults.most_common())
        parts.append(f"{subset}: {faults.total()} ({counts})")
    return "; ".join(parts)


def worst_fault(row: Row) -> str:
    """In words, the check with the largest score; the reason itself where none is above 1."""
    scores = {name: getattr(row, f"score_{name}") or 0.0 for name in FAULTS}
    worst = max(scores, key=scores.__getitem__)
    return FAULTS[worst] if scores[worst] > 1 else row.dropped
