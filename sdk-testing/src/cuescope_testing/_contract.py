"""Contract of every plugin, and how a contract is run."""

import atexit
import importlib.util
import inspect
import pickle
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, overload
from unittest import SkipTest

import numpy as np

from cuescope_core.trust.risks import UNDECLARED, risks_of
from cuescope_sdk import Context, Dataset, Frame, PluginError, Sample, UserError
from cuescope_testing._fake_data import FakeDataset
from cuescope_testing._running import NAME, PluginShelf

T = TypeVar("T")
Status = Literal["ok", "failed", "skipped"]


class PerClass(Generic[T]):
    """A value that every test of a class shares, made when an instance first asks for it.

    The class itself has no value: pytest looks at all attributes of a class to collect its tests.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._made: dict[type, T] = {}

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        return self if instance is None else self.of(owner)

    def of(self, owner: type) -> T:
        """The value of a class."""
        if owner not in self._made:
            self._made[owner] = self._make(owner)
        return self._made[owner]


@dataclass(frozen=True)
class Result:
    """How one check ended; `reason` is empty where it is ok."""

    check: str
    status: Status
    reason: str = ""


class Checks:
    """Methods that begin with `test_`: pytest runs each, and so does `run_checks`.

    The docstring of a check says why it is asked and what to do where it fails. `folder` is the
    cache folder of the plugins that they build, a fresh one for the process where it is None.
    """

    name: ClassVar[str] = NAME  # what a plugin is called meanwhile
    folder: ClassVar[Path | None] = None
    device: ClassVar[str] = "auto"
    dtype: ClassVar[str] = "float32"

    @classmethod
    def context_of(cls, kind: str, plugin: type[Any]) -> Context:
        """Context in which a class has a name; installed plugins can be reached."""
        return Context(
            registry=PluginShelf({(kind, cls.name): plugin}, installed=True),
            cache=cls.cache_folder(),
            device=cls.device,
            dtype=cls.dtype,
        )

    @classmethod
    def cache_folder(cls) -> Path:
        """Where plugins may keep things."""
        return cls.folder or _process_folder()

    @classmethod
    def checks(cls) -> list[str]:
        """The names of its checks, those of any kind first."""
        names = chain.from_iterable(map(vars, reversed(cls.__mro__)))
        return [name for name in dict.fromkeys(names) if name.startswith("test_")]

    @classmethod
    def run_checks(cls, only: str = "") -> Iterator[Result]:
        """Run the checks whose name contains `only`."""
        return (cls.run_check(check) for check in cls.checks() if only in check)

    @classmethod
    def run_check(cls, check: str) -> Result:
        """Run one check. A plugin that refuses what it is shown was not checked; else it failed."""
        method = getattr(cls(), check)
        try:
            method()
        except NotApplicable as reason:
            return Result(check, "skipped", str(reason))
        except ContractViolation as violation:
            why = " ".join((method.__doc__ or "").split())
            return Result(check, "failed", f"{violation}. {why}".strip())
        # it is a UserError too, so it comes before
        except PluginError as fault:
            return Result(check, "failed", str(fault))
        except UserError as refusal:
            return Result(check, "skipped", f"refused: {refusal}")
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            return Result(check, "failed", words)
        return Result(check, "ok")


class Contract(Checks):
    """Checks of one plugin. Subclass the contract of its kind in a test module:

        class TestContract(MethodContract):
            plugin = MyMethod
            options = {"path": "x"}

    and pytest runs each `test_` method.
    """

    kind: ClassVar[str]
    plugin: ClassVar[type[Any]]
    options: ClassVar[Mapping[str, Any]] = {}
    built: PerClass[Any] = PerClass(lambda contract: contract.build())

    @classmethod
    def context(cls) -> Context:
        """Context of the plugin."""
        return cls.context_of(cls.kind, cls.plugin)

    @classmethod
    def build(cls, options: Mapping[str, Any] | None = None) -> Any:
        """The plugin, built as an audit builds it."""
        # {} are options too, those of a plugin's defaults
        options = cls.options if options is None else options
        return cls.context().build(cls.kind, cls.name, options)

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.build()

    def test_imports_lightly(self) -> None:
        """Listing plugins imports the class: import what takes long in __init__ or later."""
        expect_light_import(self.plugin)

    def test_builds(self) -> None:
        """Every option has a default, or the contract has the `options` that it needs."""
        try:
            self.build()
        except UserError as error:
            expect(False, f"a plugin that builds from {dict(self.options)}", got=error)

    def test_refuses_unknown_options(self) -> None:
        """A misspelt option must not pass in silence: cuescope_sdk.Options forbids extras."""
        with expect_error(UserError, "an error for an option that does not exist"):
            self.build({**self.options, "no_such_option": "1"})

    def test_declares_its_options(self) -> None:
        """`cuescope plugins info` prints descriptions; text that names files or hosts is marked.

        Write Annotated[str, Words()] = Field(default, description='...'), or Names.file() ...
        """
        for name, field in self.plugin.Options.model_fields.items():
            expect(field.description, "a description of each option", got=name)
            is_marked = UNDECLARED not in risks_of(field)
            expect(is_marked, "a mark of each option that takes text", got=name)

    def test_leaves_global_randomness_alone(self) -> None:
        """A global seed changes everyone's numbers: use audit.rng, context.rng or `generator`."""
        moved = moved_states(self.exercise)
        if moved:
            # what it loads on the way may draw as it is loaded: by now that is done
            moved = moved_states(self.exercise)
        # a layer draws its first weights, which no argument can change
        how = (
            " (build layers within torch.random.fork_rng())" if "torch" in moved else ""
        )
        wanted = f"global generators as they were{how}"
        expect(not moved, wanted, got=f"moved {moved}")


