"""A release: what is broken stops it with one line, and what was promised stays."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace as replace_field
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from release import (
    ReleaseError,
    answering,
    building,
    checks,
    promises,
    proving,
    registering,
    using,
    versions,
)
from release.building import find_uv
from release.changelog import Changelog
from release.dists import A_DAY, BUNDLES, Dist, closure, publishing_order, read_dists
from release.kept import HOLDS_FOR, Kept, Question
from release.machine import Machine, find_python, local_index

from cuescope.installing import own_dists
from cuescope_commands.citing import bibtex_of, citations
from cuescope_core.errors import UserError
from cuescope_core.registry import Registry

ROOT = Path(__file__).parents[1]
DISTS = read_dists(ROOT)
VERSION = DISTS[0].project["version"]
PAPERS = {"trove", "cci", "quag", "spurlens", "step-grounding"}


# ------------------------------------------------------------------------------------- checkouts


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of this one that a release reads."""
    for dist in DISTS:
        folder = tmp_path / dist.folder.relative_to(ROOT)
        folder.mkdir(parents=True)
        for name in ("pyproject.toml", "LICENSE", "README.md"):
            shutil.copy(dist.folder / name, folder)
    texts = [
        "LICENSE",
        "CHANGELOG.md",
        "README.md",
        checks.OWN_DISTS,
        checks.INDEX,
        versions.CORE_VERSION,
    ]
    texts += [versions.CITATION, registering.INSTALLING]
    prepared = tomllib.loads(registering.TEXTS.read_text())["text"]
    for name in dict.fromkeys([*texts, *(text["file"] for text in prepared)]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def replace(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text, f"{file} has no {before!r}"
    file.write_text(text.replace(before, after), "utf-8")


def lose_name(checkout: Path) -> None:
    file = checkout / checks.OWN_DISTS
    table = json.loads(file.read_text())
    del table["folders"]["cuescope-cci"]
    file.write_text(json.dumps(table))


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a licence": (
        lambda at: (at / "plugins/methods/cci/LICENSE").unlink(),
        "plugins/methods/cci: LICENSE is missing",
    ),
    "another licence": (
        lambda at: (at / "sdk/LICENSE").write_text("Apache License, in short"),
        "sdk: LICENSE is not that of the project",
    ),
    "a name": (lose_name, "own_dists.json lacks cuescope-cci"),
    "the list of names": (
        lambda at: (at / checks.OWN_DISTS).write_text("{"),
        "own_dists.json cannot be read: Expecting",
    ),
    "a listed plugin": (
        lambda at: replace(at / checks.INDEX, "bench,cci,cuescope-cci", "bench,cci"),
        "plugins.csv line 3: expected kind, name, dist, finds, got bench,cci,",
    ),
    "metadata": (
        lambda at: (at / "sdk/pyproject.toml").write_text("[project"),
        "sdk/pyproject.toml cannot be read: Expected",
    ),
    "a version": (
        lambda at: replace(
            at / "sdk/pyproject.toml", f'version = "{VERSION}"', 'version = "9.9"'
        ),
        f"sdk: version 9.9, expected {VERSION}: `make version",
    ),
    "a range": (
        lambda at: replace(
            at / "plugins/methods/cci/pyproject.toml",
            versions.range_of(VERSION),
            ">=0.0.9",
        ),
        "plugins/methods/cci: needs cuescope>=0.0.9, expected",
    ),
    "a classifier": (
        lambda at: replace(at / "sdk/pyproject.toml", '    "Typing :: Typed",\n', ""),
        "sdk: classifiers are not those of",
    ),
    "an address": (
        lambda at: replace(at / "core/app/pyproject.toml", "Issues = ", "Bugs = "),
        "core/app: urls are not those of",
    ),
    "a link": (
        lambda at: replace(
            at / "core/app/README.md", "# cuescope", "# [cuescope](../README.md)"
        ),
        "core/app: README.md links to ../README.md",
    ),
    "the core's version": (
        lambda at: replace(at / versions.CORE_VERSION, VERSION, "9.9"),
        "core/app/src/cuescope/__init__.py does not say",
    ),
    "change notes": (
        lambda at: replace(
            at / "CHANGELOG.md", "`cuescope-slices`\n", "`cuescope-slice`\n"
        ),
        "CHANGELOG.md names cuescope-slice, which is no package",
    ),
}


def test_this_checkout_can_be_released() -> None:
    assert not list(checks.faults(ROOT, VERSION))


