"""Yes or no, read off an answer in words: whole words only, and None where it says neither."""

import re
import unicodedata

from cuescope_sdk.language._tables import word_sets

_SAID = {
    word: means_yes
    for means_yes, list_name in ((True, "yes"), (False, "no"))
    for word in word_sets("answers")[list_name]
}
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u097f]+[^\W_]*)*")
_NEITHER = re.compile(
    r"\W*(?:yes\W*(?:or|and|/|\|)\W*no|no\W*(?:or|and|/|\|)\W*yes|no\s+(?:idea|clue|doubt))\b"
)
_ANSWER = re.compile(r"\banswer\s*(?:is|:|=|-)\W*(\w+)")


def parse_yes_no(answer: str) -> bool | None:
    """What an answer says: True for yes, False for no, None where it is not plain.

    The first word decides ("No, I cannot see one", "**Yes**"), in any of some twenty languages;
    else the last word after "answer is" or "answer:"; else a last line of one word. What stands
    between think tags is passed over. "Yes or no", "no idea" and "there is a cup" are neither: no
    word is judged by what it holds ("know", "cannot") or implies.
    """
    text = unicodedata.normalize("NFC", strip_thinking(answer)).lower()  # accents may come apart
    if _NEITHER.match(text):
        return None
    lines = [words for line in text.splitlines() if (words := _WORD.findall(line))]
    if not lines:
        return None
    concluded = _ANSWER.findall(text)[-1:]  # the last: a model may quote the question first
    closing = lines[-1] if len(lines[-1]) == 1 else []  # reasoning that ends in "No." on a line
    meanings = (_SAID.get(word) for word in (lines[0][0], *concluded, *closing))
    return next((meaning for meaning in meanings if meaning is not None), None)


def strip_thinking(reply: str) -> str:
    """A reply without what a model wrote between think tags before it answered."""
    return _THOUGHT.sub("", reply)
