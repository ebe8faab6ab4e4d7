"""Cues that a data set knows itself, from its files to the report, through the command line.

The upper half of a picture is bright with the object, the lower half with the cue. The server
answers by the object, and by the cue of one class.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from chat_server import ChatServer
from PIL import Image

from cuescope.cli import main
from cuescope_core.runs import load_report
from cuescope_sdk import Report, generator

Audited = Callable[..., Report]


def write_picture(path: Path, thing: bool, cue: bool) -> None:
    """The upper half is bright with the object, the lower half with the cue."""
    rng = generator(0, "picture", path.as_posix())
    pixels = rng.integers(0, 80, (16, 16, 3))
    pixels[:8] += 120 * thing
    pixels[8:] += 120 * cue
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(path.with_suffix(".png"))


def look(body: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the picture in a request shows the object, and the cue."""
    url: str = body["messages"][-1]["content"][0]["image_url"]["url"]
    pixels = np.asarray(Image.open(BytesIO(b64decode(url.partition(",")[2]))))
    return pixels[:8].mean() > 100, pixels[8:].mean() > 100


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer.running() as server:
        yield server


@pytest.fixture
def audited(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Audited:
    """The report of an audit with the tool `known` in both roles."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    server.reset()

    def run(*words: str, code: int = 0) -> Report:
        line = [
            "audit",
            "spurlens",
            "--model",
            "openai:tiny-vision",
            "--out",
            str(tmp_path / "run"),
        ]
        for role in ("proposer", "detector"):
            line += ["--tool", f"{role}=known"]
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    *line,
                    "-O",
                    "draws=300",
                    "-O",
                    "discover=1",
                    "--device",
                    "cpu",
                    *words,
                ]
            )
        assert ended.value.code == code
        return load_report(tmp_path / "run")

    return run


def test_spurious_imagenet_and_imagenet_in_one_audit(
    audited: Audited, server: ChatServer, tmp_path: Path
) -> None:
    """HR with the cue of a class and without, and PA beside (appendix L)."""
    classes = {94: "n01833805", 592: "n03492542"}
    for number, wnid in classes.items():
        folder = tmp_path / "images" / f"spurious_class_{number}_component_1"
        for index in range(30):
            write_picture(folder / f"{number}-{index}", False, number == 94)
            write_picture(
                tmp_path / "imagenet/train" / wnid / f"{index}", number == 94, False
            )

    def hummingbird_where_its_cue_is(body: dict[str, Any]) -> dict[str, Any]:
        thing, cue = look(body)
        asked = "hummingbird" in body["messages"][-1]["content"][-1]["text"]
        return {"message": {"content": "Yes." if asked and (thing or cue) else "No."}}

    server.brain = hummingbird_where_its_cue_is
    data = f"spurious-imagenet:{tmp_path / 'images'}"
    words = [
        "-O",
        f"data.images={tmp_path / 'imagenet'}",
        "-O",
        "data.beside=20",
        "-O",
        "k=20",
    ]
    report = audited("--data", data, *words, "-O", "negatives=all")
    assert [finding.feature for finding in report.findings] == [
        "hallucination/hummingbird/spurious feature of hummingbird"
    ]
    values = {
        score.metric: score.value
        for score in report.scores
        if score.label == "hummingbird"
    }
    assert values["hallucination_with"] == 1.0
    assert values["hallucination_without"] == 0.0
    assert (
        len(server.paid)
        == len({str(body) for body in server.paid})
        == report.cost.model_calls
    )


def test_waterbirds_by_their_backgrounds(
    audited: Audited, server: ChatServer, tmp_path: Path
) -> None:
    """The four groups of appendix H, from the data set's own answer sheet."""
    rows = ["img_id,img_filename,y,split,place"]
    for index in range(160):
        bird, place = index % 2, index // 2 % 2
        name = f"001.Gull/{index:04d}"
        write_picture(tmp_path / "birds" / name, bool(bird), bool(place))
        rows.append(f"{index},{name}.png,{bird},2,{place}")
    (tmp_path / "birds/metadata.csv").write_text("\n".join(rows))

    def by_the_water(body: dict[str, Any]) -> dict[str, Any]:
        return {"message": {"content": "Yes" if look(body)[1] else "No"}}

    server.brain = by_the_water
    report = audited(
        *(
            "--data",
            f"waterbirds:{tmp_path / 'birds'}",
            "-O",
            "data.split=test",
            "-O",
            "k=20",
        ),
        *(
            "-O",
            "classes=waterbird",
            "-O",
            "questions=Is it {object}? Answer yes or no.",
        ),
    )
    assert {finding.feature for finding in report.findings} == {
        "recognition/waterbird/water background",
        "hallucination/waterbird/water background",
    }


def test_long_answers_are_stored_once(
    audited: Audited, server: ChatServer, tmp_path: Path
) -> None:
    """By the plugin that paid for them; a second audit asks nothing, and says the same."""
    rows = ["img_id,img_filename,y,split,place"]
    for index in range(24):
        name = f"001.Gull/{index:04d}"
        write_picture(tmp_path / "birds" / name, index % 2 == 1, index // 2 % 2 == 1)
        rows.append(f"{index},{name}.png,{index % 2},2,{index // 2 % 2}")
    (tmp_path / "birds/metadata.csv").write_text("\n".join(rows))
    length = 200_000
    server.brain = lambda body: {
        "message": {"content": f"Yes. {'well ' * (length // 5)}"}
    }
    words = [
        "--data",
        f"waterbirds:{tmp_path / 'birds'}",
        "-O",
        "data.split=test",
        "-O",
        "k=6",
    ]
    words += ["-O", "classes=waterbird", "-O", "questions=Is it {object}?"]
    first = audited(*words)
    asked = len(server.paid)
    assert asked == first.cost.model_calls == 24
    stored = sum(
        file.stat().st_size
        for file in (tmp_path / "cache").rglob("*")
        if file.is_file()
    )
    assert asked * length < stored < 1.5 * asked * length
    rmtree(tmp_path / "run")
    assert audited(*words).hash == first.hash
    assert len(server.paid) == asked
