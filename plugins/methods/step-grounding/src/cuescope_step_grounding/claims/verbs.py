"""Verbs of what can be seen, and their forms."""

from collections.abc import Iterator, Mapping


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written with blanks."""
    return frozenset(words.split())


_REGULAR = listed("""
add adjust advance appear approach arrange arrive ascend ask attach attend back bake boil brew
brush carry change chat chop clap clean clear climb close collect comb compare contain continue
cook cool count cover crack crawl cross cut dance decide descend dim disappear dress drop dry dust
empty enter exit extend face fetch fill finish flip float fold follow fry gather glance grab grasp
greet halt hand head heat hit hop hug imply indicate insert iron jump kick kiss kneel knock lack
land laugh lay lean let lie lift light load lock look lower mean mop mount move navigate need
notice observe occupy open organize pack paint pan park pass pause peel pet photograph pick place
play point pop pour prepare press proceed pull push put raise reach remain remove rest return
reveal reverse rinse roast roll rotate rub rush say scroll scrub search see seem serve set shift
show shut sip slice slide smell smile sneeze snuggle spill spray sprinkle squeeze stack start stay
step stir stop store stretch suggest surround sweep swing switch talk tap taste tidy tie tilt
toast toggle toss touch travel traverse try turn type undress unfold unlock unpack use vacuum
vanish veer wait walk want wash watch wave wear wipe work wrap yawn
""")
_IRREGULAR: Mapping[str, tuple[str, str, str]] = {
    "begin": ("began", "begun", "beginning"), "bend": ("bent", "bent", "bending"),
    "blow": ("blew", "blown", "blowing"), "break": ("broke", "broken", "breaking"),
    "bring": ("brought", "brought", "bringing"), "come": ("came", "come", "coming"),
    "cut": ("cut", "cut", "cutting"), "draw": ("drew", "drawn", "drawing"),
    "drink": ("drank", "drunk", "drinking"), "eat": ("ate", "eaten", "eating"),
    "fall": ("fell", "fallen", "falling"), "find": ("found", "found", "finding"),
    "get": ("got", "gotten", "getting"), "give": ("gave", "given", "giving"),
    "go": ("went", "gone", "going"), "hang": ("hung", "hung", "hanging"),
    "hit": ("hit", "hit", "hitting"), "hold": ("held", "held", "holding"),
    "keep": ("kept", "kept", "keeping"), "lay": ("laid", "laid", "laying"),
    "lead": ("led", "led", "leading"), "leave": ("left", "left", "leaving"),
    "let": ("let", "let", "letting"), "lie": ("lay", "lain", "lying"),
    "make": ("made", "made", "making"), "pay": ("paid", "paid", "paying"),
    "put": ("put", "put", "putting"), "read": ("read", "read", "reading"),
    "ring": ("rang", "rung", "ringing"), "run": ("ran", "run", "running"),
    "see": ("saw", "seen", "seeing"), "set": ("set", "set", "setting"),
    "shake": ("shook", "shaken", "shaking"), "shut": ("shut", "shut", "shutting"),
    "sit": ("sat", "sat", "sitting"), "sleep": ("slept", "slept", "sleeping"),
    "speak": ("spoke", "spoken", "speaking"), "spin": ("spun", "spun", "spinning"),
    "stand": ("stood", "stood", "standing"), "sweep": ("swept", "swept", "sweeping"),
    "swing": ("swung", "swung", "swinging"), "take": ("took", "taken", "taking"),
    "tear": ("tore", "torn", "tearing"), "tell": ("told", "told", "telling"),
    "think": ("thought", "thought", "thinking"), "throw": ("threw", "thrown", "throwing"),
    "wake": ("woke", "woken", "waking"), "wear": ("wore", "worn", "wearing"),
    "write": ("wrote", "written", "writing"), "know": ("knew", "known", "knowing"),
    "slide": ("slid", "slid", "sliding"), "feed": ("fed", "fed", "feeding"),
}  # fmt: skip
_DOUBLED = listed("""
chop stop drop grab hop hug mop pan pat pet rub sip step tap trim wrap zip flip scrub unwrap clap
chat pop spin wag
""")


def _forms(lemma: str) -> Iterator[tuple[str, str]]:
    """Each form of a verb with its Penn tag."""
    yield lemma, "VB"
    ending = lemma.endswith(("s", "sh", "ch", "x", "z", "o"))
    soft = lemma.endswith("y") and lemma[-2] not in "aeiou"
    yield (f"{lemma[:-1]}ies" if soft else f"{lemma}es" if ending else f"{lemma}s"), "VBZ"
    if lemma in _IRREGULAR:
        yield from zip(_IRREGULAR[lemma], ("VBD", "VBN", "VBG"), strict=True)
        return
    stem = lemma + lemma[-1] if lemma in _DOUBLED else lemma
    mute = lemma.endswith("e") and not lemma.endswith("ee")
    yield (f"{lemma[:-1]}ied" if soft else f"{stem}d" if lemma[-1] == "e" else f"{stem}ed"), "VBD"
    yield (f"{lemma[:-1]}ing" if mute else f"{stem}ing"), "VBG"


# Form -> lemma and tag; a past form is also a participle.
VERBS: Mapping[str, tuple[str, str]] = {
    form: (lemma, tag)
    for lemma in (*sorted(_IRREGULAR), *sorted(_REGULAR - _IRREGULAR.keys()))
    for form, tag in _forms(lemma)
}