class Shown(Checks):
    """Checks that show the first `count` samples of `data` to something."""

    data: ClassVar[type[Any]] = FakeDataset
    data_options: ClassVar[Mapping[str, Any]] = {}
    count: ClassVar[int]
    samples: PerClass[tuple[Sample, ...]] = PerClass(
        lambda contract: contract.first_samples()
    )

    @classmethod
    def dataset(cls) -> Dataset:
        """The data set that it is shown."""
        shelf = PluginShelf({("dataset", NAME): cls.data}, installed=True)
        context = Context(shelf, cls.cache_folder())
        return context.build("dataset", NAME, cls.data_options)  # type: ignore[no-any-return]

    @classmethod
    def first_samples(cls) -> tuple[Sample, ...]:
        """The first samples."""
        dataset = cls.dataset()
        return tuple(dataset[index] for index in range(min(cls.count, len(dataset))))


class ShownContract(Shown, Contract):
    """Checks of a plugin that is shown the first `count` samples of `data`."""


class FingerprintedContract(Contract):
    """Checks of a model or data set, which say what they are; `other_options` make another one."""

    other_options: ClassVar[Mapping[str, Any] | None] = None

    def test_has_a_fingerprint(self) -> None:
        """The cache tells models apart by it, from run to run: digest content, no ids or times."""
        fingerprint = getattr(self.built, "fingerprint", None)
        is_text = isinstance(fingerprint, str) and fingerprint
        expect(is_text, "a fingerprint, some text", got=repr(fingerprint))
        again = self.build().fingerprint
        expect(again == fingerprint, f"{fingerprint} once more", got=again)

    def test_has_another_fingerprint_for_other_options(self) -> None:
        """Let every option that changes an answer or a sample enter it, or the cache is wrong."""
        if self.other_options is None:
            raise NotApplicable("needs `other_options` that change answers or content")
        other = self.build(self.other_options).fingerprint
        expect(other != self.built.fingerprint, "another fingerprint", got="the same")

    def test_states_facts_in_words(self) -> None:
        """Facts are printed at the head of a report: {'validation accuracy': '0.93'}, or {}."""
        facts = getattr(self.built, "facts", None)
        expect(
            isinstance(facts, Mapping)
            and all(isinstance(word, str) for word in (*facts, *facts.values())),
            "`facts`, text by text",
            got=repr(facts),
        )


