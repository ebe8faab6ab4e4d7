"""Which images are compared: with the class, and which of those without."""

import pytest

from cuescope_sdk import Sample, generator
from cuescope_spurlens.pools import negatives, objects_of, positives, supercategories

KINDS = {"cup": "kitchen", "bowl": "kitchen", "car": "street", "bus": "street"}


def shot(key: str, *objects: str) -> Sample:
    kinds = tuple(KINDS[name] for name in objects)
    known = {"objects": objects, "supercategories": kinds}
    return Sample(key=key, frames=(), annotations=known)


SHOTS = [shot("a", "cup"), shot("b", "bowl", "car"), shot("c", "car"), shot("d"),
         shot("e", "cup", "bowl"), shot("f", "bowl")]  # fmt: skip


def keys(samples: tuple[Sample, ...]) -> str:
    return "".join(sample.key for sample in samples)


def test_positives_show_the_class() -> None:
    assert keys(positives(SHOTS, "cup").samples) == "ae"


@pytest.mark.parametrize(
    ("how", "found"), [("auto", "bf"), ("supercategory", "bf"), ("all", "bcdf"), ("others", "bcdf")]
)
def test_negatives(how: str, found: str) -> None:
    pool = negatives(SHOTS, "cup", how, 5000, generator(0, "n"))  # type: ignore[arg-type]
    assert keys(pool.samples) == found


def test_others_are_a_seeded_draw_in_order() -> None:
    shots = [Sample(key=f"{n:03d}", frames=(), label="x" if n % 2 else "y") for n in range(200)]
    first, again, other = (
        [s.key for s in negatives(shots, "x", "auto", 20, generator(seed, "n")).samples]
        for seed in (0, 0, 1)
    )
    assert first == again == sorted(first)
    assert len(first) == 20
    assert first != other
    assert all(int(key) % 2 == 0 for key in first)


def test_a_label_stands_in_for_objects_but_none_is_none() -> None:
    assert objects_of(Sample(key="a", frames=(), label="cup")) == ("cup",)
    shown = Sample(key="a", frames=(), label="cup", annotations={"objects": ()})
    assert objects_of(shown) == ()


def test_supercategories_go_with_objects() -> None:
    assert supercategories(SHOTS) == {n: KINDS[n] for n in ("cup", "bowl", "car")}
