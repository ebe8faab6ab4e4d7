"""Why an image was dropped, in one sentence."""

from cuescope_covar.quality.cases import Case

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
