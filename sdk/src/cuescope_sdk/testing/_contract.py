"""What every plugin must hold, and how a contract is run."""

import atexit
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, ClassVar, Generic, Literal, TypeVar

from cuescope.spec import Spec
from cuescope_sdk import Context, PluginError, UserError
from cuescope_sdk.testing._importing import heavy_imports
from cuescope_sdk.testing._randomness import touched
from cuescope_sdk.testing._running import NAME
from cuescope_sdk.testing._shelf import PluginShelf
from cuescope_sdk.testing._violation import ContractViolation, NotApplicable, expect

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
