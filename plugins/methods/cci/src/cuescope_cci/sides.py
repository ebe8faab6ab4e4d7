"""Which region decided an answer: what it costs to hide each of them as a whole.

Patches of one background say the same. With six of seven clusters still there, hiding the seventh
costs nothing, so the clusters' own drops (and any map made of them) can pass over a background that
the model relies on entirely. Hidden whole, a region has no stand-in. The drop is that of the text
against the mean of all choices: similarity that all choices lose alike decides nothing.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_cci.importance import Answered, about
from cuescope_cci.regions import Mask, Region
from cuescope_sdk import Audit, HideTokens, Trial
from cuescope_sdk.maths import upsample


def background_clusters(
    cluster: Int[np.ndarray, "row col"], foreground: Mask
) -> Bool[np.ndarray, " cluster"]:
    """Clusters that lie on the foreground no more than the picture as a whole does."""
    numbers = range(int(cluster.max()) + 1)
    on_it = upsample(foreground.astype(np.float32), cluster.shape)
    return np.array([on_it[cluster == number].mean() <= on_it.mean() for number in numbers])


def lost(
    whole: Float[np.ndarray, " choice"], hidden: Float[np.ndarray, " choice"], choice: int
) -> float:
    """What the choice loses beyond what the choices lose on average; a lone one, what it loses."""
    drops = np.asarray(whole, dtype=np.float64) - hidden
    return float(drops[choice] - (drops.mean() if len(drops) > 1 else 0.0))


def regions(
    audit: Audit, found: Sequence[Answered], targets: Sequence[str], masks: Sequence[Mask]
) -> list[Region | None]:
    """The region whose absence costs each image's target more; of equals the foreground.

    None for a mask that leaves no foreground or no background, or that no cluster follows.
    """
    sides = [background_clusters(*pair) for pair in _maps_and(found, masks)]
    told = [
        i for i, side in enumerate(sides)
        if side.any() and not side.all() and masks[i].any() and not masks[i].all()
    ]  # fmt: skip
    trials = [trial for i in told for trial in _trials(found[i], targets[i], sides[i])]
    outcomes = iter(audit.respond(trials))
    answers: list[Region | None] = [None] * len(found)
    for i in told:
        whole, without_objects, without_background = (
            np.asarray(next(outcomes).response.logits) for _ in range(3)
        )
        choice = about(found[i].sample, targets[i]).choices.index(targets[i])
        back = lost(whole, without_background, choice)
        answers[i] = "background" if back > lost(whole, without_objects, choice) else "foreground"
    return answers


def _maps_and(
    found: Sequence[Answered], masks: Sequence[Mask]
) -> list[tuple[Int[np.ndarray, "row col"], Mask]]:
    return [(one.look.cluster, mask) for one, mask in zip(found, masks, strict=True)]


def _trials(one: Answered, target: str, background: Bool[np.ndarray, " cluster"]) -> list[Trial]:
    """The image as it is, without its foreground clusters, without its background clusters."""
    sample, of_background = about(one.sample, target), background[one.look.cluster]
    without = [("objects-hidden", ~of_background), ("background-hidden", of_background)]
    return [
        Trial(sample=sample),
        *(
            Trial(sample=sample, edit=HideTokens.from_mask(mask[None]), condition=condition)
            for condition, mask in without
        ),
    ]
