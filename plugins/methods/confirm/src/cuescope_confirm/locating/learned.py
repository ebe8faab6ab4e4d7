"""A cue that is known by frames of the run alone: learned from them, and checked on others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.patches import FRAMES, PIXEL_PATCHES, Cells, seen_patches
from cuescope_confirm.locating.places import (
    GOOD_AUROC,
    LocatedCue,
    Mask,
    box_mask,
    size_of,
)
from cuescope_confirm.study import Cue, Frames, Samples, Study, frames_in, pick, shuffle
from cuescope_sdk import Frame, Occurrence, Sample, Trial
from cuescope_sdk.interventions import Place
from cuescope_sdk.locating import (
    Fitting,
    Linear,
    PixelPatches,
    Region,
    Training,
    stretch,
)
from cuescope_sdk.statistics import Groups, Roc
from cuescope_sdk.stills import Answers, FrameId

# of pictures: a run lists some samples wrongly, so an embedding tells no more
CLEAR_AUROC = 0.85
MOVABLE = 2 / 3  # share of the frame: a larger region has no equal one elsewhere
AT_ONCE = 256  # frames whose patches are held in memory
BY = "frames like those of the run"
Rows = Float[np.ndarray, "frame dim"]
Reader = Callable[[Samples, Frames], Rows]


class Listed(NamedTuple):
    """A cue, and the study of the runs that list it; of all their folds, where they are folds.

    Which samples of a fold show a cue is told without it; where a cue is, by all that are listed.
    """

    study: Study
    cue: Cue

    def region(self) -> tuple[Region, Cells] | None:
        """The patches that tell it, learned once; None where they give no place."""
        region, cells = self.study.audit.once(best_region, *self)
        return (region, cells) if region is not None and _is_place(region) else None


def locate_learned(
    study: Study,
    cue: Cue,
    pool: Samples,
    in_all: Listed | None = None,
) -> LocatedCue:
    """The frames that are like those of the run that show the cue, and the patches that tell them.

    Which frames show it is told from the look of each frame, from the model's embedding of it held
    still, or from its patches, by what tells the run's frames best; and where it is, by the patches
    of the picture, or of the model or eye where these tell frames better. Each model is judged on
    groups of the run that it has not learned from. Of samples without it, where the cue would be
    seen. Of a fold, the place that the cue has `in_all` of them is taken.
    """
    by_picture = by_pictures(study, cue)
    whole = _tell_frames(study, cue, by_picture)
    region, cells = study.audit.once(best_region, study, cue)
    taken = _take(whole, region, cells, pool)
    in_frames = partial(_cue_in_frames, pool, purity=taken.purity)
    of_all = None if in_all is None else in_all.region()
    if of_all is not None:
        region, cells = of_all
    if (
        region is None
        or not _is_place(region)
        or _is_told_better(study, cue, by_picture, region)
    ):
        why = "" if region is None else f"; {_why_nowhere(region)}, so it has no place"
        return in_frames(taken.frames, {}, f"{BY}{why}", taken.auroc)
    masks = {}
    some = [grid for _, grid in _read(cells, pool, taken.frames[:AT_ONCE])]
    common = region.common_place(some) if some else None
    if common is not None:
        for frame in taken.frames:
            masks[frame] = stretch(common, size_of(_frame(pool, frame)))
    else:
        for frame, grid in _read(cells, pool, taken.frames):
            masks[frame] = stretch(region.mask(grid), size_of(_frame(pool, frame)))
    by = f"{BY}, and the patches that tell them"
    # where both must say yes, the weaker one tells how sure a place is
    located = in_frames(taken.frames, masks, by, min(taken.auroc, region.auroc))
    if not masks or region.area > MOVABLE:
        return located
    likest = _likest_places(study, cue, pool, located, region, cells)
    return replace(located, likest=likest)


def _is_told_better(
    study: Study, cue: Cue, by_picture: "Teller", region: Region
) -> bool:
    """True if whole pictures tell it better by more than chance (Hanley and McNeil, 1982)."""
    _, data = training_frames(study, cue)
    chance = Roc.null_error(*data.groups_of_sides())
    return bool(region.auroc < by_picture.auroc - chance)


def _is_place(region: Region) -> bool:
    """True if patches tell the run's frames, and covering their place takes the cue away."""
    return not region.is_everywhere and region.auroc >= GOOD_AUROC


