"""A cue that is known by frames of the run alone: learned from them, and checked on others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.locating.annotated import box_mask, size_of
from cuescope_confirm.locating.linear import Region, Training, learn, learn_region, stretched
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Frame, Readout, Sample, Trial
from cuescope_sdk.interventions import GOOD_AUROC, Localisation, LocatedCue, Place
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import OUTPUTS

FRAMES = 200  # of the run on each side, that a linear model learns from
CONTROLS = 100  # samples without the cue in which the region that is likest is sought
MOVABLE = 2 / 3  # share of the frame: a larger region has no equal one elsewhere
CELLS = 12  # along a frame's side, where the model has no patches of its own
AT_ONCE = 256  # frames whose patches are held in memory
TIE = 0.01  # of AUROC: between equals the smaller region is taken
FrameId = tuple[str, int]
Cells = Callable[[Mapping[str, Sample], Sequence[FrameId]], list[np.ndarray]]


class Patches(Readout):
    """The patch features of each frame after a layer, (frame, row, col, dim)."""

    name: ClassVar[str] = "confirm-patches"
    layer: int = -1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """By the model's own `patch_features`."""
        return [np.stack(model.patch_features(trial.sample.frames, self.layer)) for trial in trials]


def locate_learned(
    audit: Audit,
    study: Study,
    cue: Cue,
    pool: Mapping[str, Sample],
    word: str | None,
    *,
    controls: bool,
) -> LocatedCue:
    """The frames that are like those of the run that show the cue, and the region that tells them.

    Which frames show it is told from the embedding of each frame held still, where it is from the
    patches of the model or, where it has none, from the colours of cells of the frame. Each is a
    regularised linear model, judged on groups of the run that it has not learned from. With
    `controls`, where the cue would be seen in samples without it.
    """
    learned, shows = _training_frames(audit, study, cue)
    boxes = _boxes(study, cue)
    frames = [_frame(study.seen, each) for each in learned]
    labels = np.array([str(study.seen[key].label) for key, _ in learned])
    groups = Groups.of([study.seen[key] for key, _ in learned])
    data = Training(shows, labels, groups, tuple(boxes.get(each) for each in learned))
    wanted = [(key, number) for key, s in pool.items() for number in range(len(s.frames))]
    stills = embeddings(audit, study.seen, learned)
    whole = learn(stills, data, audit.rng("confirm", "frames", cue.id))
    best: tuple[Region, Cells] | None = None
    for cells in _cell_readers(audit, frames):
        grids = cells(study.seen, learned)
        region = learn_region(grids, data, audit.rng("confirm", "region", cue.id))
        if region is not None and (best is None or _better(region, best[0])):
            best = region, cells
    good = best is not None and best[0].auroc >= GOOD_AUROC
    by_patches = good and best is not None and best[0].auroc > (whole.auroc or 0.0) + TIE
    showing = wanted
    if not by_patches:
        there = whole.scores(embeddings(audit, pool, wanted)) >= whole.threshold
        showing = [each for each, yes in zip(wanted, there, strict=True) if yes]
    masks: dict[FrameId, np.ndarray] = {}
    if best is not None and good:
        region, cells = best
        for each, grid in _read(cells, pool, showing):
            if not by_patches or region.shows(grid):
                masks[each] = stretched(region.mask(grid), size_of(_frame(pool, each)))
        showing = list(masks)
    auroc = best[0].auroc if best is not None and by_patches else whole.auroc
    located = _assembled(cue, pool, showing, masks, auroc, best and best[0], word)
    if best is None or not masks or not controls or best[0].area > MOVABLE:
        return located
    return replace(located, likest=_likest_places(audit, cue, pool, located, *best))


def _read(
    cells: Cells, samples: Mapping[str, Sample], frames: Sequence[FrameId]
) -> Iterator[tuple[FrameId, np.ndarray]]:
    """The grid of each frame; those of all frames together may not fit in memory."""
    for start in range(0, len(frames), AT_ONCE):
        some = frames[start : start + AT_ONCE]
        yield from zip(some, cells(samples, some), strict=True)


def _better(region: Region, than: Region) -> bool:
    """Of two that tell frames alike, the smaller one."""
    return region.auroc > than.auroc + TIE or (
        region.auroc > than.auroc - TIE and region.area < than.area
    )


def _likest_places(
    audit: Audit,
    cue: Cue,
    pool: Mapping[str, Sample],
    located: LocatedCue,
    region: Region,
    cells: Cells,
) -> dict[str, Place]:
    """As large a region of samples without the cue, where their patches are most like it.

    Patches that pass for the cue are chosen by what they show, and a change of them may move
    answers for that alone: so the same choice is made where the cue is not.
    """
    rng = audit.rng("confirm", "likest", cue.id)
    keys = [sorted(located.without)[row] for row in rng.permutation(len(located.without))]
    keys.sort(key=lambda key: not is_of_label(cue, pool[key]))
    frames = [(key, number) for key in keys[:CONTROLS] for number in range(len(pool[key].frames))]
    masks: dict[str, list[np.ndarray]] = {}
    for each, grid in _read(cells, pool, frames):
        mask = stretched(region.likest(grid), size_of(_frame(pool, each)))
        masks.setdefault(each[0], []).append(mask)
    return {key: Place(masks=tuple(own)) for key, own in masks.items()}


