"""What arrives runs nothing, reads nothing else and calls nobody: every command, every trap.

Commands, plugins and options come from the registry and from the command line itself, so that a new
one is in here without being named. `make faults` tries all combinations, and counts them.
"""

import json
import os
import random
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import uvicorn
from arrivals import (
    FILLER,
    SEALS,
    SECRET,
    Bait,
    Trap,
    data_folder,
    endless_cache,
    mailed_run,
    mitigated_folder,
    run_file,
    traps_of,
)

from cuescope.cli import app, main
from cuescope_core.conclusions import Report
from cuescope_core.context import Context
from cuescope_core.errors import PlanStopped, UserError
from cuescope_core.registry import Registry
from cuescope_core.runs import RunFolder, source_of
from cuescope_core.spec import Spec, validate
from cuescope_core.trust import risks
from cuescope_core.trust.risks import UNDECLARED, Words, risks_of
from cuescope_core.trust.source import Source

Attack = Callable[..., int]
REGISTRY = Registry()
WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))
FEW = 10  # traps that a command meets outside of the whole run, each others
KINDS = ("method", "model", "dataset", "tool", "executor")
AUDIT = (
    "audit step-grounding --model scripted -O model.grounding=0.6 "
    "--data shape-world -O data.val=6"
)
TYPED = [
    "--model",
    "scripted",
    "-O",
    "model.grounding=0.6",
    "--data",
    "shape-world",
    "-O",
    "data.val=6",
]
# what a command needs beside the path that arrives; one that is not named needs nothing
NEEDS = {"mitigate": ["--with", "prompts"], "export": ["--what", "answers"]}
WRITES = {"out", "html", "example folder"}  # paths that a command writes to


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Bait:
    """What no arrival may reach."""
    return Bait.make(tmp_path_factory.mktemp("bait"))


@pytest.fixture(scope="module")
def traps(bait: Bait) -> list[Trap]:
    """All of them, in an order that mixes plugins and risks."""
    found = list(traps_of(REGISTRY, KINDS, bait))
    random.Random(0).shuffle(found)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run that was made here."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(home / "cache"))
        patch.chdir(home)
        assert end_of(*AUDIT.split(), "--out", "run", "-q") == 0
        yield home / "run"


