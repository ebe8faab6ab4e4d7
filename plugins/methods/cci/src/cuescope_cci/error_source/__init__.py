"""Which region each answer relies on, and whether a look-alike was named (section 3.1)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from jaxtyping import Float

from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.error_source.regions import (
    Apart,
    answers_apart,
    foreground_masks,
    hidden_region,
)
from cuescope_cci.kinds import clustered_kinds, follows_size
from cuescope_cci.options import CCIOptions, Rule
from cuescope_cci.scores import Mask, Region, region_of_map
from cuescope_cci.trials import AnsweredImage, answers_about, ask_images
from cuescope_sdk import Audit, Feature, Occurrence, Sample, UserError
from cuescope_sdk.data import warn_of_weak_data
from cuescope_sdk.explain import Canvas, foreground_of
from cuescope_sdk.maths import energy_share, upsample
from cuescope_sdk.statistics import Groups

BACKGROUND = "background"
KIND = "kind of background"
RULES: tuple[Rule, ...] = ("hidden", "iou")  # ours, and the paper's
Factor = list[str | None]  # the value that an annotated factor has in each image


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerSource(AnsweredImage):
    """An answer with the map (row, col) of the target, and the region that it relies on.

    `foreground` is the mask on the canvas, None where no mask is known; `region` is None where
    nothing can be said; `alike` says whether label and prediction look alike, None if unknown.
    `apart` has the answers to the background alone and to the objects alone, about all choices.
    `by_rule` has the region by our rule and by the paper's.
    """

    importance: np.ndarray
    foreground: np.ndarray | None = None
    region: Region | None = None
    alike: bool | None = None
    factors: dict[str, str] = field(default_factory=dict)
    apart: Apart | None = None
    by_rule: Mapping[str, Region | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the audited sample."""
        # images are asked on the model's canvas, whose samples have this suffix
        return self.sample.key.removesuffix("/canvas")

    @property
    def label(self) -> str | None:
        """The true class."""
        return self.sample.label

    @property
    def classes(self) -> tuple[str, str]:
        """The true and the predicted class."""
        return str(self.label), self.prediction

    @property
    def correct(self) -> bool:
        """Whether the true and the predicted class are the same."""
        return self.label == self.prediction

    @property
    def is_counted(self) -> bool:
        """Whether there is a true class and a region, so that the answer counts."""
        return self.label is not None and self.region is not None

    @property
    def is_tested(self) -> bool:
        """Whether it also has answers to the background alone and to the objects alone."""
        return self.is_counted and self.apart is not None

    @property
    def background_answer(self) -> str | None:
        """What the model answers to the background alone."""
        return self._top_choice(self.apart.background) if self.apart else None

    @property
    def object_answer(self) -> str | None:
        """What the model answers to the objects alone."""
        return self._top_choice(self.apart.objects) if self.apart else None

    def _top_choice(self, logits: np.ndarray) -> str:
        return self.sample.choices[int(logits.argmax())]

    @property
    def area(self) -> float:
        """The objects' share of the picture; 0 without a mask."""
        return 0.0 if self.foreground is None else float(self.foreground.mean())

    @property
    def on_background(self) -> bool:
        """Whether it relies on the background."""
        return self.region == "background"

    @property
    def on_object(self) -> bool:
        """Whether it relies on an object."""
        return self.region == "foreground"

    @property
    def fine_grained(self) -> bool:
        """A wrong answer that looked at an object and named its look-alike."""
        # None is unknown, and no look-alike
        return self.wrong and self.on_object and self.alike is True

    @property
    def background_share(self) -> float:
        """Share of the positive importance that lies on the background."""
        if self.foreground is None:
            return 0.0
        # The map is as coarse as the patches; the mask has the pixels.
        return energy_share(
            upsample(self.importance, self.foreground.shape), ~self.foreground
        )


Sources = Sequence[AnswerSource]


def answer_sources(audit: Audit, options: CCIOptions) -> list[AnswerSource]:
    """The source of every answer.

    For `audit.once`: a language model and a segmenter need not say the same twice.
    """
    check(audit, options)
    return with_kinds(audit, source_answers(audit, options, audit.samples))