def _assembled(
    cue: Cue,
    pool: Mapping[str, Sample],
    showing: Sequence[FrameId],
    masks: Mapping[FrameId, np.ndarray],
    auroc: float | None,
    region: Region | None,
    word: str | None,
) -> LocatedCue:
    numbers: dict[str, list[int]] = {}
    for key, number in showing:
        numbers.setdefault(key, []).append(number)
    places = {}
    for key, own in numbers.items():
        sample = pool[key]
        of_frames = tuple(
            masks.get((key, n), np.zeros(size_of(frame), dtype=bool))
            for n, frame in enumerate(sample.frames)
        )
        known = of_frames if masks and any(mask.any() for mask in of_frames) else ()
        places[key] = Place(masks=known, frames=tuple(own) if len(sample.frames) > 1 else ())
    area = float(np.mean([p.area for p in places.values()])) if masks and places else None
    ranks = [v for v in (auroc, region.auroc if region and masks else None) if v is not None]
    by = "frames like those of the run"
    if masks:
        by += ", and the patches that tell them"
    elif region:
        by += f"; no patches tell them (AUROC {region.auroc:.2f})"
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(pool.keys() - places.keys()),
        quality=Localisation(by, min(ranks) if ranks else 0.0, area, len(places)),
        word=word,
    )


def _training_frames(
    audit: Audit, study: Study, cue: Cue
) -> tuple[list[FrameId], Bool[np.ndarray, " frame"]]:
    """Frames of the run with the cue, and others, of the same labels first."""
    positive: dict[FrameId, None] = {}
    for occurrence in cue.feature.occurrences:
        key = root(occurrence.sample, study.seen)
        if key is not None:
            positive[key, min(occurrence.frame or 0, len(study.seen[key].frames) - 1)] = None
    everything = [(key, n) for key, s in study.seen.items() for n in range(len(s.frames))]
    others = [each for each in everything if each not in positive]
    rng = audit.rng("confirm", "training", cue.id)
    chosen = [list(positive)[row] for row in rng.permutation(len(positive))[:FRAMES]]
    there = {study.seen[key].label for key, _ in chosen}
    order = rng.permutation(len(others)).tolist()
    order.sort(key=lambda row: study.seen[others[row][0]].label not in there)
    chosen += [others[row] for row in order[:FRAMES]]
    return chosen, np.array([each in positive for each in chosen], dtype=bool)


def _boxes(study: Study, cue: Cue) -> dict[FrameId, Bool[np.ndarray, "_row _col"]]:
    """The regions in which the run found the cue, by frame."""
    found: dict[FrameId, Bool[np.ndarray, "_row _col"]] = {}
    for occurrence in cue.feature.occurrences:
        key = root(occurrence.sample, study.seen)
        if key is not None and occurrence.region is not None:
            each = key, min(occurrence.frame or 0, len(study.seen[key].frames) - 1)
            mask = box_mask([occurrence.region], size_of(_frame(study.seen, each)))
            found[each] = found[each] | mask if each in found else mask
    return found


def _frame(samples: Mapping[str, Sample], each: FrameId) -> Frame:
    return samples[each[0]].frames[each[1]]


def embeddings(
    audit: Audit, samples: Mapping[str, Sample], frames: Sequence[FrameId]
) -> Float[np.ndarray, "frame dim"]:
    """What the model makes of each frame held still; of its colours, where it does not tell."""
    if "embedding" in audit.capabilities.outputs and "logits" in audit.capabilities.outputs:
        trials = []
        for key, number in frames:
            sample = samples[key]
            still = sample if len(sample.frames) == 1 else sample.static(number)
            trials.append(Trial(sample=still, condition="static", outputs=OUTPUTS))
        return np.stack([np.asarray(o.response.embedding) for o in audit.respond(trials)]).astype(
            np.float64
        )
    grids = colours(samples, frames)
    side = CELLS // 3
    coarse = [g.reshape(3, side, 3, side, -1).mean(axis=(1, 3)).ravel() for g in grids]
    return np.stack(coarse)


def _cell_readers(audit: Audit, frames: Sequence[Frame]) -> list[Cells]:
    """What tells the patches of frames: the model where it can, and colours."""
    readers: list[Cells] = [colours]
    shapes = [size_of(frame) for frame in frames[:8]]
    square = all(0.9 < rows / cols < 1.1 for rows, cols in shapes)
    # a model crops what is not square, and then its grid does not span the frame
    if "patches" in audit.capabilities.exposes and square:

        def patches(samples: Mapping[str, Sample], wanted: Sequence[FrameId]) -> list[np.ndarray]:
            trials = [
                Patches().of(samples[key].with_frames((samples[key].frames[n],), f"frame-{n}"))
                for key, n in wanted
            ]
            return [np.asarray(o.response.readout)[0] for o in audit.respond(trials)]

        readers.append(patches)
    return readers


def colours(samples: Mapping[str, Sample], frames: Sequence[FrameId]) -> list[np.ndarray]:
    """Mean and spread of each colour, and their products, in a grid of cells: (row, col, dim)."""
    grids = []
    for each in frames:
        image = _frame(samples, each).load()
        pixels = np.asarray(
            image.resize((CELLS * 4, CELLS * 4), Image.Resampling.BOX), np.float64
        ).reshape(CELLS, 4, CELLS, 4, 3)
        mean, spread = pixels.mean(axis=(1, 3)) / 255, pixels.std(axis=(1, 3)) / 255
        pairs = [mean[..., i] * mean[..., j] for i in range(3) for j in range(i, 3)]
        grids.append(np.concatenate([mean, spread, np.stack(pairs, axis=-1)], axis=-1))
    return grids
