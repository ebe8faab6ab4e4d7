"""`cuescope demo` asks for the audit that the README shows."""

import pytest
from typer.testing import CliRunner

from cuescope.cli import app, demo as module
from cuescope.request import Request


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[Request, str]:
    """The request that the command makes, and what it prints around the report."""
    requests: list[Request] = []
    monkeypatch.setattr(module, "audit_and_show", lambda runner, request: requests.append(request))
    done = CliRunner().invoke(app, ["demo", *words])
    assert done.exit_code == 0, done.output
    return requests[0], done.stdout


def test_the_story_comes_before_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    request, said = asked(monkeypatch)
    assert (request.method, request.model) == ("trove", "toy")
    assert request.data == "moving-shapes:background"
    assert said.startswith("A small video model learns")
    assert "next: cuescope demo --cue object" in said


def test_cue_and_seed_are_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    request, _ = asked(monkeypatch, "--cue", "object", "--seed", "3")
    assert request.data == "moving-shapes:object"
    assert (request.seed, request.data_options) == (3, {"seed": 3})
