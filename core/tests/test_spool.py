"""Sequences that are partly in a file: what comes back is what was put in."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cuescope_core import disk_list as spool, respond
from cuescope_core.disk_list import Shared, Spool
from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, HideTokens, Outcome, Response, Sample, Trial

SAMPLES = [
    Sample(
        key=f"s{n}",
        frames=(Frame.from_array(np.full((2, 2, 3), n, np.uint8)),),
        choices=("a", "b"),
    )
    for n in range(20)
]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of three, of which one stays in memory; trials are looked up seven at a time."""
    for name, value in (("CHUNK", 3), ("IN_MEMORY", 2000), ("RECENT", 1)):
        monkeypatch.setattr(spool, name, value)
    monkeypatch.setattr(respond, "WINDOW", 7)


def outcome(n: int) -> Outcome:
    hidden = HideTokens.from_mask(np.arange(4).reshape(1, 2, 2) == n % 4)
    still = SAMPLES[n].static(0)  # a sample of its own with a frame of the data set's
    response = Response(
        logits=np.array([n, 0.5]), readout=np.arange(6).reshape(2, 3), text="t\n"
    )
    return Outcome(Trial(sample=still if n % 2 else SAMPLES[n], edit=hidden), response)


def test_what_was_written_is_read_as_it_was(tmp_path: Path) -> None:
    given = [outcome(n) for n in range(20)]
    kept = Spool(iter(given), Shared(SAMPLES, tmp_path))
    assert len(kept) == 20
    for before, after in zip(given, kept, strict=True):
        assert after.trial == before.trial
        assert after.trial.sample.frames[0] is before.trial.sample.frames[0]
        assert after.response.text == "t\n"
        for array in ("logits", "readout"):
            np.testing.assert_array_equal(
                getattr(after.response, array),
                getattr(before.response, array),
                strict=True,
            )
    assert kept[16].trial is not given[16].trial  # it was read from the file
    assert kept[16].trial.sample is SAMPLES[16]
    assert not list(tmp_path.iterdir())  # which has no name


def test_memory_is_that_of_all_items_of_an_audit(tmp_path: Path) -> None:
    shared = Shared(SAMPLES, tmp_path)
    given = [outcome(n) for n in range(20)]
    first, second = Spool(given, shared), Spool(given, shared)
    assert (first[0], first[3] is given[3]) == (given[0], False)
    assert second[0] is not given[0]  # there was no room for any of it
    left = shared.room
    del second
    assert shared.room == left
    del first
    assert shared.room == spool.IN_MEMORY
    assert Spool(given, shared)[0] is given[0]


def test_slices_are_views() -> None:
    kept = Spool(range(20))
    assert list(kept[4:17][2:-1:3]) == [6, 9, 12, 15]
    assert (kept[-1], kept[4:17][-1]) == (19, 16)
    assert [*reversed(kept)] == [*range(19, -1, -1)]
    with pytest.raises(IndexError):
        kept[20]


def test_what_cannot_be_pickled_stays_in_memory() -> None:
    given = [lambda n=n: n for n in range(20)]
    assert [each() for each in Spool(given)] == [*range(20)]


class Summing:
    def respond(self, trials: list[Trial]) -> list[Response]:
        return [
            Response(logits=np.array([float(t.sample.key[1:]), 0.0])) for t in trials
        ]


def test_many_trials_are_answered_in_order(tmp_path: Path) -> None:
    def trials() -> Iterator[Trial]:
        for _ in range(3):
            for sample in SAMPLES:
                yield Trial(sample=sample)

    told: list[tuple[int, int, int]] = []
    ask = ModelRunner(
        "m",
        Summing,  # type: ignore[arg-type]
        ResponseCache(tmp_path / "responses.sqlite"),
        batch_size=2,
        on_progress=lambda *numbers: told.append(numbers),
        shared=Shared(SAMPLES, tmp_path),
    )
    outcomes = ask(trials())
    logits = [
        float(o.response.logits[0]) for o in outcomes if o.response.logits is not None
    ]
    assert logits == [float(n) for n in range(20)] * 3
    assert all(o.trial.sample is SAMPLES[n % 20] for n, o in enumerate(outcomes))
    assert (ask.trials, ask.model_calls) == (20, 20)
    assert told[-1][:2] == (60, 60)
