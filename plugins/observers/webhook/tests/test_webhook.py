"""What is sent as an audit ends; no address in an error, no mention in a message."""

import json
from typing import Any, ClassVar

import pytest

from cuescope_sdk import UserError
from cuescope_testing import FakeMethod, ObserverContract, Setup
from cuescope_webhook import Chat, Webhook, message, send


class TestWebhook(ObserverContract):
    plugin = Webhook
    options: ClassVar[dict[str, Any]] = {"url": "{server}/hook"}

    def test_sends_what_was_found(self) -> None:
        report = Setup(FakeMethod).report()
        self.follow()
        method, path, body = self.received[-1]
        content = json.loads(body)
        assert (method, path) == ("POST", "/hook")
        assert content["version"] == 1
        assert content["figures"]["findings"] == len(report.findings)
        assert content["statements"] == list(report.statements)


class TestChat(ObserverContract):
    plugin = Chat
    options: ClassVar[dict[str, Any]] = {"url": "{server}/chat"}

    def test_sends_a_message(self) -> None:
        self.follow()
        text = json.loads(self.received[-1][2])["text"]
        assert text.splitlines()[0].endswith("findings") or "finding" in text


def test_a_cue_named_by_a_stranger_mentions_nobody() -> None:
    report = Setup(FakeMethod).report()
    hostile = "<!channel> @all <https://x|bank>"
    scores = [
        score.model_copy(update={"statement": hostile, "finding": True})
        for score in report.scores[:1]
    ]
    text = message(report.model_copy(update={"scores": tuple(scores)}))
    assert "<" not in text
    assert "@all" not in text


def test_an_error_keeps_the_address() -> None:
    with pytest.raises(UserError) as told:
        send("http://127.0.0.1:9/secret-token", {})
    assert "secret-token" not in str(told.value)
