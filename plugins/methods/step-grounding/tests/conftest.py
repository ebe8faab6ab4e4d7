"""A room with two cups whose places are planted, a model that tells of them, and a plain parser."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    digest,
    generator,
)
from cuescope_sdk.grounding import SCENE, Claim, SceneFrame, Thing
from cuescope_step_grounding import StepGrounding
from cuescope_testing import Setup

WIDTH, HEIGHT, CUP = 32, 24, 6
COLOURS = {"red cup": (230, 0, 0), "blue cup": (0, 0, 230)}
CLOSED = frozenset({"things", "attributes", "relations", "actions", "motion"})
CLOSED_BUT_RELATIONS = CLOSED - {"relations"}
_SAID = re.compile(
    r"(?:At frame (?P<frame>\d+), )?(?:there is (?P<no>no|a) (?P<thing>[\w ]+?)"
    r"|the (?P<one>[\w ]+?) is (?P<how>left of|right of) the (?P<other>[\w ]+?))\.?$"
)


def claims_of(step: str, frames: int) -> list[Claim]:
    """One claim of the two kinds of sentences that the teller writes."""
    found = _SAID.match(step)
    if not found:
        return []
    place = int(found["frame"]) - 1 if found["frame"] else None
    when = None if place is None else (place,) if place < frames else ()
    if found["thing"]:
        denied = found["no"] == "no"
        return [
            Claim(
                kind="entity",
                text=step,
                subject=found["thing"],
                negated=denied,
                frames=when,
            )
        ]
    return [
        Claim(kind="entity", text=step, subject=found["one"], frames=when),
        Claim(
            kind="relation",
            text=step,
            subject=found["one"],
            predicate=found["how"],
            object=found["other"],
            frames=when,
        ),
    ]


class PlainParser:
    """In place of spaCy."""

    title = "a plain parser"


@pytest.fixture(autouse=True)
def plain_claims(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Claims are read by `claims_of` in the tests of whole audits of rooms, and in no others."""
    if request.module.__name__.rpartition("test_")[2] not in (
        "audit",
        "recorded",
        "agreement",
    ):
        return
    from cuescope_step_grounding import trials
    from cuescope_step_grounding.claims import readers

    def of_steps(
        parser: Any, steps: Sequence[str], clock: Any
    ) -> list[tuple[Claim, ...]]:
        return [tuple(claims_of(step, clock.frames)) for step in steps]

    monkeypatch.setattr(trials, "parser", lambda name: PlainParser())
    monkeypatch.setattr(readers, "read_steps", of_steps)


class RoomOptions(Options):
    """What is drawn."""

    samples: int = Field(24, description="how many videos")
    frames: int = Field(4, description="frames of each")
    scenes: bool = Field(True, description="annotated")


