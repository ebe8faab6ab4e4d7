"""What a test of gaps takes for granted: free answers, independent images, objects of like size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    digest,
    generator,
)
from cuescope_testing import Setup

Making = Callable[..., Setup]
TOLD = "Answer with 'Yes' or 'No'."


def test_a_model_that_writes_is_told_to_say_yes_or_no(setup: Making) -> None:
    eyes: Any = setup().model
    asked: set[str] = set()

    class Talker(eyes):
        """Says yes or no where it is told to, and else describes what it sees."""

        def answer(self, trial: Trial) -> Response:
            asked.add(trial.sample.question or "")
            told = "closed-answers" in self.capabilities.exposes
            if told or (trial.sample.question or "").endswith(TOLD):
                return super().answer(trial)  # type: ignore[no-any-return]
            return Response(text="I can see a kitchen in this picture.")

    report = setup(model=Talker, k=10, draws=200).report()
    assert "0 answered neither yes nor no" in report.notes["answers"]
    assert f"Determine whether there is a cup in the image. {TOLD}" in asked
    own = setup(
        model=Talker, k=10, draws=200, questions=["Is there {object}?"]
    ).report()
    assert "(100.0%) answered neither yes nor no" in own.notes["answers"]
    asked.clear()
    closed = eyes.capabilities.model_copy(
        update={"exposes": frozenset({"closed-answers"})}
    )
    Talker.capabilities = closed
    setup(model=Talker, k=10, draws=200).report()
    assert {question.partition("image")[2] for question in asked} == {"?", "."}


# ------------------------------------------------------------------------------- near-duplicates

THINGS, TIMES = ("table", "tree", "rug", "window"), 8
SCENES: dict[str, str] = {}  # of each frame the burst that it is from


class BurstOptions(Options):
    """Which draw."""

    seed: int = Field(0, description="another seed, another draw")


class Bursts(Plugin):
    """40 scenes with a cup, eight shots of each in a row, and nothing says so."""

    Options: ClassVar[type[Options]] = BurstOptions
    options: BurstOptions
    labels = ("cup",)
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("bursts", options.seed)

    def __len__(self) -> int:
        return 40 * TIMES

    def __getitem__(self, index: int) -> Sample:
        scene = f"{self.options.seed}-{range(len(self))[index] // TIMES}"
        pixels = np.kron(
            generator(0, "scene", scene).uniform(0, 255, (8, 8)), np.ones((6, 6))
        )
        grain = generator(0, "grain", str(index)).normal(0, 3, (48, 48, 3))
        frame = Frame.from_array(
            (pixels[..., None] + grain).clip(0, 255).astype(np.uint8)
        )
        SCENES[frame.key] = scene
        return Sample(key=f"shot-{index:03d}", frames=(frame,), label="cup")


class Burst(Plugin):
    """Errs on three scenes in ten, whatever is in them."""

    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text"}))
    fingerprint = "burst"
    facts: ClassVar[Mapping[str, str]] = {}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        scenes = [SCENES[trial.sample.frames[0].key] for trial in trials]
        return [
            Response(text="no" if generator(7, scene).random() < 0.3 else "yes")
            for scene in scenes
        ]


class Scattered(Plugin):
    """Sees a thing in half of the scenes, and then in all shots of it."""

    fingerprint = "scattered"

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        return [tuple(self.find(SCENES[frame.key], names)) for frame in frames]

    def find(self, scene: str, names: Sequence[str]) -> Iterator[Detection]:
        for name in names:
            if generator(3, name, scene).random() < 0.5:
                yield Detection(name=name, score=0.9, box=(0, 0, 8, 6))


def test_near_duplicates_count_once_without_a_group(setup: Making) -> None:
    """Taken as 320 images, the 40 scenes made a finding in most draws; as 40 they make none."""
    tools = {"detector": Scattered}
    for seed in range(2):
        made = setup(
            data=Bursts,
            model=Burst,
            tools=tools,
            data_options={"seed": seed},
            k=20,
            task="recognition",
            draws=300,
        )
        report = made.report(seed=seed)
        assert not report.findings
        (check,) = [e for e in report.evidence if e.check == "independent samples"]
        assert (check.verdict, check.value) == ("inconclusive", 320)
        assert {score.n for score in report.headlines} == {20}


# ------------------------------------------------------------------------------------------ sizes


def test_a_finding_without_a_known_size_says_so(setup: Making) -> None:
    kitchen: Any = setup().data
    finder: Any = setup().tools["detector"]

    class Unboxed(kitchen):
        """The kitchen without masks."""

        def __getitem__(self, index: int) -> Sample:
            sample = super().__getitem__(index)
            kept = {key: v for key, v in sample.annotations.items() if key != "masks"}
            return replace(sample, annotations=kept)

    class Sizeless(finder):
        """Finds things, but no cup."""

        def find(self, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
            return (seen for seen in super().find(frame, names) if seen.name != "cup")

    given = {
        "data": Unboxed,
        "tools": {"detector": Sizeless},
        "k": 40,
        "task": "recognition",
        "draws": 200,
    }
    report = setup(**given).report()
    (statement,) = report.statements
    assert "the object's size is not known here" in statement
    # what was seen is said, and has no star
    assert report.doubts
    assert {e.verdict for e in report.evidence if "size" in e.check} == {"inconclusive"}
    known = setup(k=40, task="recognition", draws=200).report()
    assert known.findings
    assert not known.doubts
    assert "size is not known" not in str(known.statements)


# ----------------------------------------------------------------------------------------- labels


def test_objects_that_nobody_annotated_are_no_hallucination(setup: Making) -> None:
    """One cup in four is not listed, and tables stand by cups; the model sees what is there."""
    kitchen: Any = setup().data
    finder: Any = setup().tools["detector"]

    class Unlisted(kitchen):
        """The kitchen in which cups stand on tables, and some are not listed."""

        def __init__(self, options: Any, context: Context) -> None:
            super().__init__(options, context)
            # the first and the fourth name of the kitchen
            cup, table = self.present[:, 0], self.present[:, 3]
            table &= cup | (self.grain[:, 0, 0, 0] < 20)

        def __getitem__(self, index: int) -> Sample:
            sample = super().__getitem__(index)
            if int(sample.key[-3:]) % 4:
                return sample
            listed = [name for name in sample.annotations["objects"] if name != "cup"]
            return replace(
                sample,
                annotations={**sample.annotations, "objects": tuple(listed)},
            )

    class Misses(finder):
        """Finds seven cups in ten, more or less surely."""

        def find(self, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
            sure = generator(4, frame.key).random()
            for seen in super().find(frame, names):
                if seen.name != "cup":
                    yield seen
                elif sure > 0.3:
                    yield seen.model_copy(update={"score": sure})

    given = {
        "tools": {"detector": Misses},
        "data_options": {"samples": 480},
        "classes": ("cup",),
        "k": 40,
        "draws": 200,
    }
    blind = setup(**given, data=Unlisted, model_options={"cue": "", "errs": 0.03})
    report = blind.report()
    assert not report.findings
    # it is seen, and said to be no hallucination for sure
    words = str(report.statements) + str(report.notes)
    assert "not annotated" in words or "labels that the detector contradicts" in words
    # what the model imagines beside tables keeps its star
    assert setup(**given).report().findings
