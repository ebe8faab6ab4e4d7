"""`cuescope audit spurlens` against a server that fails, is cut off, and costs: nothing is lost.

Proposals and answers come from one scripted server, which counts what it is asked. The images are
a COCO tree of kitchens; the server sees a cup wherever there is a table.
"""

import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import count
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numpy as np
import pytest
from chat_server import ChatServer, prompt_of
from PIL import Image

from cuescope.cli import main
from cuescope_core.runs import load_report
from cuescope_sdk import Report, digest, generator

from .kitchens import DRAWN, NAMES, SIDE, write_kitchens

PROPOSALS = 8  # four for each class
CONCURRENCY, BATCH = 4, 16
WORDS = (
    "audit",
    "spurlens",
    "--model",
    "openai:tiny-vision",
    "--tool",
    "detector=annotations",
    "--tool",
    "proposer=llm:openai:tiny",
    "--batch-size",
    str(BATCH),
    "--device",
    "cpu",
)
OPTIONS = {
    "-O classes": "cup,clock",
    "-O negatives": "all",
    "-O k": "10",
    "-O draws": "200",
    "-O discover": "1",
    "-O model.concurrency": str(CONCURRENCY),
    "-O model.backoff": "0.01",
    "-O model.timeout": "3",
    "-O tool.proposer.generator_options": "{concurrency: 1, backoff: 0.01, timeout: 3}",
}


FAULTS: tuple[Callable[[ChatServer], None], ...] = (
    lambda server: server.fail(
        429, {"error": {"message": "slow down"}}, Retry_After="0.1"
    ),
    lambda server: server.fail(500, "<html>oh</html>"),
    lambda server: server.stall(4),  # longer than the timeout
    lambda server: server.cut(),
    lambda server: server.fail(200, '{"choices": [{"mess'),
)


def brain(body: dict[str, Any]) -> dict[str, Any]:
    """A list of names to words alone, yes or no to an image."""
    return {
        "message": {
            "content": seen(body) if is_shown(body) else "- " + "\n- ".join(NAMES)
        }
    }


def is_shown(body: dict[str, Any]) -> bool:
    return not isinstance(body["messages"][-1]["content"], str)


def picture_in(body: dict[str, Any]) -> bytes:
    """The file that is sent."""
    url: str = body["messages"][-1]["content"][0]["image_url"]["url"]
    return b64decode(url.partition(",")[2])


def pixels_of(file: bytes) -> bytes:
    return np.asarray(Image.open(BytesIO(file))).tobytes()


def seen(body: dict[str, Any]) -> str:
    """A cup where there is a table, a clock where there is a clock."""
    pixels = pixels_of(picture_in(body))
    rows = np.frombuffer(pixels, np.uint8).reshape(SIDE, -1).mean(axis=1) > 120
    here = {name for name, bright in zip(DRAWN, rows, strict=False) if bright}
    looked_for = "table" if re.search(r"\bcup\b", prompt_of(body)) else "clock"
    return "yes" if looked_for in here else "no"


def last_line(said: str) -> str:
    """The line of an end; what little data cannot show may stand before it, and how far it is."""
    *before, line = said.splitlines()
    expected = re.compile(r"cuescope: (warning: |\d+:\d\d (asking|reading|counting) )")
    assert all(map(expected.match, before)), said
    return line