def _why_nowhere(region: Region) -> str:
    if region.auroc < GOOD_AUROC:
        return f"no patches tell them (AUROC {region.auroc:.2f})"
    if region.is_everywhere:
        return "covering the most telling patches does not take the cue away"
    return "the whole frame tells it better than any patches"


class Taken(NamedTuple):
    """The frames that are taken for a cue's, the part of them that is, and who took them."""

    frames: list[FrameId]
    purity: float
    auroc: float


def _tell_frames(
    study: Study,
    cue: Cue,
    by_picture: "Teller",
) -> "Teller":
    """Pictures, or the model's embedding where it tells the run's frames better.

    Pictures ask nothing: where their AUROC is `CLEAR_AUROC` the model is not asked.
    """
    has_embedding = study.audit.capabilities.outputs >= Answers.outputs
    if by_picture.auroc >= CLEAR_AUROC or not has_embedding:
        return by_picture
    frames, data = training_frames(study, cue)
    read = partial(clip_embeddings if study.lasts(cue) else embeddings, study)
    by_embedding = _teller(study, cue, frames, data, read)
    return max(by_picture, by_embedding, key=lambda teller: teller.auroc)


def _take(whole: "Teller", region: Region | None, cells: Cells, pool: Samples) -> Taken:
    """What tells the run's frames better decides which frames show the cue.

    Where all of a frame tells it clearly nobody is asked about the patches of all of the pool.
    """
    are_read = cells.by == "pixels" or whole.auroc < CLEAR_AUROC
    is_better = region is not None and region.auroc > max(whole.auroc, GOOD_AUROC)
    if region is None or not (are_read and is_better):
        return Taken(*whole.take(pool), whole.auroc)
    frames = frames_in(pool)
    grids = _read(cells, pool, frames)
    taken = [frame for frame, grid in grids if region.shows(grid)]
    return Taken(taken, region.rates.purity(len(taken), len(frames)), region.auroc)


def _without_it(
    study: Study,
    cue: Cue,
    pool: Samples,
    located: LocatedCue,
) -> list[str]:
    """Samples without the cue, those of its label first: the nearest to those that show it."""
    keys = shuffle(sorted(located.without), study.rng("likest", cue.id))
    keys.sort(key=lambda key: not is_of_label(cue, pool[key]))
    return keys


def best_region(study: Study, cue: Cue) -> tuple[Region | None, Cells]:
    """By patches of the picture, or of the model or an outside eye where these tell frames better.

    Nobody is asked where pictures give a place by which frames are told clearly.
    """
    frames, data = training_frames(study, cue)
    rng = study.rng("region", cue.id)
    grids = PIXEL_PATCHES(study.seen, frames)
    by_pixels = Region.learn(grids, data, rng, PixelPatches.FINE.overlap)
    is_clear = by_pixels is not None and _is_place(by_pixels)
    asked = seen_patches(study.audit)
    if asked is None or (is_clear and by_pixels and by_pixels.auroc >= CLEAR_AUROC):
        return by_pixels, PIXEL_PATCHES
    kept = _first_of_sides(range(len(frames)), data.shows, asked.most)
    some = [frames[row] for row in kept]
    rng = study.rng("region", cue.id)
    region = Region.learn(asked(study.seen, some), data.take(np.array(kept)), rng)
    if region is None or (by_pixels is not None and region.auroc <= by_pixels.auroc):
        return by_pixels, PIXEL_PATCHES
    return region, asked


def _first_of_sides(
    rows: Sequence[int], shows: Bool[np.ndarray, " frame"], most: int
) -> list[int]:
    """The first of these rows that show a cue, and the first that do not."""
    with_it = [row for row in rows if shows[row]]
    others = [row for row in rows if not shows[row]]
    return [*with_it[:most], *others[:most]]


