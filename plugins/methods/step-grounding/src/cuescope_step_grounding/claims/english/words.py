"""English word lists: how steps name people, things, places, plans and motions."""

from types import SimpleNamespace
from typing import TYPE_CHECKING

from cuescope_sdk.language import CLAIM_WORDS
from cuescope_step_grounding.claims.resources import read_toml

LISTS = read_toml("claims/english/words.toml")
PATTERNS = read_toml("claims/english/patterns.toml")
AGENT = "agent"  # who holds the camera


class _Words(SimpleNamespace):
    """Each list by its name: `WORDS.people`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> frozenset[str]: ...


WORDS = _Words()
for _name, _words in LISTS.items():
    if isinstance(_words, str):
        setattr(WORDS, _name, frozenset(_words.split()))
WORDS.unseen |= CLAIM_WORDS["ideas"]
WORDS.idle = WORDS.beginning | WORDS.failing | WORDS.planning | WORDS.wanting


def by_word(table: str) -> dict[str, str]:
    """Each word of a table of `words.toml`, with the name of the list that it is in."""
    names: dict[str, str] = {}
    for name, words in LISTS[table].items():
        names |= dict.fromkeys(words.split(), name)
    return names


RELATIONS = by_word("relations")
ORDERS = by_word("orders")
NUMBERS = {word: str(number) for number, word in enumerate(LISTS["numbers"].split())}
NUMBERS |= {"single": "1", "dozen": "12"}
