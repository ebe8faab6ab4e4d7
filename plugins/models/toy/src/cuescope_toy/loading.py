"""Weights that are trained here: what they are named by, where they are kept, when they open.

Nothing of this imports torch before `open_weights`: a plan must stay quick.
"""

import json
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open

from cuescope_sdk import (
    Context,
    Dataset,
    HasSplits,
    LazyWeights,
    Plugin,
    Trial,
    UserError,
    digest,
    printable,
)
from cuescope_toy.options import TrainingOptions

if TYPE_CHECKING:
    from torch import Tensor

# each time it would read all that a package tells of itself, which torch tells at length
version_of = cache(version)
Weights = dict[str, "Tensor"]
Facts = dict[str, str]
Trials = Sequence[Trial]
Checkpoint = tuple[Weights, Facts]
_FACTS = TypeAdapter(dict[str, str])
# TypeError: a file of another writer has no metadata at all
UNREADABLE = (SafetensorError, OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class WeightsFile:
    """The weights of one training: a file of the package, else one of the cache folder.

    `recipe` is the digest of everything that decides the training; `libraries` are the dists
    whose code computes it.
    """

    owner: str
    recipe: str
    cache: Path
    shipped: Path | None = None
    libraries: tuple[str, ...] = ("torch",)

    @cached_property
    def _shipped_file(self) -> Path | None:
        path = self.shipped and self.shipped / f"{self.recipe}.safetensors"
        return path if path and path.exists() else None

    @property
    def _cache_file(self) -> Path:
        return self.cache / self.owner / f"{self.fingerprint}.safetensors"

    @cached_property
    def fingerprint(self) -> str:
        """Known without training: equal fingerprints are equal weights on this machine.

        The digest of the file that the package brings; else of the recipe and the versions of the
        libraries, because another torch rounds sums in another order.
        """
        if self._shipped_file:
            return digest(self.owner, self._shipped_file.read_bytes())
        versions = list(map(version_of, self.libraries))
        return digest(self.owner, self.recipe, versions)

    @property
    def path(self) -> Path:
        """The file; it need not be there yet."""
        return self._shipped_file or self._cache_file

    def facts(self) -> Facts:
        """What is known of the training; {} where there is no file yet, or one that is corrupt."""
        checkpoint = load_checkpoint(self.path, framework="np", warn=False)
        return checkpoint[1] if checkpoint else {}

    def load_or_train(self, train: Callable[[], Checkpoint]) -> Checkpoint:
        """The weights and facts in the file, which is made by `train` where it is not there."""
        if checkpoint := load_checkpoint(self.path):
            return checkpoint
        # a corrupt file of the package is not written over: the cache gets the new one
        cached = self._cache_file
        cached.parent.mkdir(parents=True, exist_ok=True)
        # The workers of an executor open their models at the same moment: one of them trains.
        with _training_lock(cached.with_suffix(".lock"), self.owner):
            # trained while we waited; of the same file the first look has warned already
            warn = cached != self.path
            if checkpoint := load_checkpoint(cached, warn=warn):
                return checkpoint
            weights, facts = train()
            save_checkpoint(cached, weights, facts)
        return weights, facts


class TrainedModel(Plugin, LazyWeights):
    """A model that is trained on this machine, unless an equal training is kept.

    Its fingerprint is known as soon as it is built. The weights are loaded or trained by
    `open_weights`, at the latest for the first answer; a plan stops there.
    """

    answers_version = 1
    owner: ClassVar[str]
    fingerprint: str
    options: TrainingOptions
    weights_file: WeightsFile
    _facts: Facts = {}
    _opened = False

    def name_weights(
        self,
        *recipe: object,
        shipped: Path | None = None,
        libraries: tuple[str, ...] = ("torch",),
    ) -> None:
        """Set `weights_file` and `fingerprint`; the recipe is all that decides the weights."""
        cache = self.context.cache
        self.weights_file = WeightsFile(
            self.owner, digest(*recipe), cache, shipped, libraries
        )
        self.fingerprint = self.weights_file.fingerprint

    @property
    def seed(self) -> int:
        """Of weights and batches."""
        seed = self.options.seed
        # no `or`: 0 is a seed
        return self.context.seed if seed is None else seed

    @cached_property
    def device(self) -> str:
        """Where it runs; raises UserError for a device that is not there."""
        from cuescope_sdk.torch import resolve_device

        return str(resolve_device(self.context.device))

    @property
    def facts(self) -> Mapping[str, str]:
        """What the training reached; {} before it has been done."""
        # Under an executor only the workers open the weights, and this process reads their file.
        return self._facts or self.weights_file.facts()

    def open_weights(self) -> None:
        if self._opened:
            return
        from cuescope_sdk.torch import resolve_device, resolve_dtype

        self.context.stop_plan_before(f"the weights of {self.owner}")
        # A wrong device or dtype is reported before minutes of training.
        resolve_device(self.context.device)
        dtype = resolve_dtype(self.context.dtype)
        weights, self._facts = self.weights_file.load_or_train(self.train)
        self.use(weights, dtype)
        # last: an opening that failed is tried again
        self._opened = True

    @abstractmethod
    def train(self) -> Checkpoint:
        """Train on the chosen data: the weights, and what to tell of them."""

    @abstractmethod
    def use(self, weights: Weights, dtype: Any) -> None:
        """Answer with these weights from now on."""


def training_splits(
    options: TrainingOptions,
    context: Context,
    model: str,
    *names: str,
    needs_labels: bool = False,
) -> tuple[Dataset, ...]:
    """The named splits of the data set that the options name, else of the audited one.

    Raises UserError in the name of `model` where there is no data, or no splits, or no closed set
    of labels where one is needed.
    """
    dataset = context.dataset
    title = "the audited data set"
    if options.data is not None:
        unbound = replace(context, dataset=None)
        dataset = unbound.build("dataset", options.data, options.data_options)
        title = f"data set '{options.data}'"
    if dataset is None:
        raise UserError(
            f"{model}: nothing to train on",
            remedy="Name a data set: -O model.data=SPEC.",
        )
    if not isinstance(dataset, HasSplits):
        raise UserError(
            f"{model}: {title} has no splits to train on",
            expected=" and ".join(names),
            remedy="Name a data set that has them: -O model.data=SPEC.",
        )
    if needs_labels and not dataset.labels:
        raise UserError(
            f"{model}: {title} has no labels", expected="a closed set to tell apart"
        )
    return tuple(_training_split(dataset, name, model, title) for name in names)


def _training_split(dataset: HasSplits, name: str, model: str, title: str) -> Dataset:
    """A split with samples; raises UserError in words of somebody who did not ask for training."""
    try:
        split = dataset.split(name)
        fault = None if len(split) else f"the split '{name}' is empty"
    except UserError as error:
        fault = str(error)
    if fault is not None:
        raise UserError(
            f"{model} wants to train on {title}",
            expected=f"a split '{name}' in it",
            got=fault,
            remedy="-O model.data=SPEC trains it on other data, and other models need no training",
        )
    return split


# ----------------------------------------------------------------------------------------- files


def weights_digest(weights: Weights) -> str:
    # alike for tensors and arrays, which `load_checkpoint` gives by its framework
    arrays = {name: np.asarray(tensor) for name, tensor in weights.items()}
    return digest(arrays)


def save_checkpoint(path: Path, weights: Weights, facts: Facts) -> None:
    """Write both; a reader sees the whole file or none."""
    from safetensors.torch import save

    seal = digest(weights_digest(weights), facts)
    metadata = {"digest": seal, "facts": json.dumps(facts)}
    write_whole(path, save(weights, metadata))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder where there is none; a failure leaves what was there."""
    from cuescope_sdk.data import Draft

    with Draft(path) as draft:
        draft.file.write(content)


def load_checkpoint(
    path: Path,
    *,
    framework: str = "pt",
    warn: bool = True,
) -> Checkpoint | None:
    """What was saved; None where nothing is, and with a warning where it is corrupt.

    The framework "np" gives arrays for tensors, and needs no torch.
    """
    if not path.exists():
        return None
    try:
        # a pipe in a stranger's cache folder would be waited for without end
        if not path.is_file():
            raise ValueError("it is no file")
        with safe_open(path, framework=framework) as file:
            metadata = file.metadata()
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        # texts, whatever a seal fits: a stranger can compute one
        facts = _FACTS.validate_json(metadata["facts"])
        # safetensors checks the layout alone: a flipped bit would pass as another weight.
        if metadata["digest"] != digest(weights_digest(weights), facts):
            raise ValueError("its content is not what was written")
    except UNREADABLE as error:
        # names of tensors are a stranger's words
        reason = printable(" ".join(str(error).split())[:200])
        if warn:
            warnings.warn(
                f"toy: {path} is corrupt ({reason}); training again", stacklevel=2
            )
        return None
    return weights, facts


@contextmanager
def _training_lock(path: Path, owner: str) -> Iterator[None]:
    """Hold the lock of a training; whoever else trains the same is waited for.

    Raises UserError where the drive has no locks.
    """
    from filelock import FileLock

    lock = FileLock(path)
    try:
        lock.acquire()
    # ENOLCK of a drive without locks
    except (OSError, NotImplementedError) as error:
        raise UserError(
            f"{owner}: cannot lock {path}",
            got=getattr(error, "strerror", None) or str(error),
            remedy="Set CUESCOPE_CACHE to a folder on a local drive that you can write to.",
        ) from error
    try:
        yield
    finally:
        lock.release()
