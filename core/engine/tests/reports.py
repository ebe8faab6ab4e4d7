"""Reports for tests: TRoVe on moving-shapes, where a red background was planted."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from cuescope_core import seeds
from cuescope_core.conclusions import (
    Contrast,
    Cost,
    Evidence,
    Exhibit,
    Feature,
    Metric,
    Occurrence,
    PluginStamp,
    Provenance,
    Report,
    Score,
    Side,
)
from cuescope_core.runs import exhibit_key, picture_key

LABELS = ("moving north", "moving south", "moving east", "moving west")
METRICS = (
    Metric(
        name="trove",
        title="TRoVe score",
        meaning="How strongly the feature misleads the model: the error contribution plus the "
        "static bias score. 0 means not at all, 2 means always.",
    ),
    Metric(
        name="ecs",
        title="Error contribution",
        meaning="How much accuracy a label loses when the feature is on screen: accuracy "
        "without it minus accuracy with it.",
    ),
    Metric(
        name="sbs",
        title="Static bias",
        meaning="How sure the model is of its wrong answer from one still frame alone, as a "
        "calibrated probability.",
    ),
)
NAMES = (
    "red background",
    "disc low on the screen",
    None,
    "disc near the right edge",
    None,
)
PLANTED = Evidence(
    check="precision@10",
    verdict="supported",
    detail="10 of the first 10 frames for 'moving east' show the planted red background.",
    value=1.0,
    threshold=0.9,
    n=10,
    feature="cluster-00",
    label="moving east",
    name="red background",
)
CHECKS = (
    PLANTED,
    Evidence(
        check="static confidence gap",
        verdict="inconclusive",
        detail="Still frames with the cue are more confident, but the interval holds zero.",
        value=0.04,
        threshold=0.05,
        n=61,
        feature="cluster-01",
    ),
    Evidence(
        check="R-precision",
        verdict="refuted",
        detail="Fewer annotated frames were retrieved than a shuffled ranking would.",
        value=0.21,
        threshold=0.25,
        n=240,
    ),
)


def make_report(features: int = 5, **changes: Any) -> Report:
    """The planted report with this many clusters, two labels each; `changes` replace fields."""
    made = Report(
        title="TRoVe: toy on moving-shapes:background",
        metrics=METRICS,
        notes={"Clusters": f"{features} (silhouette 0.41)", "Temperature": "1.84"},
        features=tuple(make_feature(i) for i in range(features)),
        scores=tuple(
            score
            for i in range(features)
            for label in LABELS[2:]
            for score in _scores(i, label)
        ),
        evidence=CHECKS[: features + 1],
        contrasts=tuple(map(make_contrast, range(min(features, 2)))),
        provenance=make_provenance(),
        cost=Cost(trials=2480, model_calls=1912, cache_hits=568, seconds=11.4),
    )
    return made.model_copy(update=changes)


def make_feature(index: int, frames: int = 30) -> Feature:
    """A cluster of frames, one from each of as many clips."""
    return Feature(
        key=f"cluster-{index:02}",
        kind="cluster",
        name=NAMES[index] if index < len(NAMES) else None,
        occurrences=tuple(
            Occurrence(
                sample=f"test/{index:02}{i:03}", frame=i % 3, strength=1 - i / 50
            )
            for i in range(frames)
        ),
    )


def make_contrast(index: int) -> Contrast:
    """Two clips with the cluster, one answered wrongly, beside two without it."""
    return Contrast(
        feature=f"cluster-{index:02}",
        label="moving east",
        rule="The first two of each side.",
        sides=(
            Side(
                title="with it: 50% of 2 right",
                exhibits=(_exhibit(index, 0), _exhibit(index, 1)),
            ),
            Side(
                title="without it: all right",
                exhibits=(_exhibit(index, 2), _exhibit(index, 3)),
            ),
        ),
    )


def _exhibit(index: int, clip: int) -> Exhibit:
    return Exhibit(
        occurrence=make_feature(index).occurrences[clip],
        label="moving east",
        prediction="moving east" if clip else "moving south",
        probability=0.71,
        correct=clip > 0,
        words="held still: moving south" if clip < 2 else None,
    )


def make_provenance() -> Provenance:
    """Three plugins and the command that built them."""
    return Provenance(
        method=_stamp("trove", "cuescope-trove", options={"top_k": 1, "step": 4}),
        model=_stamp("toy", "cuescope-toy", facts={"Validation accuracy": "0.93"}),
        data=_stamp(
            "moving-shapes:background",
            "cuescope-moving-shapes",
            facts={"Cramér's V": "0.901 (asked 0.9)"},
        ),
        seed=0,
        limit=None,
        samples=480,
        labels=LABELS,
        device="cpu",
        dtype="float32",
        versions={"python": "3.11.9", "cuescope": "0.1.0", "numpy": "2.2.0"},
        command="cuescope audit trove --model toy --data moving-shapes:background "
        "-O data.cramers_v=0.9 -O data.length=5 --seed 0",
        started="2025-06-01 12:00 UTC",
    )


def make_pictures(report: Report, size: tuple[int, int] = (60, 60)) -> dict[str, bytes]:
    """A thumbnail for each occurrence: a blue disc, on red for the first feature."""
    rng = seeds.generator(0, "pictures")
    pictures = {}
    for index, feature in enumerate(report.features):
        for seen in feature.occurrences:
            image = Image.new("RGB", size, (190, 24, 24) if index == 0 else "black")
            x, y = rng.integers(0, 50, 2) if index == 0 else _place(rng, index)
            ImageDraw.Draw(image).ellipse((x, y, x + 10, y + 10), fill=(40, 80, 255))
            stream = BytesIO()
            image.save(stream, "JPEG", quality=88)
            pictures[picture_key(seen)] = pictures[exhibit_key(seen)] = (
                stream.getvalue()
            )
    return pictures


def _place(rng: np.random.Generator, index: int) -> tuple[int, int]:
    """Around a corner of its own for each cluster."""
    jitter = rng.integers(-4, 5, 2)
    x, y = ((38, 42), (8, 40), (42, 24), (24, 8))[index % 4]
    return x + int(jitter[0]), y + int(jitter[1])


def _scores(index: int, label: str) -> list[Score]:
    """The three rows of a cluster; the first two clusters mislead, one more each label."""
    planted = index == 0 and label == "moving east"
    ecs = 0.62 if planted else 0.18 * 0.7**index - 0.06
    sbs = 0.97 if planted else None if index == 2 else 0.45 * 0.9**index
    finding = planted or (index == 0)
    statement = (
        f"When {{feature}} is on screen, '{label}' loses {100 * ecs:.0f} points of accuracy, and "
        f"one still frame is enough for a wrong answer at {sbs or 0:.2f}."
    )
    place: Mapping[str, Any] = {"feature": f"cluster-{index:02}", "label": label}
    return [
        Score(
            **place,
            metric="trove",
            value=ecs + (sbs or 0),
            low=ecs + (sbs or 0) - 0.11,
            high=ecs + (sbs or 0) + 0.09,
            n=max(96 - index, 1),
            finding=finding,
            statement=statement if finding else None,
        ),
        Score(
            **place,
            metric="ecs",
            value=ecs,
            low=ecs - 0.1,
            high=ecs + 0.08,
            n=max(96 - index, 1),
            p_value=0.0005 if finding else 0.2,
            q_value=0.004 if finding else 0.41,
        ),
        Score(**place, metric="sbs", value=sbs, n=31),
    ]


def _stamp(
    spec: str,
    dist: str,
    options: dict[str, Any] | None = None,
    facts: dict[str, str] | None = None,
) -> PluginStamp:
    return PluginStamp(
        spec=spec,
        options=options or {},
        dist=dist,
        version="0.1.0",
        fingerprint="9b1f0c6de2a84f37" * 2,
        facts=facts or {},
    )
