"""Damage, kills, tampering: each is survived without a wrong answer."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cuescope.cli import main
from cuescope_core.errors import UserError
from cuescope_core.runs import load_report
from cuescope_core.store import CacheFile, ResponseCache
from cuescope_core.types import Response
from cuescope_sdk._text_cache import TextCache

if TYPE_CHECKING:
    from .conftest import Tries

WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))
COMMAND = [sys.executable, "-c", "from cuescope.cli import main; main()"]
# One audit of each kind, as small as it still asks in several batches.
AUDITS = {
    "trove": "trove --model toy --data moving-shapes:background --limit 120",
    "cci": "cci --model toy-clip --data scenes:0.98 --limit 24",
    "saliency": "saliency:grad-eclip --model toy-clip --data scenes:0.98 --limit 24",
    # five groups of 38 questions, the fewest that it takes
    "quag": "quag --model toy-fusion -O model.epochs=2 --data clavi:moving-shapes --limit 190",
    "spurlens": "spurlens --model toy-fusion:object-scenes:presence -O model.patches=4 "
    "-O model.epochs=1 "
    "--data object-scenes -O data.val=120 -O k=20 "
    "--tool proposer=co-occurrence --tool detector=annotations",
    "step-grounding": "step-grounding --model scripted -O model.grounding=0.6 "
    "--data shape-world -O data.val=6",
}
QUICK = "step-grounding"  # the kind that `make test` kills
KILLED = [
    kind if kind == QUICK else pytest.param(kind, marks=pytest.mark.long)
    for kind in AUDITS
]


# ------------------------------------------------------------------------------- damaged caches


def responses() -> dict[str, Response]:
    """Two hundred answers whose digits tell which one they are."""
    rng = np.random.default_rng(0)
    return {
        f"{i:032x}": Response(
            np.array([i, i / 3], np.float32), f"answer {i}", rng.normal(size=512)
        )
        for i in range(200)
    }


def texts() -> dict[str, str]:
    """Two hundred texts, some longer than a page of the file."""
    return {f"{i:032x}": f"text {i} " * (1 + 40 * (i % 50)) for i in range(200)}


STORES: dict[str, tuple[type[Any], Callable[[], dict[str, Any]]]] = {
    "responses": (ResponseCache, responses),
    "texts": (TextCache, texts),
}


def damaged(content: bytes, number: int) -> bytes:
    """One bit flipped, half of them in the first pages; every fifth file cut off."""
    rng, data = random.Random(number), bytearray(content)
    if number % 5 == 4:
        del data[rng.randrange(len(data)) :]
    else:
        last = len(data) if number % 2 else min(len(data), 3 * 8192)
        data[rng.randrange(last)] ^= 1 << rng.randrange(8)
    return bytes(data)


@pytest.mark.parametrize("store", STORES)
def test_a_damaged_cache_gives_no_wrong_answer_and_blocks_nothing(
    store: str, tries: "Tries", tmp_path: Path
) -> None:
    cls, make = STORES[store]
    kept, path = make(), tmp_path / "cache.sqlite"
    with_content: CacheFile = cls(path)
    with_content.put(kept)  # type: ignore[attr-defined]
    rows = with_content.read(kept)
    with_content.close()
    content = path.read_bytes()
    for number in tries(few=10, many=500):
        copy = tmp_path / str(number) / path.name
        copy.parent.mkdir()
        copy.write_bytes(damaged(content, number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cache: CacheFile = cls(copy)
            assert cache.read(kept).items() <= rows.items()
            cache.write(rows)
            cache.repair()
            cache.write(rows)
            assert cache.read(kept) == rows
            cache.close()


# --------------------------------------------------------------------------------------- kills


def run(
    folder: Path,
    line: str,
    *,
    kill_after: float | None = None,
    home: Path | None = None,
) -> str | None:
    """The hash of a command's reports below its folder, or its output; None where it was killed."""
    env = dict(os.environ, CUESCOPE_CACHE=str(folder / "cache"), OMP_NUM_THREADS="1")
    process = subprocess.Popen(
        [*COMMAND, *line.split()],
        env=env,
        cwd=home or folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        output, said = process.communicate(timeout=kill_after or 600)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return None
    assert process.returncode == 0, said.decode()
    reports = sorted(folder.glob("run*/**/report.json"))
    return " ".join(load_report(file).hash for file in reports) or output.decode()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the toys stand trained, by audit."""
    return tmp_path_factory.mktemp("trained")


def killed_and_resumed(
    line: str, name: str, trained: Path, folder: Path, tries: "Tries"
) -> None:
    """The same hash after kills at random moments, however far the audit was."""
    home = trained / name
    home.mkdir()
    since = time.monotonic()
    whole = run(home, line)
    taken = time.monotonic() - since
    for file in home.rglob("responses.sqlite*"):
        file.unlink()
    rng = random.Random(name)
    for number in tries(few=1, many=20):
        place = folder / str(number)
        copytree(home / "cache", place / "cache")
        for _ in range(2 if WHOLE else 1):
            run(place, line, kill_after=rng.uniform(0.2, 1.0) * taken)
        assert run(place, line) == whole


@pytest.mark.long
@pytest.mark.parametrize("method", KILLED)
def test_a_killed_audit_ends_with_the_same_report(
    method: str, tries: "Tries", trained: Path, tmp_path: Path
) -> None:
    killed_and_resumed(
        f"audit {AUDITS[method]} --out run", method, trained, tmp_path, tries
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "line", ["confirm found --with blank", "mitigate found --with last-layer"]
)
def test_a_killed_command_on_a_run_ends_with_the_same_report(
    line: str, tries: "Tries", tmp_path: Path
) -> None:
    fakes = "from cuescope_testing import FakeDataset, FakeModel"
    (tmp_path / "fakes.py").write_text(fakes)
    about = "--model ./fakes.py:FakeModel --data ./fakes.py:FakeDataset"
    run(tmp_path, f"audit trove {about} --out found")
    for number in tries(few=2, many=21):
        place = tmp_path / str(number)
        copytree(tmp_path / "cache", place / "cache")
        told = partial(run, place, f"{line} --out {place / 'run'}", home=tmp_path)
        if number == 0:
            since = time.monotonic()
            whole = told()
            taken = time.monotonic() - since
            continue
        told(kill_after=random.Random(number).uniform(0.2, 1.0) * taken)
        assert told() == whole


@pytest.mark.long
def test_a_killed_bench_ends_with_the_same_tables(
    tries: "Tries", tmp_path: Path
) -> None:
    line = "dev bench quag --alphas 0.1 --seeds 1 --workers 1 --json"
    since = time.monotonic()
    whole = run(tmp_path / "cache", line, home=tmp_path)
    taken = time.monotonic() - since
    rng = random.Random(0)
    for number in tries(few=1, many=20):
        # five kills one after the other, then the end
        place = tmp_path / str(number // 5)
        run(place, line, kill_after=rng.uniform(0.1, 0.6) * taken, home=tmp_path)
        if not WHOLE or number % 5 == 4:
            assert run(place, line, home=tmp_path) == whole


@pytest.mark.long
def test_a_killed_merge_of_caches_takes_over_the_rest(
    tries: "Tries", tmp_path: Path
) -> None:
    answers = {
        f"{number:032x}": Response(
            np.array([number, 1], np.float32), f"answer {number}"
        )
        for number in range(20_000)
    }
    theirs = tmp_path / "theirs" / "responses.sqlite"
    with closing(ResponseCache(theirs)) as cache:
        cache.put(answers)
    line = f"cache merge {theirs.parent}"
    since = time.monotonic()
    run(tmp_path / "whole", line, home=tmp_path)
    taken = time.monotonic() - since
    rng = random.Random(0)
    for number in tries(few=2, many=20):
        place = tmp_path / str(number)
        run(place, line, kill_after=rng.uniform(0.3, 1.0) * taken, home=tmp_path)
        run(place, line, home=tmp_path)
        with closing(ResponseCache(place / "cache" / "responses.sqlite")) as cache:
            kept = cache.get(answers)
        assert {key: kept[key].text for key in kept} == {
            key: answer.text for key, answer in answers.items()
        }


@pytest.mark.long
def test_a_killed_matrix_ends_with_the_same_reports(
    tries: "Tries", trained: Path, tmp_path: Path
) -> None:
    file = tmp_path / "runs.yaml"
    data = (
        "[{use: shape-world, options: {val: 4}}, {use: shape-world, options: {val: 5}}]"
    )
    file.write_text(f"methods: [step-grounding]\nmodels: [scripted]\ndata: {data}\n")
    killed_and_resumed(f"run {file}", "matrix", trained, tmp_path, tries)


# ------------------------------------------------------------------------------ changed reports


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a JSON document."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        if isinstance(value, (dict, list)) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def test_a_changed_report_is_refused(
    tries: "Tries", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value of a report in turn; the whole run takes more of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SystemExit, match="0"):
        main(f"audit {AUDITS['step-grounding']} --out run -q".split())
    file = tmp_path / "run" / "report.json"
    true = file.read_text()
    places = list(leaves(json.loads(true)))
    random.Random(0).shuffle(places)
    for number in tries(few=8, many=300):
        content = json.loads(true)
        *path, last = places[number % len(places)]
        part = content
        for key in path:
            part = part[key]
        part[last] = "other" if isinstance(part[last], str) else "0.123"
        file.write_text(json.dumps(content))
        with pytest.raises(
            UserError, match=r"was changed after it was written|is no report"
        ):
            load_report(tmp_path / "run", sealed=True)
