"""Does a SpurLens audit ask each question once, with faults, kills and Ctrl-C?

PYTHONPATH=tests python benchmarks/spurlens_calls.py

A server on loopback counts what it is asked and what it answers. The audit runs in a process of its
own: undisturbed, with faults, killed at three places, stopped by Ctrl-C at three places. It goes on
each time. Each way must give the same report. What is under way when a process ends may be answered
twice, no more than `concurrency` each time; without an end nothing may.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from chat_server import ChatServer
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_sdk import StoredRun, digest, generator

PHOTOS, CONCURRENCY, EACH = 240, 8, 41  # every so many requests something goes wrong
PROGRAM = "from cuescope.cli import main; main()"


@dataclass(frozen=True)
class Count:
    """What the server saw of an audit that ran to its end."""

    requests: int
    answered: int
    distinct: int
    ends: int
    report: str
    calls: int

    @property
    def twice(self) -> int:
        """Answers that were given more than once."""
        return self.answered - self.distinct


def write_birds(folder: Path) -> Path:
    """Photos of noise in the layout of Waterbirds."""
    rows = ["img_id,img_filename,y,split,place"]
    for index in range(PHOTOS):
        name = f"001.Gull/{index:04d}.png"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = generator(0, name).integers(0, 255, (24, 24, 3))
        Image.fromarray(pixels.astype(np.uint8)).save(folder / name)
        rows.append(f"{index},{name},{index % 2},2,{index // 2 % 2}")
    (folder / "metadata.csv").write_text("\n".join(rows))
    return folder


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Yes or no, always the same to the same."""
    return {
        "message": {
            "content": "Yes." if int(digest(body["messages"])[:4], 16) % 3 else "No."
        }
    }


def add_faults(server: ChatServer) -> None:
    """Every so many requests a status, a broken answer or a cut connection."""
    faults = (
        lambda: server.fail(
            429, {"error": {"message": "slow down"}}, Retry_After="0.05"
        ),
        lambda: server.fail(500, "<html>oh</html>"),
        lambda: server.fail(200, '{"choices": [{"mess'),
        server.cut,
    )
    numbers = count(1)

    def brain(body: dict[str, Any]) -> dict[str, Any]:
        if (number := next(numbers)) % EACH == 0:
            faults[number // EACH % len(faults)]()
        return answer(body)

    server.brain = brain


def audit(server: ChatServer, birds: Path, folder: Path) -> "subprocess.Popen[bytes]":
    words = [
        "audit",
        "spurlens",
        "--model",
        "openai:tiny-vision",
        "--data",
        f"waterbirds:{birds}",
    ]
    words += [
        "-O",
        "data.split=test",
        "--tool",
        "proposer=known",
        "--tool",
        "detector=known",
    ]
    words += ["-O", "k=50", "-O", "draws=200", "-O", "discover=1", "--device", "cpu"]
    words += ["-O", f"model.concurrency={CONCURRENCY}", "-O", "model.backoff=0.01"]
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": server.url,
        "CUESCOPE_CACHE": str(folder / "cache"),
    }
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words, "--out", str(folder / "run")],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def watch(server: ChatServer, birds: Path, ends: Sequence[int], number: int) -> Count:
    """Run it to its end, with a signal once so many answers were given."""
    with tempfile.TemporaryDirectory() as place:
        for answered in ends:
            process = audit(server, birds, Path(place))
            while len(server.paid) < answered and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(number)
            process.communicate()
        process = audit(server, birds, Path(place))
        _, said = process.communicate()
        if process.returncode:
            raise SystemExit(said.decode())
        report = StoredRun(Path(place) / "run").report
    distinct = len({digest(body["messages"]) for body in server.paid})
    return Count(
        len(server.asked),
        len(server.paid),
        distinct,
        len(ends),
        report.hash,
        report.cost.model_calls,
    )


def main() -> int:
    """The table; 1 where a question was answered twice that must not have been."""
    rows: dict[str, Count] = {}
    ways = {
        "undisturbed": ((), signal.SIGKILL),
        "faults": ((), signal.SIGKILL),
        "kill -9, three times": ((60, 200, 350), signal.SIGKILL),
        "Ctrl-C, three times": ((60, 200, 350), signal.SIGINT),
    }
    with tempfile.TemporaryDirectory() as place, ChatServer.running() as server:
        birds = write_birds(Path(place))
        for name, (ends, number) in ways.items():
            server.reset()
            server.brain = answer
            if name == "faults":
                add_faults(server)
            rows[name] = watch(server, birds, ends, number)
    table = Table(title="SpurLens: what a server is asked")
    columns = (
        "",
        "model calls",
        "requests",
        "answers",
        "distinct questions",
        "answered twice",
        "same report",
    )
    for column in columns:
        table.add_column(column)
    for name, seen in rows.items():
        same = "yes" if seen.report == rows["undisturbed"].report else "no"
        cells = (
            seen.calls,
            seen.requests,
            seen.answered,
            seen.distinct,
            seen.twice,
            same,
        )
        table.add_row(name, *map(str, cells))
    Console().print(table)
    wrong = [
        name
        for name, seen in rows.items()
        if seen.twice > CONCURRENCY * seen.ends
        or (not seen.ends and seen.calls != seen.distinct)
        or seen.report != rows["undisturbed"].report
        or seen.distinct != rows["undisturbed"].distinct
    ]
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
