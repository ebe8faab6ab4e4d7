"""Claims against annotated scenes with planted truths, one for each rule and reason."""

from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Frame, Sample
from cuescope_sdk.grounding import (
    SCENE,
    Action,
    Claim,
    ClaimVerifier,
    Judgement,
    Relation,
    SceneFrame,
    Thing,
)
from cuescope_sdk.grounding._by_scene import SceneVerifier
from cuescope_sdk.language._words import BagOfWords

CLOSED = frozenset({"things", "attributes", "relations", "actions", "motion"})
BLANK = Frame.from_array(np.zeros((4, 4, 3), np.uint8))


def claim(kind: str, subject: str, *frames: int, **more: Any) -> Claim:
    """A claim about these frames, any where none is named."""
    words = (subject, more.get("predicate"), more.get("object"))
    fields = {"text": " ".join(filter(None, words)), "frames": frames or None, **more}
    return Claim.model_validate({"kind": kind, "subject": subject, **fields})


def entity(subject: str, *frames: int, **more: Any) -> Claim:
    """It is on screen."""
    return claim("entity", subject, *frames, **more)


def attribute(subject: str, predicate: str, *frames: int, **more: Any) -> Claim:
    """It is so."""
    return claim("attribute", subject, *frames, predicate=predicate, **more)


def action(subject: str, verb: str, *frames: int, **more: Any) -> Claim:
    """It does so."""
    return claim("action", subject, *frames, predicate=verb, **more)


def relation(
    subject: str, predicate: str, other: str, *frames: int, **more: Any
) -> Claim:
    """One is so to the other."""
    return claim(
        "relation", subject, *frames, predicate=predicate, object=other, **more
    )


def motion(predicate: str, *frames: int, **more: Any) -> Claim:
    """The camera does so."""
    return claim("ego-motion", "", *frames, predicate=predicate, **more)


def order(part: Claim, predicate: str, other: Claim, **more: Any) -> Claim:
    """One before, after or while the other."""
    return claim("temporal", "", predicate=predicate, parts=(part, other), **more)


def says(verifier: ClaimVerifier, sample: Sample, *claims: Claim) -> list[str]:
    """The verdict on each claim, or the reason that there is none."""
    [judgements] = verifier.judge([(sample, claims)])
    return [judgement.reason or judgement.verdict for judgement in judgements]


def circle(x: float, **more: object) -> Thing:
    said = {"name": "circle", "attributes": ("red",), "box": (x, 0, x + 10, 10), **more}
    return Thing.model_validate({"id": "c", **said})


SQUARE = Thing(id="s", name="square", attributes=("blue",), box=(50, 0, 60, 10))
OTHER = Thing(id="s2", name="square", attributes=("green",), box=(0, 30, 10, 40))
STAR = Thing(id="t", name="star", attributes=("green",), box=(30, 0, 40, 10))
LEFT = Relation(subject="c", predicate="left of", object="s")
RIGHT = Relation(subject="c", predicate="right of", object="s")


def told(*things: Thing, **more: object) -> SceneFrame:
    return SceneFrame.model_validate({"things": things, "closed": CLOSED, **more})


def going(verb: str, subject: str = "c", of: str | None = None) -> Action:
    return Action(subject=subject, verb=verb, object=of)


# The circle passes the square from left to right, hides at 2, turns green at 4; a star comes at 3.
WORLD = (
    told(circle(20), SQUARE, relations=(LEFT,)),
    told(
        circle(40),
        SQUARE,
        relations=(LEFT,),
        actions=(going("move right"),),
        motion="turn left",
    ),
    told(circle(50, visible=False), SQUARE, actions=(going("move right"),)),
    told(circle(70), SQUARE, STAR, relations=(RIGHT,), actions=(going("appear", "t"),)),
    told(
        circle(70, attributes=("green",)),
        OTHER,
        STAR,
        actions=(going("turn green"), going("disappear", "s")),
        motion="stop",
    ),
)


def sample(*scene: SceneFrame) -> Sample:
    return Sample(key="a", frames=(BLANK,) * len(scene), annotations={SCENE: scene})


