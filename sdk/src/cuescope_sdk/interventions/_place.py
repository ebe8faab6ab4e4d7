"""Where a cue is in one sample, and places that are like it and are not the cue's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool
from scipy.ndimage import distance_transform_edt

Knowledge = Literal[
    "region",
    "still",
    "inside",
    "frames",
    "words",
    "modality",
    "question",
    "name",
    "pair",
]
Mask = Bool[np.ndarray, "_row _col"]
TRIES = 32
ENOUGH = 0.02  # a placebo that differs by less is taken at once
# of the cue's own region; more of it and the placebo would be the intervention
MOST_SHARED = 0.5
# of the object, by which a placebo may cover more or less than the cue does
MOST_OBJECT = 0.1


@dataclass(frozen=True, eq=False)
class Place:
    """Where a cue is in one sample.

    `masks`, one a frame in the frame's own pixels (row, col), are () where the region is unknown.
    `frames` are the numbers of the frames that show the cue, `spans` the (start, end) characters
    of the question that name it, `modality` is what carries it where it is all of a modality.
    """

    masks: tuple[Mask, ...] = ()
    frames: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    modality: Literal["video", "text"] | None = None

    @property
    def area(self) -> float:
        """Share of the pixels, of the frames that show the cue, that the region covers; 0 to 1."""
        # frames without the cue would make a region small that is not
        shown = [mask.mean() for mask in self.masks if mask.any()]
        return float(np.mean(shown)) if shown else 0.0

    @property
    def known(self) -> frozenset[Knowledge]:
        """Facts known of it; that the frames show it, where no words or modality do."""
        is_seen = bool(self.masks or self.frames or not self.spans)
        has: dict[Knowledge, bool] = {
            "region": any(mask.any() for mask in self.masks),
            "still": is_seen and self.modality is None,
            "inside": is_seen and self.modality is None,
            "frames": bool(self.frames),
            "words": bool(self.spans),
            "modality": self.modality is not None,
            "question": self.modality == "text",
        }
        return frozenset(name for name, there in has.items() if there)

    @classmethod
    def whole(
        cls,
        sizes: Sequence[Sequence[int]],
        frames: Sequence[int] = (),
    ) -> "Place":
        """All of some frames; of every one where none is named. `sizes` are (row, col) of each."""
        masks = []
        for number, size in enumerate(sizes):
            is_shown = number in frames or not frames
            # a view of one value: the masks of a long clip would fill the memory
            masks.append(np.broadcast_to(np.bool_(is_shown), size))
        return cls(tuple(masks), tuple(frames))

    # a change of a sample moves answers by itself, wherever it lies (docs/adr/0019)
    def elsewhere(
        self,
        objects: Sequence[Mask],
        rng: np.random.Generator,
    ) -> "Place | None":
        """The region moved to another place, round the edges: the same area in the same frames.

        Of random moves that share little with the cue, the one that covers as much of the object
        and lies as far from it; `objects` are its masks, one a frame, [] where they are unknown.
        None where the cue leaves no such place.
        """
        shown = [number for number, mask in enumerate(self.masks) if mask.any()]
        # a region that covers most of the frame meets itself wherever it is moved
        if not shown or self.area > 1 - MOST_SHARED / 2:
            return None
        known = len(objects) == len(self.masks) and any(map(np.any, objects))
        # what is alike in several frames is looked at once
        unlike: dict[tuple[bytes, bytes], int] = {}
        for number in shown:
            of_object = objects[number].tobytes() if known else b""
            unlike.setdefault((self.masks[number].tobytes(), of_object), number)
        masks = [self.masks[number] for number in unlike.values()]
        things = [objects[number] for number in unlike.values()] if known else []
        # once for all tries: a distance transform of each frame is slow
        distances = [distance_transform_edt(~mask) for mask in things]
        best: tuple[float, np.ndarray] | None = None
        for share in rng.random((TRIES, 2)):
            moved = [_move_mask(mask, share) for mask in masks]
            cost = _share_covered(moved, masks)
            if cost > MOST_SHARED:
                continue
            if known:
                more = _share_covered(moved, things) - _share_covered(masks, things)
                if abs(more) > MOST_OBJECT:
                    continue
                further = _mean_within(moved, distances)
                further -= _mean_within(masks, distances)
                # in shares of the frame, as what is shared is, so that the two can be added
                cost += abs(further) / max(masks[0].shape)
            if best is None or cost < best[0]:
                best = cost, share
            if best[0] < ENOUGH:
                break
        if best is None:
            return None
        shift = best[1]
        return Place(tuple(_move_mask(mask, shift) for mask in self.masks), self.frames)

    def other_frames(self, count: int, rng: np.random.Generator) -> "Place | None":
        """As many of `count` frames that do not show the cue; None where too few are left."""
        free = [number for number in range(count) if number not in self.frames]
        # one frame at least must stay, or nothing would be left to look at
        if len(free) < 2:
            return None
        most = min(len(self.frames), len(free) - 1)
        chosen = sorted(rng.choice(free, most, replace=False).tolist())
        return Place(frames=tuple(chosen))


def _move_mask(mask: Mask, share: np.ndarray) -> Mask:
    shift = (share * mask.shape).astype(int)
    # round the edges: a cut at the border would make the placebo smaller than the cue
    return np.roll(mask, shift, axis=(0, 1))


def _share_covered(masks: Sequence[Mask], others: Sequence[Mask]) -> float:
    """The mean share of the others that the masks cover, frame by frame."""
    shares = []
    for mask, other in zip(masks, others, strict=True):
        # an object may be missing in a frame that shows the cue
        shares.append((mask & other).sum() / max(other.sum(), 1))
    return float(np.mean(shares))


def _mean_within(masks: Sequence[Mask], values: Sequence[np.ndarray]) -> float:
    pairs = zip(masks, values, strict=True)
    return float(np.mean([inside[mask].mean() for mask, inside in pairs]))
