"""Which classes a background makes the answer (Table 7), and whether exchanging it agrees."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import PLAIN, Images
from cuescope_cci.covar.measures import Figure, change, correct, share
from cuescope_cci.options import Rule
from cuescope_sdk.statistics import Groups

MOST = 3  # classes that are told of a background


@dataclass(frozen=True)
class Pull:
    """How often a class is answered before a background: in all, and more than before others."""

    label: str
    here: float
    more: Figure


def background_pulls(
    answers: Answers, images: Images, rng: np.random.Generator
) -> dict[str, list[Pull]]:
    """For each background the classes that it adds most answers of, over the whole benchmark.

    The same sources stand before all backgrounds, so what is more is more than before the others,
    source by source; corrected for all pairs of a background and a class.
    """
    counted = np.isin(images.subset, [images.subset[images.of(name)][0] for name in images.subsets])
    figures = {}
    here = {}
    for code, background in enumerate(images.backgrounds):
        shares = [
            _shares(answers, images, counted & side)
            for side in (images.background != code, images.background == code)
        ]
        both = ~np.isnan(shares[0][:, 0]) & ~np.isnan(shares[1][:, 0])
        others, own = (side[both] for side in shares)
        groups = Groups.single(int(both.sum()))
        for number in np.flatnonzero(own.sum(axis=0) > 0):
            label = images.labels[number]
            here[background, label] = float(own[:, number].mean())
            figures[background, label] = change(others[:, number], own[:, number], groups, rng)
    known = correct({key: figure for key, figure in figures.items() if figure.value is not None})
    pulls: dict[str, list[Pull]] = {name: [] for name in images.backgrounds}
    for (background, label), more in known.items():
        pulls[background].append(Pull(label, here[background, label], more))
    return {
        name: sorted(own, key=lambda pull: -(pull.more.value or 0.0))[:MOST]
        for name, own in pulls.items()
    }


def _shares(
    answers: Answers, images: Images, among: Bool[np.ndarray, " image"]
) -> Float[np.ndarray, "source label"]:
    """How often each source is answered each label; NaN for a source that is not among them."""
    counts = np.zeros((images.source.count, len(images.labels)))
    np.add.at(counts, (images.source.codes[among], answers.predicted[among]), 1)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Exchange:
    """Wrong answers before a background, held against the same object before the others.

    `follows`: share that most other backgrounds do not get. `agrees`: share of which a rule says
    the same. `sheet`: the same against the data's answer sheet, None without one.
    """

    wrong: int
    follows: Figure
    leaning: Figure
    agrees: Figure
    sheet: Figure | None


def exchange_backgrounds(
    answers: Answers,
    images: Images,
    rule: Rule,
    planted: Bool[np.ndarray, " image"] | None,
) -> Exchange:
    """What a rule says of wrong answers, beside what exchanging the background shows.

    A wrong answer is the background's where most other backgrounds of the same object are not
    answered so. `planted` tells where the answer sheet has the shown background for the answer.
    """
    plain = images.of(PLAIN)
    counts = np.zeros((images.source.count, len(images.labels)))
    np.add.at(counts, (images.source.codes[plain], answers.predicted[plain]), 1)
    same = counts[images.source.codes, answers.predicted] - 1  # other than itself
    others = np.bincount(images.source.codes[plain], minlength=images.source.count) - 1
    others = others[images.source.codes]
    known = plain & answers.known(rule) & (others > 0)
    follows = same < others / 2
    leaning = answers.on_background(rule)
    return Exchange(
        wrong=int(known.sum()),
        follows=share(follows, known, images.source),
        leaning=share(leaning, known, images.source),
        agrees=share(follows == leaning, known, images.source),
        sheet=None if planted is None else share(planted == leaning, known, images.source),
    )
