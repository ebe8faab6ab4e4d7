"""Names of configurations that tell nothing of them, and of the zoo as a whole."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cuescope_sdk import digest

if TYPE_CHECKING:
    from cuescope_planted_cues.worlds import Configuration

ZOO_VERSION = 3  # raise it when the zoo has other configurations


def opaque_name(configuration: "Configuration") -> str:
    """Names a configuration and tells nothing of it."""
    # seeds keep the bench's first name: another one would draw other trials
    return digest("cuebench", None, asdict(configuration))[:10]


def hash_of(configurations: Sequence["Configuration"]) -> str:
    """Of all configurations: equal hashes are equal zoos."""
    return digest("zoo", ZOO_VERSION, list(map(asdict, configurations)))
