"""What is asked about in which order, and what is not asked about at all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import looks, trials
from cuescope_confirm.asking import Direction
from cuescope_confirm.locating import Target, learned
from cuescope_confirm.locating.patches import Cells
from cuescope_confirm.looks import UNNEEDED, ask_in_looks
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import NO_MORE, Control, Decision, Effect, Ruling
from cuescope_confirm.study import Frames, Samples, Study
from cuescope_confirm.testimony.votes import Standing, Vote
from cuescope_confirm.testimony.witnesses import (
    AS_IS,
    CHANGED,
    Answers,
    Dossier,
    Witness,
)
from cuescope_confirm.trials import SEEN, UNCOMPARED
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.undecided import MORE_SAMPLES, NO_SAMPLES
from cuescope_sdk import Context, Frame, Sample
from cuescope_sdk.locating import Rates
from cuescope_sdk.statistics import Estimate

COUNT = 60  # pairs of a witness
ADMITTED = 7  # trials that are read in the end


class Court:
    """A finding and a placebo cue, and who was asked how often."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        p_values: Sequence[float],
        decision: Decision = "undecided",
        *,
        value: float = 0.2,
        standing: Standing = "full",
        alike: float = 0.0,
        counts: tuple[int, int] = (COUNT, COUNT),
    ) -> None:
        self.alike: Any = SimpleNamespace(alike=Estimate(0.1, alike, 0.2))
        self.asked: list[tuple[int, int]] = []
        self.later: list[tuple[int, float]] = []
        self.p_values = list(p_values)
        self.decision = decision
        self.value = value
        self.standing = standing
        self.placebo = _target("unfound cue", 0.1)
        self.finding = _target("finding", 0.1, {"unfound cue": self.placebo})
        audit: Any = SimpleNamespace(
            context=Context(),
            more_trials=ADMITTED,
            expect_more=self.expect_more,
            note=lambda *_: None,
        )
        options = ConfirmOptions(run=Path())
        study: Any = Study(audit, options, (), {}, {}, {}, {})
        plugin: Any = SimpleNamespace(needs="region", effect="removes")
        witnesses = [
            Witness(target, "blank", plugin, answers=_pairs(count))
            for target, count in zip((self.finding, self.placebo), counts, strict=True)
        ]
        self.dossier = Dossier(study, [self.finding], witnesses)
        monkeypatch.setattr(looks, "ask", self.ask)
        monkeypatch.setattr(looks, "measure", self.measure)
        monkeypatch.setattr(looks, "with_answers", lambda dossier, _: dossier)
        monkeypatch.setattr(looks, "slots", _slots)

    def expect_more(self, trials: int, likely: float) -> None:
        """What the method says before it asks."""
        self.expected = trials, likely

    def ask(self, dossier: Dossier) -> tuple[Dossier, Sequence[Any]]:
        """Nobody answers; how many pairs of the finding and of the placebo cue are asked about."""
        self.asked.append(
            (self._count(dossier, self.finding), self._count(dossier, self.placebo))
        )
        self.later.append(self.expected)
        return dossier, ()

    def _count(self, dossier: Dossier, target: Any) -> int:
        [witness] = dossier.witnesses_of(target)
        return len(witness.answers.pairs)

    def measure(self, dossier: Dossier) -> Any:
        """One row, each time with the next p-value; the last one stays."""
        [p_value, *left] = self.p_values
        self.p_values = left or [p_value]
        effect = Effect(self.value, 0.1, 0.3, COUNT, p_value, corrected=p_value)
        vote = Vote(
            self.standing,
            dossier.witnesses[:1],
            1.0,
            effect=effect,
            decision=self.decision,
        )
        ruling = Ruling("cannot tell", missing=MORE_SAMPLES)
        rows = [Row(self.finding, [], [], [vote], ruling, beside=self.alike)]
        return SimpleNamespace(rows=rows, study=dossier.study)

    def measure_nothing(self, dossier: Dossier) -> Any:
        """A row without a vote: what was changed was changed in too few samples."""
        rows = [
            Row(self.finding, [], [], [], Ruling("cannot tell", missing=NO_SAMPLES))
        ]
        return SimpleNamespace(rows=rows, study=dossier.study)


