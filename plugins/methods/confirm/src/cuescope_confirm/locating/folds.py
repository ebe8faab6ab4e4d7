"""Cross-fitting: each fold of the data is tested with what was found on the others.

Of few samples a half is too small to find a cue, and a half too small to test it. Of several runs
each leaves one fold out; there its cues are located, and what all folds say of a cue is one test
(after Chernozhukov et al., 2018; docs/adr/0043).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cuescope_confirm.locating import Part, Target
from cuescope_confirm.locating.places import LocatedCue, Masks
from cuescope_confirm.study import Cue
from cuescope_sdk import Sample
from cuescope_sdk.interventions import Place


def join(cue: Cue, parts: Sequence[Part]) -> Target:
    """One target of a cue's folds: each sample's place is that of the fold that it is in.

    A fold in which the cue moves answers the other way, or is at an uncertain place, is left out
    where others are surer.
    """
    located = [part for part in parts if part.target.located is not None]
    sure = [
        part for part in located if part.target.located and part.target.located.is_sure
    ]
    parts = sure or located or parts
    # most folds decide the way: one that is alone has a fold's luck
    [(way, _)] = Counter(map(_way, parts)).most_common(1)
    parts = [part for part in parts if _way(part) == way]
    first = parts[0].target
    least = parts[0].study.options.least
    samples: dict[str, Sample] = {}
    for part in parts:
        samples |= part.target.samples
    if first.direction.toward == "the label":  # to one, that these folds agree on
        cue = replace(cue, labels=first.cue.labels)
    return replace(
        first,
        cue=cue,
        # sorted: the order of the folds must not reach a figure
        samples=dict(sorted(samples.items())),
        located=_join_places(
            [part.target.located for part in parts if part.target.located], least
        ),
        parts=tuple(parts),
    )


def _way(part: Part) -> tuple[str, int, str | None]:
    toward, sign = part.target.direction.toward, part.target.direction.sign
    return toward, sign, part.target.cue.label if toward == "the label" else None


def _join_places(located: Sequence[LocatedCue], least: int) -> LocatedCue | None:
    """All folds' places; regions only where enough samples have one for a test.

    Else what changes a region has too few of them, and what changes all of a picture the rest.
    """
    if not located:
        return None
    places: dict[str, Place] = {}
    without: set[str] = set()
    objects: dict[str, Masks] = {}
    likest: dict[str, Place] = {}
    for fold in located:
        places |= fold.places
        without |= fold.without
        objects |= fold.objects
        likest |= fold.likest
    placed = sum(bool(region.masks) for region in places.values())
    if placed < min(least, len(places)):
        places = {key: replace(place, masks=()) for key, place in places.items()}
        likest = {}
    # the least sure fold speaks for all
    aurocs = [fold.auroc for fold in located if fold.auroc is not None]
    weights = [len(fold.places) for fold in located]
    return replace(
        located[0],
        places=places,
        without=without,
        auroc=min(aurocs, default=None),
        objects=objects,
        likest=likest,
        # by how many places each has: a fold with three of them says less
        purity=float(np.average([fold.purity for fold in located], weights=weights)),
    )
