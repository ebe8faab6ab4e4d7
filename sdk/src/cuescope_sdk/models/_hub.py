"""Whether the model hub can be reached, asked before its client spends a minute on finding out."""

import os
import socket
from urllib.parse import urlsplit
from urllib.request import getproxies

from cuescope.errors import UserError

DEFAULT_ENDPOINT = "https://huggingface.co"
PROBE_SECONDS = 5.0  # a slow line answers within it; the hub's client tries for a minute


def require_hub(owner: str, wanted: str, remedy: str) -> None:
    """Raises UserError at once where the hub is out of reach; `owner` is the plugin that speaks."""
    hub = urlsplit(os.environ.get("HF_ENDPOINT", DEFAULT_ENDPOINT))
    if not _reachable(hub.hostname or "", hub.port or 443):
        raise UserError(
            f"{owner}: {wanted} is not on this machine, and the hub ({hub.hostname}) "
            "cannot be reached",
            remedy=remedy,
        )


def _reachable(host: str, port: int) -> bool:
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    if "https" in getproxies():  # a direct connection may be forbidden there, and says nothing
        return True
    try:
        socket.create_connection((host, port), timeout=PROBE_SECONDS).close()
    except OSError:
        return False
    return True
