"""Strangers' text, files and signals: nothing that they say is obeyed, and nothing hangs."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import yaml

from cuescope_core.conclusions import Evidence, Report, Table
from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_core.plain_yaml import load_yaml
from cuescope_core.printable import printable, printable_json
from cuescope_core.registry import Registry
from cuescope_core.runs import RunFolder, load_report
from cuescope_core.trust.source import Source

from ...conftest import Line, Shell
from ...engine.tests.reports import make_report
from ...engine.tests.stubs import RUN_MAIN

HOSTILE = (
    "\x1b]0;owned\x07\x1b]8;;http://x\x1b\\a\x1b[2J\x9b2J\u202ecat [dog] [/] :smile:\r"
)
OBEYED = ("\x1b]", "\x1b[2J", "\x9b", "\u202e", "\x07", "\x1b\\")
AUDIT = ("audit", "red", "--model", "colour", "--data", "clips")


def hostile_report() -> Report:
    """A report whose every text field comes from an attacker."""
    report = make_report()
    origin = report.provenance
    stamp = origin.data.model_copy(
        update={"spec": f"x:{HOSTILE}", "facts": {HOSTILE: HOSTILE}}
    )
    hostile = {"notes": {HOSTILE: HOSTILE}}
    features = [
        f.model_copy(update={"name": f"{i} {HOSTILE}"})
        for i, f in enumerate(report.features)
    ]
    scores = [
        s.model_copy(update={"statement": HOSTILE, "label": HOSTILE})
        for s in report.scores
    ]
    metrics = [
        m.model_copy(update={"title": HOSTILE, "meaning": HOSTILE})
        for m in report.metrics
    ]
    return report.model_copy(
        update={
            **hostile,
            "features": tuple(features),
            "scores": tuple(scores),
            "metrics": tuple(metrics),
            "evidence": (Evidence(check=HOSTILE, verdict="supported", detail=HOSTILE),),
            "tables": (
                Table(title=HOSTILE, columns=("a", HOSTILE), rows=({"a": HOSTILE},)),
            ),
            "provenance": origin.model_copy(
                update={
                    "data": stamp,
                    "model": stamp,
                    "labels": (HOSTILE,),
                    "command": HOSTILE,
                }
            ),
        }
    )


def in_terminal(*words: str | Path, shell: Shell) -> str:
    """What a command writes to a terminal of its own."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_MAIN, *map(str, words)],
        env={**shell.env, "TERM": "xterm-256color"},
        cwd=shell.folder,
        stdout=writer,
        stderr=writer,
    )
    os.close(writer)
    written = b""
    while True:
        try:
            chunk = os.read(reader, 65536)
        except OSError:  # Linux ends a terminal so
            break
        if not chunk:
            break
        written += chunk
    os.close(reader)
    process.wait(timeout=30)
    return written.decode()


RUN = "the run"


