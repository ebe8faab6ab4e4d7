"""Labels against a recount from the numbers that the world was drawn by."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from cuescope_sdk import Sample, generator
from cuescope_sdk.grounding import SCENE
from cuescope_shape_world.questions import answer, phrases_in
from cuescope_shape_world.scenes import scene
from cuescope_shape_world.words import FAMILIAR, FRAME_SECONDS
from cuescope_shape_world.worlds import World, draw_world

Drawn = Callable[..., tuple[Sample, ...]]
KINDS = ("appearing", "colour", "order", "turn", "place", "hidden")


def world_of(sample: Sample) -> World:
    split, index = sample.key.split("-")
    names = ("shape-world", split, str(len(sample.frames)), str(int(index)))
    return draw_world(generator(0, *names), len(sample.frames), FAMILIAR)


def comings(world: World) -> dict[str, int]:
    """First frame of each shape that comes late, while in view."""
    found = {}
    for life in world.lives:
        first = int(np.flatnonzero(life.there)[0])
        if first and life.in_view[first]:
            found[life.phrases[first]] = first
    return found


def goings(world: World) -> dict[str, int]:
    """First frame without each shape that goes early, while in view."""
    found = {}
    for life in world.lives:
        last = int(np.flatnonzero(life.there)[-1])
        if last + 1 < len(life.there) and life.in_view[last]:
            found[life.phrases[last]] = last + 1
    return found


def recount(sample: Sample) -> str:
    world, question = world_of(sample), sample.question or ""
    named, came, went = phrases_in(question), comings(world), goings(world)
    turns = [
        (at + 1, step) for at, step in enumerate(np.diff(world.camera).tolist()) if step
    ]
    match sample.annotations["question_type"]:
        case "appearing":
            pick = min if "first" in question else max
            return pick(came, key=lambda name: came[name])
        case "colour":
            kind = question.split(" at the end")[0].split()[-1]
            [life] = [
                life
                for life in world.lives
                if life.phrases[-1].endswith(kind) and life.in_view[-1]
            ]
            return life.phrases[-1].split()[0]
        case "order":
            one, other = named
            first = (
                came[one] < went[other]
                if "disappears?" in question
                else went[one] < came[other]
            )
            return "yes" if first else "no"
        case "turn":
            start = 0
            if named:
                start = came[named[0]] if " appears" in question else went[named[0]] - 1
            later = [step for at, step in turns if at > start]
            return "right" if later[-1 if "last" in question else 0] > 0 else "left"
        case "place":
            minute, second = map(int, question.rstrip("?").split()[-1].split(":"))
            at = round((60 * minute + second) / FRAME_SECONDS)
            one, other = (
                next(
                    life.corners[at] for life in world.lives if life.phrases[at] == name
                )
                for name in named
            )
            x, y = (one - other).tolist()
            sides = {"left of": -x, "right of": x, "above": -y, "below": y}
            [side] = [value for name, value in sides.items() if f" {name} " in question]
            return "yes" if side > 0 else "no"
        case _:
            [wall] = world.walls
            return world.lives[wall.hides].phrases[wall.first]


def test_labels_are_right(drawn: Drawn) -> None:
    samples = drawn(count=90)
    assert [sample.label for sample in samples] == [
        recount(sample) for sample in samples
    ]
    asked = Counter(sample.annotations["question_type"] for sample in samples)
    assert min(asked[kind] for kind in KINDS) >= 4


def test_of_two_choices_neither_is_always_right(drawn: Drawn) -> None:
    labels = Counter(s.label for s in drawn(count=90) if len(s.choices) == 2)
    for one, other in (("yes", "no"), ("left", "right")):
        assert 0.3 < labels[one] / (labels[one] + labels[other]) < 0.7


def test_choices_hold_the_label_once(drawn: Drawn) -> None:
    for sample in drawn(count=90):
        assert len(set(sample.choices)) == len(sample.choices) >= 2
        assert sample.label in sample.choices


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ("What colour", "which colour"),
        ("at the end", "in the end"),
        ("turn ", "rotate "),
        ("first", "initially"),
        ("Which", "Look, and say: which"),
    ],
)
def test_a_question_in_other_words_has_the_same_answer(
    drawn: Drawn, words: str, others: str
) -> None:
    asked = [s for s in drawn(count=90) if words in (s.question or "")]
    assert len(asked) >= 3
    for sample in asked:
        text = f"{(sample.question or '').replace(words, others)}\nReason in numbered steps."
        assert answer(text, sample.annotations[SCENE]) == sample.label


def test_other_questions_have_no_answer(drawn: Drawn) -> None:
    scene = drawn()[0].annotations[SCENE]
    late = "Is the red circle left of the blue star at 9:59?"
    for text in ("", "How many shapes are there?", late):
        assert answer(text, scene) is None


def deeds(world: World, index: int, frame: int) -> set[str]:
    """What a shape does that the picture shows, by the numbers of its world."""
    life = world.lives[index]
    found = set()
    if frame and not life.there[frame - 1]:
        found.add("appear")
    if not life.there[frame : frame + 2].all():
        found.add("disappear")
    # a movement is told from the frame before, which must show it too
    if frame and world.is_visible(index, frame - 1):
        step = tuple((life.corners[frame] - life.corners[frame - 1]).tolist())
        ways = {(-4, 0): "left", (4, 0): "right", (0, -4): "up", (0, 4): "down"}
        found |= {f"move {ways[step]}"} if step in ways else set()
        if life.phrases[frame] != life.phrases[frame - 1]:
            found.add(f"turn {life.phrases[frame].split()[0]}")
    return found


@pytest.mark.parametrize("seed", range(12))
def test_actions_are_those_of_the_worlds_numbers(seed: int) -> None:
    world = draw_world(generator(seed, "actions"), 24, FAMILIAR)
    for frame, graph in enumerate(scene(world)):
        expected = {
            (f"shape-{index}", verb)
            for index in range(len(world.lives))
            if world.is_visible(index, frame)
            for verb in deeds(world, index, frame)
        }
        walls = {(wall.first, "appear") for wall in world.walls}
        walls |= {(wall.last, "disappear") for wall in world.walls}
        expected |= {("wall-0", verb) for at, verb in walls if at == frame}
        done = [(action.subject, action.verb) for action in graph.actions]
        assert len(done) == len(set(done))
        assert set(done) == expected
