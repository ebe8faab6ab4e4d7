"""`kill -9` in the middle of a run: what had come is kept, and none of it is asked again."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROMPTS, ANSWERED = 30, 10
CONCURRENCY = 3

PROGRAM = """
import sys
from pathlib import Path
from cuescope_openai.options import OpenAIWriterOptions
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import Context

cache, url, prompts, concurrency = sys.argv[1:]
options = OpenAIWriterOptions(model="tiny", base_url=url, concurrency=int(concurrency), retries=0)
tool = OpenAIWriter(options, Context(cache=Path(cache)))
print(*tool.generate([f"prompt {number}" for number in range(int(prompts))]), sep="\\n")
"""


def started(server: Any, folder: Path) -> "subprocess.Popen[str]":
    """The same run in a process of its own."""
    given = [str(folder), server.url, str(PROMPTS), str(CONCURRENCY)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *given], stdout=subprocess.PIPE, text=True
    )


def wait_until(true: Callable[[], bool]) -> None:
    """Raise where it does not come true in a minute."""
    deadline = time.monotonic() + 60
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.005)


def test_a_killed_run_pays_for_no_answer_twice(server: Any, tmp_path: Path) -> None:
    server.most = ANSWERED
    first = started(server, tmp_path)
    # each thread has sent another request, so that what it had received before is stored
    wait_until(lambda: len(server.asked) == ANSWERED + CONCURRENCY)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=30)
    assert first.returncode == -signal.SIGKILL
    assert len(server.answered) == ANSWERED

    server.most = PROMPTS
    server.released.set()
    out, _ = started(server, tmp_path).communicate(timeout=60)
    assert out.splitlines() == [
        f"You said: prompt {number}" for number in range(PROMPTS)
    ]
    assert len(server.asked) == PROMPTS + CONCURRENCY  # those in flight are sent again
    assert sorted(server.answered) == sorted(
        f"prompt {number}" for number in range(PROMPTS)
    )