@pytest.mark.parametrize(
    "words",
    [
        ("show", RUN),
        pytest.param(("compare", RUN, RUN), marks=pytest.mark.long),
        pytest.param(("show", RUN, "--json"), marks=pytest.mark.long),
        ("audit", HOSTILE, "--model", "a", "--data", "b"),
    ],
    ids=lambda words: words[0],
)
def test_a_terminal_obeys_nothing_of_a_report(
    shell: Shell, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = RunFolder(tmp_path / f"run-{HOSTILE.replace('/', '')}")
    folder.save(hostile_report(), {})
    given = [str(folder.path) if word == RUN else word for word in words]
    shown = in_terminal(*given, shell=shell)
    assert not [sign for sign in OBEYED if sign in shown]
    assert "owned" in shown


def test_labels_are_no_markup(line: Line, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.save(hostile_report(), {})
    assert "[dog]" in line("compare", folder.path, folder.path)
    assert ":smile:" in line("show", folder.path)


def test_json_stays_the_same_json() -> None:
    assert (
        json.loads(printable_json(json.dumps(HOSTILE, ensure_ascii=False))) == HOSTILE
    )
    assert printable("a\tb\nc é 😀 क्ष") == "a\tb\\nc é 😀 क्ष"


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored["scores"][0].update(value=0.123),
        lambda stored: stored["provenance"].update(command="rm -rf ~"),
        lambda stored: stored["evidence"].clear(),
        lambda stored: stored["cost"].update(model_calls=0),
        lambda stored: stored.pop("seal"),
    ],
)
def test_a_changed_report_is_made_again(
    line: Line, tmp_path: Path, change: object
) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text("methods: [red]\nmodels: [colour]\ndata: [clips:24]\n")
    line("run", file)
    (stored,) = (tmp_path / "runs").glob("*/report.json")
    true = stored.read_text()
    content = json.loads(true)
    change(content)  # type: ignore[operator]
    stored.write_text(json.dumps(content))
    if "seal" in content:
        assert "was changed after it was written" in line("show", stored, code=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        line("run", file)
    assert (
        load_report(stored, sealed=True).scores
        == Report.model_validate_json(true).scores
    )


def test_a_run_file_sends_no_key_unasked(line: Line, tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    start = "methods: [red]\ndata: [clips:8]\nmodels: [{use: colour, options: {"
    file.write_text(start + "key_env: COLOUR_KEY}}]\n")
    assert "--allow COLOUR_KEY" in line("run", file, code=2)
    line("run", file, "--allow", "COLOUR_KEY")
    file.write_text(start + "key_env: AWS_SECRET_ACCESS_KEY}}]\n")
    refused = line("run", file, code=2)
    assert (
        f"key_env in the run file {file}: expected it typed on the command line"
        in refused
    )
    assert "--allow AWS_SECRET_ACCESS_KEY" in refused
    line("run", file, "--allow", "AWS_SECRET_ACCESS_KEY")
    file.write_text(
        start + "base_url: 'https://evil.example/v1', key_env: COLOUR_KEY}}]\n"
    )
    assert "--allow https://evil.example/v1" in line("run", file, code=2)
    line(*AUDIT, "-O", "model.key_env=AWS_SECRET_ACCESS_KEY")


def test_a_run_file_lets_no_code_of_strangers_run(line: Line, tmp_path: Path) -> None:
    file = tmp_path / "runs.yaml"
    model = "{use: colour, options: {trust_remote_code: true}}"
    file.write_text(f"methods: [red]\ndata: [clips:8]\nmodels: [{model}]\n")
    assert f"trust_remote_code in the run file {file}" in line("run", file, code=2)
    line("run", file, "--allow", "trust_remote_code")
    line(*AUDIT, "-O", "model.trust_remote_code=true")


def test_what_a_tool_builds_is_held_to_the_same(
    registry: Registry, tmp_path: Path
) -> None:
    """Plugins build helpers of their own, with options that came from the run file too."""
    context = Context(registry=registry, source=Source("the run file a.yaml", tmp_path))
    with pytest.raises(UserError, match="key_env in the run file"):
        context.build("model", "colour", {"key_env": "SECRET"})


def test_yaml_with_aliases_is_refused() -> None:
    """A few lines of them stand for any number of values."""
    for text in ("a: &x [1, 2]\nb: *x", "&a [*a]"):
        with pytest.raises(yaml.YAMLError, match="write their values out"):
            load_yaml(text)
    assert load_yaml("c: {<<: {d: 1}}") == {"c": {"d": 1}}


MANY = "more than 100,000 values"
# None of these may take the memory or the hours that it is made to take.
LARGE_YAML = {
    "larger than 4 MB": ["#" * 10**8, "a: " + "x" * 10**7, "- a\n" * 2_000_000],
    MANY: [
        "- a\n" * 900_000,
        "[" + "a," * 1_500_000 + "]",
        "? a\n" * 200_000,
    ],
    "nested too deeply": ["[" * 10_000, "- " * 10_000, "{a: " * 10_000, "? " * 10_000],
    "a number of": [
        f"a: {'1' * 200_000}",
        "a: 1" + ":1" * 200_000,
        f"a: 0x{'f' * 200_000}",
    ],
    "cannot be read": [
        "a: 2000-13-45",
        "!!int x",
        "!!float ''",
        "!!timestamp x",
        "!!bool x",
    ],
    "could not determine a constructor": [
        "!<" + "a" * 10**6 + "> b",
        "!!python/object:a.b {}",
    ],
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(number, why, marks=pytest.mark.long if slow else ())
        for why, texts in LARGE_YAML.items()
        for number, text in enumerate(texts)
        # counted as mappings are, which are read in half of the time
        for slow in [why == MANY and (number > 0 or not text.startswith("?"))]
    ],
)
def test_no_yaml_takes_long_or_ends_in_a_traceback(number: int, expected: str) -> None:
    text = LARGE_YAML[expected][number]
    with pytest.raises(yaml.YAMLError, match=expected) as caught:
        load_yaml(text)
    assert len(str(caught.value)) < 1000


def test_a_run_file_without_end_is_one_line(line: Line, tmp_path: Path) -> None:
    assert "got a pipe or a device" in line("run", "/dev/zero", code=2)
    (tmp_path / "large.yaml").write_bytes(b"# 100 MB\n" * 12_000_000)
    assert "large.yaml is too large: expected at most 4,000,000 bytes" in line(
        "run", "large.yaml", code=2
    )


def test_who_reads_one_line_only_is_no_failure(shell: Shell) -> None:
    words = " ".join(AUDIT)
    done = subprocess.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-c",
            f"{sys.executable} -c '{RUN_MAIN}' {words} | head -1",
        ],
        env=shell.env,
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