def source_answers(
    audit: Audit,
    options: CCIOptions,
    samples: Sequence[Sample],
) -> list[AnswerSource]:
    """The source of the answers to some of the audit's samples; no kinds are made of clusters."""
    images = ask_images(audit, options, Canvas.samples(audit, samples))
    masks = foreground_masks(audit, samples)
    targets = [_target(options, image) for image in images]
    about = answers_about(audit, options, images, targets)
    sources = []
    for image, asked, target in zip(images, about, targets, strict=True):
        importance = asked.map_of(target, signed=options.paper)
        factors = {}
        for name, value in image.sample.annotations.get("factors", {}).items():
            # as texts: a manifest may have 1 in one row and "1" in another
            factors[str(name)] = str(value)
        sources.append(
            AnswerSource(**vars(image), importance=importance, factors=factors)
        )
    # Without masks no error is known to come from an object, so nothing is judged (or paid for).
    if masks is None:
        return sources
    return _with_regions(audit, options, sources, masks, about, targets)


def _target(options: CCIOptions, image: AnsweredImage) -> str:
    """The text that the map of an image is about."""
    match options.target:
        case "predicted":
            return image.prediction
        case "true":
            return str(image.sample.label)
        case text:
            return text


def _with_regions(
    audit: Audit,
    options: CCIOptions,
    sources: Sources,
    masks: Sequence[Mask],
    about: Sequence[AnsweredImage],
    targets: Sequence[str],
) -> list[AnswerSource]:
    """The sources with masks, and with the region that each target relies on.

    `about` are the images as they were asked about the targets.
    """
    # Pairs of classes, not images: a language model is paid for each question.
    pairs = sorted({source.classes for source in sources if source.wrong})
    judge = choose_judge(audit)
    alike = judge[1](pairs) if judge else {}
    apart = answers_apart(audit, sources, masks)
    apart_about = apart
    if options.target not in ("predicted", "true"):  # a text of its own is asked alone
        apart_about = answers_apart(audit, about, masks)
    completed = []
    for index, (source, mask) in enumerate(zip(sources, masks, strict=True)):
        by_rule: dict[str, Region | None] = {
            "hidden": hidden_region(about[index], targets[index], apart_about[index]),
            "iou": region_of_map(source.importance, mask),
        }
        completed.append(
            replace(
                source,
                foreground=mask,
                region=by_rule[options.region],
                by_rule=by_rule,
                alike=alike.get(source.classes),
                apart=apart[index],
            )
        )
    return completed


def with_kinds(audit: Audit, sources: Sources) -> list[AnswerSource]:
    """The sources, with the kind of background as a factor where no other factor tells it.

    That is where nothing but the object's size is annotated. Kinds are clusters of the model's
    embeddings of the background alone.
    """
    tested = tested_sources(sources)
    embeddings = [
        s.apart.embedding for s in tested if s.apart and s.apart.embedding is not None
    ]
    if not tested or len(embeddings) < len(tested) or _tell_backgrounds(tested):
        return list(sources)
    # of the background alone: with the objects in it a kind would be a class
    kinds = clustered_kinds(np.stack(embeddings), audit.rng("kinds of backgrounds"))
    if kinds is None:
        return list(sources)
    answers = np.array([str(source.background_answer) for source in tested])
    with_kind = {}
    # a number says nothing to a reader: the name tells what such a background is taken for
    for kind in range(int(kinds.max()) + 1):
        of_kind = kinds == kind
        alone, counts = np.unique(answers[of_kind], return_counts=True)
        name = f"{kind + 1} (alone mostly '{alone[counts.argmax()]}')"
        for source in compress(tested, of_kind):
            with_kind[source.key] = replace(
                source, factors=source.factors | {KIND: name}
            )
    return [with_kind.get(source.key, source) for source in sources]


def _tell_backgrounds(tested: Sources) -> bool:
    """True if a factor varies and is not the object's size, which says nothing of backgrounds."""
    area = areas(tested)
    return any(
        not follows_size(factor, area) for factor in varying_factors(tested).values()
    )


def check(audit: Audit, options: CCIOptions) -> None:
    """Raise UserError for options and samples that do not go together."""
    for sample in audit.samples:
        if not sample.choices or (options.target == "true" and sample.label is None):
            raise UserError(
                f"cci: sample '{sample.key}' has no {'label' if sample.choices else 'choices'}",
                expected="labelled images",
            )
    # other options: another method is audited, and its data need no masks
    if audit.options is options and (missing := _missing(audit)):
        warn_of_weak_data(
            audit,
            f"cci: the data has {missing}, so no background can be tested: the maps are drawn, "
            "and no cue can be found",
        )


