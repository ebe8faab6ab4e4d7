"""The images of a controlled benchmark: subsets, backgrounds, sources, and what belongs together.

A data set says of each image its `factors` (background, subset), the photo that it was made of
(`source_key` or `source`), which photos were drawn together (`Sample.group`), and whether a filter
flagged it (`dropped`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk import Sample, UserError
from cuescope_sdk.statistics import Groups

ORIGINAL = "original"
PLAIN = "background"
# The factor's value, and what the paper's tables call it, in their order.
SUBSETS: dict[str, str] = {
    PLAIN: "Bg-varied",
    "h-flip": "H-flip",
    "translate": "Translate",
    "crop": "Crop",
    "v-flip": "V-flip",
    "rotation": "Rotation",
    "viewpoint": "Viewpoint",
    "scale": "Scale",
}
KNOWN = (ORIGINAL, *SUBSETS)
NONE = -1  # no such image

Codes = Int[np.ndarray, " image"]
Mask = Bool[np.ndarray, " image"]


@dataclass(frozen=True, eq=False)
class Images:
    """The images that count, in the data set's order; codes are indices into the names.

    `photo` is what an image was made of, and `source` what was drawn independently: a photo, or
    several of one place. `plain` is the image of the same photo before the same background in the
    subset "background", and `original` the photo; -1 where there is none. `flagged` counts what the
    filter dropped, by subset.
    """

    samples: tuple[Sample, ...]
    subset: Codes
    label: Codes
    background: Codes
    source: Groups
    photo: Codes
    plain: Codes
    original: Codes
    labels: tuple[str, ...]
    backgrounds: tuple[str, ...]
    flagged: Mapping[str, int]

    def of(self, *subsets: str) -> Mask:
        """Which images are of some subsets."""
        return np.isin(self.subset, [KNOWN.index(name) for name in subsets])

    @property
    def subsets(self) -> list[str]:
        """Those of the eight that have an image."""
        return [name for name in SUBSETS if self.of(name).any()]


def factor(sample: Sample, name: str) -> str | None:
    """A factor's value as text, None where the sample has none."""
    value = sample.annotations.get("factors", {}).get(name)
    return None if value is None else str(value)


def photo_of(sample: Sample) -> tuple[str, ...]:
    """What tells the photo that an image was made of from all others."""
    names = [
        sample.group,
        sample.annotations.get("source"),
        sample.annotations.get("source_key"),
    ]
    return tuple(str(name) for name in names if name)


def read_images(samples: Sequence[Sample], labels: Sequence[str]) -> Images:
    """Codes and pairs; raises UserError for data that is no controlled benchmark."""
    kept = []
    subsets = []
    label = []
    places = []
    photo = []
    photos: dict[tuple[str, ...], int] = {}
    flagged: Counter[str] = Counter()
    for sample in samples:
        _check(sample, labels)
        name = str(factor(sample, "subset"))
        # counted, not only dropped: a filter that drops one subset more would bend its figures
        if sample.annotations.get("dropped"):
            flagged[name] += 1
            continue
        kept.append(sample)
        subsets.append(KNOWN.index(name))
        label.append(labels.index(str(sample.label)))
        places.append(factor(sample, "background") or "")
        photo.append(photos.setdefault(photo_of(sample), len(photos)))
    # int: an empty list would be an array of floats
    subset = np.array(subsets, int)
    is_plain = subset == KNOWN.index(PLAIN)
    if not is_plain.any():
        raise UserError(
            "bench covar: no image of the subset 'background'",
            expected="objects before other backgrounds, which all subsets are made of",
            remedy="Build a data set with `cuescope covar build`",
        )
    backgrounds, background = np.unique(places, return_inverse=True)
    of_photo = np.array(photo)
    return Images(
        samples=tuple(kept),
        subset=subset,
        label=np.array(label),
        background=background,
        source=Groups.of(kept),
        photo=of_photo,
        # one number for photo and background: the partner must share both
        plain=_partners(of_photo * len(backgrounds) + background, is_plain),
        original=_partners(of_photo, subset == KNOWN.index(ORIGINAL)),
        labels=tuple(labels),
        backgrounds=tuple(backgrounds.tolist()),
        flagged=flagged,
    )


def _partners(code: Codes, among: Mask) -> Codes:
    """For each image, the index of the one of its code that is among some; else NONE."""
    index = np.full(int(code.max()) + 1, NONE)
    # by position, so that figures of both can be subtracted as arrays
    index[code[among]] = np.flatnonzero(among)
    return np.asarray(index[code])


def _check(sample: Sample, labels: Sequence[str]) -> None:
    what = f"bench covar: sample '{sample.key}'"
    subset = factor(sample, "subset")
    if subset not in KNOWN:
        raise UserError(
            f"{what} is of no known subset",
            expected=f"annotations['factors']['subset'], one of {', '.join(KNOWN)}",
            got="none" if subset is None else f"'{subset}'",
            remedy="Name --data covar:DIR (`cuescope covar build` makes one), or camera-scenes",
        )
    if sample.label not in labels:
        raise UserError(
            f"{what} has no label of the data set",
            expected="a label of each image",
            got=f"'{sample.label}'",
        )
    # variants of a photo are alike: taken as independent they would prove too much
    if sample.group is None:
        raise UserError(
            f"{what} does not say of which photo it is",
            expected="a group: all variants of a photo are one draw",
        )


def draw_sources(
    samples: Sequence[Sample],
    most: int | None,
    rng: np.random.Generator,
) -> tuple[Sample, ...]:
    """The samples of at most so many sources, drawn from all labels alike."""
    labels = {str(sample.group): str(sample.label) for sample in samples}
    if most is None or most >= len(labels):
        return tuple(samples)
    # sorted: the draw must not depend on the data's order
    names = sorted(labels)
    turn: Counter[str] = Counter()
    rank = {}
    for index in rng.permutation(len(names)).tolist():
        name = names[index]
        rank[name] = turn[labels[name]]
        turn[labels[name]] += 1
    # the first of each label, then the second of each
    chosen = sorted(rank, key=rank.__getitem__)[:most]
    return tuple(sample for sample in samples if str(sample.group) in chosen)
