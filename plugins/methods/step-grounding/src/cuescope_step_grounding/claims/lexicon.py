"""English word lists: how steps name verbs, things, places, people, views, plans and motions."""

from collections.abc import Iterator, Mapping, Sequence

from cuescope_sdk.language import IDEAS, MENTAL


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written with blanks."""
    return frozenset(words.split())


def by_word(groups: Mapping[str, str]) -> dict[str, str]:
    """Each word with the name of the group that lists it."""
    return {word: name for name, words in groups.items() for word in words.split()}


_REGULAR = word_set("""
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
_LEMMA_PAST_PARTICIPLE_GERUND = """
begin began begun beginning, bend bent bent bending, blow blew blown blowing,
break broke broken breaking, bring brought brought bringing, come came come coming,
cut cut cut cutting, draw drew drawn drawing, drink drank drunk drinking, eat ate eaten eating,
fall fell fallen falling, find found found finding, get got gotten getting,
give gave given giving, go went gone going, hang hung hung hanging, hit hit hit hitting,
hold held held holding, keep kept kept keeping, lay laid laid laying, lead led led leading,
leave left left leaving, let let let letting, lie lay lain lying, make made made making,
pay paid paid paying, put put put putting, read read read reading, ring rang rung ringing,
run ran run running, see saw seen seeing, set set set setting, shake shook shaken shaking,
shut shut shut shutting, sit sat sat sitting, sleep slept slept sleeping,
speak spoke spoken speaking, spin spun spun spinning, stand stood stood standing,
sweep swept swept sweeping, swing swung swung swinging, take took taken taking,
tear tore torn tearing, tell told told telling, think thought thought thinking,
throw threw thrown throwing, wake woke woken waking, wear wore worn wearing,
write wrote written writing, know knew known knowing, slide slid slid sliding,
feed fed fed feeding
"""
_IRREGULAR: Mapping[str, Sequence[str]] = {
    forms.split()[0]: forms.split()[1:] for forms in _LEMMA_PAST_PARTICIPLE_GERUND.split(",")
}
_DOUBLED = word_set("""
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


# -------------------------------------------------------------------------------------- nouns

PEOPLE = word_set("""
person man woman boy girl child kid baby adult guy lady people someone somebody anyone everyone
toddler teenager teen mother father chef cook worker player student commander follower driver
""")
SHE = word_set("woman girl lady mother")
HE = word_set("man boy guy father")
ANYONE = word_set("someone somebody anyone anybody nobody everyone everybody person people")
AGENTS = word_set("i we you agent robot camera myself me us")
ANIMALS = word_set("dog cat bird")
AGENT = "agent"  # who holds the camera
# What is spoken about rather than seen.
UNSEEN = IDEAS | word_set("""
video clip frame scene footage image step question answer option choice
instruction instructions beginning end start middle time moment second seconds minute point way
direction side part portion sequence order action activity event task something anything nothing
everything thing place location position movement motion change fact example case reason result
meter metre meters foot degree degrees distance track route turn left right front back top bottom
background foreground corner center centre edge total number view sight goal destination total
rest one first last next other others bite sip look seat call intersection process care hurry
attention conversation use piece pieces half halves duration appearance presence absence
information context detail details episode trajectory waypoint viewpoint
""")
# "a pair of scissors", "the top of the stairs": what counts is what follows "of".
PARTS = word_set("""
pair piece slice set row flight bunch stack pile couple lot group loaf number kind type bit sheet
top bottom side end middle center centre corner edge front back left right rest part half line
series variety view
""")
PLURAL_ONLY = word_set("""
glasses sunglasses scissors pants trousers jeans shorts clothes stairs blinds binoculars
headphones pajamas tongs pliers goggles groceries downstairs upstairs
""")
NO_ADJECTIVES = word_set("""
other another same first second third fourth fifth last next few several many various different
nearby visible main whole entire only such certain own more most much some following previous
""")
CLOTHES = word_set("""
shirt t-shirt jacket coat dress hoodie hat cap sweater pants jeans skirt suit uniform apron
glasses shorts trousers top blouse pajamas gloves scarf shoes vest robe
""")

# -------------------------------------------------------------------------------- prepositions

# Prepositions of one word with their relation; those of several words are in `sentences`.
RELATIONS = by_word(
    {
        "on": "on upon onto atop",
        "under": "under underneath beneath",
        "below": "below",
        "above": "above over",
        "inside": "in inside within into",
        "behind": "behind",
        "near": "beside near by at alongside",
        "around": "around",
        "between": "between",
        "touching": "against",
        "among": "among",
    }
)
# Where a person is who does something to a thing; elsewhere the thing is meant.
ROOMS = word_set("""
room kitchen bedroom bathroom hallway hall corridor garage office garden yard house street closet
sofa couch bed chair armchair bench carpet rug stool balcony doorway porch park
""")
TOWARDS = frozenset({"onto", "into"})  # true only once the motion is over
# Verbs after which a thing is where the preposition says.
PLACING = word_set("""
put place set lay drop pour insert hang throw toss leave fall land slide return store add stick
arrange rest
""")
MOVING = word_set("""
walk run jump go come step move climb crawl leave get rush exit enter pass head return slide fly
roll dance hop sneak wander
""")
PASSED = frozenset({"between", "under", "above", "around", "behind", "across from"})
POSTURES = word_set("sit stand lie hang rest lean be stay remain locate")
PARTICLES = word_set("up down out off away back over in on around apart together left right")
DIRECTED = word_set("""
to toward towards through past into out of across along up down off over around from onto
""")
# Prepositions with the verbs that they are one with.
PHRASAL: Mapping[str, frozenset[str]] = {
    "at": word_set("look stare glance gaze point smile wave"),
    "to": word_set("talk speak listen wave lead"),
    "with": word_set("talk play interact"),
    "for": word_set("reach wait look search"),
    "from": word_set("drink eat"),
    "on": word_set("knock write type work press tap"),
    "into": word_set("reach look lead"),
    "out of": word_set("look"),
    "through": word_set("look"),
    "onto": word_set("open hold"),
}

# --------------------------------------------------------------------------------------- verbs

LINKING = word_set("be seem look appear become remain stay get feel keep turn")
SEEING = word_set("""
see notice observe spot find show reveal feature depict contain include view display watch detect
identify capture
""")
SHOWN = word_set("see show visible present find observe notice seen shown there display")
BEGINNING = word_set("begin start continue keep finish seem appear proceed happen stop")
PLANNING = MENTAL | word_set("have go try able aim attempt ask tell instruct")
WANTING = word_set("want need like wish")
HEDGES = word_set("should would will might may could must shall 'll 'd wo")
INFERRING = word_set("suggest indicate imply mean match confirm conclude answer prove")
ABOUT_QUESTION = word_set("""
answer question option choice instruction instructions conclusion reasoning task goal step
evidence result
""")
# "is closed": how a thing is, not what is done to it.
STATES = word_set("""
close closed break broken fold folded lit light seat seated locate located situate situated mount
mounted park parked fill filled cover covered do done cook cooked crowd crowded position
positioned occupy occupied tidy cluttered clutter unlock lock locked unlocked carpet tile wrinkle
open
""")
NOWHERE = word_set("locate situate position mount place")  # says only where
SWITCHES = word_set("on off up down out")  # "the light is off"

# -------------------------------------------------------------------------------- time and order

ORDER = word_set("then next afterwards afterward later subsequently")
ORDERS = by_word({"before": "before until", "after": "after once", "while": "while as when whilst"})

# ----------------------------------------------------------------------------------- ego-motion

TURNS = word_set("turn rotate veer bear swing pan spin pivot")
TAKES = word_set("take make")
STAYS = word_set("stand stay remain keep hold be")
STOPS = word_set("stop wait halt pause")
WALKS = word_set("""
walk go move proceed head continue advance step enter exit leave pass cross follow reach approach
arrive come return keep travel navigate traverse run
""")
ARRIVES = word_set("enter exit leave pass cross follow reach approach arrive")

_COMMON = word_set("""
the is are was were been being of and or to at with from into onto near under over behind between
then there this that these those his her it its their he she they you my not who which what while
after before up down out off left right has have had does did i am
person man woman door table room chair agent robot stairs
""")
# Words by which a text is read as English; verbs that other languages have as words are none.
ENGLISH = _COMMON | VERBS.keys() - word_set("come pan pet pop iron seem say let mean")
