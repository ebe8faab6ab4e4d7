"""Ego-motion: what the one who holds the camera does with it, in the words of `scenes.MOTIONS`."""

from cuescope_step_grounding.claims.lexicon import ARRIVES, STAYS, STOPS, TAKES, TURNS, WALKS
from cuescope_step_grounding.claims.verbs import listed
from cuescope_step_grounding.claims.words import Tree, Word

_STAIRS = listed("stairs stair staircase steps step stairway ramp ladder escalator")
_SAYING = listed("""
slightly sharply a the to my sharp slight hard immediate straight then right back still directly
my around left up down forward forwards ahead backward backwards turn degrees
""")


def motion(tree: Tree, verb: Word) -> str | None:
    """The motion of an agent's verb; None where it does something else."""
    said = _following(tree, verb)
    stairs = [word.text for word in tree.below(verb) if word.text in _STAIRS]
    lemma, first = verb.lemma, next(iter(said), "")
    side = next((word for word in said if word in {"left", "right"}), None)
    if lemma in STOPS or (lemma in STAYS and first == "still"):
        return "stop"
    if lemma in TURNS or (lemma in TAKES and (side or "turn" in said)):
        if side:
            return f"turn {side}"
        around = {"around", "180", "round", "u-turn"} & set(said)
        return "turn around" if around else None
    if lemma in {"look", "tilt"} and first in {"up", "down", "left", "right"}:
        return f"look {first}" if first in {"up", "down"} else f"turn {first}"
    if lemma in {"ascend", "climb"}:
        return "go up"
    if lemma == "descend":
        return "go down"
    if lemma in {"back", "reverse", "retreat"} or (lemma in WALKS and _backwards(said)):
        return "move backward"
    if lemma not in WALKS or (lemma in {"leave", "follow"} and _leaves_something(tree, verb)):
        return None
    for way in ("up", "down"):
        if f"{way}stairs" in said or (way in said and stairs):
            return f"go {way}"
    if side and lemma not in ARRIVES and "forward" not in said:
        return f"turn {side}"
    if lemma == "keep" and not said:
        return None
    return "move forward"


def _following(tree: Tree, verb: Word) -> list[str]:
    """The words straight after a verb that can say a direction."""
    found: list[str] = []
    for word in tree.words[verb.index + 1 : verb.index + 6]:
        says = word.text in _SAYING or word.text.isdigit()
        if word.name != word.text or not (
            says or (not found and word.tag[:2] in {"RB", "JJ", "VB"})
        ):
            break
        found.append(word.text)
    return found


def _backwards(said: list[str]) -> bool:
    return bool(said) and said[0] in {"back", "backward", "backwards"}


def _leaves_something(tree: Tree, verb: Word) -> bool:
    """Whether a thing is left somewhere ("leaves the cup on the table")."""
    return bool(tree.kids(verb, "dobj")) and any(
        prep.text in {"on", "in"} for prep in tree.kids(verb, "prep")
    )
