"""English word lists: what is no name, and what is no plain plural."""

_SAID = """
i i'm i've i'll me my we us our you your he she it it's they them their this that these those
there there's here here's who what which is are was were be been has have had do does don't can
can't cannot could may might will would should must not n't no yes ok okay sure sorry unable
certainly please thanks none nothing n/a etc include includes including following often usually
typically common commonly because however also such let note example
"""
_LEADING = "in on at by near with without for from to of as under over behind beside between"
_PLURAL = """
glasses sunglasses eyeglasses goggles binoculars headphones earphones earbuds trousers pants shorts
jeans leggings tights pajamas tongs pliers tweezers scissors clippers clothes groceries stairs
crossroads woods fries blinds headquarters dice media data
"""
_LIGHT = "a an the of and or in on at to for with by from"

IN_SENTENCES = frozenset(_SAID.split())  # never in a name
PREPOSITIONS = frozenset(_LEADING.split())  # a name does not begin with one
LIGHT = frozenset(_LIGHT.split())  # two names may share these

ALWAYS_PLURAL = frozenset(_PLURAL.split())
# simplemma takes these for verbs
IRREGULAR = {
    "leaves": "leaf",
    "shelves": "shelf",
    "halves": "half",
    "calves": "calf",
    "loaves": "loaf",
    "thieves": "thief",
    "hooves": "hoof",
}
PLURALS_WITHOUT_S = ("men", "children", "mice", "geese", "feet", "teeth", "oxen", "cacti", "fungi")