class Place:
    """The command line, with a cache and a run in `folder`; to be stopped, in its own process."""

    def __init__(self, server: ChatServer, tree: Path, folder: Path) -> None:
        self.server, self.tree, self.folder = server, tree, folder

    def words(self, **changes: str) -> list[str]:
        words = [
            *WORDS,
            "--data",
            f"coco:{self.tree}",
            "--out",
            str(self.folder / "run"),
        ]
        for option, value in {**OPTIONS, **changes}.items():
            words += f"{option}={value}".split(" ", 1)
        return words

    @property
    def env(self) -> dict[str, str]:
        cache = str(self.folder / "cache")
        return {"OPENAI_BASE_URL": self.server.url, "CUESCOPE_CACHE": cache}

    def start(self) -> "subprocess.Popen[str]":
        program = [sys.executable, "-c", "from cuescope.cli import main; main()"]
        return subprocess.Popen(
            [*program, *self.words()],
            env={**os.environ, **self.env},
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def run(self, **changes: str) -> tuple[object, str]:
        """The exit code of an audit in this process, and what it said."""
        said = StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stderr(said):
            for name, value in self.env.items():
                patch.setenv(name, value)
            with redirect_stdout(StringIO()), pytest.raises(SystemExit) as ended:
                main(self.words(**changes))
        return ended.value.code or 0, said.getvalue()

    def report(self, **changes: str) -> Report:
        """Of an audit that goes on to its end."""
        code, said = self.run(**changes)
        assert code == 0, said
        return load_report(self.folder / "run")

    def line(self, **changes: str) -> str:
        """The one line of an audit that stops."""
        code, said = self.run(**changes)
        assert code == 2, said
        assert not (self.folder / "run" / "report.json").exists()
        return last_line(said)

    def stop(
        self, answered: int, under_way: int, number: signal.Signals
    ) -> tuple[int, str]:
        """Send a signal to an audit that has so many answers, and waits for others.

        Returns its exit code, and what it printed.
        """
        self.server.most = answered
        process = self.start()
        deadline = time.monotonic() + 60
        # a thread that sends another request has stored the answer before
        while (
            len(self.server.asked) < answered + under_way
            and time.monotonic() < deadline
        ):
            time.sleep(0.005)
        process.send_signal(number)
        _, printed = process.communicate(timeout=30)
        assert len(self.server.asked) == answered + under_way
        self.server.most = sys.maxsize
        self.server.released.set()
        return process.returncode, printed


@dataclass(frozen=True)
class Whole:
    """A report, all that was paid for it, and the pixels of the image that was asked about last."""

    report: Report
    paid: list[str]
    last: bytes


def paid(server: ChatServer) -> list[str]:
    """Every question that got its answer; twice where it was paid twice."""
    return sorted(digest(body["messages"]) for body in server.paid)


@pytest.fixture(scope="module")
def loopback() -> Iterator[ChatServer]:
    with ChatServer.running() as server:
        yield server


@pytest.fixture
def server(loopback: ChatServer) -> ChatServer:
    loopback.reset()
    loopback.brain = brain
    return loopback


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kitchens(tmp_path_factory.mktemp("kitchens"))


@pytest.fixture(scope="module")
def whole(
    loopback: ChatServer, tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> Whole:
    """An audit that nothing disturbs."""
    loopback.reset()
    loopback.brain = brain
    report = Place(loopback, tree, tmp_path_factory.mktemp("whole")).report()
    return Whole(report, paid(loopback), pixels_of(picture_in(loopback.paid[-1])))


@pytest.fixture
def place(server: ChatServer, whole: Whole, tree: Path, tmp_path: Path) -> Place:
    return Place(server, tree, tmp_path)


def test_proposals_and_answers_come_through_a_server(whole: Whole) -> None:
    found = {score.feature for score in whole.report.findings}
    assert found == {"hallucination/cup/table", "recognition/cup/table"}
    assert (
        len(whole.paid)
        == len(set(whole.paid))
        == PROPOSALS + whole.report.cost.model_calls
    )


def test_faults_lose_nothing_and_pay_nothing_twice(place: Place, whole: Whole) -> None:
    server, healthy = place.server, [True, False]

    def answered(body: dict[str, Any]) -> dict[str, Any]:
        """After the first proposal, and after the first answer, all goes wrong."""
        with suppress(ValueError):
            healthy.remove(is_shown(body))
            for fail in FAULTS:
                fail(server)
        return brain(body)

    server.brain = answered
    assert place.report().hash == whole.report.hash
    assert paid(server) == whole.paid
    assert len(server.asked) == len(whole.paid) + 2 * len(FAULTS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("answered", "under_way"),
    [
        pytest.param(3, 1, id="proposals", marks=pytest.mark.long),
        pytest.param(PROPOSALS + 5 * BATCH + 5, CONCURRENCY, id="answers"),
    ],
)
def test_killed_and_the_same_report(
    place: Place, whole: Whole, answered: int, under_way: int
) -> None:
    code, printed = place.stop(answered, under_way, signal.SIGKILL)
    assert code == -signal.SIGKILL, printed
    assert len(place.server.paid) == answered
    assert not (place.folder / "run" / "report.json").exists()
    assert place.report().hash == whole.report.hash
    assert paid(place.server) == whole.paid
    assert (
        len(place.server.asked)
        == len(whole.paid) + under_way
        <= len(whole.paid) + BATCH
    )


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.long)
        for number in (signal.SIGINT, signal.SIGTERM)
    ],
)
def test_stopped_while_it_waits_and_the_same_report(
    place: Place, whole: Whole, number: signal.Signals
) -> None:
    code, printed = place.stop(PROPOSALS + BATCH + 5, CONCURRENCY, number)
    assert code == 128 + number, printed
    line = last_line(printed)
    assert line.startswith("cuescope: stopped; answers so far are kept")
    assert place.report().hash == whole.report.hash
    assert paid(place.server) == whole.paid


@pytest.mark.long
def test_an_image_deleted_on_the_way(
    place: Place, whole: Whole, tmp_path: Path
) -> None:
    place.tree = copytree(place.tree, tmp_path / "coco")
    files = {
        pixels_of(file.read_bytes()): file for file in place.tree.glob("val2017/*.png")
    }
    victim = files[whole.last]
    kept, soon = victim.read_bytes(), PROPOSALS + 3 * BATCH + 5

    def answered(body: dict[str, Any]) -> dict[str, Any]:
        if len(place.server.paid) >= soon:
            victim.unlink(missing_ok=True)
        return brain(body)

    place.server.brain = answered
    assert f"{victim.name} can no longer be read" in place.line()
    assert soon < len(place.server.asked) < len(whole.paid)
    place.server.brain = brain
    victim.write_bytes(kept)
    assert place.report().hash == whole.report.hash
    assert paid(place.server) == whole.paid
    assert len(place.server.asked) == len(whole.paid)


