"""Which classes a background makes the answer (Table 7), and whether exchanging it agrees."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import ORIGINAL, PLAIN, Images
from cuescope_cci.covar.measures import Figure, change, share
from cuescope_cci.options import Rule
from cuescope_sdk.statistics import Groups

Shares = Float[np.ndarray, " source"]
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

    What is more is more than before the other backgrounds, source by source; corrected for all
    pairs of a background and a class.
    """
    counted = ~images.of(ORIGINAL)
    candidates: dict[str, list[tuple[str, Shares, Shares]]] = {}
    tried = 0
    for code in np.unique(images.background[counted]).tolist():
        here, elsewhere = (
            _shares(answers, images, counted & side)
            for side in (images.background == code, images.background != code)
        )
        both = ~np.isnan(here[:, 0]) & ~np.isnan(elsewhere[:, 0])
        here, elsewhere = here[both], elsewhere[both]
        more = (here - elsewhere).sum(axis=0)
        named = np.flatnonzero(here.sum(axis=0) > 0)
        tried += len(named)
        most = named[np.argsort(-more[named], kind="stable")][:MOST].tolist()
        candidates[images.backgrounds[code]] = [
            (images.labels[i], here[:, i], elsewhere[:, i]) for i in most
        ]
    return {
        background: [_pull(*candidate, tried, rng) for candidate in own]
        for background, own in candidates.items()
    }


def _pull(
    label: str, here: Shares, elsewhere: Shares, tried: int, rng: np.random.Generator
) -> Pull:
    more = change(elsewhere, here, Groups.single(len(here)), rng)
    # the classes that are told were chosen among all: each pays for all (Bonferroni)
    q_value = None if more.p_value is None else min(1.0, tried * more.p_value)
    return Pull(label, float(here.mean()) if len(here) else 0.0, replace(more, q_value=q_value))


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
    answers: Answers, images: Images, rule: Rule, planted: Bool[np.ndarray, " image"] | None
) -> Exchange:
    """What a rule says of wrong answers, beside what exchanging the background shows.

    A wrong answer is the background's where most other backgrounds of the same object are not
    answered so. `planted` tells where the answer sheet has the shown background for the answer.
    """
    plain, photos = images.of(PLAIN), int(images.photo.max()) + 1
    counts = np.zeros((photos, len(images.labels)))
    np.add.at(counts, (images.photo[plain], answers.predicted[plain]), 1)
    same = counts[images.photo, answers.predicted] - 1  # other than itself
    others = np.bincount(images.photo[plain], minlength=photos)[images.photo] - 1
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
