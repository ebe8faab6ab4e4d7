"""A checkpoint is opened once, for the first question; a plan opens none."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from videoqa_samples import PLUGINS, SAMPLES, options, video

from cuescope_sdk import Context, PlanStopped, Sample, Trial
from cuescope_testing import FakeDataset, FakeMethod, Setup

NAMES = tuple(PLUGINS)


class Videos(FakeDataset):
    """Samples of one video, three frames each."""

    def __getitem__(self, index: int) -> Sample:
        return super().__getitem__(index).with_frames(video("one"), "video")


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the bytes of each file became tensors."""
    counter: Counter[str] = Counter()
    load = torch.load

    def counting(path: Path, **kwargs: Any) -> Any:
        counter[path.name] += 1
        return load(path, **kwargs)

    monkeypatch.setattr(torch, "load", counting)
    return counter


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_opened_once_and_by_no_plan(
    name: str, place: Path, openings: Counter[str], tmp_path: Path
) -> None:
    given = options(name, place)
    setup = Setup(
        FakeMethod, PLUGINS[name], Videos, model_options=given, folder=tmp_path
    )
    plan = setup.plan(limit=4)
    assert plan.until == "the answers of the model"
    assert plan.model_calls > 0
    assert not openings
    # the method shows changed frames, of which there are no features
    if given.get("features"):
        model = PLUGINS[name](PLUGINS[name].Options(**given), Context(device="cpu"))
        for sample in SAMPLES[:2]:
            model.respond([Trial(sample=sample)])
    else:
        report = setup.report(limit=4)
        assert report.provenance.model.facts["weights"] == given["checkpoint"].name
    assert openings[given["checkpoint"].name] == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_nobody_looks_at_stays_on_the_disk(
    name: str, place: Path, build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped: list[bool] = []
    load = torch.load
    monkeypatch.setattr(
        torch,
        "load",
        lambda file, **kwargs: mapped.append(kwargs["mmap"]) or load(file, **kwargs),
    )
    build(name)
    assert mapped
    assert all(mapped)


def test_a_plan_ends_where_a_tool_needs_the_weights(place: Path) -> None:
    plugin = PLUGINS["just-ask"]
    context = Context(device="cpu", planning=True)
    model = plugin(plugin.Options(**options("just-ask", place)), context)
    with pytest.raises(PlanStopped, match=r"the weights of just-ask\.pth"):
        model.open_weights()


def test_what_files_hold_enters_the_fingerprint(place: Path, tmp_path: Path) -> None:
    """Another vocabulary, checkpoint, tokenizer or features; not where they are."""

    def fingerprint(**changes: Any) -> str:
        plugin = PLUGINS["just-ask"]
        given = {**options("just-ask", place), **changes}
        found: str = plugin(plugin.Options(**given), Context(device="cpu")).fingerprint
        return found

    copy = tmp_path / "just-ask.pth"
    copy.write_bytes((place / "just-ask.pth").read_bytes())
    assert fingerprint(checkpoint=copy) == fingerprint()
    (tmp_path / "answers.json").write_text('["dog", "cat"]')
    copy.write_bytes(copy.read_bytes() + b"x")
    others = [
        fingerprint(answers=tmp_path / "answers.json"),
        fingerprint(checkpoint=copy),
        fingerprint(text_encoder=str(place / "deberta")),
        fingerprint(features=place / "clip.pth"),
        fingerprint(features=None),
    ]
    assert len({fingerprint(), *others}) == 6
