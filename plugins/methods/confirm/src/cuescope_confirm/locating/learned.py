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
from cuescope_confirm.locating.moments import ClipLook, Moment, mean_of_clips
from cuescope_confirm.locating.patches import (
    CONTROLS,
    FRAMES,
    PIXEL_PATCHES,
    Cells,
    seen_crops,
    seen_patches,
)
from cuescope_confirm.locating.places import (
    GOOD_AUROC,
    LocatedCue,
    Mask,
    box_mask,
    size_of,
)
from cuescope_confirm.locating.standing import standing_place
from cuescope_confirm.study import Cue, Frames, Samples, Study, frames_in, pick, shuffle
from cuescope_sdk import Frame, Occurrence, Sample, Trial
from cuescope_sdk.interventions import Place
from cuescope_sdk.locating import (
    Fitting,
    Linear,
    PixelPatches,
    Region,
    Training,
    square_pixels,
    stretch,
)
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import Answers, FrameId

# of pictures: a run lists some samples wrongly, so an embedding tells no more
CLEAR_AUROC = 0.85
MOVABLE = 2 / 3  # share of the frame: a larger region has no equal one elsewhere
COARSE = 3  # cells along a frame's side, where one row stands for a frame
PIXELS = 16  # along a cell's side
AT_ONCE = 256  # frames whose patches are held in memory
FILLED = 60  # frames whose places are filled, to see that these hold the cue
HELD = 0.25  # of the way from frames with the cue to those without, that a place takes at least
WORTH = 0.15  # of AUROC, that a place may cost
LARGE = 0.25  # share of the frame: a place as large may cost less
WORTH_OF_LARGE = 0.05
TIE = 0.01  # of AUROC: between equals the smaller region is taken
BY = "frames like those of the run"
Rows = Float[np.ndarray, "frame dim"]
Reader = Callable[[Samples, Frames], Rows]


class Listed(NamedTuple):
    """A cue, and the study of the runs that list it; of all their folds, where they are folds.

    Which samples of a fold show a cue is told without it; where a cue is, by all that are listed.
    """

    study: Study
    cue: Cue

    def standing_place(self) -> Mask | None:
        """The small place that it has in all frames that show it, looked for once."""
        return self.study.audit.once(_standing_place, *self)

    def region(self) -> tuple[Region, Cells] | None:
        """The patches that tell it, learned once; None where they give no place."""
        region, cells = self.study.audit.once(
            _best_region, *self, CLEAR_AUROC, by_crops=True
        )
        if region is None or region.is_everywhere or region.auroc < GOOD_AUROC:
            return None
        return region, cells


def _standing_place(study: Study, cue: Cue) -> Mask | None:
    frames, data = training_frames(study, cue)
    shown = [_frame(study.seen, frame) for frame in frames]
    return standing_place(shown, data, study.rng("standing", cue.id))


def locate_learned(
    study: Study,
    cue: Cue,
    pool: Samples,
    *,
    controls: bool,
    in_all: Listed | None = None,
) -> LocatedCue:
    """The frames that are like those of the run that show the cue, and the region that tells them.

    Which frames show it is told from the picture or from the embedding of each frame held still,
    where it is from small patches of the picture, or from those of the model where it has some.
    Each model is linear, regularised, and judged on groups of the run that it has not learned from.
    With `controls`, where the cue would be seen in samples without it. Of a fold, the place that
    the cue has `in_all` of them is tried before the one that this fold's run shows.
    """
    by_picture = by_pictures(study, cue)
    # of what is only held against a finding pictures need not tell as much
    enough = CLEAR_AUROC if controls else GOOD_AUROC
    whole = _tell_frames(study, cue, by_picture, enough)
    stands = _where_it_stands(study, cue, pool, whole, by_picture, in_all)
    if stands is not None:
        return stands
    # of folds crops are asked about once, for all of them
    by_crops = controls and in_all is None
    own = _best_region(study, cue, whole.auroc, by_crops=by_crops)
    taken = _take(whole, own, pool)
    region, cells = own
    are_seen = cells.by == "pixels" and _tells(region)
    is_seen = by_picture.auroc >= GOOD_AUROC or are_seen
    in_frames = partial(_cue_in_frames, pool, purity=taken.purity, is_seen=is_seen)
    of_all = None if in_all is None else in_all.region()
    judge = by_picture
    if in_all is not None and of_all is not None:
        region, cells = of_all
        # a fold's few samples may have more in common than the cue
        judge = by_pictures(*in_all)
    elif region is None or not _tells(region):
        by = BY
        if region is not None:
            by += f"; no patches tell them (AUROC {region.auroc:.2f})"
        return in_frames(taken.frames, {}, by, whole.auroc)
    masks = {}
    if not region.is_everywhere:
        marked = _to_mark(study, cue, pool, taken.frames, cells)
        for frame, grid in _read(cells, pool, marked):
            masks[frame] = stretch(region.mask(grid), size_of(_frame(pool, frame)))
    nowhere = why_nowhere(region, whole.auroc)
    if masks and not (
        nowhere or is_held(judge, region.auroc, pool, masks, taken.frames)
    ):
        nowhere = "it is seen as well without the most telling patches"
    if nowhere is not None:
        by = f"{BY}; {nowhere}, so it has no place"
        return in_frames(taken.frames, {}, by, max(whole.auroc, region.auroc))
    by = f"{BY}, and the {cells.words} that tell them"
    # where both must say yes, the weaker one tells how sure a place is
    located = in_frames(taken.frames, masks, by, min(taken.auroc, region.auroc))
    if not masks or not controls or region.area > MOVABLE:
        return located
    likest = _likest_places(study, cue, pool, located, region, cells)
    return replace(located, likest=likest)


