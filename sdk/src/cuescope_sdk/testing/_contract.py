"""What every plugin must hold, and how a contract is run."""

import atexit
import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, ClassVar, Generic, Literal, TypeVar
from unittest import SkipTest

import numpy as np

from cuescope.spec import Spec
from cuescope_sdk import Context, PluginError, UserError, digest
from cuescope_sdk.testing._running import NAME, PluginShelf

T = TypeVar("T")
Status = Literal["ok", "failed", "skipped"]


class PerClass(Generic[T]):
    """A value that every test of a class shares, made when it is first asked for."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._made: dict[type, T] = {}

    def __get__(self, instance: object, owner: type) -> T:
        if owner not in self._made:
            self._made[owner] = self._make(owner)
        return self._made[owner]


class Contract:
    """Checks of one plugin. Subclass the contract of its kind in a test module:

        class TestContract(MethodContract):
            plugin = MyMethod
            options = {"path": "x"}

    and pytest runs each `test_` method. `folder` is the plugin's cache folder, a fresh one for
    the process where it is None.
    """

    kind: ClassVar[str]
    plugin: ClassVar[type[Any]]
    options: ClassVar[Mapping[str, Any]] = {}
    folder: ClassVar[Path | None] = None
    device: ClassVar[str] = "auto"
    dtype: ClassVar[str] = "float32"

    @classmethod
    def context(cls) -> Context:
        """What the plugin is built with; the other plugins that are installed can be reached."""
        shelf = PluginShelf({(cls.kind, NAME): cls.plugin}, installed=True)
        return Context(registry=shelf, cache=cls.cache_folder(), device=cls.device, dtype=cls.dtype)

    @classmethod
    def cache_folder(cls) -> Path:
        """Where the plugin may keep things."""
        return cls.folder or _process_folder()

    @classmethod
    def build(cls, options: Mapping[str, Any] | None = None) -> Any:
        """The plugin, built as an audit builds it."""
        given = cls.options if options is None else options
        return cls.context().build(cls.kind, Spec(NAME), given)

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.build()

    # ------------------------------------------------------------------------ checks of any kind

    def test_imports_lightly(self) -> None:
        """Listing plugins and checking capabilities imports the class, and must not take long."""
        found = heavy_imports(self.plugin)
        expect(
            not found,
            "a light module",
            got=f"one that imports {', '.join(found)}",
            remedy="Import them in __init__ or later, or in a submodule imported there",
        )

    def test_imports_without_side_effects(self) -> None:
        """Every command that lists or checks plugins imports them, beside everyone else's code."""
        changes = import_effects(self.plugin)
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
        try:
            self.build({**self.options, "no_such_option": "1"})
        except UserError:
            return
        raise ContractViolation(
            "an error for an option that does not exist",
            got="none",
            remedy="Subclass cuescope_sdk.Options and leave its `extra='forbid'`",
        )

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

    def test_leaves_global_randomness_alone(self) -> None:
        """A global seed changes the numbers of everyone else in the process."""
        self.exercise()  # what it loads on the way is loaded before the states are compared
        moved = touched(self.exercise)
        expect(
            not moved,
            "the global random state untouched",
            got=f"{', '.join(moved)} moved",
            remedy="Use audit.rng(name), context.rng(name) or cuescope_sdk.generator",
        )


