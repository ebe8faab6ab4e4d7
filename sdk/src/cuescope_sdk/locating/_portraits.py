"""What the frames of findings show: attached to every report whose method calls it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from numpy.random import Generator

from cuescope_core.auditing import Audit
from cuescope_core.conclusions import (
    Contrast,
    Feature,
    Occurrence,
    Outline,
    Portrait,
    Score,
)
from cuescope_core.types import Frame, Sample
from cuescope_sdk.locating._changes import Change, change_of, colour_at
from cuescope_sdk.locating._figures import Figures, row_of, whole_picture
from cuescope_sdk.locating._linear import Training
from cuescope_sdk.locating._location import Location, locate
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._pictures import SIDE, square_pixels
from cuescope_sdk.locating._words import name_for, words_for_place
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import FrameId, typical_occurrences
from cuescope_sdk.tools import NameGuess

MOST = 8  # findings: as many as a page tells in full
FRAMES = 120  # on each side
OF_SAMPLE = 2  # frames of a clip
FEWEST = 6  # samples on each side: of fewer nothing is learned
DRAWN = 12  # pictures of a feature that a page shows
Whole = tuple[Figures, np.ndarray]


@dataclass(frozen=True, eq=False)
class Views:
    """The samples of an audit by key, with their frames as small as the localiser sees them."""

    samples: dict[str, Sample]
    small: dict[FrameId, Frame] = field(default_factory=dict)
    wholes: dict[FrameId, Whole] = field(default_factory=dict)

    @classmethod
    def of(cls, audit: Audit) -> "Views":
        """Of all samples that have frames; for `audit.once`."""
        return cls({sample.key: sample for sample in audit.samples if sample.frames})

    def frame(self, at: FrameId) -> Frame:
        """The small square of a frame: it is opened once, whatever findings it belongs to."""
        if at not in self.small:
            key, number = at
            pixels = square_pixels(self.samples[key].frames[number], SIDE)
            self.small[at] = Frame.from_array((255 * pixels).round().astype(np.uint8))
        return self.small[at]

    def whole(self, at: FrameId) -> Whole:
        """The figures of a frame, which are measured once."""
        if at not in self.wholes:
            key, number = at
            self.wholes[at] = whole_picture(self.samples[key].frames[number])
        return self.wholes[at]

    def place_of(self, occurrence: Occurrence) -> FrameId | None:
        """The frame of the data that an occurrence is in; None where the data has none."""
        key = occurrence.sample
        # of a changed sample the one that it was made of
        while key not in self.samples and "/" in key:
            key = key.rpartition("/")[0]
        if key not in self.samples:
            return None
        return key, min(occurrence.frame or 0, len(self.samples[key].frames) - 1)


@dataclass(frozen=True)
class Sides:
    """The samples that show a feature best, and those that lack it: by their keys."""

    shown: Sequence[str]
    others: Sequence[str]

    @property
    def are_enough(self) -> bool:
        """Whether a place can be learned from them."""
        return min(len(self.shown), len(self.others)) >= FEWEST


@dataclass(frozen=True, eq=False)
class Sight:
    """What was learned of a feature: its portrait, and what finds its place in further frames."""

    portrait: Portrait
    location: Location

    @property
    def name(self) -> str | None:
        """A few words, which are a guess; None where a namer has named it already."""
        return self.portrait.name


def attach_portraits(
    audit: Audit,
    features: Sequence[Feature],
    scores: Iterable[Score],
    sides: Mapping[str, Sides] | None = None,
    *,
    guess: bool = True,
    sights: Mapping[str, Sight] | None = None,
) -> None:
    """Where the cue of each finding is, what changes there, and how sure that is.

    Every method with findings about frames calls it in `verify`. Frames that a feature lists are
    held against others of the same labels, by their pixels alone. What is learned is judged on
    groups that it was not learned from. Of a feature that only ranks, the method may name the
    `sides` itself, by the feature's key. Without `guess` features keep their names. What was seen
    of them before (`sights`, by the feature's key) is attached as it is.
    """
    sides = sides or {}
    sights = sights or {}
    by_key = {feature.key: feature for feature in features}
    findings: dict[str, Score] = {}
    for score in scores:
        if score.finding and by_key[score.feature].occurrences:
            findings.setdefault(score.feature, score)
    strongest = list(findings.values())[:MOST]
    if not strongest:
        return
    views = audit.once(Views.of, audit)
    with audit.context.progress("looking at the cues", len(strongest)) as advance:
        for score in strongest:
            # a picture that cannot be read costs its portrait
            with audit.spare(f"the portrait of {score.feature}"):
                feature = by_key[score.feature]
                sight = sights.get(feature.key) or look_at(
                    audit, views, feature, score.label, sides.get(feature.key)
                )
                if sight is not None:
                    shown = tuple(outlines(audit, views, feature, sight.location))
                    changed = {"label": score.label, "outlines": shown}
                    # one cue of several runs has a key of its own, and the sight that of its run
                    changed["feature"] = feature.key
                    if not guess:
                        changed["name"] = None
                    audit.attach(sight.portrait.model_copy(update=changed))
            advance(1)


def look_at_features(
    audit: Audit,
    samples: Mapping[str, Sample],
    features: Sequence[Feature],
) -> list[Sight | None]:
    """What the frames of each feature show; None where nothing tells them from others.

    `samples` are those in which the features were found, by key. The model is not asked.
    """
    views = Views({key: sample for key, sample in samples.items() if sample.frames})
    sights: list[Sight | None] = [None] * len(features)
    with audit.context.progress("looking at the cues", len(features)) as advance:
        for number, feature in enumerate(features):
            with audit.spare(f"the portrait of {feature.key}"):
                sights[number] = look_at(audit, views, feature)
            advance(1)
    return sights


def look_at(
    audit: Audit,
    views: Views,
    feature: Feature,
    label: str | None = None,
    sides: Sides | None = None,
) -> Sight | None:
    """None where too few frames are with or without the feature, or nothing tells them apart."""
    frames, data = training_frames(audit, views, feature, sides)
    if not data.has_both(np.ones(len(frames), bool)):
        return None
    small = list(map(views.frame, frames))
    wholes = list(map(views.whole, frames))
    rng = audit.rng("portrait", feature.key, label or "")
    location = locate(small, np.stack(list(map(row_of, wholes))), data, rng)
    if location is None:
        return None
    change = change_of([figures for figures, _ in wholes], data)
    shown: list[Mask] = []
    if location.has_place:
        change, shown = _seen_at(location, small, data)
    where = words_for_place(location, shown)
    area = float(np.mean([mask.mean() for mask in shown])) if shown else None
    words = [*filter(None, [change.colour]), *change.words]
    # a namer's word is a name already, and knows what things are
    is_named = NameGuess.name_in(feature.name or "") is not None
    portrait = Portrait(
        feature=feature.key,
        label=label,
        name=None if is_named else name_for(where, area, change),
        where=where,
        what=", ".join(words) or "nothing that has a word here",
        area=area,
        auroc=location.auroc,
    )
    return Sight(portrait, location)


def _seen_at(
    location: Location, small: Sequence[Frame], data: Training
) -> tuple[Change, list[Mask]]:
    """What changes at the cue's place, and the place in frames with it."""
    # where others are likest the cue they have its colours too: of these all of the frame counts
    everywhere = np.ones((1, 1), bool)
    masks = [
        location.place_in(frame)
        if is_shown or location.mask is not None
        else everywhere
        for frame, is_shown in zip(small, data.shows, strict=True)
    ]
    pictures = [square_pixels(frame, SIDE) for frame in small]
    change = change_of(list(map(Figures.of, pictures, masks)), data)
    change = replace(change, colour=colour_at(pictures, masks, data))
    return change, list(compress(masks, data.shows))


def training_frames(
    audit: Audit,
    views: Views,
    feature: Feature,
    sides: Sides | None = None,
) -> tuple[list[FrameId], Training]:
    """Frames that show the feature, and frames of samples without it.

    They are held against each other within each label, so others are of labels that it lists;
    nothing where there are fewer samples on a side than `FEWEST`.
    """
    rng = audit.rng("portrait", "others", feature.key)
    if sides is not None and sides.are_enough:
        listed = _some_frames(views, sides.shown, rng)
        without = list(sides.others)
    else:
        listed, without = _by_list(views, feature)
    shuffled = [without[row] for row in rng.permutation(len(without))]
    others = _some_frames(views, shuffled, rng)
    frames = [*listed[:FRAMES], *others[:FRAMES]]
    shows = np.arange(len(frames)) < len(listed[:FRAMES])
    samples = [views.samples[key] for key, _ in frames]
    keys = np.array([key for key, _ in frames])
    if min(len(set(keys[shows])), len(set(keys[~shows]))) < FEWEST:
        frames, samples, shows = [], [], shows[:0]
    of_frames = np.array([str(sample.label) for sample in samples])
    return frames, Training(shows, of_frames, Groups.of(samples))


def _some_frames(views: Views, keys: Iterable[str], rng: Generator) -> list[FrameId]:
    """A few frames of each sample."""
    frames: list[FrameId] = []
    for key in keys:
        numbers = rng.permutation(len(views.samples[key].frames))
        frames += [(key, int(number)) for number in numbers[:OF_SAMPLE]]
    return frames


def _by_list(views: Views, feature: Feature) -> tuple[list[FrameId], list[str]]:
    """The frames that a feature lists, the strongest first, and the samples without it."""
    total = sum(len(sample.frames) for sample in views.samples.values())
    typical = typical_occurrences(feature, total)
    listed = _listed_frames(views, typical)
    with_it = {key for key, _ in listed}
    labels = {views.samples[key].label for key in with_it}
    without = _samples_without(views, feature.occurrences, labels)
    if len(without) < FEWEST:
        # all of these labels are ranked: its lower half is what has least of the feature
        upper = feature.occurrences[: len(feature.occurrences) // 2]
        without = _samples_without(views, upper, labels)
    return listed, without


def _samples_without(
    views: Views,
    occurrences: Iterable[Occurrence],
    labels: Collection[str | None],
) -> list[str]:
    """The samples of these labels in which nothing occurs."""
    places = filter(None, map(views.place_of, occurrences))
    with_it = {key for key, _ in places}
    return [
        key
        for key, sample in views.samples.items()
        if key not in with_it and sample.label in labels
    ]


def _listed_frames(
    views: Views,
    occurrences: Iterable[Occurrence],
) -> list[FrameId]:
    """The frames of the data, and of a clip no more than a few."""
    listed: list[FrameId] = []
    of_sample = Counter[str]()
    for occurrence in occurrences:
        at = views.place_of(occurrence)
        if at is None or of_sample[at[0]] >= OF_SAMPLE:
            continue
        of_sample[at[0]] += 1
        listed.append(at)
    return listed


def outlines(
    audit: Audit,
    views: Views,
    feature: Feature,
    location: Location,
) -> Iterable[Outline]:
    """One for all pictures where the place is one, else one for each picture of the report."""
    if location.mask is not None:
        yield Outline.of(location.mask)
        return
    if not location.has_place:
        return
    drawn = list(feature.occurrences[:DRAWN])
    for attached in audit.attachments:
        # of the side with the cue: without it there is no place to show
        if isinstance(attached, Contrast) and attached.feature == feature.key:
            drawn += [exhibit.occurrence for exhibit in attached.sides[0].exhibits]
    shown = {(item.sample, item.frame or 0): item for item in drawn}
    for (sample, number), occurrence in shown.items():
        at = views.place_of(occurrence)
        # a list holds frames without the cue, too
        if at is not None and location.is_seen_in(views.frame(at)):
            mask = location.place_in(views.frame(at))
            yield Outline.of(mask, sample, number)
