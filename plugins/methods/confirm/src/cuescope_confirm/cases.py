"""What an intervention is done to for a cue, and its placebo: pairs of cases of the same sample."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuescope_confirm.asking import BACKGROUNDS
from cuescope_confirm.locating import Target
from cuescope_confirm.locating.annotated import object_masks, size_of
from cuescope_sdk import Audit, Sample
from cuescope_sdk.interventions import (
    Case,
    Intervention,
    LocatedCue,
    Place,
    elsewhere,
    other_frames,
)

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


def pairs_of(audit: Audit, target: Target, kind: type[Intervention], most: int) -> list[Pair]:
    """At most so many pairs of one intervention for one cue; [] where there are none.

    Interventions of one sort are done to the same samples, beside the same placebos.
    """
    located = target.located
    if located is None:
        return []
    names = () if target.role == "finding" else (target.role,)
    rng = audit.rng("confirm", "pairs", target.cue.id, *sort_of(kind), *names)
    maker = _Maker(audit, target, located, kind, rng)
    made: list[Pair] = []
    for pair in maker.pairs():
        made.append(pair)
        if len(made) >= most:
            break
    beside = kind.effect == "removes" and kind.placebo in ("elsewhere", "other frames")
    if beside and target.role == "finding":
        made += maker.controls(made, most // CONTROLS)
    return made


def sort_of(kind: type[Intervention]) -> tuple[str, ...]:
    """What decides the cases of an intervention."""
    where = () if kind.in_place else ("anywhere",)
    return kind.needs, kind.effect, kind.placebo, *where


@dataclass(frozen=True, eq=False)
class _Maker:
    audit: Audit
    target: Target
    located: LocatedCue
    kind: type[Intervention]
    rng: np.random.Generator

    def pairs(self) -> Iterator[Pair]:
        """In a random order."""
        match self.kind.needs, self.kind.effect:
            case "name", _:
                yield from self._mentioned()
            case "frames", _:
                yield from filter(None, map(self._frames, self._takers(True)))
            case "words", _:
                yield from filter(None, map(self._words, self._takers(True)))
            case "modality", _:
                for sample in self._takers(True):
                    yield Pair(Case(sample, self._place(sample)), None)
            case "question", _:
                yield from filter(None, map(self._asked_otherwise, self._takers(True)))
            case "region", "inserts":
                yield from self._inserted()
            case _ if self.kind.placebo == "other donor":
                yield from filter(None, map(self._swapped, self._takers(True)))
            case _:
                yield from filter(None, map(self._region, self._takers(True)))

    def controls(self, made: Sequence[Pair], most: int) -> list[Pair]:
        """The same in samples that do not show the cue, where a localiser would see it.

        At the places of samples with it where none is known.
        """
        if not made:
            return []
        pairs: list[Pair] = []
        likest = self.located.likest if self.kind.needs == "region" else {}
        takers = sorted(self._takers(False), key=lambda sample: sample.key not in likest)
        for number, sample in enumerate(takers):
            if len(pairs) >= most:
                break
            own = made[number % len(made)]
            place = likest.get(sample.key) or fitted(own.case.place, sample)
            if place is None:
                continue
            if self.kind.needs == "frames":
                pair = self._frames(sample, own.case.place)
            else:
                pair = self._region(sample, place)
            if pair is not None:
                pairs.append(replace(pair, control=True))
        return pairs

    def _takers(self, showing: bool) -> list[Sample]:
        keys = self.located.places.keys() if showing else self.located.without
        known = [self.target.samples[key] for key in sorted(keys)]
        judged = [sample for sample in known if self.target.is_judged(sample)]
        return [judged[row] for row in self.rng.permutation(len(judged))]

    def _place(self, sample: Sample) -> Place:
        return self.located.places.get(sample.key, Place())

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))

    def _region(self, sample: Sample, place: Place | None = None) -> Pair | None:
        place = place or self._place(sample)
        if place.area < SMALLEST:
            return None
        other = elsewhere(place, self._objects(sample), self.rng)
        if other is None:
            return None
        case = Case(sample, place, word=self.located.word, seed=self._seed())
        return Pair(case, replace(case, place=other, word=None))

    def _objects(self, sample: Sample) -> tuple[np.ndarray, ...]:
        known = self.located.objects.get(sample.key)
        return known if known is not None else object_masks(sample, self.target.cue.label)

    def _frames(self, sample: Sample, place: Place | None = None) -> Pair | None:
        frames = (place or self._place(sample)).frames
        count = len(sample.frames)
        free = tuple(number for number in range(count) if number not in frames)
        other = other_frames(Place(frames=frames), count, self.rng)
        if not frames or max(frames) >= count or not free:
            return None
        case = Case(sample, Place(frames=frames), donor_place=Place(frames=free))
        if self.kind.effect == "inserts":
            return Pair(case, replace(case, place=Place(frames=free)))
        if other is None:
            return None
        left = tuple(number for number in free if number not in other.frames)
        return Pair(case, replace(case, place=other, donor_place=Place(frames=left)))

    def _words(self, sample: Sample) -> Pair | None:
        spans = self._place(sample).spans
        words = [found.span() for found in re.finditer(r"\w+", sample.question or "")]
        free = [s for s in words[1:] if not any(a < s[1] and s[0] < b for a, b in spans)]
        if not spans or len(free) < len(spans):
            return None
        chosen = sorted(self.rng.choice(len(free), len(spans), replace=False).tolist())
        case = Case(sample, Place(spans=spans))
        return Pair(case, replace(case, place=Place(spans=tuple(free[row] for row in chosen))))

    def _mentioned(self) -> Iterator[Pair]:
        word = self.located.word or ""
        named = {str(other) for s in self.target.samples.values() for other in s.choices}
        others = [each for each in NOTHING if each != word.lower() and each not in named]
        for sample in self._takers(False) or self._takers(True):
            if sample.question and word.lower() not in sample.question.lower():
                other = str(self.rng.choice(others))
                yield Pair(Case(sample, Place(), word=word), Case(sample, Place(), word=other))

    def _swapped(self, sample: Sample) -> Pair | None:
        place = self._place(sample)
        if self._is_background and self.kind.in_place:
            place = self._beside_object(place, sample)
        if place.area < SMALLEST:
            return None
        without, keeping = self._donors(sample)
        if not self.kind.in_place and self.located.likest:
            without = [donor for donor in without if donor.key in self.located.likest]
        first, second = self._donor(place, without, False), self._donor(place, keeping, True)
        if first is None or second is None:
            return None
        case = Case(sample, place, word=self.located.word, seed=self._seed())
        there = self._background if self.kind.in_place else self._own_place
        return Pair(
            replace(case, donor=first, donor_place=there(first)),
            replace(case, donor=second, donor_place=there(second)),
        )

    def _own_place(self, donor: Sample) -> Place:
        """Where the donor shows the cue, or where it would be seen there; all of it, else."""
        located = self.located
        return located.places.get(donor.key) or located.likest.get(donor.key) or Place()

    def _asked_otherwise(self, sample: Sample) -> Pair | None:
        """Another label's question, and as a placebo another one of the same label."""
        asked = []
        for donors in self._donors(sample):
            able = [
                donor
                for donor in donors
                if donor.choices == sample.choices
                and donor.question
                and donor.question != sample.question
            ]
            if not able:
                return None
            asked.append(able[int(self.rng.integers(len(able)))])
        case = Case(sample, self._place(sample), donor=asked[0])
        return Pair(case, replace(case, donor=asked[1]))

    def _donors(self, sample: Sample) -> tuple[list[Sample], list[Sample]]:
        """Samples without the cue, and others that show it."""
        places, samples = self.located.places, self.target.samples
        if self.target.by_label:
            known = [samples[key] for key in places if key != sample.key]
            form = self._form(sample)
            same = [other for other in known if self._form(other) == form]
            return [other for other in known if self._form(other) != form], same
        keeping = [samples[key] for key in places if key != sample.key]
        without = [samples[key] for key in sorted(self.located.without)]
        labels = {other.label for other in keeping}
        return [other for other in without if other.label in labels] or without, keeping

    def _form(self, sample: Sample) -> str | None:
        """In what form a sample shows what all show: its annotated kind, else that of its label."""
        kinds = sample.annotations.get("factors", {})
        return str(kinds.get(self.target.cue.feature.key) or sample.label)

    def _donor(self, place: Place, donors: Sequence[Sample], showing: bool) -> Sample | None:
        """Of some of them, the one whose own region covers most of the place, where it shows it."""
        if not donors:
            return None
        rows = self.rng.permutation(len(donors))[: DONORS if showing else 1].tolist()
        if not showing or not self.kind.in_place:
            return donors[int(rows[0])]
        best: tuple[float, Sample] | None = None
        for row in rows:
            own = fitted(self.located.places[donors[row].key], None, place)
            share = _share(place, own) if own else 0.0
            if best is None or share > best[0]:
                best = share, donors[row]
        return best[1] if best and best[0] >= COVERED else None

    @property
    def _is_background(self) -> bool:
        area = self.located.quality.area or 0.0
        return self.target.cue.feature.kind in BACKGROUNDS or area > WIDE

    def _background(self, donor: Sample) -> Place:
        """What is not the donor's object, where that is known: its object is not taken along."""
        objects = self._objects(donor) if self._is_background else ()
        return Place(masks=tuple(~mask for mask in objects))

    def _inserted(self) -> Iterator[Pair]:
        if self.target.by_label:
            return
        showing = [self.target.samples[key] for key in sorted(self.located.places)]
        showing = [donor for donor in showing if self._place(donor).area >= SMALLEST]
        by_label: dict[str | None, list[Sample]] = {}
        for key in sorted(self.located.without):
            sample = self.target.samples[key]
            by_label.setdefault(sample.label, []).append(sample)
        donors = [donor for donor in showing if donor.label in by_label]
        for sample in self._takers(False) if donors else ():
            donor = donors[self.rng.integers(len(donors))]
            alike = [other for other in by_label[donor.label] if other.key != sample.key]
            place = fitted(self._place(donor), sample)
            if place is None or not alike:
                continue
            place = self._beside_object(place, sample)
            if place.area < SMALLEST:
                continue
            other = alike[self.rng.integers(len(alike))]
            case = Case(sample, place, donor=donor, word=self.located.word, seed=self._seed())
            own = self._background(donor)
            yield Pair(
                replace(case, donor_place=own),
                replace(case, donor=other, donor_place=self._background(other)),
            )

    def _beside_object(self, place: Place, sample: Sample) -> Place:
        """Without what would cover the sample's own object."""
        objects = self._objects(sample)
        if len(objects) != len(place.masks):
            return place
        masks = tuple(m & ~o for m, o in zip(place.masks, objects, strict=True))
        return Place(masks=masks, frames=place.frames)


def fitted(place: Place, sample: Sample | None, like: Place | None = None) -> Place | None:
    """A place in the frames of another sample: stretched to their size; None for other numbers."""
    if like is not None:
        sizes = [mask.shape for mask in like.masks]
    else:
        sizes = [size_of(frame) for frame in sample.frames] if sample is not None else []
    if not place.masks:
        return place
    if len(sizes) != len(place.masks):
        return None
    masks = []
    for mask, (rows, cols) in zip(place.masks, sizes, strict=True):
        at = np.arange(rows) * mask.shape[0] // rows, np.arange(cols) * mask.shape[1] // cols
        masks.append(mask[at[0]][:, at[1]])
    return Place(masks=tuple(masks), frames=place.frames)


def _share(place: Place, other: Place) -> float:
    """The share of a place that another one covers."""
    total = sum(int(mask.sum()) for mask in place.masks)
    if not other.masks or not total:
        return 0.0
    both = sum(int((a & b).sum()) for a, b in zip(place.masks, other.masks, strict=True))
    return both / total