def count(subject: str, number: str, *frames: int, **more: object) -> Claim:
    return Claim.model_validate(
        {
            "kind": "count",
            "text": "",
            "subject": subject,
            "predicate": number,
            "frames": frames,
        }
        | more
    )


def verdict_on(said: Claim, *scene: SceneFrame) -> str:
    """The verdict, or the reason that there is none."""
    [found] = says(SceneVerifier(), sample(*(scene or WORLD)), said)
    return found


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (entity("red circle", 0), "supported"),
        (entity("thing", 0), "supported"),
        (entity("blue thing", 0), "supported"),
        (entity("green thing", 0), "unsupported"),
        (entity("blue circle", 0), "unsupported"),
        (entity("triangle"), "unsupported"),
        (entity("red circle", 2), "occluded"),
        (entity("red circle", 1, 2), "supported"),
        (entity("star", 0, 1), "unsupported"),
        (entity("star"), "supported"),
        (entity("triangle", negated=True), "supported"),
        (entity("star", 0, 1, negated=True), "supported"),
        (entity("star", 0, 3, negated=True), "unsupported"),
        (entity("red circle", 2, negated=True), "occluded"),
        (count("thing", "2", 0), "supported"),
        (count("thing", "3", 0), "unsupported"),
        (count("thing", "1", 0), "unsupported"),
        (count("thing", "3", 0, 4), "supported"),
        (count("green thing", "3", 4), "supported"),
        (count("green thing", "2", 4), "unsupported"),
        (count("green thing", "2", 4, negated=True), "supported"),
        # of three green things two may do what is said of them
        (count("green thing", "2", 4, parts=(entity("thing"),)), "complex relation"),
        (count("green thing", "4", 4, parts=(entity("thing"),)), "unsupported"),
        (count("circle", "1", 2), "occluded"),
        (count("circle", "many", 0), "out of vocabulary"),
        (count("circle", "", 0), "unclear reference"),
        (attribute("circle", "red", 0), "supported"),
        (attribute("circle", "green", 0), "unsupported"),
        (attribute("circle", "green"), "supported"),
        (attribute("circle", "green", 0, negated=True), "supported"),
        (attribute("circle", "red", 2), "occluded"),
        (attribute("circle", "visible", 1), "supported"),
        (attribute("circle", "hidden", 2), "supported"),
        (attribute("circle", "hidden", 1), "unsupported"),
        (attribute("triangle", "red"), "unsupported"),
        (relation("circle", "left of", "square", 0), "supported"),
        (relation("square", "right of", "circle", 0), "supported"),
        (relation("circle", "right of", "square", 0), "unsupported"),
        (relation("circle", "right of", "square", 3), "supported"),
        (relation("circle", "left of", "blue square", 2), "occluded"),
        (relation("circle", "left of", "triangle", 0), "unsupported"),
        (relation("square", "near", "square", 0), "unsupported"),
        (action("circle", "move right", 1), "supported"),
        (action("red circle", "move", 1), "supported"),
        (action("circle", "move left", 1), "unsupported"),
        (action("square", "move right", 1), "unsupported"),
        (action("circle", "move right", 2), "occluded"),
        (action("star", "appear", 3), "supported"),
        (action("blue square", "vanish", 4), "supported"),
        (action("green square", "disappear", 4), "unsupported"),
        (action("red circle", "turn green", 4), "supported"),
        (action("circle", "turn green", 3), "unsupported"),
        (motion("turn left", 1), "supported"),
        (motion("turn right", 1), "unsupported"),
        (motion("turn left", 2), "unsupported"),
        (motion("stop", 0), "supported"),
        (order(entity("circle"), "before", entity("star")), "supported"),
        (order(entity("circle"), "after", entity("star")), "unsupported"),
        (order(entity("star"), "after", motion("turn left")), "supported"),
        (
            order(action("circle", "move right"), "while", motion("turn left")),
            "supported",
        ),
        (order(entity("star"), "while", motion("turn left")), "unsupported"),
        (order(entity("triangle"), "before", entity("star")), "unsupported"),
        (order(entity("circle", 3), "before", entity("star", 3)), "supported"),
        (order(entity("star", 4), "before", entity("square", 0)), "unsupported"),
    ],
)
def test_verdicts_in_a_closed_world(said: Claim, verdict: str) -> None:
    assert verdict_on(said) == verdict


