"""Capabilities and needs of plugins: Protocols for each kind, checked before weights load."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol, runtime_checkable

import numpy as np
from pydantic import NonNegativeInt

from cuescope_core.conclusions import Metric, Picture, Table
from cuescope_core.errors import PluginError
from cuescope_core.types import (
    Frame,
    Options,
    Output,
    PlantedCue,
    Response,
    Sample,
    Trial,
    Value,
)

EMBEDDER = "embedder"


class Capabilities(Value):
    """Capabilities of a model: its outputs, kinds of edits, how many frames a sample has.

    `exposes` names what a readout can look at: "patches" for `HasPatches`, "choices" for
    `EmbedsChoices`, "image-tower" for the sdk's `HasImageTower`, "fusion" for its `HasFusion`.
    "answer-words" is its `ScoresWords`, "attention-gradients" its `HasAttentionGradients`.
    "eye-patches" are those of an outside eye (`EmbedsPatches`), where the model has none.
    `max_frames` None means any number; `min_frames` 0 that a question is answered without any.
    `notes` say in words, by the name of an edit, output or inside, how it is done or why it is not.
    """

    # declared by the class, before weights load: a wrong choice ends in a second, not in minutes
    outputs: frozenset[Output]
    edits: frozenset[str] = frozenset()
    exposes: frozenset[str] = frozenset()
    min_frames: int = 1
    max_frames: int | None = None
    notes: Mapping[str, str] = {}

    def why_not(self, name: str) -> str:
        """The reason that is noted for what is missing, to follow its name; empty where none is."""
        return f" ({self.notes[name]})" if name in self.notes else ""


@dataclass(frozen=True)
class ToolRole:
    """Role of a tool: its `name` on the command line (`--tool NAME=SPEC`).

    `protocol` is the runtime-checkable Protocol of the tools that fill it.
    """

    name: str
    protocol: type

    @property
    def method(self) -> str:
        """The method that such a tool answers with ("detect")."""
        # the Protocol of a tool has one method
        return next(
            name
            for name, member in vars(self.protocol).items()
            if not name.startswith("_") and callable(member)
        )


class Requirements(Value):
    # a method says what it needs, and the engine refuses in its place
    """Needs of a method: outputs, edits and insides of the model, tools by role, labels.

    `may_use` are the roles of tools that it can do without, `roles` those that its own package
    defines beside the standard `ROLES`; `labels` 0 is for open-ended data.
    """

    outputs: frozenset[Output] = frozenset({"logits"})
    edits: frozenset[str] = frozenset()
    exposes: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    may_use: frozenset[str] = frozenset()
    # any package may bring a role: the standard ones were a closed set once (docs/adr/0013)
    roles: tuple[ToolRole, ...] = ()
    labels: NonNegativeInt = 1

    @property
    def usable_tools(self) -> frozenset[str]:
        """The roles that it has a use for; who asks for embeddings can have those of another."""
        roles = self.tools | self.may_use
        return roles | {EMBEDDER} if "embedding" in self.outputs else roles


@runtime_checkable
class Method(Protocol):
    """Finds cues. Implements any of the four hooks (see `hookspecs`) with `@hookimpl`."""

    Options: ClassVar[type[Options]]
    title: ClassVar[str]
    requires: ClassVar[Requirements]
    metrics: ClassVar[tuple[Metric, ...]]


@runtime_checkable
class KnowsNoEffect(Method, Protocol):
    """A method that says which value its first metric has where there is nothing to find."""

    no_effect: ClassVar[float]


@runtime_checkable
class Model(Protocol):
    """Answers trials.

    `fingerprint` digests the weights and the preprocessing: equal fingerprints give equal
    answers, unless `random_answers = True` says that they are drawn by chance. `facts` are worth
    printing in a report ("validation accuracy": "0.93").

    An upgrade of the package asks everything again, for its code is a part of the answers. A class
    that says `answers_version = 1` keeps them over upgrades: its authors raise the number whenever
    equal weights answer otherwise (docs/adr/0003).
    """

    Options: ClassVar[type[Options]]
    capabilities: ClassVar[Capabilities]
    fingerprint: str
    facts: Mapping[str, str]

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """One response a trial, in order, each with at least the outputs its trial asks for."""
        ...


@runtime_checkable
class ChecksTrials(Protocol):
    """A model that says beforehand what it cannot answer: before weights open, and in a plan."""

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for the first trial that it would refuse; opens no weights."""
        ...


@runtime_checkable
class Dataset(Protocol):
    """Indexable samples. `labels` is the closed label set, () where there is none."""

    Options: ClassVar[type[Options]]
    labels: tuple[str, ...]
    fingerprint: str
    facts: Mapping[str, str]

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Sample: ...


