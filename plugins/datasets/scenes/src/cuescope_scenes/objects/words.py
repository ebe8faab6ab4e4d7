"""What object scenes are made of, in words; the order is the index in every array."""

SUPERCATEGORIES = {
    "household": ("clock", "cup", "key", "lamp"),
    "nature": ("apple", "bird", "fish", "mushroom"),
    "outdoor": ("balloon", "boat", "car", "kite"),
}
CLASSES = tuple(name for names in SUPERCATEGORIES.values() for name in names)
SUPERCATEGORY_OF = {name: kind for kind, names in SUPERCATEGORIES.items() for name in names}

# No classes: nobody asks for them, but they may be cues.
THINGS = ("cloud", "fence", "road", "rug", "shelf", "table", "tree", "window")

PLANTED = {"cup": "table", "bird": "tree", "car": "road"}

WORDINGS = (
    "Do you see {} in the image?",
    "Is there {} in the image?",
    "Determine whether there is {} in the image.",
)


def with_article(noun: str) -> str:
    """`a cup`, `an apple`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def join_nouns(nouns: tuple[str, ...]) -> str:
    """`a cup`, `a cup and a boat`, `a cup, a boat and a tree`."""
    *first, last = map(with_article, nouns)
    return f"{', '.join(first)} and {last}" if first else last
