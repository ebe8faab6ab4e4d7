"""Which region decided each answer, and whether a look-alike was named (section 3.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.error_source.regions import foreground_masks, regions
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Region, importance_map
from cuescope_cci.trials import AnsweredImage, answers_about, ask_images
from cuescope_sdk import Audit, Feature, Occurrence, UserError
from cuescope_sdk.explain import canvas_samples
from cuescope_sdk.maths import energy_share, upsample

BACKGROUND = "background"


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerSource(AnsweredImage):
    """An answer with the map (row, col) of the target, and where it comes from.

    `foreground` is the mask on the canvas, None where no mask is known; `region` is None where
    nothing can be said; `alike` says whether label and prediction look alike, None if unknown.
    """

    importance: np.ndarray
    foreground: np.ndarray | None
    region: Region | None
    alike: bool | None
    factors: dict[str, str]

    @property
    def key(self) -> str:
        """The key of the audited sample."""
        return self.sample.key.removesuffix("/canvas")

    @property
    def label(self) -> str | None:
        """The true class."""
        return self.sample.label

    @property
    def correct(self) -> bool:
        """Whether the true and the predicted class are the same."""
        return self.label == self.prediction

    @property
    def is_counted(self) -> bool:
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
        # The map is as coarse as the patches; the mask has the pixels.
        return energy_share(upsample(self.importance, self.foreground.shape), ~self.foreground)


def answer_sources(audit: Audit, options: CCIOptions) -> list[AnswerSource]:
    """The source of every answer.

    For `audit.once`: a language model and a segmenter need not say the same twice.
    """
    check(audit, options)
    images = ask_images(audit, options, canvas_samples(audit, audit.samples))
    masks = foreground_masks(audit, audit.samples)
    _, judge = choose_judge(audit, options)
    # Pairs of classes, not images: a language model is paid for each question.
    wrong = {(str(image.sample.label), image.prediction) for image in images if image.wrong}
    # Without masks no error is known to come from an object, so nothing is judged (or paid for).
    alike = judge(sorted(wrong)) if masks is not None else {}
    subjects = [
        {"text": options.text, "true": image.sample.label, "predicted": image.prediction}
        for image in images
    ]
    targets = [str(subject[options.target]) for subject in subjects]
    about = answers_about(audit, options, images, targets)
    maps = [
        importance_map(image.cluster, image.drops_for(text), options.negative)
        for image, text in zip(about, targets, strict=True)
    ]
    decided: list[Region | None] = [None] * len(images)
    if masks is not None:
        decided = regions(audit, options, about, targets, maps, masks)
    return [
        AnswerSource(
            **vars(image),
            importance=maps[index],
            foreground=None if masks is None else masks[index],
            region=decided[index],
            alike=alike.get((str(image.sample.label), image.prediction)),
            factors={
                str(name): str(value)
                for name, value in image.sample.annotations.get("factors", {}).items()
            },
        )
        for index, image in enumerate(images)
    ]


def check(audit: Audit, options: CCIOptions) -> None:
    """Raise UserError for options and samples that do not go together."""
    if (options.target == "text") != (options.text is not None):
        raise UserError("cci: target=text and text=... go together", got=f"text={options.text}")
    for sample in audit.samples:
        if not sample.choices or (options.target == "true" and sample.label is None):
            raise UserError(
                f"cci: sample '{sample.key}' has no {'label' if sample.choices else 'choices'}",
                expected="labelled images",
            )


def features(sources: Sequence[AnswerSource]) -> Iterator[Feature]:
    """The background as a whole, and under each annotated factor that varies."""
    for name, group in groups([source for source in sources if source.is_counted]).items():
        if group:
            yield Feature(
                key=name,
                kind="image-region",
                name=factor_words(name) or "the background",
                occurrences=tuple(_occurrences(group)),
            )


def _occurrences(group: Sequence[AnswerSource]) -> Iterator[Occurrence]:
    """The images whose wrong answer the background decided, else the right ones; clearest first."""
    decided = [source for source in group if source.region == "background"]
    # Right answers do no harm, but where none is wrong they show what the model looks at.
    misled = [source for source in decided if source.wrong] or decided
    for source in sorted(misled, key=lambda source: (-source.background_share, source.key)):
        yield Occurrence(sample=source.key, frame=0, strength=source.background_share)


def groups(sources: Sequence[AnswerSource]) -> dict[str, list[AnswerSource]]:
    """All images, then those of each value of each factor that has several values."""
    by_name = {BACKGROUND: list(sources)}
    for factor in dict.fromkeys(name for source in sources for name in source.factors):
        values = sorted({s.factors[factor] for s in sources if factor in s.factors})
        if len(values) > 1:  # a factor that never varies is the whole data set under another name
            for value in values:
                by_name[f"{BACKGROUND}|{factor}={value}"] = [
                    source for source in sources if source.factors.get(factor) == value
                ]
    return by_name


def factor_words(group: str) -> str:
    """The factor and value of a group, "" for all images.

    >>> factor_words("background"), factor_words("background|size=small")
    ('', 'size: small')
    """
    return group.partition("|")[2].replace("=", ": ", 1)
