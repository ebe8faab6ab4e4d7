"""What single steps claim, by either parser; and what no step may do to them."""

import pytest

from cuescope_sdk.grounding import RELATIONS, Claim, SceneFrame
from cuescope_step_grounding.claims import Clock, Parser, parser, read_steps

CLOCK = Clock(10, tuple(float(second) for second in range(10)))


@pytest.fixture(scope="module")
def used() -> Parser:
    return parser()


def claims_of_steps(
    parser: Parser, steps: list[str], clock: Clock
) -> list[list[Claim]]:
    return [list(step) for step in read_steps(parser, steps, clock)]


def claims_of(parser: Parser, step: str, clock: Clock) -> list[Claim]:
    return claims_of_steps(parser, [step], clock)[0]


def words(claims: list[Claim], *kinds: str) -> set[str]:
    """The claims of some kinds (none: all but entities), as "subject predicate object"."""
    found = set()
    for claim in claims:
        if claim.kind in kinds or (not kinds and claim.kind != "entity"):
            said = [claim.subject, claim.predicate, claim.object]
            if claim.kind == "temporal":
                said = [
                    claim.parts[0].predicate,
                    claim.predicate,
                    claim.parts[1].predicate,
                ]
            found.add(
                " ".join(["not"] * claim.negated + [word for word in said if word])
            )
    return found


def test_the_things_of_a_list_keep_their_adjectives(used: Parser) -> None:
    claims = claims_of(
        used, "There are a red chair, a blue table and a green bulb.", CLOCK
    )
    assert words(claims, "entity") == {"red chair", "blue table", "green bulb"}
    assert words(claims) == set()


@pytest.mark.parametrize(
    ("step", "claims"),
    [
        ("The chair is red.", {"chair red"}),
        ("The chair is not red.", {"not chair red"}),
        ("The red chair is left of the table.", {"red chair left of table"}),
        ("The cup is to the right of a plate.", {"cup right of plate"}),
        ("The cup is next to the plate.", {"cup near plate"}),
        ("The cup is in front of the plate.", {"cup in front of plate"}),
        ("The cup is between the plate and the fork.", {"cup between plate and fork"}),
        ("The woman picked up the cup.", {"woman pick up cup"}),
        ("The cup was picked up by the woman.", {"woman pick up cup"}),
        ("The woman does not open the door.", {"not woman open door"}),
        ("The woman is sitting on the sofa.", {"woman sit", "woman on sofa"}),
        ("The chair is now on my right.", {"chair right of agent"}),
        ("I turn left.", {"turn left"}),
        ("The agent moves forward.", {"move forward"}),
        ("We go up the stairs.", {"go up"}),
        ("The camera does not move.", {"stop"}),
        ("The circle turns green.", {"circle turn green"}),
        ("At frame 3, the red circle is moving left.", {"red circle move left"}),
        ("The robot picks up the mug.", {"agent pick up mug"}),
        ("The glass is on the shelf.", {"glass on shelf"}),
        (
            "In frames 2-5, he puts the glass on the table.",
            {"person put glass", "glass on table"},
        ),
        (
            "The man wearing a black shirt opens the refrigerator.",
            {"man wear black shirt", "man open refrigerator"},
        ),
        ("A woman holding a cup.", {"woman hold cup"}),
        ("The grass is green and the sky is grey.", {"grass green", "sky grey"}),
        ("A girl and a boy are playing.", {"girl play", "boy play"}),
        ("He is thirsty.", {"person thirsty"}),
        ("This suggests that he is thirsty.", set()),
        ("The traffic lights turn green.", {"traffic light turn green"}),
        (
            "The door is closed; later it is open.",
            {"door closed", "door open", "closed before open"},
        ),
    ],
)
def test_a_sentence_claims(used: Parser, step: str, claims: set[str]) -> None:
    assert words(claims_of(used, step, CLOCK)) == claims


def test_what_is_not_there_is_denied_and_not_claimed(used: Parser) -> None:
    claims = claims_of(used, "There is no chair in the video.", CLOCK)
    assert words(claims, "entity") == {"not chair"}
    claims = claims_of(used, "There is no chair to the left of the sofa.", CLOCK)
    assert words(claims, "entity") == {"sofa"}
    assert words(claims, "relation") == {"not chair left of sofa"}


def test_a_series_of_frames_is_no_thing(used: Parser) -> None:
    claims = claims_of(used, "The series of frames shows a man and a dog.", CLOCK)
    assert words(claims, "entity") == {"man", "dog"}