class Taken(NamedTuple):
    """The frames that are taken for a cue's, the part of them that is, and who took them."""

    frames: list[FrameId]
    purity: float
    auroc: float


def _tell_frames(
    study: Study, cue: Cue, by_picture: "Teller", enough: float
) -> "Teller":
    """Pictures, or the model's embedding where it tells the run's frames better.

    Pictures ask nothing: where their AUROC is `enough` the model is not asked.
    """
    if by_picture.auroc >= enough:
        return by_picture
    frames, data = training_frames(study, cue)
    read = partial(clip_embeddings if study.lasts(cue) else embeddings, study)
    by_embedding = _teller(study, cue, frames, data, read)
    return by_embedding if by_embedding.auroc > by_picture.auroc + TIE else by_picture


def _take(whole: "Teller", own: tuple[Region | None, Cells], pool: Samples) -> Taken:
    """What tells the run's frames better decides which frames show the cue.

    Where all of a frame tells it well enough the model is not asked about the patches of all of the
    pool.
    """
    region, cells = own
    is_clear = whole.auroc >= CLEAR_AUROC
    are_read = cells.by == "pixels" or (cells.by == "patches" and not is_clear)
    is_better = region is not None and region.auroc > whole.auroc + TIE
    if region is None or not (_tells(region) and are_read and is_better):
        return Taken(*whole.take(pool), whole.auroc)
    frames = frames_in(pool)
    grids = _read(cells, pool, frames)
    taken = [frame for frame, grid in grids if region.shows(grid)]
    return Taken(taken, region.rates.purity(len(taken), len(frames)), region.auroc)


def _tells(region: Region | None) -> bool:
    """Whether patches tell the run's frames."""
    return region is not None and region.auroc >= GOOD_AUROC


def why_nowhere(region: Region, whole: float) -> str | None:
    """Why patches that tell frames give no place, where all of the frame tells them `whole`."""
    if region.is_everywhere:
        return "it is told from everywhere in the frame"
    # the likest part of what is all over the frame
    if region.area > LARGE and region.auroc < whole - WORTH_OF_LARGE:
        return "the whole frame tells it better than the most telling patches"
    return None


def _where_it_stands(
    study: Study,
    cue: Cue,
    pool: Samples,
    whole: "Teller",
    by_picture: "Teller",
    in_all: Listed | None = None,
) -> LocatedCue | None:
    """A cue that has one place in all frames; None where no place tells it."""
    for listed in filter(None, (in_all, Listed(study, cue))):
        mask = listed.standing_place()
        if mask is not None:
            located = _at_one_place(study, cue, pool, whole, by_picture, mask)
            if located is not None:
                return located
    return None


def _at_one_place(
    study: Study,
    cue: Cue,
    pool: Samples,
    whole: "Teller",
    by_picture: "Teller",
    mask: Mask,
) -> LocatedCue | None:
    """A cue that has this place in all frames; where it would be in samples without it as well.

    None where the run's frames are not told there, or pictures show it as well without the place.

    Frames show it where the place alone does, or the `whole` of them where that tells the run's
    frames better: of a few samples a small place is learned where a whole picture is not.
    """
    frames, data = training_frames(study, cue)
    read = partial(_look_at, mask, lasts=study.lasts(cue))
    at_place = _teller(study, cue, frames, data, read, Fitting.MANY)
    if at_place.auroc < GOOD_AUROC:
        return None
    # of equals the smaller one: it has less to take for the cue
    teller = at_place if at_place.auroc > whole.auroc - TIE else whole
    taken, purity = teller.take(pool)
    masks = {frame: stretch(mask, size_of(_frame(pool, frame))) for frame in taken}
    if not masks or not is_held(by_picture, at_place.auroc, pool, masks, taken):
        return None
    by = f"{BY}, at one place of the frame"
    sure = min(at_place.auroc, teller.auroc)
    located = _cue_in_frames(pool, taken, masks, by, sure, purity)
    likest = {}
    for key in _without_it(study, cue, pool, located)[:CONTROLS]:
        sizes = map(size_of, pool[key].frames)
        likest[key] = Place(masks=tuple(stretch(mask, size) for size in sizes))
    return replace(located, likest=likest)


