"""An embedding is moved by what the case says, and the tower is its own again afterwards."""

import numpy as np
import pytest

from cuescope_interventions.inside import Erase, MoveEmbedding, Patch
from cuescope_sdk import Context, Frame, Sample, Trial
from cuescope_sdk.interventions import Case, Place
from cuescope_testing import FakeTower

OUTPUTS = frozenset({"logits", "embedding"})


@pytest.mark.parametrize("plugin", [Erase, Patch])
def test_an_embedding_moves_by_its_shift(plugin: type[Erase]) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (8, 8, 3)).astype(np.uint8)
    sample = Sample(key="a", frames=(Frame.from_array(pixels),), choices=("x", "y"))
    model = FakeTower(FakeTower.Options(), Context())
    plain = Trial(sample=sample, outputs=OUTPUTS)
    [before] = model.respond([plain])
    row = np.asarray(before.embedding)
    shift = np.linspace(-1, 1, len(row))
    one = plugin(plugin.Options(), Context())
    # told in units in which the embedding has length 2
    scaled = 2 / np.linalg.norm(row)
    cases = [
        Case(sample, Place(), shift=shift, norm=float(np.linalg.norm(row))),
        Case(sample, Place(), shift=shift * scaled, norm=2.0),
    ]
    for trial in one.intervene(cases, {}):
        assert trial.edit is not None
        moved = Trial(sample=trial.sample, edit=trial.edit, outputs=OUTPUTS)
        [after] = model.respond([moved])
        assert np.asarray(after.embedding) == pytest.approx(row + shift, abs=1e-4)
        assert after.logits == pytest.approx((row + shift)[:2], abs=1e-4)
    [again] = model.respond([plain])
    assert np.array_equal(again.embedding, before.embedding)


def test_a_case_without_a_shift_is_refused() -> None:
    case = Case(Sample(key="a", frames=()), Place())
    with pytest.raises(ValueError, match="has no shift"):
        Erase(Erase.Options(), Context()).intervene([case], {})


def test_numbers_come_back_as_they_were_written() -> None:
    edit = MoveEmbedding(bits=np.arange(3, dtype=np.float32).tobytes(), norm=1.0)
    assert edit.shift.tolist() == [0, 1, 2]
