"""Strangers' text on a terminal: labels, answers, file names, what servers say."""

import re

# C0 but tab, DEL, C1, what turns the direction of writing or ends a line unseen, and letters that
# look like a blank and are none
_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u115f\u1160\u2800\u3164\uffa0\ud800-\udfff]"
)
_BLANKS = re.compile(r"\s+")
_LINE_END = re.compile("[\r\n\v\f\x85\u2028\u2029]")


def printable(text: str) -> str:
    r"""The text in one line, its control characters written out: a terminal obeys none of them.

    A line of its own would look like one of cuescope's.

    >>> printable("\x1b]0;title\x07 cat\nnext: rm")
    '\\x1b]0;title\\x07 cat\\nnext: rm'
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def whole_text(text: str) -> str:
    r"""The text with half characters written out: no JSON and no page holds them.

    >>> whole_text("caf\udce9")
    'caf\\udce9'
    """
    return text.encode(errors="backslashreplace").decode()


def printable_json(text: str) -> str:
    """The same for JSON, which stays the same JSON: such characters stand in its strings only."""

    def escaped(found: re.Match[str]) -> str:
        # between its strings a line ends as it likes
        return "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}"

    return _HIDDEN.sub(escaped, text)


def one_line(text: str) -> str:
    r"""The text with blanks for its line ends, for sentences: they are read all the same.

    >>> one_line("a cat\n\nNext:  rm")
    'a cat Next:  rm'
    """
    # run by run: a pattern of blanks around a line end takes the square of a run without one
    return _BLANKS.sub(
        lambda blanks: " " if _LINE_END.search(blanks[0]) else blanks[0], text
    )
