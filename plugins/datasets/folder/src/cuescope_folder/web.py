"""Files of the web, from hosts that a person typed, also where a server sends elsewhere."""

import os
from functools import cache
from typing import Any

import aiohttp
from fsspec.implementations.http import HTTPFileSystem

from cuescope_folder.roots import Roots


class RefusedHostError(Exception):  # aiohttp would wrap an OSError in words of its own
    """A host that nobody typed."""


def web_system(roots: Roots) -> HTTPFileSystem:
    """The file system of http:// and https://, in which only hosts of `roots` are asked."""
    # a forked process has none of the threads that answer here
    return _system(roots, os.getpid())


@cache
def _system(roots: Roots, _process: int) -> HTTPFileSystem:
    async def new_client(**arguments: Any) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(connector=_Connector(roots), **arguments)

    # fsspec's own cache of instances would tell these apart by the address of a function
    return HTTPFileSystem(get_client=new_client, skip_instance_cache=True)


class _Connector(aiohttp.TCPConnector):
    """Connections to hosts that were typed."""

    def __init__(self, roots: Roots) -> None:
        super().__init__()
        self._roots = roots

    async def connect(self, req: Any, *arguments: Any, **options: Any) -> Any:
        """A connection for a request, redirected ones among them."""
        # `host` of a URL may be in other letters than what is connected to
        host = req.url.raw_host or ""
        place = f"[{host}]" if ":" in host else host
        address = f"{req.url.scheme}://{place}:{req.url.port}"
        if not self._roots.allows_host(address):
            raise RefusedHostError(f"{address} was not typed")
        return await super().connect(req, *arguments, **options)
