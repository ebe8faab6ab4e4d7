"""Cues of each kind of annotation, for their own class and no other."""

from typing import Any

import numpy as np
import pytest

from cuescope_proposers.known import KnownCues
from cuescope_sdk import Context, Frame, Sample, UserError, digest


class Listed:
    """Samples that a test wrote down."""

    labels = ("car", "bus", "cup")

    def __init__(self, *annotated: tuple[str | None, dict[str, Any]]) -> None:
        self.samples = [
            Sample(
                key=str(number),
                frames=(Frame.from_array(np.full((4, 6, 3), number, np.uint8)),),
                label=label,
                annotations=annotations,
            )
            for number, (label, annotations) in enumerate(annotated)
        ]
        self.fingerprint = digest(*(sample.key for sample in self.samples))

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


def scores(data: Listed, label: str, **options: Any) -> dict[str, list[float]]:
    """Of each cue of a class its score in each sample."""
    context = Context().for_dataset(data)  # type: ignore[arg-type]
    tool = KnownCues(KnownCues.Options(**options), context)
    cues = tool.propose(label)
    found = tool.detect([sample.frames[0] for sample in data.samples], cues)
    by_name = [{seen.name: seen.score for seen in of_frame} for of_frame in found]
    assert {seen.box for of_frame in found for seen in of_frame} <= {(0, 0, 6, 4)}
    return {cue: [names.get(cue, 0.0) for names in by_name] for cue in cues}


def test_a_ranking_is_of_its_own_class() -> None:
    data = Listed(
        ("car", {"spuriosity": 1.0}),
        ("car", {"spuriosity": 0.25}),
        ("bus", {"spuriosity": 0.5}),
    )
    assert scores(data, "car") == {"known cue of car": [1.0, 0.25, 0.0]}
    assert scores(data, "cup") == {}


def test_a_spurious_feature_is_of_its_own_class() -> None:
    data = Listed((None, {"spurious_class": "bus", "objects": ()}), ("car", {}))
    assert scores(data, "bus") == {"spurious feature of bus": [1.0, 0.0]}
    assert scores(data, "car") == {}


def test_another_thing_of_the_supercategory() -> None:
    def scene(*objects: str) -> tuple[None, dict[str, Any]]:
        kinds = {"car": "vehicle", "bus": "vehicle", "cup": "kitchen"}
        return None, {
            "objects": objects,
            "supercategories": tuple(kinds[o] for o in objects),
        }

    data = Listed(scene("car"), scene("car", "bus"), scene("bus", "cup"), scene("cup"))
    assert scores(data, "car") == {"vehicle thing other than car": [0.0, 1.0, 1.0, 0.0]}
    assert scores(data, "cup") == {"kitchen thing other than cup": [0.0] * 4}


def test_an_answer_sheet_goes_before_factors() -> None:
    factors = {"place": "water", "species": "tern", "label": "car"}
    sheet = {"factors": factors, "cues": {"water background": (True,)}}
    assert scores(Listed(("car", sheet)), "car") == {"water background": [1.0]}
    assert scores(Listed(("car", {"factors": factors})), "bus").keys() == {
        "water",
        "tern",
    }


def test_a_data_set_that_knows_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="knows no cue"):
        scores(Listed(("car", {}), ("bus", {"boxes": ()})), "car")
