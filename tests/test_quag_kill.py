"""`kill -9` in the middle of `audit quag`: the same command goes on, and ends as if undisturbed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree

import pytest

from cuescope_core.runs import load_report
from cuescope_sdk import Report

BATCH = 128  # frames: some twenty clips
AUDIT = (
    "audit quag --model toy-fusion -O model.epochs=2 --data moving-shapes:none "
    "-O data.questions=both "
    "-O data.train=120 -O data.val=60 -O data.test=60 -O captures=0 -O quag_attention=[] "
    "--device cpu "
    f"--batch-size {BATCH}"
).split()

# The command line, where each batch is written down before it is answered.
LOGGED = """
import os, time
from cuescope.cli import main
from cuescope_toy.fusion import ToyFusion

respond = ToyFusion.respond

def logged(model, trials):
    with open(os.environ["ASKED"], "a") as log:
        log.write(f"{len(trials)}\\n")
    time.sleep(0.05)
    return respond(model, trials)

ToyFusion.respond = logged
main()
"""


def start(folder: Path) -> "subprocess.Popen[bytes]":
    """The audit in a process of its own, with the cache and the run in `folder`."""
    folder.mkdir(exist_ok=True)
    env = {
        **os.environ,
        "CUESCOPE_CACHE": str(folder / "cache"),
        "ASKED": str(folder / "asked"),
    }
    words = [sys.executable, "-c", LOGGED, *AUDIT, "--out", str(folder / "run")]
    return subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finish(folder: Path) -> Report:
    """The report of an audit that is let go on to its end."""
    process = start(folder)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return load_report(folder / "run")


def batches(folder: Path) -> list[int]:
    """Trials in each batch so far."""
    log = folder / "asked"
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def kill(folder: Path, after: int) -> None:
    """Kill the audit when it has asked `after` batches."""
    process, deadline = start(folder), time.monotonic() + 60
    while len(batches(folder)) < after and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL, stderr


@pytest.mark.long  # in `make test` the core's own audits are killed
def test_killed_and_the_same_report(tmp_path: Path) -> None:
    whole = finish(tmp_path / "whole")
    disturbed = tmp_path / "disturbed"
    copytree(
        tmp_path / "whole" / "cache" / "toy-fusion", disturbed / "cache" / "toy-fusion"
    )
    kill(disturbed, after=10)
    assert not (disturbed / "run" / "report.json").exists()
    answered = sum(batches(disturbed)[:9])
    report = finish(disturbed)
    assert report.hash == whole.hash
    assert report.cost.cache_hits >= answered
    once = sum(batches(tmp_path / "whole"))
    # the batch in flight
    assert sum(batches(disturbed)) - once <= max(batches(disturbed))
