"""A part of a cue is one with it where the rest moves answers as much, and is none of its own."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.merging.nests import is_part_of, wholes_of
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Feature, Frame, Occurrence, Outcome, Response, Sample, Trial

SIDE = 48
COUNT = 200
CHOICES = ("cup", "plate")
# what the cue is seen as: a square in the left half, or in the right one
LEFT, RIGHT, NONE = "left", "right", "none"


def picture(rng: np.random.Generator, side: str) -> Frame:
    pixels = 90 + rng.normal(0, 12, (SIDE, SIDE, 3))
    top = int(rng.integers(0, SIDE - 12))
    left = int(rng.integers(0, SIDE // 2 - 12)) + (SIDE // 2 if side == RIGHT else 0)
    if side != NONE:
        pixels[top : top + 12, left : left + 12] = (40, 60, 220)
    return Frame.from_array(pixels.clip(0, 255).astype(np.uint8))


class World:
    """Pictures, half of them with a square; `harm` is how often one of each kind is wrong."""

    def __init__(self, harm: dict[str, float]) -> None:
        rng = np.random.default_rng(0)
        self.sides: dict[str, str] = {}
        self.wrong: set[str] = set()
        seen = {}
        for number in range(COUNT):
            key = f"{number:03}"
            side = str(rng.choice([LEFT, RIGHT, NONE], p=[0.25, 0.25, 0.5]))
            self.sides[key] = side
            if rng.random() < harm[side]:
                self.wrong.add(key)
            seen[key] = Sample(
                key=key,
                frames=(picture(rng, side),),
                label=CHOICES[number % 2],
                choices=CHOICES,
            )
        audit: Any = SimpleNamespace(
            once=lambda function, *given: function(*given),
            rng=lambda *names: np.random.default_rng(len("".join(names))),
            capabilities=SimpleNamespace(outputs={"logits"}),
            respond=self.respond,
        )
        options: Any = SimpleNamespace(least=10)
        self.study = Study(audit, options, (), seen, {}, {}, {})

    def respond(self, trials: list[Trial]) -> list[Outcome]:
        outcomes = []
        for trial in trials:
            label = CHOICES.index(str(trial.sample.label))
            logits = np.zeros(2)
            logits[1 - label if trial.sample.key in self.wrong else label] = 3.0
            outcomes.append(Outcome(trial, Response(logits=logits)))
        return outcomes

    def cue(self, name: str, keys: set[str]) -> Cue:
        """A cluster that a method found for all labels."""
        occurrences = tuple(Occurrence(sample=key, frame=0) for key in sorted(keys))
        feature = Feature(key=name, kind="cluster", occurrences=occurrences)
        return Cue(feature, name, run="trove")

    def showing(self, *sides: str) -> set[str]:
        return {key for key, side in self.sides.items() if side in sides}


ALIKE = {LEFT: 0.7, RIGHT: 0.7, NONE: 0.1}
LEFT_ALONE = {LEFT: 0.7, RIGHT: 0.1, NONE: 0.1}


@pytest.mark.parametrize(("harm", "is_part"), [(ALIKE, True), (LEFT_ALONE, False)])
def test_a_part_is_one_with_its_whole_where_the_rest_moves_answers(
    harm: dict[str, float], is_part: bool
) -> None:
    world = World(harm)
    part = world.cue("part", world.showing(LEFT))
    whole = world.cue("whole", world.showing(LEFT, RIGHT))
    assert is_part_of(world.study, part, whole) is is_part
    assert not is_part_of(world.study, whole, part)
    assert wholes_of(world.study, [part, whole]) == ([1, 1] if is_part else [0, 1])


def test_what_is_wrong_is_no_whole_of_which_a_cue_is_a_part() -> None:
    """Wrong answers move answers as much in each of their parts: pictures have to tell a whole."""
    world = World(ALIKE)
    failures = world.cue("failures", world.wrong)
    part = world.cue("part", world.showing(LEFT) & world.wrong)
    assert not is_part_of(world.study, part, failures)


def test_two_names_or_two_places_are_two_cues() -> None:
    world = World(ALIKE)
    part = world.cue("part", world.showing(LEFT))
    whole = world.cue("whole", world.showing(LEFT, RIGHT))
    named = [replace(cue, checked=cue.name) for cue in (part, whole)]
    assert not is_part_of(world.study, *named)
    other = world.cue("other", world.showing(RIGHT, NONE))
    assert not is_part_of(world.study, part, other)


def test_a_part_of_a_part_is_one_with_the_largest() -> None:
    world = World(ALIKE)
    whole = world.showing(LEFT, RIGHT)
    some = set(sorted(whole)[::2])
    few = set(sorted(some)[::2])
    cues = [
        world.cue(str(len(keys)), keys)
        for keys in (few, whole, world.showing(NONE), some)
    ]
    assert wholes_of(world.study, cues) == [1, 1, 2, 1]