def _look_at(mask: Mask, samples: Samples, frames: Frames, *, lasts: bool) -> Rows:
    """Colours and contrast in the cells of a place; of a cue that lasts, on average of a clip."""

    def read(moments: Sequence[Moment]) -> Rows:
        rows = []
        for moment in moments:
            pixels = square_pixels(moment.frame, 2 * len(mask))
            # a row of four pixels for each cell
            cells = pixels.reshape(len(mask), 2, len(mask), 2, 3).swapaxes(1, 2)[mask]
            figures = [cells.mean(axis=(1, 2)), cells.std(axis=(1, 2))]
            rows.append(np.concatenate(figures, axis=1).ravel())
        return np.stack(rows)

    if lasts:
        return mean_of_clips([samples[key].frames for key, _ in frames], read)
    return read([_moment(samples, frame) for frame in frames])


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


def _best_region(
    study: Study, cue: Cue, enough: float, *, by_crops: bool
) -> tuple[Region | None, Cells]:
    """By patches of the picture or of the model, whichever gives a place or tells frames better.

    Of an outside eye where the model has none, or `by_crops` of the frame, where pictures do not
    tell it all over. Nobody is asked where pictures give a place by which frames are told as well
    as by all of them: `enough` is that AUROC.
    """
    frames, data = training_frames(study, cue)
    grids = PIXEL_PATCHES(study.seen, frames)
    rng = study.rng("region", cue.id)
    by_words = Region.learn(grids, data, rng, PixelPatches.FINE.overlap)
    least = max(enough, GOOD_AUROC) - TIE
    is_told = (
        by_words is not None and not by_words.is_everywhere and by_words.auroc > least
    )
    if is_told:
        return by_words, PIXEL_PATCHES
    asked = seen_patches(study.audit)
    # what pictures tell all over the frame has no part that is worth so many questions
    is_all_over = by_words is not None and by_words.is_everywhere and _tells(by_words)
    if asked is None and by_crops and study.options.crops and not is_all_over:
        asked = seen_crops(study.audit)
    if asked is None:
        return by_words, PIXEL_PATCHES
    # crops are those of one frame of each sample
    rows = _one_of_each_clip(frames) if asked.by == "crops" else range(len(frames))
    kept = _first_of_sides(rows, data.shows, asked.most)
    some = [frames[row] for row in kept]
    rng = study.rng("region", cue.id)
    region = Region.learn(asked(study.seen, some), data.take(np.array(kept)), rng)
    if region is not None and (by_words is None or _is_better(region, by_words)):
        return region, asked
    return by_words, PIXEL_PATCHES


def _first_of_sides(
    rows: Sequence[int], shows: Bool[np.ndarray, " frame"], most: int
) -> list[int]:
    """The first of these rows that show a cue, and the first that do not."""
    with_it = [row for row in rows if shows[row]]
    others = [row for row in rows if not shows[row]]
    return [*with_it[:most], *others[:most]]


def _is_better(region: Region, other: Region) -> bool:
    # patches of a deep layer have looked at one another, and half of a frame tells the cue
    if region.is_everywhere != other.is_everywhere:
        spread, placed = (region, other) if region.is_everywhere else (other, region)
        return (region is placed) == (placed.auroc > spread.auroc - WORTH)
    if region.auroc > other.auroc + TIE:
        return True
    # a smaller region changes less that is not the cue
    return region.auroc > other.auroc - TIE and region.area < other.area


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

    def middle(self, samples: Samples, frames: Frames) -> float:
        """The score of the middle frame: a few that are taken wrongly do not move it."""
        return float(np.median(self.scores(samples, frames)))


def _one_of_each_clip(frames: Frames) -> list[int]:
    """The rows of the first frame of each sample."""
    first: dict[str, int] = {}
    for row, (key, _) in enumerate(frames):
        first.setdefault(key, row)
    return list(first.values())


def look_of(study: Study, cue: Cue) -> ClipLook:
    """How frames are described where the cue is to be told, learned from those of the run, once."""
    return study.audit.once(_learn_look, study, cue)


def _learn_look(study: Study, cue: Cue) -> ClipLook:
    frames, _ = training_frames(study, cue)
    moments = [_moment(study.seen, frame) for frame in frames]
    rng = study.rng("look", cue.id)
    return ClipLook.learn(moments, rng, lasts=study.lasts(cue))


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


