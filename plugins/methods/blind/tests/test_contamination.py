"""Old answers that are kept, of models that know them, that see badly, or that read words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from cuescope_blind.contamination import Contamination
from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    Words,
    digest,
)
from cuescope_testing import FakeDataset, MethodContract, Setup

CHOICES = ("one", "two", "three", "four")


class PairOptions(Options):
    count: int = Field(100, description="how many pairs")
    keys: Annotated[str, Words()] = Field(
        "", description="before the key of the original"
    )
    same: bool = Field(False, description="whether the right answer stays")


class Pairs(Plugin):
    """Pictures whose brightness is the right answer, each with a changed one."""

    Options = PairOptions
    options: PairOptions
    labels: tuple[str, ...] = ()
    facts: Mapping[str, str] = {}

    def __init__(self, options: PairOptions, context: Context) -> None:
        super().__init__(options, context)
        rng = np.random.default_rng(0)
        self.old = rng.integers(0, 4, options.count)
        self.new = (self.old + rng.integers(1, 4, options.count)) % 4
        if options.same:
            self.new = self.old
        self.fingerprint = digest(options.model_dump())

    def __len__(self) -> int:
        return 2 * self.options.count

    def __getitem__(self, index: int) -> Sample:
        number, is_changed = divmod(index, 2)
        right = int((self.new if is_changed else self.old)[number])
        level = 60 * right + number % 50
        name = f"{number:03d}"
        return Sample(
            key=f"changed/{name}" if is_changed else name,
            frames=(Frame.from_array(np.full((2, 2, 3), level, np.uint8)),),
            question=f"{name}: which is it?",
            choices=CHOICES,
            label=CHOICES[right],
            annotations={"original": self.options.keys + name} if is_changed else {},
            group=name,
        )


class KnowerOptions(Options):
    knows: float = Field(0.0, description="share of questions whose answer it knows")
    blur: float = Field(
        0.0, description="share of changed pictures that it cannot read"
    )
    draw: int = Field(0, description="another draw")


class Knower(Plugin):
    """Reads the brightness, or gives the answer that it knows."""

    Options = KnowerOptions
    options: KnowerOptions
    capabilities = Capabilities(outputs=frozenset({"logits"}), min_frames=0)
    facts: Mapping[str, str] = {}

    def __init__(self, options: KnowerOptions, context: Context) -> None:
        super().__init__(options, context)
        self.known = Pairs(PairOptions(), context).old
        self.fingerprint = digest("knower", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(logits=self._logits(trial.sample)) for trial in trials]

    def _logits(self, sample: Sample) -> np.ndarray:
        number = int((sample.question or "").partition(":")[0])
        rng = np.random.default_rng([self.options.draw, number])
        knows, blurred, guess = rng.random(), rng.random(), int(rng.integers(4))
        answer = int(np.asarray(sample.frames[0].load())[0, 0, 0]) // 60
        if sample.key.startswith("changed") and blurred < self.options.blur:
            answer = guess
        if knows < self.options.knows:
            answer = int(self.known[number])
        logits = np.zeros(4, np.float32)
        logits[answer] = 1
        return logits


def audit(data: Mapping[str, Any] | None = None, **model: Any) -> Report:
    return Setup(
        Contamination, Knower, Pairs, model_options=model, data_options=data or {}
    ).report()


def test_what_a_model_knows_is_found_and_how_much() -> None:
    report = audit(knows=0.3)
    [cue] = report.found
    assert cue.kind == "problem"
    assert cue.impact is not None
    assert cue.impact.count == pytest.approx(30, abs=10)
    [score] = report.findings
    assert score.low is not None
    assert score.high is not None
    assert score.low < 0.3 < score.high
    # the words alone give it away too, and that is shown beside
    _, of_others = report.headlines
    assert of_others.value == pytest.approx(0.3, abs=0.15)


def test_hard_pictures_are_no_memory() -> None:
    """Half of the changed pictures are guessed at: accuracy falls, and no one answer gains."""
    found = [bool(audit(blur=0.5, draw=draw).findings) for draw in range(20)]
    assert sum(found) <= 2
    lost = [s for s in audit(blur=0.5).scores if s.metric == "lost"]
    assert lost[0].value > 0.2


def test_a_model_that_reads_pictures_has_no_finding_and_power_is_told() -> None:
    report = audit()
    assert not report.findings
    assert report.notes["power"].startswith("80% for an old answer")


@pytest.mark.parametrize("data", [{"keys": "no such"}, {"same": True}])
def test_without_pairs_it_says_what_is_missing(data: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="there is no pair") as error:
        audit(data)
    assert "got 100 samples with that column, of 200" in str(error.value)


class NeighbourPairs(FakeDataset):
    """The contract's pictures: each second one counts as the one before, changed."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        if index % 2:
            before = {"original": super().__getitem__(index - 1).key}
            sample = replace(sample, annotations={**sample.annotations, **before})
        return sample


class TestContamination(MethodContract):
    plugin = Contamination
    data = NeighbourPairs
    finds_planted_cue = False  # it is about answers that are known
