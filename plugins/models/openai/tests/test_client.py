"""Requests counted at a real server: faults, memory, budget."""

import signal
import threading
import time
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from cuescope_openai.memory import Memory
from cuescope_sdk import PlanStopped, UserError

Build = Callable[..., Any]
PROMPTS = [f"prompt {number}" for number in range(12)]
ECHOED = [f"You said: {prompt}" for prompt in PROMPTS]

FAULTS: dict[str, Callable[[Any], None]] = {
    "429": lambda server: server.fail(429, {"error": {"message": "slow down"}}),
    "500": lambda server: server.fail(500, "<html>oh</html>"),
    "503": lambda server: server.fail(503),
    "timeout": lambda server: server.stall(1.0),
    "cut connection": lambda server: server.cut(),
    "malformed JSON": lambda server: server.fail(200, '{"choices": [{"mess'),
    "empty choices": lambda server: server.fail(200, {"choices": []}),
    "a gateway's page": lambda server: server.fail(200, "<html>hello</html>"),
}


def test_a_plan_sends_nothing_and_ends_where_something_is_new(
    server: Any, writer: Build
) -> None:
    assert writer().generate(PROMPTS[:2]) == ECHOED[:2]
    assert writer(planning=True).generate(PROMPTS[:2]) == ECHOED[:2]
    with pytest.raises(PlanStopped, match="what tiny answers"):
        writer(planning=True).generate(PROMPTS[:3])
    assert len(server.asked) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_costs_one_more_request(
    server: Any, writer: Build, fault: str
) -> None:
    FAULTS[fault](server)
    assert writer(timeout=0.5, concurrency=1).generate(PROMPTS[:3]) == ECHOED[:3]
    assert len(server.asked) == 4
    assert sorted(server.answered) == PROMPTS[:3]


def test_all_faults_at_once_lose_nothing(server: Any, writer: Build) -> None:
    for fault in FAULTS.values():
        fault(server)
    assert writer(timeout=0.5, concurrency=4).generate(PROMPTS) == ECHOED
    assert len(server.asked) == len(PROMPTS) + len(FAULTS)
    assert sorted(server.answered) == sorted(PROMPTS)


