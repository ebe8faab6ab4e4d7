"""Weights: loaded strictly, fingerprinted, refused in one line."""

import io
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transformer import QuickGELU
from PIL import Image
from safetensors.torch import load_file, save_file

from cuescope_open_clip import OpenCLIP
from cuescope_open_clip.loading import StockModel, find_model
from cuescope_sdk import Context, LazyWeights, PlanStopped, Sample, Trial, UserError

Build = Callable[..., OpenCLIP]


def load(model: str, checkpoint: Path | None = None) -> StockModel:
    return find_model(model, checkpoint, Context(device="cpu"))


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "open_clip_model.safetensors")


@pytest.mark.parametrize("form", ["safetensors", "pt", "training checkpoint"])
def test_every_form_of_a_full_checkpoint_answers_alike(
    build: Build, folder: Path, tmp_path: Path, clip: Sample, form: str
) -> None:
    tensors = {name: tensor * 1.5 for name, tensor in weights_of(folder).items()}
    path = tmp_path / ("w.safetensors" if form == "safetensors" else "w.pt")
    if form == "safetensors":
        save_file(tensors, path)
    elif form == "pt":
        torch.save(tensors, path)
    else:
        prefixed = {f"module.{name}": tensor for name, tensor in tensors.items()}
        torch.save({"epoch": 3, "state_dict": prefixed}, path)
    model = build(checkpoint=path)
    loaded = load(str(folder), path).network.state_dict()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())
    [changed], [original] = (
        model.respond([Trial(sample=clip)]),
        build().respond([Trial(sample=clip)]),
    )
    assert not np.allclose(changed.logits, original.logits)


def test_the_image_tower_alone_is_the_same_image_tower(
    build: Build, image_tower: Path, clip: Sample
) -> None:
    trial = Trial(sample=clip, outputs=frozenset({"embedding"}))
    [alone], [whole] = (
        build(checkpoint=image_tower).respond([trial]),
        build().respond([trial]),
    )
    assert np.array_equal(alone.embedding, whole.embedding)


@pytest.mark.parametrize("part", ["whole", "image tower"])
@pytest.mark.parametrize("fault", ["missing", "unexpected", "of another shape"])
def test_weights_that_do_not_fit_are_refused_in_one_line(
    build: Build, folder: Path, tmp_path: Path, part: str, fault: str
) -> None:
    tensors = weights_of(folder)
    if part == "image tower":
        tensors = {name: t for name, t in tensors.items() if name.startswith("visual.")}
    if fault == "missing":
        del tensors["visual.conv1.weight"]
    elif fault == "unexpected":
        tensors["visual.conv9.weight"] = torch.zeros(1)
    else:
        tensors["visual.conv1.weight"] = torch.zeros(3)
    path = tmp_path / "bad.safetensors"
    save_file(tensors, path)
    with pytest.raises(
        UserError, match=r"bad.safetensors does not fit.*conv[19].weight"
    ) as caught:
        build(checkpoint=path).open_weights()
    assert "\n" not in str(caught.value)


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path("exploded").touch, ())


