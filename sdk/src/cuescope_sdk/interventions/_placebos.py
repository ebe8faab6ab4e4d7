"""Places that are like the cue's and are not the cue's: of equal area, as near to the object."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool
from scipy.ndimage import distance_transform_edt

from cuescope_sdk.interventions._located import Place

TRIES = 32
ENOUGH = 0.02  # a placebo that differs by less is taken at once
# of the cue's own region; more of it and the placebo would be the intervention
MOST_SHARED = 0.5
# of the object, by which a placebo may cover more or less than the cue does
MOST_OBJECT = 0.1


def elsewhere(
    place: Place,
    objects: Sequence[Bool[np.ndarray, "_row _col"]],
    rng: np.random.Generator,
) -> Place | None:
    """The cue's region moved to another place, round the edges: the same area in the same frames.

    Of random moves that share little with the cue, the one that covers as much of the object
    and lies as far from it; `objects` are its masks, one a frame, [] where they are unknown. None
    where the cue leaves no such place.
    """
    shown = [number for number, mask in enumerate(place.masks) if mask.any()]
    # a region that covers most of the frame meets itself wherever it is moved
    if not shown or place.area > 1 - MOST_SHARED / 2:
        return None
    known = len(objects) == len(place.masks) and any(mask.any() for mask in objects)
    # what is alike in several frames is looked at once
    parts = {
        (place.masks[n].tobytes(), objects[n].tobytes() if known else b""): n
        for n in shown
    }.values()
    # once for all tries: a distance transform of each frame is slow
    reach = {n: distance_transform_edt(~objects[n]) for n in parts} if known else {}
    best: tuple[float, np.ndarray] | None = None
    for share in rng.random((TRIES, 2)):
        moved = {n: _move_mask(place.masks[n], share) for n in parts}
        # the roll keeps the area, so a region that is moved is never empty
        shared = np.mean(
            [(moved[n] & place.masks[n]).sum() / moved[n].sum() for n in parts]
        )
        if shared > MOST_SHARED:
            continue
        cost = float(shared)
        if known:
            covered = [
                _share_covered(masks, objects) for masks in (_some(place, parts), moved)
            ]
            if abs(covered[0] - covered[1]) > MOST_OBJECT:
                continue
            far = [
                np.mean([reach[n][masks[n]].mean() for n in parts])
                for masks in (_some(place, parts), moved)
            ]
            # in shares of the frame, as what is shared is, so that the two can be added
            cost += float(abs(far[0] - far[1])) / max(place.masks[shown[0]].shape)
        if best is None or cost < best[0]:
            best = cost, share
        if best[0] < ENOUGH:
            break
    if best is None:
        return None
    masks = tuple(
        _move_mask(mask, best[1]) if mask.any() else mask for mask in place.masks
    )
    return Place(masks=masks, frames=place.frames)


def _some(place: Place, numbers: Iterable[int]) -> dict[int, np.ndarray]:
    return {n: place.masks[n] for n in numbers}


def _move_mask(
    mask: Bool[np.ndarray, "row col"], share: np.ndarray
) -> Bool[np.ndarray, "row col"]:
    rows, cols = (
        int(part * size) for part, size in zip(share, mask.shape, strict=True)
    )
    # round the edges: a cut at the border would make the placebo smaller than the cue
    return np.roll(mask, (rows, cols), axis=(0, 1))


def _share_covered(
    masks: Mapping[int, np.ndarray], objects: Sequence[np.ndarray]
) -> float:
    """The mean share of the object that is covered."""
    shares = [
        # an object may be missing in a frame that shows the cue
        (mask & objects[n]).sum() / max(objects[n].sum(), 1)
        for n, mask in masks.items()
    ]
    return float(np.mean(shares))


def other_frames(place: Place, frames: int, rng: np.random.Generator) -> Place | None:
    """As many frames that do not show the cue; None where too few are left."""
    free = [number for number in range(frames) if number not in place.frames]
    # one frame at least must stay, or nothing would be left to look at
    if len(free) < 2:
        return None
    count = min(len(place.frames), len(free) - 1)
    chosen = sorted(rng.choice(free, count, replace=False).tolist())
    return Place(frames=tuple(chosen))
