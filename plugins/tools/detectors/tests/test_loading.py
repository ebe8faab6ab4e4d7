"""Model folders that are not what they should be; light modules."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import transformers
from safetensors.torch import load_file, save_file

from cuescope_detectors import GroundingDino, Owl
from cuescope_detectors.grounded_sam import GroundedSam
from cuescope_sdk import Context, LazyWeights, PlanStopped, UserError
from cuescope_testing import FakeDetector, PluginShelf

Spoil = Callable[[str], Path]


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path) -> Spoil:
    """`copied(kind)`: a model folder to spoil."""
    return lambda kind: copytree(folders[kind], tmp_path / "spoilt")


def built(folder: Path | str) -> Owl:
    return Owl(Owl.Options(model=str(folder)), Context(device="cpu"))


def said(folder: Path | str, ask: Callable[[Path | str], Any] = built) -> str:
    """The one line of the refusal."""
    with pytest.raises(UserError) as caught:
        ask(folder)
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_another_architecture(folders: dict[str, Path]) -> None:
    line = said(folders["grounding-dino"])
    assert "expected owlv2, owlvit, got the architecture 'grounding-dino'" in line


def test_missing_parts(copied: Spoil) -> None:
    folder = copied("owlv2")
    weights = load_file(folder / "model.safetensors")
    removed = weights.pop("class_head.dense0.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    line = said(folder, lambda folder: built(folder).open_weights())
    assert "1 without, class_head.dense0.weight the first" in line
    save_file(
        {**weights, "class_head.dense0.weight": removed},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    for file in folder.glob("*processor*"):
        file.unlink()
    assert said(folder).startswith("owl: ")
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "owl: spoilt has no tokenizer" in said(folder)
    (folder / "model.safetensors").unlink()
    assert said(folder).startswith("owl: no weights in")
    assert said("./nowhere").startswith("owl: no model folder ./nowhere")


def test_no_code_of_strangers_runs(copied: Spoil) -> None:
    folder = copied("owlv2")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text(
        f"import pathlib\npathlib.Path({str(folder / 'ran')!r}).touch()"
    )
    line = said(folder)
    assert "code of its own, which is not run unasked" in line
    assert "trust_remote_code" not in line
    assert not (folder / "ran").exists()


def test_the_fingerprint_follows_what_answers(
    build: Callable[..., Any], folders: dict[str, Path], copied: Spoil
) -> None:
    folder = copied("owlv2")
    again, plain = built(folder), build("owlv2")
    assert again.fingerprint == plain.fingerprint
    weights = load_file(folder / "model.safetensors")
    weights["class_head.dense0.weight"] += 1
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    others = [
        build("owlv2", threshold=0.1),
        build("owlv2", overlap=0.2),
        build("owlvit"),
    ]
    others.append(built(folder))
    assert len({tool.fingerprint for tool in (plain, *others)}) == 5
    assert plain.facts["weights"] == "owlv2"


@pytest.mark.parametrize("kind", ["owlv2", "grounding-dino", "sam"])
def test_weights_are_opened_late_and_once(
    kind: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = transformers.PreTrainedModel.from_pretrained.__func__  # type: ignore[attr-defined]

    def counting(cls: type, *args: Any, **given: Any) -> Any:
        opened.append(cls.__name__)
        return real(cls, *args, **given)

    monkeypatch.setattr(
        transformers.PreTrainedModel, "from_pretrained", classmethod(counting)
    )
    context = Context(PluginShelf({("tool", "corners"): FakeDetector}), device="cpu")
    finder: dict[str, Any] = {"detector": "corners"} if kind == "sam" else {}
    plugin: Any = {"owlv2": Owl, "grounding-dino": GroundingDino, "sam": GroundedSam}[
        kind
    ]
    options = plugin.Options(model=str(folders[kind]), **finder)
    tool, planned = (
        plugin(options, context),
        plugin(options, replace(context, planning=True)),
    )
    assert isinstance(tool, LazyWeights)
    with pytest.raises(PlanStopped, match=f"the weights of {kind}"):
        planned.open_weights()
    assert not opened
    tool.open_weights()
    tool.open_weights()
    assert opened == [tool.facts["architecture"]]


def test_sam_opens_its_detector_too(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(Owl, "open_weights", lambda self: calls.append(self.owner))
    context = Context(PluginShelf({("tool", "owl"): Owl}), device="cpu")
    given = {"model": str(folders["sam"]), "detector": f"owl:{folders['owlvit']}"}
    GroundedSam(GroundedSam.Options(**given), context).open_weights()
    assert calls == ["owl"]
