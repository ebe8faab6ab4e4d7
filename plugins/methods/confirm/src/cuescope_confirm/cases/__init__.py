"""What an intervention is done to for a cue, and its placebo: pairs of cases of the same sample."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import Literal

import numpy as np

from cuescope_confirm.cases.moving import move_frames, move_place, steps_onto
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.annotated import object_masks
from cuescope_confirm.locating.places import LocatedCue, size_of
from cuescope_confirm.study import BACKGROUNDS, Study, shuffle
from cuescope_sdk import Sample
from cuescope_sdk.interventions import Case, Intervention, Place
from cuescope_sdk.locating import stretch

CONTROLS = 2  # samples without the cue for each so many with it: half as many
DONORS = 24  # of which the one is taken whose region covers most of the sample's own
COVERED = 0.6  # of a sample's region must be inside of the donor's
SMALLEST = 0.002  # share of the pixels: smaller regions are not worth a change
WIDE = 0.5  # share of the pixels: a larger region is a background, and leaves objects in place
NOTHING = ("table", "window", "lamp", "chair", "bottle", "book", "clock", "basket")


@dataclass(frozen=True, eq=False)
class Pair:
    """A case and its placebo, both of one sample; `control` for a sample without the cue."""

    case: Case
    placebo: Case | None
    control: bool = False


def pairs_of(
    study: Study,
    target: Target,
    plugin: Intervention,
) -> list[Pair]:
    """The pairs of one intervention for one cue; [] where there are none.

    Interventions of one sort are done to the same samples, beside the same placebos.
    """
    if target.located is None:
        return []
    most = study.options.samples
    rng = study.rng("pairs", target.cue.id, *sort_of(plugin))
    maker = PairMaker(target, target.located, plugin, rng)
    pairs = list(islice(maker.pairs(), most))
    is_in_place = plugin.placebo in ("elsewhere", "other frames")
    if is_in_place and plugin.effect == "removes" and pairs:
        pairs += islice(maker.controls(pairs), most // CONTROLS)
    return pairs


def sort_of(plugin: Intervention) -> tuple[str, ...]:
    """What decides the cases of an intervention."""
    where = () if plugin.in_place else ("anywhere",)
    return plugin.needs, plugin.effect, plugin.placebo, *where


@dataclass(frozen=True, eq=False)
class PairMaker:
    """Makes pairs for one cue and one kind of intervention, each by what the kind needs."""

    target: Target
    located: LocatedCue
    plugin: Intervention
    rng: np.random.Generator

    def pairs(self) -> Iterator[Pair]:
        """In a random order."""
        needs = self.plugin.needs
        if needs == "name":
            return self._mentions()
        if needs == "still":
            return self.stills(self.plugin.effect)
        if needs == "region" and self.plugin.effect == "inserts":
            return self._insertions()
        makers: dict[str, Callable[[Sample, Place], Pair | None]] = {
            "frames": self._frames,
            "words": self._words,
            "modality": lambda sample, place: Pair(Case(sample, place), None),
            "question": self._question,
            "region": self._region,
        }
        if needs == "region" and self.plugin.placebo == "other donor":
            makers["region"] = self._swap
        samples = self._shuffle_judged(self.located.places)
        places = [self.located.places[sample.key] for sample in samples]
        return filter(None, map(makers[needs], samples, places))

    def controls(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """The same in samples that do not show the cue, where a localiser would see it.

        At the places of samples with it where none is known.
        """
        make = self._frames
        likest: Mapping[str, Place] = {}
        if self.plugin.needs == "region":
            make = self._region
            likest = self.located.likest
        samples = self._shuffle_judged(self.located.without)
        # stable: within each side the order stays random
        samples.sort(key=lambda sample: sample.key not in likest)
        for number, sample in enumerate(samples):
            # pairs in turns: there may be more samples without the cue
            model = pairs[number % len(pairs)].case
            sizes = list(map(size_of, sample.frames))
            place = likest.get(sample.key) or fit_place(model.place, sizes)
            pair = None if place is None else make(sample, place)
            if pair is not None:
                yield replace(pair, control=True)

    def _shuffle_judged(self, keys: Iterable[str]) -> list[Sample]:
        # sorted: a set has no order of its own, and a seed must give the same draw
        samples = map(self.target.samples.__getitem__, sorted(keys))
        return shuffle(list(filter(self.target.is_judged, samples)), self.rng)

    def _case(self, sample: Sample, place: Place) -> Case:
        # drawn once: case and placebo share it, as an editor draws by it
        seed = int(self.rng.integers(2**31))
        return Case(sample, place, word=self.located.word, seed=seed)

    def _objects(self, sample: Sample) -> tuple[np.ndarray, ...]:
        # a segmenter's masks were kept as the cue was located; annotated ones are read here
        objects = self.located.objects.get(sample.key)
        if objects is None:
            return object_masks(sample, self.target.cue.label)
        return objects

    # ---------------------------------------------------------------- of one sample

    def _region(self, sample: Sample, place: Place) -> Pair | None:
        if place.area < SMALLEST:
            return None
        # what has no placebo needs no second region: the cue may fill the frame
        if self.plugin.placebo == "none":
            return Pair(self._case(sample, place), None)
        # the placebo is as large, elsewhere, and covers as much of the object
        other = place.elsewhere(self._objects(sample), self.rng)
        if other is None:
            return None
        case = self._case(sample, place)
        # no word: an editor must not look for the cue where it is not
        return Pair(case, replace(case, place=other, word=None))

    def _frames(self, sample: Sample, place: Place) -> Pair | None:
        frames = place.frames
        count = len(sample.frames)
        free = tuple(sorted(set(range(count)).difference(frames)))
        other = place.other_frames(count, self.rng)
        # frames of another sample, which may be longer
        if not frames or max(frames) >= count or not free:
            return None
        without = Place(frames=free)
        case = Case(sample, Place(frames=frames), donor_place=without)
        if self.plugin.effect == "inserts":
            return Pair(case, replace(case, place=without))
        if other is None:
            return None
        # what fills its frames is neither the cue nor one of those that are replaced
        left = tuple(sorted(set(free).difference(other.frames)))
        return Pair(case, replace(case, place=other, donor_place=Place(frames=left)))

    def _words(self, sample: Sample, place: Place) -> Pair | None:
        spans = place.spans
        free = _free_words(sample.question or "", spans)
        count = len(spans)
        # as many words as the cue has, so that the question loses as much
        if not 0 < count <= len(free):
            return None
        rows = self.rng.choice(len(free), count, replace=False)
        other = tuple(free[row] for row in sorted(rows))
        case = Case(sample, Place(spans=spans))
        return Pair(case, replace(case, place=Place(spans=other)))

    def _mentions(self) -> Iterator[Pair]:
        word = self.located.word or ""
        taken = {word.lower()}
        for sample in self.target.samples.values():
            taken.update(map(str, sample.choices))
        # a thing that is an answer would be a hint
        others = [name for name in NOTHING if name not in taken]
        samples = self._shuffle_judged(self.located.without)
        for sample in samples or self._shuffle_judged(self.located.places):
            question = (sample.question or "").lower()
            # where the question names it already, a sentence would add nothing
            if question and word.lower() not in question:
                other = str(self.rng.choice(others))
                case = Case(sample, Place(), word=word)
                yield Pair(case, replace(case, word=other))

    # -------------------------------------------------------------- with another one

    def _question(self, sample: Sample, place: Place) -> Pair | None:
        """Another label's question, and as a placebo another one of the same label."""
        cases = []
        for donors in self._donors(sample):
            able = []
            for donor in donors:
                is_other = donor.question and donor.question != sample.question
                # other choices would make it another task
                if is_other and donor.choices == sample.choices:
                    able.append(donor)
            if not able:
                return None
            cases.append(Case(sample, place, donor=self._any(able)))
        case, placebo = cases
        return Pair(case, placebo)

    def _any(self, samples: Sequence[Sample]) -> Sample:
        return samples[int(self.rng.integers(len(samples)))]

    def _swap(self, sample: Sample, place: Place) -> Pair | None:
        # what is pasted must leave the sample's own object
        if self._is_background and self.plugin.in_place:
            place = self._beside_object(place, sample)
        if place.area < SMALLEST:
            return None
        without, keeping = self._donors(sample)
        likest = self.located.likest
        # colours come from where the localiser looks, so this must be known
        if likest and not self.plugin.in_place:
            without = [donor for donor in without if donor.key in likest]
        others = shuffle(without, self.rng)
        same = self._covering_donor(place, keeping)
        if not others or same is None:
            return None
        case = self._case(sample, place)
        return Pair(self._with_donor(case, others[0]), self._with_donor(case, same))

    def _with_donor(self, case: Case, donor: Sample) -> Case:
        """Of the donor is taken what is no object, or where the cue is or would be; else all."""
        located = self.located
        if self.plugin.in_place:
            # its object is not taken along, where that is known
            place = Place()
            if self._is_background:
                place = Place(tuple(map(np.invert, self._objects(donor))))
        else:
            likest = located.likest.get(donor.key, Place())
            place = located.places.get(donor.key, likest)
        return replace(case, donor=donor, donor_place=place)

    def _donors(self, sample: Sample) -> tuple[list[Sample], list[Sample]]:
        """Samples without the cue, and others that show it."""
        samples = self.target.samples
        showing = [samples[key] for key in self.located.places if key != sample.key]
        if self.target.by_label:
            return self._by_form(sample, showing)
        without = [samples[key] for key in sorted(self.located.without)]
        # the same labels on both sides, or the label would change with the cue
        labels = {donor.label for donor in showing}
        return [donor for donor in without if donor.label in labels] or without, showing

    def _by_form(
        self, sample: Sample, donors: Sequence[Sample]
    ) -> tuple[list[Sample], list[Sample]]:
        """Those of another form than the sample's, and those of its own."""
        form = self._form(sample)
        same: list[Sample] = []
        other: list[Sample] = []
        for donor in donors:
            side = same if self._form(donor) == form else other
            side.append(donor)
        return other, same

    def _form(self, sample: Sample) -> str | None:
        """In what form a sample shows what all show: its annotated kind, else that of its label."""
        factors = sample.annotations.get("factors", {})
        return str(factors.get(self.target.cue.feature.key) or sample.label)

    def _covering_donor(
        self,
        place: Place,
        donors: Sequence[Sample],
    ) -> Sample | None:
        """Of some that show the cue, the one whose own region covers most of the place.

        Moved there, or as it is: a cue that lies elsewhere would not be pasted, and be no placebo.
        """
        some = shuffle(donors, self.rng)[:DONORS]
        if not self.plugin.in_place:
            return some[0] if some else None
        sizes = [mask.shape for mask in place.masks]
        best: tuple[Sample | None, float] = (None, COVERED)
        for donor in some:
            shown = fit_place(self.located.places[donor.key], sizes)
            if shown is None or not shown.masks:
                continue
            able = [(donor, shown)]
            # a background is all round, and what stands before it would move along
            if not self._is_background:
                steps = steps_onto(place, shown)
                able.append((move_frames(donor, steps), move_place(shown, steps)))
            for sample, other in able:
                best = max(best, (sample, _share(place, other)), key=itemgetter(1))
        return best[0]

    @property
    def _is_background(self) -> bool:
        area = self.located.area or 0.0
        return self.target.cue.kind in BACKGROUNDS or area > WIDE

    def stills(self, effect: Literal["removes", "inserts"]) -> Iterator[Pair]:
        """Each towards a sample of its label of the other side, and towards one of its own side.

        The sides are samples with the cue and samples without it.
        """
        sides = [sorted(self.located.places), sorted(self.located.without)]
        if effect == "inserts":
            sides.reverse()
        side, other_side = map(self._by_label, sides)
        for sample in self._shuffle_judged(sides[0]):
            alike = [donor for donor in side[sample.label] if donor.key != sample.key]
            others = other_side[sample.label]
            if alike and others and sample.frames:
                donor = self._any(others)
                # in the frames that show it, in the sample or in what it is put in from
                place = self._frames_showing(sample, sample.key, donor.key)
                case = self._case(sample, place)
                placebo = self._towards(case, self._any(alike))
                yield Pair(self._towards(case, donor), placebo)

    def _by_label(self, keys: Iterable[str]) -> Mapping[str | None, list[Sample]]:
        by_label = defaultdict[str | None, list[Sample]](list)
        for key in keys:
            sample = self.target.samples[key]
            by_label[sample.label].append(sample)
        return by_label

    def _towards(self, case: Case, donor: Sample) -> Case:
        place = self._frames_showing(donor, donor.key)
        return replace(case, donor=donor, donor_place=place)

    def _frames_showing(self, sample: Sample, *keys: str) -> Place:
        """All of the frames that show the cue in a sample of the keys; else every frame."""
        count = len(sample.frames)
        shown = set[int]()
        for key in self.located.places.keys() & set(keys):
            shown.update(self.located.places[key].frames)
        # another sample may be longer
        frames = sorted(shown.intersection(range(count)))
        return Place.whole(list(map(size_of, sample.frames)), frames)

    def _insertions(self) -> Iterator[Pair]:
        # every sample shows it: there is none to put it into
        if self.target.by_label:
            return
        samples = self.target.samples
        by_label = self._by_label(sorted(self.located.without))
        donors = []
        for key, shown in sorted(self.located.places.items()):
            if shown.area >= SMALLEST and samples[key].label in by_label:
                donors.append(samples[key])
        if not donors:
            return
        for sample in self._shuffle_judged(self.located.without):
            donor = self._any(donors)
            of_label = by_label[donor.label]
            alike = [other for other in of_label if other.key != sample.key]
            sizes = list(map(size_of, sample.frames))
            place = fit_place(self.located.places[donor.key], sizes)
            if place is None or not alike:
                continue
            place = self._beside_object(place, sample)
            if place.area < SMALLEST:
                continue
            # of the donor's label, so that only the cue differs
            other = self._any(alike)
            case = self._case(sample, place)
            yield Pair(self._with_donor(case, donor), self._with_donor(case, other))

    def _beside_object(self, place: Place, sample: Sample) -> Place:
        """Without what would cover the sample's own object."""
        objects = self._objects(sample)
        if len(objects) != len(place.masks):
            return place
        masks = map(np.logical_and, place.masks, map(np.invert, objects))
        return Place(tuple(masks), place.frames)


def fit_place(
    place: Place,
    sizes: Sequence[tuple[int, ...]],
) -> Place | None:
    """A place in frames of these sizes, (row, col): stretched; None for another number of them."""
    if not place.masks:
        return place
    if len(sizes) != len(place.masks):
        return None
    masks = map(stretch, place.masks, sizes)
    return Place(tuple(masks), place.frames)


def _free_words(
    question: str, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Where the words of a question are that no span touches, without its first."""
    free = []
    for word in islice(re.finditer(r"\w+", question), 1, None):
        start, end = word.span()
        if not any(first < end and start < last for first, last in spans):
            free.append((start, end))
    return free


def _share(place: Place, other: Place) -> float:
    """The share of a place that another one covers."""
    total = sum(map(np.sum, place.masks))
    if not total:
        return 0.0
    both = map(np.logical_and, place.masks, other.masks)
    return float(sum(map(np.sum, both)) / total)
