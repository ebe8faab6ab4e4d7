"""Names, folders and files that are not what they should be; fingerprints; silence."""

import json
import pickle
import socket
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

from cuescope_sdk import Frame, LazyWeights, PlanStopped, Sample, Trial, UserError
from cuescope_transformers import Transformers

Build = Callable[..., Transformers]
KINDS = ("clip", "siglip", "siglip2", "xclip")
LABELS = ("bird", "boat", "cow")


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No network and an empty hub cache; gives the cache folder."""

    def refuse(*args: object, **kwargs: object) -> socket.socket:
        raise OSError("Name or service not known")

    for proxy in (
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "HF_ENDPOINT",
    ):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """`copied(kind)`: a model folder to spoil."""
    return lambda kind: copytree(folders[kind], tmp_path / "spoilt")


def said(build: Build, model: object, **options: Any) -> str:
    """The one line of the refusal."""
    with pytest.raises(UserError) as caught:
        build(str(model), **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.timeout(60)
def test_a_hub_id_is_refused_at_once_without_network(
    offline: Path, build: Build
) -> None:
    line = said(build, "openai/clip-vit-base-patch16", revision="v2")
    assert "openai/clip-vit-base-patch16@v2 is not on this machine" in line
    assert "(huggingface.co) cannot be reached" in line


def test_what_was_downloaded_before_needs_no_network(
    offline: Path, folders: dict[str, Path], build: Build
) -> None:
    home = offline / "models--some--model"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("abc")
    copytree(folders["clip"], home / "snapshots" / "abc")
    model = build("some/model")
    assert model.facts["weights"] == "some/model"
    assert model.fingerprint == build("clip").fingerprint


def test_a_folder_without_configuration(tmp_path: Path, build: Build) -> None:
    assert "is no model folder: expected config.json in it. Save" in said(
        build, tmp_path
    )
    (tmp_path / "open_clip_config.json").touch()
    assert f"use open-clip:{tmp_path}" in said(build, tmp_path)


@pytest.mark.parametrize("name", ["./nowhere", "/no/where", "a/b/c", "some model"])
def test_what_is_neither_folder_nor_id(build: Build, name: str) -> None:
    assert f"no model folder {name}" in said(build, name)


def test_a_folder_without_weights(copied: Callable[[str], Path], build: Build) -> None:
    folder = copied("clip")
    (folder / "model.safetensors").unlink()
    assert "no weights in" in said(build, folder)


@pytest.mark.parametrize(
    "config",
    [
        transformers.BertConfig(),
        transformers.ResNetConfig(),
        transformers.CLIPTextConfig(),
    ],
    ids=lambda config: config.model_type,
)
def test_other_architectures(
    copied: Callable[[str], Path], build: Build, config: Any
) -> None:
    folder = copied("clip")
    config.save_pretrained(folder)
    line = said(build, folder)
    assert f"got the architecture '{config.model_type}'" in line
    assert "expected clip, siglip, siglip2, xclip" in line


@pytest.mark.parametrize("content", ["{", '{"model_type": "no-such-thing"}', "{}"])
def test_configurations_that_cannot_be_read(
    copied: Callable[[str], Path], build: Build, content: str
) -> None:
    folder = copied("clip")
    (folder / "config.json").write_text(content)
    assert "the configuration of spoilt cannot be read" in said(build, folder)


def test_weights_that_are_missing_are_not_drawn_at_random(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("clip-vision")
    weights = load_file(folder / "model.safetensors")
    del weights["visual_projection.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError) as caught:
        build(str(folder)).open_weights()
    line = str(caught.value)
    assert "lacks weights of a CLIPVisionModelWithProjection" in line
    assert "1 without, visual_projection.weight the first" in line


def test_damaged_weights(copied: Callable[[str], Path], build: Build) -> None:
    folder = copied("clip")
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:1000])
    assert "spoilt: model.safetensors cannot be read" in said(build, folder)


def test_a_missing_tokenizer_or_processor(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("clip")
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "spoilt has no tokenizer: expected one of tokenizer.json" in said(
        build, folder
    )
    (folder / "preprocessor_config.json").unlink()
    assert "the image processor of spoilt cannot be read" in said(build, folder)


def test_no_code_runs_unless_asked_for(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("clip")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text(
        "import pathlib\nfrom transformers import BertConfig\n"
        f"pathlib.Path({str(folder / 'ran')!r}).touch()\n"
        "class Mine(BertConfig):\n    model_type = 'mine'\n"
    )
    line = said(build, folder)
    assert "code of its own, which is not run unasked" in line
    assert "-O model.trust_remote_code=true" in line
    assert not (folder / "ran").exists()
    assert "got the architecture 'mine'" in said(build, folder, trust_remote_code=True)
    assert (folder / "ran").exists()


class Bomb:
    """Writes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("exploded"),)


