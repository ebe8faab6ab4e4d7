"""Which held-out samples show a cue, and where: told by pictures, or by patches of a model."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.locating import learned
from cuescope_confirm.locating.patches import Cells
from cuescope_confirm.study import Frames, Samples
from cuescope_sdk import Capabilities, Frame, Sample
from cuescope_sdk.locating import Rates

EMBEDS = Capabilities(outputs=frozenset({"logits", "embedding"}))


@pytest.mark.parametrize(("auroc", "is_asked"), [(0.8, True), (0.86, False)])
def test_where_pictures_tell_a_cue_the_model_is_not_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, auroc: float, is_asked: bool
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
    audit: Any = SimpleNamespace(once=lambda *_: best, capabilities=EMBEDS)
    study: Any = SimpleNamespace(lasts=lambda _: False, audit=audit)
    cue: Any = None
    learned.locate_learned(study, cue, {})
    assert bool(asked) is is_asked


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
    audit: Any = SimpleNamespace(once=lambda *_: best, capabilities=EMBEDS)
    study: Any = SimpleNamespace(lasts=lambda _: False, audit=audit)
    cue: Any = None
    located = learned.locate_learned(study, cue, pool)
    assert list(located.places) == [taken]
    # half is taken and half shows the cue, of which nine tenths are caught
    assert located.purity == (1.0 if taken == "whole" else pytest.approx(0.9))