def require_dataset(plugin: Any, spec: str) -> None:
    """Raise PluginError for a data set that was built without what a report needs of it."""
    what = f"data set {spec}"
    labels = getattr(plugin, "labels", None)
    # a text is a sequence of texts, and each of its letters would be a label
    if isinstance(labels, str) or not _are_texts(labels):
        expected = "labels, a tuple of texts; () where there is no closed set"
        _refuse(what, expected, labels)
    if not getattr(plugin, "fingerprint", None):
        expected = "fingerprint, a text that digests all that it shows (`sdk.digest`)"
        _refuse(what, expected, None)
    require_texts(plugin, what)


def require_texts(plugin: Any, what: str) -> None:
    """Raise PluginError for a fingerprint or facts that a report cannot keep; both may be absent.

    `what` names the plugin.
    """
    fingerprint = getattr(plugin, "fingerprint", None)
    if fingerprint is not None and not isinstance(fingerprint, str):
        _refuse(what, "fingerprint, a text (`sdk.digest`)", fingerprint)
    facts = getattr(plugin, "facts", {})
    if not isinstance(facts, Mapping) or not _are_texts([*facts, *facts.values()]):
        _refuse(what, "facts, texts by their names", facts)


def _are_texts(values: object) -> bool:
    return isinstance(values, Sequence) and all(
        isinstance(value, str) for value in values
    )


def _refuse(what: str, expected: str, got: object) -> NoReturn:
    raise PluginError(
        f"{what} broke its contract",
        expected=expected,
        got="none" if got is None else f"{got!r:.60}",
    )


@runtime_checkable
class HasSplits(Protocol):
    """A data set that can show another of its splits ("train", "val", "test")."""

    def split(self, name: str) -> Dataset: ...


@runtime_checkable
class HasBenchmark(Protocol):
    """A data set that is a published benchmark: its name there ("HardImageNet"), else None.

    A method sets the paper's own figures beside its results only where the names are equal.
    """

    # declared: nothing looks at a class's module name to learn what a data set is (docs/adr/0013)
    benchmark: str | None


@runtime_checkable
class HasPlantedCues(Protocol):
    """A data set whose cues were put there on purpose, or annotated, and are known by name."""

    planted_cues: tuple[PlantedCue, ...]


@runtime_checkable
class HasGroups(Protocol):
    """A data set that tells the `group` of a sample without opening the sample's files."""

    def group_of(self, index: int) -> str | None: ...


@runtime_checkable
class EmbedsText(Protocol):
    """A model whose text tower can be asked: unit rows (text, dim) beside its image embeddings."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray: ...


@runtime_checkable
class HasPatches(Protocol):
    """A model that cuts images into tokens: those that `HideTokens` hides."""

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels that the network sees, uint8 (row, col, 3), resized and cropped."""
        ...

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """Patch tokens after a layer, float32 (row, col, dim), on the model's own grid."""
        ...


@runtime_checkable
class EmbedsChoices(Protocol):
    """A model whose `logits` compare its image embedding with texts."""

    def embed_choices(self, choices: Sequence[str]) -> np.ndarray:
        """Unit rows (choice, dim): what the image embedding is compared with."""
        ...


class Detection(Value):
    """A box (x0, y0, x1, y1) in pixels with the name it was found for and its score in [0, 1]."""

    name: str
    score: float
    box: tuple[float, float, float, float]


@runtime_checkable
class Detector(Protocol):
    """Finds named things.

    With a `fingerprint` what it finds can be remembered; `joint` True says that what it finds of a
    name depends on the names asked beside it.
    """

    # `joint`: what Grounding DINO finds of a name depends on the names beside it
    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame."""
        ...


@runtime_checkable
class Segmenter(Protocol):
    """Outlines named things."""

    def segment(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[np.ndarray]:
        """Bool masks (name, row, col), an array a frame."""
        ...


@runtime_checkable
class TextGenerator(Protocol):
    """Completes prompts."""

    def generate(self, prompts: Sequence[str]) -> list[str]: ...


@runtime_checkable
class SentenceEncoder(Protocol):
    """Embeds sentences."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows (text, dim)."""
        ...


# eq=False: masks are arrays, and `==` of them would raise
@dataclass(frozen=True, eq=False)
class ImageEdit:
    """An image and what to make of it.

    `mask`, bool (row, col), is True where pixels may change; None lets all of them. With an equal
    `seed` the same edit of the same image gives the same pixels.
    """

    frame: Frame
    instruction: str
    mask: np.ndarray | None = None
    seed: int = 0


