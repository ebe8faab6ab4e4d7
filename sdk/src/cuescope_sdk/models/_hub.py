"""Files of the model hub; whether it can be reached is asked before its client tries a minute."""

import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_sdk.data._own_files import require_inside

SNAPSHOTS, BLOBS = "snapshots", "blobs"  # folders of the hub's own store
DEFAULT_ENDPOINT = "https://huggingface.co"
Found = TypeVar("Found")
# a slow line answers within it; the hub's client tries for a minute
PROBE_SECONDS = 5.0


def require_own_files(owner: str, folder: Path) -> None:
    """Raise UserError for a model's folder with a link out of it, or a pipe or device in it.

    Somebody may have mailed it. Links of the hub's own store lead to the files beside it.
    """
    folder = folder.absolute()
    homes = [folder]
    if folder.parent.name == SNAPSHOTS:
        homes.insert(0, folder.parent.parent / BLOBS)
    require_inside(homes, folder.rglob("*"), owner)


def require_hub(owner: str, wanted: str, remedy: str) -> None:
    """Raises UserError at once where the hub is out of reach; `owner` is the plugin that speaks."""
    hub = urlsplit(os.environ.get("HF_ENDPOINT", DEFAULT_ENDPOINT))
    if not _reachable(hub.hostname or "", hub.port or 443):
        raise UserError(
            f"{owner}: {wanted} is not on this machine, and the hub ({hub.hostname}) "
            "cannot be reached",
            remedy=remedy,
        )


def before_download(
    owner: str,
    title: str,
    repository: str | None,
    context: Context,
    *,
    revision: str | None = None,
    remedy: str,
) -> None:
    """Prepare the fetch of files of the hub: a plan ends here.

    Raises UserError where the audit would: the hub is out of reach, or has no such `repository`
    (None: not known). `title` names the files.
    """
    require_hub(owner, title, remedy)
    if context.planning and repository is not None:
        _require_repository(owner, title, repository, revision, remedy)
    context.stop_plan_before(f"the weights of {title}, which must be downloaded first")


def _require_repository(
    owner: str,
    title: str,
    repository: str,
    revision: str | None,
    remedy: str,
) -> None:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        HfApi().model_info(repository, revision=revision, timeout=PROBE_SECONDS)
    except GatedRepoError:
        return  # it is there; whether this person may have it, the download tells
    except (
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    ) as error:
        raise UserError(
            f"{owner}: the hub has no model {title}",
            expected="one that is public, or that HF_TOKEN may read",
            remedy=f"Check the name. {remedy}",
        ) from error
    except Exception:
        # a hub that does not say so in time does not end a plan
        return


def fetch_repository(
    owner: str,
    repository: str,
    opened: Callable[[Path], Found],
    context: Context,
    *,
    revision: str | None,
    otherwise: str,
    **patterns: list[str],
) -> Found:
    """Open a hub repository's folder by `opened`; it is downloaded where need be.

    `opened` raises where the folder lacks a file. A plan ends before a download. `patterns` are
    `allow_patterns` and `ignore_patterns` of the hub's client. Raises UserError where nothing is to
    be had; `otherwise` says what to give instead.
    """
    import huggingface_hub

    title = repository if revision is None else f"{repository}@{revision}"
    snapshot: Any = partial(
        huggingface_hub.snapshot_download,
        repository,
        revision=revision,
        **patterns,
    )
    try:
        return opened(Path(snapshot(local_files_only=True)))
    except Exception:  # not in the cache, or not whole: it is fetched
        before_download(
            owner,
            title,
            repository,
            context,
            revision=revision,
            remedy=f"Connect, or {otherwise}",
        )
    try:
        return opened(Path(snapshot()))
    except UserError:
        raise
    except Exception as error:  # the client raises the errors of three libraries
        raise UserError(
            f"{owner}: {title} could not be downloaded",
            got=shorten(f"{type(error).__name__} ({error})", 200),
            remedy=f"Check name and network, or {otherwise}",
        ) from error


def _reachable(host: str, port: int) -> bool:
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    # a direct connection may be forbidden there, and says nothing
    if "https" in getproxies():
        return True
    try:
        socket.create_connection((host, port), timeout=PROBE_SECONDS).close()
    except OSError:
        return False
    return True
