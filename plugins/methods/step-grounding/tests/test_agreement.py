"""Verifiers and people beside each other, claim by claim; files of labels."""

import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import (
    Context,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    generator,
)
from cuescope_sdk.grounding import Case, Judgement, SceneVerifier
from cuescope_step_grounding.verification.agreement import agreement
from cuescope_step_grounding.verification.labelling import VERDICT, label_items
from cuescope_step_grounding.verify import within

Audited = Callable[..., Report]
HEADER = "sample,step,claim,verdict\n"


def test_agreement_counts_what_both_decide_and_draws_whole_groups() -> None:
    samples = [Sample(key=f"s{n}", frames=(), group=f"g{n // 10}") for n in range(60)]
    words = ["supported", "unsupported"]
    rng = generator(1, "groups")
    pairs = []
    for group in range(6):  # the second judge is right of whole groups, or wrong
        for sample in samples[10 * group : 10 * group + 10]:
            own = int(rng.integers(2))
            pairs.append((sample, words[own], words[own if group % 3 else 1 - own]))
    alone = [(Sample(key=s.key, frames=()), own, other) for s, own, other in pairs]
    grouped, single = (agreement(rows, generator(2)) for rows in (pairs, alone))
    assert grouped.kappa == single.kappa
    widths = [(each.high or 0) - (each.low or 0) for each in (grouped, single)]
    assert widths[0] > 1.5 * widths[1]
    half = [(s, own, "unverifiable") for s, own, _ in pairs[:30]] + pairs[30:]
    counted = agreement(half, generator(2))
    assert (counted.claims, counted.decided) == (60, 30)


# ------------------------------------------------------------------------------------ bad verifiers


class Yes(Plugin):
    """Says yes to everything."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        return [[Judgement.of(True) for _ in claims] for _, claims in cases]


class Contrary(Plugin):
    """Says the opposite of the scenes of every third claim."""

    fingerprint = "contrary"

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        turned = {"supported": "unsupported", "unsupported": "supported"}
        return [
            [
                j.model_copy(update={"verdict": turned[j.verdict]}) if n % 3 == 0 else j
                for n, j in enumerate(judgements)
            ]
            for judgements in SceneVerifier().judge(cases)
        ]


def checks(report: Report) -> dict[str, str]:
    return {check.check: check.verdict for check in report.evidence}


def test_a_verifier_that_says_yes_to_everything_fails_its_checks(
    audited: Audited,
) -> None:
    # so that there are words enough for random claims
    invented = {"invents": "green dog"}
    report = audited(
        invented, {"samples": 40}, tools={"claim-verifier": Yes}, perturbations=()
    )
    assert report.notes["verdict"] == "open"
    found = checks(report)
    assert found["counterfactual traces"] == "refuted"
    assert found["random claims"] == "refuted"


def test_a_figure_of_the_prompt_is_seen_in_another_style(
    audited: Audited, teller: type[Any]
) -> None:
    class Obedient(teller):  # type: ignore[misc]
        """Tells the truth only where it is asked for steps."""

        def respond(self, trials: Sequence[Trial]) -> list[Response]:
            wrong = teller(teller.Options(right=0.0), Context())
            return [
                (
                    super(Obedient, self)
                    if "step" in (t.sample.question or "")
                    else wrong
                ).respond([t])[0]
                for t in trials
            ]

    report = audited(
        {}, {"samples": 40}, teller=Obedient, also=("natural",), perturbations=()
    )
    assert checks(report)["asked in the style natural"] == "refuted"


def test_a_check_is_decided_by_its_interval() -> None:
    cases = [(0.3, 0.5, 0.25), (0.2, 0.5, 0.25), (0.1, 0.2, 0.25), (None, None, 0.25)]
    words = ("supported", "inconclusive", "refuted", "inconclusive")
    assert tuple(within((low, high), least) for low, high, least in cases) == words
    turned = ("refuted", "inconclusive", "supported", "inconclusive")
    assert (
        tuple(within((low, high), -np.inf, most) for low, high, most in cases) == turned
    )
    ends = [(-0.05, 0.1), (-0.2, 0.05), (0.11, 0.3), (-0.3, -0.11), (None, None)]
    assert [within(each, -0.1, 0.1) for each in ends] == [
        "supported",
        "inconclusive",
        "refuted",
        "refuted",
        "inconclusive",
    ]


def test_a_verdict_that_hangs_on_few_claims_does_not_stand_noise(
    audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 16 videos one frame each: with 3 of 10 judgements reversed little is left."""
    monkeypatch.setattr("cuescope_step_grounding.verify.NOISE", 0.3)
    report = audited({}, {"samples": 16, "frames": 1}, perturbations=())
    assert report.notes["verdict"] == "better than random"
    assert checks(report)["verifier noise"] == "refuted"


def test_another_verifier_that_disagrees_is_seen_claim_by_claim(
    audited: Audited,
) -> None:
    """Its SGR may be near; kappa is not."""
    pytest.importorskip("cuescope_verifiers")
    report = audited(
        {"right": 0.5},
        {"samples": 30},
        tools={"claim-verifier": Contrary},
        perturbations=(),
        other_verifiers=("scene-graph",),
    )
    (check,) = (
        each for each in report.evidence if each.check == "verifier scene-graph"
    )
    assert check.verdict == "refuted"
    assert "of them alike; kappa " in check.detail


# ---------------------------------------------------------------------------------- people's labels

ABOUT = {"kind": "entity", "claim": "a cup", "when": None, "frames": [0], "step": "It."}


@pytest.mark.parametrize(
    "changes",
    [
        {"text": None},
        {"text": "x"},
        {"text": "[" * 100_000},
        {"text": "{}"},
        {"text": json.dumps({**ABOUT, "frames": "all"})},
        {"text": json.dumps({**ABOUT, "kind": [1]})},
        {"feature": None},
        {"feature": "claim/1"},
        {"feature": "claim/1/2/3"},
    ],
)
def test_claims_of_a_stranger_that_are_none_are_one_line(
    changes: dict[str, Any],
) -> None:
    """Answers that somebody mailed have the digest that their report says."""
    row = {"sample": "a", "condition": VERDICT, "feature": "claim/1/2", "figure": 1.0}
    row |= {"text": json.dumps(ABOUT)}
    run: Any = SimpleNamespace(answers=[row], samples={}, folder="run")
    [item] = label_items(run, 1)
    assert item.row == {"sample": "a", "step": "1", "claim": "2"}
    run.answers = [row | changes]
    with pytest.raises(UserError, match="a claim in the answers of run cannot be read"):
        list(label_items(run, 1))