def _missing(audit: Audit) -> str | None:
    """What a test of backgrounds lacks, and how to get it."""
    if all(sample.label is None for sample in audit.samples):
        return "no labels"
    masked = any(foreground_of(sample) is not None for sample in audit.samples)
    if masked or "segmenter" in audit.tools:
        return None
    return "no foreground masks (annotations['foreground'], or --tool segmenter=SPEC)"


def features(sources: Sources, kinds: Collection[str] = ()) -> Iterator[Feature]:
    """The background as a whole, and these kinds of it.

    It occurs in images whose wrong answer relies on it, else in right ones; clearest first.
    """
    for name, group in groups(counted_sources(sources)).items():
        if not group or name not in (BACKGROUND, *kinds):
            continue
        leaning = [source for source in group if source.on_background]
        occurrences = []
        # Right answers do no harm, but where none is wrong they show what the model looks at.
        for source in clearest_first(wrong_answers(leaning) or leaning):
            share = source.background_share
            occurrences.append(Occurrence(sample=source.key, frame=0, strength=share))
        words = factor_words(name) or "the background"
        yield Feature(
            key=name,
            kind="image-region",
            name=words,
            occurrences=tuple(occurrences),
        )


def counted_sources(sources: Sources) -> list[AnswerSource]:
    """Those with a true class and a region."""
    return [source for source in sources if source.is_counted]


def tested_sources(sources: Sources) -> list[AnswerSource]:
    """Those with answers to both parts, by key: random draws must not depend on their order."""
    return sorted(filter(lambda s: s.is_tested, sources), key=lambda source: source.key)


def areas(sources: Sources) -> Float[np.ndarray, " image"]:
    """The objects' shares of the pictures."""
    return np.array([source.area for source in sources])


def groups_of(sources: Sources) -> Groups:
    """Which of the images were drawn together."""
    return Groups.of([source.sample for source in sources])


def wrong_answers(sources: Sources) -> list[AnswerSource]:
    """Those that answer another than the true class."""
    return [source for source in sources if source.wrong]


def clearest_first(sources: Sources) -> list[AnswerSource]:
    """By how much of the map lies on the background."""
    # the key breaks ties: the report must not depend on the order of the data
    return sorted(sources, key=lambda source: (-source.background_share, source.key))


def by_rule(sources: Sources, rule: str) -> list[AnswerSource]:
    """The sources with the region that a rule says, without those of which it says nothing."""
    judged = []
    for source in sources:
        region = source.by_rule.get(rule)
        # a rule may say nothing of a map that has no positive part
        if region is not None:
            judged.append(replace(source, region=region))
    return judged


def groups(sources: Sources) -> dict[str, list[AnswerSource]]:
    """All images, then those of each value of each factor that has several values."""
    by_name = {BACKGROUND: list(sources)}
    for name, factor in varying_factors(sources).items():
        # sorted values: the order of features must not follow that of the images
        for value in distinct(factor):
            group = [source for source in sources if source.factors.get(name) == value]
            by_name[f"{BACKGROUND}|{name}={value}"] = group
    return by_name


def factor_values(sources: Sources) -> dict[str, Factor]:
    """The factors, in the order in which images name them."""
    factors: dict[str, Factor] = {}
    for index, source in enumerate(sources):
        for name, value in source.factors.items():
            factors.setdefault(name, [None] * len(sources))[index] = value
    return factors


def varying_factors(sources: Sources) -> dict[str, Factor]:
    """The factors that have several values: another one is the whole data set by another name."""
    factors = factor_values(sources)
    return {
        name: factor for name, factor in factors.items() if len(distinct(factor)) > 1
    }


def distinct(factor: Factor) -> list[str]:
    """The values of a factor, sorted."""
    return sorted(set(filter(None, factor)))


def factor_words(group: str) -> str:
    """The factor and value of a group, "" for all images.

    >>> factor_words("background"), factor_words("background|size=small")
    ('', 'size: small')
    """
    # once: a value may have an equals sign of its own
    return group.partition("|")[2].replace("=", ": ", 1)
