"""The door for agents: it reads runs, and runs what the person typed within the typed budget."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest

import cuescope
from cuescope_commands.agents import Door, server_of
from cuescope_sdk import UserError

READS = {"runs_here", "show", "report", "compare", "gate", "export", "explain"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a cache, a stored run, and a file that is nobody's business."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.yaml").write_text("secret")
    return tmp_path


def make_run() -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), dtype=np.uint8)

    def model(batch: Any) -> np.ndarray:
        return np.full((len(batch), 2), 0.5)

    cuescope.audit(
        "trove",
        model=cuescope.Classifier(model, embed="pixels"),
        data=(images, ["a", "b"] * 20),
        out="runs/first",
        progress=False,
    )


async def call(door: Door, tool: str, **given: Any) -> tuple[bool, str]:
    mcp = pytest.importorskip("mcp", reason="needs `pip install mcp`")
    async with mcp.Client(server_of(door)) as client:
        result = await client.call_tool(tool, given)
        text = "\n".join(part.text for part in result.content)
        return result.is_error, text


async def tools_of(door: Door) -> dict[str, bool]:
    mcp = pytest.importorskip("mcp", reason="needs `pip install mcp`")
    async with mcp.Client(server_of(door)) as client:
        listed = await client.list_tools()
        return {tool.name: tool.annotations.read_only_hint for tool in listed.tools}


def test_without_words_of_the_person_it_only_reads() -> None:
    assert asyncio.run(tools_of(Door(Path("runs")))) == dict.fromkeys(READS, True)
    planned = asyncio.run(tools_of(Door(Path("runs"), "m", "d")))
    assert set(planned) == READS | {"methods", "plan", "left"}
    running = asyncio.run(tools_of(Door(Path("runs"), "m", "d", 100)))
    assert {name for name, reads in running.items() if not reads} == {
        "audit",
        "confirm",
    }


def test_a_stored_run_is_shown_on_one_screen_and_as_json() -> None:
    make_run()
    door = Door(Path("runs"))
    failed, screen = asyncio.run(call(door, "show", run="first"))
    assert not failed
    assert "cue found" in screen.lower()
    failed, report = asyncio.run(call(door, "report", run="first"))
    assert not failed
    assert json.loads(report)["provenance"]["samples"] == 40
    assert door.runs_here() == ["first"]


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("show", {"run": "../secret.yaml"}, "not in the folder of the runs"),
        ("show", {"run": "other"}, "no run 'other'"),
        ("gate", {"policy": "/etc/passwd", "run": "first"}, "not in the folder"),
        ("audit", {"method": "trove"}, "expected at most 10"),
        ("audit", {"method": "./idea.py:Idea"}, "no method './idea.py:Idea'"),
        ("audit", {"method": "--out=x"}, "no method '--out=x'"),
        ("export", {"run": "../first"}, "not in the folder of the runs"),
    ],
)
def test_what_was_not_typed_is_refused_in_a_line(
    tool: str, given: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = json.dumps({"model_calls": 99, "until": None, "more": 0})
    monkeypatch.setattr(Door, "_cuescope", lambda *words, **more: plan)
    failed, line = asyncio.run(call(Door(Path("runs"), "m", "d", 10), tool, **given))
    assert failed
    assert words in line


def test_an_audit_is_of_the_typed_model_and_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    more: int | None = 10
    fails = False

    def cli(door: Door, *words: Any, codes: Any = None) -> str:
        asked.append([str(word) for word in words])
        if words[0] == "show":
            return "one screen"
        out = Path("runs", "trove", "report.json")
        if "--plan" in words:
            return json.dumps({"model_calls": 50, "until": "the answers", "more": more})
        if fails:
            raise UserError("it broke")
        out.parent.mkdir(parents=True)
        out.write_text("{}")
        return json.dumps({"cost": {"model_calls": 50}})

    monkeypatch.setattr(Door, "_cuescope", cli)
    door = Door(Path("runs"), "mine:weights", "folder:photos", 100)
    assert door.audit("trove") == "run: trove\none screen"
    about = ["audit", "trove", "--model", "mine:weights", "--data", "folder:photos"]
    assert asked[1] == [*about, "--out", "runs/trove", "--json"]
    assert door.left() == 50
    with pytest.raises(UserError, match="up to 60 model calls: expected at most 50"):
        door.audit("trove")
    more = None
    with pytest.raises(UserError, match="nobody knows how many model calls"):
        door.audit("trove")
    # what a command took before it failed may be spent
    more, fails = 0, True
    with pytest.raises(UserError, match="it broke"):
        door.audit("trove")
    assert door.left() == 0


def test_two_audits_at_once_share_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"model_calls": 60, "until": None, "more": 0, "cost": {"model_calls": 60}}

    def cli(door: Door, *words: Any, codes: Any = None) -> str:
        sleep(0.02)
        return json.dumps(plan)

    monkeypatch.setattr(Door, "_cuescope", cli)
    door = Door(Path("runs"), "mine:weights", "folder:photos", 100)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(door.audit, "trove") for _ in range(4)]
    assert sum(each.exception() is not None for each in asked) >= 3
    assert door.spent == 60


@pytest.mark.long
def test_an_agent_does_ten_tasks_within_the_budget(here: Path) -> None:
    """Find, plan, confirm, compare, gate, export, explain: by the tools alone."""
    pytest.importorskip("mcp", reason="needs `pip install mcp`")
    (here / "fakes.py").write_text(
        "from cuescope_testing import FakeDataset, FakeModel"
    )
    (here / "runs").mkdir()
    policy = "rules: [{rule: cues-cost-at-most, points: 5}]"
    (here / "runs" / "policy.yaml").write_text(policy)
    before = files_of(here)
    budget = 10_000
    door = Door(Path("runs"), "./fakes.py:FakeModel", "./fakes.py:FakeDataset", budget)
    assert asyncio.run(ten_tasks(door)) == []
    assert files_of(here) == before
    costs = [
        json.loads(file.read_text())["cost"]["model_calls"]
        for file in here.glob("runs/*/report.json")
    ]
    assert sum(costs) == door.spent <= budget


async def ten_tasks(door: Door) -> list[str]:
    """The tasks that an agent did not solve."""
    import mcp

    open_tasks = []
    async with mcp.Client(server_of(door)) as client:

        async def solves(task: str, tool: str, wanted: str, **given: Any) -> None:
            result = await client.call_tool(tool, given)
            said = "\n".join(part.text for part in result.content)
            if result.is_error or wanted not in said:
                open_tasks.append(f"{task}: {said}")

        found = {"run": "trove"}
        await solves("what fits?", "methods", '"trove"')
        await solves("what does it cost?", "plan", '"model_calls"', method="trove")
        await solves("find a cue", "audit", "RED CORNER", method="trove")
        await solves("how sure?", "show", "<.001", **found)
        await solves("which errors?", "report", '"impact"', **found)
        await solves("a cause?", "confirm", "1 CAUSE (red corner)", **found)
        await solves("again, and compare", "audit", "run: trove-2", method="trove")
        pair = {"runs": ["trove", "trove-2"]}
        await solves("the same answers?", "compare", '"alike"', **pair)
        await solves("may it ship?", "gate", "fail", policy="policy.yaml", **found)
        await solves("as a table", "export", '"red corner"', **found)
        await solves("what is q?", "explain", "q", word="q")
    return open_tasks


def files_of(folder: Path) -> dict[str, bytes]:
    """What lies in a folder beside the runs and the cache."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    kept = ("runs/trove", "cache", "__pycache__")
    named = {file.relative_to(folder).as_posix(): file for file in files}
    return {
        name: file.read_bytes()
        for name, file in named.items()
        if not name.startswith(kept)
    }