@pytest.mark.parametrize(
    "step",
    [
        "So the answer is B.",
        "The question asks which cup is red.",
        "This is frame 3.",
        "yes",
        "Yes.",
        "So, no.",
        "B",
        "(b)",
        "Option B.",
        "Answer: B",
        "the answer is: yes",
    ],
)
def test_words_about_the_question_or_the_video_claim_nothing(
    used: Parser, step: str
) -> None:
    assert claims_of(used, step, CLOCK) == []


def test_a_plan_is_not_seen(used: Parser) -> None:
    assert claims_of(used, "I should turn left at the sofa.", CLOCK) == []
    assert claims_of(used, "I will open the fridge.", CLOCK) == []


def test_pronouns_look_back_over_the_steps(used: Parser) -> None:
    steps = [
        "A man opens the box.",
        "He takes out a cup.",
        "Then he puts it on the table.",
        "He sits down.",
    ]
    told = claims_of_steps(used, steps, CLOCK)
    assert words(told[1]) == {"man take out cup"}
    assert words(told[2]) == {"man put cup", "cup on table", "take out before put"}
    assert words(told[3]) == {"man sit down"}


def test_a_pronoun_may_come_before_its_noun(used: Parser) -> None:
    claims = claims_of(used, "After he puts down the phone, the man sits down.", CLOCK)
    assert words(claims) == {
        "man put down phone",
        "man sit down",
        "sit down after put down",
    }


def test_parts_of_an_order_are_whole_claims(used: Parser) -> None:
    claims = claims_of(
        used, "The man reads a book while the woman drinks water.", CLOCK
    )
    [order] = [claim for claim in claims if claim.kind == "temporal"]
    assert order.predicate == "while"
    assert [(part.subject, part.object) for part in order.parts] == [
        ("man", "book"),
        ("woman", "water"),
    ]
    assert set(order.parts) <= set(claims)


def test_a_claim_quotes_its_sentence(used: Parser) -> None:
    step = "At frame 2,  the man opens the **red** door. The woman sits."
    quoted = {claim.subject: claim.text for claim in claims_of(used, step, CLOCK)}
    assert quoted == {
        "man": "At frame 2,  the man opens the **red** door.",
        "red door": "At frame 2,  the man opens the **red** door.",
        "woman": "The woman sits.",
    }


def test_names_are_canonical(used: Parser) -> None:
    steps = [
        f"The cup is {said} the plate."
        for said in (
            "left of",
            "to the right of",
            "above",
            "below",
            "on top of",
            "underneath",
            "in front of",
            "behind",
            "inside",
            "beside",
            "far from",
        )
    ]
    found = [claim for said in claims_of_steps(used, steps, CLOCK) for claim in said]
    related = [claim for claim in found if claim.kind == "relation"]
    assert len(related) == len(steps)
    assert {claim.predicate for claim in related} <= set(RELATIONS)
    turns = "Turn right. Turn around. Look up. Go down the stairs. Step back. Stop."
    moved = [
        claim.predicate for claim in claims_of(used, turns, CLOCK) if claim.predicate
    ]
    assert moved == [
        "turn right",
        "turn around",
        "look up",
        "go down",
        "move backward",
        "stop",
    ]
    assert set(moved) <= set(SceneFrame.MOTIONS)


@pytest.mark.parametrize(
    "step",
    [
        "",
        "  \n ",
        "\x00\x01\x07",
        "...",
        "😀😀",
        "a" * 10_000,
        "word " * 2_000,
        "the " * 2_500,
        "the man sits " * 800,
        "<" * 10_000,
        "<script>alert('x')</script>",
        '{"a": [1, 2, {}]}',
        "El hombre se sienta en la silla y abre la puerta.",
        "Der Mann setzt sich auf den Stuhl und öffnet die Tür.",
        "L'uomo si siede sulla sedia e apre la porta.",
        "男は椅子に座ってドアを開ける。",
    ],
)
def test_what_is_no_english_sentence_claims_nothing(used: Parser, step: str) -> None:
    assert claims_of(used, step, CLOCK) == []


@pytest.mark.parametrize(
    "step",
    [
        "<b>The man</b> opens the <i>door</i>. 😀",
        "**The man** opens the `door`.",
        "The man \x1b[31mopens\x1b[0m the door.",
        "The\x00 man opens\tthe door.",
    ],
)
def test_marks_in_a_step_are_no_words(used: Parser, step: str) -> None:
    claims = claims_of(used, step, CLOCK)
    assert words(claims) == {"man open door"}
    assert words(claims, "entity") == {"man", "door"}


@pytest.mark.timeout(120)
def test_a_thousand_steps_take_seconds(used: Parser) -> None:
    step = "At frame 3, the man in a blue shirt picks up the red cup and then he sits down."
    told = claims_of_steps(used, [step] * 1000, CLOCK)
    assert len(told) == 1000
    assert words(told[-1]) == words(told[1])