STUCK = """
import threading, time
from cuescope import cli
class Slow(threading.Thread):
    def run(self): time.sleep(60)
def app(*words, **more):
    Slow().start()
    print("ready", flush=True)
    time.sleep(60)
cli.parser_of = lambda commands: app
cli.main(["x"])
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_at_once_whatever_threads_wait(number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert (
        "stopped; answers so far are kept, the same command goes on from there" in err
    )


STOPPED_LINE = "stopped; answers so far are kept, the same command goes on from there"


QUICK = (0,)  # milliseconds at which `make test` stops it
LATER = sorted({*range(0, 40, 4), *range(40, 240, 20)} - {*QUICK})


@pytest.mark.parametrize(
    "milliseconds",
    [*QUICK, *(pytest.param(each, marks=pytest.mark.long) for each in LATER)],
)
def test_a_stop_about_the_end_is_one_line_or_nothing(
    shell: Shell, milliseconds: int
) -> None:
    """Just after the report is printed: all is done, or it says that it was stopped."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", RUN_MAIN, *AUDIT],
        env=shell.env,
        cwd=shell.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "Next" not in (said := process.stdout.readline()):
        assert said
    time.sleep(milliseconds / 1000)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) in [(0, ""), (130, f"cuescope: {STOPPED_LINE}\n")]


# The work is done, or deletes an object, or is at its very end, as the signal comes.
STOPPED_LATE = {
    "in a finaliser": "class A:\n    def __del__(self): stop(); time.sleep(0.1)\n"
    "def app(*a, **k):\n    A()\n    time.sleep(20)",
    "as an error is raised": "def app(*a, **k):\n    try:\n        stop(); time.sleep(1)\n"
    "    except BaseException:\n        raise ValueError('broken')",
    "twice": "def app(*a, **k):\n    try:\n        stop(); time.sleep(1)\n"
    "    finally:\n        stop(); time.sleep(0.1)",
    "at exit": "import atexit\ndef app(*a, **k):\n    atexit.register(stop)",
    "in a thread that is waited for": "import threading\ndef app(*a, **k):\n"
    "    threading.Thread(target=lambda: (time.sleep(0.2), stop(), time.sleep(0.2))).start()",
    "as the last object goes": "class A:\n    def __del__(self, stop=stop): stop()\n"
    "def app(*a, **k):\n    sys.kept = A()",
}


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        # the handler is the same: one moment shows that it is
        pytest.param(
            number,
            moment,
            marks=pytest.mark.long
            if number == signal.SIGTERM and moment != "at exit"
            else (),
        )
        for number in (signal.SIGINT, signal.SIGTERM)
        for moment in STOPPED_LATE
    ],
)
def test_a_stop_at_any_moment_is_one_line_or_nothing(number: int, moment: str) -> None:
    program = (
        "import os, sys, time\nfrom cuescope import cli\n"
        f"def stop(kill=os.kill, pid=os.getpid()): kill(pid, {int(number)})\n"
        f"{STOPPED_LATE[moment]}\ncli.parser_of = lambda commands: app\n"
        "sys.argv = ['cuescope', 'x']\ncli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    stopped = (128 + number, f"cuescope: {STOPPED_LINE}\n")
    assert (done.returncode, done.stderr) in [(0, ""), stopped]


def test_an_error_of_a_file_is_one_line_of_some_length(
    line: Line, tmp_path: Path
) -> None:
    long = "n" * 100_000
    for words in (
        ("show", long),
        ("show", "--page", long),
        ("list", long),
        ("export", long),
    ):
        said = line(*words, code=2)
        assert "a name of 100,000 letters" in said
        assert len(said) < 3000
    for option in ("--seed", "--limit", "--batch-size", "--repeats"):
        said = line(*AUDIT, option, "9" * 100_000, code=2)
        assert f"{option}: expected a whole number" in said
        assert len(said) < 3000


@pytest.mark.long
def test_damaged_caches_are_repaired(shell: Shell, tmp_path: Path) -> None:
    assert "nothing in" in shell("cache", "repair")
    shell(*AUDIT)
    assert "rows, all sound" in shell("cache", "repair")
    (tmp_path / "cache" / "responses.sqlite").write_bytes(b"no database" * 1000)
    assert "responses.sqlite: 0 rows" in (said := shell("cache", "repair"))
    assert "delete it when you do not need it" in said


def test_an_unknown_file_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[1]")
    with pytest.raises(UserError, match="is no report"):
        load_report(tmp_path)