@runtime_checkable
class ImageEditor(Protocol):
    """Changes images as told. A pixel outside of an edit's mask stays exactly as it is."""

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """A frame of the same size, under another key, an edit."""
        ...


@runtime_checkable
class Proposer(Protocol):
    """Names things that may be cues for a label."""

    def propose(self, label: str) -> list[str]: ...


@runtime_checkable
class TakesResults(Proposer, Protocol):
    """A proposer that names more things by what became of those before."""

    def propose_more(self, label: str, told: Mapping[str, float]) -> list[str]:
        """Names that are not in `told`, which has the strength of each by its name.

        The strength is in standard deviations: 0 where the thing has nothing to do with errors,
        above 3 where it goes with them.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Embeds pictures, for models that tell no embedding.

    A `fingerprint` digests weights and preprocessing, as that of a `Model`. Any model that answers
    "embedding" fills the role too.
    """

    fingerprint: str

    def embed(self, frames: Sequence[Frame]) -> np.ndarray:
        """Finite rows (frame, dim), one a frame; the same for the same picture."""
        ...


@runtime_checkable
class EmbedsPatches(Protocol):
    """An embedder that tells what lies where: an embedding of each patch of a picture.

    `why_no_patches` is known before weights are opened: None where its network has patches.
    """

    why_no_patches: str | None

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """Float32 (row, col, dim), an array a frame; the grid spans the whole frame."""
        ...


class LazyWeights(ABC):
    """Base of a plugin that opens its weights late.

    Its fingerprint, facts and capabilities are known from files alone, so that a plan is quick.
    """

    @abstractmethod
    def open_weights(self) -> None:
        """Open the weights now. An audit calls it before the first question, a plan never."""


Respond = Callable[[Sequence[Trial]], list[Response]]


@runtime_checkable
class Executor(Protocol):
    """Where trials are answered.

    `build` opens the model and returns the function that answers a batch; it is picklable, so
    that workers can call it. Batches may be answered in any order; each is yielded with its index
    as soon as it is done. Workers wait for the last of those that are handed over together; an
    attribute `together` asks for so many batches or more.
    """

    def map(
        self,
        build: Callable[[], Respond],
        # with five batches each, 64 GPUs were busy for 77% of the time (docs/scale.md)
        batches: Sequence[Sequence[Trial]],
    ) -> Iterator[tuple[int, list[Response]]]: ...


@runtime_checkable
class Bench(Protocol):
    """Redoes a paper's table or figure; `run` resumes from what the context has stored."""

    Options: ClassVar[type[Options]]

    def run(self) -> Iterable[Table | Picture]: ...


# The standard roles of tools; a method may define more in `Requirements.roles`.
ROLES: dict[str, ToolRole] = {
    role.name: role
    for role in (
        ToolRole("detector", Detector),
        ToolRole("segmenter", Segmenter),
        ToolRole("text-generator", TextGenerator),
        ToolRole("sentence-encoder", SentenceEncoder),
        ToolRole("image-editor", ImageEditor),
        ToolRole("proposer", Proposer),
        ToolRole(EMBEDDER, Embedder),
    )
}

# What the loaded class of each kind must have, beyond being a class with `Options`.
MEMBERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "method": (("title",), ("requires",), ("metrics",)),
    # a method is more than hooks: the report needs its title and its metrics
    "model": (("capabilities",), ("respond",)),
    "dataset": (("__len__",), ("__getitem__",)),  # `labels` is set as it is built
    "executor": (("map",),),
    "mitigator": (("fit",), ("mitigated",)),
    "intervention": (("intervene",),),
    "explainer": (("explain",),),
    "log": (("fits",), ("read",)),
    "exporter": (("title",), ("export",)),
    "bench": (("run",),),
}

# What a class declares of itself, with the type that it has: it is read before anything is built.
DECLARED: dict[str, type] = {
    "title": str,
    "requires": Requirements,
    "capabilities": Capabilities,
    "metrics": tuple,
}

# The hooks of `hookspecs` with their arguments; they stand here so that a plugin can be checked
# as it loads, before there is an audit.
HOOKS: dict[str, tuple[str, ...]] = {
    "propose_features": ("audit",),
    "perturb": ("audit", "features"),
    "compute_scores": ("audit", "features", "outcomes"),
    "verify": ("audit", "features", "scores"),
    "audit_started": ("audit",),
    "responses_progressed": (
        *("audit", "done", "total", "cached"),
        *("inputs", "all_inputs"),
    ),
    "answered": ("audit", "outcomes"),
    "audit_finished": ("audit", "report"),
}