def test_a_pickle_of_a_stranger_is_never_run(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"visual.conv1.weight": Bomb()}, tmp_path / "bomb.pt")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "bare.pt"):
        with pytest.raises(UserError, match=f"{name} cannot be read as weights"):
            build(checkpoint=tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_a_torchscript_archive_and_rubbish_are_refused(
    build: Build, tmp_path: Path
) -> None:
    for name in ("rubbish.safetensors", "rubbish.pt"):
        (tmp_path / name).write_bytes(b"rubbish")
        with pytest.raises(UserError, match=f"{name} cannot be read"):
            build(checkpoint=tmp_path / name)


def test_a_tags_activation_is_the_models(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from cuescope_open_clip import loading

    find = loading.find_source
    monkeypatch.setattr(
        loading, "find_source", lambda *args: replace(find(*args), quick_gelu=True)
    )
    quick = load(str(folder))
    assert any(
        isinstance(module, QuickGELU) for module in quick.network.visual.modules()
    )
    monkeypatch.undo()
    plain = load(str(folder))
    assert not any(
        isinstance(module, QuickGELU) for module in plain.network.visual.modules()
    )
    assert quick.fingerprint("") != plain.fingerprint("")


def test_the_folders_preprocessing_is_used(build: Build) -> None:
    [black] = build().image_tower.prepare([Image.new("RGB", (40, 32))])["image"]
    np.testing.assert_allclose(
        black[:, 0, 0], -np.array([0.2, 0.4, 0.6]) / 0.5, rtol=1e-5
    )


def test_building_moves_no_generator_and_says_nothing(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    before = torch.random.get_rng_state()
    handlers = list(logging.getLogger().handlers)
    build().open_weights()
    assert torch.equal(before, torch.random.get_rng_state())
    assert logging.getLogger().handlers == handlers
    assert not caplog.records


def test_equal_builds_have_equal_fingerprints(build: Build, table: Path) -> None:
    assert build().fingerprint == build(batch_size=3).fingerprint
    prints = {
        build().fingerprint,
        build(templates="action28").fingerprint,
        build(logit_scale=3).fingerprint,
        build(dtype="bfloat16").fingerprint,
        build(class_embeddings=table).fingerprint,
        build(class_embeddings=table, logit_scale=3).fingerprint,
    }
    assert len(prints) == 6


def test_the_fingerprint_covers_the_weights(
    build: Build, folder: Path, table: Path, tmp_path: Path
) -> None:
    def with_bump(name: str) -> Path:
        tensors = weights_of(folder)
        flat = tensors[name].reshape(-1)
        flat[0] += 1e-3
        path = tmp_path / f"{name}.safetensors"
        save_file(tensors, path)
        return path

    image, text = with_bump("visual.conv1.weight"), with_bump("token_embedding.weight")
    plain, tabled = build().fingerprint, build(class_embeddings=table).fingerprint
    assert build(checkpoint=image).fingerprint != plain
    assert build(checkpoint=text).fingerprint != plain
    assert build(checkpoint=image, class_embeddings=table).fingerprint != tabled


def test_a_table_does_not_depend_on_the_text_tower(
    build: Build, folder: Path, table: Path, tmp_path: Path, clip: Sample
) -> None:
    tensors = weights_of(folder)
    tensors["token_embedding.weight"] += 1
    save_file(tensors, tmp_path / "text.safetensors")
    plain, changed = (
        build(class_embeddings=table, **given).respond([Trial(sample=clip)])[0].logits
        for given in ({}, {"checkpoint": tmp_path / "text.safetensors"})
    )
    assert np.array_equal(plain, changed)


@pytest.mark.parametrize("part", ["whole", "image tower", "pt"])
def test_a_plan_builds_no_network(
    build: Build,
    folder: Path,
    image_tower: Path,
    table: Path,
    tmp_path: Path,
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    clip: Sample,
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("a network was built")

    options: dict[str, object] = {}
    if part == "image tower":
        options = {"checkpoint": image_tower, "class_embeddings": table}
    elif part == "pt":
        torch.save(weights_of(folder), tmp_path / "w.pt")
        options = {"checkpoint": tmp_path / "w.pt"}
    run = build(**options)
    run.open_weights()
    for library, name in ((open_clip, "create_model"), (open_clip, "load_checkpoint")):
        monkeypatch.setattr(library, name, fail)
    monkeypatch.setattr(torch.nn.Module, "__init__", fail)
    model = build(planning=True, **options)
    assert isinstance(model, LazyWeights)
    assert (model.fingerprint, model.facts) == (run.fingerprint, run.facts)
    assert (model.device, model.capabilities) == (run.device, run.capabilities)
    for ask in (
        model.open_weights,
        lambda: model.respond([Trial(sample=clip)]),
        lambda: model.canvas(clip.frames),
        lambda: model.patch_features(clip.frames),
        lambda: model.image_tower,
        *(
            []
            if part == "image tower"
            else [
                lambda: model.embed_choices(clip.choices),
                lambda: model.embed_texts(["a bird"]),
            ]
        ),
    ):
        with pytest.raises(PlanStopped, match="the weights of"):
            ask()


def test_weights_are_opened_once(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    real = open_clip.create_model

    def create(*args: Any, device: str = "cpu", **given: Any) -> Any:
        # on the meta device a network has no weights
        if device != "meta":
            opened.append(args)
        return real(*args, device=device, **given)

    monkeypatch.setattr(open_clip, "create_model", create)
    model = build()
    model.open_weights()
    model.open_weights()
    model.embed_texts(["a bird"])
    assert len(opened) == 1


def test_the_logit_scale_is_known_before_the_weights(
    build: Build, folder: Path, tmp_path: Path
) -> None:
    tensors = weights_of(folder)
    tensors["logit_scale"] = torch.tensor([2.5]).log()
    save_file(tensors, tmp_path / "scaled.safetensors")
    model = build(checkpoint=tmp_path / "scaled.safetensors")
    assert model.facts["logit scale"] == "2.5"
    assert model._head.scale == float(model._model.network.logit_scale.float().exp())
    del tensors["logit_scale"]
    save_file(tensors, tmp_path / "scaled.safetensors")
    with pytest.raises(UserError, match=r"does not fit.*got no logit_scale"):
        build(checkpoint=tmp_path / "scaled.safetensors")


def test_a_configuration_that_cannot_be_read_is_refused_at_once(
    build: Build, folder: Path, tmp_path: Path
) -> None:
    for text in ("{", "{}", "[]"):
        spoilt = tmp_path / "spoilt"
        spoilt.mkdir(exist_ok=True)
        (spoilt / "open_clip_config.json").write_text(text)
        (spoilt / "open_clip_model.safetensors").write_bytes(
            (folder / "open_clip_model.safetensors").read_bytes()
        )
        with pytest.raises(UserError, match="spoilt cannot be built"):
            build(model=str(spoilt))


def test_no_path_of_the_machine_is_in_the_facts(
    build: Build, folder: Path, table: Path
) -> None:
    model = build(
        checkpoint=folder / "open_clip_model.safetensors", class_embeddings=table
    )
    assert str(folder.parent) not in "".join(model.facts.values())
    assert model.facts["architecture"] == "tiny"
    assert model.facts["weights"] == "open_clip_model.safetensors"


def test_the_bomb_would_explode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.load(io.BytesIO(pickle.dumps(Bomb())))
    assert (tmp_path / "exploded").exists()
