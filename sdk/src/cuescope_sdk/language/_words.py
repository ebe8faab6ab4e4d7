"""English word lists of claims: what no picture shows, what names nothing, what means the same."""

_STATES = """
happy sad angry upset tired bored curious excited nervous calm confused surprised hungry thirsty
afraid scared confident proud lonely busy likely unlikely possible probable necessary important
relevant consistent correct wrong true false sure certain aware willing ready able unable
interesting logical reasonable plausible typical intentional
"""
_MENTAL = """
want think seem feel know believe decide plan intend hope wish like love hate prefer need try guess
assume infer suggest imply indicate conclude mean expect remember forget consider understand wonder
imagine suppose prove confirm realize realise recall
"""
_IDEAS = """
idea reason intention intent goal plan purpose thought feeling emotion mood opinion belief
conclusion inference evidence reasoning assumption possibility task need desire decision
"""
_UNCLEAR = "it they them this that these those one something anything another"
_ANYTHING = "thing object item shape"
_ANYONE = "person people human someone somebody anyone he she him her"
_SOMEONE = "man woman boy girl child kid adult guy lady"
_AGENTS = "agent robot camera i we you driver follower viewer"
_PASSING = "appear reappear disappear enter leave"

STATES = frozenset(_STATES.split())  # attributes that no picture shows
MENTAL = frozenset(_MENTAL.split())  # verbs that no picture shows
IDEAS = frozenset(_IDEAS.split())  # nouns that no picture shows
UNCLEAR = frozenset(_UNCLEAR.split())
ANYTHING = frozenset(_ANYTHING.split())  # names of everything
ANYONE = frozenset(_ANYONE.split())
PEOPLE = ANYONE | frozenset(_SOMEONE.split())
AGENTS = frozenset(_AGENTS.split())  # they need not be in the picture
IN_SIGHT = frozenset({"visible", "present", "there", "seen", "in view", "in sight", "on screen"})
OUT_OF_SIGHT = frozenset({"hidden", "occluded", "invisible", "out of view", "out of sight"})
COMING_AND_GOING = frozenset(_PASSING.split())  # verbs of what is out of sight
_SPELLINGS = {"gray": "grey", "violet": "purple", "vanish": "disappear"}


def normalise_words(words: str) -> str:
    """Lower case, single spaces, one spelling or word for the same."""
    return " ".join(_SPELLINGS.get(word, word) for word in words.lower().split())


def head_noun(phrase: str) -> str:
    """The noun of a noun phrase: its last word."""
    return phrase.rpartition(" ")[2]


def is_name_of(word: str, known: str) -> bool:
    """Whether `word` names what is known as `known`: "table" a "dining table", "i" the "agent".

    What is known may have several names, as in "cup/glass".
    """
    return any(
        word == name or name.endswith(f" {word}") or word in ANYTHING or _same_one(word, name)
        for name in known.split("/")
    )


def _same_one(one: str, other: str) -> bool:
    """Both the agent, or both a person of whom no more is said than that."""
    both = {one, other}
    return both <= AGENTS or (both <= PEOPLE and not both.isdisjoint(ANYONE))