@dataclass(frozen=True, eq=False)
class Teller:
    """A model of whole frames, and what it reads of them.

    Of a cue that `lasts` it reads clips: all frames of one are told alike.
    """

    model: Linear
    read: Reader
    lasts: bool = False

    @property
    def auroc(self) -> float:
        """On groups that it has not learned from."""
        return self.model.auroc or 0.0

    def scores(self, samples: Samples, frames: Frames) -> Float[np.ndarray, " frame"]:
        """How like the cue's frames each is."""
        if not self.lasts:
            return self.model.scores(self.read(samples, frames))
        keys = list(dict.fromkeys(key for key, _ in frames))
        scores = self.model.scores(self.read(samples, [(key, 0) for key in keys]))
        of_clip = dict(zip(keys, scores.tolist(), strict=True))
        return np.array([of_clip[key] for key, _ in frames])

    def take(self, pool: Samples) -> tuple[list[FrameId], float]:
        """The frames that it takes for the cue's, and the part of them that is."""
        frames = frames_in(pool)
        scores = self.scores(pool, frames)
        taken = list(compress(frames, scores >= self.model.threshold))
        return taken, self.model.rates.purity(len(taken), len(frames))


def _one_of_each_clip(frames: Frames) -> list[int]:
    """The rows of the first frame of each sample."""
    first: dict[str, int] = {}
    for row, (key, _) in enumerate(frames):
        first.setdefault(key, row)
    return list(first.values())


def look_of(study: Study, cue: Cue) -> ClipLook:
    """How frames are described where the cue is to be told.

    What frames are described by is learned once for all cues, so each frame is read once.
    """
    look = study.audit.once(_learn_look, study)
    return replace(look, lasts=study.lasts(cue))


