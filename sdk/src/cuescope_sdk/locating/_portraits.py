"""What the frames of findings show: attached to every report whose method calls it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
from cuescope_sdk.locating._changes import Change, change_at
from cuescope_sdk.locating._hiding import (
    FEWEST as FEWEST_HIDDEN,
    TRIALS,
    mend_by_hiding,
)
from cuescope_sdk.locating._linear import Training
from cuescope_sdk.locating._location import Location, Pictures, least_telling
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._pictures import SIDE, square_pixels
from cuescope_sdk.locating._whole_changes import change_of_whole
from cuescope_sdk.locating._whole_pictures import Whole, auroc_of_figures
from cuescope_sdk.locating._words import name_for, words_for_place
from cuescope_sdk.locating._written import Written, text_at
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import Answers, FrameId, typical_occurrences
from cuescope_sdk.tools import NameGuess

MOST = 8  # findings: as many as a page tells in full
FRAMES = 120  # on each side
OF_SAMPLE = 2  # frames of a clip
FEWEST = 6  # samples on each side: of fewer nothing is learned
DRAWN = 12  # pictures of a feature that a page shows
CLEARER = 0.05  # of AUROC, by which a look at fewer samples has to be clearer
HIDDEN = 3  # findings of which the model is asked where they are


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
            self.wholes[at] = Whole.of(self.samples[key].frames[number])
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
    is_told: bool

    def clarity(self) -> tuple[bool, float]:
        """What changes has a word, or none; then how well frames are told."""
        return self.is_told, self.portrait.auroc

    @property
    def can_be_outshone(self) -> bool:
        """Whether another look may be clearer by more than chance."""
        return not self.is_told or self.portrait.auroc + CLEARER < 1

    def outshines(self, other: "Sight | None") -> bool:
        """Whether this look is clearer than another one, of more samples, by more than chance."""
        if other is None:
            return True
        return (self.is_told, self.portrait.auroc - CLEARER) > other.clarity()

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
    answers: Answers | None = None,
) -> None:
    """Where the cue of each finding is, what changes there, and how sure that is.

    Every method with findings about frames calls it in `verify`. Frames that a feature lists are
    held against others of the same labels, by their pixels alone. What is learned is judged on
    groups that it was not learned from. Of a feature that only ranks, the method may name the
    `sides` itself, by the feature's key. Without `guess` features keep their names. What was seen
    of them before (`sights`, by the feature's key) is attached, unless what is seen now is clearer
    by more than chance. Where the model's `answers` to all frames are given, samples that are
    listed and answered wrongly are looked at by themselves too; and the model is asked: of the
    first findings that pictures give no place it says where hiding a part of them mends its
    answers, in no more than `most_hidden` questions.
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
    left = HIDDEN if Answers.can_ask_about_changes(audit) else 0
    with audit.context.progress("looking at the cues", len(strongest)) as advance:
        for score in strongest:
            # a picture that cannot be read costs its portrait
            with audit.spare(f"the portrait of {score.feature}"):
                feature = by_key[score.feature]
                sight = _clearest_look(
                    audit,
                    views,
                    feature,
                    score.label,
                    sides.get(feature.key),
                    sights.get(feature.key),
                    answers,
                )
                if answers and left and not (sight and sight.location.has_place):
                    left -= 1
                    with audit.spare(f"hiding parts of the pictures of {feature.key}"):
                        found = _look_by_hiding(
                            audit, views, feature, score.label, answers
                        )
                        sight = found or sight
                if sight is not None:
                    shown = tuple(outlines(audit, views, feature, sight.location))
                    changed = {"label": score.label, "outlines": shown}
                    # one cue of several runs has a key of its own, and the sight that of its run
                    changed["feature"] = feature.key
                    if not guess:
                        changed["name"] = None
                    audit.attach(sight.portrait.model_copy(update=changed))
            advance(1)


def _clearest_look(
    audit: Audit,
    views: Views,
    feature: Feature,
    label: str | None,
    sides: Sides | None,
    before: Sight | None,
    answers: Answers | None,
) -> Sight | None:
    """What was seen `before`, at the frames that a feature lists, or at its errors alone."""
    clearest = before
    if before is None or before.can_be_outshone:
        now = look_at(audit, views, feature, label, sides)
        if now is not None and now.outshines(before):
            clearest = now
    if answers is None or (clearest is not None and not clearest.can_be_outshone):
        return clearest
    errors = _errors_of(views, feature, answers)
    # without enough of them it would be the same look again
    if not errors.are_enough:
        return clearest
    of_errors = look_at(audit, views, feature, label, errors)
    is_clearer = of_errors is not None and of_errors.outshines(clearest)
    return of_errors if is_clearer else clearest


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


def shared_look(audit: Audit, samples: Sequence[Sample]) -> str | None:
    """What some samples of an audit show and others of their labels do not: a guess, in words.

    None where they are too few, or nothing has a word. The model is not asked.
    """
    occurrences = [
        Occurrence(sample=sample.key, frame=number)
        for sample in samples
        for number in range(len(sample.frames))
    ]
    feature = Feature(key="shared", kind="samples", occurrences=tuple(occurrences))
    with audit.spare("what samples share"):
        sight = look_at(audit, audit.once(Views.of, audit), feature)
        if sight is not None and sight.is_told:
            return sight.name
    return None


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
    exhibit = _Exhibit(views, feature, label, frames, data)
    rng = audit.rng("portrait", feature.key, label or "")
    location = exhibit.pictures.locate(data, rng)
    if location.spread == "unknown":
        auroc = auroc_of_figures(exhibit.wholes(), data, rng)
        if auroc < least_telling(data):
            return None
        location = Location("everywhere", auroc)
    return exhibit.sight(location)


def most_hidden(audit: Audit) -> int:
    """What `attach_portraits` asks at most, where it is given answers."""
    return HIDDEN * TRIALS if Answers.can_ask_about_changes(audit) else 0


def _look_by_hiding(
    audit: Audit,
    views: Views,
    feature: Feature,
    label: str | None,
    answers: Answers,
) -> Sight | None:
    """By the model; None where hiding a part of these frames seldom mends its answers."""
    frames, data = training_frames(audit, views, feature, fewest=FEWEST_HIDDEN)
    listed = list(compress(frames, data.shows))
    mending = mend_by_hiding(audit, answers, listed)
    if mending is None:
        return None
    known = np.array([at in mending.masks for at in frames], bool)
    rows = np.flatnonzero(known | ~data.shows)
    told = [frames[row] for row in rows.tolist()]
    masks = {views.frame(at).key: mask for at, mask in mending.masks.items()}
    location = Location.of_masks(masks, mending.auroc)
    exhibit = _Exhibit(views, feature, label, told, data.take(rows))
    return exhibit.sight(location, mending.words)


@dataclass(frozen=True, eq=False)
class _Exhibit:
    """A feature of a label, and the frames with it and without it that are held up."""

    views: Views
    feature: Feature
    label: str | None
    frames: Sequence[FrameId]
    data: Training

    @cached_property
    def pictures(self) -> Pictures:
        """The frames, small."""
        return Pictures([self.views.frame(at) for at in self.frames])

    def wholes(self) -> list[Whole]:
        """The figures of each frame."""
        return list(map(self.views.whole, self.frames))

    def sight(self, location: Location, mends: str | None = None) -> Sight:
        """What is seen where a cue is; `mends` says what the model told of this place."""
        change = Change()
        written = None
        shown: list[Mask] = []
        if location.has_place:
            masks = self._masks(location)
            shown = list(compress(masks, self.data.shows))
            change, written = self._seen_at(masks)
        # where the model told it there is a place, whatever is seen of the whole
        if written is None and mends is None and not change.is_told:
            of_whole = change_of_whole(self.wholes(), self.data)
            # light from one side is clearest somewhere, and has no word there
            if of_whole.is_told:
                change = of_whole
                location = Location("everywhere", location.auroc)
                shown = []
        where = words_for_place(location, shown)
        area = float(np.mean([mask.mean() for mask in shown])) if shown else None
        # a namer's word is a name already, and knows what things are
        is_named = NameGuess.name_in(self.feature.name or "") is not None
        words = words_for_change(change, written)
        portrait = Portrait(
            feature=self.feature.key,
            label=self.label,
            name=None if is_named else name_for(where, area, change, written),
            where=where,
            what=", ".join(words) or "nothing that has a word here",
            area=area,
            auroc=location.auroc,
            mends=mends,
        )
        return Sight(portrait, location, is_told=bool(words))

    def _masks(self, location: Location) -> list[Mask]:
        """The place in each frame; of one without the cue, where it moves, all of the frame."""
        # where others are likest the cue they have its colours too
        everywhere = np.ones((1, 1), bool)
        moves = location.mask is None
        masks = []
        for frame, is_shown in zip(self.pictures.frames, self.data.shows, strict=True):
            is_sought = is_shown or not moves
            masks.append(location.place_in(frame) if is_sought else everywhere)
        return masks

    def _seen_at(self, masks: Sequence[Mask]) -> tuple[Change, Written | None]:
        """What changes at these places, and what is written there."""
        large = [self.views.samples[key].frames[number] for key, number in self.frames]
        change = change_at(self.pictures.cells, large, masks, self.data)
        placed = list(zip(large, masks, strict=True))
        shown = list(compress(placed, self.data.shows))
        others = list(compress(placed, ~self.data.shows))
        return change, text_at(shown, others)


def words_for_change(change: Change, written: Written | None = None) -> list[str]:
    """What is written there, the words of a change, and the colour that its frames share."""
    words = [*change.words] if written is None else [str(written), *change.words]
    if change.colour is not None:
        words.append(f"the same {change.colour} in most of these pictures")
    return words


def training_frames(
    audit: Audit,
    views: Views,
    feature: Feature,
    sides: Sides | None = None,
    *,
    fewest: int = FEWEST,
) -> tuple[list[FrameId], Training]:
    """Frames that show the feature, and frames of samples without it.

    They are held against each other within each label, so others are of labels that it lists;
    nothing where there are fewer samples on a side than the `fewest`.
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
    if min(len(set(keys[shows])), len(set(keys[~shows]))) < fewest:
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


def _errors_of(views: Views, feature: Feature, answers: Answers) -> Sides:
    """The listed samples that are answered wrongly, and those without the feature.

    A list holds samples without the cue too. Most of these are answered right.
    """
    listed, without = _by_list(views, feature)
    keys = dict.fromkeys(key for key, _ in listed)
    return Sides([key for key in keys if key in answers.wrong], without)


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