@pytest.mark.parametrize("part", BREAKS)
def test_what_is_broken_is_one_line(checkout: Path, part: str) -> None:
    harm, words = BREAKS[part]
    harm(checkout)
    try:
        fault = next(checks.faults(checkout, VERSION))
    except ReleaseError as error:  # nothing more can be read
        fault = str(error)
    assert words in fault
    assert "\n" not in fault


@pytest.mark.parametrize(
    "version",
    ["0.2.0", *(pytest.param(v, marks=pytest.mark.long) for v in ("0.0.1", "1.4.2"))],
)
def test_a_version_is_written_everywhere(checkout: Path, version: str) -> None:
    versions.write_version(checkout, version)
    replace(checkout / "CHANGELOG.md", f"## {VERSION}", f"## {version}")
    assert not list(checks.faults(checkout, version))
    assert any(VERSION in fault for fault in checks.faults(checkout, VERSION))


def test_to_write_the_same_version_changes_nothing(checkout: Path) -> None:
    before = {
        file: file.read_bytes() for file in checkout.rglob("*.*") if file.is_file()
    }
    versions.write_version(checkout, VERSION)
    assert before == {file: file.read_bytes() for file in before}


def test_texts_are_ready_for_the_day_when_the_names_are_ours(checkout: Path) -> None:
    assert not registering.is_registered(checkout)
    registering.register(checkout)
    assert registering.is_registered(checkout)
    readme = (checkout / "README.md").read_text().partition("## Install\n\n    ")[2]
    command, _, _ = readme.partition("\n")
    assert command.split()[-1] == proving.START
    text = (checkout / "docs/install.md").read_text()
    assert "not on the package index" not in text
    assert command in text
    help_line = (checkout / "core/app/src/cuescope/cli/plugins.py").read_text()
    assert "registered on the package index" not in help_line
    compile(help_line, "plugins.py", "exec")


# ------------------------------------------------------------------------------------------ names


def test_every_name_has_its_day() -> None:
    days = publishing_order(DISTS)
    assert all(len(day) <= A_DAY for day in days)
    names = [name for day in days for name in day]
    assert sorted(names) == sorted(own_dists())
    assert names[:4] == ["cuescope-core", "cuescope-sdk", *BUNDLES]
    by_name = {dist.name: dist for dist in DISTS}
    for position, name in enumerate(names):
        if name not in BUNDLES:
            assert by_name[name].needs <= set(names[:position]), name
    rest = names[len(closure(["cuescope-start"], DISTS)) + 1 :]
    are_data = [by_name[name].folder.parent.name == "datasets" for name in rest]
    assert are_data == sorted(are_data), "names of data sets come last"


# -------------------------------------------------------------------------------------- bytes


def test_a_package_has_the_same_bytes_twice(tmp_path: Path) -> None:
    folder = ROOT / "plugins/bundles/start"
    outs = [tmp_path / "first", tmp_path / "second"]
    for out in outs:
        source = tmp_path / f"source of {out.name}"
        shutil.copytree(folder, source, ignore=shutil.ignore_patterns("__pycache__"))
        building.run_backend(ROOT, out, [source], epoch="1700000000")
    assert len(list(outs[0].iterdir())) == 2
    assert not list(building.different(*outs))
    building.check_archives(Dist(folder), outs[0], VERSION)
    (outs[1] / f"cuescope_start-{VERSION}.tar.gz").write_bytes(b"other")
    assert list(building.different(*outs)) == [f"cuescope_start-{VERSION}.tar.gz"]


# -------------------------------------------------------------------------------------- promises


def collected(kind: str, **lines: str) -> promises.Promises:
    kinds = ("commands", "files", "keys", "exit codes")
    return {name: (lines if name == kind else {}) for name in kinds}


def broken(kind: str, before: str, now: str | None, **announced: str) -> list[str]:
    new = {} if now is None else {"x": now}
    told = {"x": announced} if announced else {}
    old_lines = collected(kind, x=before)
    return list(promises.broken(old_lines, collected(kind, **new), told, "0.3.0"))


def commit(folder: Path, source: str) -> None:
    """A package `one` with a private module that its door exports a name of."""
    package = folder / "src/one"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(
        'from one._inside import call as call\n__all__ = ["call"]\n'
    )
    (package / "_inside.py").write_text(source)
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    building.run("git", "init", "--quiet", at=folder)
    building.run("git", "add", ".", at=folder)
    building.run("git", *names, "commit", "--quiet", "-m", "one", at=folder)


