"""English word lists: how steps name things, places, people, views, plans and motions."""

from collections.abc import Mapping

from cuescope_sdk.language import IDEAS, MENTAL
from cuescope_step_grounding.claims.verbs import VERBS, listed

# -------------------------------------------------------------------------------------- nouns

PEOPLE = listed("""
person man woman boy girl child kid baby adult guy lady people someone somebody anyone everyone
toddler teenager teen mother father chef cook worker player student commander follower driver
""")
SHE = listed("woman girl lady mother")
HE = listed("man boy guy father")
ANYONE = listed("someone somebody anyone anybody nobody everyone everybody person people")
AGENTS = listed("i we you agent robot camera myself me us")
ANIMALS = listed("dog cat bird")
AGENT = "agent"  # who holds the camera
# What is spoken about rather than seen.
UNSEEN = IDEAS | listed("""
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
PARTS = listed("""
pair piece slice set row flight bunch stack pile couple lot group loaf number kind type bit sheet
top bottom side end middle center centre corner edge front back left right rest part half line
series variety view
""")
PLURAL_ONLY = listed("""
glasses sunglasses scissors pants trousers jeans shorts clothes stairs blinds binoculars
headphones pajamas tongs pliers goggles groceries downstairs upstairs
""")
NO_ADJECTIVES = listed("""
other another same first second third fourth fifth last next few several many various different
nearby visible main whole entire only such certain own more most much some following previous
""")
CLOTHES = listed("""
shirt t-shirt jacket coat dress hoodie hat cap sweater pants jeans skirt suit uniform apron
glasses shorts trousers top blouse pajamas gloves scarf shoes vest robe
""")

# -------------------------------------------------------------------------------- prepositions

# Prepositions of one word with their relation; those of several words are `reading`'s.
RELATIONS: Mapping[str, str] = {
    "on": "on", "upon": "on", "under": "under", "underneath": "under", "beneath": "under",
    "below": "below", "above": "above", "over": "above", "in": "inside", "inside": "inside",
    "within": "inside", "behind": "behind", "beside": "near", "near": "near", "by": "near",
    "at": "near", "alongside": "near", "around": "around", "between": "between",
    "against": "touching", "among": "among", "onto": "on", "into": "inside", "atop": "on",
}  # fmt: skip
# Where a person is who does something to a thing; elsewhere the thing is meant.
ROOMS = listed("""
room kitchen bedroom bathroom hallway hall corridor garage office garden yard house street closet
sofa couch bed chair armchair bench carpet rug stool balcony doorway porch park
""")
TOWARDS = frozenset({"onto", "into"})  # true only once the motion is over
# Verbs after which a thing is where the preposition says.
PLACING = listed("""
put place set lay drop pour insert hang throw toss leave fall land slide return store add stick
arrange rest
""")
MOVING = listed("""
walk run jump go come step move climb crawl leave get rush exit enter pass head return slide fly
roll dance hop sneak wander
""")
PASSED = frozenset({"between", "under", "above", "around", "behind", "across from"})
POSTURES = listed("sit stand lie hang rest lean be stay remain locate")
PARTICLES = listed("up down out off away back over in on around apart together left right")
DIRECTED = listed("""
to toward towards through past into out of across along up down off over around from onto
""")
# Prepositions with the verbs that they are one with.
PHRASAL: Mapping[str, frozenset[str]] = {
    "at": listed("look stare glance gaze point smile wave"),
    "to": listed("talk speak listen wave lead"),
    "with": listed("talk play interact"),
    "for": listed("reach wait look search"),
    "from": listed("drink eat"),
    "on": listed("knock write type work press tap"),
    "into": listed("reach look lead"),
    "out of": listed("look"),
    "through": listed("look"),
    "onto": listed("open hold"),
}  # fmt: skip

# --------------------------------------------------------------------------------------- verbs

LINKING = listed("be seem look appear become remain stay get feel keep turn")
SEEING = listed("""
see notice observe spot find show reveal feature depict contain include view display watch detect
identify capture
""")
SHOWN = listed("see show visible present find observe notice seen shown there display")
BEGINNING = listed("begin start continue keep finish seem appear proceed happen stop")
PLANNING = MENTAL | listed("have go try able aim attempt ask tell instruct")
WANTING = listed("want need like wish")
HEDGES = listed("should would will might may could must shall 'll 'd wo")
INFERRING = listed("suggest indicate imply mean match confirm conclude answer prove")
SPOKEN_OF = listed("""
answer question option choice instruction instructions conclusion reasoning task goal step
evidence result
""")
# "is closed": how a thing is, not what is done to it.
STATES = listed("""
close closed break broken fold folded lit light seat seated locate located situate situated mount
mounted park parked fill filled cover covered do done cook cooked crowd crowded position
positioned occupy occupied tidy cluttered clutter unlock lock locked unlocked carpet tile wrinkle
open
""")
NOWHERE = listed("locate situate position mount place")  # says only where
SWITCHES = listed("on off up down out")  # "the light is off"

# -------------------------------------------------------------------------------- time and order

ORDER = listed("then next afterwards afterward later subsequently")
ORDERS: Mapping[str, str] = {
    "before": "before", "until": "before", "after": "after", "once": "after", "while": "while",
    "as": "while", "when": "while", "whilst": "while",
}  # fmt: skip

# ----------------------------------------------------------------------------------- ego-motion

TURNS = listed("turn rotate veer bear swing pan spin pivot")
TAKES = listed("take make")
STAYS = listed("stand stay remain keep hold be")
STOPS = listed("stop wait halt pause")
WALKS = listed("""
walk go move proceed head continue advance step enter exit leave pass cross follow reach approach
arrive come return keep travel navigate traverse run
""")
ARRIVES = listed("enter exit leave pass cross follow reach approach arrive")

_COMMON = listed("""
the is are was were been being of and or to at with from into onto near under over behind between
then there this that these those his her it its their he she they you my not who which what while
after before up down out off left right has have had does did i am
person man woman door table room chair agent robot stairs
""")
# Words by which a text is read as English; verbs that other languages have as words are none.
ENGLISH = _COMMON | VERBS.keys() - listed("come pan pet pop iron seem say let mean")