def _target(
    role: Any, area: float, placebos: Mapping[Control, Target] = MappingProxyType({})
) -> Target:
    cue: Any = SimpleNamespace()
    located: Any = SimpleNamespace(area=area, is_sure=True)
    return Target(cue, Direction(), {}, located, role=role, placebos=placebos)


def _slots(dossier: Dossier) -> Iterator[tuple[Witness, int, int, Any]]:
    for witness in dossier.witnesses:
        for row, _ in enumerate(witness.answers.pairs):
            sample = SimpleNamespace(key=f"{row}", question=None)
            yield witness, row, AS_IS, SimpleNamespace(sample=sample)
            yield witness, row, CHANGED, None


def _pairs(count: int) -> Answers:
    pairs: Any = [SimpleNamespace(control=False)] * count
    trials_of_pairs: Any = [(None, None, None)] * count
    return Answers.unknown(pairs, trials_of_pairs)


@pytest.mark.parametrize(
    ("p_values", "asked"),
    [
        # nothing surely moves answers: the placebo cue has nothing to take back
        ([1.0], [(30, 0), (60, 0)]),
        # it does once all samples are asked about; at a half the level is a fifth
        ([0.03], [(30, 0), (60, 0), (60, 60)]),
        ([0.001], [(30, 0), (30, 30), (60, 0), (60, 60)]),
    ],
)
def test_placebo_cues_are_asked_about_where_a_finding_moves_answers(
    monkeypatch: pytest.MonkeyPatch, p_values: list[float], asked: list[tuple[int, int]]
) -> None:
    court = Court(monkeypatch, p_values)
    dossier, _ = ask_in_looks(court.dossier)
    assert court.asked == asked
    [placebo] = dossier.witnesses_of(court.placebo)
    assert placebo.reason == (None if asked[-1][1] else UNNEEDED)


def test_where_each_change_surely_does_no_more_a_half_is_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    court = Court(monkeypatch, [1.0], NO_MORE)
    ask_in_looks(court.dossier)
    assert court.asked == [(30, 0), (30, 0)]


def test_of_few_pairs_all_are_asked_about_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    court = Court(monkeypatch, [0.001], counts=(17, COUNT))
    ask_in_looks(court.dossier)
    assert court.asked == [(17, 0), (17, 30), (17, 0), (17, 60)]


def test_where_nothing_was_tested_yet_a_half_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    court = Court(monkeypatch, [1.0])
    monkeypatch.setattr(looks, "measure", court.measure_nothing)
    ask_in_looks(court.dossier)
    assert court.asked == [(30, 0), (60, 0)]


@pytest.mark.parametrize(
    ("value", "standing", "is_enough"),
    [
        (0.02, "partial", True),
        (0.08, "partial", False),
        # all of the cue was changed: more samples may acquit
        (0.02, "full", False),
        (0.02, "coarse", False),
    ],
)
def test_what_can_neither_convict_nor_acquit_is_not_asked_about_again(
    monkeypatch: pytest.MonkeyPatch, value: float, standing: Standing, is_enough: bool
) -> None:
    court = Court(monkeypatch, [1.0], value=value, standing=standing)
    ask_in_looks(court.dossier)
    assert court.asked[-1] == ((30, 0) if is_enough else (60, 0))


