"""Each answer's source: which region decided it, and whether a look-alike was named."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cuescope_cci.importance import Answered, answered, look, maps
from cuescope_cci.judges import chosen_judge
from cuescope_cci.regions import Mask, Region, foregrounds, region_of
from cuescope_cci.sides import regions
from cuescope_sdk import Audit, Feature, Occurrence, UserError
from cuescope_sdk.maths import energy_share, upsample

if TYPE_CHECKING:
    from cuescope_cci import CCI

BACKGROUND = "background"


@dataclass(frozen=True, eq=False)
class Source:
    """One image: its answer, the map (row, col) of the target, and where the map lies.

    `foreground` is the mask on the canvas, None where no mask is known; `region` is None where
    nothing can be said; `alike` says whether label and prediction look alike, None if unknown.
    """

    answered: Answered
    importance: np.ndarray
    foreground: np.ndarray | None
    region: Region | None
    alike: bool | None
    factors: dict[str, str]

    @property
    def key(self) -> str:
        """The key of the audited sample."""
        return self.answered.sample.key.removesuffix("/canvas")

    @property
    def label(self) -> str | None:
        """The true class."""
        return self.answered.sample.label

    @property
    def prediction(self) -> str:
        """The predicted class."""
        return self.answered.prediction

    @property
    def correct(self) -> bool:
        """Whether they are one."""
        return self.label == self.prediction

    @property
    def wrong(self) -> bool:
        """Whether there is a true class, and it is another."""
        return is_wrong(self.answered)

    @property
    def told(self) -> bool:
        """Whether there is a true class and a region, so that the answer counts."""
        return self.label is not None and self.region is not None

    @property
    def fine_grained(self) -> bool:
        """A wrong answer that looked at an object and named its look-alike."""
        return self.wrong and self.region == "foreground" and self.alike is True

    @property
    def background_share(self) -> float:
        """Share of the positive importance that lies on the background."""
        if self.foreground is None:
            return 0.0
        return energy_share(upsample(self.importance, self.foreground.shape), ~self.foreground)


def sources(audit: Audit, options: "CCI.Options") -> list[Source]:
    """The source of every answer; asks the model what it has not been asked yet."""
    check(audit, options)
    found = answered(audit, look(audit, options, audit.samples))
    masks = foregrounds(audit, audit.samples)
    _, judge = chosen_judge(audit, options)
    wrong = {(str(one.sample.label), one.prediction) for one in found if is_wrong(one)}
    alike = judge(sorted(wrong)) if masks is not None else {}
    targets = [target_of(options, one) for one in found]
    shown = list(maps(audit, options, [one.sample for one in found], targets))
    places = _regions(audit, options, found, targets, shown, masks)
    fore = [None] * len(found) if masks is None else masks
    return [_source(*each, alike) for each in zip(found, shown, fore, places, strict=True)]


def target_of(options: "CCI.Options", one: Answered) -> str:
    """The text that the map of an image is about."""
    of_target = {"text": options.text, "true": one.sample.label, "predicted": one.prediction}
    return str(of_target[options.target])


def _regions(
    audit: Audit,
    options: "CCI.Options",
    found: Sequence[Answered],
    targets: Sequence[str],
    shown: Sequence[np.ndarray],
    masks: Sequence[Mask] | None,
) -> list[Region | None]:
    """Which region each image's target comes from, by the rule that the options name."""
    if masks is None:
        return [None] * len(found)
    if options.region == "hidden":
        return regions(audit, found, targets, masks)
    rule = options.region, options.strongest
    return [region_of(*pair, *rule) for pair in zip(shown, masks, strict=True)]


def is_wrong(one: Answered) -> bool:
    """A labelled image with another answer."""
    return one.sample.label is not None and one.prediction != one.sample.label


def _source(
    one: Answered,
    importance: np.ndarray,
    mask: np.ndarray | None,
    region: Region | None,
    alike: dict[tuple[str, str], bool | None],
) -> Source:
    factors = one.sample.annotations.get("factors", {})
    return Source(
        answered=one,
        importance=importance,
        foreground=mask,
        region=region,
        alike=alike.get((str(one.sample.label), one.prediction)),
        factors={str(name): str(value) for name, value in factors.items()},
    )


def check(audit: Audit, options: "CCI.Options") -> None:
    """Raises UserError for options and samples that do not go together."""
    if (options.target == "text") != (options.text is not None):
        raise UserError("cci: target=text and text=... go together", got=f"text={options.text}")
    for sample in audit.samples:
        if not sample.choices or (options.target == "true" and sample.label is None):
            raise UserError(
                f"cci: sample '{sample.key}' has no {'label' if sample.choices else 'choices'}",
                expected="labelled images",
            )


def features(found: Sequence[Source]) -> Iterator[Feature]:
    """The background as a whole, and under each annotated factor that varies."""
    told = [one for one in found if one.told]
    if not told:
        return
    for name, group in groups(told).items():
        yield Feature(
            key=name,
            kind="image-region",
            name=in_words(name),
            occurrences=tuple(occurrences(group)),
        )


def occurrences(group: Sequence[Source]) -> Iterator[Occurrence]:
    """The images whose wrong answer the background decided, else the right ones; clearest first."""
    there = [one for one in group if one.region == "background"]
    misled = [one for one in there if one.wrong] or there
    for one in sorted(misled, key=lambda one: (-one.background_share, one.key)):
        yield Occurrence(sample=one.key, frame=0, strength=one.background_share)


def groups(found: Sequence[Source]) -> dict[str, list[Source]]:
    """All images, then those of each value of each factor that has several values."""
    named = {BACKGROUND: list(found)}
    factors = dict.fromkeys(name for one in found for name in one.factors)
    for factor in factors:
        values = sorted({one.factors[factor] for one in found if factor in one.factors})
        if len(values) > 1:
            for value in values:
                named[f"{BACKGROUND}|{factor}={value}"] = [
                    one for one in found if one.factors.get(factor) == value
                ]
    return named


def in_words(group: str) -> str:
    """What a report calls a group.

    >>> in_words("background"), in_words("background|size=small")
    ('the background', 'size: small')
    """
    return factor_words(group) or "the background"


def factor_words(group: str) -> str:
    """The factor and value of a group, "" for all images."""
    _, _, factor = group.partition("|")
    return factor.replace("=", ": ", 1)
