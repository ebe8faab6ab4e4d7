"""Budgets of a command, over its processes and audits; answers shared by two commands."""

import json
import os
import platform
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer

from cuescope_openai.memory import Claims
from cuescope_openai.options import OpenAIWriterOptions
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import Context, UserError

PROMPTS = [f"prompt {number}" for number in range(40)]


def options(server: ChatServer, **given: Any) -> OpenAIWriterOptions:
    return OpenAIWriterOptions(
        **{"model": "tiny", "base_url": server.url, "backoff": 0.01, **given}
    )


def ask(options: OpenAIWriterOptions, context: Context, prompts: list[str]) -> None:
    """What a worker does: its share of the questions, until the budget is spent."""
    with suppress(UserError):
        OpenAIWriter(options, context).generate(prompts)


def in_workers(
    options: OpenAIWriterOptions, context: Context, count: int
) -> list[SpawnProcess]:
    """The questions dealt to processes."""
    spawn = get_context("spawn")
    workers = [
        spawn.Process(target=ask, args=(options, context, PROMPTS[number::count]))
        for number in range(count)
    ]
    for worker in workers:
        worker.start()
    return workers


def test_audits_of_one_command_share_its_budget(
    server: ChatServer, tmp_path: Path
) -> None:
    context = Context(cache=tmp_path)
    for start in (0, 20):
        ask(options(server, max_calls=25), context, PROMPTS[start : start + 20])
    assert len(server.asked) == 25
    ask(options(server, max_calls=25), Context(cache=tmp_path), PROMPTS)
    assert len(server.asked) == 40


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 4])
def test_workers_share_the_budget_of_their_command(
    server: ChatServer, tmp_path: Path, count: int
) -> None:
    workers = in_workers(options(server, max_calls=12), Context(cache=tmp_path), count)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * count
    assert len(server.asked) == 12


@pytest.mark.long
def test_a_killed_worker_gives_nothing_back(server: ChatServer, tmp_path: Path) -> None:
    server.delay = 0.05
    context = Context(cache=tmp_path)
    given = options(server, max_calls=12, concurrency=2)
    workers = in_workers(given, context, 2)
    while len(server.asked) < 3:
        time.sleep(0.01)
    os.kill(workers[0].pid or 0, signal.SIGKILL)
    for worker in workers:
        worker.join()
    ask(given, context, PROMPTS)
    assert 12 - 2 <= len(server.asked) <= 12


def test_two_commands_pay_once_for_each_question(
    server: ChatServer, tmp_path: Path
) -> None:
    server.delay = 0.02
    answers = []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            tool = OpenAIWriter(options(server), Context(cache=tmp_path))
            answers.append(pool.submit(tool.generate, PROMPTS))
    assert answers[0].result() == answers[1].result()
    assert len(server.asked) == len(PROMPTS)


def test_a_claim_ends_with_its_process_and_by_itself(tmp_path: Path) -> None:
    claims, others = (Claims(tmp_path / "claims.sqlite") for _ in range(2))
    assert claims.take("a", 60)
    assert not others.take("a", 60)
    claims.release("a")
    assert others.take("a", 0.01)
    time.sleep(0.02)
    assert claims.take("a", 60)
    # what has ended was another's by then
    others.release("a")
    assert not others.take("a", 60)
    for forged in (b"no", b"[1, 2]", b'["x", "y", "z"]', b'["elsewhere", 1, 1e300]'):
        claims._rows("UPDATE rows SET value = ?", [forged])
        assert others.take("a", 60)
        others.release("a")
        claims._rows(
            "INSERT INTO rows VALUES ('a', ?, '')",
            [forged],
        )
    dead = get_context("spawn").Process(target=print)
    dead.start()
    dead.join()
    claim = json.dumps([platform.node(), dead.pid, time.time() + 60]).encode()
    claims._rows("UPDATE rows SET value = ?", [claim])
    assert others.take("a", 60)
