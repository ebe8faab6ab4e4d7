"""Plugins are listed from metadata; each failure keeps its reason, and spoils nothing else."""

import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distributions
from pathlib import Path

import pytest

from cuescope.installing import how_to_install
from cuescope_core import hookspecs
from cuescope_core.capabilities import HOOKS
from cuescope_core.digest import digest
from cuescope_core.errors import PluginError, UserError
from cuescope_core.plugin import Plugin
from cuescope_core.registry import GROUPS, Registry

from .broken import HEALTHY, METHODS, SIX, write_six
from .stubs import write_dist


def registry_of(folder: Path) -> Registry:
    return Registry(distributions(path=[str(folder)]))


@pytest.fixture
def six(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    write_six(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield registry_of(tmp_path)
    for name in [name for name in sys.modules if name.startswith("stub_")]:
        del sys.modules[name]


def one_class(folder: Path, group: str, source: str, name: str = "thing") -> Registry:
    """A registry of a single plugin `Thing` in a module of its own."""
    module = f"stub_{folder.name}"
    write_dist(
        folder, f"cuescope-{name}", {group: {name: f"{module}:Thing"}}, {module: source}
    )
    return registry_of(folder)


def test_entries_come_from_metadata_in_the_order_of_kinds(registry: Registry) -> None:
    listed = [(entry.kind, entry.name) for entry in registry.entries]
    kinds = list(GROUPS.values())
    assert listed == sorted(listed, key=lambda pair: (kinds.index(pair[0]), pair[1]))
    entry = registry.find("model", "colour")
    assert (entry.dist, entry.version) == ("cuescope-fakes", "1.0")
    assert entry.summary == "the stub cuescope-fakes"
    assert entry.problem is None


def test_listing_imports_nothing(tmp_path: Path) -> None:
    source = "raise AssertionError('imported')"
    registry = one_class(tmp_path, METHODS, source)
    assert [entry.name for entry in registry.entries] == ["thing"]
    assert f"stub_{tmp_path.name}" not in sys.modules


def test_loading_gives_the_class_once(registry: Registry) -> None:
    entry = registry.find("method", "red")
    assert registry.load(entry) is registry.load(entry)
    assert issubclass(registry.load(entry), Plugin)


@pytest.mark.parametrize("name", SIX)
def test_each_failure_has_reason_and_remedy(six: Registry, name: str) -> None:
    reason, remedy = SIX[name]
    entries = [entry for entry in six.entries if entry.name == name]
    assert len(entries) == (2 if name == "twice" else 1)
    for entry in entries:
        problem = six.check(entry)
        assert problem is not None
        assert reason in problem.reason
        assert remedy in problem.remedy
        with pytest.raises(PluginError) as caught:
            six.load(entry)
        assert f"method '{name}' of {entry.dist} {entry.version} cannot be used" in str(
            caught.value
        )
        assert problem.reason in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_healthy_one_still_loads(six: Registry) -> None:
    assert [e.name for e in six.entries if six.check(e) is None] == ["healthy"]
    assert six.load(six.find("method", "healthy")).title == "Healthy"


def test_a_misfit_is_never_imported(six: Registry) -> None:
    six.check(six.find("method", "outdated"))
    assert "stub_exiting" not in sys.modules


def test_a_failed_import_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    source = "import pathlib\np = pathlib.Path(__file__ + '.count')\np.touch(exist_ok=False)\n1 / 0"
    registry = one_class(tmp_path, METHODS, source)
    first = registry.check(registry.entries[0])
    assert first is not None
    assert first.reason == "ZeroDivisionError: division by zero"
    assert registry.check(registry.entries[0]) is first


def test_ctrl_c_is_no_fault_of_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = one_class(tmp_path, METHODS, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        registry.check(registry.entries[0])


@pytest.mark.parametrize(
    ("group", "body", "reason"),
    [
        (
            METHODS,
            "title = ''; metrics = (); Options = Options",
            "lacks requires, which a method",
        ),
        ("cuescope.models", "capabilities = 1; Options = Options", "lacks respond"),
        (
            "cuescope.datasets",
            "Options = Options\n    def __len__(self): ...",
            "lacks __getitem__",
        ),
        (
            METHODS,
            "title = ''; metrics = (); requires = 1",
            "Options is no subclass of",
        ),
        (METHODS, "Options = int", "Options is no subclass of"),
        (
            METHODS,
            "title = ''; metrics = (); requires = 'logits'; Options = Options",
            "requires is 'logits', expected a Requirements",
        ),
        (
            METHODS,
            "title = None; metrics = (); requires = 1; Options = Options",
            "title is None, expected a str",
        ),
        (
            "cuescope.models",
            "capabilities = {}; Options = Options\n    def respond(self): ...",
            "capabilities is {}, expected a Capabilities",
        ),
    ],
)
def test_a_class_of_another_kind_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, body: str, reason: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    source = f"from cuescope_core.types import Options\n\nclass Thing:\n    {body}\n"
    registry = one_class(tmp_path, group, source)
    problem = registry.check(registry.entries[0])
    assert problem is not None
    assert reason in problem.reason
    assert problem.remedy.startswith("tell the authors of cuescope-thing")


def test_a_missing_sdk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("cuescope_core.registry.version", absent)
    write_dist(
        tmp_path, "cuescope-x", {METHODS: {"x": "x:X"}}, requires=("cuescope-sdk>=1",)
    )
    (entry,) = registry_of(tmp_path).entries
    assert entry.problem is not None
    assert entry.problem.reason == "needs cuescope-sdk, which is not installed"
    assert entry.problem.remedy == how_to_install("cuescope-sdk")


def test_a_name_given_twice_by_one_dist_is_told(tmp_path: Path) -> None:
    write_dist(tmp_path, "cuescope-x", {METHODS: {"x": "x:X\nx = x:X"}})
    [problem] = registry_of(tmp_path).damaged.values()
    assert "option 'x' in section 'cuescope.methods' already exists" in problem.reason


def test_a_package_that_takes_a_name_of_ours_switches_nothing_off(
    tmp_path: Path,
) -> None:
    """Ours stays what the name means, and the other one can be asked for by its package."""
    for dist in ("cuescope-trove", "cuescope-theirs"):
        write_dist(tmp_path, dist, {METHODS: {"trove": f"{dist}:X".replace("-", "_")}})
    registry = registry_of(tmp_path)
    with pytest.warns(UserWarning, match="cuescope-theirs/trove for the one of"):
        assert registry.find("method", "trove").dist == "cuescope-trove"
    other = registry.find("method", "cuescope-theirs/trove")
    assert (other.dist, other.problem) == ("cuescope-theirs", None)
    [told] = [entry.problem for entry in registry.entries if entry.problem]
    assert "ask for it as cuescope-theirs/trove" in told.remedy


def test_two_strangers_of_one_name_are_both_asked_for_by_their_packages(
    six: Registry,
) -> None:
    with pytest.raises(PluginError, match="duplicate name"):
        six.load(six.find("method", "twice"))
    entry = six.find("method", "cuescope-healthy/healthy")
    assert six.find("method", "healthy") == entry
    for dist in ("cuescope-twice", "cuescope-twice-again"):
        assert six.load(six.find("method", f"{dist}/twice")).title == "Healthy"


def test_what_prints_at_its_import_goes_to_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = HEALTHY.replace("Healthy", "Thing")
    registry = one_class(tmp_path, METHODS, f"print('hello')\n{source}")
    monkeypatch.syspath_prepend(str(tmp_path))
    [entry] = registry.entries
    assert registry.check(entry) is None
    assert capsys.readouterr() == ("", "hello\n")


def test_what_a_library_or_child_of_it_prints_goes_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    registry = one_class(
        tmp_path, METHODS, f"import os; os.write(1, b'hello')\n{HEALTHY}"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    [entry] = registry.entries
    registry.check(entry)
    assert capfd.readouterr() == ("", "hello")


def test_damaged_metadata_of_another_dist_hides_nothing(tmp_path: Path) -> None:
    write_dist(tmp_path, "cuescope-x", {METHODS: {"x": "x:X"}})
    damaged = tmp_path / "damaged-1.0.dist-info"
    damaged.mkdir()
    (damaged / "METADATA").write_bytes(b"\xff\xfe\x00")
    (damaged / "entry_points.txt").write_bytes(b"[cuescope.methods\n\xff = ")
    registry = registry_of(tmp_path)
    assert [entry.name for entry in registry.entries] == ["x"]
    assert set(registry.damaged) == {"damaged-1.0.dist-info"}


def test_the_name_of_another_kind_is_said_to_be_one(registry: Registry) -> None:
    entry = registry.entries[0]
    other = "model" if entry.kind != "model" else "dataset"
    with pytest.raises(
        UserError, match=f"'{entry.name}' is an? {entry.kind}: `cuescope"
    ):
        registry.find(other, entry.name)


def test_an_unknown_name_suggests_the_nearest(registry: Registry) -> None:
    with pytest.raises(
        UserError, match=r"no model 'color' is installed.*Did you mean 'colour'"
    ):
        registry.find("model", "color")
    with pytest.raises(
        UserError, match="expected one of counting, forgetful, hiding, looking, red"
    ):
        registry.find("method", "zzzzz")
    with pytest.raises(UserError, match="`cuescope plugins` lists what is here"):
        # nobody owns a dist of that name: none is suggested
        registry.find("method", "zzzzz")
    with pytest.raises(UserError, match=r"cuescope-detectors.*` brings it"):
        registry.find("tool", "owl")


# ----------------------------------------------------------------------------------------- hooks

HOOKED = """
from cuescope_core.capabilities import Requirements
from cuescope_core.hookspecs import hookimpl
from cuescope_core.plugin import Plugin

class Hooked(Plugin):
    title = "Hooked"
    requires = Requirements()
    metrics = ()

    {decorator}
    def {signature}: ...
"""


def test_the_table_of_hooks_is_that_of_their_specifications() -> None:
    specs = {
        name: tuple(inspect.signature(spec).parameters)
        for name, spec in vars(hookspecs).items()
        if inspect.isfunction(spec) and hasattr(spec, "cuescope_spec")
    }
    assert specs == HOOKS


@pytest.mark.parametrize(
    ("decorator", "signature", "reason"),
    [
        (
            "@hookimpl",
            "propose_feature(self, audit)",
            "is no hook: Did you mean 'propose_features'",
        ),
        (
            "@hookimpl",
            "zzz(self, audit)",
            "is no hook: expected one of propose_features, perturb",
        ),
        (
            "@hookimpl",
            "perturb(self, audit, feature)",
            "no argument 'feature': Did you mean 'feat",
        ),
        (
            "@hookimpl",
            "verify(self, q)",
            "no argument 'q': it takes audit, features, scores",
        ),
        (
            "# hookimpl",
            "verify(self, audit)",
            "lacks @hookimpl, so it would never be called",
        ),
        ("@hookimpl", "verify(self, scores)", None),
    ],
)
def test_a_hook_that_would_never_run_is_refused(
    tmp_path: Path, decorator: str, signature: str, reason: str | None
) -> None:
    source = HOOKED.format(decorator=decorator, signature=signature)
    name = f"stub_{digest(source)}"
    write_dist(
        tmp_path,
        "cuescope-hooked",
        {METHODS: {"hooked": f"{name}:Hooked"}},
        {name: source},
    )
    sys.path.insert(0, str(tmp_path))
    try:
        registry = Registry(distributions(path=[str(tmp_path)]))
        problem = registry.check(registry.find("method", "hooked"))
    finally:
        sys.path.remove(str(tmp_path))
    if reason is None:
        assert problem is None
    else:
        assert problem is not None
        assert reason in problem.reason
