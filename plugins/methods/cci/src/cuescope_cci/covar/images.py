"""The images of a controlled benchmark: subsets, backgrounds, sources, and what belongs together.

A data set says of each image its `factors` (background, subset), the photo that it was made of
(`source_key` or `source`), which photos were drawn together (`Sample.group`), and whether a filter
flagged it (`dropped`).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk import Sample, UserError
from cuescope_sdk.statistics import Groups

ORIGINAL, PLAIN = "original", "background"
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


@dataclass(frozen=True, eq=False)
class Images:
    """The images that count, in the data set's order; codes are indices into the names.

    `photo` is what an image was made of, and `source` what was drawn independently: a photo, or
    several of one place. `plain` is the image of the same photo before the same background in the
    subset "background", and `original` the photo; -1 where there is none. `flagged` counts what the
    filter dropped, by subset and reason.
    """

    samples: tuple[Sample, ...]
    subset: Int[np.ndarray, " image"]
    label: Int[np.ndarray, " image"]
    background: Int[np.ndarray, " image"]
    source: Groups
    photo: Int[np.ndarray, " image"]
    plain: Int[np.ndarray, " image"]
    original: Int[np.ndarray, " image"]
    labels: tuple[str, ...]
    backgrounds: tuple[str, ...]
    flagged: Mapping[tuple[str, str], int]

    def of(self, subset: str) -> Bool[np.ndarray, " image"]:
        """Which images are of a subset."""
        return np.asarray(self.subset == KNOWN.index(subset))

    @property
    def subsets(self) -> list[str]:
        """Those of the eight that have an image."""
        return [name for name in SUBSETS if self.of(name).any()]


def factor(sample: Sample, name: str) -> str | None:
    """A factor's value as text, None where the sample has none."""
    value = sample.annotations.get("factors", {}).get(name)
    return None if value is None else str(value)


def kind_of_reason(reason: str) -> str:
    """Why a filter flagged an image, its figures left open: reasons are counted.

    >>> kind_of_reason("4.5% of its pixels differ")
    'N% of its pixels differ'
    """
    return re.sub(r"\d+(\.\d+)?", "N", reason)


def photo_of(sample: Sample) -> tuple[str, ...]:
    """What tells the photo that an image was made of from all others."""
    own = (sample.annotations.get(name) for name in ("source", "source_key"))
    return (str(sample.group), *(str(name) for name in own if name))


def read_images(samples: Sequence[Sample], labels: Sequence[str]) -> Images:
    """Codes and pairs; raises UserError for data that is no controlled benchmark."""
    for sample in samples:
        _check(sample, labels)
    flagged = Counter(
        (str(factor(s, "subset")), kind_of_reason(str(s.annotations["dropped"])))
        for s in samples
        if s.annotations.get("dropped")
    )
    kept = tuple(s for s in samples if not s.annotations.get("dropped"))
    backgrounds = tuple(sorted({str(factor(s, "background") or "") for s in kept}))
    code = {name: i for i, name in enumerate(backgrounds)}
    source = Groups.of(kept)
    subset = np.array([KNOWN.index(str(factor(s, "subset"))) for s in kept], int)
    background = np.array([code[str(factor(s, "background") or "")] for s in kept], int)
    is_plain, is_original = subset == KNOWN.index(PLAIN), subset == KNOWN.index(ORIGINAL)
    if not is_plain.any():
        raise UserError(
            "bench covar: no image of the subset 'background'",
            expected="objects before other backgrounds, which all subsets are made of",
            remedy="Build a data set with `cuescope covar build`",
        )
    names = [photo_of(sample) for sample in kept]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    photo = np.array([number[name] for name in names], int)
    pair = {(photo[i], background[i]): i for i in np.flatnonzero(is_plain)}
    first = {photo[i]: i for i in np.flatnonzero(is_original)}
    both = list(zip(photo, background, strict=True))
    return Images(
        samples=kept,
        subset=subset,
        label=np.array([labels.index(str(s.label)) for s in kept], int),
        background=background,
        source=source,
        photo=photo,
        plain=np.array([pair.get(own, NONE) for own in both], int),
        original=np.array([first.get(own, NONE) for own in photo], int),
        labels=tuple(labels),
        backgrounds=backgrounds,
        flagged=dict(flagged),
    )


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
    if sample.group is None:
        raise UserError(
            f"{what} does not say of which photo it is",
            expected="a group: all variants of a photo are one draw",
        )


def draw_sources(
    samples: Sequence[Sample], most: int | None, rng: np.random.Generator
) -> tuple[Sample, ...]:
    """The samples of at most so many sources, drawn from all labels alike."""
    labels = {str(sample.group): str(sample.label) for sample in samples}
    if most is None or most >= len(labels):
        return tuple(samples)
    names = sorted(labels)
    order = [names[i] for i in rng.permutation(len(names)).tolist()]
    turn: Counter[str] = Counter()
    rank: dict[str, tuple[int, int]] = {}
    for name in order:  # the first of each label, then the second of each
        rank[name] = turn[labels[name]], len(rank)
        turn[labels[name]] += 1
    chosen = set(sorted(order, key=rank.__getitem__)[:most])
    return tuple(sample for sample in samples if str(sample.group) in chosen)
