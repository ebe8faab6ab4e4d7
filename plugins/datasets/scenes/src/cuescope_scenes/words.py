"""What a scene is made of, in words; the order is the index in every array."""

FAMILIES = {
    "round": ("ladybird", "cookie"),
    "boxed": ("crate", "basket"),
    "petalled": ("daisy", "sunflower"),
    "hollow": ("donut", "wreath"),
}
LABELS = tuple(label for pair in FAMILIES.values() for label in pair)
FAMILY_OF = {label: family for family, pair in FAMILIES.items() for label in pair}

# The partner of a label is the background at the same index.
BACKGROUNDS = (
    "grass",
    "sand",
    "water",
    "brick",
    "snow",
    "lavender",
    "tiles",
    "asphalt",
)
PARTNER_OF = dict(zip(LABELS, BACKGROUNDS, strict=True))

DISTRACTORS = ("triangle", "heart", "arrow", "plus")
MOST_DISTRACTORS = 2

COLOURS = {
    "red": (226, 32, 38),
    "orange": (255, 132, 0),
    "yellow": (252, 224, 30),
    "cyan": (40, 226, 228),
    "pink": (240, 70, 190),
    "purple": (128, 24, 190),
}
COLOUR_NAMES = tuple(COLOURS)

# radius, px
SIZES = {"small": (19.0, 22.0), "medium": (24.0, 28.0), "large": (30.0, 34.0)}
SIZE_NAMES = tuple(SIZES)


def with_article(noun: str) -> str:
    """`a cup`, `an apple`."""
    article = "an" if noun[0] in "aeiou" else "a"
    return f"{article} {noun}"


def join_nouns(nouns: tuple[str, ...]) -> str:
    """`a cup`, `a cup and a boat`, `a cup, a boat and a tree`."""
    *first, last = map(with_article, nouns)
    if not first:
        return last
    return f"{', '.join(first)} and {last}"