def _learn_look(study: Study) -> ClipLook:
    """From the run's frames with any of its cues, of each as many, and from others."""
    rng = study.rng("look")
    listed = [list(study.frames_of(cue)) for cue in study.cues]
    shown = {
        frame
        for frames in listed
        for frame in shuffle(frames, rng)[: FRAMES // max(len(listed), 1)]
    }
    others = shuffle(sorted(set(frames_in(study.seen)).difference(*listed)), rng)
    frames = [*sorted(shown), *others[:FRAMES]]
    return ClipLook.learn([_moment(study.seen, frame) for frame in frames], rng)


def by_pictures(study: Study, cue: Cue) -> Teller:
    """By the look of whole frames, learned once; the model is not asked."""
    return study.audit.once(_by_pictures, study, cue)


def _by_pictures(study: Study, cue: Cue) -> Teller:
    look = look_of(study, cue)

    def read(samples: Samples, frames: Frames) -> Rows:
        return look.read([_moment(samples, frame) for frame in frames])

    frames, data = training_frames(study, cue)
    return _teller(study, cue, frames, data, read, Fitting.LOOKS)


def _teller(
    study: Study,
    cue: Cue,
    frames: Frames,
    data: Training,
    read: Reader,
    fitting: Fitting = Fitting.FEW,
) -> Teller:
    lasts = study.lasts(cue)
    if lasts:
        clips = _one_of_each_clip(frames)
        frames = [frames[row] for row in clips]
        data = data.take(np.array(clips))
    rows = read(study.seen, frames)
    # the same generator for all: equal folds, so their AUROCs can be compared
    rng = study.rng("frames", cue.id)
    return Teller(Linear.learn(rows, data, rng, fitting), read, lasts)


def _read(
    cells: Cells,
    samples: Samples,
    frames: Frames,
) -> Iterator[tuple[FrameId, np.ndarray]]:
    """The grid of each frame; those of all frames together may not fit in memory."""
    for start in range(0, len(frames), AT_ONCE):
        batch = frames[start : start + AT_ONCE]
        yield from zip(batch, cells(samples, batch), strict=True)


def _likest_places(
    study: Study,
    cue: Cue,
    pool: Samples,
    located: LocatedCue,
    region: Region,
    cells: Cells,
) -> dict[str, Place]:
    """In samples without the cue, the region of equal size whose patches are most like it.

    Patches are taken for the cue because of what they show. To change such patches may move the
    answers even where there is no cue, and this measures by how much.
    """
    keys = _without_it(study, cue, pool, located)[: study.options.samples]
    samples = pick(pool, keys)
    places: dict[str, Place] = {}
    for frame, grid in _read(cells, samples, frames_in(samples)):
        key, _ = frame
        mask = stretch(region.likest(grid), size_of(_frame(pool, frame)))
        # the frames of a clip come one by one, and a place has a mask for each
        earlier = places.get(key, Place())
        places[key] = Place(masks=(*earlier.masks, mask))
    return places


def _cue_in_frames(
    pool: Samples,
    showing: Frames,
    masks: Mapping[FrameId, np.ndarray],
    by: str,
    auroc: float,
    purity: float = 1.0,
) -> LocatedCue:
    places = {}
    # groupby joins neighbours alone: the frames of a sample come in a row
    for key, of_sample in groupby(showing, key=itemgetter(0)):
        frames = pool[key].frames
        numbers = tuple(number for _, number in of_sample)
        regions = []
        for number, frame in enumerate(frames):
            nowhere = np.zeros(size_of(frame), bool)
            regions.append(masks.get((key, number), nowhere))
        # an image has no other frames, so what changes frames must not apply
        place = Place() if len(frames) == 1 else Place(frames=numbers)
        if any(map(np.any, regions)):
            place = replace(place, masks=tuple(regions))
        places[key] = place
    without = pool.keys() - places.keys()
    return LocatedCue(places, without, by, auroc, purity=purity)


def training_frames(
    study: Study,
    cue: Cue,
) -> tuple[list[FrameId], Training]:
    """Frames of the run with the cue, and others, of the same labels first; drawn once."""
    return study.audit.once(_training_frames, study, cue)


def _training_frames(study: Study, cue: Cue) -> tuple[list[FrameId], Training]:
    seen = study.seen
    listed = study.frames_of(cue)
    unlisted = [frame for frame in frames_in(seen) if frame not in listed]
    rng = study.rng("training", cue.id)
    shown = shuffle(list(listed), rng)[:FRAMES]
    labels = {seen[key].label for key, _ in shown}
    others = shuffle(unlisted, rng)
    # else a model could learn the label in place of the cue
    others.sort(key=lambda frame: seen[frame[0]].label not in labels)
    frames = [*shown, *others[:FRAMES]]
    # where the run marks regions, patches outside of them are no examples
    regions = [_marked(seen, frame, listed.get(frame, ())) for frame in frames]
    shows = np.arange(len(frames)) < len(shown)
    return frames, training(seen, frames, shows, tuple(regions))


def _marked(
    samples: Samples, frame: FrameId, occurrences: Sequence[Occurrence]
) -> Mask | None:
    """The regions of a frame that occurrences mark; None where they mark none."""
    regions = [occurrence.region for occurrence in occurrences]
    boxes = [region for region in regions if region is not None]
    if not boxes:
        return None
    return box_mask(boxes, size_of(_frame(samples, frame)))


def training(
    samples: Samples,
    frames: Frames,
    shows: Bool[np.ndarray, " frame"],
    regions: tuple[Mask | None, ...] = (),
) -> Training:
    """What a model of some frames learns from."""
    of_frames = []
    labels = []
    for key, _ in frames:
        of_frames.append(samples[key])
        # as text: np.unique cannot sort None among labels
        labels.append(str(samples[key].label))
    return Training(shows, np.array(labels), Groups.of(of_frames), regions)


def _frame(samples: Samples, frame: FrameId) -> Frame:
    return _moment(samples, frame).frame


def _moment(samples: Samples, frame: FrameId) -> Moment:
    key, number = frame
    return Moment(samples[key].frames, number)


def embeddings(study: Study, samples: Samples, frames: Frames) -> Rows:
    """What the model makes of each frame held still."""
    stills = []
    for key, number in frames:
        sample = samples[key]
        # a sample of one frame is asked as it is: its answer is known already
        stills.append(sample if len(sample.frames) == 1 else sample.static(number))
    return _embeddings_of(study, stills)


def clip_embeddings(study: Study, samples: Samples, frames: Frames) -> Rows:
    """What the model makes of the clip that each frame is of: a cue may lie in what moves."""
    clips = [samples[key] for key, _ in frames]
    return _embeddings_of(study, clips)


def _embeddings_of(study: Study, asked: Sequence[Sample]) -> Rows:
    trials = [
        Trial(sample=sample, condition="static", outputs=Answers.outputs)
        for sample in asked
    ]
    return Answers.stack_embeddings(study.audit.respond(trials)).astype(np.float64)
