"""What the driver did as scenes: which pictures are shown, and what is known of each."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import groupby, pairwise

from cuescope_sdk.data import Probe
from cuescope_sdk.grounding import Action, SceneFrame, Thing, turn_name
from cuescope_teach.layout import Moment

AGENT = "agent"
_WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
MOVES: Mapping[str, str] = _WORDS["moves"]
VERBS: Mapping[str, Sequence[str]] = _WORDS["verbs"]
NOUNS: Mapping[str, str] = _WORDS["nouns"]
# AI2-THOR turns by a quarter
TURNS = {"turn left": -90, "turn right": 90}  # degrees
# done to what is held; the id is of where it goes
WITH_HELD = frozenset({"Place", "Pour"})


def choose_moments(moments: Sequence[Moment], wanted: int) -> tuple[int, ...]:
    """At most `wanted` of the moments: where something else begins to be done, and the last."""
    kinds = [MOVES.get(moment.action) for moment in moments]
    starts = []
    for index, kind in enumerate(kinds):
        is_end = index in (0, len(kinds) - 1)
        # what is no motion is always shown
        if is_end or kind is None or kind != kinds[index - 1]:
            starts.append(index)
    if len(starts) <= wanted:
        return tuple(starts)
    return tuple(starts[index] for index in Probe.sample_indices(len(starts), wanted))


def scenes(moments: Sequence[Moment], shown: Sequence[int]) -> tuple[SceneFrame, ...]:
    """What is known at each shown moment.

    An action is in the last frame before it is done and the first one after; what was picked up is
    held until it is placed. All motion since the frame before is annotated, or, where it was of
    several kinds, none. Of other things and actions nothing follows.
    """
    actions: defaultdict[int, list[Action]] = defaultdict(list)
    things: defaultdict[int, dict[str, None]] = defaultdict(dict)
    in_hand = _things_in_hand(moments)
    for frame, index in enumerate(shown):
        thing = in_hand[index]
        if thing is not None:
            actions[frame] += [_action("hold", thing), _action("carry", thing)]
            things[frame][thing] = None
    # the last frame has all that is done until the end
    for frame, (first, after) in enumerate(pairwise((*shown, len(moments)))):
        for index in range(first, after):
            moment = moments[index]
            if moment.action not in VERBS:
                continue
            thing = in_hand[index] if moment.action in WITH_HELD else moment.oid
            # What is done between two shown frames can be told from either of them.
            for neighbour in range(frame, min(frame + 2, len(shown))):
                actions[neighbour] += [
                    _action(verb, thing) for verb in VERBS[moment.action]
                ]
                # what is placed, and where it goes
                things[neighbour] |= dict.fromkeys(filter(None, (thing, moment.oid)))
    # never seen: the pictures are what it sees itself
    agent = Thing(id=AGENT, name=AGENT, visible=False)
    graphs = []
    # nothing is known of what was done before the first frame
    before = shown[0]
    for frame, index in enumerate(shown):
        motion, is_complete = motion_of(moments[before:index])
        before = index
        graph = SceneFrame(
            things=(agent, *map(_thing, things[frame])),
            actions=tuple(dict.fromkeys(actions[frame])),
            motion=motion,
            closed=frozenset({"motion"} if is_complete else ()),
        )
        graphs.append(graph)
    return tuple(graphs)


def motion_of(moments: Sequence[Moment]) -> tuple[str | None, bool]:
    """The one kind of motion among some actions, and whether that is all of it.

    Turns one after the other are one turn, or none.
    """
    moves = [MOVES[moment.action] for moment in moments if moment.action in MOVES]
    motions = []
    for kind, run in groupby(moves, key=lambda move: "turn" if move in TURNS else move):
        motion: str | None = kind
        if kind == "turn":
            motion = turn_name(sum(map(TURNS.__getitem__, run)))
        # left and right again, or a full circle, is no turn
        if motion is not None:
            motions.append(motion)
    only = motions[0] if len(motions) == 1 else None
    return only, len(motions) <= 1


def name_of(oid: str) -> str:
    """ "Cup|-01.2|+00.9|+03.0" is a cup, "CoffeeTable|..." a coffee table."""
    kind = oid.partition("|")[0]
    # CamelCase, and capitals in a row as in "TVStand"
    words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", kind)).lower()
    return NOUNS.get(words, words)


def _things_in_hand(moments: Sequence[Moment]) -> list[str | None]:
    """What is in hand as each picture is taken, as far as it was picked up in these moments."""
    held: str | None = None
    before = []
    for moment in moments:
        before.append(held)  # the picture is taken before the action
        if moment.action == "Pickup":
            held = moment.oid
        elif moment.action == "Place":
            held = None
    return before


def _thing(oid: str) -> Thing:
    return Thing(id=oid, name=name_of(oid))


def _action(verb: str, thing: str | None) -> Action:
    return Action(subject=AGENT, verb=verb, object=thing)
