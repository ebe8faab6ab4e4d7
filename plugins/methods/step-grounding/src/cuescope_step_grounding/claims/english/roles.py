"""Who does it, and what it is done to: the words in the roles of a verb."""

from operator import attrgetter

from cuescope_step_grounding.claims.english.denial import first_of_list
from cuescope_step_grounding.claims.english.lexicon import SEPARABLE, WORDS
from cuescope_step_grounding.claims.english.names import is_actor
from cuescope_step_grounding.claims.english.tree import Word

LINKS = {"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"}
SUBJECTS = ("nsubj", "nsubjpass")
_RELATIVE = {"WDT", "WP"}


def subjects_of(verb: Word) -> list[Word]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    head = verb.head
    # "uses a hammer to drive a nail": who uses it drives, not the hammer.
    used = head.lemma == "use" and verb.dep in {"xcomp", "ccomp", "advcl"}
    if used and verb.tag == "VB":
        return subjects_of(head)
    own = [kid for kid in verb.kids(*SUBJECTS) if kid.tag not in _RELATIVE]
    if own:
        return own
    if verb.dep in {"relcl", "acl"} and (head.is_noun or head.tag == "PRP"):
        return _doer_beside_noun(verb, head)
    if verb.dep in LINKS and head is not verb:
        return _subjects_above(verb)
    if verb.lemma == "be":  # inverted: "beside the bed is a lamp"
        return [] if verb.kids("expl") else verb.kids("attr")
    return inverted_subject(verb) or _subject_before(verb)


def _subjects_above(verb: Word) -> list[Word]:
    """The subjects that a verb shares with the clause or noun above it."""
    above = verb.head
    while not above.is_verb and above.dep != "ROOT" and not above.is_noun:
        above = above.head
    participle = verb.tag in {"VBG", "VBN"}
    if not above.is_verb:
        return _doer_beside_noun(verb, above) if participle else []
    # "I see a man walk": who is seen walks, not who sees.
    if above.lemma in WORDS.seeing and (participle or verb.tag == "VB"):
        seen = [kid for kid in above.kids("dobj") if kid.index < verb.index]
        if seen:
            return seen
    return subjects_of(above)


def objects_of(verb: Word) -> list[Word]:
    """What it is done to; of a relative clause without an object of its own, the noun before it."""
    inverted = inverted_subject(verb)
    own = []
    for kid in verb.kids("dobj"):
        relative = kid.tag in _RELATIVE or kid.text in WORDS.relative_pronouns
        if not relative and kid not in inverted:
            own.append(kid)
    if len(own) > 1 and own[0].text in WORDS.pronouns:
        own = own[1:]  # "hand them cups"
    particle = separable(verb)
    if particle is not None:
        own += particle.kids("pobj")
    if own or verb.dep != "relcl" or not verb.kids("nsubj"):
        return own
    # "the man who sits": the noun is the subject, so it is not the object too
    of_subjects = verb.tags(*SUBJECTS) & _RELATIVE
    of_preps = "WDT" in [noun.tag for noun in verb.grandkids("prep", "pobj")]
    return [] if of_subjects or of_preps else [verb.head]


def agents_of(verb: Word) -> list[Word]:
    """By whom it is done, of a passive verb."""
    agents = verb.grandkids("agent", "pobj")
    if agents:
        return agents
    # "is fed with a bottle by a girl": parsers hang it on the bottle
    for prep in verb.sentence[verb.index :]:
        if prep.text == "by" and prep.dep == "prep" and verb in prep.above():
            agents += [noun for noun in prep.kids("pobj") if is_actor(noun.lemma)]
    return agents


def is_passive(verb: Word) -> bool:
    if verb.kids("nsubjpass", "auxpass") or _is_bare_state(verb):
        return True
    if verb.tag != "VBN" or verb.kids("aux"):
        return False
    if verb.dep == "advcl" and verb.kids("agent"):
        return True  # "a swan, followed by four cygnets"
    return verb.dep == "acl" or (verb.dep == "conj" and is_passive(verb.head))


def _is_bare_state(verb: Word) -> bool:
    """ "cars stuck in traffic", "door locked": a state without its "is"."""
    if verb.text not in WORDS.states or verb.tag not in {"VBN", "VBD"}:
        return False
    subjects = verb.kids("nsubj")
    if not subjects or verb.kids("aux", "dobj", "prt"):
        return False
    # "the door closed" is an event: short states have no article
    return not subjects[0].kids("det") and not is_actor(subjects[0].lemma)


def separable(verb: Word) -> Word | None:
    """The particle that a parser took for a preposition: "turn on the light"."""
    for prep in verb.kids("prep"):
        if prep.index == verb.index + 1 and verb.lemma in SEPARABLE.get(prep.text, ()):
            return prep
    return None


def inverted_subject(verb: Word) -> list[Word]:
    """ "Beneath the bridge flows a stream"."""
    fronted = len(verb.kids("prep")) > len(verb.kids_after("prep"))
    bare = not verb.kids(*SUBJECTS, "expl", "agent")
    if bare and fronted and verb.dep == "ROOT" and verb.tag in {"VBZ", "VBD"}:
        return verb.kids_after("dobj", "attr")
    return []


def _doer_beside_noun(verb: Word, noun: Word) -> list[Word]:
    """Who does what is said of a noun: "the man who sits", "a cup standing there"."""
    actor = is_actor(noun.lemma)
    doer = _doer_above(noun)
    place = noun.lemma in WORDS.rooms | WORDS.clothes | WORDS.buildings
    # "enters the building carrying an axe", "waits at the kerb to cross": no building carries.
    aimed = "TO" in verb.tags("aux")
    idle = not actor and (verb.tag == "VB" or place)
    if doer is not None and idle and (aimed or verb.dep != "relcl"):
        return [doer]
    if verb.has({"who"}, *SUBJECTS) and not actor:  # "a woman in sunglasses who talks"
        for word in noun.above():
            if word.is_noun and is_actor(word.lemma):
                noun = word
                break
    joined = [word for word in conjuncts(noun) if word.index < verb.index]
    if noun.kids("neg"):
        return joined[:1]  # "the girl, not the boy, who blows out the candles"
    # "a sofa, a table and a TV mounted on the wall": of a list the last one
    return joined[-1:] if verb.tag == "VBN" and len(joined) > 2 else [noun]


def _doer_above(noun: Word) -> Word | None:
    """Who does what a noun is part of, where it acts."""
    verbs = [word for word in noun.head.above() if word.is_verb]
    if not verbs or noun.dep == "nsubj":
        return None
    for doer in subjects_of(verbs[0])[:1]:
        if is_actor(doer.lemma) or doer.tag == "PRP":
            return doer
    return None


def conjuncts(noun: Word) -> list[Word]:
    """The nouns of a list, in order."""
    words = [first_of_list(noun)]
    for word in words:
        words += [kid for kid in word.kids("conj") if kid.is_noun]
    return sorted(words, key=attrgetter("index"))


def _subject_before(verb: Word) -> list[Word]:
    """The subject of a clause that a parser hung on the one after it: "The eagle swoops down,
    grabs the fish and flies off"."""
    if verb.tag not in {"VBZ", "VBD", "VBP"} or verb.kids("expl"):
        return []
    for clause in verb.kids("ccomp", "dep", "parataxis", "advcl"):
        if clause.is_verb and clause.index < verb.index and clause.tag == verb.tag:
            return clause.kids("nsubj")
    return []