@cache
def _process_folder() -> Path:
    folder = mkdtemp(prefix="cuescope-contract-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return Path(folder)


@dataclass(frozen=True)
class Result:
    """How one check ended; `reason` is empty where it is ok."""

    check: str
    status: Status
    reason: str = ""


def checks(contract: type[Contract]) -> list[str]:
    """The names of its checks, those of any kind first."""
    found = [name for base in reversed(contract.__mro__) for name in vars(base)]
    return [name for name in dict.fromkeys(found) if name.startswith("test_")]


def results(contract: type[Contract], only: str = "") -> Iterator[Result]:
    """Run the checks whose name contains `only`."""
    for check in checks(contract):
        if only in check:
            yield run_check(contract, check)


def run_check(contract: type[Contract], check: str) -> Result:
    """Run one check. A plugin that refuses what it is shown was not checked; else it failed."""
    try:
        getattr(contract(), check)()
    except NotApplicable as reason:
        return Result(check, "skipped", str(reason))
    except ContractViolation as violation:
        return Result(check, "failed", str(violation))
    except UserError as refusal:
        status: Status = "failed" if isinstance(refusal, PluginError) else "skipped"
        return Result(check, status, f"refused: {refusal}" if status == "skipped" else str(refusal))
    except Exception as error:
        return Result(check, "failed", " ".join(f"{type(error).__name__}: {error}".split()))
    return Result(check, "ok")


# --------------------------------------------------------------------------------------- violation


class ContractViolation(AssertionError):  # noqa: N818 - the word for it
    """A plugin broke its contract: what was expected, what came, and what to do."""

    def __init__(self, expected: str, *, got: str, remedy: str) -> None:
        super().__init__(f"expected {expected}, got {got}. {remedy}")


class NotApplicable(SkipTest):
    """The check asks about something that this plugin does not claim; pytest shows it skipped."""


def expect(condition: bool, expected: str, *, got: object, remedy: str) -> None:
    """Raise ContractViolation unless the condition holds."""
    if not condition:
        raise ContractViolation(expected, got=str(got), remedy=remedy)


# -------------------------------------------------------------------------------------- randomness


def touched(action: Callable[[], object]) -> list[str]:
    """The libraries whose global random state `action` moved; their states are put back."""
    saved = _states()
    try:
        _stir()  # seeding with a constant shows only if the state was another before
        before = {name: _digest(state) for name, state in _states().items()}
        action()
        after = {name: _digest(state) for name, state in _states().items()}
    finally:
        _put_back(saved)
    return [name for name in before if before[name] != after[name]]


def _states() -> dict[str, object]:
    states: dict[str, object] = {"random": random.getstate(), "numpy": np.random.get_state()}  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        states["torch"] = torch.get_rng_state().numpy()
    return states


def _stir() -> None:
    random.random()
    np.random.random()  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        torch.rand(1)


def _put_back(states: dict[str, object]) -> None:
    random.setstate(states["random"])  # type: ignore[arg-type]
    np.random.set_state(states["numpy"])  # type: ignore[arg-type]  # noqa: NPY002
    if "torch" in states:
        torch = sys.modules["torch"]
        torch.set_rng_state(torch.from_numpy(states["torch"]))


def _digest(state: object) -> str:
    return digest(state) if isinstance(state, np.ndarray) else repr(state)


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

# Runs in a process of its own. What the plugin imports may itself warn or draw (numpy seeds itself,
# torch adds filters), so a first import of the libraries is not held against the plugin: the module
# runs twice, and only the second run is compared.
_CODE = """
import importlib, importlib.util, json, random, sys, warnings
name, file, *heavy = sys.argv[1:]

def load():
    if importlib.util.find_spec(name.partition(".")[0]):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name.rpartition(".")[2], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

def states():
    found = {"random": repr(random.getstate()), "warnings filters": repr(warnings.filters)}
    if "numpy" in sys.modules:
        state = sys.modules["numpy"].random.get_state()
        found["numpy.random"] = repr([part.tolist() if hasattr(part, "tolist") else part
                                      for part in state])
    if "torch" in sys.modules:
        found["torch"] = repr(sys.modules["torch"].get_rng_state().tolist())
    return found

load()
heavy = [library for library in heavy if library in sys.modules]
top = name.partition(".")[0]
for module in [m for m in sys.modules if m == top or m.startswith(top + ".")]:
    if not top.startswith("cuescope_sdk"):
        del sys.modules[module]
warnings.resetwarnings()
random.random()
if "numpy" in sys.modules:
    sys.modules["numpy"].random.random()
if "torch" in sys.modules and hasattr(sys.modules["torch"], "rand"):
    sys.modules["torch"].rand(1)
before = states()
load()
after = states()
changed = [key for key in before if before[key] != after[key]]
print("\\n" + json.dumps({"heavy": heavy, "changed": changed}))
"""


def heavy_imports(plugin: type) -> list[str]:
    """The heavy libraries that importing the plugin's module loads; raises ContractViolation."""
    return _import_report(plugin)["heavy"]


def import_effects(plugin: type) -> list[str]:
    """The global states that importing the plugin's module changes; raises ContractViolation."""
    return _import_report(plugin)["changed"]


@cache
def _import_report(plugin: type) -> dict[str, list[str]]:
    file = inspect.getsourcefile(plugin) or ""
    finished = subprocess.run(
        [sys.executable, "-c", _CODE, plugin.__module__, file, *HEAVY],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise ContractViolation(
            "a module that imports by itself",
            got=(finished.stderr.strip().splitlines() or ["an exit"])[-1],
            remedy="Import what it needs, and nothing from the place it is started in",
        )
    report: dict[str, list[str]] = json.loads(finished.stdout.splitlines()[-1])
    return report
