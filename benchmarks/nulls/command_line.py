"""How often a whole audit, started from the command line, finds something where there is nothing.

    python benchmarks/nulls/command_line.py --audits 100

Each of the six methods audits toys in which no cue is planted, drawn anew each time: the command is
run in this process as a person types it, and its report is read back from `--json`. Here as in a
person's audits all is in play: what is proposed, asked, tested, corrected and called a finding.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from pydantic import Field
from typer.testing import CliRunner

from cuescope.cli import app
from cuescope.context import Context
from cuescope_sdk import Frame, Options, Plugin, Sample, digest, generator
from cuescope_sdk.testing import FakeDataset, FakeModel, PluginShelf

METHODS = Path(__file__).parents[2] / "plugins/methods"
BETTER = "is better than random"  # what step grounding says of traces that fit their own video


def toys_of(method: str) -> ModuleType:
    """The toys of a method's own tests."""
    path = METHODS / method / "tests/conftest.py"
    spec = spec_from_file_location(f"{method.replace('-', '_')}_toys", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


KITCHENS, QUIZZES, ROOMS, PATCHES = map(
    toys_of, ("spurlens", "quag", "step-grounding", "saliency")
)


# --------------------------------------------------------------------------- data drawn anew


class Drawn(Plugin):
    """A data set whose samples depend on a seed; `draw` gives one of them."""

    class Options(Options):
        """Another seed, another draw."""

        seed: int = Field(0, description="of all that is drawn")

    options: Any
    samples: ClassVar[int] = 40
    labels: ClassVar[Sequence[str]] = ()
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest(type(self).__name__, options.model_dump())

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        return self.draw(
            index, generator(self.options.seed, type(self).__name__, str(index))
        )

    def draw(self, index: int, rng: np.random.Generator) -> Sample:
        """A sample."""
        raise NotImplementedError


class Rooms(Drawn):
    """Two cups in a room, with the scene; whoever tells of them has not looked."""

    samples, labels = 24, ("left", "right")

    def draw(self, index: int, rng: np.random.Generator) -> Sample:
        """Four frames of it."""
        places = [ROOMS.Rooms._place(self, rng) for _ in range(4)]
        (red, _), (blue, _) = places[-1]
        return Sample(
            key=f"room-{index:03d}",
            frames=tuple(Frame.from_array(ROOMS.drawn(*place)) for place in places),
            question="On which side of the blue cup is the red cup at the end?",
            choices=self.labels,
            label=self.labels[red > blue],
            annotations={ROOMS.SCENE: tuple(ROOMS.scene(*place) for place in places)},
        )


class Patches(Drawn):
    """A patch of the label's colour, one of another, and a mask that goes with neither."""

    labels = tuple(PATCHES.COLOURS)

    def draw(self, index: int, rng: np.random.Generator) -> Sample:
        """An image; half of its cells are the foreground."""
        pixels, shown = PATCHES.two_patches(rng)
        cells = rng.permutation(PATCHES.CELLS**2) < PATCHES.CELLS**2 // 2
        mask = (
            cells.reshape(PATCHES.CELLS, -1)
            .repeat(PATCHES.PATCH, 0)
            .repeat(PATCHES.PATCH, 1)
        )
        return Sample(
            key=f"patches-{index:03d}",
            frames=(Frame.from_array(pixels),),
            choices=self.labels,
            label=next(iter(shown)),
            annotations={"foreground": mask},
        )


class Quiz(Drawn):
    """Questions about pictures; the answers are drawn at random."""

    samples, labels = 160, QUIZZES.ANSWERS

    def draw(self, index: int, rng: np.random.Generator) -> Sample:
        """One of four questions about a picture."""
        pixels = generator(self.options.seed, "picture", str(index // 4)).integers(
            0, 255, (2, 2, 3)
        )
        return Sample(
            key=f"quiz-{index:03d}",
            frames=(Frame.from_array(pixels.astype(np.uint8)),),
            question=f"turn {index % 4}",
            choices=self.labels,
            label=self.labels[rng.integers(4)],
            group=f"picture {index // 4}",
        )


# ------------------------------------------------------------------------------------- the audits


@dataclass(frozen=True)
class Null:
    """An audit in which nothing is to be found: its plugins, and what else is on the line."""

    method: str
    says: str
    model: type[Any] | str
    data: type[Any]
    words: Sequence[str] = ()
    tools: Mapping[str, type[Any]] = field(default_factory=dict)
    planted: tuple[str, str] | None = None

    def with_cue(self) -> "Null | None":
        """The same audit with something to find; None where the toys have nothing of the kind."""
        if self.planted is None:
            return None
        without, instead = self.planted
        words = [instead if word == without else word for word in self.words]
        return replace(self, words=words, says=f"planted: {instead}")

    def line(self, seed: int, out: Path) -> list[str]:
        """The command."""
        model = self.model if isinstance(self.model, str) else "toy-null"
        line = ["audit", self.method, "--model", model, "--data", "toy-null"]
        for role in self.tools:
            line += ["--tool", f"{role}=toy-{role}"]
        line += [
            "-D",
            f"seed={seed}",
            "--seed",
            str(seed),
            "--device",
            "cpu",
            *self.words,
        ]
        return [*line, "--out", str(out), "--no-cache", "--json"]

    def shelf(self) -> PluginShelf:
        """What is installed, and the toys."""
        own: dict[tuple[str, str], Any] = {("dataset", "toy-null"): self.data}
        if not isinstance(self.model, str):
            own["model", "toy-null"] = self.model
        own |= {("tool", f"toy-{role}"): tool for role, tool in self.tools.items()}
        return PluginShelf(own, installed=True)

    def finds(self, report: Mapping[str, Any]) -> bool:
        """Whether a report has a finding; of step grounding, that the traces fit their videos."""
        findings = [score for score in report["scores"] if score["finding"]]
        if self.method != "step-grounding":
            return bool(findings)
        return any(BETTER in str(score["statement"]) for score in findings)


def nulls(folder: Path) -> list[Null]:
    """An audit a method; `folder` is for a model that is written there."""
    kitchen = {"proposer": KITCHENS.Namer, "detector": KITCHENS.Finder}
    clip = _colour_clip(folder)
    quick = ("-O", "faithfulness=0", "-O", "pictures=0")
    return [
        Null(
            "trove",
            "errors that go with nothing",
            FakeModel,
            FakeDataset,
            ("-M", "lean=0"),
            planted=("lean=0", "lean=1"),
        ),
        Null(
            "spurlens",
            "errors that go with nothing",
            KITCHENS.Eyes,
            KITCHENS.Kitchen,
            ("-M", "cue=", "-D", "samples=120"),
            kitchen,
            ("cue=", "cue=table"),
        ),
        Null(
            "quag", "answers at random", QUIZZES.Reader, Quiz, ("-M", "reads=nothing")
        ),
        Null(
            "step-grounding",
            "traces that did not look",
            ROOMS.Teller,
            Rooms,
            ("-M", "looks=false", "-O", "perturbations=", "-O", "shown=0"),
            planted=("looks=false", "looks=true"),
        ),
        Null(
            "cci",
            "errors that go with nothing",
            FakeModel,
            FakeDataset,
            ("-M", "lean=0", "-D", "frames=1", "-O", "kinds=clusters", *quick),
            planted=("lean=0", "lean=1"),
        ),
        Null(
            "saliency",
            "masks that go with nothing",
            clip[0],
            Patches,
            (*clip[1:], *quick),
        ),
    ]


def _colour_clip(folder: Path) -> tuple[str, str, str]:
    """A CLIP that looks at patches of a colour, as words of the line."""

    class Factory:
        """Makes folders as pytest does."""

        mktemp: ClassVar[Any] = staticmethod(lambda name: folder)

    PATCHES.planted.__wrapped__(Factory)
    return (
        f"open-clip:{folder / 'clip'}",
        "-M",
        f"class_embeddings={folder / 'clip/colours.npz'}",
    )


def audit(null: Null, seed: int, folder: Path) -> bool:
    """Whether the audit of this seed has a finding."""
    fitted = partial(Context, registry=null.shelf())
    with patch("cuescope.context.Context", fitted):
        done = CliRunner().invoke(
            app, null.line(seed, folder / f"{null.method}-{seed}")
        )
    if done.exit_code:
        raise RuntimeError(
            f"{' '.join(null.line(seed, folder))}\n{done.output}"
        ) from done.exception
    return null.finds(json.loads(done.stdout))


def main() -> None:
    """Print a row a method."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="methods whose name contains this")
    parser.add_argument(
        "--planted", action="store_true", help="the same, with a cue to be found"
    )
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        for audited in nulls(Path(name)):
            null = audited.with_cue() if given.planted else audited
            if null is None or given.only not in null.method:
                continue
            start, found = time.perf_counter(), 0
            for seed in range(given.first, given.first + given.audits):
                with TemporaryDirectory() as runs:
                    found += audit(null, seed, Path(runs))
            seconds = (time.perf_counter() - start) / max(given.audits, 1)
            sys.stdout.write(
                f"{null.method:<16}{null.says:<30}{found:>4} of {given.audits} audits with a "
                f"finding ({seconds:.1f} s an audit)\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
