"""What object scenes are made of, in words; the order is the index in every array."""

SUPERCATEGORIES = {
    "household": ("clock", "cup", "key", "lamp"),
    "nature": ("apple", "bird", "fish", "mushroom"),
    "outdoor": ("balloon", "boat", "car", "kite"),
}
CLASSES = tuple(name for names in SUPERCATEGORIES.values() for name in names)
SUPERCATEGORY_OF = {
    name: kind for kind, names in SUPERCATEGORIES.items() for name in names
}

# No classes: nobody asks for them, but they may be cues.
THINGS = ("cloud", "fence", "road", "rug", "shelf", "table", "tree", "window")

PLANTED = {"cup": "table", "bird": "tree", "car": "road"}

WORDINGS = (
    "Do you see {} in the image?",
    "Is there {} in the image?",
    "Determine whether there is {} in the image.",
)
