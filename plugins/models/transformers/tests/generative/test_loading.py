"""Folders, names and samples that are not what they should be; fingerprints."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from cuescope_sdk import Context, Edit, LazyWeights, PlanStopped, Trial, UserError
from cuescope_sdk.choosing import Question
from cuescope_sdk.fusion import AverageAttention, AverageTokens, HasFusion
from cuescope_transformers import Transformers, TransformersOptions
from cuescope_transformers.generative import TransformersVLM
from cuescope_transformers.generative.batches import require_visual_tokens
from cuescope_transformers.generative.inputs import Batch

Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]
ALL = AverageAttention(quadrants=frozenset({"VV", "VT", "TV", "TT"}))


@pytest.fixture
def copied(folder_of: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """`copied(kind)`: a model folder to spoil."""
    return lambda kind: copytree(folder_of(kind), tmp_path / "spoilt")


def said(ask: Callable[[], Any]) -> str:
    """The one line of a refusal."""
    with pytest.raises(UserError) as caught:
        ask()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_generative_model_is_sent_to_its_plugin(
    folder_of: Callable[[str], Path],
) -> None:
    options = TransformersOptions(model=str(folder_of("internvl")))
    line = said(lambda: Transformers(options, Context(device="cpu")))
    assert "got the architecture 'internvl'" in line
    assert line.endswith("use transformers-vlm in place of transformers.")


@pytest.mark.parametrize(("kind", "sent"), [("clip", True), ("bert", False)])
def test_models_that_answer_no_question(
    copied: Callable[[str], Path], build: Build, kind: str, sent: bool
) -> None:
    folder = copied("internvl")
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    line = said(lambda: build(str(folder)))
    assert "expected an image- or video-text-to-text model" in line
    assert ("use transformers in place of transformers-vlm" in line) is sent


@pytest.mark.parametrize("kind", ["llavaonevision1_5", "kimi_vl", "deepseek_vl_v2"])
def test_a_family_that_transformers_lacks_is_one_sentence(
    tmp_path: Path, build: Build, kind: str
) -> None:
    """In the plan, and where methods are chosen."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    (tmp_path / "model.safetensors").touch()
    planning = Context(device="cpu", planning=True)
    question = Question(f"transformers-vlm:{tmp_path}")
    for ask in (
        lambda: build(str(tmp_path), planning=True),
        lambda: question.capabilities(planning),
    ):
        line = said(ask)
        assert f"got model_type '{kind}'. Update transformers, or serve it" in line
    # what must be downloaded first may be anything
    elsewhere = Question("transformers-vlm:nobody/nothing").capabilities(planning)
    assert elsewhere == TransformersVLM.capabilities


def test_weights_that_are_missing_are_not_drawn_at_random(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("internvl")
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if "language_model" in name)
    del weights[gone]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    plugin = build(str(folder))
    for ask in (plugin.open_weights, lambda: plugin.fusion):
        assert "spoilt lacks weights of a InternVLForConditionalGeneration" in said(ask)


def test_weights_are_opened_late_and_once(
    folder_of: Callable[[str], Path], build: Build, trial: MakeTrial, opened: list[str]
) -> None:
    for kind in ("qwen2-vl", "blip-2"):
        planned = build(str(folder_of(kind)), planning=True)
        with pytest.raises(PlanStopped, match=f"the weights of {kind}"):
            planned.respond([trial(1)])
        plugin = build(str(folder_of(kind)))
        assert isinstance(plugin, LazyWeights)
        assert not opened, "capabilities, facts and fingerprint come from the files"
        plugin.open_weights()
        plugin.open_weights()
        assert opened == [plugin.facts["architecture"]]
        assert planned.fingerprint == plugin.fingerprint
        opened.clear()


def test_a_shard_that_is_missing_is_missed_at_once(
    folder_of: Callable[[str], Path], build: Build, trial: MakeTrial, tmp_path: Path
) -> None:
    folder = copytree(folder_of("internvl"), tmp_path / "spoilt")
    (folder / "model.safetensors").unlink()
    build("internvl")._model.network.save_pretrained(folder, max_shard_size="20KB")
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 2
    plugin = build(str(folder))
    one, other = (p.respond([trial(2)])[0].logits for p in (plugin, build("internvl")))
    # not to the bit: where weights begin in a file decides which kernels take them
    np.testing.assert_allclose(one, other, rtol=1e-5)
    weights = load_file(shards[1])
    save_file(
        {name: part + 1 for name, part in weights.items()}, shards[1], {"format": "pt"}
    )
    assert build(str(folder)).fingerprint != plugin.fingerprint
    shards[1].unlink()
    line = said(lambda: build(str(folder)))
    assert f"got 1 fewer, {shards[1].name} the first" in line
    (folder / "model.safetensors.index.json").write_text("{}")
    assert "model.safetensors.index.json of spoilt cannot be read" in said(
        lambda: build(str(folder))
    )