def temporary_folder(owner: str) -> Path:
    """A folder that goes with this process."""
    folder = Path(mkdtemp(prefix=f"cuescope-{owner}-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@cache
def _process_folder() -> Path:
    # not the user's cache: a check must not read what an older version kept
    return temporary_folder("contract")


# --------------------------------------------------------------------------------------- violation


class ContractViolation(AssertionError):  # noqa: N818 - the word for it
    """A plugin broke its contract: what was expected, and what came."""

    def __init__(self, expected: str, *, got: object) -> None:
        super().__init__(f"expected {expected}, got {got}")


# pytest and unittest both know it as a skip
class NotApplicable(SkipTest):
    """The check asks about something that this plugin does not claim; pytest shows it skipped."""


def expect(condition: object, expected: str, *, got: object = "something else") -> None:
    """Raise ContractViolation unless the condition holds."""
    if not condition:
        raise ContractViolation(expected, got=got)


@contextmanager
def expect_error(kind: type[Exception], expected: str) -> Iterator[None]:
    """Raise ContractViolation unless the block raises an error of this kind."""
    try:
        yield
    except kind:
        return
    except Exception as error:
        raise ContractViolation(expected, got=repr(error)) from error
    raise ContractViolation(expected, got="none")


@contextmanager
def expect_no_error(expected: str) -> Iterator[None]:
    """Raise ContractViolation for any error of the block but a UserError."""
    try:
        yield
    except UserError:
        return
    except Exception as error:
        raise ContractViolation(expected, got=repr(error)) from error


def same_pixels(frame: Frame, other: Frame, mask: np.ndarray | None = None) -> bool:
    """True if two frames show the same, outside of a mask (row, col) where there is one."""
    if frame is other:  # the same object is not loaded twice
        return True
    before = np.asarray(frame.load())
    after = np.asarray(other.load())
    if mask is not None and before.shape == after.shape:
        before = before[~mask]
        after = after[~mask]
    return np.array_equal(before, after)


def with_sample(asked: Any, **changes: Any) -> Any:
    """A trial or a case whose sample is changed."""
    return replace(asked, sample=replace(asked.sample, **changes))


def lies_within(box: Sequence[float], size: tuple[int, int]) -> bool:
    """True if a box (x0, y0, x1, y1) has an area, all of it in a picture (width, height)."""
    x0, y0, x1, y1 = box
    width, height = size
    return 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height


# ------------------------------------------------------------------------- what a process shares


HEAVY = (
    "torch",
    "torchvision",
    "tensorflow",
    "jax",
    "transformers",
    "open_clip",
    "faiss",
    "av",
    "cv2",
    "sklearn",
    "pandas",
    "matplotlib",
    "ray",
)


def moved_states(action: Callable[[], object]) -> set[str]:
    """Return the libraries whose global random state `action` moves."""
    # a seed that was set before would show only if the state was another
    random.random()
    np.random.rand()  # noqa: NPY002 - the global state is meant
    before = _random_states()
    action()
    return {name for name, state in _random_states().items() if state != before[name]}


def _random_states() -> dict[str, object]:
    states: dict[str, object] = {
        "random": random.getstate(),
        "numpy.random": pickle.dumps(np.random.get_state()),  # noqa: NPY002 - is meant
    }
    torch = sys.modules.get("torch")
    return states | {"torch": torch and torch.get_rng_state().tolist()}


def expect_light_import(plugin: type) -> None:
    """Raise ContractViolation for a class whose module imports what takes long."""
    heavy = heavy_imports(plugin.__module__, inspect.getsourcefile(plugin) or "")
    expect(not heavy, "a light module", got=f"one that imports {', '.join(heavy)}")


@cache
def heavy_imports(module: str, file: str) -> list[str]:
    """Return the heavy libraries that importing a module loads, in a process of its own."""
    fork = "forkserver" in get_all_start_methods()
    context: Any = get_context("forkserver" if fork else "spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return pool.submit(_load, module, file).result()
        except Exception as error:
            raise ContractViolation(
                "a module that imports by itself", got=error
            ) from error


def _load(name: str, file: str) -> list[str]:
    """Import a module by its name, or where nobody can find it by that, from its file."""
    # pytest names tests from where it stands
    sys.path.append(str(Path.cwd()))
    if importlib.util.find_spec(name.partition(".")[0]):
        importlib.import_module(name)
    else:
        spec = importlib.util.spec_from_file_location(name.rpartition(".")[2], file)
        if spec is None or spec.loader is None:
            raise ImportError(f"no module in {file}")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return [library for library in HEAVY if library in sys.modules]
