"""Sentences, the claims in them, and how many of these are true, by the annotated scene."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from cuescope_sdk import Sample
from cuescope_sdk.grounding import SCENE, Claim, SceneVerifier
from cuescope_shape_world.statements import (
    Statement,
    absence,
    action_of,
    camera_turn,
    colour_of,
    presence,
    relation,
    spoil,
    true_statements,
)

Drawn = Callable[..., tuple[Sample, ...]]


def verdicts(sample: Sample, statement: Statement, frame: int) -> Counter[str]:
    claims = [
        claim.model_copy(update={"frames": (frame,)}) for claim in statement.claims
    ]
    [found] = SceneVerifier().judge([(sample, claims)])
    return Counter(judgement.verdict for judgement in found)


@pytest.mark.parametrize(
    ("statement", "words", "claims"),
    [
        (
            presence(("red circle", "blue star", "pink heart")),
            "there is a red circle, a blue star and a pink heart",
            [
                ("entity", "red circle"),
                ("entity", "blue star"),
                ("entity", "pink heart"),
            ],
        ),
        (
            absence("red circle"),
            "no red circle can be seen",
            [("entity", "red circle", "not")],
        ),
        (
            relation("red circle", "left of", "blue star"),
            "the red circle is left of the blue star",
            [
                ("entity", "red circle"),
                ("entity", "blue star"),
                ("relation", "red circle", "left of", "blue star"),
            ],
        ),
        (
            colour_of("circle", "red"),
            "the circle is red",
            [("entity", "circle"), ("attribute", "circle", "red")],
        ),
        (
            action_of("red circle", "move up"),
            "the red circle is moving up",
            [("entity", "red circle"), ("action", "red circle", "move up")],
        ),
        (
            action_of("red circle", "disappear"),
            "the red circle disappears",
            [("entity", "red circle"), ("action", "red circle", "disappear")],
        ),
        (camera_turn("left"), "the camera turns left", [("ego-motion", "turn left")]),
    ],
)
def test_a_sentence_claims_what_it_says(
    statement: Statement, words: str, claims: list[tuple[str, ...]]
) -> None:
    assert statement.words == words
    assert [parts(claim) for claim in statement.claims] == claims


def parts(claim: Claim) -> tuple[str, ...]:
    said = (
        claim.kind,
        claim.subject,
        claim.predicate,
        claim.object,
        claim.negated and "not",
    )
    return tuple(part for part in said if part)


def test_truths_hold_and_cover_every_form(drawn: Drawn) -> None:
    forms = Counter[str]()
    for sample in drawn()[:6]:
        for frame in range(len(sample.frames)):
            found = true_statements(sample.annotations[SCENE], frame)
            forms.update(statement.form for statement in found)
            for statement in found:
                told = verdicts(sample, statement, frame)
                assert told == {"supported": len(statement.claims)}, statement.words
    assert set(forms) == {
        "presence",
        "absence",
        "relation",
        "attribute",
        "action",
        "ego-motion",
    }


def test_spoiling_leaves_as_many_true_as_asked(drawn: Drawn) -> None:
    rng, tried = np.random.default_rng(0), Counter[tuple[str, int, int]]()
    for sample in drawn()[:12]:
        scene = sample.annotations[SCENE]
        for frame in range(len(scene)):
            for statement in true_statements(scene, frame)[::3]:
                count = len(statement.claims)
                right = int(rng.integers(count))
                false = spoil(statement, right, scene, frame, rng)
                told = verdicts(sample, false, frame)
                assert told == +Counter(supported=right, unsupported=count - right), (
                    false.words
                )
                tried[statement.form, count, right] += 1
    assert {form for form, _, _ in tried} == {
        "presence",
        "absence",
        "relation",
        "attribute",
        "action",
        "ego-motion",
    }
    assert {
        (form, count, right) for form, count, right in tried if form == "relation"
    } == {("relation", 3, right) for right in range(3)}


def test_what_is_made_up_looks_like_what_it_replaces(drawn: Drawn) -> None:
    rng, scene = np.random.default_rng(0), drawn()[0].annotations[SCENE]
    for statement in true_statements(scene, 0):
        if statement.form == "presence" and len(statement.about) == 1:
            [name] = spoil(statement, 0, scene, 0, rng).about
            assert len(set(name.split()) & set(statement.about[0].split())) == 1
