"""Data with a flaw and nothing to find, for audits by the command line.

What a model answers is drawn with the data: no answer goes with a thing on screen, but for what the
flaw does. `TRUTH` has it by frame, and the models and tools here look it up; CCI's and saliency's
models look at the pixels. `cue` plants something to find: what the model errs without, or with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal

import numpy as np
from PIL import Image, ImageFilter
from pydantic import Field
from scipy.special import expit, logit

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
from cuescope_testing import FakeDataset
from cuescope_testing._fake_data import CORNERS, SIGNAL_ROWS

# share of clips that follow their source: a correlation of .7 between two
ALIKE = 0.7**0.5
SIDE = 32  # pixels of a picture
SHARP = 0.7  # how much a picture's blur varies


@dataclass(frozen=True)
class Flaw:
    """What is wrong with the data.

    `clips` of a source have its things and mostly its answer; `copies` of a sample are the same but
    for a little noise. Things and errors go with what they `follow`; of a size, `told` says whether
    boxes are exact, noisy (half of their variation), or unknown. `second` is the share that shows a
    wrong answer too. `hidden` is the share of samples without an object of which it is there and
    not annotated, `noise` that of wrong labels, `recall` what the detector sees of an object.
    """

    says: str
    clips: int = 1
    copies: int = 1
    follows: Literal["nothing", "time", "site", "size", "quality"] = "nothing"
    told: Literal["exact", "noisy", "unknown"] = "exact"
    second: float = 0.0
    hidden: float = 0.0
    noise: float = 0.0
    recall: float = 0.95


FLAWS: Mapping[str, Flaw] = {
    "none": Flaw("nothing is wrong"),
    "clips": Flaw("5 clips of a source, no group told", clips=5),
    "more-clips": Flaw("10 clips of a source, no group told", clips=10),
    "copies": Flaw("3 near-copies a sample, no group told", copies=3),
    "second": Flaw("a wrong answer is on screen in 20%", second=0.2),
    "time": Flaw("errors and things drift in time", follows="time"),
    "site": Flaw("a site has its things and errors", follows="site"),
    "size-unknown": Flaw("errors by size, unknown", follows="size", told="unknown"),
    "size-noisy": Flaw("errors by size, noisy boxes", follows="size", told="noisy"),
    "quality": Flaw("errors by picture quality", follows="quality"),
    "hidden-3": Flaw("3% of objects not annotated", hidden=0.03),
    "hidden-8": Flaw("8% of objects not annotated", hidden=0.08),
    "labels": Flaw("5% wrong labels, recall .7", noise=0.05, recall=0.7),
    "labels-unknown": Flaw("5% wrong labels, unknown class", noise=0.05, recall=0.0),
    "recall": Flaw("nothing is wrong, recall .7", recall=0.7),
    "unknown": Flaw("nothing is wrong, unknown class", recall=0.0),
}


class FlawOptions(Options):
    """Another seed, another draw."""

    seed: int = Field(0, description="of all that is drawn")
    flaw: str = Field("none", description="what is wrong with the data")
    cue: float = Field(0.0, description="what a planted cue does to the rate of errors")
    imagined: float = Field(0.0, description="what it adds to yes where no object is")


@dataclass(frozen=True)
class Truth:
    """What models and tools say of a frame."""

    logits: np.ndarray = field(default_factory=lambda: np.empty(0))
    embedding: np.ndarray = field(default_factory=lambda: np.empty(0))
    scores: Mapping[str, float] = field(default_factory=dict)  # of a detector, by name
    size: float = 1.0  # a side of the object's box, as the detector draws it


TRUTH: dict[str, Truth] = {}


class FlawedData(Plugin):
    """Samples that are drawn at once; `draw` gives them in their order."""

    Options: ClassVar[type[Options]] = FlawOptions
    options: Any
    labels: ClassVar[Sequence[str]] = ()
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.flaw = FLAWS[options.flaw]
        self.fingerprint = digest(type(self).__name__, options.model_dump())
        self.rng = generator(options.seed, type(self).__name__, options.flaw)
        TRUTH.clear()
        self.samples = list(self.draw())

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]

    def draw(self) -> Iterator[Sample]:
        """The samples."""
        raise NotImplementedError


class Sources:
    """Where samples come from: `of_sample` numbers their sources, in the data's order.

    `hidden` is what errors and things go with (standard deviations); 0 where that is nothing.
    """

    def __init__(self, flaw: Flaw, samples: int, rng: np.random.Generator) -> None:
        self.count = samples // (flaw.clips * flaw.copies)
        self.of_sample = np.repeat(np.arange(self.count), flaw.clips * flaw.copies)
        self.share = 1.0 if flaw.copies > 1 else ALIKE
        if flaw.follows == "nothing":
            self.hidden = np.zeros(self.count)
        elif flaw.follows == "time":
            self.hidden = np.linspace(-1.7, 1.7, self.count)
        elif flaw.follows == "site":
            self.hidden = rng.choice((-1.0, 1.0), self.count)
        else:
            self.hidden = rng.normal(size=self.count)

    def luck(self, rng: np.random.Generator) -> np.ndarray:
        """From 0 to 1, of each sample: mostly that of its source."""
        own = rng.random(len(self.of_sample))
        shared = rng.random(self.count)[self.of_sample]
        return np.where(rng.random(len(own)) < self.share, shared, own)

    def presence(
        self, rates: np.ndarray, leaning: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Which things (column) are in the samples: those of their source."""
        leans = leaning * rng.normal(size=rates.shape[1])
        odds = logit(rates) + self.hidden[:, None] * leans
        return np.asarray(rng.random(odds.shape) < expit(odds))[self.of_sample]