class Rooms(Plugin):
    """A red cup and a blue cup, each anywhere in its frame; asked is where the red one ends."""

    Options: ClassVar[type[Options]] = RoomOptions
    labels = ("left", "right")
    facts: dict[str, str] = {}

    def __init__(self, options: RoomOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("rooms", options.model_dump())

    def __len__(self) -> int:
        return int(self.options.samples)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        rng = generator(0, "rooms", str(index))
        places = [self._place(rng) for _ in range(self.options.frames)]
        (red, _), (blue, _) = places[-1]
        return Sample(
            key=f"room-{index:03d}",
            frames=tuple(Frame.from_array(drawn(*place)) for place in places),
            question="On which side of the blue cup is the red cup at the end?",
            choices=self.labels,
            label="left" if red < blue else "right",
            annotations={SCENE: tuple(scene(*place) for place in places)}
            if self.options.scenes
            else {},
        )

    def _place(
        self, rng: np.random.Generator
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        left, right = int(rng.integers(1, 9)), int(rng.integers(17, 25))
        ys = rng.integers(1, HEIGHT - CUP, 2).tolist()
        xs = (left, right) if rng.random() < 0.5 else (right, left)
        return (xs[0], ys[0]), (xs[1], ys[1])


def drawn(red: tuple[int, int], blue: tuple[int, int]) -> np.ndarray:
    pixels = np.full((HEIGHT, WIDTH, 3), 90, dtype=np.uint8)
    for (x, y), colour in zip((red, blue), COLOURS.values(), strict=True):
        pixels[y : y + CUP, x : x + CUP] = colour
    return pixels


def scene(red: tuple[int, int], blue: tuple[int, int]) -> SceneFrame:
    things = tuple(
        Thing(
            id=name,
            name="cup",
            attributes=(name.split()[0],),
            box=(x, y, x + CUP, y + CUP),
        )
        for name, (x, y) in zip(COLOURS, (red, blue), strict=True)
    )
    return SceneFrame(things=things, closed=CLOSED_BUT_RELATIONS)


class TellerOptions(Options):
    """How it reasons."""

    right: float = Field(1.0, description="share of claims that are true")
    looks: bool = Field(True, description="or makes it all up from the question")
    invents: str = Field("", description="a thing that it always names")
    decay: bool = Field(False, description="its last step is always wrong")
    form: str = Field("{steps}\nAnswer: {answer}", description="what it writes")


class Teller(Plugin):
    """Says of each frame where the red cup is, as its options want."""

    Options: ClassVar[type[Options]] = TellerOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset(("text",)))
    facts: dict[str, str] = {}

    def __init__(self, options: TellerOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("teller", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(text=self.told(trial.sample)) for trial in trials]

    def told(self, sample: Sample) -> str:
        key = digest(
            [frame.key for frame in sample.frames] if self.options.looks else "blind"
        )
        rng = generator(0, "teller", key)
        steps = []
        for number, frame in enumerate(sample.frames, start=1):
            side = (
                seen(frame)
                if self.options.looks
                else ("left", "right")[rng.integers(2)]
            )
            last = self.options.decay and number == len(sample.frames)
            if last or rng.random() >= self.options.right:
                side = {"left": "right", "right": "left"}.get(side or "", "left")
            said = (
                f"the red cup is {side} of the blue cup"
                if side
                else "there is no red cup"
            )
            steps.append(f"{number}. At frame {number}, {said}.")
        if self.options.invents:
            steps.append(
                f"{len(steps) + 1}. At frame 1, there is a {self.options.invents}."
            )
        answer = (seen(sample.frames[-1]) if self.options.looks else None) or "left"
        return str(self.options.form).format(steps="\n".join(steps), answer=answer)


def seen(frame: Frame) -> str | None:
    """On which side the red cup is, in pixels; None where one of them is not seen."""
    pixels = np.asarray(frame.load()).astype(int)
    columns = []
    for colour in COLOURS.values():
        there = (np.abs(pixels - colour).sum(axis=2) < 60).any(axis=0)
        if not there.any():
            return None
        columns.append(np.flatnonzero(there).mean())
    return "left" if columns[0] < columns[1] else "right"


Audited = Callable[..., Report]


@pytest.fixture(scope="session")
def audited() -> Audited:
    """`audited(model options, data options, **options of the method)`: the report."""

    def report(
        model: Mapping[str, Any] = {},
        data: Mapping[str, Any] = {},
        *,
        tools: Mapping[str, type[Any]] = {},
        teller: type[Any] = Teller,
        **options: Any,
    ) -> Report:
        given = {"shown": 1} | options
        return Setup(
            StepGrounding,
            teller,
            Rooms,
            given,
            model_options=model,
            data_options=data,
            tools=tools,
        ).report()

    return report


@pytest.fixture(scope="session")
def rooms() -> type[Rooms]:
    """The data set."""
    return Rooms


@pytest.fixture(scope="session")
def teller() -> type[Teller]:
    """The model."""
    return Teller


@pytest.fixture(scope="session")
def side_seen() -> Callable[[Frame], str | None]:
    """On which side the red cup is."""
    return seen


@pytest.fixture(scope="session")
def scene_of_cups() -> Callable[[tuple[int, int], tuple[int, int]], SceneFrame]:
    """The scene of the red cup and the blue cup with these corners."""
    return scene
