"""Contract of every plugin, and how a contract is run."""

import atexit
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, overload
from unittest import SkipTest

import numpy as np

from cuescope_core.trust.risks import UNDECLARED, risks_of
from cuescope_sdk import Context, Dataset, Frame, PluginError, Sample, UserError
from cuescope_testing import _global_state
from cuescope_testing._fake_data import FakeDataset
from cuescope_testing._fresh_import import import_freshly
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
        # pytest reads each attribute of a class: that must build nothing
        return self if instance is None else self.of(owner)

    def of(self, owner: type) -> T:
        """The value of a class."""
        if owner not in self._made:
            self.renew(owner)
        return self._made[owner]

    def renew(self, owner: type) -> None:
        """Make the value of a class anew, whether or not it has one."""
        self._made[owner] = self._make(owner)


@dataclass(frozen=True)
class Result:
    """How one check ended; `reason` is empty where it is ok."""

    check: str
    status: Status
    reason: str = ""


class Checks:
    """Methods that begin with `test_`: pytest runs each, and so does `run_checks`.

    `folder` is the cache folder of the plugins that they build, a fresh one for the process where
    it is None.
    """

    name: ClassVar[str] = NAME  # what a plugin is called meanwhile
    folder: ClassVar[Path | None] = None
    device: ClassVar[str] = "auto"
    dtype: ClassVar[str] = "float32"

    @classmethod
    def cache_folder(cls) -> Path:
        """Where plugins may keep things."""
        return cls.folder or _process_folder()

    @classmethod
    def checks(cls) -> list[str]:
        """The names of its checks, those of any kind first."""
        # a subclass that overrides a check keeps its place
        names = chain.from_iterable(map(vars, reversed(cls.__mro__)))
        return [name for name in dict.fromkeys(names) if name.startswith("test_")]

    @classmethod
    def run_checks(cls, only: str = "") -> Iterator[Result]:
        """Run the checks whose name contains `only`."""
        return (cls.run_check(check) for check in cls.checks() if only in check)

    @classmethod
    def run_check(cls, check: str) -> Result:
        """Run one check. A plugin that refuses what it is shown was not checked; else it failed."""
        try:
            getattr(cls(), check)()
        except NotApplicable as reason:
            return Result(check, "skipped", str(reason))
        except ContractViolation as violation:
            return Result(check, "failed", str(violation))
        # it is a UserError too, so it comes before
        except PluginError as fault:
            return Result(check, "failed", str(fault))
        # a plugin may say in words that it cannot do with this model or data
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
    imported: PerClass[dict[str, list[str]]] = PerClass(
        lambda c: import_report_of(c.plugin)
    )

    @classmethod
    def context(cls) -> Context:
        """Context of the plugin; the other plugins that are installed can be reached."""
        shelf = PluginShelf({(cls.kind, cls.name): cls.plugin}, installed=True)
        return Context(
            registry=shelf,
            cache=cls.cache_folder(),
            device=cls.device,
            dtype=cls.dtype,
        )

    @classmethod
    def build(cls, options: Mapping[str, Any] | None = None) -> Any:
        """The plugin, built as an audit builds it."""
        # None: {} are options too, those of a plugin's defaults
        options = cls.options if options is None else options
        return cls.context().build(cls.kind, cls.name, options)

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.build()

    # ------------------------------------------------------------------------ checks of any kind

    def test_imports_lightly(self) -> None:
        """Listing plugins and checking capabilities imports the class, and must not take long."""
        # in a process of its own: here most of them are imported already
        heavy = self.imported["heavy"]
        expect(
            not heavy,
            "a light module",
            got=f"one that imports {', '.join(heavy)}",
            remedy="Import them in __init__ or later, or in a submodule imported there",
        )

    def test_imports_without_side_effects(self) -> None:
        """Every command that lists or checks plugins imports them, beside everyone else's code."""
        changes = self.imported["changed"]
        expect(
            not changes,
            "an import that leaves global generators and warnings filters alone",
            got=f"one that changes {', '.join(changes)}",
            remedy="Seed nothing at module level; wrap noisy calls in warnings.catch_warnings()",
        )

    def test_builds(self) -> None:
        """It is built from `options` alone: every other option has a default."""
        try:
            self.build()
        except UserError as error:
            raise ContractViolation(
                f"a plugin that builds from {dict(self.options) or 'its defaults'}",
                got=str(error),
                remedy="Give every option a default, or give the contract the `options` it needs",
            ) from error

    def test_refuses_unknown_options(self) -> None:
        """A misspelt option must not pass in silence."""
        with expect_error(
            UserError,
            "an error for an option that does not exist",
            got="none",
            remedy="Subclass cuescope_sdk.Options and leave its `extra='forbid'`",
        ):
            # text, as the command line gives it
            self.build({**self.options, "no_such_option": "1"})

    def test_explains_its_options(self) -> None:
        """`cuescope plugins info` shows a line for each option; nobody should read the code."""
        fields = self.plugin.Options.model_fields
        silent = [name for name, field in fields.items() if not field.description]
        expect(
            not silent,
            "a description of each option",
            got=f"none for {', '.join(silent)}",
            remedy="Write Field(default, description='...')",
        )

    def test_marks_what_text_can_do(self) -> None:
        """A run file or a run of a stranger may set options: which text names files or hosts?"""
        undeclared = []
        for name, field in self.plugin.Options.model_fields.items():
            if UNDECLARED in risks_of(field):
                undeclared.append(name)
        expect(
            not undeclared,
            "a mark of each option that takes text, Words() on text alone",
            got=f"none for {', '.join(undeclared)}",
            remedy="Write Annotated[str, Words()], Names.file(), Names.host() ... of cuescope_sdk",
        )

    def test_leaves_global_randomness_alone(self) -> None:
        """A global seed changes the numbers of everyone else in the process."""
        moved = _global_state.moved_states(self.exercise)
        if moved:
            # what it loads on the way may draw as it is loaded: by now that is done
            moved = _global_state.moved_states(self.exercise)
        expect(
            not moved,
            "the global random state untouched",
            got=f"{', '.join(moved)} moved",
            # a layer draws its first weights, which no argument can change
            remedy="Build layers within torch.random.fork_rng()"
            if moved == ["torch"]
            else "Use audit.rng(name), context.rng(name) or cuescope_sdk.generator",
        )


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
        """The response cache tells models apart by it, and a report says what was audited."""
        fingerprint = getattr(self.built, "fingerprint", None)
        expect(
            isinstance(fingerprint, str) and fingerprint,
            "a fingerprint, some text",
            got=repr(fingerprint),
            remedy="Set self.fingerprint = digest(weights and preprocessing version, or content)",
        )

    def test_has_the_same_fingerprint_when_built_again(self) -> None:
        """A fingerprint that changes from run to run makes every run start from nothing."""
        again = self.build()
        expect(
            again.fingerprint == self.built.fingerprint,
            "one fingerprint",
            got=f"{self.built.fingerprint}, then {again.fingerprint}",
            remedy="Digest content: weights, options and samples, no ids, times or addresses",
        )

    def test_has_another_fingerprint_for_other_options(self) -> None:
        """Equal fingerprints mean equal answers and samples, or the cache replays wrong ones."""
        if self.other_options is None:
            raise NotApplicable(
                "needs `other_options` that change the answers or the content"
            )
        expect(
            # the other options alone, not beside the first ones
            self.build(self.other_options).fingerprint != self.built.fingerprint,
            "another fingerprint",
            got=f"the same for {dict(self.other_options)}",
            remedy="Let every option that changes an answer or a sample enter the fingerprint",
        )

    def test_states_facts_in_words(self) -> None:
        """Facts are printed at the head of a report."""
        facts = getattr(self.built, "facts", None)
        expect(
            isinstance(facts, Mapping)
            and all(isinstance(word, str) for word in (*facts, *facts.values())),
            "`facts`, text by text",
            got=repr(facts),
            remedy="Set self.facts = {'validation accuracy': '0.93'}, or {}",
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
    """A plugin broke its contract: what was expected, what came, and what to do."""

    def __init__(self, expected: str, *, got: str, remedy: str) -> None:
        super().__init__(f"expected {expected}, got {got}. {remedy}")


# pytest and unittest both know it as a skip
class NotApplicable(SkipTest):
    """The check asks about something that this plugin does not claim; pytest shows it skipped."""


def expect(condition: object, expected: str, *, got: object, remedy: str) -> None:
    """Raise ContractViolation unless the condition holds."""
    if not condition:
        raise ContractViolation(expected, got=str(got), remedy=remedy)


@contextmanager
def expect_error(
    kind: type[Exception],
    expected: str,
    *,
    got: str,
    remedy: str,
) -> Iterator[None]:
    """Raise ContractViolation unless the block raises an error of this kind; `got` if it ends."""
    try:
        yield
    # of this kind first: the next line would take it as well
    except kind:
        return
    except Exception as error:
        raise ContractViolation(expected, got=repr(error), remedy=remedy) from error
    raise ContractViolation(expected, got=got, remedy=remedy)


@contextmanager
def expect_no_error(expected: str, *, remedy: str) -> Iterator[None]:
    """Raise ContractViolation for any error of the block."""
    try:
        yield
    except Exception as error:
        raise ContractViolation(expected, got=repr(error), remedy=remedy) from error


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


# --------------------------------------------------------------------------------------- importing


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


def import_report_of(plugin: type) -> dict[str, list[str]]:
    """That of the module in which a plugin stands."""
    return import_report(plugin.__module__, inspect.getsourcefile(plugin) or "")


@cache
def import_report(module: str, file: str) -> dict[str, list[str]]:
    """Report what importing a plugin's module alone loads ("heavy") and changes ("changed")."""
    finished = import_freshly(module, file, HEAVY)
    if finished.code:
        raise ContractViolation(
            "a module that imports by itself",
            # the last line of a traceback names the error
            got=(finished.errors.strip().splitlines() or ["an exit"])[-1],
            remedy="Import what it needs, and nothing from the place it is started in",
        )
    # the module itself may print, before the report
    report: dict[str, list[str]] = json.loads(finished.output.splitlines()[-1])
    return report