@pytest.mark.parametrize(
    ("needs", "p_value", "alike", "is_asked"),
    [
        ("still", 1.0, 0.06, True),
        # samples as they are do not say that anything does
        ("still", 1.0, -0.06, False),
        ("still", 0.001, 0.06, False),
        ("region", 1.0, 0.06, True),
        ("region", 0.001, 0.06, False),
    ],
)
def test_where_no_change_of_pictures_moves_answers_the_embedding_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    needs: str,
    p_value: float,
    alike: float,
    is_asked: bool,
) -> None:
    court = Court(monkeypatch, [p_value], alike=alike)
    [of_finding, _] = court.dossier.witnesses
    plugin: Any = SimpleNamespace(needs=needs, effect="removes", changes="tones")
    tones = replace(of_finding, plugin=plugin)
    lit: Any = SimpleNamespace(needs=needs, effect="removes", changes="light")
    light = replace(of_finding, spec="light", plugin=lit)
    erase = replace(of_finding, spec="erase").unasked(SEEN)

    def made(_: Study, plugins: Mapping[str, Any], about: Target) -> list[Witness]:
        return [
            Witness(about, spec, plugin, answers=_pairs(COUNT))
            for spec, plugin in plugins.items()
        ]

    monkeypatch.setattr(trials, "_witnesses", made)
    monkeypatch.setattr(trials, "_compared_or_not", lambda _, witness, __: witness)
    asked: list[dict[str, int]] = []

    def ask(dossier: Dossier) -> tuple[Dossier, Sequence[Any]]:
        own = dossier.witnesses_of(court.finding)
        asked.append({witness.spec: len(witness.answers.pairs) for witness in own})
        return dossier, ()

    monkeypatch.setattr(looks, "ask", ask)
    monkeypatch.setattr(looks, "harm_of", lambda *_: None)
    ask_in_looks(replace(court.dossier, witnesses=[tones, light, erase]))
    assert asked[-1] == {
        "blank": COUNT,
        # another property of whole pictures than the clearest stays at its half
        "light": COUNT // 2 if needs == "still" else COUNT,
        "erase": COUNT if is_asked else 0,
    }


@pytest.mark.parametrize(("area", "is_asked"), [(0.1, True), (0.3, False)])
def test_a_placebo_of_another_size_is_not_asked_about(
    monkeypatch: pytest.MonkeyPatch, area: float, is_asked: bool
) -> None:
    study = Court(monkeypatch, [1.0]).dossier.study
    placebo = _target("unfound cue", area)
    finding = _target("finding", 0.1, {"unfound cue": placebo})
    plugin: Any = SimpleNamespace(needs="region", placebo="elsewhere")
    of_finding, of_placebo = (
        Witness(target, "blank", plugin, answers=_pairs(COUNT))
        for target in (finding, placebo)
    )
    left = trials._compared_or_not(study, of_placebo, [of_finding, of_placebo])
    assert len(left.answers.pairs) == (COUNT if is_asked else 0)
    assert left.reason == (None if is_asked else UNCOMPARED)


@pytest.mark.parametrize(
    ("auroc", "controls", "is_asked"),
    [
        (0.8, True, True),
        (0.86, True, False),
        # what is only held against a finding need not be told as well
        (0.8, False, False),
        (0.7, False, True),
    ],
)
def test_where_pictures_tell_a_cue_the_model_is_not_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, auroc: float, controls: bool, is_asked: bool
) -> None:
    by_picture: Any = SimpleNamespace(auroc=auroc, take=lambda _: ([], 1.0))
    asked = []

    def by_embedding(*_: Any) -> Any:
        asked.append(True)
        return by_picture

    monkeypatch.setattr(learned, "training_frames", lambda *_: ([], None))
    monkeypatch.setattr(learned, "by_pictures", lambda *_: by_picture)
    monkeypatch.setattr(learned, "_teller", by_embedding)
    best = None, Cells("pixels", lambda *_: [])
    audit: Any = SimpleNamespace(once=lambda *_: best)
    study: Any = SimpleNamespace(lasts=lambda _: False, audit=audit)
    cue: Any = None
    learned.locate_learned(study, cue, {}, controls=controls)
    assert bool(asked) is is_asked


