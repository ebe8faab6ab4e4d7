"""Names in captions: "[CLS] red cat . dog . [SEP]", with the places of each name's tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cuescope_sdk.tools import normalise_name

PHRASE_END = "."
ENDS = str.maketrans(".?", "  ")  # within a name they would end its phrase
FRAME_TOKENS = 2  # before the first phrase and after the last


@dataclass(frozen=True)
class Caption:
    """Token ids, and for each of its names the index among all names and its tokens' places."""

    ids: tuple[int, ...]
    places: dict[int, range]


def captions(names: Sequence[str], tokenizer: Any, limit: int, most: int | None) -> list[Caption]:
    """Captions of at most `limit` tokens and `most` names; a name that fits in none is cut."""
    room = limit - FRAME_TOKENS - 1
    phrases = [_tokens(name, tokenizer)[:room] for name in names]
    return [
        _caption(part, phrases, tokenizer)
        for part in packed([len(phrase) + 1 for phrase in phrases], limit - FRAME_TOKENS, most)
    ]


def packed(lengths: Sequence[int], room: int, most: int | None) -> list[range]:
    """Consecutive runs whose lengths add up to no more than `room`, of no more than `most`."""
    runs: list[range] = []
    start = used = 0
    for index, length in enumerate(lengths):
        if index > start and (used + length > room or index - start == most):
            runs.append(range(start, index))
            start, used = index, 0
        used += length
    return [*runs, range(start, len(lengths))] if lengths else []


def _caption(part: range, phrases: Sequence[Sequence[int]], tokenizer: Any) -> Caption:
    end = tokenizer.convert_tokens_to_ids(PHRASE_END)
    ids, places = [tokenizer.cls_token_id], {}
    for index in part:
        places[index] = range(len(ids), len(ids) + len(phrases[index]))
        ids += [*phrases[index], end]
    return Caption((*ids, tokenizer.sep_token_id), places)


def _tokens(name: str, tokenizer: Any) -> list[int]:
    words = normalise_name(name.translate(ENDS))
    return list(tokenizer(words, add_special_tokens=False).input_ids)
