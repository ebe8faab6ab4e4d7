"""Verifiers and people beside each other, claim by claim; files of labels."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
from cuescope_step_grounding.verification.agreement import agreement, read_labels
from cuescope_step_grounding.verification.labelling import VERDICT, label_items
from cuescope_step_grounding.verify import above, below, within

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
    assert found["videos told apart"] == "refuted"
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
    assert tuple(above(*case) for case in cases) == words
    turned = ("refuted", "inconclusive", "supported", "inconclusive")
    assert tuple(below(*case) for case in cases) == turned
    ends = [(-0.05, 0.1), (-0.2, 0.05), (0.11, 0.3), (-0.3, -0.11), (None, None)]
    assert [within(low, high, 0.1) for low, high in ends] == [
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


def labelled(
    audited: Audited, path: Path, rows: Sequence[str], **options: Any
) -> Report:
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows))
    given = {"perturbations": (), "labels": path} | options
    return audited({"right": 0.5}, {"samples": 24}, **given)


def test_people_who_agree_support_the_verifier_and_others_do_not(
    audited: Audited, tmp_path: Path, rooms: Any, side_seen: Any, teller: Any
) -> None:
    data, context = rooms(rooms.Options(samples=24), Context()), Context()
    model = teller(teller.Options(right=0.5), context)
    right, wrong = [], []
    for index in range(24):
        sample = data[index]
        asked = Sample(key=sample.key, frames=sample.frames)
        for step, line in enumerate(model.told(asked).splitlines()[:4], 1):
            said = re.search(r"is (left|right) of", line)
            assert said is not None
            true = said[1] == side_seen(sample.frames[step - 1])
            words = ("supported", "unsupported")
            right.append(f"{sample.key},{step},2,{words[0] if true else words[1]}")
            name = f"red cup {said[1]} of blue cup"
            wrong.append(f"{sample.key},{step},{name},{words[(index + step) % 2]}")
    agree = labelled(audited, tmp_path / "right.csv", right)
    (check,) = (each for each in agree.evidence if each.check == "people's labels")
    assert (check.verdict, check.value, check.n) == ("supported", 1, 96)
    assert "both decide 96 of 96 claims, 100% of them alike" in check.detail
    other = labelled(audited, tmp_path / "wrong.csv", wrong)
    (check,) = (each for each in other.evidence if each.check == "people's labels")
    assert check.verdict == "refuted"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected at least one label, got none"),
        (
            "sample,step,claim\na,1,1\n",
            "line 1: expected the columns sample,step,claim,verdict",
        ),
        (HEADER, "expected at least one label, got none"),
        (f"{HEADER}a,1,1\n", "line 2: expected 4 cells, got fewer"),
        (
            f"{HEADER}a,0,1,supported\n",
            "line 2: expected a step's number, from 1, got '0'",
        ),
        (
            f"{HEADER}a,1,,supported\n",
            "line 2: expected a claim's number within its step",
        ),
        (f"{HEADER}a,1,1,true\n", "line 2: expected a verdict: supported, unsupported"),
        (f'{HEADER}a,1,"1,supported\n', "expected quotes around whole cells"),
    ],
)
def test_a_bad_file_of_labels_is_one_clear_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=re.escape(problem)):
        read_labels(path)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read none\.csv: got No such file"):
        read_labels(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00sample")
    with pytest.raises(UserError, match=r"cannot read bytes\.csv: expected UTF-8 text"):
        read_labels(tmp_path / "bytes.csv")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("room-0,1,1,supported", "expected one of the 24 samples of this audit"),
        ("room-0000,1,1,supported", "Did you mean 'room-000'?"),
        ("room-000,9,1,supported", "a step of room-000: 1 to 4, got 9"),
        (
            "room-000,1,7,supported",
            r"a claim of step 1 of room-000 (1 red cup; 2 red cup",
        ),
        ("room-000,1,dog,supported", "got 'dog'"),
        (
            "room-000,1,1,supported\nroom-000,1,red cup,unsupported",
            "one verdict a claim",
        ),
    ],
)
def test_labels_of_nothing_are_named(
    audited: Audited, tmp_path: Path, row: str, problem: str
) -> None:
    with pytest.raises(UserError, match=re.escape(problem)):
        labelled(audited, tmp_path / "labels.csv", [row])


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
