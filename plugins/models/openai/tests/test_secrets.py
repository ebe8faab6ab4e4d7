"""The key goes to the server, and into nothing that is written."""

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuescope_openai import OpenAI
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import UserError
from cuescope_testing import FakeMethod, Setup

KEY = "sk-proj-hidden0123456789"


def test_a_placeholder_for_a_key_is_a_word(
    writer: Callable[..., OpenAIWriter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "1")
    assert writer().generate(["1 EMPTY"]) == ["You said: 1 EMPTY"]


@pytest.mark.filterwarnings("ignore:openai. .* answers name no choice")
def test_the_key_is_written_nowhere(
    server: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    # an echo
    server.brain = lambda body: {"message": {"content": f"Your key is {KEY}."}}
    server.fail(500, {"error": {"message": f"failed for {KEY}"}})
    given = {
        "model": "tiny-vision",
        "base_url": server.url,
        "key_env": "MY_KEY",
        "backoff": 0.01,
        "question": "Where is it green?",
    }
    audit = Setup(FakeMethod, OpenAI, model_options=given, folder=tmp_path / "cache")
    report = audit.report(limit=4)
    assert server.keys
    assert set(server.keys) == {f"Bearer {KEY}"}
    (tmp_path / "report.json").write_text(report.model_dump_json())
    assert '"key_env":"MY_KEY"' in report.model_dump_json()

    for status in (401, 403, 400, 500):
        server.fail(status, {"error": {"message": f"what key is {KEY}?"}})
        with pytest.raises(UserError) as caught:
            Setup(
                FakeMethod,
                OpenAI,
                model_options={**given, "system": str(status), "retries": 0},
                folder=tmp_path / "cache",
            ).report(limit=4)
        shown = traceback.TracebackException.from_exception(
            caught.value, capture_locals=True
        )
        (tmp_path / f"traceback-{status}").write_text("".join(shown.format()))

    (tmp_path / "log").write_text(caplog.text)
    assert "chat/completions" in caplog.text
    (tmp_path / "printed").write_text("".join(capfd.readouterr()))
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.suffix == ".sqlite" for file in written)
    assert b"Your key is [key]" in b"".join(file.read_bytes() for file in written)
    assert [file for file in written if b"hidden0123" in file.read_bytes()] == []
