"""The end of an audit, sent to an address: as JSON, or as a message to a chat."""

import os
from typing import Annotated, Any

from pydantic import Field

from cuescope_sdk import Address, Names, Options, Plugin, Report, UserError, hookimpl
from cuescope_sdk.tracking import RunSummary

SECONDS = 20.0  # of waiting: an audit is over, and must not wait for a chat
SHOWN = 5  # findings in a message
# an address that holds a secret has its place there
CHAT = "CUESCOPE_CHAT_URL"
WEBHOOK = "CUESCOPE_WEBHOOK_URL"


class WebhookOptions(Options):
    """Which address."""

    argument = "url"
    url: Annotated[Address | None, Names.host()] = Field(
        None, description=f"address that takes a POST; by default that in {WEBHOOK}"
    )


class Webhook(Plugin):
    """A POST of JSON as an audit ends: figures, findings, and where the report comes from."""

    Options = WebhookOptions
    options: WebhookOptions

    @hookimpl
    def audit_finished(self, report: Report) -> None:
        """The report is whole and stored."""
        summary = RunSummary(report)
        content = {
            "event": "audit_finished",
            "version": 1,
            "title": report.title,
            "origin": summary.origin(),
            "figures": summary.figures(),
            "findings": [list(row) for row in summary.findings()],
            "statements": list(report.statements),
        }
        send(_address(self.options.url, "webhook", WEBHOOK), content)


class ChatOptions(Options):
    """Which chat."""

    argument = "url"
    url: Annotated[Address | None, Names.host()] = Field(
        None, description=f"incoming webhook of a chat; by default that in {CHAT}"
    )


class Chat(Plugin):
    """A message as an audit ends, for chats that take Slack's incoming webhooks."""

    Options = ChatOptions
    options: ChatOptions

    @hookimpl
    def audit_finished(self, report: Report) -> None:
        """The report is whole and stored."""
        send(_address(self.options.url, "chat", CHAT), {"text": message(report)})


def _address(url: str | None, name: str, variable: str) -> str:
    address = url or os.environ.get(variable)
    if not address:
        raise UserError(f"{name}: no address", remedy=f"Set {variable}, or {name}:URL")
    return address


def message(report: Report) -> str:
    """A few lines: what was audited, how much was found, and the first findings."""
    origin = report.provenance
    count = len(report.findings)
    head = f"{origin.method.spec}: {origin.model.spec} on {origin.data.spec}"
    lines = [f"{head}: {count} finding{'s' * (count != 1)}"]
    lines += [f"- {statement}" for statement in report.statements[:SHOWN]]
    if count > SHOWN:
        lines.append(f"and {count - SHOWN} more in the report")
    # names of cues come from data of strangers: no mention, and no link in disguise
    text = "\n".join(lines).replace("&", "&amp;")
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("@", "@\u200b")


def send(url: str, content: dict[str, Any]) -> None:
    """A POST; raises UserError, without the address, which may be a secret."""
    import httpx

    try:
        response = httpx.post(url, json=content, timeout=SECONDS)
        response.raise_for_status()
    except httpx.HTTPStatusError as error:
        raise UserError(
            "the webhook refused the message",
            expected="an answer of 2xx",
            got=str(error.response.status_code),
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(
            "the webhook cannot be reached", got=type(error).__name__
        ) from None


__all__ = ["Chat", "ChatOptions", "Webhook", "WebhookOptions"]