OPEN = (
    SceneFrame(
        things=(
            Thing(id="p", name="person", box=(0, 0, 10, 40)),
            Thing(id="g", name="cup/glass", attributes=("red",), box=(8, 10, 12, 14)),
            Thing(id="d", name="dining table"),
        ),
        relations=(Relation(subject="p", predicate="holding", object="g"),),
        actions=(going("pick up", "p", "g"), going("look around", "agent")),
    ),
    SceneFrame(things=(Thing(id="p", name="person"),), motion="go up"),
)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (entity("woman"), "supported"),
        (entity("table", 0), "supported"),
        (entity("glass", 0), "supported"),
        (entity("glass", 1), "no evidence"),
        (entity("zebra"), "out of vocabulary"),
        (entity("zebra", negated=True), "out of vocabulary"),
        (entity("blue glass", 0), "out of vocabulary"),
        (entity("red table", 0), "no evidence"),
        (attribute("table", "red", 0), "no evidence"),
        (attribute("table", "wobbly", 0), "out of vocabulary"),
        (relation("man", "holding", "red cup", 0), "supported"),
        (relation("table", "holding", "cup", 0), "no evidence"),
        (relation("person", "left of", "cup", 0), "supported"),
        (relation("cup", "left of", "person", 0), "unsupported"),
        (relation("person", "left of", "table", 0), "no evidence"),
        (relation("person", "behind", "cup", 0), "complex relation"),
        (relation("cup", "between", "table and person", 0), "complex relation"),
        (action("person", "pick up", 0, object="glass"), "supported"),
        (action("person", "pick up", 0, object="table"), "no evidence"),
        (action("person", "sing", 0), "out of vocabulary"),
        (action("agent", "look around", 0), "supported"),
        (motion("go up", 1), "supported"),
        (motion("go down", 1), "unsupported"),
        (motion("go up", 0), "no evidence"),
        (motion("moonwalk", 0), "out of vocabulary"),
        (attribute("person", "very happy"), "abstract"),
        (action("person", "want to leave"), "abstract"),
        (entity("clear intention"), "abstract"),
        (entity("it"), "unclear reference"),
        (attribute("", "red"), "unclear reference"),
        (attribute("person", ""), "unclear reference"),
        (relation("person", "left of", ""), "unclear reference"),
        (action("", "pick up", 0, object="cup"), "supported"),
        (entity("<b>\x00 🙂 стол"), "out of vocabulary"),
        (entity(" "), "out of vocabulary"),
        (entity("person", frames=()), "unclear reference"),
        (entity("person", 7), "unclear reference"),
        (order(entity("person"), "beside", entity("cup")), "complex relation"),
        (order(entity("zebra"), "before", entity("cup")), "out of vocabulary"),
        (order(entity("person"), "before", action("person", "want")), "abstract"),
    ],
)
def test_verdicts_where_not_all_is_told(said: Claim, verdict: str) -> None:
    assert verdict_on(said, *OPEN) == verdict


def test_the_agent_acts_unseen_under_any_of_its_names() -> None:
    agent, cup = Thing(id="me", name="agent", visible=False), Thing(id="g", name="cup")
    frame = SceneFrame(things=(agent, cup), actions=(going("pick up", "me", "g"),))
    for name in ("agent", "i", "robot", ""):
        assert (
            verdict_on(action(name, "pick up", 0, object="cup"), frame) == "supported"
        )
    assert (
        verdict_on(action("man", "pick up", 0, object="cup"), frame)
        == "out of vocabulary"
    )


