"""Words for a place, and for what is seen there."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from cuescope_sdk.locating._changes import Change
from cuescope_sdk.locating._location import Location
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._written import Written

# of an edge: a mask that covers more lies along it, if it comes near both ends
ALONG = 0.6
THIRDS = (1 / 3, 2 / 3)
# of the frames: so many have the cue in one part, or it has none in common
MOSTLY = 0.6
NEAR = 4  # a quarter of the frame
MARK = 0.12  # of the frame: what is smaller is a mark
EDGES = ("top", "bottom", "left", "right")


def part_of(mask: Mask) -> str:
    """The part of the frame that a place is in, as a person says it.

    >>> corner = np.zeros((9, 9), bool); corner[:2, 7:] = True; part_of(corner)
    'top right'
    """
    edges = edges_of(mask)
    if len(edges) == len(EDGES):
        return "along all edges"
    if edges:
        listed = " and ".join(edges)
        return f"along the {listed} edge{'s' if len(edges) > 1 else ''}"
    rows, cols = np.nonzero(mask)
    row = (rows.mean() + 0.5) / mask.shape[0]
    col = (cols.mean() + 0.5) / mask.shape[1]
    across = _third(col, ("left", "", "right"))
    down = _third(row, ("top", "", "bottom"))
    return " ".join(filter(None, (down, across))) or "centre"


def edges_of(mask: Mask) -> list[str]:
    """The edges along which a place lies."""
    rows, cols = mask.shape
    # near an edge is along it too: a banner leaves some rows free
    down = rows // NEAR
    across = cols // NEAR
    sides = {
        "top": mask[:down].any(axis=0),
        "bottom": mask[-down:].any(axis=0),
        "left": mask[:, :across].any(axis=1),
        "right": mask[:, -across:].any(axis=1),
    }
    return [name for name, covered in sides.items() if _is_along(np.asarray(covered))]


def _is_along(covered: Bool[np.ndarray, " cell"]) -> bool:
    """Whether a place goes from one end of an edge to the other, by the cells that it covers."""
    end = len(covered) // NEAR
    ends = covered[:end].any() and covered[-end:].any()
    return bool(ends and covered.mean() >= ALONG)


def _third(share: float, words: Sequence[str]) -> str:
    return words[int(np.searchsorted(THIRDS, share))]


def words_for_place(location: Location, masks: Sequence[Mask]) -> str:
    """Where it is; `masks` are those of frames that show the cue."""
    if location.mask is not None:
        return part_of(location.mask)
    if location.region is None:
        return "everywhere" if location.spread == "everywhere" else "unknown"
    parts = Counter(map(part_of, masks))
    [(part, count)] = parts.most_common(1)
    if count >= MOSTLY * len(masks):
        return f"at changing places, mostly {part}"
    return "at changing places"


def name_for(
    where: str,
    area: float | None,
    change: Change,
    written: Written | None = None,
) -> str:
    """What is seen where, in a few words: a guess."""
    if written is not None:
        return f"{written.noun}, {where}"
    if where == "everywhere":
        if not change.words:
            return "the whole picture looks different"
        return f"{' and '.join(change.words[:2])}, in the whole picture"
    if where == "along all edges":
        thing = "border"
    elif where.startswith("along"):
        thing = "bars" if where.endswith("edges") else "bar"
    else:
        thing = "mark" if area is not None and area <= MARK else "area"
    if change.colour == "grey" and change.hue is not None:
        # what others have less of tells more than that there is little of it
        thing = f"more {change.hue} {thing}"
    elif change.colour is not None:
        thing = f"{change.colour} {thing}"
    elif change.words:
        # the clearest one; "more edges" cannot stand before a noun
        clearest = change.words[0]
        is_edges = clearest.endswith("edges")
        thing = f"{thing} with {clearest}" if is_edges else f"{clearest} {thing}"
    return f"{thing}, {where}"