@pytest.mark.parametrize(
    ("budget", "most", "sent"),
    [
        (
            {"-O tool.proposer.generator_options": "{concurrency: 1, max_calls: 3}"},
            3,
            3,
        ),
        pytest.param(
            {"-O model.max_calls": "100"}, 100, PROPOSALS + 100, marks=pytest.mark.long
        ),
    ],
    ids=["proposals", "answers"],
)
def test_a_budget_reached_on_the_way(
    place: Place, whole: Whole, budget: dict[str, str], most: int, sent: int
) -> None:
    assert f"the budget max_calls={most} is spent" in place.line(**budget)
    assert len(place.server.asked) == sent
    assert place.report().hash == whole.report.hash
    assert paid(place.server) == whole.paid
    assert len(place.server.asked) == len(whole.paid)


def test_what_cannot_be_compared_is_said(place: Place) -> None:
    def answered(body: dict[str, Any]) -> dict[str, Any]:
        said = "A clock is a device that tells the time, as you will surely know."
        if is_shown(body) or '"cup"' in prompt_of(body):
            return brain(body)
        return {"message": {"content": said if '"clock"' in prompt_of(body) else None}}

    place.server.brain = answered
    report = place.report(**{"-O k": "40", "-O classes": "cup,clock,tree"})
    too_few = (
        "13 that show it least; there are too few images for K = 40; fewer for cup"
    )
    assert too_few in report.notes["K"]
    nothing = "the proposer names nothing that could be a cue"
    assert [report.notes[f"left out: {label}"] for label in ("clock", "tree")] == [
        nothing
    ] * 2
    (words,) = [
        str(row["cues"]) for row in report.tables[-1].rows if row["class"] == "cup"
    ]
    assert "dragon: never detected (recognition)" in words
    assert {score.label for score in report.findings} == {"cup"}


@pytest.mark.long
def test_answers_drawn_by_chance_are_asked_several_times(place: Place) -> None:
    """One answer in five is wrong; the majority of five seldom is, and no answer is paid twice."""
    number = count()

    def hesitant(body: dict[str, Any]) -> dict[str, Any]:
        if not is_shown(body) or generator(next(number)).random() > 0.2:
            return brain(body)
        return {"message": {"content": {"yes": "no", "no": "yes"}[seen(body)]}}

    place.server.brain = hesitant
    assert "always gives the same answer" in place.line(**{"--repeats": "2"})
    chance = {"-O model.temperature": "1.0", "-O model.extra": "{seed: 7}"}
    once = place.report(**chance)
    asked = len(place.server.asked)
    rmtree(place.folder / "run")
    five = place.report(**chance, **{"--repeats": "5"})
    bodies = [body for body in place.server.asked[asked:] if is_shown(body)]
    assert len(bodies) == 4 * once.cost.trials, "the first of five was answered before"
    assert {body["seed"] for body in bodies} == {8, 9, 10, 11}
    assert "--repeats 5" in once.notes["answers drawn by chance"]
    said = five.notes["answers drawn by chance"]
    assert "--repeats 5" in five.provenance.command
    share = re.fullmatch(
        r"5 to a question; (\d+)% of them agree with the one that counts", said
    )
    assert share is not None
    assert 74 <= int(share[1]) <= 88
    asked = len(place.server.asked)
    assert place.report(**chance, **{"--repeats": "5"}).hash == five.hash
    assert len(place.server.asked) == asked


@pytest.mark.parametrize(
    ("option", "value", "asked"),
    [
        *(
            ("key_env", name, name)
            for name in ("AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "PATH")
        ),
        ("base_url", "https://127.0.0.1:1/v1", "https://127.0.0.1:1/v1"),
        # a vendor's server is asked about too: the plugin's own key is another vendor's
        ("base_url", "https://api.groq.com/v1", "https://api.groq.com/v1"),
    ],
)
def test_a_run_file_sends_a_key_to_its_vendor_alone(
    option: str,
    value: str,
    asked: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "runs.yaml"
    file.write_text(
        "methods: [trove]\ndata: [moving-shapes]\n"
        f"models: [{{use: 'openai:tiny', options: {{{option}: '{value}'}}}}]\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["run", str(file), "--out", str(tmp_path / "runs")])
    assert ended.value.code == 2
    refused = capsys.readouterr().err
    assert f"in the run file {file}: expected it typed on the command line" in refused
    assert refused.strip().endswith(f"--allow {asked}")
