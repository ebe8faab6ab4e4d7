"""Which classes a background makes the answer (Table 7)."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import ORIGINAL, Images, Mask
from cuescope_cci.covar.measures import change
from cuescope_cci.scores import Figure
from cuescope_sdk.statistics import Groups

MOST = 3  # classes that are told of a background


@dataclass(frozen=True)
class Pull:
    """How often a class is answered before a background: in all, and more than before others."""

    label: str
    here: float
    more: Figure


def background_pulls(
    answers: Answers,
    images: Images,
    rng: np.random.Generator,
) -> dict[str, list[Pull]]:
    """For each background the classes that it adds most answers of, over the whole benchmark.

    What is more is more than before the other backgrounds, source by source; corrected for all
    pairs of a background and a class.
    """
    # photos have backgrounds of their own, which no other object has
    counted = ~images.of(ORIGINAL)
    shares = {}
    tried = 0
    for code in np.unique(images.background[counted]).tolist():
        is_here = images.background == code
        here = _shares(answers, images, counted & is_here)
        elsewhere = _shares(answers, images, counted & ~is_here)
        # only sources on both sides: the same objects, so that classes are as frequent in both
        both = np.isfinite(here[:, 0] + elsewhere[:, 0])
        shares[code] = here[both], elsewhere[both]
        # classes that are never answered could not have been chosen, and are not paid for
        tried += int(np.count_nonzero(here[both].sum(axis=0)))
    pulls = {}
    for code, (here, elsewhere) in shares.items():
        more = (here - elsewhere).sum(axis=0)
        named = np.flatnonzero(here.sum(axis=0))
        strongest = named[np.argsort(-more[named], kind="stable")]
        of_background = []
        for label in strongest[:MOST].tolist():
            figure = change(
                elsewhere[:, label], here[:, label], Groups.single(len(here)), rng
            )
            if figure.p_value is not None:
                # the classes that are told were chosen among all: each pays for all (Bonferroni)
                figure = replace(figure, q_value=min(1.0, tried * figure.p_value))
            share_here = float(here[:, label].mean())
            of_background.append(Pull(images.labels[label], share_here, figure))
        pulls[images.backgrounds[code]] = of_background
    return pulls


def _shares(
    answers: Answers,
    images: Images,
    among: Mask,
) -> Float[np.ndarray, "source label"]:
    """How often each source is answered each label; NaN for a source that is not among them."""
    counts = np.zeros((images.source.count, len(images.labels)))
    np.add.at(counts, (images.source.codes[among], answers.predicted[among]), 1)
    # 0 / 0 is meant: NaN marks a source without such an image
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