def test_ctrl_c_keeps_the_answers_that_wait_to_be_stored(
    server: Any, writer: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More answers come than threads can store at once: those in the queue are paid for, too."""
    prompts, sent, put = (
        [f"prompt {number}" for number in range(40)],
        Event(),
        Memory.put,
    )

    def put_slowly(*given: Any) -> None:
        sent.wait(20)
        time.sleep(0.1)
        put(*given)

    def interrupt() -> None:
        count = -1
        # what is on its way would be asked again
        while count < max(9, len(server.answered)):
            count = len(server.answered)
            time.sleep(0.5)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        sent.set()

    monkeypatch.setattr(Memory, "put", put_slowly)
    thread = threading.Thread(target=interrupt)
    # a job may ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            writer(concurrency=40).generate(prompts)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    answered = list(server.answered)
    assert len(answered) > 8  # of which no more than six or so were being stored
    monkeypatch.setattr(Memory, "put", put)
    assert writer().generate(prompts) == [f"You said: {prompt}" for prompt in prompts]
    assert len(server.answered) == len(set(server.answered)) == len(prompts)


def test_retry_after_is_honoured(server: Any, writer: Build) -> None:
    server.fail(429, Retry_After="0.5")
    writer().generate(["hello"])
    assert 0.5 <= server.times[1] - server.times[0] < 2


@pytest.mark.parametrize("fault", ["500", "cut connection", "malformed JSON"])
def test_tries_are_bounded_and_what_came_is_kept(
    server: Any, writer: Build, fault: str
) -> None:
    writer().generate(PROMPTS[:2])
    for _ in range(3):
        FAULTS[fault](server)
    with pytest.raises(
        UserError, match=r"no answer from .* in 3 tries.*run the same command"
    ):
        writer(retries=2, concurrency=1).generate(PROMPTS[:3])
    assert len(server.asked) == 2 + 3
    assert writer().generate(PROMPTS[:3]) == ECHOED[:3]
    assert len(server.asked) == 2 + 3 + 1


def test_nothing_is_asked_twice(server: Any, writer: Build) -> None:
    tool = writer()
    assert tool.generate(["a", "b", "a"]) == [
        "You said: a",
        "You said: b",
        "You said: a",
    ]
    assert tool.generate(["b"]) == ["You said: b"]
    assert (
        writer(concurrency=1, timeout=3, max_calls=1).generate(["a", "b"])[1]
        == "You said: b"
    )
    assert sorted(server.answered) == ["a", "b"]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "tiny-vision"},
        {"temperature": 1.0},
        {"max_tokens": 5},
        {"max_tokens": None},
        {"system": "Be brief."},
        {"extra": {"seed": 1}},
    ],
)
def test_what_enters_an_answer_is_asked_anew(
    server: Any, writer: Build, other: dict[str, Any]
) -> None:
    plain, changed = writer(), writer(**other)
    plain.generate(["a"])
    changed.generate(["a"])
    assert len(server.asked) == 2
    assert server.asked[0] != server.asked[1]
    assert plain.fingerprint != changed.fingerprint
    assert (
        plain.fingerprint == writer(timeout=1, max_calls=3, concurrency=2).fingerprint
    )


def test_a_request_says_what_the_options_say(server: Any, writer: Build) -> None:
    writer(system="Be brief.", extra={"seed": 1}, temperature=None).generate(["a"])
    assert server.asked == [
        {
            "model": "tiny",
            "max_tokens": 512,
            "seed": 1,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "a"},
            ],
        }
    ]


def test_several_requests_are_under_way_together(server: Any, writer: Build) -> None:
    server.delay = 0.1
    writer(concurrency=3).generate(PROMPTS)
    assert server.busiest == 3


def test_max_calls_is_exact_and_the_next_run_goes_on(
    server: Any, writer: Build
) -> None:
    for run in (1, 2):
        with pytest.raises(
            UserError, match=r"max_calls=5 is spent.*run the same command"
        ):
            writer(max_calls=5).generate(PROMPTS)
        assert len(server.asked) == 5 * run
    assert writer(max_calls=5).generate(PROMPTS) == ECHOED
    assert sorted(server.answered) == sorted(PROMPTS)


def test_retries_count_as_calls(server: Any, writer: Build) -> None:
    for _ in range(3):
        server.fail(500)
    with pytest.raises(UserError, match="max_calls=2 is spent"):
        writer(max_calls=2).generate(["a"])
    assert len(server.asked) == 2


def test_the_first_lasting_fault_stops_the_rest(server: Any, writer: Build) -> None:
    server.delay = 0.05
    server.fail(400, {"error": {"message": "no such thing"}})
    with pytest.raises(UserError, match="status 400: no such thing"):
        writer(concurrency=2).generate(PROMPTS)
    assert len(server.asked) <= 4
    kept = len(server.answered)
    writer().generate(PROMPTS)
    assert sorted(server.answered) == sorted(PROMPTS)  # what was under way was kept
    assert kept >= 1


@pytest.mark.timeout(60)
def test_a_stopped_run_does_not_sit_out_its_retries(server: Any, writer: Build) -> None:
    server.fail(429, Retry_After="110")
    server.fail(400, {"error": {"message": "no such thing"}})
    with pytest.raises(UserError, match="no such thing"):
        writer(concurrency=2).generate(["a", "b"])


def test_facts_name_the_server_and_its_builds(server: Any, writer: Build) -> None:
    tool = writer()
    assert tool.facts == {"server": server.url}
    tool.generate(["a"])
    assert tool.facts == {"server": server.url, "server's builds": "fp_1"}


def test_a_broken_memory_is_set_aside(
    server: Any, writer: Build, tmp_path: Any
) -> None:
    (tmp_path / "openai").mkdir()
    (tmp_path / "openai" / "answers.sqlite").write_bytes(b"no database" * 1000)
    with pytest.warns(
        UserWarning, match=r"answers.sqlite was damaged .*is kept as answers.sqlite"
    ):
        tool = writer()
    assert tool.generate(["a"]) == ["You said: a"]


def test_a_server_with_many_builds_does_not_flood_the_facts(
    server: Any, writer: Build
) -> None:
    for number in range(15):
        choices = [{"message": {"content": "x"}}]
        server.fail(
            200, {"choices": choices, "system_fingerprint": f"{number:02}" * 500}
        )
    tool = writer()
    tool.generate([str(number) for number in range(15)])
    named = tool.facts["server's builds"]
    assert named.startswith("0000")
    assert named.endswith(" and 5 more")
    assert len(named) < 1100
