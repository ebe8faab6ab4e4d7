"""Words for a place, and for what is seen there."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cuescope_sdk.locating._changes import Change
from cuescope_sdk.locating._location import Location
from cuescope_sdk.locating._masks import EDGES, Mask, edges_of, pieces_of

THIRDS = (1 / 3, 2 / 3)
MOSTLY = 0.5  # of the frames: more than half have the cue in one part
MARK = 1 / 8  # of the frame: what is no larger is a mark
CORNERS = {"top left", "top right", "bottom left", "bottom right"}
PAIR = 2
# of a place without a colour that most of its pixels are of
MOTLEY = ("more colourful", "many colours")


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
    middle = _middle_of(mask)
    parts = set(map(_middle_of, pieces_of(mask)))
    if middle in parts:
        return middle
    # what lies round the middle is not there
    if parts >= CORNERS:
        return "in all corners"
    if len(parts) == PAIR:
        return " and ".join(sorted(parts))
    return "in several places"


def _middle_of(mask: Mask) -> str:
    """The part of the frame that the middle of a place is in."""
    rows, cols = np.nonzero(mask)
    row = (rows.mean() + 0.5) / mask.shape[0]
    col = (cols.mean() + 0.5) / mask.shape[1]
    across = _third(col, ("left", "", "right"))
    down = _third(row, ("top", "", "bottom"))
    return " ".join(filter(None, (down, across))) or "centre"


def _third(share: float, words: Sequence[str]) -> str:
    return words[int(np.searchsorted(THIRDS, share))]


def words_for_place(location: Location, masks: Sequence[Mask]) -> str:
    """Where it is; `masks` are those of frames that show the cue."""
    if location.mask is not None:
        return part_of(location.mask)
    if not location.has_place:
        return "everywhere"
    parts = Counter(map(part_of, masks))
    [(part, count)] = parts.most_common(1)
    if count > MOSTLY * len(masks):
        return f"at changing places, mostly {part}"
    return "at changing places"


def name_for(where: str, area: float | None, change: Change) -> str:
    """What is seen where, in a few words: a guess."""
    if where == "everywhere":
        if not change.words:
            return "a group of similar pictures"
        return f"{' and '.join(change.words[:2])}, in the whole picture"
    if where == "along all edges":
        thing = "border"
    elif where.startswith("along"):
        thing = "bars" if where.endswith("edges") else "bar"
    else:
        thing = "mark" if area is not None and area <= MARK else "area"
        if " and " in where or where.startswith("in "):
            thing += "s"
    if change.colour is not None:
        return f"{change.colour} {thing}, {where}"
    if change.words:
        # the clearest one; "more blue" cannot stand before a noun
        clearest = change.words[0]
        if clearest in MOTLEY or MOTLEY[1] in change.words:
            return f"{thing} of many colours, {where}"
        is_noun = clearest.startswith(("more ", "less "))
        thing = f"{thing} with {clearest}" if is_noun else f"{clearest} {thing}"
    return f"{thing}, {where}"
