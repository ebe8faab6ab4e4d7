"""Numbers in sentences: one sample, two samples; trials by their conditions; a time."""

from collections.abc import Mapping

# a plural that is no singular with an s
SINGULARS = {
    "boxes": "box",
    "classes": "class",
    "queries": "query",
    "entries": "entry",
    "retries": "retry",
    "copies": "copy",
    "people": "person",
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
}


def count_of(number: int, nouns: str, verb: str = "") -> str:
    """A number with its noun, which is given in the plural, and perhaps the verb that follows.

    >>> count_of(1200, "samples"), count_of(1, "samples"), count_of(1, "distinct pictures")
    ('1,200 samples', '1 sample', '1 distinct picture')
    >>> count_of(1, "questions", "are"), count_of(0, "groups", "share")
    ('1 question is', '0 groups share')
    """
    if number == 1:
        *before, last = nouns.split(" ")
        nouns = " ".join([*before, SINGULARS.get(last, last.removesuffix("s"))])
        verb = verb and SINGULARS.get(verb, f"{verb}s")
    return f"{number:,} {nouns} {verb}".rstrip()


def by_condition(conditions: Mapping[str, int]) -> str:
    """How many trials each condition has, in brackets; nothing where there is one only.

    >>> by_condition({"baseline": 400, "static": 2400})
    ' (baseline 400, static 2,400)'
    """
    if len(conditions) < 2:
        return ""
    parts = ", ".join(f"{name} {count:,}" for name, count in conditions.items())
    return f" ({parts})"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> duration(83), duration(7384)
    ('1:23', '2:03:04')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
