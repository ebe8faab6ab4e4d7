"""Numbers of things in sentences: one sample, two samples."""

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