def is_held(
    by_picture: Teller,
    told: float,
    pool: Samples,
    masks: Mapping[FrameId, Mask],
    showing: Frames,
) -> bool:
    """Whether pictures lose the cue where its places are filled: a place may be the wrong one.

    True where pictures do not tell the cue well, or worse than it is `told` by its places (AUROC):
    they do not say where it is not. Of the frames that are `showing` it some have no mask.
    """
    if by_picture.auroc < max(GOOD_AUROC, told - TIE):
        return True
    keys = {key for key, _ in showing}
    others = [frame for frame in frames_in(pool) if frame[0] not in keys]
    if not others:
        return True
    placed = _some(by_picture, list(masks))
    filled = {}
    for key in {key for key, _ in placed}:
        frames = [
            fill(frame, masks[key, number]) if (key, number) in masks else frame
            for number, frame in enumerate(pool[key].frames)
        ]
        filled[key] = pool[key].with_frames(tuple(frames), "filled")
    shown = by_picture.middle(pool, placed)
    apart = shown - by_picture.middle(pool, _some(by_picture, others))
    lost = shown - by_picture.middle(filled, placed)
    return apart <= 0 or lost >= HELD * apart


def _some(by_picture: Teller, frames: Frames) -> list[FrameId]:
    """The first of these frames; one of each clip where clips are told."""
    if by_picture.lasts:
        frames = [frames[row] for row in _one_of_each_clip(frames)]
    return list(frames[:FILLED])


def fill(frame: Frame, mask: Mask) -> Frame:
    """A frame with a place in the colour that the rest of it has on average."""
    pixels = np.array(frame.load())
    if not mask.all():
        pixels[mask] = np.median(pixels[~mask], axis=0)
    return Frame.from_array(pixels)


def _read(
    cells: Cells,
    samples: Samples,
    frames: Frames,
) -> Iterator[tuple[FrameId, np.ndarray]]:
    """The grid of each frame; those of all frames together may not fit in memory."""
    for start in range(0, len(frames), AT_ONCE):
        batch = frames[start : start + AT_ONCE]
        yield from zip(batch, cells(samples, batch), strict=True)


def _to_mark(
    study: Study, cue: Cue, pool: Samples, showing: Frames, cells: Cells
) -> list[FrameId]:
    """The frames that show a cue in which its place is looked for: of its label first."""
    keys = list(dict.fromkeys(key for key, _ in showing))
    if len(keys) <= cells.marked:
        return list(showing)
    keys = shuffle(keys, study.rng("mark", cue.id))
    keys.sort(key=lambda key: not is_of_label(cue, pool[key]))
    chosen = set(keys[: cells.marked])
    return [frame for frame in showing if frame[0] in chosen]


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
    keys = _without_it(study, cue, pool, located)[: cells.controls]
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
    is_seen: bool = True,
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
    return LocatedCue(places, without, by, auroc, purity=purity, is_seen=is_seen)


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
    """What the model makes of each frame held still; of its colours, where it does not tell."""
    stills = []
    for key, number in frames:
        sample = samples[key]
        # a sample of one frame is asked as it is: its answer is known already
        stills.append(sample if len(sample.frames) == 1 else sample.static(number))
    return _embeddings_of(study, stills, samples, frames)


def clip_embeddings(study: Study, samples: Samples, frames: Frames) -> Rows:
    """What the model makes of the clip that each frame is of: a cue may lie in what moves."""
    clips = [samples[key] for key, _ in frames]
    return _embeddings_of(study, clips, samples, frames)


def _embeddings_of(
    study: Study, asked: Sequence[Sample], samples: Samples, frames: Frames
) -> Rows:
    if not study.audit.capabilities.outputs >= Answers.outputs:
        return coarse_colours(samples, frames)
    trials = [
        Trial(sample=sample, condition="static", outputs=Answers.outputs)
        for sample in asked
    ]
    return Answers.stack_embeddings(study.audit.respond(trials)).astype(np.float64)


def coarse_colours(samples: Samples, frames: Frames) -> Rows:
    """Mean and spread of each colour, and their products, in a few large cells."""
    first, second = np.triu_indices(3)
    rows = []
    for frame in frames:
        pixels = square_pixels(_frame(samples, frame), COARSE * PIXELS)
        cells = pixels.reshape(COARSE, PIXELS, COARSE, PIXELS, 3)
        mean = cells.mean(axis=(1, 3))
        spread = cells.std(axis=(1, 3))
        # with products a linear model can tell a mixed colour from its channels
        products = mean[..., first] * mean[..., second]
        rows.append(np.concatenate([mean, spread, products], axis=-1).ravel())
    return np.stack(rows)