def pictures(
    sources: Sources, flaw: Flaw, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """A picture of 8 x 8 blocks for each sample; copies are the same with some noise."""
    first: dict[int, np.ndarray] = {}
    for source in sources.of_sample.tolist():
        blocks = rng.integers(30, 200, (8, 8, 3))
        if flaw.copies > 1:
            blocks = first.setdefault(source, blocks)
        pixels = blocks.repeat(SIDE // 8, axis=0).repeat(SIDE // 8, axis=1)
        pixels = pixels + rng.integers(-2, 3, pixels.shape)
        if flaw.follows == "quality":
            blur = ImageFilter.GaussianBlur(
                float(np.exp(-SHARP * sources.hidden[source]))
            )
            pixels = np.asarray(Image.fromarray(pixels.astype(np.uint8)).filter(blur))
        yield pixels.astype(np.uint8)


def frames_of(images: Iterator[np.ndarray], folder: Path | None) -> Iterator[Frame]:
    """As frames, from files where a folder is given."""
    for number, pixels in enumerate(images):
        if folder is None:
            yield Frame.from_array(pixels)
        else:
            path = folder / f"{number:04d}.png"
            Image.fromarray(pixels).save(path)
            yield Frame.from_file(path)


# ------------------------------------------------------------------------------- TRoVe and slices

CLASSES = ("hop", "skip", "jump", "turn")
BACKGROUND = 12  # things
DIM = 32  # of an embedding


class Clips(FlawedData):
    """Clips of two frames, with things in their background.

    With the cue the first class is taken for the second.
    """

    labels = CLASSES

    def draw(self) -> Iterator[Sample]:
        """A class is answered as another at random, unless the flaw says otherwise."""
        flaw, rng = self.flaw, self.rng
        sources = Sources(flaw, 240, rng)
        of_sample = sources.of_sample
        true = rng.integers(len(CLASSES), size=sources.count)[of_sample]
        things = sources.presence(
            np.tile(rng.uniform(0.15, 0.5, BACKGROUND), (sources.count, 1)), 1.0, rng
        )
        rate = expit(1.7 + 1.0 * sources.hidden)[of_sample]
        lured = things[:, 0] & (true == 0) & (self.options.cue > 0)
        is_right = sources.luck(rng) < rate - self.options.cue * lured
        other = (true + rng.integers(1, len(CLASSES), len(true))) % len(CLASSES)
        shows_second = rng.random(len(true)) < flaw.second
        is_right &= ~(shows_second & (rng.random(len(true)) < 0.7))
        answer = np.where(is_right, true, np.where(lured, 1, other))
        wrong = rng.random(len(true)) < flaw.noise
        label = np.where(wrong, other, true)
        looks = rng.normal(size=(len(CLASSES), DIM))
        directions = rng.normal(size=(BACKGROUND, DIM))
        scene = looks[true] + things @ directions
        scene = scene + shows_second[:, None] * looks[other]
        size = np.exp(3 + 0.5 * sources.hidden)[of_sample]
        if flaw.told == "noisy":
            size = size * np.exp(0.5 * rng.normal(size=len(size)))
        images = list(frames_of(pictures(sources, flaw, rng), None))
        for number, frame in enumerate(images):
            after = frame.derive("next", Image.Image.copy)
            for still in (frame, after):
                logits = 0.7 * rng.normal(size=len(CLASSES))
                logits[answer[number]] += 4.0
                embedding = scene[number] + 0.5 * rng.normal(size=DIM)
                TRUTH[still.key] = Truth(logits, embedding)
            shown = [(CLASSES[label[number]], float(size[number]))]
            if shows_second[number]:
                shown.append((CLASSES[other[number]], 20.0))
            boxes = tuple(
                Detection(name=name, score=0.9, box=(0, 0, side, side))
                for name, side in shown
            )
            yield Sample(
                key=f"clip-{number:04d}",
                frames=(frame, after),
                choices=self.labels,
                label=CLASSES[label[number]],
                annotations={} if flaw.told == "unknown" else {"boxes": boxes},
            )


class Seer(Plugin):
    """Says what was drawn for the frames that it is shown."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"})
    )
    facts: ClassVar[Mapping[str, str]] = {}
    fingerprint = "seer"

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """The mean over the frames."""
        responses = []
        for trial in trials:
            truths = [TRUTH[frame.key] for frame in trial.sample.frames]
            responses.append(
                Response(
                    logits=np.mean([truth.logits for truth in truths], axis=0),
                    embedding=np.mean([truth.embedding for truth in truths], axis=0),
                )
            )
        return responses


# --------------------------------------------------------------------------------------- SpurLens

OBJECT = "cup"
THINGS = (
    "table",
    "tree",
    "rug",
    "window",
    "spoon",
    "sofa",
    "shelf",
    "candle",
    "mirror",
    "vase",
    "basket",
    "bread",
)
WITH, WITHOUT = 240, 320


class Kitchens(FlawedData):
    """Pictures with a cup and without. The cue is a table, without which cups are missed."""

    labels = (OBJECT,)

    def draw(self) -> Iterator[Sample]:
        """A cup is seen in 85%, and imagined in 6%, unless the flaw says otherwise."""
        flaw, rng = self.flaw, self.rng
        sources = Sources(flaw, WITH + WITHOUT, rng)
        share = expit(logit(WITH / (WITH + WITHOUT)) + 0.6 * sources.hidden)
        if flaw.follows in ("size", "quality"):
            share = np.full(sources.count, WITH / (WITH + WITHOUT))
        labelled = rng.random(sources.count) < share
        # a wrong label: there is none; and nobody annotated some that are there
        there = labelled & (rng.random(sources.count) >= flaw.noise)
        there |= ~labelled & (rng.random(sources.count) < flaw.hidden)
        beside = rng.uniform(0.3, 0.8, len(THINGS))
        elsewhere = beside * rng.uniform(0.2, 0.9, len(THINGS))
        rates = np.where(there[:, None], beside, elsewhere)
        things = sources.presence(rates, 0.9, rng)
        odds = np.where(there, 1.8, -2.8) + np.where(there, 1.0, 0.7) * sources.hidden
        if flaw.follows == "size":
            odds = np.where(there, odds, -2.8)
        of_sample = sources.of_sample
        there, labelled = there[of_sample], labelled[of_sample]
        rate = expit(odds)[of_sample] - self.options.cue * (there & ~things[:, 0])
        rate = rate + self.options.imagined * (~there & things[:, 0])
        says_yes = sources.luck(rng) < rate
        scores = things * rng.uniform(0.3, 1.0, things.shape)
        sees = _detect(there, flaw, rng)
        size = np.exp(3 + 0.5 * sources.hidden)[of_sample]
        if flaw.told == "noisy":
            size = size * np.exp(0.5 * rng.normal(size=len(size)))
        # only what comes from files is compared by its quality
        self.files = TemporaryDirectory()
        folder = Path(self.files.name) if flaw.follows == "quality" else None
        for number, frame in enumerate(frames_of(pictures(sources, flaw, rng), folder)):
            found = dict(zip(THINGS, scores[number].tolist(), strict=True))
            TRUTH[frame.key] = Truth(
                logits=np.array([says_yes[number], ~says_yes[number]], dtype=float),
                scores=found | {OBJECT: float(sees[number])},
                size=float(size[number]),
            )
            side = float(size[number])
            box = Detection(name=OBJECT, score=1.0, box=(0, 0, side, side))
            is_boxed = labelled[number] and flaw.told == "exact"
            yield Sample(
                key=f"kitchen-{number:04d}",
                frames=(frame,),
                annotations={
                    "objects": (OBJECT,) if labelled[number] else ("saucer",),
                }
                | ({"boxes": (box,)} if is_boxed else {}),
            )


def _detect(there: np.ndarray, flaw: Flaw, rng: np.random.Generator) -> np.ndarray:
    """A detector's scores for the object; it knows none where the size is not known."""
    low, high = rng.uniform(0.05, 0.4, len(there)), rng.uniform(0.3, 1.0, len(there))
    hit = rng.random(len(there)) < np.where(there, flaw.recall, 0.1)
    knows = flaw.told != "unknown" and flaw.recall > 0
    return hit * np.where(there, high, low) * knows


class Host(Plugin):
    """Answers as was drawn; another wording changes 3 of 100 answers."""

    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text"}))
    facts: ClassVar[Mapping[str, str]] = {}
    fingerprint = "host"

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Yes or no."""
        responses = []
        for trial in trials:
            key = trial.sample.frames[0].key
            is_yes = bool(TRUTH[key].logits[0])
            slips = generator(0, key, trial.sample.question or "").random() < 0.03
            responses.append(Response(text="yes" if is_yes != slips else "no"))
        return responses


class Finder(Plugin):
    """A detector that says what was drawn."""

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        """A box a name that it sees."""
        found = []
        for frame in frames:
            truth = TRUTH[frame.key]
            boxes = []
            for name in names:
                side = truth.size if name == OBJECT else 8.0
                score = truth.scores.get(name, 0.0)
                if score > 0:
                    box = (0.0, 0.0, side, side)
                    boxes.append(Detection(name=name, score=score, box=box))
            found.append(tuple(boxes))
        return found


class Namer(Plugin):
    """Names all that may be there."""

    def propose(self, label: str) -> list[str]:
        """The things."""
        return list(THINGS)


# -------------------------------------------------------------------------------------------- CCI


class Squares(FlawedData):
    """Pictures for the fake model: a green patch of the class, a strip of noise, two corners.

    Strip and corners are the background; only the strip moves the model, to any class.
    """

    labels = FakeDataset.all_labels

    def draw(self) -> Iterator[Sample]:
        """Clips of a source share the background, and most of the patch."""
        flaw, rng = self.flaw, self.rng
        sources = Sources(flaw, 150, rng)
        label = rng.integers(len(self.labels), size=sources.count)
        size = (0.75 + 0.25 * sources.hidden).clip(0.2, 1.2)[sources.of_sample]
        corners = sources.presence(np.full((sources.count, 2), 0.5), 1.0, rng)
        strips = rng.integers(0, 60, (sources.count, 8, 2, 3))
        # so far a clip's strip is its own: then two clips of a source agree as often as they should
        own = 0.0 if flaw.copies > 1 else 1 - ALIKE
        for number, source in enumerate(sources.of_sample.tolist()):
            pixels = rng.integers(0, 60, (8, 8, 3))
            strip = (1 - own) * strips[source] + own * pixels[:, 3:5]
            pixels[:, 3:5] = strip if flaw.clips * flaw.copies > 1 else pixels[:, 3:5]
            rows = SIGNAL_ROWS[label[source]]
            pixels[rows, 5:8] = (0, 180 * size[number], 0)
            names = [self.labels[label[source]]]
            if rng.random() < flaw.second:
                other = (label[source] + rng.integers(1, 3)) % 3
                pixels[SIGNAL_ROWS[other], 5:8] = (0, 180, 0)
                names.append(self.labels[other])
            for shows, (box, channel) in zip(
                corners[number], CORNERS.values(), strict=True
            ):
                left, top, right, bottom = box
                pixels[top:bottom, left:right, channel] += 180 * int(shows)
            mask = np.zeros((8, 8), dtype=bool)
            mask[rows, 5:8] = True
            told = names[0]
            if rng.random() < flaw.noise:
                told = self.labels[rng.integers(3)]
            annotations: dict[str, Any] = {"foreground": mask}
            if flaw.told != "unknown":
                annotations["objects"] = tuple(names)
            yield Sample(
                key=f"square-{number:04d}",
                frames=(Frame.from_array(pixels.clip(0, 255).astype(np.uint8)),),
                choices=self.labels,
                label=told,
                annotations=annotations,
            )
