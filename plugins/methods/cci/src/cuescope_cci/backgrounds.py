"""Which kinds of backgrounds draw answers to which class.

An answer is drawn where the image is answered so and the objects alone are not. A mislabelled image
or a look-alike is answered alike with and without its background, so nothing draws it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import special

from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Factor,
    Sources,
    areas,
    distinct,
    groups_of,
    tested_sources,
    varying_factors,
)
from cuescope_cci.kinds import follows_size
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit, Sample
from cuescope_sdk.statistics import (
    DetectionLimit,
    LabelEffects,
    Permutation,
    benjamini_hochberg,
)
from cuescope_sdk.tools import CachedDetector, normalise_name

POWER = 0.8  # the convention of Cohen (1988)
SCORE = 0.3  # of a box: the default of Grounded-SAM, whose masks are the paper's (appendix A.3)

Mask = Bool[np.ndarray, " image"]
Codes = Int[np.ndarray, " image"]


@dataclass(frozen=True, eq=False)
class Pull:
    """How much more often a kind of background (a feature) draws the answer `label` than others do.

    `here` and `elsewhere` are the shares of answers that are drawn, `value` their difference,
    weighted to the true labels of the `images` that show the kind.
    `answered` of these are answered so, `drawn` of them only with the background.
    """

    feature: str
    label: str
    images: int
    answered: int
    drawn: int
    here: float
    elsewhere: float
    value: float
    low: float
    high: float
    p_value: float
    q_value: float


@dataclass(frozen=True, eq=False)
class Backgrounds:
    """What is known of the backgrounds of an audit: the pulls of all kinds and classes.

    In `beside` answers a thing of the class answered is on screen: no background draws these.
    `label` are codes of true labels, `shares` the shares of the images that each kind has.
    """

    sources: Sources
    label: Codes
    shares: Mapping[str, float]
    chance: float
    chance_p: float
    beside: int
    pulls: Sequence[Pull] = ()

    def found(self, level: float) -> list[Pull]:
        """The pulls that more than chance explains, surest first."""
        passing = [row for row in self.pulls if row.q_value <= level and row.low > 0]
        return sorted(passing, key=lambda row: (row.q_value, -row.value))

    def shown(self, level: float) -> list[Pull]:
        """The pulls that are found; else the surest one."""
        surest = sorted(self.pulls, key=lambda row: (row.q_value, -row.value))[:1]
        return self.found(level) or surest

    def smallest_findable(
        self, level: float, rng: np.random.Generator
    ) -> tuple[float, float | None] | None:
        """For a kind as common as most: its share, and the smallest share of answers drawn.

        As many answers as are drawn at least in 8 of 10 audits, tested as the audit's own. None
        where nothing was tested, and for the share where even all answers would not do.
        """
        if not self.pulls:
            return None
        share = float(np.median(list(self.shares.values())))
        count = len(self.sources)
        shows = rng.permutation(count) < round(share * count)
        places = rng.permutation(np.flatnonzero(shows))

        def is_found(size: float) -> bool:
            at_most = special.bdtr(np.arange(len(places) + 1), len(places), size)
            drawn = np.zeros(count)
            drawn[places[: int(np.searchsorted(at_most, 1 - POWER))]] = 1
            effects = self.effects(shows, drawn, rng)
            return p_value_of(effects) <= level / len(self.pulls)

        limit = DetectionLimit.bisect(is_found)
        return share, None if np.isinf(limit) else limit

    def effects(
        self, shows: np.ndarray, drawn: np.ndarray, rng: np.random.Generator
    ) -> LabelEffects:
        """The change of the share of answers that are drawn, within labels."""
        labels = int(self.label.max()) + 1
        groups = groups_of(self.sources)
        return LabelEffects.of(
            shows.astype(float), drawn, self.label, np.ones(labels), groups, rng
        )


def p_value_of(effects: LabelEffects) -> float:
    """One-sided p-value of no pull: a background that draws fewer answers is none."""
    return float(special.ndtr(-effects.z))


def measure_backgrounds(
    audit: Audit, options: CCIOptions, sources: Sources
) -> Backgrounds | None:
    """The pulls of an audit. For `audit.once`. None without images that can be tested."""
    # without answers to both parts an image cannot show what its background draws
    tested = tested_sources(sources)
    if not tested:
        return None
    groups = groups_of(tested)
    classes = sorted({name for source in tested for name in source.sample.choices})
    said = np.array([classes.index(source.prediction) for source in tested])
    alone = np.array([classes.index(str(source.object_answer)) for source in tested])
    labels = [source.classes[0] for source in tested]
    _, label = np.unique(labels, return_inverse=True)
    kinds = _kinds(varying_factors(tested), areas(tested))
    beside = _things_beside(audit, tested)
    true = np.array([classes.index(name) for name in labels])
    chance, chance_p = Permutation.chance_accuracy(
        said, true, groups, audit.rng("chance")
    )
    known = Backgrounds(
        sources=tested,
        label=label,
        shares={kind: float(present.mean()) for kind, present in kinds.items()},
        chance=chance,
        chance_p=chance_p,
        beside=int(beside.sum()),
    )
    is_drawn = (said != alone) & ~beside
    rng = audit.rng("pulls")
    pulls = []
    for feature, present in kinds.items():
        for code in np.unique(said[is_drawn]).tolist():
            drawn = (is_drawn & (said == code)).astype(float)
            effects = known.effects(present, drawn, rng)
            answered = int((said[present] == code).sum())
            pulls.append(
                _pull(
                    (feature, classes[code]),
                    (int(present.sum()), answered, int(drawn[present].sum())),
                    effects,
                    np.bincount(label[present], minlength=int(label.max()) + 1),
                    options.confidence,
                )
            )
    # over all pairs: each of them could have been reported
    q_values = benjamini_hochberg([row.p_value for row in pulls])
    corrected = [
        replace(row, q_value=float(q_value))
        for row, q_value in zip(pulls, q_values, strict=True)
    ]
    return replace(known, pulls=corrected)


def _pull(
    pair: tuple[str, str],
    counts: tuple[int, int, int],
    effects: LabelEffects,
    labels: Int[np.ndarray, " label"],
    confidence: float,
) -> Pull:
    """The effects of a pair over the labels of the images that show the kind."""
    weight = labels / labels.sum()
    over_labels = LabelEffects(
        (effects.without @ weight)[:, None],
        (effects.shown @ weight)[:, None],
        effects.slope,
    )
    [low], [high] = over_labels.interval(confidence)
    return Pull(
        *pair,
        *counts,
        here=float(over_labels.accuracy_with[0]),
        elsewhere=float(over_labels.accuracy_without[0]),
        value=float(over_labels.value[0]),
        low=float(low),
        high=float(high),
        p_value=p_value_of(effects),
        q_value=1.0,
    )


def _kinds(
    factors: Mapping[str, Factor], area: Float[np.ndarray, " image"]
) -> dict[str, Mask]:
    """The features that are kinds of backgrounds, and which images show each."""
    kinds = {}
    for name, factor in sorted(factors.items()):
        # a factor of size would find small objects, which is no cue of the background
        if not follows_size(factor, area):
            for value in distinct(factor):
                kinds[f"{BACKGROUND}|{name}={value}"] = np.array(factor) == value
    return kinds


# ---------------------------------------------------------------------------------- things beside


def _things_beside(audit: Audit, sources: Sources) -> Mask:
    """True where the background draws the answer to a class of which a thing is on screen.

    Data name what is on screen, and so does a detector. A second thing is no background, though it
    lies outside of the object's mask.
    """
    drawn = [s for s in sources if s.wrong and s.prediction != s.object_answer]
    named = {source.key: set(_annotated_names(source.sample)) for source in drawn}
    if drawn and "detector" in audit.tools:
        _detect_names(audit, drawn, named)
    return np.array(
        [
            normalise_name(source.prediction) in named.get(source.key, ())
            for source in sources
        ]
    )


def _detect_names(
    audit: Audit, sources: Sequence[AnswerSource], named: Mapping[str, set[str]]
) -> None:
    """Add what a detector finds of the answers."""
    detector = CachedDetector(audit.tools["detector"], audit.context)
    frames = [source.sample.frames[0] for source in sources]
    names = sorted({normalise_name(source.prediction) for source in sources})
    for source, boxes in zip(sources, detector.detect(frames, names), strict=True):
        surest = [box for box in boxes if box.score >= SCORE]
        named[source.key].update(normalise_name(box.name) for box in surest)


def _annotated_names(sample: Sample) -> Iterator[str]:
    """What data say to be in the image, by boxes, masks and words."""
    annotations = sample.annotations
    for detection in annotations.get("boxes", ()):
        yield normalise_name(detection.name)
    for name in (*annotations.get("masks", ()), *annotations.get("objects", ())):
        yield normalise_name(name)
