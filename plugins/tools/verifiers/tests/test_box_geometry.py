"""Claims against planted boxes: presence, places, movement, and what boxes cannot tell."""

from collections.abc import Callable
from typing import Any

import pytest

from cuescope_sdk import Context, Sample, UserError
from cuescope_sdk.grounding import Claim
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.boxes import has_moved
from cuescope_verifiers.phrases import movement, query

from .claims import action, attribute, entity, motion, order, relation, says

CHAIR, TABLE = (10, 40, 20, 50), (60, 40, 80, 50)
STILL = {"dining table": [TABLE], "table": [TABLE]}
# The red chair goes right, turns blue at 2, and is gone at 4; a person comes at 3.
ROOM = (
    {**STILL, "chair": [CHAIR], "red chair": [CHAIR]},
    {**STILL, "chair": [(14, 40, 24, 50)], "red chair": [(14, 40, 24, 50)]},
    {**STILL, "chair": [(14, 40, 24, 50)], "blue chair": [(14, 40, 24, 50)]},
    {
        **STILL,
        "chair": [(14, 40, 24, 50)],
        "blue chair": [(14, 40, 24, 50)],
        "person": [(62, 10, 70, 42)],
    },
    {**STILL, "person": [(62, 10, 70, 42)]},
)


def tool(context: Context, detector: str = "knowing", **options: Any) -> BoxGeometry:
    return BoxGeometry(BoxGeometry.Options(detector=detector, **options), context)


def count(subject: str, number: str, frame: int) -> Claim:
    return Claim(
        kind="count", text="", subject=subject, predicate=number, frames=(frame,)
    )


def test_boxes_are_counted(video: Callable[..., Sample], context: Context) -> None:
    twice = (10.5, 40, 20.5, 50)  # the same chair, found again
    row = {"chair": [CHAIR, twice, (40, 40, 50, 50), (60, 40, 70, 50)]}
    claims = [count("chair", number, 0) for number in ("2", "3", "4")]
    assert says(tool(context), video(row), *claims) == [
        "unsupported",
        "supported",
        "unsupported",
    ]
    assert says(tool(context), video(row), count("sofa", "1", 0)) == ["unsupported"]


def test_a_closed_vocabulary_counts_what_it_knows(
    video: Callable[..., Sample], context: Context
) -> None:
    seen = tool(context, "narrow"), video({"chair": [CHAIR, (40, 40, 50, 50)]})
    assert says(*seen, count("chair", "2", 0)) == ["supported"]
    assert says(*seen, count("red chair", "2", 0)) == ["out of vocabulary"]
    assert says(*seen, count("red chair", "3", 0)) == ["unsupported"]
    assert says(*seen, count("zebra", "1", 0)) == ["out of vocabulary"]
    assert says(*seen, count("red chair", "many", 0)) == ["out of vocabulary"]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (entity("chair"), "supported"),
        (entity("chair", 4), "unsupported"),
        (entity("chair", 4, negated=True), "supported"),
        (entity("sofa"), "unsupported"),
        (entity("red chair", 2), "unsupported"),
        (attribute("chair", "red", 0), "supported"),
        (attribute("chair", "red", 2), "unsupported"),
        (attribute("red chair", "red", 0), "supported"),
        (attribute("chair", "visible", 0), "supported"),
        (attribute("chair", "hidden", 0), "unsupported"),
        (attribute("chair", "hidden", 4), "occluded"),
        (attribute("chair", "still", 2), "supported"),
        (relation("chair", "left of", "table", 0), "supported"),
        (relation("chair", "right of", "table", 0), "unsupported"),
        (relation("person", "on", "table", 3), "supported"),
        (relation("table", "under", "person", 3), "supported"),
        (relation("sofa", "left of", "table", 0), "unsupported"),
        (relation("dining table", "near", "table", 0), "unsupported"),
        (relation("chair", "behind", "table", 0), "complex relation"),
        (relation("chair", "between", "table and person", 3), "complex relation"),
        (relation("chair", "left of", "agent", 0), "supported"),
        (relation("chair", "right of", "agent", 0), "unsupported"),
        (relation("i", "left of", "table", 0), "supported"),
        (relation("table", "in front of", "agent", 0), "supported"),
        (relation("person", "in front of", "agent", 0), "unsupported"),
        (relation("table", "behind", "agent", 0), "unsupported"),
        (relation("person", "behind", "agent", 0), "no evidence"),
        (relation("table", "near", "agent", 0), "complex relation"),
        (action("chair", "move right", 1), "supported"),
        (action("chair", "move right", 0), "supported"),
        (action("chair", "move left", 1), "unsupported"),
        (action("chair", "move", 2), "unsupported"),
        (action("table", "stay", 2), "supported"),
        (action("person", "appear", 3), "supported"),
        (action("person", "appear", 4), "unsupported"),
        (action("person", "appear"), "supported"),
        (action("table", "appear"), "unsupported"),
        (action("chair", "disappear", 3), "supported"),
        (action("chair", "vanish", 4), "supported"),
        (action("chair", "leave", 1), "unsupported"),
        (action("sofa", "move left"), "unsupported"),
        (action("person", "sing", 3), "out of vocabulary"),
        (action("person", "want", 3), "abstract"),
        (motion("turn left", 1), "out of vocabulary"),
        (entity("it"), "unclear reference"),
        (entity("chair", frames=()), "unclear reference"),
        (order(entity("chair"), "before", entity("person")), "supported"),
        (order(entity("chair"), "after", entity("person")), "unsupported"),
    ],
)
def test_verdicts(
    video: Callable[..., Sample], context: Context, said: Claim, verdict: str
) -> None:
    assert says(tool(context), video(*ROOM), said) == [verdict]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (entity("chair", 0), "supported"),
        (entity("table", 0), "supported"),
        (entity("woman", 3), "supported"),
        (entity("red chair", 0), "out of vocabulary"),
        (entity("red chair", 4), "unsupported"),
        (entity("zebra", 0), "out of vocabulary"),
        (attribute("chair", "red", 0), "out of vocabulary"),
        (relation("red chair", "left of", "table", 0), "out of vocabulary"),
        (relation("red chair", "right of", "table", 0), "unsupported"),
        (action("zebra", "move left", 1), "out of vocabulary"),
        # nor may it be missing: what is not in the picture may be behind the camera
        (relation("zebra", "behind", "agent", 0), "no evidence"),
    ],
)
def test_a_closed_vocabulary_tells_nothing_of_other_words(
    video: Callable[..., Sample], context: Context, said: Claim, verdict: str
) -> None:
    assert says(tool(context, "narrow"), video(*ROOM), said) == [verdict]


