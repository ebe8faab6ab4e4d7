"""Whatever an installed package says of itself, it spoils nothing but its own plugins."""

import warnings
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope_core.registry import KINDS, Registry

from ...engine.tests.stubs import write_dist

GROUP = "cuescope.methods"
METADATA = b"Metadata-Version: 2.1\nName: evil\nVersion: 1.0\nSummary: s\n"
POINTS = b"[cuescope.methods]\nbad = evil:Thing\n"
ESCAPE = b"\x1b]0;owned\x07\x1b[2J"
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e", "\r")

# What stands in place of `evil:Thing`, and in place of the name `bad`.
VALUES = [
    "p:P:Q",
    "",
    ":",
    "p:",
    ":P",
    "p",
    "p P",
    "p:P Q",
    "p:P\tQ",
    "p:P()",
    "p:P; import os",
]
VALUES += [
    "p..q:P",
    ".p:P",
    "p:P.q",
    "1p:P",
    "p:1",
    "../p:P",
    "p/q:P",
    "p:P [x]",
]
VALUES += [
    "p\x1b[2J:P",
    "p:P\u202e",
    "p:P\\",
    "p=q:P",
    "\udcff:P",
    "p:P\n  q:Q",
    "p:P\r\n[x",
]
NAMES = [
    "",
    " ",
    "a b  c",
    "a/b",
    "a:b",
    "../a",
    "\x1b[2Ja",
    "a\x07",
    "\u202ea",
    "a;b",
]
NAMES += ["-a", "$(a)", "`a`", "a\x00b", "\udcff", "a\x9bb"]

FILES: dict[str, tuple[bytes, bytes]] = {
    "no name": (METADATA.replace(b"Name: evil\n", b""), POINTS),
    "no version": (METADATA.replace(b"Version: 1.0\n", b""), POINTS),
    "an empty name": (METADATA.replace(b"evil", b""), POINTS),
    "a name that a terminal obeys": (METADATA.replace(b"evil", ESCAPE), POINTS),
    "a name that a shell obeys": (METADATA.replace(b"evil", b"x; rm -rf ~"), POINTS),
    "a version that a terminal obeys": (METADATA.replace(b"1.0", ESCAPE), POINTS),
    "a long name": (METADATA.replace(b"evil", b"e" * 10**5), POINTS),
    "no metadata": (b"", POINTS),
    "metadata of garbage": (bytes(range(256)) * 40, POINTS),
    "a need that is none": (
        METADATA + b"Requires-Dist: cuescope-sdk @@@ \x1b[2J\n",
        POINTS,
    ),
    "a need of no marker": (
        METADATA + b"Requires-Dist: cuescope-sdk; x == 'y'\n",
        POINTS,
    ),
    "a group that is not closed": (METADATA, b"[cuescope.methods\nbad = evil:Thing\n"),
    "a group that is unknown": (METADATA, b"[cuescope.metods]\nbad = evil:Thing\n"),
    "a group that a terminal obeys": (
        METADATA,
        b"[cuescope." + ESCAPE + b"]\na = b:C\n",
    ),
    "garbage after the group": (
        METADATA,
        b"[cuescope.methods]\n" + bytes(range(256)) * 9,
    ),
    "zeros after the group": (METADATA, b"[cuescope.methods]\n" + bytes(999)),
    "UTF-16": (METADATA, b"[cuescope.methods]\n" + "bad = evil:Thing".encode("utf-16")),
}
for number, value in enumerate(VALUES):
    points = f"[{GROUP}]\nbad = {value}\n".encode(errors="surrogateescape")
    FILES[f"value {number}"] = (METADATA, points)
for number, name in enumerate(NAMES):
    points = f"[{GROUP}]\n{name} = evil:Thing\n".encode(errors="surrogateescape")
    FILES[f"name {number}"] = (METADATA, points)


def write_evil(folder: Path, metadata: bytes, points: bytes) -> Path:
    info = folder / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_bytes(metadata)
    (info / "entry_points.txt").write_bytes(points)
    return info


def require_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, said: Callable[[], str]
) -> None:
    """The damage is told with a reason, and the sound plugin is listed."""
    write_dist(folder, "cuescope-sound", {GROUP: {"sound": "stub_sound:Sound"}})
    registry = Registry(distributions(path=[str(folder)]))
    sound = [entry.name for entry in registry.entries if entry.problem is None]
    assert "sound" in sound
    assert len(registry.entries) > len(sound) or registry.damaged
    problems = [entry.problem for entry in registry.entries if entry.problem]
    for problem in [*problems, *registry.damaged.values()]:
        assert problem.reason
        assert problem.remedy
        assert len(problem.reason) < 1000
        assert "rm -rf" not in problem.remedy
    for entry in registry.entries:
        assert entry.kind in KINDS
    # `main` replaces it
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)
    monkeypatch.setattr("cuescope.cli.plugins.Registry", lambda: registry)
    with pytest.raises(SystemExit) as ended:
        main(["plugins"])
    listing = said()
    assert ended.value.code == 0
    assert "method    sound" in listing
    assert "broken: " in listing
    assert not [character for character in OBEYED if character in listing]
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "--strict"])
    assert ended.value.code == 1


@pytest.mark.parametrize("damage", FILES)
def test_a_damaged_package_is_told_and_hides_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    damage: str,
) -> None:
    write_evil(tmp_path, *FILES[damage])
    require_told(tmp_path, monkeypatch, lambda: capsys.readouterr().out)


def test_a_damaged_plugin_takes_no_name_from_a_sound_one(tmp_path: Path) -> None:
    write_evil(tmp_path, METADATA.replace(b"Version: 1.0\n", b""), POINTS)
    write_dist(tmp_path, "zzz", {GROUP: {"bad": "stub_sound:Sound"}})
    registry = Registry(distributions(path=[str(tmp_path)]))
    assert registry.find("method", "bad").dist == "zzz"
    assert registry.find("method", "bad").problem is None


def test_packages_of_others_are_not_told(tmp_path: Path) -> None:
    """Those that have nothing to do with us may be as they like."""
    write_evil(tmp_path, b"\xff", b"[console_scripts]\np = p:P:Q\n[other\n")
    registry = Registry(distributions(path=[str(tmp_path)]))
    assert not registry.entries
    assert not registry.damaged
