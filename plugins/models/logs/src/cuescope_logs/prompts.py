"""The options that stand in the text of a prompt, behind their letters."""

import re
import string

LETTERS = string.ascii_uppercase
# A line an option: "A) red", "A. red", "(A) red". From each place a run of blanks is read once:
# a stranger's prompt may be a megabyte of them.
_LINE = re.compile(r"^[^\S\n]*+\(?([A-Z])[.):]\s++(.*\S)\s*$", re.MULTILINE)
# all in one line: "A: red, B: blue"
_INLINE = re.compile(r"(?:^|[,;\s])\(?([A-Z])[:.)]\s")


def listed_choices(prompt: str) -> list[str]:
    """The options that a prompt lists, a line each behind A, B, C ...; [] where it lists none."""
    run: list[str] = []
    longest: list[str] = []
    for match in _LINE.finditer(prompt):
        # a list starts anew at each A: examples stand before the question
        if match[1].upper() == "A":
            run = []
        if len(run) < len(LETTERS) and match[1].upper() == LETTERS[len(run)]:
            run.append(match[2])
            longest = list(run)
    # a lone "A. ..." may be a sentence
    return longest if len(longest) > 1 else []


def split_options(question: str) -> tuple[str, list[str]]:
    """A question and the options that stand in its text, "Options: A: red, B: blue"; else []."""
    # the last one: the question may hold the word itself
    head, mark, tail = question.rpartition("Options:")
    if not mark:
        listed = listed_choices(question)
        first = _LINE.search(question)
        if first and listed:
            question = question[: first.start()].strip()
        return question, listed
    starts: list[re.Match[str]] = []
    for match in _INLINE.finditer(tail):
        if len(starts) < len(LETTERS) and match[1] == LETTERS[len(starts)]:
            starts.append(match)
    if len(starts) < 2:
        return question, []
    # each ends where the next begins
    ends = [*(match.start() for match in starts[1:]), len(tail)]
    options = []
    for match, end in zip(starts, ends, strict=True):
        options.append(tail[match.end() : end].strip(f"{string.whitespace},;."))
    if not all(options):
        return question, []
    return head.strip(), options