@pytest.mark.parametrize(
    ("by_picture", "by_words", "by", "is_seen"),
    [
        (0.8, None, "pixels", True),
        (0.7, None, "pixels", False),
        (0.7, 0.8, "pixels", True),
        # what the model makes of them
        (0.7, 0.8, "patches", False),
    ],
)
def test_a_cue_is_seen_where_pictures_tell_it(
    monkeypatch: pytest.MonkeyPatch,
    by_picture: float,
    by_words: float | None,
    by: Any,
    is_seen: bool,
) -> None:
    def teller(auroc: float) -> Any:
        return SimpleNamespace(auroc=auroc, take=lambda _: ([], 1.0))

    region: Any = by_words and SimpleNamespace(auroc=by_words, is_everywhere=True)
    cells = Cells(by, lambda *_: [])
    monkeypatch.setattr(learned, "training_frames", lambda *_: ([], None))
    monkeypatch.setattr(learned, "by_pictures", lambda *_: teller(by_picture))
    monkeypatch.setattr(learned, "_teller", lambda *_: teller(0.96))
    audit: Any = SimpleNamespace(once=lambda *_: (region, cells))
    study: Any = SimpleNamespace(lasts=lambda _: False, audit=audit)
    cue: Any = None
    located = learned.locate_learned(study, cue, {}, controls=True)
    assert located.is_seen is is_seen


@pytest.mark.parametrize(
    ("by_whole", "by_patches", "by", "taken"),
    [
        (0.9, 0.99, "pixels", "patches"),
        (0.9, 0.9, "pixels", "whole"),
        # the model would be asked about all of the pool, which is told well enough
        (0.9, 0.99, "patches", "whole"),
        (0.8, 0.99, "patches", "patches"),
    ],
)
def test_patches_that_tell_better_decide_which_frames_show_a_cue(
    monkeypatch: pytest.MonkeyPatch,
    by_whole: float,
    by_patches: float,
    by: Any,
    taken: str,
) -> None:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    pool = {key: Sample(key=key, frames=(frame,)) for key in ("patches", "whole")}
    whole: Any = SimpleNamespace(auroc=by_whole, take=lambda _: ([("whole", 0)], 1.0))
    region: Any = SimpleNamespace(
        auroc=by_patches,
        is_everywhere=True,
        rates=Rates(caught=0.9, wrongly=0.1),
        shows=lambda key: key == "patches",
    )

    def read(_: Samples, frames: Frames) -> list[Any]:
        return [key for key, _ in frames]

    monkeypatch.setattr(learned, "training_frames", lambda *_: ([], None))
    monkeypatch.setattr(learned, "by_pictures", lambda *_: whole)
    monkeypatch.setattr(learned, "_teller", lambda *_: whole)
    best = region, Cells(by, read)
    audit: Any = SimpleNamespace(once=lambda *_: best)
    study: Any = SimpleNamespace(lasts=lambda _: False, audit=audit)
    cue: Any = None
    located = learned.locate_learned(study, cue, pool, controls=True)
    assert list(located.places) == [taken]
    # half is taken and half shows the cue, of which nine tenths are caught
    assert located.purity == (1.0 if taken == "whole" else pytest.approx(0.9))


def test_before_each_call_it_is_said_what_follows_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    court = Court(monkeypatch, [0.001])
    ask_in_looks(court.dossier)
    # 30 of the placebo cue, then a second look at 30 samples: as they are, and changed for both
    most = [30 + 90 + ADMITTED, 90 + ADMITTED]
    likely = [0.3 * 30 + 0.5 * 90 + 0.1 * ADMITTED, 0.5 * 90 + 0.5 * ADMITTED]
    # of the placebo cue those that the first look left; at last nothing but the reading
    most += [30 + ADMITTED, ADMITTED]
    likely += [0.3 * 30 + 0.5 * ADMITTED, 0.5 * ADMITTED]
    assert [said for said, _ in court.later] == most
    assert [said for _, said in court.later] == pytest.approx(likely)
