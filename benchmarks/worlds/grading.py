"""What a planted cue is worth in truth, and whether the samples of a feature show it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cuescope_sdk import Feature
from worlds.design import Case, World
from worlds.planting import Truth, true_effect

MOST_LIKE = 0.5  # of a finding's samples beyond chance, those that show the cue


def truth_of(world: World, case: Case, label: str, folder: Path) -> Truth:
    """The true effect of a case's cue on a label, measured once and kept in the folder."""
    file = folder / world.name / f"truth {case.name}, {label}.json"
    if not file.exists():
        network = world.open_network(case, folder)
        truth = true_effect(world, case, network, label)
        file.write_text(json.dumps(asdict(truth)))
    return Truth(**json.loads(file.read_text()))


def is_like(feature: Feature, shown: set[str], samples: int) -> bool:
    """Whether most of its samples show the cue, beyond the cue's share of all."""
    listed = {occurrence.sample for occurrence in feature.occurrences}
    if not listed:
        return False
    chance = len(shown) / samples
    inside = len(listed & shown) / len(listed)
    return (inside - chance) / (1 - chance) >= MOST_LIKE


def points(share: float) -> str:
    """A share in points, with its sign."""
    return f"{100 * share:+.0f}"


def cases_named(world: World, text: str) -> Sequence[Case]:
    """The cases whose name holds a text."""
    return [case for case in world.cases if text in case.name]
