"""What the page is told, what is written for it, and what it is refused."""

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from cuescope_sdk import Frame, Sample, StoredRun
from cuescope_sdk.cues import Cue
from cuescope_view.server import TokenGuard

from .conftest import EVIL, SAMPLES, TOKEN, client_of, write_run

Rows = list[dict[str, str]]


def told(client: TestClient, path: str, code: int = 200, **query: Any) -> Any:
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == code, answer.text
    return answer.json()


def ids(client: TestClient) -> dict[str, str]:
    return {Path(run["run"]).name: run["id"] for run in told(client, "runs")["runs"]}


def test_runs_and_cues_are_listed_and_searched(client: TestClient) -> None:
    answer = told(client, "runs")
    assert answer["pending"] == 0
    assert [
        (run["method"], run["findings"], run["made"]) for run in answer["runs"]
    ] == [("trove", 1, "here")] * 2
    assert all(run["verdict"] and run["status"] for run in answer["runs"])
    assert told(client, "cues")["matching"] == 2
    assert told(client, "cues", text="second")["matching"] == 1
    assert told(client, "cues", kind="doubt")["matching"] == 0


def test_what_is_in_doubt_is_no_finding_beyond_doubt(
    client: TestClient, home: Path
) -> None:
    write_run(home / "third", doubt="But it may be chance.")
    assert "third" in ids(client)
    [cue] = told(client, "cues", kind="doubt")["cues"]
    assert Path(cue["run"]["run"]).name == "third"
    assert told(client, "cues", kind="finding")["matching"] == 2


def test_samples_of_a_cue_are_filtered_and_sorted(client: TestClient) -> None:
    run = ids(client)["first"]
    about = {"id": run, "feature": "bird"}
    both = told(client, "samples", **about)
    assert (both["total"], both["flips"]) == (SAMPLES, 20)
    assert both["sides"] == {"with": [20, 40], "without": [80, 80]}
    shown = told(client, "samples", **about, side="with", sort="confidence")
    assert shown["matching"] == 40
    sure = [line["plain"]["confidence"] for line in shown["lines"]]
    assert sure == sorted(sure)
    cows = told(client, "samples", **about, label="cow", correct="no", flipped="yes")
    assert cows["matching"] == 20
    assert {line["plain"]["answer"] for line in cows["lines"]} == {"tree"}
    assert cows["lines"][0]["others"][0]["condition"] == "removed"
    assert told(client, "samples", **about, least=0.948)["matching"] == 12
    assert told(client, "samples", **about, text="S01")["matching"] == 10
    second = told(client, "samples", **about, offset=100, count=100)
    assert len(second["lines"]) == SAMPLES - 100
    # one without answers of another condition is neither flipped nor not
    assert told(client, "samples", **about, flipped="no")["matching"] == 20


