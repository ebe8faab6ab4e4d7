"""Yes or no, read off an answer in words: whole words only, and None where it says neither."""

import re
import unicodedata

from cuescope_sdk.language._tables import word_sets

_ANSWERS = word_sets("answers")
_MEANING = dict.fromkeys(_ANSWERS["yes"], True) | dict.fromkeys(_ANSWERS["no"], False)
_THOUGHT = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u097f]+[^\W_]*)*")
# so many signs stand between two words: without an end every split of them would be tried
_NEITHER = re.compile(
    r"\W*+(?:yes\W{0,9}(?:or|and|/|\|)\W{0,9}no|no\W{0,9}(?:or|and|/|\|)\W{0,9}yes|"
    r"no\s+(?:idea|clue|doubt))\b"
)
_ANSWER = re.compile(r"\banswer\s*(?:is|:|=|-)\W*(\w+)")


def parse_yes_no(answer: str) -> bool | None:
    """Read an answer: True for yes, False for no, None where it is not plain.

    The first word decides ("No, I cannot see one", "**Yes**"), in any of some twenty languages;
    else the last word after "answer is" or "answer:"; else a last line of one word. What stands
    between think tags is passed over. "Yes or no", "no idea" and "there is a cup" are neither: no
    word is judged by what it holds ("know", "cannot") or implies.
    """
    # a parser that looks for "no" anywhere finds it in "know" and "cannot"
    text = unicodedata.normalize(
        "NFC", strip_thinking(answer)
    ).lower()  # accents may come apart
    if _NEITHER.match(text):
        return None
    lines = list(filter(None, map(_WORD.findall, text.splitlines())))
    if not lines:
        return None
    telling = [lines[0][0]]
    # the last: a model may quote the question first
    telling += _ANSWER.findall(text)[-1:]
    if len(lines[-1]) == 1:  # reasoning that ends in "No." on a line
        telling += lines[-1]
    return next((_MEANING[word] for word in telling if word in _MEANING), None)


def strip_thinking(reply: str) -> str:
    """A reply without what a model wrote between think tags before it answered."""
    return _THOUGHT.sub("", reply)
