"""Who does it, and what it is done to: the words in the roles of a verb."""

from cuescope_step_grounding.claims.english.lexicon import SEPARABLE, WORDS
from cuescope_step_grounding.claims.english.names import is_actor
from cuescope_step_grounding.claims.english.tree import Tree, Word

LINKS = frozenset({"xcomp", "advcl", "pcomp", "conj", "ccomp", "dep"})
_RELATIVE = frozenset({"WDT", "WP"})
_LINKING = frozenset({"that", "which", "who", "whom"})


def subjects_of(tree: Tree, verb: Word) -> list[Word]:
    """The words that do it, or have it done to them: the verb's own subject, or the one that it
    shares with the clause or noun that it hangs on."""
    own = [kid for kid in tree.kids(verb, "nsubj", "nsubjpass") if kid.tag not in _RELATIVE]
    head = tree.head(verb)
    # "uses a hammer to drive a nail": who uses it drives, not the hammer.
    if head.lemma == "use" and verb.tag == "VB" and verb.dep in {"xcomp", "ccomp", "advcl"}:
        return subjects_of(tree, head)
    if own:
        return own
    if verb.dep in {"relcl", "acl"} and (head.is_noun or head.tag == "PRP"):
        return _doer_beside_noun(tree, verb, head)
    if verb.dep in LINKS and head is not verb:
        while not head.is_verb and head.dep != "ROOT" and not head.is_noun:
            head = tree.head(head)
        if head.is_verb:
            # "I see a man walk": who is seen walks, not who sees.
            objects = [kid for kid in tree.kids(head, "dobj") if kid.index < verb.index]
            seen = head.lemma in WORDS["seeing"] and verb.tag in {"VB", "VBG", "VBN"}
            return objects if objects and seen else subjects_of(tree, head)
        return _doer_beside_noun(tree, verb, head) if verb.tag in {"VBG", "VBN"} else []
    if verb.lemma == "be":  # inverted: "beside the bed is a lamp"
        return [kid for kid in tree.kids(verb, "attr") if not tree.kids(verb, "expl")]
    return inverted_subject(tree, verb) or _subject_before(tree, verb)


def objects_of(tree: Tree, verb: Word) -> list[Word]:
    """What it is done to; of a relative clause without an object of its own, the noun before it."""
    inverted = inverted_subject(tree, verb)
    own = [
        kid
        for kid in tree.kids(verb, "dobj")
        if kid.tag not in _RELATIVE and kid.text not in _LINKING and kid not in inverted
    ]
    if len(own) > 1 and own[0].text in WORDS["pronouns"]:
        own = own[1:]  # "hand them cups"
    if (particle := separable(tree, verb)) is not None:
        own += tree.kids(particle, "pobj")
    relative = any(kid.tag in _RELATIVE for kid in tree.kids(verb, "nsubj", "nsubjpass")) or any(
        kid.tag == "WDT" for prep in tree.kids(verb, "prep") for kid in tree.kids(prep, "pobj")
    )
    if verb.dep == "relcl" and not own and not relative and tree.kids(verb, "nsubj"):
        return [tree.head(verb)]
    return own


def agents_of(tree: Tree, verb: Word) -> list[Word]:
    """By whom it is done, of a passive verb."""
    by = [kid for agent in tree.kids(verb, "agent") for kid in tree.kids(agent, "pobj")]
    return by or [
        # "is fed with a bottle by a girl": parsers hang it on the bottle
        noun
        for prep in tree.words[verb.index :]
        if prep.text == "by" and prep.dep == "prep" and verb in tree.above(prep)
        for noun in tree.kids(prep, "pobj")
        if is_actor(noun.lemma)
    ]


def is_passive(tree: Tree, verb: Word) -> bool:
    if tree.kids(verb, "nsubjpass", "auxpass"):
        return True
    if _is_bare_state(tree, verb):
        return True
    if verb.tag != "VBN" or tree.kids(verb, "aux"):
        return False
    if verb.dep == "advcl" and tree.kids(verb, "agent"):
        return True  # "a swan, followed by four cygnets"
    return verb.dep == "acl" or (verb.dep == "conj" and is_passive(tree, tree.head(verb)))