def test_two_runs_stand_side_by_side(client: TestClient) -> None:
    runs = ids(client)
    answer = told(client, "compare", first=runs["first"], second=runs["second"])
    assert (answer["total"], answer["flips"]) == (SAMPLES, SAMPLES // 5)
    assert answer["command"].startswith("cuescope compare ")
    flipped = told(
        client,
        "compare",
        first=runs["first"],
        second=runs["second"],
        flipped="yes",
    )
    assert all(
        line["others"][0]["answer"] != line["plain"]["answer"]
        for line in flipped["lines"]
    )


def test_pictures_are_small_and_drawn_anew(client: TestClient) -> None:
    run = ids(client)["first"]
    shown = client.get("/api/picture", params={"id": run, "sample": "s000"})
    assert shown.headers["content-type"] == "image/jpeg"
    assert shown.content.startswith(b"\xff\xd8")
    first = client.get("/api/thumbnail", params={"id": run})
    assert first.content.startswith(b"\xff\xd8")
    assert "no picture" in told(client, "picture", 400, id=run, sample="s001")["error"]


def test_a_name_is_kept_and_taken_back(client: TestClient, home: Path) -> None:
    run = ids(client)["first"]
    kept = client.post(
        "/api/name", json={"run": run, "feature": "bird", "name": " red bird "}
    ).json()
    (cue,) = kept["cues"]
    assert (cue["name"], cue["own_name"]) == ("red bird", EVIL)
    assert cue["naming"] == f"cuescope mitigate {home}/first --name 'bird=red bird'"
    assert told(client, "samples", id=run, feature="bird")["name"] == "red bird"
    # an edited file of names is no longer taken
    file = home / "first" / "names.json"
    file.write_text(file.read_text().replace("red", "blue"))
    with pytest.warns(UserWarning, match="is not what cuescope wrote"):
        assert told(client, "run", id=run)["cues"][0]["name"] == EVIL
    refused = client.post("/api/name", json={"run": run, "feature": "cat", "name": "x"})
    assert refused.status_code == 400


def test_what_is_sent_without_an_end_is_refused(client: TestClient) -> None:
    assert client.post("/api/name", content=b" " * 10**6).status_code == 413
    assert client.post("/api/name", content=b" ").status_code == 400


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("method", ["OPTIONS", "CONNECT"])
@pytest.mark.parametrize("path", ["*", "evil:1", ""])
def test_an_address_without_a_slash_has_no_token(method: str, path: str) -> None:
    """As HTTP has it of these two methods; no server library turns it into one."""
    sent = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    async def app(*_: Any) -> None:
        pytest.fail("it was let through")

    scope = {"type": "http", "method": method, "path": path, "headers": []}
    asyncio.run(TokenGuard(app, TOKEN)(scope, receive, send))
    assert sent[0]["status"] == 403


@pytest.mark.parametrize("path", ["/", "/api/runs", "/page/view.js"])
def test_nothing_is_told_without_the_token(client: TestClient, path: str) -> None:
    """Of another host neither: a stranger's name may lead to this computer."""
    outside = f"http://127.0.0.1:8000{path}"
    wrong = f"http://127.0.0.1:8000/{TOKEN[:-1]}x{path}"
    assert client.get(outside).status_code == 403
    assert client.get(wrong).status_code == 403
    known = client.get(path)
    assert known.status_code == 200
    assert "default-src 'none'" in known.headers["content-security-policy"]
    assert known.headers["referrer-policy"] == "no-referrer"
    rebound = client.get(path, headers={"host": "evil.example"})
    assert rebound.status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/%2e%2e/server.py",
        "/page//etc/passwd",
        "/api/run?id=../../secret",
        "/api/run?id=/etc",
        "/api/run",
        "/api/samples?id=x&offset=-1",
    ],
)
def test_paths_lead_nowhere(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("is_relative", [False, True])
def test_a_run_that_reaches_out_of_the_folder_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_relative: bool
) -> None:
    """By a link to a report or to answers: none of them is read."""
    outside = write_run(tmp_path / "outside")
    (home / "linked").mkdir()
    (home / "linked" / "report.json").symlink_to(outside / "report.json")
    answers = home / "first" / "answers.parquet"
    answers.unlink()
    answers.symlink_to(outside / "answers.parquet")
    # as the command gives it: `runs` where nothing is typed
    monkeypatch.chdir(tmp_path)
    client = client_of(home.relative_to(tmp_path) if is_relative else home)
    runs = ids(client)
    assert "linked" not in runs
    error = told(client, "samples", 400, id=runs["first"])["error"]
    assert "leads out of" in error


