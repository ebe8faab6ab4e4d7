"""Files of the web, from the very hosts that were checked: public ones, or one that was typed.

A server may answer with another address, and a name may stand for another machine a moment later:
each connection is checked where it is made, redirects too, and goes to the IP address that was
looked at.
"""

import asyncio
import os
import socket
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from fsspec.implementations.http import HTTPFileSystem

from cuescope_folder.roots import is_inner, is_inner_host

Web = frozenset[tuple[str, str]]  # scheme and "host:port" of what was typed


class RefusedHostError(Exception):  # aiohttp would wrap an OSError in words of its own
    """A host that only a person may name."""


def web_system(typed: Web) -> HTTPFileSystem:
    """The file system of http:// and https://, in which `typed` are the inner hosts allowed."""
    # a forked process has none of the threads that answer here
    return _system(typed, os.getpid())


@cache
def _system(typed: Web, _process: int) -> HTTPFileSystem:
    async def new_client(**arguments: Any) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(connector=_Connector(typed), **arguments)

    # fsspec's own cache of instances would tell these apart by the address of a function
    return HTTPFileSystem(get_client=new_client, skip_instance_cache=True)


class _Connector(aiohttp.TCPConnector):
    """Connections to public hosts over https, and to those that were typed."""

    def __init__(self, typed: Web) -> None:
        super().__init__(resolver=_Resolver(typed))
        self._typed = typed

    async def connect(self, req: Any, *arguments: Any, **options: Any) -> Any:
        """A connection for a request, redirected ones among them."""
        scheme = req.url.scheme
        host = req.url.raw_host or ""
        place = f"{_in_brackets(host)}:{req.url.port}"
        if (scheme, place) not in self._typed:
            if scheme != "https":
                raise RefusedHostError(
                    f"{scheme}://{place} is no https, and was not typed"
                )
            # IP addresses are never looked up, so that the resolver does not see them
            if is_inner_host(host):
                raise RefusedHostError(f"{host} is of this machine or network")
        return await super().connect(req, *arguments, **options)


class _Resolver(AbstractResolver):
    """Looks names up, and refuses those that stand for an inner address."""

    def __init__(self, typed: Web) -> None:
        # proxies are named in the environment, which is a person's too
        proxies = (
            urlsplit(proxy).netloc.rpartition("@")[2] for proxy in getproxies().values()
        )
        self._places = {place for _, place in typed}.union(proxies)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The IP addresses of a host; all of them are public, or the host was typed."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(
            host,
            port,
            # else an address comes once for each kind of socket
            type=socket.SOCK_STREAM,
            family=family,
        )
        results = [_result(host, entry) for entry in found]
        if f"{_in_brackets(host)}:{port}" not in self._places:
            for result in results:
                if is_inner(result["host"]):
                    raise RefusedHostError(f"{host} is of this machine or network")
        return results

    async def close(self) -> None:
        """Nothing is held."""


def _result(host: str, entry: tuple[Any, ...]) -> ResolveResult:
    family, _, protocol, _, address = entry
    return ResolveResult(
        hostname=host,
        host=str(address[0]),
        port=int(address[1]),
        family=int(family),
        proto=int(protocol),
        flags=int(socket.AI_NUMERICHOST),
    )


def _in_brackets(host: str) -> str:
    """An IPv6 address as it stands in an address of the web."""
    return f"[{host}]" if ":" in host else host
