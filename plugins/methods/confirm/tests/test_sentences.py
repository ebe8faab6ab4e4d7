"""What a dossier says of a cue, word by word: each sentence is read once."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope_confirm import sample_plan
from cuescope_confirm.asking import Direction
from cuescope_confirm.companions.difficulty import Drawn
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.report import missing_step
from cuescope_confirm.sample_plan import OF_FEW, SamplePlan
from cuescope_confirm.scores import NO_MORE, Decision, Effect, Ruling, Verdict
from cuescope_confirm.testimony.votes import Vote
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.sentences import INSIDE, statement
from cuescope_confirm.verdicts.undecided import MORE_SAMPLES, NO_SAMPLES, SAME_ELSEWHERE
from cuescope_confirm.verify import evidence
from cuescope_sdk.statistics import Estimate, PrognosticGap

OPTIONS = ConfirmOptions(run=Path("run"))
HARMS = Direction()
EFFECT = Effect(0.2, 0.1, 0.3, 40, 0.01)


def witness(spec: str, decision: Decision = "confirms", *, removes: bool = True) -> Any:
    """One that changes a region."""
    return SimpleNamespace(
        spec=spec,
        plugin=SimpleNamespace(needs="region", title=spec),
        decision=decision,
        confirms=decision == "confirms",
        removes=removes,
        effect=EFFECT,
    )


def row(
    ruling: Ruling, *measured: Any, direction: Direction = HARMS, **values: Any
) -> Row:
    cue = SimpleNamespace(labels=("cow",), label="cow")
    target: Any = SimpleNamespace(cue=cue, direction=direction)
    of_kinds: Any = [
        SimpleNamespace(standing="full", party=[one], effect=EFFECT) for one in measured
    ]
    return Row(target, measured, [], of_kinds, ruling, **values)


def test_a_cause_by_single_kinds_has_a_sentence_for_each_way() -> None:
    ruling = Ruling("causes", necessary=True, sufficient=True)
    told = row(
        ruling,
        witness("swap"),
        witness("blank"),
        witness("transplant", removes=False),
        effect=Estimate(0.15, 0.06, 0.24),
        lost=Estimate(0.047, 0.032, 0.094),
    )
    assert statement(told, OPTIONS) == (
        "{feature} on 'cow' causes wrong answers, by +15 (+6 to +24) points of probability, one "
        "estimate from several measurements. It costs 4.7 points of accuracy over all samples (3.2 "
        "to 9.4). Taking it out mends them: with swap by +20 (+10 to +30) points of probability, "
        "beyond its placebo; also with blank. Putting it in brings them: with transplant by +20 "
        "(+10 to +30) points of probability, beyond its placebo."
    )


def test_a_cause_by_all_evidence_says_how_sure_each_part_of_it_is() -> None:
    ruling = Ruling("causes", necessary=True, together=True, inside=True)
    inside: Any = SimpleNamespace(spec="erase", plugin=SimpleNamespace(needs="inside"))
    vote = Vote("inside", [inside], 1.0, effect=EFFECT, decision="undecided")
    told = replace(
        row(ruling),
        votes=[vote],
        effect=Estimate(0.15, 0.01, 0.71),
        together=EFFECT,
        lost=Estimate(0.03, -0.002, 0.111),
        beside=PrognosticGap(
            plain=Estimate(0.3, 0.2, 0.4), alike=Estimate(0.26, 0.16, 0.37)
        ),
    )
    assert statement(told, OPTIONS) == (
        "{feature} on 'cow' probably causes wrong answers, by +15 (+1 to +71) points of "
        "probability, one estimate from several measurements. It may cost 3.0 points of accuracy "
        "over all samples (−0.2 to 11.1). erase surely moves answers, by +20 (+10 to +30) more "
        f"than its placebo; it does not decide alone. {INSIDE} Unchanged pictures agree: with the "
        "cue, compared with pictures without it that are alike in all else, +26 (+16 to +37)."
    )


def test_what_accompanies_is_said_with_what_changes_did() -> None:
    told = row(Ruling("accompanies"), witness("swap", NO_MORE))
    assert statement(told, OPTIONS) == (
        "{feature} on 'cow' accompanies the answers, and is not shown to cause them. Changes do "
        "no more than their placebos: swap +20 (+10 to +30)."
    )


@pytest.mark.parametrize("missing", [MORE_SAMPLES, SAME_ELSEWHERE])
def test_what_is_not_decided_says_why_and_what_would_decide(missing: Any) -> None:
    told = row(
        Ruling("cannot tell", missing=missing),
        witness("swap", "undecided"),
        effect=Estimate(0.08, -0.02, 0.18),
    )
    count = " (40 could be changed; about 63 are needed)" * missing.of_samples
    assert statement(told, OPTIONS) == (
        "{feature} on 'cow': cannot tell whether it is a cause, because "
        f"{missing.because}{count}. Measured: without it the right answer gains +8 points of "
        "probability (−10 to +18). This range holds 0, so it may have no effect at all. By each "
        "change, beyond its placebo: swap +20 (+10 to +30). "
        f"{missing.decides_next(folds=False)}"
    )


def test_who_tested_by_folds_is_not_advised_to_do_it() -> None:
    told = row(Ruling("cannot tell", missing=NO_SAMPLES), witness("swap", "undecided"))
    assert "`--folds 4`" in statement(told, OPTIONS)
    by_folds = statement(told, OPTIONS.model_copy(update={"folds": True}))
    assert by_folds.endswith("More samples that show it would decide.")
    study: Any = SimpleNamespace(folds=(), audit=None)
    assert "`--folds 4`" in missing_step(study)
    study.folds = (study, study)
    assert "--folds" not in missing_step(study)
    assert "--on" not in missing_step(study)


@pytest.mark.parametrize(
    ("inside", "share", "verb"),
    [
        (False, None, "causes"),
        (True, None, "probably causes"),
        (False, 0.9, "causes"),
        # wrong answers of many kinds come with what is hard to see, too
        (False, 0.3, "may cause"),
        (True, 0.3, "may cause"),
    ],
)
def test_a_sentence_is_no_surer_than_its_checks(
    inside: bool, share: float | None, verb: str
) -> None:
    drawn = None if share is None else Drawn("dog", share, 4, 80)
    ruling = Ruling("causes", inside=inside)
    told = statement(row(ruling, witness("erase"), drawn=drawn), OPTIONS)
    assert told.startswith(f"{{feature}} on 'cow' {verb} wrong answers")


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        (HARMS, "the right answer gains +8"),
        (Direction(sign=-1), "the right answer loses +8"),
        (Direction("the label", sign=-1), "the answer 'cow' loses +8"),
        (Direction("its own answer", sign=-1), "what is answered loses +8"),
    ],
)
def test_what_is_not_decided_says_what_would_move(
    direction: Direction, said: str
) -> None:
    told = row(
        Ruling("cannot tell", missing=SAME_ELSEWHERE),
        direction=direction,
        effect=Estimate(0.08, -0.02, 0.18),
    )
    assert said in statement(told, OPTIONS)


@pytest.mark.parametrize(
    ("verdict", "measured", "stated"),
    [
        ("causes", (0.13, 0.04, 0.22), (0.13, 0.04, 0.22)),
        ("accompanies", (0.05, 0.01, 0.08), (0.05, 0.01, 0.08)),
        # each end is the farther one: of what was measured, and of as much around none
        ("cannot tell", (0.13, 0.04, 0.22), (0.13, -0.09, 0.22)),
        ("cannot tell", (-0.16, -0.27, -0.06), (-0.16, -0.27, 0.1)),
        ("cannot tell", (0.06, -0.03, 0.15), (0.06, -0.09, 0.15)),
    ],
)
def test_the_interval_of_what_is_not_decided_holds_that_there_is_none(
    verdict: Verdict, measured: tuple[float, ...], stated: tuple[float, ...]
) -> None:
    told = row(Ruling(verdict), effect=Estimate(*measured)).stated
    assert told is not None
    assert (told.value, told.low, told.high) == pytest.approx(stated)


def test_what_was_not_measured_has_no_effect_to_tell() -> None:
    assert row(Ruling("cannot tell")).stated is None


@pytest.mark.parametrize(
    ("ruling", "said"),
    [
        (
            Ruling("causes", necessary=True),
            "{feature} causes the answer 'cow'. Taking it out",
        ),
        (
            Ruling("accompanies"),
            "{feature} accompanies the answer 'cow', and is not shown",
        ),
        (
            Ruling("cannot tell", missing=SAME_ELSEWHERE),
            "{feature}, with the answer 'cow': cannot tell whether it is a cause, because",
        ),
    ],
)
def test_what_draws_answers_to_a_label_is_not_on_that_label(
    ruling: Ruling, said: str
) -> None:
    pull = Direction("the label", sign=-1, gap=0.5, z=9.0)
    told = statement(row(ruling, witness("swap"), direction=pull), OPTIONS)
    assert told.startswith(said)


@pytest.mark.parametrize(
    ("together", "low", "verdict", "said"),
    [
        (True, 0.01, "inconclusive", "this is too little to decide alone"),
        (False, 0.01, "refuted", "this is less than +10, which counts as nothing"),
        (True, -0.01, "refuted", "which speaks against a cause"),
    ],
)
def test_a_small_effect_that_is_sure_does_not_speak_against_a_cause_by_all_evidence(
    together: bool, low: float, verdict: str, said: str
) -> None:
    small = witness("swap", NO_MORE)
    small.effect = Effect(0.04, low, 0.08, 40, 0.01)
    told = row(Ruling("causes", together=together), small)
    target: Any = told.target
    target.cue.feature = SimpleNamespace(key="mark")
    target.located = None
    audit = SimpleNamespace(spare=lambda part: nullcontext())
    results: Any = SimpleNamespace(
        study=SimpleNamespace(audit=audit, options=OPTIONS),
        rows=[told],
        name_of=lambda row: "mark",
    )
    [check] = evidence(results)
    assert check.verdict == verdict
    assert check.detail.endswith(said)


@pytest.mark.parametrize(
    ("verdict", "needed", "end"),
    [
        ("causes", 30, "though larger ones need fewer. It was decided all the same"),
        ("cannot tell", 30, f"though larger ones need fewer; {OF_FEW}"),
        ("causes", 9, "with a label that it is about: enough"),
    ],
)
def test_what_is_decided_had_samples_enough(
    monkeypatch: pytest.MonkeyPatch, verdict: Verdict, needed: int, end: str
) -> None:
    monkeypatch.setattr(sample_plan, "rarest_finding", lambda _: (9, "a mark"))
    monkeypatch.setattr(sample_plan, "replace", lambda study, **_: study)
    cue = SimpleNamespace(name="a mark")
    ruled = SimpleNamespace(
        target=SimpleNamespace(cue=cue), ruling=SimpleNamespace(verdict=verdict)
    )
    results: Any = SimpleNamespace(rows=[ruled], study=None)
    plan = SamplePlan(6, needed, 80, rarest="a mark", expected=9, in_folds=False)
    assert plan.sentence_when_decided(results).endswith(end)
