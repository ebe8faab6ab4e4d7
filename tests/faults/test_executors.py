"""Workers and drivers of executors are killed at random moments: answers are stored once."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Tries

WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))
TESTS = Path(__file__).parents[1]
WORKERS, BATCH = 2, 4
AUDIT = (
    "audit step-grounding --model scripted -O model.grounding=0.6 "
    "--data shape-world -O data.val=2"
)
EXECUTORS = [f"processes:{WORKERS}"]
if WHOLE:
    EXECUTORS.append(f"ray:{WORKERS}")  # a Ray takes seconds to start


def start(executor: str, folder: Path, batches: int) -> "subprocess.Popen[bytes]":
    """A driver that asks so many batches by way of an executor."""
    folder.mkdir(exist_ok=True)
    code = "import sys, logged_batches; logged_batches.main(*sys.argv[1:])"
    words = [sys.executable, "-c", code, executor, str(folder), str(batches)]
    env = os.environ | {"PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"}
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(words, env=env, stdout=said, stderr=said)


def asked(folder: Path) -> list[tuple[int, str]]:
    """Process and first sample of each batch that was asked so far."""
    log = folder / "asked"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(line.split()[0]), line.split()[1]) for line in lines]


def wait_for(folder: Path, count: int, driver: "subprocess.Popen[bytes]") -> None:
    """Until so many batches were asked, and a random moment more."""
    until = time.monotonic() + 120
    while (
        len(asked(folder)) < count
        and driver.poll() is None
        and time.monotonic() < until
    ):
        time.sleep(0.002)
    time.sleep(random.Random(count).uniform(0, 0.1))


def stored(folder: Path) -> int:
    """Rows of answers; a key is in the table once."""
    with closing(sqlite3.connect(folder / "responses.sqlite")) as connection:
        query = "SELECT count(*) FROM rows WHERE key LIKE 'logged-m-%'"  # not the model's pace
        number: int = connection.execute(query).fetchone()[0]
    return number


def finished(driver: "subprocess.Popen[bytes]", folder: Path) -> None:
    assert driver.wait(240) == 0, (folder / "said").read_text()[-2000:]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_killed_worker_costs_its_batch(
    executor: str, tries: "Tries", tmp_path: Path
) -> None:
    batches = 200 if WHOLE else 40
    driver, moments = start(executor, tmp_path, batches), random.Random(executor)
    for number in tries(few=1, many=10):
        wait_for(tmp_path, 2 + 14 * number, driver)
        alive = sorted({pid for pid, _ in asked(tmp_path)[-4:]})
        for pid in moments.sample(alive, len(alive)):
            try:
                os.kill(pid, signal.SIGKILL)
                break
            except ProcessLookupError:
                continue
    finished(driver, tmp_path)
    again = len(asked(tmp_path)) - batches
    assert stored(tmp_path) == batches * BATCH
    assert again <= (10 if WHOLE else 2)
    print(f"{executor}: {again} batches asked again")


@pytest.mark.long
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_killed_driver_costs_what_its_workers_had(
    executor: str, tries: "Tries", tmp_path: Path
) -> None:
    batches, kills = 120 if WHOLE else 30, 0
    for number in tries(few=1, many=5):
        driver = start(executor, tmp_path, batches)
        wait_for(tmp_path, 6 + 15 * number, driver)
        driver.kill()
        driver.wait()
        kills += 1
        rows = stored(tmp_path)
        assert rows % BATCH == 0
        time.sleep(0.5)  # a worker that goes on would ask more by now
        # a worker begins a batch when its last answer is stored
        assert len(asked(tmp_path)) - rows // BATCH <= WORKERS * kills
    driver = start(executor, tmp_path, batches)
    finished(driver, tmp_path)
    assert stored(tmp_path) == batches * BATCH
    print(
        f"{executor}: {len(asked(tmp_path)) - batches} batches asked again, {kills} kills"
    )


@pytest.mark.long
def test_the_report_is_the_same_wherever_the_model_answers(
    tries: "Tries", tmp_path: Path
) -> None:
    hashes = set()
    executors = ["", "processes:2", *(["processes:1", "ray:2"] if WHOLE else [])]
    for number in tries(few=2, many=4):
        where = ["--executor", executors[number]] if executors[number] else []
        words = [*AUDIT.split(), "--batch-size", "4", *where, "--no-cache", "--quiet"]
        code = "from cuescope.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "--out", str(tmp_path / str(number))],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        hashes |= {
            line.split()[1]
            for line in done.stdout.splitlines()
            if line[:7] == "report "
        }
    assert len(hashes) == 1


@pytest.mark.long  # a cluster takes half a minute to start
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_audit_outlives_a_machine(
    tries: "Tries", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines of a Ray cluster, faked on this one; one of them goes while both answer."""
    cluster_utils = pytest.importorskip(
        "ray.cluster_utils", reason="needs Ray: pip install ray"
    )
    batches = 60
    # both machines have the model's module
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    memory = {"object_store_memory": 100 * 2**20, "num_cpus": 1}
    head = memory | {"include_dashboard": False}
    for _ in tries(few=0, many=1):
        cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        try:
            second = cluster.add_node(**memory)
            driver = start(f"ray:{cluster.address},workers=2", tmp_path, batches)
            until = time.monotonic() + 240
            while driver.poll() is None and time.monotonic() < until:
                if len({pid for pid, _ in asked(tmp_path)}) == 2:
                    break
                time.sleep(0.01)
            assert driver.poll() is None, (tmp_path / "said").read_text()[-2000:]
            assert len({pid for pid, _ in asked(tmp_path)}) == 2
            cluster.remove_node(second, allow_graceful=False)
            finished(driver, tmp_path)
            assert stored(tmp_path) == batches * BATCH
            assert len(asked(tmp_path)) - batches <= 2
        finally:
            cluster.shutdown()