def test_no_pickle_explodes(
    copied: Callable[[str], Path],
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = copied("clip")
    (folder / "model.safetensors").unlink()
    torch.save({"weight": Bomb()}, folder / "pytorch_model.bin")
    assert "spoilt: pytorch_model.bin cannot be read" in said(build, folder)
    assert not (tmp_path / "exploded").exists()
    pickle.loads(pickle.dumps(Bomb()))
    assert (tmp_path / "exploded").exists()


def test_a_safe_state_dict_is_read(copied: Callable[[str], Path], build: Build) -> None:
    folder = copied("clip")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    one, other = (
        build(model).embed_texts(["a bird"]) for model in (str(folder), "clip")
    )
    # where tensors lie changes the last digits
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert build(str(folder)).facts["logit scale"] == build("clip").facts["logit scale"]


def test_the_fingerprint_follows_what_answers(
    copied: Callable[[str], Path], build: Build, table: Path
) -> None:
    def changed(name: str, change: Callable[[Any], Any]) -> Transformers:
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(change(content)))
        return build(str(folder))

    folder = copied("clip")
    plain = build("clip").fingerprint
    assert build(str(folder)).fingerprint == plain
    assert (
        changed("config.json", lambda c: {**c, "_name_or_path": "x"}).fingerprint
        == plain
    )
    found = {
        plain,
        changed("preprocessor_config.json", lambda c: {**c, "resample": 2}).fingerprint,
        changed(
            "config.json",
            lambda c: {
                **c,
                "vision_config": {**c["vision_config"], "hidden_act": "gelu"},
            },
        ).fingerprint,
        build("clip", templates="raw").fingerprint,
        build("clip", class_embeddings=table).fingerprint,
    }
    assert len(found) == 5


def test_a_table_does_not_depend_on_the_text_tower(
    copied: Callable[[str], Path], build: Build, table: Path, frames: tuple[Frame, ...]
) -> None:
    folder = copied("clip")
    weights = load_file(folder / "model.safetensors")
    weights["text_projection.weight"] += 1
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    sample = Sample(key="one", frames=frames[:1], choices=LABELS)
    one, other = (
        build(model, class_embeddings=table).respond([Trial(sample=sample)])[0].logits
        for model in ("clip", str(folder))
    )
    assert np.array_equal(one, other)
    assert build("clip").fingerprint != build(str(folder)).fingerprint


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["safetensors", "bin"])
def test_a_plan_builds_no_network(
    copied: Callable[[str], Path],
    build: Build,
    kind: str,
    form: str,
    opened: list[str],
    table: Path,
    frames: tuple[Frame, ...],
) -> None:
    folder = copied(kind)
    if form == "bin":
        torch.save(
            load_file(folder / "model.safetensors"), folder / "pytorch_model.bin"
        )
        (folder / "model.safetensors").unlink()
    planned, run = (build(str(folder), planning=planning) for planning in (True, False))
    assert isinstance(planned, LazyWeights)
    sample = Sample(key="s", frames=frames[:4], choices=LABELS)
    for ask in (
        planned.open_weights,
        lambda: planned.respond([Trial(sample=sample)]),
        lambda: planned.canvas(sample.frames),
        lambda: planned.patch_features(sample.frames),
        lambda: planned.image_tower,
        lambda: planned.embed_choices(LABELS),
        lambda: planned.embed_texts(LABELS),
    ):
        with pytest.raises(PlanStopped, match="the weights of spoilt"):
            ask()
    assert not opened, "capabilities, facts and fingerprint come from the files"
    before = dict(run.facts), run.fingerprint, run.device
    run.open_weights()
    run.embed_texts(["bird"])
    assert opened == [run.facts["architecture"]]
    assert (dict(planned.facts), planned.fingerprint, planned.device) == before
    network = run._model.files.network
    assert run._head.scale == float(network.logit_scale.float().exp())
    assert run._head.bias == float(getattr(network, "logit_bias", 0.0))
    assert type(network).__name__ == run.facts["architecture"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_logit_scale_is_that_of_the_precision(build: Build, dtype: str) -> None:
    model = build("siglip", dtype=dtype)
    assert model._head.scale == float(
        model._model.files.network.logit_scale.float().exp()
    )
    assert model._head.bias == float(model._model.files.network.logit_bias)


def test_a_missing_logit_scale_is_told_at_once(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("siglip")
    weights = load_file(folder / "model.safetensors")
    del weights["logit_scale"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "lacks weights of a SiglipModel" in said(build, folder)


def test_the_scale_is_found_in_any_shard(
    copied: Callable[[str], Path], build: Build
) -> None:
    folder = copied("siglip")
    network = build("siglip")._model.files.network
    (folder / "model.safetensors").unlink()
    network.save_pretrained(folder, max_shard_size="40KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    model = build(str(folder))
    assert model.facts["logit scale"] == build("siglip").facts["logit scale"]
    one, other = (plugin.embed_texts(["bird"]) for plugin in (model, build("siglip")))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_loading_is_silent_and_leaves_settings_alone(
    build: Build, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    state = torch.get_rng_state()
    build("clip").open_weights()
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    assert torch.equal(torch.get_rng_state(), state)


def test_no_path_of_the_machine_is_in_the_facts(
    build: Build, folders: dict[str, Path], table: Path
) -> None:
    model = build("clip", class_embeddings=table)
    assert str(folders["clip"].parent) not in "".join(model.facts.values())
    assert model.facts["architecture"] == "CLIPModel"
    assert model.facts["weights"] == "clip"
