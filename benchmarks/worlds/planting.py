"""How much a cue moves a network's answers, by the same pictures drawn with it and without."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from worlds.design import Case, Facts, Network, World

FRESH = 1200  # samples that tell the true effect
CALIBRATED_ON = 400
NEAR = 0.004  # of the share


@dataclass(frozen=True)
class Truth:
    """What taking the cue out does, in shares: positive where it costs right answers.

    `effect` is of the right answer's probability, `error` its standard error, `accuracy` of right
    answers. Over samples of one label that show the cue.
    """

    effect: float
    error: float
    accuracy: float
    samples: int


def true_effect(world: World, case: Case, network: Network, label: str) -> Truth:
    """Measured on samples that nothing else sees."""
    facts = world.showing(case, "truth", FRESH, label)
    with_cue, without = _paired(world, facts, network, case.cue)
    column = world.labels.index(label)
    change = without[:, column] - with_cue[:, column]
    right = [rows.argmax(axis=1) == column for rows in (with_cue, without)]
    return Truth(
        effect=float(change.mean()),
        error=float(change.std() / np.sqrt(len(change))),
        accuracy=float(right[1].mean() - right[0].mean()),
        samples=len(change),
    )


def true_pull(world: World, case: Case, network: Network, label: str) -> Truth:
    """The same of how much a cue draws samples of all other labels to one."""
    others = [other for other in world.labels if other != label]
    column = world.labels.index(label)
    change = []
    right = []
    for other in others:
        facts = world.showing(case, "truth", FRESH // len(others), other)
        with_cue, without = _paired(world, facts, network, case.cue)
        change.append(with_cue[:, column] - without[:, column])
        own = world.labels.index(other)
        right += [
            (without.argmax(1) == own).mean() - (with_cue.argmax(1) == own).mean()
        ]
    changes = np.concatenate(change)
    return Truth(
        effect=float(changes.mean()),
        error=float(changes.std() / np.sqrt(len(changes))),
        accuracy=float(np.mean(right)),
        samples=len(changes),
    )


def share_of_bias(
    world: World,
    case: Case,
    blend: Callable[[float], Network],
) -> float:
    """How far to go from a fair network to a biased one, so that the cue takes its points."""
    if case.used is None:
        return 0.0
    alone = Case(case.used, "cause")
    label = world.victim_of(case)
    facts = world.showing(alone, "calibration", CALIBRATED_ON, label)
    clips = _both(world, facts, case.used)
    column = world.labels.index(label)

    def lacking(share: float) -> float:
        with_cue, without = map(blend(share).probabilities, clips)
        change = without[:, column] - with_cue[:, column]
        return case.points / 100 - float(change.mean())

    # the strongest that can be had
    if lacking(1.0) > 0:
        return 1.0
    # a fair network may lose something to a cue that hides the object
    if lacking(0.0) < 0:
        return 0.0
    return float(brentq(lacking, 0.0, 1.0, xtol=NEAR))


def _paired(
    world: World,
    facts: list[Facts],
    network: Network,
    cue: str,
) -> tuple[np.ndarray, np.ndarray]:
    with_cue, without = _both(world, facts, cue)
    return network.probabilities(with_cue), network.probabilities(without)


def _both(world: World, facts: list[Facts], cue: str) -> tuple[list, list]:
    with_cue = list(map(world.draw, facts))
    without = [world.draw(sample.without(cue)) for sample in facts]
    return with_cue, without
