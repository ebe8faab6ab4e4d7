"""Which server is asked, and what identifies its answers."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import httpx
from pydantic import SecretStr

from cuescope_openai.options import OPENAI, AskingOptions, EndpointOptions
from cuescope_sdk import UserError, digest, printable

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
# characters; "EMPTY" and "x" for a local server are words, and no secrets
SHORTEST_KEY = 8


@dataclass(frozen=True)
class Endpoint:
    """A server, and the key for it; the key shows in no repr."""

    url: str
    key: SecretStr | None
    key_env: str

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        root = httpx.URL(self.url).copy_with(raw_path=b"/")
        return str(root).rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return _is_local(httpx.URL(self.url).host)

    def without_key(self, text: str) -> str:
        """What a server said, the key blacked out where it echoes it."""
        secret = self.key.get_secret_value() if self.key else ""
        if len(secret) < SHORTEST_KEY:
            return text
        return text.replace(secret, "[key]")


def parameters(options: AskingOptions) -> dict[str, Any]:
    """The fields of every request, without messages."""
    fields: dict[str, Any] = {"model": options.model}
    if options.temperature is not None:
        fields["temperature"] = options.temperature
    if options.max_tokens is not None:
        fields["max_tokens"] = options.max_tokens
    return {**fields, **options.extra}


def fingerprint(endpoint: Endpoint, options: EndpointOptions) -> str:
    """Digest of server, model and every option that enters an answer; weights cannot be seen."""
    # How fast and for how much changes no answer, so it may change between two runs.
    sending = EndpointOptions.model_fields.keys() - AskingOptions.model_fields.keys()
    entering = options.model_dump(mode="json", exclude=set(sending))
    return digest("openai", endpoint.url, type(options).__name__, entering)


def find_endpoint(
    options: EndpointOptions, environment: Mapping[str, str] = os.environ
) -> Endpoint:
    """Server and key; raises UserError, which never quotes what may hold a key."""
    # `or`: a variable that is empty names no server
    url = options.base_url or environment.get("OPENAI_BASE_URL") or OPENAI
    url = url.rstrip("/")
    _check_address(url, insecure=options.insecure)
    name = options.key_env
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise UserError(
            "openai: option 'key_env'",
            expected="the name of an environment variable",
            got="something else, not shown here as it may be a key",
            remedy="Put the key in a variable and name that, so that no report holds the key",
        )
    key = environment.get(name, "").strip()
    # a local server needs none, but who names a variable means it to be sent
    needs_key = url == OPENAI or "key_env" in options.model_fields_set
    if needs_key and not key:
        raise UserError(
            f"openai: no key for {url}",
            expected=f"it in the environment variable {name}",
            got="nothing there",
            remedy="Set it, name another with -O model.key_env=NAME, or another server "
            "with -O model.base_url",
        )
    if not re.fullmatch(r"[!-~]*", key):
        raise UserError(
            f"openai: the key in {name}",
            expected="printable ASCII without spaces",
            got="other characters",
            remedy="Set it again",
        )
    return Endpoint(url, SecretStr(key) if key else None, name)


def _check_address(url: str, *, insecure: bool) -> None:
    """Raises UserError for what is no address, carries a secret into reports, or sends in clear."""
    try:
        parts = httpx.URL(url)  # read by who sends: two parsers may see two hosts
        port = 80 if parts.port is None else parts.port
        host = re.fullmatch(rb"[\w.:-]+", parts.raw_host)
        whole = parts.scheme in ("http", "https") and bool(host) and 0 < port < 2**16
    except (httpx.InvalidURL, ValueError):
        whole = False
    if not whole:
        raise UserError(
            "openai: option 'base_url'",
            expected="an address such as http://localhost:8000/v1",
            got="another form",
            remedy="Check -O model.base_url and OPENAI_BASE_URL",
        )
    if parts.userinfo or "?" in url or "#" in url:
        raise UserError(
            "openai: option 'base_url'",
            expected="an address alone",
            got="one with a user, password or query, not shown here",
            remedy="Put the key in an environment variable and name it with -O model.key_env",
        )
    if parts.scheme == "http" and not (insecure or _is_local(parts.host)):
        raise UserError(
            f"openai: http:// to {printable(parts.host)}, which is another machine",
            expected="https://, so that nobody on the way reads key and images",
            remedy="-O model.insecure=true sends them all the same",
        )


def _is_local(host: str) -> bool:
    try:
        return any(ip_address(host) in network for network in LOOPBACK)
    except ValueError:
        return host == "localhost"
