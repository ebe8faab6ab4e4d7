"""The zoo: every planted configuration, which model answers it, and how the model was trained."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from itertools import chain, zip_longest
from typing import Any

from pydantic import TypeAdapter

from cuescope_planted_cues.worlds import (
    BASELINES,
    RATES,
    STRONG,
    Configuration,
    Pairs,
    World,
    by_role,
)


def _read(file: str) -> dict[str, Any]:
    """A table beside this file."""
    text = files(__package__).joinpath(file).read_text("utf-8")
    return tomllib.loads(text)


WORLDS = TypeAdapter(dict[str, World]).validate_python(_read("worlds.toml"))
PAIRS = _read("pairs.toml")


def native_scenes(label: str, victim: str, n: int) -> Iterator[Configuration]:
    """The background of scenes, as a toy CLIP that went by it sees it, and one that could not."""
    for role, learned in by_role(0.98):
        # The toy that the package ships, and a short training.
        training: dict[str, Any] = {"data_options": {"dial": 0.98, "seed": 0}}
        if role == "decoy":
            training = {
                "data_options": {"dial": 0.0, "train": 2400, "seed": 0},
                "epochs": 4,
            }
        yield Configuration(
            name=f"scenes by toy-clip, background of {label}, {role}",
            world="scenes by toy-clip",
            cue="background",
            role=role,
            model=("toy-clip", {"data": "scenes", **training}),
            # no `clean`: a scene is never without a background
            data=("scenes", {"audit_dial": 0.2, "val": 2400, "seed": n}),
            auditors=("cci", "saliency", *BASELINES),
            label=label,
            victim=victim,
            learned=learned,
            plants=tuple(map("background of {}".format, WORLDS["pictures"].labels)),
            asked=f"background of {label}",
        )


Worlds = Mapping[str, World]


def varied_pairs(clips: World) -> Pairs:
    """Cues in clips that are weaker, rarer or shorter, or in fewer samples."""
    drawn = []
    for row in PAIRS["varied"]:
        options = dict(row)
        size = options.pop("size", clips.size)
        rates = tuple(options.pop("rates", RATES))
        # the rivals see the others
        seen = replace(clips, size=size, auditors=("trove", *BASELINES))
        drawn.append(seen.pair(rates=rates, **options))
    return drawn


def pairs(worlds: Worlds) -> list[list[Configuration]]:
    """Cause and decoy on the same data, world by world."""
    clips, pictures = worlds["clips"], worlds["pictures"]
    stronger = replace(pictures, auditors=("trove", *BASELINES))
    plain = zip_longest(
        clips.pairs(1),
        pictures.pairs(21) + stronger.pairs(31, STRONG),
        worlds["questions"].pairs(41),
        [clips.tangle(**row) for row in PAIRS["sides"]],
        varied_pairs(clips),
    )
    # One of each kind after the other: the first ones are varied.
    order = list(filter(None, chain.from_iterable(plain)))
    # The dear ones come last.
    order += [
        native_scenes("ladybird", "basket", 36),
        native_scenes("daisy", "wreath", 37),
    ]
    return list(map(list, order))


def nulls(worlds: Worlds) -> list[Configuration]:
    """Twenty data sets without a cue, and toys that never saw one."""
    # each background with each of eight labels
    even = {"dial": 0.125, "audit_dial": 0.125}
    scenes = worlds["pictures"]
    pictures = replace(scenes, training={**scenes.training, **even}, auditing=even)
    # the answer takes video and question: neither is a short cut
    both = {"questions": "both"}
    questions = worlds["questions"]
    asked = replace(
        questions,
        training={**questions.training, **both},
        auditing={**questions.auditing, **both},
        model_options={},
    )
    empty = [*[worlds["clips"]] * 13, *[pictures] * 4, *[asked] * 3]
    # from 60 on: draws that no pair has
    return [world.null(n) for n, world in enumerate(empty, 60)]


def zoo() -> list[Configuration]:
    """All configurations; a null after every other pair or so, so that the first ones have some."""
    paired = pairs(WORLDS)
    empty = nulls(WORLDS)
    order: list[Configuration] = []
    begin = 0
    for number, pair in enumerate(paired, 1):
        end = number * len(empty) // len(paired)
        order += [*pair, *empty[begin:end]]
        begin = end
    return order