def wide(*scene: SceneFrame) -> Sample:
    """The world in pictures 100 px wide."""
    frame = Frame.from_array(np.zeros((50, 100, 3), np.uint8))
    return Sample(key="w", frames=(frame,) * len(scene), annotations={SCENE: scene})


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (relation("circle", "left of", "agent", 0), "supported"),
        (relation("circle", "right of", "agent", 0), "unsupported"),
        (relation("circle", "right of", "i", 3), "supported"),
        (relation("circle", "right of", "agent", 2), "occluded"),
        (relation("agent", "left of", "square", 0), "supported"),
        (relation("agent", "right of", "square", 0), "unsupported"),
        (relation("thing", "right of", "agent", 0), "supported"),
        (relation("triangle", "left of", "agent", 0), "unsupported"),
        (relation("circle", "in front of", "agent", 0), "supported"),
        (relation("star", "in front of", "agent", 0), "unsupported"),
        (relation("circle", "behind", "agent", 0), "unsupported"),
        (relation("star", "behind", "agent", 0), "no evidence"),
        (relation("agent", "in front of", "square", 0), "complex relation"),
        (relation("circle", "near", "agent", 0), "complex relation"),
        (relation("agent", "left of", "camera", 0), "unsupported"),
    ],
)
def test_the_picture_is_what_the_agent_sees(said: Claim, verdict: str) -> None:
    """The circle stands at 25 px, the square at 55 px of 100; the star comes at frame 3."""
    assert says(SceneVerifier(), wide(*WORLD), said) == [verdict]


def test_an_agent_in_the_picture_is_a_thing_like_others() -> None:
    robot = Thing(id="r", name="robot", box=(0, 0, 10, 10))
    scene = told(
        robot,
        SQUARE,
        relations=(Relation(subject="s", predicate="right of", object="r"),),
    )
    assert says(
        SceneVerifier(), wide(scene), relation("square", "right of", "robot")
    ) == ["supported"]
    assert says(SceneVerifier(), wide(scene), relation("square", "near", "robot")) == [
        "unsupported"
    ]


def test_a_judgement_points_at_what_was_seen() -> None:
    [[seen]] = SceneVerifier().judge([(sample(*WORLD), [entity("star")])])
    assert (seen.frame, seen.box) == (3, STAR.box)


def test_without_annotations_nothing_is_known() -> None:
    bare = Sample(key="b", frames=(BLANK,))
    [said] = SceneVerifier().judge([(bare, [entity("cat"), attribute("cat", "happy")])])
    assert [one.reason for one in said] == ["no evidence", "abstract"]


def test_the_bag_knows_related_words() -> None:
    bag = BagOfWords()
    rows = bag.encode(
        [
            "The red chairs are left of the table.",
            "A red chair left of tables",
            "He drinks water.",
            "",
            "!",
        ]
    )
    likeness = rows @ rows.T
    assert np.diag(likeness) == pytest.approx(1)
    assert likeness[0, 1] == pytest.approx(1)
    assert likeness[0, 2] < 0.3
    assert likeness[3, 4] == pytest.approx(1)
    assert bag.encode([]).shape == (0, rows.shape[1])


def test_judgements_are_opposite_under_denial() -> None:
    for said in (
        entity("star", 0),
        entity("star", 3),
        relation("circle", "near", "square", 0),
    ):
        plain = verdict_on(said)
        denied = verdict_on(said.model_copy(update={"negated": True}))
        assert {plain, denied} == {"supported", "unsupported"}
    assert Judgement.of(True).verdict == "supported"


@pytest.mark.parametrize(
    ("subject", "known", "verdict", "general"),
    [
        ("woman", "person", "supported", True),
        ("person", "woman", "supported", False),
        ("woman", "woman", "supported", False),
        ("woman", "person/woman", "supported", False),
        ("person", "person", "supported", False),
        ("woman", "man", "unsupported", False),
    ],
)
def test_a_person_supports_a_woman_and_says_that_no_more_was_seen(
    subject: str, known: str, verdict: str, general: bool
) -> None:
    scene = told(
        Thing(id="p", name=known, box=(0, 0, 9, 9)), actions=(going("walk", "p"),)
    )
    video = Sample(key="a", frames=(BLANK,), annotations={SCENE: (scene,)})
    claims = [entity(subject), entity(subject, negated=True), action(subject, "walk")]
    there, denied, walking = SceneVerifier().judge([(video, claims)])[0]
    assert (there.verdict, there.general) == (verdict, general)
    assert denied.verdict != there.verdict
    assert (walking.verdict, walking.general) == (verdict, general)