@pytest.mark.parametrize(
    ("now", "is_broken"),
    [
        ("def call(a, b): ...\n", False),
        ("def call(a, b, *, c=1): ...\n", False),
        ("def call(b, a): ...\n", True),
        ("def call(a): ...\n", True),
        ("def call(a, b, c): ...\n", True),
    ],
)
def test_public_names_are_those_of_the_last_release(
    tmp_path: Path, now: str, is_broken: bool
) -> None:
    commit(tmp_path, "def call(a, b): ...\n")
    packages = {"one": "src"}
    assert not list(promises.broken_names(tmp_path, {}, "0.3.0", packages))
    building.run("git", "tag", "v0.1.0", at=tmp_path)
    commit(tmp_path, now + "# another commit\n")
    told = {"one.call": {"since": "0.1", "instead": "y"}}
    lines = list(promises.broken_names(tmp_path, {}, "0.3.0", packages))
    assert bool(lines) == is_broken
    assert not list(promises.broken_names(tmp_path, told, "0.3.0", packages))


@pytest.mark.long
def test_all_that_the_last_release_promised_is_there() -> None:
    old = promises.read_promised()
    announced = promises.read_announced()
    assert all(old.values())
    assert not list(promises.broken_names(ROOT, announced, VERSION))
    assert not list(promises.broken(old, promises.collect(), announced, VERSION))


@pytest.mark.parametrize(
    ("kind", "before", "now"),
    [
        ("commands", "option", None),
        ("files", "string", "number"),
        ("files", "string", None),
        ("keys", "c14d", "d14d"),
        ("exit codes", "2", "1"),
    ],
)
def test_a_broken_promise_is_one_line(kind: str, before: str, now: str | None) -> None:
    [line] = broken(kind, before, now)
    assert line.startswith(f"{kind}: x ")


def test_what_was_announced_two_minors_ago_may_go() -> None:
    assert not broken("files", "string", None, since="0.1", instead="y")
    assert broken("files", "string", None, since="0.2", instead="y")


def test_what_will_go_is_told_in_one_line_to_who_types_it() -> None:
    told = "use --b, --a ends in 0.3"
    code = f"""
import warnings
from cuescope import cli
cli._run = lambda *words, **more: warnings.warn({told!r}, FutureWarning) or 0
cli.main(["runs"])
"""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONWARNINGS"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == f"cuescope: warning: {told}\n"


def test_a_new_field_that_must_be_written_refuses_older_files() -> None:
    old = collected("files")
    assert not list(promises.broken(old, collected("files", x="string"), {}, "0.2.0"))
    for name, is_told in (("run file.x", True), ("report.x", False)):
        new = collected("files") | {"files": {name: "string, needed"}}
        assert bool(list(promises.broken(old, new, {}, "0.2.0"))) == is_told


# ---------------------------------------------------------------------------------- kept answers


def test_models_of_ours_keep_their_answers_over_an_upgrade() -> None:
    registry = Registry()
    dists = {dist.name for dist in DISTS if dist.folder.parent.name == "models"}
    ours = [entry for entry in registry.of_kind("model") if entry.dist in dists]
    assert len(ours) > 15
    for entry in ours:
        assert registry.load(entry).answers_version >= 1, entry.name


