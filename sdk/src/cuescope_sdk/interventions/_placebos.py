"""Places that are like the cue's and are not the cue's: of equal area, as near to the object."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool
from scipy.ndimage import distance_transform_edt

from cuescope_sdk.interventions._located import Place

TRIES = 48
MOST_SHARED = 0.5  # of the cue's own region; more of it and the placebo would be the intervention
MOST_OBJECT = 0.1  # of the object, by which a placebo may cover more or less than the cue does


def elsewhere(
    place: Place, objects: Sequence[Bool[np.ndarray, "_row _col"]], rng: np.random.Generator
) -> Place | None:
    """The cue's region moved to another place, round the edges: the same area in the same frames.

    Of random moves that share little with the cue, the one that covers as much of the object
    and lies as far from it; `objects` are its masks, one a frame, [] where they are unknown. None
    where the cue leaves no such place.
    """
    shown = [number for number, mask in enumerate(place.masks) if mask.any()]
    if not shown or place.area > 1 - MOST_SHARED / 2:
        return None
    first = place.masks[shown[0]]
    rows, cols = first.shape
    known = len(objects) == len(place.masks) and any(mask.any() for mask in objects)
    reach = [distance_transform_edt(~mask) for mask in objects] if known else []
    best: tuple[float, Place] | None = None
    for _ in range(TRIES):
        share = rng.random(2)
        moved = tuple(_moved(mask, share) if mask.any() else mask for mask in place.masks)
        shared = np.mean([(moved[n] & place.masks[n]).sum() / moved[n].sum() for n in shown])
        if shared > MOST_SHARED:
            continue
        cost = float(shared)
        if known:
            covered = [_covered(masks, objects, shown) for masks in (place.masks, moved)]
            if abs(covered[0] - covered[1]) > MOST_OBJECT:
                continue
            far = [np.mean([reach[n][m[n]].mean() for n in shown]) for m in (place.masks, moved)]
            cost += float(abs(far[0] - far[1])) / max(rows, cols)
        if best is None or cost < best[0]:
            best = cost, Place(masks=moved, frames=place.frames)
    return best[1] if best else None


def _moved(mask: Bool[np.ndarray, "row col"], share: np.ndarray) -> Bool[np.ndarray, "row col"]:
    rows, cols = (int(part * size) for part, size in zip(share, mask.shape, strict=True))
    return np.roll(mask, (rows, cols), axis=(0, 1))


def _covered(
    masks: Sequence[np.ndarray], objects: Sequence[np.ndarray], shown: Sequence[int]
) -> float:
    """The mean share of the object that is covered."""
    return float(np.mean([(masks[n] & objects[n]).sum() / max(objects[n].sum(), 1) for n in shown]))


def other_frames(place: Place, frames: int, rng: np.random.Generator) -> Place | None:
    """As many frames that do not show the cue; None where too few are left."""
    free = [number for number in range(frames) if number not in place.frames]
    if len(free) < 2:
        return None
    count = min(len(place.frames), len(free) - 1)
    chosen = sorted(rng.choice(free, count, replace=False).tolist())
    return Place(frames=tuple(chosen))
