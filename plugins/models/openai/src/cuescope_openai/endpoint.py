"""Which server is asked, for what, how fast, and what it may cost."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
    model_validator,
)

from cuescope_sdk import Options, UserError, digest

OPENAI = "https://api.openai.com/v1"
SHORTEST_KEY = 8  # characters; "EMPTY" and "x" for a local server are words, and no secrets
OWN = frozenset({"model", "messages", "stream", "n", "logprobs", "top_logprobs"})


class AskingOptions(Options):
    """Which model is asked, and how it is to answer."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(description="the model as the server calls it (gpt-4o-mini, qwen2.5vl:7b)")
    temperature: NonNegativeFloat | None = Field(
        default=0.0, description="0 takes the likeliest words; `none` leaves it to the server"
    )
    max_tokens: PositiveInt | None = Field(
        default=64, description="longest answer in tokens; `none` leaves it to the server"
    )
    extra: dict[str, Any] = Field(
        default={}, description="further fields of a request: {seed: 1, reasoning_effort: low}"
    )

    @field_validator("extra")
    @classmethod
    def _not_own(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := OWN & extra.keys():
            raise ValueError(f"fields other than {', '.join(sorted(taken))}")
        return extra


class EndpointOptions(AskingOptions):
    """Which server is asked, how requests are sent, and what they may cost."""

    base_url: str | None = Field(
        default=None,
        description=f"address of the server up to /v1; default: OPENAI_BASE_URL, else {OPENAI}",
    )
    key_env: str = Field(
        default="OPENAI_API_KEY", description="the environment variable that holds the key"
    )
    timeout: PositiveFloat = Field(default=120.0, description="seconds to wait for an answer")
    retries: NonNegativeInt = Field(
        default=6, description="how often a request is sent again after a fault that may pass"
    )
    backoff: PositiveFloat = Field(
        default=1.0, description="seconds before the first retry, twice as long before each next"
    )
    concurrency: PositiveInt = Field(default=8, description="requests under way together")
    requests_per_minute: PositiveFloat | None = Field(
        default=None, description="requests are spaced evenly; default: no limit"
    )
    max_calls: PositiveInt | None = Field(
        default=None, description="stop after so many requests, retries included"
    )
    max_tokens_total: PositiveInt | None = Field(
        default=None, description="stop after so many tokens, of prompts and answers"
    )
    max_cost: PositiveFloat | None = Field(
        default=None, description="stop after so much money; needs both prices"
    )
    price_input: NonNegativeFloat | None = Field(
        default=None, description="price of a million tokens of prompts"
    )
    price_output: NonNegativeFloat | None = Field(
        default=None, description="price of a million tokens of answers"
    )

    @model_validator(mode="after")
    def _priced(self) -> "EndpointOptions":
        if self.max_cost is not None and None in (self.price_input, self.price_output):
            raise ValueError("price_input and price_output with max_cost")
        return self


@dataclass(frozen=True)
class Endpoint:
    """A server, and the key for it; the key shows in no repr."""

    url: str
    key: SecretStr | None
    key_env: str

    def without_key(self, text: str) -> str:
        """What a server said, the key blacked out where it echoes it."""
        secret = self.key.get_secret_value() if self.key else ""
        return text.replace(secret, "[key]") if len(secret) >= SHORTEST_KEY else text


def parameters(options: AskingOptions) -> dict[str, Any]:
    """The fields of every request, without messages."""
    plain = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    given = {name: value for name, value in plain.items() if value is not None}
    return {"model": options.model, **given, **options.extra}


def fingerprint(endpoint: Endpoint, options: EndpointOptions) -> str:
    """Digest of server, model and every option that enters an answer; weights cannot be seen."""
    sending = EndpointOptions.model_fields.keys() - AskingOptions.model_fields.keys()
    entering = options.model_dump(mode="json", exclude=set(sending))
    return digest("openai", endpoint.url, type(options).__name__, entering)


def endpoint_of(options: EndpointOptions, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Server and key; raises UserError, which never quotes what may hold a key."""
    url = (options.base_url or environment.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")
    _check_address(url)
    name = options.key_env
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise UserError(
            "openai: option 'key_env'",
            expected="the name of an environment variable",
            got="something else, not shown here as it may be a key",
            remedy="Put the key in a variable and name that, so that no report holds the key",
        )
    key = environment.get(name, "").strip()
    if not key and (url == OPENAI or "key_env" in options.model_fields_set):
        raise UserError(
            f"openai: no key for {url}",
            expected=f"it in the environment variable {name}",
            got="nothing there",
            remedy="Set it, name another with -M key_env=NAME, or another server with -M base_url",
        )
    if not re.fullmatch(r"[!-~]*", key):
        raise UserError(
            f"openai: the key in {name}", expected="printable ASCII without spaces",
            got="other characters", remedy="Set it again",
        )  # fmt: skip
    return Endpoint(url, SecretStr(key) if key else None, name)


def _check_address(url: str) -> None:
    """Raises UserError for what is no address, or for one that carries a secret into reports."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise UserError(
            "openai: option 'base_url'", expected="an address such as http://localhost:8000/v1",
            got="another form", remedy="Check -M base_url and OPENAI_BASE_URL",
        )  # fmt: skip
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError(
            "openai: option 'base_url'", expected="an address alone",
            got="one with a user, password or query, not shown here",
            remedy="Put the key in an environment variable and name it with -M key_env",
        )  # fmt: skip