def test_code_that_changed_while_answers_stay_is_told(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@b")
        building.run("git", *names, *words, at=tmp_path)

    def write(name: str, text: str) -> None:
        folder = tmp_path / "plugins/models" / name
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
        (folder / "src/model.py").write_text(text)

    keeps = "class Model:\n    answers_version = {}\n    size = {}\n"
    git("init", "--quiet")
    for name in ("same", "changed", "raised"):
        write(name, keeps.format(1, 1))
    write("plain", "size = 1\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    write("changed", keeps.format(1, 2))
    assert not list(answering.to_look_at(tmp_path, "0.2.0")), "nothing was released"
    git("tag", "v0.1.0")
    write("raised", keeps.format(2, 2))
    write("plain", "size = 2\n")
    assert list(answering.to_look_at(tmp_path, "0.2.0")) == ["changed"]


# ------------------------------------------------------------------------------------ change notes


def test_notes_of_a_package_are_its_parts_alone(tmp_path: Path) -> None:
    file = tmp_path / "CHANGELOG.md"
    file.write_text(
        "# Changelog\n\n## 0.2.1 (unreleased)\n\nOne word.\n\n## 0.2.0\n\n"
        "### Find\n\n#### `a`\n\n- one\n\n#### `a`, `b`\n\n"
        "- two\n\n### Mend\n\n#### `b`\n\n- three\n\n## 0.1.0\n\n### Find\n\n#### `a`\n\n- old\n"
    )
    changelog = Changelog.read(file)
    assert changelog.notes("0.2.0", "a") == "# a 0.2.0\n\n## Find\n\n- one\n- two\n"
    assert (
        changelog.notes("0.2.0", "b")
        == "# b 0.2.0\n\n## Find\n\n- two\n\n## Mend\n\n- three\n"
    )
    assert changelog.notes("0.2.1", "cuescope") == "# cuescope 0.2.1\n\nOne word.\n"
    assert not list(changelog.faults("0.2.0", ["a", "b", "c"])), "c has not changed"
    assert list(changelog.faults("0.3.0", ["a"])) == [
        "CHANGELOG.md has no part '## 0.3.0'"
    ]


# ----------------------------------------------------------------------------------------- proofs


def test_the_readme_has_commands_for_a_first_audit() -> None:
    words = {line.split()[1] for line in using.readme_commands(ROOT)}
    assert {"investigate", "audit"} <= words


def test_the_lowest_versions_of_a_package_are_those_of_all_that_comes_with_it() -> None:
    dists = {dist.name: dist for dist in DISTS}
    lines = proving.declared(dists, ["cuescope-cci"])
    assert f"cuescope-cci=={VERSION}" in lines
    assert f"cuescope=={VERSION}" in lines
    [figures] = [line for line in lines if line.startswith("matplotlib")]
    assert figures == "matplotlib>=3.10.8", "an extra of the sdk that cci names"
    assert not [line for line in lines if line.startswith("torch")]


def test_the_readme_has_lines_of_python() -> None:
    lines = using.readme_python(ROOT)
    compile(lines, "README.md", "exec")
    assert f'model="{using.SPEC}"' in lines
    assert "to_pandas" in lines


class WithoutPython(Machine):
    """Finds wheels of two packages, for any version."""

    def resolve(self, lines: Sequence[str], resolution: str, version: str) -> int:
        assert lines == [f"cuescope-toy=={VERSION}"]
        return 2


def test_a_python_that_is_not_here_is_resolved_for(tmp_path: Path) -> None:
    assert find_python(find_uv(ROOT), "3.99") is None
    machine = WithoutPython("uv", "http://127.0.0.1", tmp_path)
    dists = {dist.name: dist for dist in DISTS}
    names = ["cuescope-toy", proving.OLDER_PLUGIN]
    [(name, how, proof)] = proving.proofs_on(
        machine, ROOT, dists, names, "3.99", None, ["highest"]
    )
    assert (name, how) == ("cuescope-toy", "highest")
    assert proving.outcome_of(proof).startswith("wheels of 2 packages")


def write_wheel(folder: Path, name: str, tag: str, *needs: str) -> None:
    info = f"{name}-1.0.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    with ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "\n".join(lines))


@pytest.mark.long
def test_wheels_are_found_for_another_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, tag in (("a", "py3-none-any"), ("b", "cp399-none-any")):
        write_wheel(tmp_path, name, tag, *(["a"] if name == "b" else []))
    with local_index(tmp_path) as index:
        monkeypatch.setenv("UV_DEFAULT_INDEX", index)
        machine = Machine(find_uv(ROOT), index, tmp_path)
        assert machine.resolve(["b"], "highest", "3.99") == 2
        found = proving.outcome_of(
            lambda: proving.resolve(machine, ["b"], "highest", "3.12")
        )
    assert found.startswith("no wheels: uv pip: Because b==1.0 has no wheels")
    assert "hint" not in found


def test_on_a_python_that_is_here_everything_is_proved(tmp_path: Path) -> None:
    machine = Machine(find_uv(ROOT), "http://127.0.0.1", tmp_path)
    dists = {dist.name: dist for dist in DISTS}
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = find_python(machine.uv, version)
    assert python is not None
    names = [proving.START, proving.OLDER_PLUGIN]
    both = ["highest", "lowest-direct"]
    told = [
        (name, how)
        for name, how, _ in proving.proofs_on(
            machine, ROOT, dists, names, version, python, both
        )
    ]
    assert told == [
        (proving.START, "highest"),
        (proving.START, "README"),
        (proving.START, "lowest-direct"),
        (proving.OLDER_PLUGIN, "highest"),
    ]


def test_what_passed_is_not_proved_again_for_some_days(tmp_path: Path) -> None:
    write_wheel(tmp_path, "cuescope_toy", "py3-none-any")
    dists = {"cuescope-toy": Dist(tmp_path)}
    project = '[project]\nname = "cuescope-toy"\n'
    (tmp_path / "pyproject.toml").write_text(project)

    def question() -> Question:
        digest = proving.contents_for("cuescope-toy", dists, tmp_path, ROOT)
        return Question("cuescope-toy", "3.11", "highest", True, digest)

    kept = Kept(tmp_path / "proofs.jsonl")
    assert kept.find(question()) is None
    kept.add(question(), "5 plugins ok")
    told = kept.find(question())
    assert told is not None
    assert told.startswith("5 plugins ok (proved ")
    assert kept.find(replace_field(question(), python="3.12")) is None
    # anew, with the same contents
    write_wheel(tmp_path, "cuescope_toy", "py3-none-any")
    assert kept.find(question()) == told
    row = json.loads(kept.file.read_text())
    row["at"] = (datetime.fromisoformat(row["at"]) - HOLDS_FOR).isoformat()
    kept.file.write_text(json.dumps(row) + "\n")
    assert kept.find(question()) is None, "libraries have moved on"
    kept.add(question(), "5 plugins ok")
    write_wheel(tmp_path, "cuescope_toy", "py3-none-any", "numpy")
    assert kept.find(question()) is None, "the package has changed"


def test_a_program_that_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^no-such-uv is not on this machine$"):
        building.run("no-such-uv", "pip", at=tmp_path)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ("uv pip: x has no usable wheels", "no wheels: uv pip: x has no usable wheels"),
        ("uv pip: no version of x", f"{proving.BROKEN}uv pip: no version of x"),
    ],
)
def test_what_fails_is_one_line(told: str, outcome: str) -> None:
    def fail() -> str:
        raise ReleaseError(told)

    assert proving.outcome_of(fail) == outcome


