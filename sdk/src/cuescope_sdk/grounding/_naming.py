"""Names that say less than a claim does: a "person" that is seen, where a "woman" is claimed."""

from cuescope_sdk.language._words import ANYONE, PEOPLE


def is_kind_only(word: str, known: str) -> bool:
    """Whether `known` names the kind of what `word` means, and no more: "person" for "woman".

    Both are normalised. What is known may have several names, as in "person/woman".
    """
    names = known.split("/")
    said = any(word == name or name.endswith(f" {word}") for name in names)
    return word in PEOPLE - ANYONE and not said and not ANYONE.isdisjoint(names)