def test_a_vocabulary_is_asked_by_its_own_names() -> None:
    names = frozenset({"circle", "red circle", "blue circle", "dining table"})
    assert query("circle", names).names == ("circle",)
    assert query("red circle", names).exact
    assert query("old table", names).names == ("dining table",)
    assert not query("old table", names).exact
    assert query("thing", names).names == tuple(sorted(names))


def test_each_frame_is_looked_at_once_for_all_claims(
    video: Callable[..., Sample], context: Context, calls: list[Any]
) -> None:
    one, other = video(*ROOM[:3]), video(*ROOM[2:], key="other")
    verifier = tool(context)
    verifier.judge(
        [
            (
                one,
                [
                    entity("chair"),
                    relation("chair", "left of", "table", 0),
                    motion("turn left"),
                ],
            ),
            (other, [entity("person", 1), entity("sofa", 1)]),
            (other, [attribute("chair", "red", 1), attribute("chair", "happy", 0)]),
        ]
    )
    shown = [key for keys, _ in calls for key in keys]
    assert len(shown) == len(set(shown)) == verifier.finder.passes == 4
    asked = {key: names for keys, names in calls for key in keys}
    assert asked[one.frames[0].key] == ["chair", "table"]
    assert asked[one.frames[2].key] == ["chair"]
    assert set(asked[other.frames[1].key]) == {"person", "sofa", "red chair"}


def test_weak_boxes_are_no_evidence(
    video: Callable[..., Sample], context: Context
) -> None:
    sample = video(*ROOM)
    assert says(tool(context, "doubtful"), sample, entity("chair")) == ["unsupported"]
    assert says(tool(context, "doubtful", threshold=0.01), sample, entity("chair")) == [
        "supported"
    ]


def test_a_judgement_points_at_the_box(
    video: Callable[..., Sample], context: Context
) -> None:
    [[seen]] = tool(context).judge([(video(*ROOM), [entity("person")])])
    assert (seen.frame, seen.box, seen.score) == (3, (62, 10, 70, 42), 0.9)


def test_movement_is_read_from_verbs_and_boxes() -> None:
    assert [
        movement(v)
        for v in ("move left", "slide up", "rise", "walk", "eat", "turn red")
    ] == ["left", "up", "up", "any", None, None]
    before, after = (0, 0, 10, 10), (5, -8, 15, 2)
    ways = {
        how: has_moved(before, after, how, 1)
        for how in ("left", "right", "up", "down", "any")
    }
    assert [how for how, so in ways.items() if so] == ["up", "any"]
    assert has_moved(before, after, "none", 9)


def test_nonsense_is_judged_without_an_error(
    video: Callable[..., Sample], context: Context
) -> None:
    odd = [
        "",
        " ",
        "<script>alert(1)</script>",
        "\x00\x1b[31m",
        "стол",
        "🙂",
        "x" * 10_000,
    ]
    claims = [entity(words) for words in odd] + [
        relation("chair", "left of", w) for w in odd
    ]
    claims += [
        order(entity("chair"), "before", order(entity(w), "after", entity(w)))
        for w in odd
    ]
    assert {*says(tool(context), video(*ROOM), *claims)} == {
        "unsupported",
        "unclear reference",
    }
    blank = Sample(key="blank", frames=())
    assert says(tool(context), blank, entity("chair")) == ["unclear reference"]


def test_a_tool_that_is_no_detector_is_refused(context: Context) -> None:
    with pytest.raises(
        UserError, match=r"box-geometry: tool scene-graph is no detector"
    ):
        tool(context, "scene-graph")


def test_nobody_looks_for_who_holds_the_camera(
    context: Context,
    video: Callable[..., Sample],
    calls: list[tuple[list[str], list[str]]],
) -> None:
    says(tool(context), video(*ROOM), relation("chair", "left of", "agent", 0))
    assert [names for _, names in calls] == [["chair"]]


def test_a_detector_that_knows_persons_alone_says_so_of_a_woman(
    context: Context, video: Callable[..., Sample]
) -> None:
    """Its box supports the claim by a more general word; an open vocabulary is asked for women."""
    frames = [{"person": [CHAIR], "woman": [CHAIR]}]
    claims = [entity("woman"), entity("person"), relation("woman", "left of", "table")]
    frames[0]["dining table"] = frames[0]["table"] = [TABLE]
    for detector, general in (
        ("narrow", [True, False, True]),
        ("knowing", [False] * 3),
    ):
        [judgements] = tool(context, detector).judge([(video(*frames), claims)])
        assert [judgement.verdict for judgement in judgements] == ["supported"] * 3
        assert [judgement.general for judgement in judgements] == general