@pytest.mark.parametrize(
    "line",
    [
        "`pip install x` brings it",
        "cuescope plugins install cuescope-cci",
        "run `make wheels`",
    ],
)
def test_a_remedy_is_recognised(line: str) -> None:
    assert using.REMEDY.search(line)


def test_workflows_pin_actions_and_give_no_token_to_what_builds() -> None:
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    assert len(files) >= 3
    for file in files:
        for action in re.findall(r"uses: (\S+)", file.read_text()):
            assert re.search(r"@[0-9a-f]{40}$", action), f"{file.name}: {action}"
    jobs = (ROOT / ".github/workflows/publish.yml").read_text().split("\n  publish:\n")
    assert "id-token" not in jobs[0], "the jobs that build and prove stand above"
    assert jobs[1].count("id-token: write") == 1
    assert "checkout" not in jobs[1].partition("\n  docs:\n")[0]


def test_licences_that_nobody_says_are_told_with_a_reason() -> None:
    rows = tomllib.loads(building.LICENCES.read_text())
    assert rows
    assert all(row["licence"] and len(row["why"].split()) > 5 for row in rows.values())


# ---------------------------------------------------------------------------------------- citing


def test_each_method_of_a_paper_is_cited() -> None:
    registry = Registry()
    cited = {e.name: text for e in registry.of_kind("method") if (text := bibtex_of(e))}
    assert cited.keys() >= PAPERS
    for name, text in cited.items():
        assert text.count("{") == text.count("}"), name
        for field in ("title", "author"):
            assert re.search(rf"^ +{field} += \{{", text, re.M), name
    keys = re.findall(r"^@\w+\{([\w-]+),", "\n".join(cited.values()), re.M)
    assert len(keys) == len(set(keys)) >= len(cited)


def test_a_method_without_a_paper_says_so() -> None:
    software, words = citations(["random"], Registry())
    assert "@software{cuescope," in software
    assert (
        words == "% random has no paper of its own: cite cuescope, and name the method"
    )
    with pytest.raises(UserError, match="Did you mean 'trove'"):
        list(citations(["trov"], Registry()))


@pytest.mark.parametrize(
    ("only", "resolution"), [("cuescope-nothing", "highest"), ("", "newest")]
)
def test_a_proof_of_what_there_is_not_is_one_line(
    tmp_path: Path, only: str, resolution: str
) -> None:
    with pytest.raises(ReleaseError, match=r"(cuescope-nothing: no|newest: expected)"):
        proving.prove(ROOT, tmp_path, only.split(), ["3.11"], [resolution])
