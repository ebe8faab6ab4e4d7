"""`kill -9` at any moment: the same command goes on, and repeats only the batch in flight."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuescope_core.runs import load_report

from ...conftest import Shell
from ...engine.tests.stubs import RUN_MAIN

BATCH, CLIPS = 4, 60
AUDIT = (
    "audit",
    "red",
    "--model",
    "colour",
    "--data",
    f"clips:{CLIPS}",
    "--batch-size",
    "4",
)
# a clip of two frames and the same held still are three of the four inputs of a batch
CALLS = CLIPS


def calls(log: Path) -> list[str]:
    """What the model was asked, batch after batch."""
    return log.read_text().splitlines() if log.exists() else []


def start(shell: Shell, log: Path, out: Path) -> "subprocess.Popen[bytes]":
    words = [
        *AUDIT,
        "-O",
        f"model.log={log}",
        "-O",
        "model.delay=0.02",
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        [sys.executable, "-c", RUN_MAIN, *words],
        env=shell.env,
        cwd=shell.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def kill_during(
    process: "subprocess.Popen[bytes]", log: Path, after: int, pause: float
) -> None:
    """SIGKILL once the model was called `after` times, and a pause later."""
    deadline = time.monotonic() + 60
    while (
        len(calls(log)) < after
        and process.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.002)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL, said


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.long)])
def test_kills_and_the_same_report(shell: Shell, tmp_path: Path, kills: int) -> None:
    dice = random.Random(0)
    shell.env["CUESCOPE_CACHE"] = str(tmp_path / "whole")
    shell(*AUDIT, "--out", tmp_path / "undisturbed")
    expected = load_report(tmp_path / "undisturbed").hash
    shell.env["CUESCOPE_CACHE"] = str(tmp_path / "killed")
    out, done = tmp_path / "run", 0
    logs = [tmp_path / f"log-{i}" for i in range(kills + 1)]
    moments = sorted(dice.sample(range(1, CALLS - kills), kills))
    for log, moment in zip(logs, moments, strict=False):
        process = start(shell, log, out)
        kill_during(
            process, log, after=max(1, moment - done), pause=dice.uniform(0, 0.02)
        )
        assert not (out / "report.json").exists()
        done += len(calls(log)) - 1
    process = start(shell, logs[-1], out)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert load_report(out).hash == expected
    for log in logs[:-1]:
        assert calls(log), "a kill came before the model was asked"
    seen: set[str] = set()
    for log in logs:
        asked = [trial for batch in calls(log) for trial in batch.split(",")]
        assert len(seen & set(asked)) <= BATCH
        seen |= set(asked)
    assert len(seen) == 2 * CLIPS


@pytest.mark.parametrize(
    "point", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))]
)
def test_a_kill_anywhere_even_before_the_first_answer(
    shell: Shell, tmp_path: Path, point: int
) -> None:
    log, out = tmp_path / "log", tmp_path / "run"
    process = start(shell, log, out)
    kill_during(process, log, after=point * CALLS // 3, pause=0)
    before = calls(log)
    shell(*AUDIT, "-O", f"model.log={log}", "--out", out)
    assert len(calls(log)) - CALLS <= 1
    repeated = [call for call in calls(log)[len(before) :] if call in before]
    assert repeated in ([], before[-1:])
