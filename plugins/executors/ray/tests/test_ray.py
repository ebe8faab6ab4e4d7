"""Ray's actors hold what an executor promises."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuescope_ray import Ray, RayOptions
from cuescope_ray.cluster import room
from cuescope_sdk import Context, UserError
from cuescope_sdk.workers import Setup
from cuescope_testing import ExecutorContract

# Ray's own processes are not waited for
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.skipif(
    not importlib.util.find_spec("ray"), reason="needs Ray: pip install ray"
)
class TestContract(ExecutorContract):
    plugin = Ray
    options = {"where": "2"}


def refusal(**options: Any) -> str:
    with pytest.raises(UserError) as caught:
        Context(device="cpu").build("executor", "ray", options).pool()
    return str(caught.value)


def test_what_cannot_be_is_told_in_one_line() -> None:
    assert "ray:127.0.0.1:9 does not answer: got" in refusal(where="127.0.0.1:9")
    assert "expected a number of workers, auto, or HOST:PORT" in refusal(
        where="cluster"
    )
    assert "expected a number of workers" in refusal(where="9" * 5000)
    assert "ARG,option=value, each once: 'fast' does not fit" in refusal(where="2,fast")


# The addresses on which a local Ray and its workers listen, as Linux writes them.
LISTENERS = """
import os, time
from cuescope_ray.cluster import connect

def children():
    of_parent = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            of_parent.setdefault(parent, []).append(name)
    found, left = [], [str(os.getpid())]
    while left:
        found.append(left.pop())
        left += of_parent.get(found[-1], [])
    return found

def sockets(process):
    for number in os.listdir(f"/proc/{process}/fd"):
        try:
            yield os.readlink(f"/proc/{process}/fd/{number}")
        except OSError:
            pass

connect(None, 2, 60)
import ray
from ray._private import ray_constants

@ray.remote
class Worker:
    def ready(self):
        return 1

worker = Worker.remote()
assert ray.get(worker.ready.remote()) == 1
time.sleep(1)
ours = {socket for process in children() for socket in sockets(process)}
for table in ("tcp", "tcp6"):
    for line in open(f"/proc/net/{table}").read().splitlines()[1:]:
        cells = line.split()
        if cells[3] == "0A" and f"socket:[{cells[9]}]" in ours:
            print(cells[1].partition(":")[0])
ray.shutdown()
assert ray_constants.ENABLE_RAY_CLUSTER  # a cluster may be joined later
assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in os.environ
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", f"{'0' * 24}01000000"}


@pytest.mark.long
@pytest.mark.skipif(
    not importlib.util.find_spec("ray"), reason="needs Ray: pip install ray"
)
@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="needs Linux: reads /proc/net"
)
def test_a_local_ray_listens_to_this_machine_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LISTENERS],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    addresses = done.stdout.split()
    assert len(addresses) > 3
    assert set(addresses) <= LOOPBACK


def test_options_follow_the_place() -> None:
    options = RayOptions(where="auto,workers=8,num_gpus=0.5")
    assert (options.address, options.workers, options.num_gpus) == ("auto", 8, 0.5)
    assert RayOptions(where="3").address is None


def test_room_is_counted_machine_by_machine() -> None:
    class Cluster:
        def nodes(self) -> list[dict[str, Any]]:
            sizes = [(True, 8.0, 2.0), (True, 3.0, 0.0), (False, 99.0, 9.0)]
            return [
                {"Alive": up, "Resources": {"CPU": c, "GPU": g}} for up, c, g in sizes
            ]

    assert room(Cluster(), {"CPU": 2, "GPU": 0}) == 4 + 1
    assert room(Cluster(), {"CPU": 1, "GPU": 0.5}) == 4


def test_plugins_that_are_edited_in_place_are_among_the_versions() -> None:
    assert Setup.elsewhere(b"").versions["cuescope_ray"][0] == "cuescope-ray"
