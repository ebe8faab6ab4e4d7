"""How often a whole audit, started from the command line, finds something where there is nothing.

    python benchmarks/nulls/command_line.py --audits 100

Each method audits toys in which no cue is planted, drawn anew each time, with one flaw a row that
nobody declared (`flawed_data.py`): the command is run in this process as a person types it, and its
report is read back from `--json`. Here as in a person's audits all is in play: what is proposed,
asked, tested, corrected and called a finding. A star says that something was found; behind `?` the
report says what else may be the reason. Seeds with a star follow each row.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from flawed_data import (
    FLAWS,
    Clips,
    Finder,
    FlawedData,
    Host,
    Kitchens,
    Namer,
    Seer,
    Sources,
    Squares,
)
from pydantic import Field
from scipy.stats import binomtest
from typer.testing import CliRunner

from cuescope.cli import app
from cuescope_core.context import Context
from cuescope_sdk import Frame, Options, Plugin, Sample, digest, generator
from cuescope_step_grounding.verification.verdict import BETTER, FITS
from cuescope_testing import FakeModel, PluginShelf

METHODS = Path(__file__).parents[2] / "plugins/methods"
OF_CLIPS = (
    "none",
    "clips",
    "more-clips",
    "copies",
    "second",
    "time",
    "site",
    "size-unknown",
    "size-noisy",
    "labels",
)
OF_KITCHENS = (*OF_CLIPS, "quality", "hidden-3", "hidden-8")
OF_PICTURES = ("none", "clips", "copies", "second", "time", "size-unknown", "labels")


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


QUIZZES, ROOMS, PATCHES = map(toys_of, ("quag", "step-grounding", "saliency"))


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


class Patches(FlawedData):
    """A patch of the label's colour, one of another, and a mask that goes with neither."""

    labels = tuple(PATCHES.COLOURS)

    def draw(self) -> Iterator[Sample]:
        """Images; half of the cells of each are the foreground."""
        sources = Sources(self.flaw, 60, self.rng)
        rows = []
        for _ in range(sources.count):
            cells = self.rng.permutation(PATCHES.CELLS**2) < PATCHES.CELLS**2 // 2
            mask = cells.reshape(PATCHES.CELLS, -1)
            mask = mask.repeat(PATCHES.PATCH, 0).repeat(PATCHES.PATCH, 1)
            rows.append((*PATCHES.two_patches(self.rng), mask))
        for number, source in enumerate(sources.of_sample.tolist()):
            pixels, shown, mask = rows[source]
            noise = self.rng.integers(-4, 5, pixels.shape)
            noisy = (pixels + noise).clip(0, 255).astype(np.uint8)
            yield Sample(
                key=f"patches-{number:03d}",
                frames=(Frame.from_array(noisy),),
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
class Audited:
    """A method and what it audits: the flaws its data may have, and what else is on the line."""

    method: str
    model: type[Any] | str
    data: type[Any]
    words: Sequence[str] = ()
    tools: Mapping[str, type[Any]] = field(default_factory=dict)
    flaws: Sequence[str] = ()
    says: str = ""  # what is there, where the data have no flaws to choose from
    planted: Sequence[str] = ()  # what is on the line where there is something to find

    def line(self, flaw: str | None, seed: int, planted: bool, out: Path) -> list[str]:
        """The command."""
        model = self.model if isinstance(self.model, str) else "toy-null"
        line = ["audit", self.method, "--model", model, "--data", "toy-null"]
        for role in self.tools:
            line += ["--tool", f"{role}=toy-{role}"]
        line += ["-O", f"data.seed={seed}", "--seed", str(seed), "--device", "cpu"]
        if flaw is not None:
            line += ["-O", f"data.flaw={flaw}"]
        # an option that is given again counts as it is given last
        line += [*self.words, *(self.planted if planted else ())]
        return [*line, "--out", str(out), "--no-cache", "--json"]

    def shelf(self) -> PluginShelf:
        """What is installed, and the toys."""
        own: dict[tuple[str, str], Any] = {("dataset", "toy-null"): self.data}
        if not isinstance(self.model, str):
            own["model", "toy-null"] = self.model
        own |= {("tool", f"toy-{role}"): tool for role, tool in self.tools.items()}
        return PluginShelf(own, installed=True)

    def sees(self, report: Mapping[str, Any]) -> "Seen":
        """What a report shows; of step grounding, that the traces fit their videos."""
        scores = report["scores"]
        if self.method == "step-grounding":
            verdict = report["notes"].get("verdict")
            return Seen(verdict == BETTER, verdict in (BETTER, FITS))
        return Seen(
            starred=any(score["finding"] and not score["doubt"] for score in scores),
            shown=any(score["finding"] or score["doubt"] for score in scores),
        )


@dataclass(frozen=True)
class Seen:
    """Whether a report has a star, and whether it has a star or a `?`."""

    starred: bool
    shown: bool


def all_audited(folder: Path) -> list[Audited]:
    """The methods; `folder` is for a model that is written there."""
    clip = _colour_clip(folder)
    # it decides nothing, and takes as long as the rest
    unchecked = ("-O", "null_shuffles=0")
    return [
        Audited(
            "trove",
            Seer,
            Clips,
            unchecked,
            flaws=OF_CLIPS,
            planted=("-O", "data.cue=0.6"),
        ),
        Audited(
            "domino",
            Seer,
            Clips,
            (),
            flaws=OF_CLIPS,
            planted=("-O", "data.cue=0.6"),
        ),
        Audited(
            "spurlens",
            Host,
            Kitchens,
            ("-O", "k=50"),
            {"proposer": Namer, "detector": Finder},
            flaws=OF_KITCHENS,
            planted=("-O", "data.cue=0.4"),
        ),
        Audited(
            "cci",
            FakeModel,
            Squares,
            ("-O", "model.lean=0"),
            flaws=OF_PICTURES,
            planted=("-O", "model.lean=1"),
        ),
        Audited(
            "saliency",
            clip[0],
            Patches,
            clip[1:],
            flaws=("none", "clips", "copies"),
        ),
        Audited(
            "quag",
            QUIZZES.Reader,
            Quiz,
            ("-O", "model.reads=nothing"),
            says="answers at random",
        ),
        Audited(
            "step-grounding",
            ROOMS.Teller,
            Rooms,
            ("-O", "model.looks=false", "-O", "perturbations=", "-O", "shown=0"),
            says="traces that did not look",
            planted=("-O", "model.looks=true"),
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
        "-O",
        f"model.class_embeddings={folder / 'clip/colours.npz'}",
    )


def audit(audited: Audited, line: Sequence[str]) -> Seen:
    """What the audit of this command shows."""
    fitted = partial(Context, registry=audited.shelf())
    with patch("cuescope_core.context.Context", fitted):
        done = CliRunner().invoke(app, line)
    if done.exit_code:
        raise RuntimeError(f"{' '.join(line)}\n{done.output}") from done.exception
    return audited.sees(json.loads(done.stdout))


def row(audited: Audited, flaw: str | None, seeds: Sequence[int], planted: bool) -> str:
    """Of audits with these seeds, how many have a star, and how many show anything."""
    start = time.perf_counter()
    seen = []
    for seed in seeds:
        with TemporaryDirectory() as runs:
            line = audited.line(flaw, seed, planted, Path(runs) / "run")
            seen.append(audit(audited, line))
    seconds = (time.perf_counter() - start) / len(seeds)
    starred = [seed for seed, each in zip(seeds, seen, strict=True) if each.starred]
    shown = sum(each.shown for each in seen)
    interval = binomtest(len(starred), len(seeds)).proportion_ci(method="exact")
    says = FLAWS[flaw].says if flaw else audited.says
    if planted:
        says = f"planted; {says}"
    return (
        f"{audited.method:<15} {says:<38} * {len(starred):>3} of {len(seeds)} "
        f"[{interval.low:.1%}, {interval.high:.1%}]  * or ? {shown:>3}  ({seconds:.1f} s)"
        f"{'' if planted else f'  {starred}'}"
    )


def main() -> None:
    """Print a row a method and flaw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="methods whose name contains this")
    parser.add_argument("--flaw", default="", help="flaws whose name contains this")
    parser.add_argument(
        "--planted", action="store_true", help="the same, with something to be found"
    )
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.audits)
    with TemporaryDirectory() as name:
        for audited in all_audited(Path(name)):
            if given.only not in audited.method or (
                given.planted and not audited.planted
            ):
                continue
            for flaw in audited.flaws or [None]:
                if given.flaw in (flaw or ""):
                    sys.stdout.write(f"{row(audited, flaw, seeds, given.planted)}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
