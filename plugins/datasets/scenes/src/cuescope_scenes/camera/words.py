"""What camera scenes are made of, in words; the order is the index in every array."""

from cuescope_scenes.words import BACKGROUNDS

# Two of a family look alike from some sides: a cone from above is a disc, as a ball is.
FAMILIES = {
    "upright": ("cube", "cylinder"),
    "pointed": ("pyramid", "cone"),
    "round": ("ball", "diamond"),
    "stepped": ("cross", "stairs"),
}
LABELS = tuple(label for pair in FAMILIES.values() for label in pair)
FAMILY_OF = {label: family for family, pair in FAMILIES.items() for label in pair}

# The partner of a label is the background at the same index.
PARTNER_OF = dict(zip(LABELS, BACKGROUNDS, strict=True))

ORIGINAL = "original"