def test_missing_processor_and_tokenizer(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("internvl")
    (folder / "processor_config.json").unlink()
    assert "spoilt" in said(lambda: build(str(folder)))
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "spoilt has no tokenizer" in said(lambda: build(str(folder)))


def test_the_prompt_needs_a_place_for_the_question() -> None:
    from cuescope_transformers.generative import VLMOptions

    with pytest.raises(ValueError, match=r"\{question\} in it"):
        VLMOptions(model="x", prompt="what is it?")


def test_layers_that_are_not_there_cannot_be_looked_at(
    build: Build, trial: MakeTrial
) -> None:
    plugin = build("internvl")
    for look in (plugin.attention, plugin.modalities):
        line = said(lambda look=look: look([trial(2)], 2))
        assert "has no fusion layer 2: expected layers 0 to 1" in line


def test_weights_under_averaged_tokens(build: Build, trial: MakeTrial) -> None:
    edited = trial(2, edit=AverageTokens(modalities=frozenset({"video"})))
    line = said(lambda: build("internvl").attention([edited], 0))
    assert "no attention weights under average-tokens" in line


@pytest.mark.parametrize("kind", ["git", "blip", "t5gemma2"])
def test_a_model_with_closed_layers_answers_and_refuses_edits(
    build: Build, trial: MakeTrial, kind: str
) -> None:
    plugin = build(kind)
    asked = [trial(1), trial(1, "is the red ball moving east of the dog ?")]
    together = [one.logits for one in plugin.respond(asked)]
    alone = [plugin.respond([one])[0].logits for one in asked]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    edit: Edit = ALL
    has = plugin.capabilities
    assert not {"average-attention", "average-tokens"} & has.edits
    # a plan says it in the same words, before any weight is read
    reason = has.notes["average-attention"]
    assert reason in said(lambda: plugin.respond([trial(1, edit=edit)]))
    assert f"{kind} cannot be edited or looked into" in said(lambda: plugin.fusion)
    assert reason in said(lambda: plugin.fusion)


def test_a_choice_without_a_token_is_a_sentence(build: Build, trial: MakeTrial) -> None:
    plugin = build("internvl")
    asked = [trial(1), trial(1, choices=("yes", " "))]
    # a plan says the same, with weights closed
    line = said(lambda: plugin.require_answerable(asked))
    assert "has a choice that" in line
    assert "got ' '" in line
    assert line == said(lambda: plugin.respond(asked))


def test_a_model_that_does_not_say_what_is_visual(
    build: Build, trial: MakeTrial
) -> None:
    text = Batch({}, torch.full((1, 5), 2, dtype=torch.int8))
    line = said(lambda: require_visual_tokens(build("internvl")._model, text, trial(2)))
    assert "does not say which of its tokens are visual: expected" in line
    require_visual_tokens(build("internvl")._model, text, trial(0))


def test_samples_that_a_model_cannot_be_shown(build: Build, trial: MakeTrial) -> None:
    line = said(lambda: build("blip-2").respond([trial(2)]))
    assert (
        "looks at one image: expected one frame a sample, got 2 frames in '0-2'" in line
    )
    line = said(lambda: build("blip-2").respond([trial(0)]))
    assert "answers nothing without an image" in line
    least = [build(kind).capabilities.min_frames for kind in ("blip-2", "qwen2-vl")]
    assert least == [1, 0], "so that no method asks for it"


def test_it_can_be_looked_into(build: Build) -> None:
    """By hand: 2 layers of 4 heads over 2, 32 wide; three maps of 32 x 48 in an MLP."""
    plugin = build("qwen2-vl")
    assert isinstance(plugin, HasFusion)
    assert plugin.fusion.model_dump() == {
        "layers": 2,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 8,
        "dim": 32,
        "mlp_multiplications": 3 * 32 * 48,
    }


def test_the_fingerprint_follows_what_answers(
    copied: Callable[[str], Path], folder_of: Callable[[str], Path], build: Build
) -> None:
    folder, plain = copied("qwen2-vl"), build("qwen2-vl").fingerprint

    def again(name: str, change: Callable[[Any], Any]) -> str:
        before = (folder / name).read_text()
        (folder / name).write_text(change(before))
        found = build(str(folder)).fingerprint
        (folder / name).write_text(before)
        return found

    def config(**new: Any) -> Callable[[str], str]:
        return lambda text: json.dumps({**json.loads(text), **new})

    assert again("config.json", config(_name_or_path="x")) == plain
    weights = load_file(folder / "model.safetensors")
    weights[min(weights)].view(-1)[-1] += 1
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    changed = build(str(folder)).fingerprint
    copyfile(folder_of("qwen2-vl") / "model.safetensors", folder / "model.safetensors")
    assert build(str(folder)).fingerprint == plain
    found = {
        plain,
        changed,
        again("chat_template.jinja", lambda text: text.replace("assistant", "user")),
        again("generation_config.json", config(repetition_penalty=1.5)),
        again("tokenizer.json", lambda text: text.replace('"yes"', '"yess"')),
        again("processor_config.json", lambda text: text.replace("0.48145466", "0.5")),
        build("qwen2-vl", scoring="letters").fingerprint,
        build("qwen2-vl", max_new_tokens=9).fingerprint,
        build("qwen2-vl", fps=2.0).fingerprint,
        build("qwen2-vl", prompt="{question} ?").fingerprint,
        build("qwen2-vl", dtype="bfloat16").fingerprint,
    }
    assert len(found) == 11