@pytest.fixture(autouse=True)
def victim(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Somebody with secrets, and a browser that would open anything."""
    monkeypatch.setenv(SECRET, "sk-of-the-bank")
    monkeypatch.setenv("GEMINI_API_KEY", "sk-gemini")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(webbrowser, "open", lambda page: True)
    # it would serve until somebody ends it; its pages of mailed runs have tests of their own
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: None)
    monkeypatch.chdir(tmp_path)


def end_of(*words: str | Path) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture
def attack(
    bait: Bait, record_property: Callable[[str, object], None]
) -> Iterator[Attack]:
    """Runs a command while the bait is watched: its exit code; all attacks are counted."""
    tried = survived = 0

    def attack(*words: str | Path) -> int:
        nonlocal tried, survived
        tried += 1
        with bait.watching() as touches:
            code = end_of(*words)
        assert not touches, words
        assert code in (0, 1, 2), words
        survived += 1
        return code

    yield attack
    record_property("tried", tried)
    record_property("survived", survived)


@cache
def commands() -> list[tuple[list[str], Any]]:
    """Every command with its words, those of packages too."""
    return list(_commands())


def _commands() -> Iterator[tuple[list[str], Any]]:
    yield from _leaves(typer.main.get_command(app), [])
    for entry in REGISTRY.of_kind("command"):
        loaded = REGISTRY.load(entry)
        brought = (
            typer.main.get_command(loaded)
            if isinstance(loaded, typer.Typer)
            else loaded
        )
        yield from _leaves(brought, entry.name.split())


def _leaves(command: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from _leaves(inner, [*words, name])
    if not getattr(command, "commands", None):
        yield words, command


def paths_of(words: list[str], command: Any) -> list[Any]:
    """The parameters by which something may arrive."""
    paths = [parameter for parameter in command.params if "Path" in str(parameter.type)]
    return [p for p in paths if not {p.name, f"{' '.join(words)} {p.name}"} & WRITES]


READERS = [
    (words, parameter)
    for words, command in commands()
    for parameter in paths_of(words, command)
]


def line_of(words: list[str], parameter: Any, arrival: Path, out: Path) -> list[str]:
    """The command on what arrived; it writes into `out`."""
    command = next(found for name, found in commands() if name == words)
    line = [*words, *NEEDS.get(words[0], [])]
    others = [p for p in command.params if p.required and p is not parameter]
    for other in others:
        if other.param_type_name == "argument":
            line.append(str(arrival))
        elif other.name == "out":
            line += ["--out", str(out)]
    given = [str(arrival)] * (2 if words == ["compare"] else 1)
    line += (
        given
        if parameter.param_type_name == "argument"
        else [parameter.opts[0], *given]
    )
    has_out = any(p.name == "out" and not p.required for p in command.params)
    return [*line, "--out", str(out)] if has_out and words != ["demo"] else line


def some_of(traps: list[Trap], words: list[str]) -> list[Trap]:
    """A few, others for each command, so that all commands together meet them all."""
    first = [name for name, _ in READERS].index(words) * FEW % len(traps)
    return [*traps[first:], *traps[:first]][:FEW]


def takes_addresses(option: Any) -> bool:
    """True if an option is marked so, or takes an address as it is."""
    if risks.Names.host() in option.metadata:
        return True
    names_file = any(isinstance(mark, risks.NamesFile) for mark in option.metadata)
    return names_file and "_is_address" in str(option.annotation)


# ------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(
    "entry",
    [entry for entry in REGISTRY.entries if entry.kind != "command"],
    ids=lambda entry: f"{entry.kind}-{entry.name}",
)
def test_every_option_says_what_it_can_do(entry: Any) -> None:
    for name, option in REGISTRY.load(entry).Options.model_fields.items():
        assert UNDECLARED not in risks_of(option), name


SECRETS = [
    "https://user:secret@data.example/photos",
    "https://data.example/photos?sig=secret",
    "https://data.example/photos#secret",
]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (entry, name)
        for entry in REGISTRY.entries
        if entry.kind != "command"
        for name, option in REGISTRY.load(entry).Options.model_fields.items()
        if takes_addresses(option)
    ],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_no_option_takes_an_address_with_a_secret(entry: Any, name: str) -> None:
    """Nor as an odd path: it would stand in the report and on the page."""
    plugin = REGISTRY.load(entry)
    for secret in SECRETS:
        many = "tuple" in str(plugin.Options.model_fields[name].annotation)
        options = {
            field: FILLER
            for field, option in plugin.Options.model_fields.items()
            if option.is_required()
        }
        options[name] = (secret,) if many else secret
        # of an executor, whose options stand in one text, `=` begins another option
        line = "expected an address alone|has no option"
        with pytest.raises(UserError, match=line) as refused:
            validate(entry, plugin, Spec.parse(entry.name), options)
        assert "secret" not in str(refused.value)


def test_addresses_are_taken_by_more_than_one_kind() -> None:
    names = {
        (entry.name, name)
        for entry in REGISTRY.entries
        if entry.kind != "command"
        for name, option in REGISTRY.load(entry).Options.model_fields.items()
        if takes_addresses(option)
    }
    assert names >= {
        *(("folder", name) for name in ("path", "manifest", "roots")),
        *(("openai", "base_url"), ("webhook", "url"), ("chat", "url")),
    }


def test_no_number_of_a_sender_asks_for_work_without_an_end(tmp_path: Path) -> None:
    source = Source("the run", tmp_path)
    refused = 0
    for entry in REGISTRY.of_kind("method"):
        options = REGISTRY.load(entry).Options
        if any(field.is_required() for field in options.model_fields.values()):
            continue
        for name, field in options.model_fields.items():
            usual = field.get_default(call_default_factory=True)
            if type(usual) is not int or usual <= 0:
                continue
            source.check("x", options.model_construct(**{name: 1000 * usual}))
            with pytest.raises(UserError, match=f"x: {name} in the run"):
                source.check("x", options.model_construct(**{name: 10**400}))
            refused += 1
    assert refused > 25


def test_no_small_part_and_no_list_of_a_sender_asks_for_work_without_an_end(
    tmp_path: Path,
) -> None:
    """Draws are as many as the inverse of a level, and questions as many as a list is long."""
    source = Source("the run", tmp_path)
    refused = dict.fromkeys((float, tuple), 0)
    for entry in (e for kind in ("method", "tool") for e in REGISTRY.of_kind(kind)):
        options = REGISTRY.load(entry).Options
        if any(field.is_required() for field in options.model_fields.values()):
            continue
        for name, field in options.model_fields.items():
            usual = field.get_default(call_default_factory=True)
            if type(usual) is float and usual > 0:
                modest, wild = usual / 1000, usual / 10**9
            elif "tuple[str, ...]" in str(field.annotation):
                modest, wild = ("a",) * 1000, ("a",) * 10**6
                # its own risks are of what its texts name
                if any(type(risk) is not Words for risk in risks_of(field)):
                    continue
            else:
                continue
            source.check("x", options.model_construct(**{name: modest}))
            with pytest.raises(UserError, match=f"x: {name} in the run"):
                source.check("x", options.model_construct(**{name: wild}))
            refused[type(wild)] += 1
    assert refused[float] > 30
    assert refused[tuple] > 1


def test_no_option_of_a_run_file_takes_a_risk(
    traps: list[Trap], bait: Bait, tmp_path: Path
) -> None:
    """Each trap by itself: the option that holds it is what is refused, and no other."""
    source = Source("the run file", tmp_path, frozenset({FILLER}))
    context = Context(registry=REGISTRY, source=source, planning=True)
    taken: list[str] = []
    unfit: list[str] = []
    with bait.watching() as touches:
        for trap in traps:
            try:
                context.build(trap.entry.kind, trap.entry.name, trap.options)
            except (UserError, PlanStopped) as error:
                if f": {trap.option} in the run file" in str(error):
                    continue
                unfit.append(f"{trap}: {error}")
            else:
                taken.append(str(trap))
    assert not touches
    assert not taken
    # values that the option's own type refuses, before anybody asks where they come from
    assert all("typed on the command line" not in line for line in unfit), unfit
    assert len(unfit) < len(traps) / 10, unfit
    assert len(traps) > 200


def test_a_run_file_is_refused_by_the_command(
    traps: list[Trap], attack: Attack, tmp_path: Path, made: Path
) -> None:
    chosen = traps if WHOLE else traps[:FEW]
    for number, trap in enumerate(chosen):
        file = run_file(tmp_path / str(number), trap)
        assert attack("run", file, "-q") in (1, 2), trap


@pytest.mark.parametrize(
    ("words", "parameter"),
    READERS,
    ids=lambda part: getattr(
        part, "name", " ".join(part) if isinstance(part, list) else ""
    ),
)
def test_a_run_that_was_mailed(
    words: list[str],
    parameter: Any,
    traps: list[Trap],
    attack: Attack,
    tmp_path: Path,
    made: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command that takes a path, with runs whose stamps have traps.

    None repeats the command that the stranger wrote, for people copy what is printed.
    """
    chosen = traps if WHOLE else some_of(traps, words)
    for number, trap in enumerate(chosen):
        seal = SEALS[number % len(SEALS)]
        mail = mailed_run(made, tmp_path / f"mail-{number}", trap, seal)
        line = line_of(words, parameter, mail, tmp_path / f"out-{number}")
        attack(*line)
        said = capsys.readouterr()
        assert "; touch" not in said.out + said.err


@pytest.mark.parametrize("command", ["confirm", "mitigate"])
def test_what_is_typed_anew_brings_no_trap_along(
    command: str, traps: list[Trap], attack: Attack, tmp_path: Path, made: Path
) -> None:
    """Model and data of the person, the rest of the stranger: what asks for more is refused."""
    of_rest = [trap for trap in traps if trap.entry.kind in ("method", "tool")]
    for number, trap in enumerate(of_rest if WHOLE else of_rest[:FEW]):
        mail = mailed_run(made, tmp_path / f"mail-{number}", trap, "resealed")
        line = [command, mail, *NEEDS.get(command, []), *TYPED, "--plan", "-q"]
        assert attack(*line, "--out", tmp_path / f"out-{number}") == 2, trap


@pytest.mark.parametrize(
    ("words", "parameter"),
    READERS,
    ids=lambda part: getattr(
        part, "name", " ".join(part) if isinstance(part, list) else ""
    ),
)
def test_other_arrivals(
    words: list[str],
    parameter: Any,
    attack: Attack,
    bait: Bait,
    tmp_path: Path,
    made: Path,
) -> None:
    """A cache without an end, a mitigated folder, data, a pipe, a link, in every place."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    link = tmp_path / "link"
    link.symlink_to(bait.folder / "photos")
    arrivals = {
        "cache": endless_cache(tmp_path / "cache-mail"),
        "caches": tmp_path / "cache-mail",
        "mitigated": mitigated_folder(tmp_path / "mitigated", bait),
        "data": data_folder(tmp_path / "data", bait),
        "pipe": fifo,
    }
    for name, arrival in arrivals.items():
        line = line_of(words, parameter, arrival, tmp_path / f"out-{name}")
        attack(*line)


@pytest.mark.parametrize(
    "words",
    [["audit", "trove"], ["investigate"], ["methods"]],
    ids=lambda words: words[0],
)
def test_folders_that_a_person_names(
    words: list[str], attack: Attack, bait: Bait, tmp_path: Path
) -> None:
    """What lies in them is a stranger's all the same."""
    data = data_folder(tmp_path / "data", bait)
    mitigated = mitigated_folder(tmp_path / "mitigated", bait)
    for typed in (
        ["--data", f"folder:{data}"],
        ["--data", f"folder:{data / 'manifest.csv'}"],
        ["--data", "moving-shapes", "-O", f"model.mitigated={mitigated}"],
    ):
        plan = [] if words == ["methods"] else ["--plan"]
        attack(
            *words,
            "--model",
            "toy:moving-shapes:none",
            "-O",
            "model.epochs=1",
            *typed,
            *plan,
        )


def test_the_bait_is_felt(bait: Bait) -> None:
    """Else nothing above would tell anything."""
    import socket
    import subprocess

    with bait.watching() as touches:
        (bait.folder / "secret.txt").read_text()
        with socket.socket() as client:
            client.connect_ex(("127.0.0.1", 9))
        subprocess.run(["true"], check=True)
    kinds = {touch.split()[0] for touch in touches}
    assert kinds >= {"open", "socket.connect", "subprocess.Popen"}


def test_typed_by_a_person_the_traps_are_taken(traps: list[Trap], bait: Bait) -> None:
    """The same values without a source: files are read, so the rule is what kept them closed."""
    context = Context(registry=REGISTRY)
    with bait.watching() as touches:
        for trap in traps:
            if trap.kind == "NamesFile" and trap.entry.kind in ("model", "dataset"):
                with suppress(Exception):
                    context.build(trap.entry.kind, trap.entry.name, trap.options)
    assert len(touches) > 10


def test_a_guard_is_opened_anew_for_each_command(
    bait: Bait, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even of a run that was made here; what it read and called may be read and called again."""
    guarded = next(
        trap
        for trap in traps_of(REGISTRY, ("model",), bait)
        if trap.entry.name == "openai" and trap.option == "insecure"
    )
    mail = mailed_run(made, tmp_path / "own", guarded, "old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(made.parent / "cache"))
        RunFolder(mail).save(_unsealed(mail), {}, own=True)
        assert source_of(mail).typed_before
        with bait.watching() as touches:
            feature = _unsealed(mail).features[0].key
            assert end_of("confirm", mail, "--feature", feature, "--plan", "-q") == 2
        assert not touches
    assert "--allow insecure" in capsys.readouterr().err


def _unsealed(run: Path) -> Report:
    content = json.loads((run / "report.json").read_text())
    return Report.model_validate(
        {**content, "seal": None, "signature": None, "files": {}}
    )


def test_the_traps_take_every_risk(traps: list[Trap]) -> None:
    kinds = {trap.kind for trap in traps}
    assert kinds == {"NeedsAllow", "NamesFile"}
