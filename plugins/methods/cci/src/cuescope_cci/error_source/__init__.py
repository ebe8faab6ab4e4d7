"""Which region each answer leans on, and whether a look-alike was named (section 3.1)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cuescope_cci.backgrounds.kinds import clustered_kinds, follows_size
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.error_source.regions import Apart, answers_apart, foreground_masks, regions
from cuescope_cci.options import CCIOptions, Rule
from cuescope_cci.scores import Mask, Region
from cuescope_cci.trials import AnsweredImage, answers_about, ask_images, importance_maps
from cuescope_sdk import Audit, Feature, Occurrence, Sample, UserError
from cuescope_sdk.data import warn_of_weak_data
from cuescope_sdk.explain import canvas_samples, foreground_of
from cuescope_sdk.maths import energy_share, upsample

BACKGROUND = "background"
KIND = "kind of background"
BESIDE: tuple[Rule, ...] = ("hidden", "iou")  # rules that are always reckoned: ours and the paper's


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerSource(AnsweredImage):
    """An answer with the map (row, col) of the target, and the region that it leans on.

    `foreground` is the mask on the canvas, None where no mask is known; `region` is None where
    nothing can be said; `alike` says whether label and prediction look alike, None if unknown.
    `apart` has the answers to the background alone and to the objects alone, about all choices.
    `by_rule` has the region by each of several rules, the paper's among them.
    """

    importance: np.ndarray
    foreground: np.ndarray | None
    region: Region | None
    alike: bool | None
    factors: dict[str, str] = field(default_factory=dict)
    apart: Apart | None = None
    by_rule: Mapping[str, Region | None] = field(default_factory=dict)

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
    def overruled(self) -> bool:
        """Whether the answer is that to the background alone, and not that to the objects alone."""
        return self.prediction == self.background_answer != self.object_answer

    @property
    def area(self) -> float:
        """The objects' share of the picture; 0 without a mask."""
        return 0.0 if self.foreground is None else float(self.foreground.mean())

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
    return with_kinds(audit, options, source_answers(audit, options, audit.samples))


def source_answers(
    audit: Audit, options: CCIOptions, samples: Sequence[Sample]
) -> list[AnswerSource]:
    """The source of the answers to some of the audit's samples; no kinds are made of clusters."""
    images = ask_images(audit, options, canvas_samples(audit, samples))
    masks = foreground_masks(audit, samples)
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
    maps = list(importance_maps(audit, options, about, targets))
    leans: dict[str, list[Region | None]] = {options.region: [None] * len(images)}
    apart: list[Apart | None] = [None] * len(images)
    if masks is not None:
        apart = answers_apart(audit, images, masks)
        of_targets = _about_targets(audit, images, about, masks, apart)
        # The paper's rule stands beside ours, whichever is asked for: it costs no question.
        rules = dict.fromkeys((options.region, *BESIDE))
        leans = {
            rule: regions(rule, options.strongest, about, targets, maps, masks, of_targets)
            for rule in rules
        }
    return [
        AnswerSource(
            **vars(image),
            importance=maps[index],
            foreground=None if masks is None else masks[index],
            region=leans[options.region][index],
            by_rule={rule: of_rule[index] for rule, of_rule in leans.items()},
            alike=alike.get((str(image.sample.label), image.prediction)),
            factors={
                str(name): str(value)
                for name, value in image.sample.annotations.get("factors", {}).items()
            },
            apart=apart[index],
        )
        for index, image in enumerate(images)
    ]


def _about_targets(
    audit: Audit,
    images: Sequence[AnsweredImage],
    about: Sequence[AnsweredImage],
    masks: Sequence[Mask],
    apart: Sequence[Apart | None],
) -> list[Apart | None]:
    """Answers to the regions about the targets: a text of its own is asked alone."""
    others = [i for i, image in enumerate(about) if image.sample is not images[i].sample]
    chosen = list(apart)
    asked = answers_apart(audit, [about[i] for i in others], [masks[i] for i in others])
    for index, parts in zip(others, asked, strict=True):
        chosen[index] = parts
    return chosen


def with_kinds(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]
) -> list[AnswerSource]:
    """The sources, with the kind of background as a factor where kinds are taken from clusters.

    By default that is where nothing but the object's size is annotated.
    """
    tested = sorted((source for source in sources if source.is_tested), key=lambda s: s.key)
    if not _clusters_wanted(options, tested):
        return list(sources)
    embeddings = [s.apart.embedding for s in tested if s.apart and s.apart.embedding is not None]
    if len(embeddings) < len(tested):
        return list(sources)
    kinds = clustered_kinds(np.stack(embeddings), audit.rng("kinds of backgrounds"))
    if kinds is None:
        return list(sources)
    names: dict[int, str] = {}
    for kind in range(int(kinds.max()) + 1):
        own = [s.background_answer for s, k in zip(tested, kinds, strict=True) if k == kind]
        most = max(sorted({str(answer) for answer in own}), key=own.count)
        names[kind] = f"{kind + 1} (alone mostly '{most}')"
    of_key = {s.key: {KIND: names[int(k)]} for s, k in zip(tested, kinds, strict=True)}
    return [replace(s, factors=s.factors | of_key.get(s.key, {})) for s in sources]


def _clusters_wanted(options: CCIOptions, tested: Sequence[AnswerSource]) -> bool:
    if options.kinds != "auto" or not tested:
        return options.kinds == "clusters" and bool(tested)
    area = np.array([source.area for source in tested])
    values = {
        name: [source.factors.get(name) for source in tested]
        for name in {name for source in tested for name in source.factors}
    }
    return all(len(set(own)) < 2 or follows_size(own, area) for own in values.values())


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
    """Images whose wrong answer leans on the background, else the right ones; clearest first."""
    leaning = [source for source in group if source.region == "background"]
    # Right answers do no harm, but where none is wrong they show what the model looks at.
    misled = [source for source in leaning if source.wrong] or leaning
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
