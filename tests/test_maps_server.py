"""`cuescope audit maps` of a model behind a server: proved, planned, and nothing paid twice."""

import csv
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_server import ChatServer
from PIL import Image

from cuescope.cli import main
from cuescope_core.runs import load_report

SIDE, PATCH, PICTURES = 56, 14, 4
WORDS = ("audit", "maps", "--model", "openai:tiny-vision", "--device", "cpu")
BROKEN = 300  # answers after which the server is gone


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer.running() as server:
        server.brain = brain
        yield server


def brain(body: dict[str, Any]) -> dict[str, Any]:
    """Yes where the white patch is to be seen, wherever it is."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):  # the question alone
        return {"message": {"content": "no"}}
    url = content[0]["image_url"]["url"]
    image = Image.open(BytesIO(b64decode(url.partition(",")[2])))
    white = (np.asarray(image.convert("L")) > 240).mean() * SIDE**2 / PATCH**2
    return {"message": {"content": "yes" if 0.5 < white < 2 else "no"}}


@pytest.fixture
def words(tmp_path: Path, server: ChatServer, monkeypatch: Any) -> list[str]:
    """The command, on pictures of which every second has the patch."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rows = []
    for number in range(PICTURES):
        # grain: no two changed pictures are the same
        grain = np.random.default_rng(number).integers(90, 130, (SIDE, SIDE, 3))
        pixels = grain.astype(np.uint8)
        place = slice(PATCH * number, PATCH * (number + 1))
        if number % 2:
            pixels[place, place] = 255
        name = f"{number}.png"
        Image.fromarray(pixels).save(tmp_path / name)
        answer = "yes" if number % 2 else "no"
        rows.append((name, "Is there a patch?", "yes", "no", answer))
    with (tmp_path / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("image", "question", "a", "b", "answer"), *rows])
    options = {
        "model.base_url": server.url,
        "model.backoff": "0.01",
        "model.retries": "0",
        "data.options": "a,b",
        "data.images": ".",
        "budget": "130",
    }
    given = [
        word for key, value in options.items() for word in ("-O", f"{key}={value}")
    ]
    return [*WORDS, "--data", "questions:questions.csv", *given, "--out", "run"]


def run(words: list[str]) -> tuple[int, str]:
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said), pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0), said.getvalue()


def test_a_server_is_asked_once_though_it_goes_in_between(
    words: list[str], server: ChatServer
) -> None:
    _, plan = run([*words, "--plan"])
    good = server.brain

    def fragile(body: dict[str, Any]) -> dict[str, Any]:
        if len(server.paid) > BROKEN:
            raise ConnectionError
        return good(body)

    server.brain = fragile
    code, _ = run(words)
    assert code != 0
    server.brain = good
    code, said = run(words)
    assert code == 0, said
    asked = [json.dumps(body, sort_keys=True) for body in server.asked]
    again = len(asked) - len(set(asked))
    # those that were under way as it went are asked again, and no other
    assert again <= 64
    report = load_report(Path("run"))
    [most] = re.findall(r"model calls +at least \d+, at most ([\d,]+)", plan)
    planned = int(most.replace(",", ""))
    assert len(set(asked)) <= planned <= 1.25 * len(set(asked))
    assert report.contrasts