def test_of_a_run_of_somebody_else_nothing_is_run(
    client: TestClient, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown, without its commands; its plugins are not even looked for."""
    write_run(home / "mailed", own=False)
    monkeypatch.setattr(
        "cuescope_core.registry.Registry.load",
        lambda *_: pytest.fail("a plugin was loaded"),
    )
    run = ids(client)["mailed"]
    shown = told(client, "run", id=run)
    assert (shown["made"], shown["audit"]) == ("elsewhere", "")
    assert not any(line for _, line in shown["steps"])
    assert told(client, "samples", id=run, feature="bird")["total"] == SAMPLES
    named = client.post(
        "/api/name", json={"run": run, "feature": "bird", "name": "x"}
    ).json()
    assert named["cues"][0]["naming"] is None


def test_a_changed_run_is_a_line(client: TestClient, home: Path) -> None:
    run = ids(client)["first"]
    file = home / "first" / "report.json"
    file.write_text(file.read_text().replace("-0.4", "-0.9"))
    assert (
        "was changed after it was written" in told(client, "run", 400, id=run)["error"]
    )


@pytest.mark.parametrize("place", ["", "pictures"])
def test_what_is_exchanged_while_it_is_served_leads_nowhere_else(
    client: TestClient, home: Path, place: str
) -> None:
    run = ids(client)["first"]
    told(client, "run", id=run)
    outside = home.parent / "outside"
    write_run(outside)
    before = sorted((file, file.stat().st_mtime_ns) for file in outside.rglob("*"))
    moved = home / "first" / place
    if moved.exists():
        moved.rename(home.parent / "before")
    moved.symlink_to(outside / place)
    # as it was listed: neither time nor size of its report tell
    report = home.parent / "before" / "report.json"
    facts = report.stat() if report.exists() else None
    if facts is not None:
        (outside / "report.json").write_bytes(report.read_bytes())
        os.utime(outside / "report.json", ns=(facts.st_atime_ns, facts.st_mtime_ns))
        before = sorted((file, file.stat().st_mtime_ns) for file in outside.rglob("*"))
    assert "leads out" in told(client, "run", 400, id=run)["error"]
    for path, sent in (("name", {"run": run, "feature": "bird", "name": "a bird"}),):
        assert client.post(f"/api/{path}", json=sent).status_code == 400
    assert before == sorted((f, f.stat().st_mtime_ns) for f in outside.rglob("*"))


def test_a_folder_whose_name_is_no_unicode_costs_no_other(
    client: TestClient, home: Path
) -> None:
    odd = os.fsdecode(b"caf\xe9")
    try:
        write_run(home / odd)
    except OSError:
        pytest.skip("needs a file system that takes any bytes for a name")
    names = ids(client)
    assert names.keys() == {"first", "second", r"caf\udce9"}
    assert told(client, "run", id=names[r"caf\udce9"])["run"].endswith(r"caf\udce9")


def test_marked_samples_are_kept_as_a_cue_where_data_may_be_opened(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = {"name": "a red thing", "shown": ["s000", "s003"], "others": ["s001"]}
    closed = client_of(home)
    run = ids(closed)["first"]
    refused = closed.post("/api/cue", json={"run": run, **marks})
    assert refused.status_code == 400
    assert "cuescope view --open-data" in refused.json()["error"]
    pixels = np.zeros((8, 8, 3), np.uint8)
    samples = {
        f"s{number:03d}": Sample(
            key=f"s{number:03d}", frames=(Frame.from_array(pixels + number),)
        )
        for number in range(SAMPLES)
    }
    monkeypatch.setattr(StoredRun, "samples", samples)
    write_run(home / "mailed", own=False)
    client = client_of(home, opens_data=True)
    stranger = client.post("/api/cue", json={"run": ids(client)["mailed"], **marks})
    assert stranger.status_code == 400
    kept = client.post("/api/cue", json={"run": run, **marks}).json()
    cue = Cue.load(Path(kept["file"]))
    assert (cue.name, cue.sides()) == ("a red thing", (2, 1))
    assert Path(kept["file"]).parent == home / "first" / "cues"
    data = "--model m --data folder:photos"
    assert kept["measure"] == f"cuescope audit --cue {kept['file']} {data}"
    assert "--with s000 --with s003 --without s001" in kept["choose"]
    for wrong in ({"shown": ["s999"]}, {"shown": [], "others": []}, {"name": " "}):
        answer = client.post("/api/cue", json={"run": run, **marks, **wrong})
        assert answer.status_code == 400


def test_no_cue_is_written_through_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (home / "first" / "cues").symlink_to(tmp_path / "outside")
    client = client_of(home, opens_data=True)
    marks = {"name": "red", "shown": ["s000"], "others": []}
    answer = client.post("/api/cue", json={"run": ids(client)["first"], **marks})
    assert answer.status_code == 400
    assert not list((tmp_path / "outside").iterdir())
