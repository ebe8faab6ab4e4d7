"""A kind of claims that another package brings: its declaration, its rule, and who judges it."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Frame, Options, Plugin, Report, Response, Sample, Trial
from cuescope_sdk.grounding import (
    SCENE,
    Case,
    Claim,
    ClaimKind,
    Judgement,
    SceneFrame,
    SceneVerifier,
    Thing,
    judge_claims,
)
from cuescope_step_grounding.claims import Clock, parser, read_steps
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.claims.readers import claims_in
from cuescope_step_grounding.verification.controls import vocabulary


def light_in(step: str) -> Iterator[Claim]:
    """ "The light is dim." """
    for match in re.finditer(r"\b[Tt]he light is (dim|bright)\b", step):
        yield Claim(kind="light", text=match[0], predicate=match[1])


LIGHT = ClaimKind(
    name="light",
    title="How light it is",
    says=("predicate",),
    words="light: {predicate}",
    accepts={"dim", "bright"}.__contains__,
    example={"predicate": "dim"},
    read=light_in,
)


COLOUR = ClaimKind(
    name="colour",
    title="Which colour things have",
    says=("subject", "predicate"),
    words="{subject} is {predicate}",
    accepts={"red", "blue"}.__contains__,
    example={"subject": "car", "predicate": "red"},
    part_of="attribute",
)


class LightMeter(Plugin):
    """Every frame is bright."""

    Options: ClassVar[type[Options]] = Options
    facts: ClassVar[dict[str, str]] = {}

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        def at(claim: Claim, frame: int) -> Judgement:
            if claim.kind != "light":
                return Judgement.open("out of vocabulary")
            return Judgement.of(claim.predicate == "bright", frame=frame)

        return [
            judge_claims(claims, len(sample.frames), at) for sample, claims in cases
        ]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> ClaimKind:
    """Declared for one test."""
    monkeypatch.setitem(ClaimKind.declared, LIGHT.name, LIGHT)
    return LIGHT.declare()


def test_a_kind_from_outside_is_a_row_of_the_report(
    light: ClaimKind, audited: Callable[..., Report], teller: type[Any]
) -> None:
    class Lamp(teller):  # type: ignore[misc]
        def respond(self, trials: Sequence[Trial]) -> list[Response]:
            steps = "1. At frame 1, the light is bright.\n2. The light is dim.\nAnswer: left"
            return [Response(text=steps) for _ in trials]

    report = audited(
        {},
        {"samples": 6},
        tools={"claim-verifier": LightMeter},
        teller=Lamp,
        perturbations=(),
    )
    [feature] = [
        feature for feature in report.features if feature.key == "claims: light"
    ]
    assert feature.name == "How light it is"
    [score] = [
        score
        for score in report.scores
        if (score.feature, score.metric) == (feature.key, "step_grounding_rate")
    ]
    assert score.value == 0.5
    assert score.n == 6


def test_its_words_its_prompt_and_what_it_needs_are_those_of_its_declaration(
    light: ClaimKind,
) -> None:
    assert claim_words(Claim(kind="light", text="", predicate="dim")) == "light: dim"
    assert claim_words(Claim(kind="light", text="", predicate="dim", negated=True)) == (
        "not (light: dim)"
    )
    [claim] = claims_in('{"kind": "light", "predicate": "Dim"}', "", (1,)) or ()
    assert (claim.predicate, claim.frames) == ("dim", (1,))
    assert claims_in('{"kind": "light", "predicate": "loud"}', "", None) is None
    assert claims_in('{"kind": "light"}', "", None) is None


def test_a_part_of_a_kind_is_read_and_judged_as_that_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ClaimKind.declared, COLOUR.name, COLOUR)
    step = "The car is red, the van is blue and the door is open."
    [read] = read_steps(parser(), [step], Clock(1))
    said = [claim for claim in read if claim.kind != "entity"]
    assert [claim.kind for claim in said] == ["colour", "colour", "attribute"]
    [written] = (
        claims_in(
            '{"kind": "attribute", "subject": "car", "predicate": "red"}', "", None
        )
        or ()
    )
    assert written.kind == "colour"
    things = [Thing(id=name, name=name, attributes=("red",)) for name in ("car", "van")]
    frame = SceneFrame(things=tuple(things), closed=frozenset({"attributes"}))
    picture = Frame.from_array(np.zeros((4, 4, 3), dtype=np.uint8))
    sample = Sample(key="lot", frames=(picture,), annotations={SCENE: (frame,)})
    [judgements] = SceneVerifier().judge([(sample, said[:2])])
    assert [judgement.verdict for judgement in judgements] == [
        "supported",
        "unsupported",
    ]
    predicates = vocabulary([sample], said).predicates
    assert predicates["colour"] == ("blue", "red")
    assert predicates["attribute"] == ("blue", "open", "red")


def test_who_does_not_know_a_kind_leaves_it_open(light: ClaimKind) -> None:
    picture = Frame.from_array(np.zeros((4, 4, 3), dtype=np.uint8))
    sample = Sample(key="dark", frames=(picture,), annotations={SCENE: (SceneFrame(),)})
    claim = Claim(kind="light", text="", predicate="dim")
    [[judgement]] = SceneVerifier().judge([(sample, [claim])])
    assert judgement.reason == "out of vocabulary"


def test_a_name_means_one_kind_and_no_other_is_a_kind() -> None:
    with pytest.raises(ValueError, match="called 'entity' already"):
        ClaimKind("entity", "Another", says=(), words="").declare()
    with pytest.raises(
        ValueError, match="expected a kind of claims: entity, attribute"
    ):
        Claim(kind="light", text="")
