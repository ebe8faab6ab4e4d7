"""What is a cue called by its pictures alone? Every kind of cue that a world draws.

    python benchmarks/cue_names.py --world 9
    python benchmarks/cue_names.py --world 9 --pure 0.8

Of 400 pictures of two labels four in ten show a cue, and other cues stand in one of ten. A list of
those with the cue, of which a share is `pure`, gets its name as a finding does; no model is asked.
A person reads whether the words fit what was drawn: benchmarks/worlds/README.md says what worlds
are.
"""

import argparse

from rich.console import Console
from rich.table import Table
from worlds import MODULES, open_world
from worlds.design import Facts, World

from cuescope_sdk import (
    Audit,
    Context,
    Feature,
    Frame,
    Occurrence,
    Portrait,
    Sample,
    Score,
    derive,
    generator,
)
from cuescope_sdk.locating import attach_portraits

SAMPLES = 400
SHOWN = 0.4
OTHERS = 0.1  # of the pictures that show each other cue
HARD = 0.3


def listed(world: World, cue: str, pure: float) -> tuple[list[Sample], Feature]:
    """Pictures of two labels, and a list of those with the cue."""
    rng = generator(0, "names", world.name, cue)
    labels = [label for label in world.labels if label != world.label_of(cue)][:2]
    samples = []
    with_it: list[str] = []
    without: list[str] = []
    for index in range(SAMPLES):
        is_shown = bool(rng.random() < SHOWN)
        cues = {name for name in world.kinds if name != cue and rng.random() < OTHERS}
        if is_shown:
            cues.add(cue)
        facts = Facts(
            seed=derive(0, "names", cue, str(index)),
            label=labels[index % 2],
            setting=str(rng.choice(world.settings)),
            cues=frozenset(cues),
            is_hard=bool(rng.random() < HARD),
        )
        frames = tuple(map(Frame.from_array, world.draw(facts)))
        key = f"{index:03}"
        samples.append(Sample(key=key, frames=frames, label=facts.label))
        (with_it if is_shown else without).append(key)
    some = without[: round(len(with_it) * (1 - pure) / pure)]
    keys = rng.permutation([*with_it, *some]).tolist()
    [frame, *_] = world.in_frames.get(cue, (0,))
    occurrences = tuple(Occurrence(sample=key, frame=frame) for key in keys)
    return samples, Feature(key=cue, kind="cluster", occurrences=occurrences)


def portrait_of(samples: list[Sample], feature: Feature) -> Portrait | None:
    """What a report says of a finding with these occurrences."""
    audit = Audit(
        labels=tuple({str(sample.label) for sample in samples}),
        options=None,
        respond=_refuse,
        context=Context(),
        samples=tuple(samples),
    )
    score = Score(feature=feature.key, label=None, metric="m", value=1.0, finding=True)
    attach_portraits(audit, [feature], [score])
    portraits = (item for item in audit.attachments if isinstance(item, Portrait))
    return next(portraits, None)


def _refuse(*given: object) -> None:
    raise AssertionError("a portrait asks the model nothing")


def main() -> None:
    """A row for each kind of cue."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", required=True, choices=MODULES)
    parser.add_argument("--pure", type=float, default=0.8)
    given = parser.parse_args()
    world = open_world(given.world)
    table = Table("cue", "what it is", "name", "what changes", "AUROC")
    for cue, kind in world.kinds.items():
        portrait = portrait_of(*listed(world, cue, given.pure))
        said = ("nothing", "", "")
        if portrait is not None:
            said = (str(portrait.name), portrait.what, f"{portrait.auroc:.2f}")
        table.add_row(cue, kind, *said)
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
