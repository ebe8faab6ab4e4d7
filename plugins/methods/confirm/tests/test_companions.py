"""What goes with a cue: which of the two moves answers, and what a change moves."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import companions
from cuescope_confirm.analysis import Row, _by_companion
from cuescope_confirm.asking import Direction, RunAnswers
from cuescope_confirm.companions import (
    Discordant,
    companions_of,
    discordant,
    moved,
    unnamed,
)
from cuescope_confirm.report import _hanging_together
from cuescope_confirm.scores import Ruling
from cuescope_confirm.study import Cue
from cuescope_sdk import Feature, Frame, Occurrence, Sample
from cuescope_sdk.statistics import PrognosticGap

COUNT = 400
OPTIONS = SimpleNamespace(least=10, margin=0.1, pairs=None)


def picture(rng: np.random.Generator, *, cue: bool, companion: bool) -> Frame:
    """Noise; a cue is a bright band at the top, its companion a dark one at the bottom."""
    pixels = rng.integers(90, 170, (24, 24, 3))
    pixels[:6] += 80 * cue
    pixels[-6:] -= 80 * companion
    return Frame.from_array(pixels.clip(0, 255).astype(np.uint8))


class World:
    """Samples in which a cue and a companion are there together in a share."""

    def __init__(self, together: float, used: str) -> None:
        rng = np.random.default_rng(0)
        self.cue = rng.random(COUNT) < 0.5
        self.companion = np.where(rng.random(COUNT) < together, self.cue, ~self.cue)
        harm = self.cue if used == "cue" else self.companion
        self.probability = 0.8 - 0.3 * harm + rng.normal(0, 0.1, COUNT)
        self.samples = {}
        for number in range(COUNT):
            frame = picture(rng, cue=self.cue[number], companion=self.companion[number])
            key = f"{number:03}"
            notes = {"factors": {"light": "dim" if self.companion[number] else "day"}}
            self.samples[key] = Sample(
                key=key,
                frames=(frame,),
                label="cup" if number % 2 else "plate",
                choices=("cup", "plate"),
                annotations=notes,
            )
        listed = [
            key for key, shown in zip(self.samples, self.cue, strict=True) if shown
        ]
        occurrences = tuple(Occurrence(sample=key, frame=0) for key in listed)
        feature = Feature(key="c", kind="cluster", name="c", occurrences=occurrences)
        self.found = Cue(feature, "band", ("cup",), "trove")

    @property
    def study(self) -> Any:
        """As far as companions ask for it."""
        audit = SimpleNamespace(
            once=lambda function, *given: function(*given),
            options=None,
            respond=list,
        )
        return SimpleNamespace(
            seen=self.samples,
            cues=[self.found],
            options=OPTIONS,
            audit=audit,
            rng=lambda *_: np.random.default_rng(1),
        )

    @property
    def target(self) -> Any:
        """The finding, which harms."""
        direction = Direction(gap=-0.3, z=-5.0)
        return SimpleNamespace(cue=self.found, direction=direction, parts=())

    def beside_all_else(self, monkeypatch: pytest.MonkeyPatch) -> PrognosticGap | None:
        """What is left of the finding where all else in the pictures is held alike."""
        answers = self.answers()
        monkeypatch.setattr(unnamed, "run_answers", lambda *_: answers)
        monkeypatch.setattr(unnamed, "prepare", lambda *_: self.study)
        dossier: Any = SimpleNamespace(study=self.study, witnesses_of=lambda _: [])
        target: Any = SimpleNamespace(**vars(self.target), by_label=False)
        return unnamed.beside_all_else(dossier, target)

    def compare(self, monkeypatch: pytest.MonkeyPatch) -> Discordant:
        """What the run's answers say of the one companion."""
        answers = self.answers()
        monkeypatch.setattr(companions, "run_answers", lambda *_: answers)
        [found] = discordant(self.study, self.target)
        return found

    def answers(self) -> RunAnswers:
        """The run's."""
        labels = np.array([sample.label for sample in self.samples.values()])
        outcomes: Any = [
            SimpleNamespace(
                trial=SimpleNamespace(sample=sample),
                response=SimpleNamespace(logits=None),
                prediction=sample.label,
            )
            for sample in self.samples.values()
        ]
        return RunAnswers(
            outcomes,
            present=self.cue,
            of_label=labels == "cup",
            right=(self.probability > 0.5).astype(float),
            probability=self.probability,
            labels=labels,
        )


def ruling(found: Discordant) -> str | None:
    """What is missing for a cause, by this companion."""
    target: Any = SimpleNamespace(direction=Direction(gap=-0.3, z=-5.0))
    row = Row(target, [], [], [], Ruling("causes"), discordant=[found])
    study: Any = SimpleNamespace(options=OPTIONS)
    return _by_companion(study, row)


def test_a_companion_is_named_with_how_often_it_is_there() -> None:
    world = World(0.85, "companion")
    [companion] = companions_of(world.study, world.found)
    assert companion.name == "light=dim"
    assert companion.with_cue == pytest.approx(0.85, abs=0.05)
    assert companion.without == pytest.approx(0.15, abs=0.05)
    assert not companions_of(World(0.5, "cue").study, world.found)


def test_where_they_come_apart_the_one_that_moves_answers_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoy = World(0.8, "companion").compare(monkeypatch)
    assert decoy.vetoes(10, 0.1)
    assert "light=dim" in str(ruling(decoy))
    cause = World(0.8, "cue").compare(monkeypatch)
    assert ruling(cause) is None
    assert cause.of_cue is not None
    assert 0 < cause.of_cue.low < 0.3 < cause.of_cue.high


def test_where_they_never_come_apart_the_reader_is_told_what_to_collect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = World(0.99, "companion").compare(monkeypatch)
    assert ruling(found) is None
    row: Any = SimpleNamespace(discordant=[found])
    options: Any = OPTIONS
    words = _hanging_together(row, options)
    assert "light=dim" in words
    assert "collect" in words
    assert "--pairs" in words


@pytest.mark.parametrize("takes_both", [True, False])
def test_a_change_that_moves_the_companion_too_is_no_witness(
    takes_both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(0.8, "companion")
    world.compare(monkeypatch)
    rng = np.random.default_rng(2)
    changed = [picture(rng, cue=False, companion=not takes_both) for _ in range(40)]
    placebos = [picture(rng, cue=True, companion=True) for _ in range(40)]
    pairs = list(zip(changed, placebos, strict=True))
    monkeypatch.setattr(moved, "changed_frames", lambda _: pairs)
    monkeypatch.setattr(moved, "by_fold", lambda study, one: [(study, one)])
    plugin = SimpleNamespace(needs="still", effect="removes")
    witness: Any = SimpleNamespace(
        edits_model=False, plugin=plugin, target=world.target
    )
    said = moved.moved_companion(world.study, witness)
    assert said == ("light=dim" if takes_both else None)


def test_what_goes_with_a_cue_and_has_no_name_is_set_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoy = World(0.8, "companion").beside_all_else(monkeypatch)
    assert decoy is not None
    assert decoy.plain.low > 0.1
    assert decoy.alike.value < decoy.plain.value / 3
    cause = World(0.8, "cue").beside_all_else(monkeypatch)
    assert cause is not None
    assert cause.alike.low > 0.1
    assert cause.alike.low < 0.3 < cause.alike.high


def test_what_pictures_do_not_tell_is_not_held_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(0.8, "cue")
    shuffled = np.random.default_rng(5).permutation(COUNT)
    world.cue = world.cue[shuffled]
    assert world.beside_all_else(monkeypatch) is None