def _is_bare_state(tree: Tree, verb: Word) -> bool:
    """ "cars stuck in traffic", "door locked": a state without its "is"."""
    if verb.text not in WORDS["states"] or verb.tag not in {"VBN", "VBD"}:
        return False
    subjects = tree.kids(verb, "nsubj")
    bare = (
        not tree.kids(verb, "aux", "dobj", "prt") and not tree.kids(subjects[0], "det")
        if subjects
        else False
    )
    return bare and not is_actor(subjects[0].lemma)


def separable(tree: Tree, verb: Word) -> Word | None:
    """The particle that a parser took for a preposition: "turn on the light"."""
    for prep in tree.kids(verb, "prep"):
        if prep.index == verb.index + 1 and verb.lemma in SEPARABLE.get(prep.text, ()):
            return prep
    return None


def inverted_subject(tree: Tree, verb: Word) -> list[Word]:
    """ "Beneath the bridge flows a stream"."""
    fronted = any(prep.index < verb.index for prep in tree.kids(verb, "prep"))
    bare = not tree.kids(verb, "nsubj", "nsubjpass", "expl", "agent")
    if bare and fronted and verb.dep == "ROOT" and verb.tag in {"VBZ", "VBD"}:
        return [kid for kid in tree.kids(verb, "dobj", "attr") if kid.index > verb.index]
    return []


def _doer_beside_noun(tree: Tree, verb: Word, noun: Word) -> list[Word]:
    """Who does what is said of a noun: "the man who sits", "a cup standing there"."""
    above = next((word for word in tree.above(tree.head(noun)) if word.is_verb), None)
    doers = subjects_of(tree, above) if above is not None and noun.dep != "nsubj" else []
    doer = doers[0] if doers and (is_actor(doers[0].lemma) or doers[0].tag == "PRP") else None
    place = noun.lemma in WORDS["rooms"] | WORDS["clothes"] | WORDS["buildings"]
    # "enters the building carrying an axe", "waits at the kerb to cross": no building carries.
    aimed = any(kid.tag == "TO" for kid in tree.kids(verb, "aux"))
    idle = not is_actor(noun.lemma) and (verb.tag == "VB" or place)
    if doer is not None and idle and (aimed or verb.dep != "relcl"):
        return [doer]
    who = any(kid.text == "who" for kid in tree.kids(verb, "nsubj", "nsubjpass"))
    if who and not is_actor(noun.lemma):  # "a woman in sunglasses who talks"
        person = next((w for w in tree.above(noun) if w.is_noun and is_actor(w.lemma)), None)
        noun = person or noun
    joined = [word for word in conjuncts(tree, noun) if word.index < verb.index]
    if any(kid.dep == "neg" for kid in tree.kids(noun)):
        return joined[:1]  # "the girl, not the boy, who blows out the candles"
    # "a sofa, a table and a TV mounted on the wall": of a list the last one
    return joined[-1:] if verb.tag == "VBN" and len(joined) > 2 else [noun]


def conjuncts(tree: Tree, noun: Word) -> list[Word]:
    """The nouns of a list, in order."""
    first = noun
    while first.dep == "conj" and tree.head(first).is_noun:
        first = tree.head(first)
    words = [first]
    for word in words:
        words += [kid for kid in tree.kids(word, "conj") if kid.is_noun]
    return sorted(words, key=lambda word: word.index)


def _subject_before(tree: Tree, verb: Word) -> list[Word]:
    """The subject of a clause that a parser hung on the one after it: "The eagle swoops down,
    grabs the fish and flies off"."""
    if verb.tag not in {"VBZ", "VBD", "VBP"} or tree.kids(verb, "expl"):
        return []
    for clause in tree.kids(verb, "ccomp", "dep", "parataxis", "advcl"):
        if clause.is_verb and clause.index < verb.index and clause.tag == verb.tag:
            return tree.kids(clause, "nsubj")
    return []
