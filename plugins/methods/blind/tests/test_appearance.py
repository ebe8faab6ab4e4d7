"""Labels that files give away are found by the file's fact, and by no other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image
from pydantic import Field

from cuescope_blind import Blind, report
from cuescope_blind.labels import (
    COLOURS,
    TELLS,
    Labelled,
    facts_of,
    is_labelled,
    seen_facts,
)
from cuescope_blind.none import NoModel
from cuescope_core.types import FrameSource
from cuescope_sdk import Context, Frame, Options, Plugin, Report, Sample, digest
from cuescope_testing import Setup

LABELS = ("cat", "dog", "fox")


class PictureOptions(Options):
    path: Path = Field(description="where the pictures are written")
    planted: str = Field("", description="what gives 'dog' away")
    a_group: int = Field(1, description="pictures of a group")


class Pictures(Plugin):
    """Pictures of noise, forty of each label."""

    Options = PictureOptions
    options: PictureOptions
    labels = LABELS
    facts: dict[str, str] = {}

    def __init__(self, options: PictureOptions, context: Context) -> None:
        super().__init__(options, context)
        rng = np.random.default_rng(0)
        self.samples = []
        for number in range(120):
            label = LABELS[number % 3]
            given = options.planted if label == "dog" else ""
            path = options.path / f"{number:03d}.jpg"
            write_picture(path, rng, given)
            self.samples.append(
                Sample(
                    key=path.stem,
                    frames=(Frame.from_file(path),),
                    choices=LABELS,
                    label=label,
                    group=f"g{number // options.a_group}",
                )
            )
        self.fingerprint = digest(options.planted, options.a_group)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


def write_picture(path: Path, rng: np.random.Generator, given: str) -> None:
    pixels = rng.integers(0, 256, (16, 24, 3)).astype(np.uint8)
    if given == "colours":
        pixels[..., 0] //= 2
    exif = Image.Exif()
    if given == "exif":
        exif[0x010F] = "Acme"
    quality = 60 if given == "encoding" else int(rng.choice([80, 90]))
    Image.fromarray(pixels).save(path, quality=quality, exif=exif)


def setup(path: Path, planted: str = "", **options: Any) -> Setup:
    data = {"path": path, "planted": planted}
    # two folds: a forest is learned in each, for each tell
    options = {"folds": 2, "redraws": 0, **options}
    return Setup(Blind, NoModel, Pictures, options, data_options=data)


def audit(path: Path, planted: str = "", **options: Any) -> Report:
    return setup(path, planted, **options).report()


def found(report: Report) -> set[str]:
    return {score.feature for score in report.findings}


def test_a_plan_learns_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made before each run that somebody watches, and would take as long."""
    monkeypatch.setattr(report, "features", None)
    plan = setup(tmp_path).plan()
    assert (plan.model_calls, plan.more) == (0, 0)


@pytest.mark.parametrize("planted", ["encoding", "exif", "colours"])
def test_a_planted_tell_is_found(planted: str, tmp_path: Path) -> None:
    report = audit(tmp_path, planted, redraws=2 * (planted == "exif"))
    assert planted in found(report)
    [sentence] = [
        report.sentence(score) or ""
        for score in report.findings
        if score.feature == planted
    ]
    assert "alone, the label is told right of " in sentence
    # the size of a file goes with all three, and its quality with the spread of its colours
    others = {"encoding", "exif"} - {planted}
    assert not others & found(report)
    checks = [evidence.detail[:17] for evidence in report.evidence]
    assert checks == ["in 0 of 2 redraws"] * (planted == "exif")


def test_noise_tells_no_label(tmp_path: Path) -> None:
    report = audit(tmp_path)
    assert not report.findings
    assert report.notes["power"].startswith("80% for a gain of ")


def test_facts_of_a_video_are_of_its_stream(tmp_path: Path) -> None:
    MediaFile.video(tmp_path / "go_01.mp4", 6)
    frame = Frame(
        "k", lambda: Image.new("RGB", (2, 2)), FrameSource(tmp_path / "go_01.mp4")
    )
    facts = facts_of(Sample(key="a", frames=(frame,)))
    assert facts["name go"] == facts["name 00"] == 1.0
    assert facts["rate"]
    assert facts["seconds"]
    assert facts_of(Sample(key="b", frames=(Frame("k", frame.loader),))) == {}


def test_what_is_the_same_of_all_is_no_column() -> None:
    facts = [{"bytes": 5.0, "name a": 1.0}] * 4 + [{"bytes": 5.0}] * 4
    assert seen_facts(facts, TELLS["file-size"][1]) == []
    assert seen_facts(facts, TELLS[COLOURS][1]) == []
    names = seen_facts(facts, TELLS["file-name"][1])
    assert names == [{"name a": 1.0}] * 4 + [{}] * 4


def test_copies_of_a_picture_share_a_fold() -> None:
    def sample(key: str, picture: int, label: str) -> Sample:
        frame = Frame.from_array(np.full((2, 2, 3), picture, np.uint8))
        return Sample(key=key, frames=(frame,), label=label, choices=LABELS)

    data = Labelled.of(
        [sample("a", 0, "cat"), sample("b", 0, "dog"), sample("c", 1, "cat")]
    )
    codes = data.fold_groups.codes
    assert codes[0] == codes[1] != codes[2]
    assert is_labelled(data.samples)
    assert not is_labelled([*data.samples, Sample(key="d", frames=())])
