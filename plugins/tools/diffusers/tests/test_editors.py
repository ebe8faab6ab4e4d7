"""Tiny random pipelines, built from configuration, saved, and opened as a user opens them."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cuescope_diffusers import DiffusionEditor, Inpaint, Instruct
from cuescope_sdk import Context, Frame, ImageEdit, PlanStopped, UserError
from cuescope_testing import ToolContract

FolderOf = Callable[[str], Path]


def build(kind: type[DiffusionEditor], folder: Path | str, **options: Any) -> Any:
    given = {"model": str(folder), "steps": 2, **options}
    return kind(kind.Options.model_validate(given), Context(device="cpu"))


def pixels(frame: Frame) -> np.ndarray:
    return np.asarray(frame.load()).astype(int)


# ------------------------------------------------------------------------------------- what is made


@pytest.mark.usefixtures("small_qwen")
@pytest.mark.parametrize(
    ("name", "kind", "pipeline", "options"),
    [
        ("sd-inpaint", Inpaint, "StableDiffusionInpaintPipeline", {}),
        pytest.param(
            *("sdxl-inpaint", Inpaint, "StableDiffusionXLInpaintPipeline", {}),
            marks=pytest.mark.long,
        ),
        ("sd3", Inpaint, "StableDiffusion3InpaintPipeline", {}),
        pytest.param(
            *("flux-fill", Inpaint, "FluxFillPipeline", {"size": 32}),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *("qwen-image-edit", Inpaint, "QwenImageEditInpaintPipeline", {}),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *("kontext", Inpaint, "FluxKontextInpaintPipeline", {"size": 32}),
            marks=pytest.mark.long,
        ),
        ("kontext", Instruct, "FluxKontextPipeline", {"size": 32}),
        (
            "pix2pix",
            Instruct,
            "StableDiffusionInstructPix2PixPipeline",
            {},
        ),
    ],
)
def test_what_is_kept_and_what_is_drawn(
    folder_of: FolderOf,
    edits: list[ImageEdit],
    name: str,
    kind: type[DiffusionEditor],
    pipeline: str,
    options: dict[str, Any],
) -> None:
    """Kept pixels to the bit; equal seeds and reloaded weights to the bit."""
    editor = build(kind, folder_of(name), **options)
    assert editor.facts["pipeline"] == pipeline
    first, second = map(pixels, (editor.edit([edit])[0] for edit in edits))
    for edit, edited in zip(edits, (first, second), strict=True):
        assert edit.mask is not None
        same = (edited == pixels(edit.frame)).all(axis=2)
        assert same[~edit.mask].all()
        assert same[edit.mask].mean() < 0.05
    again = build(kind, folder_of(name), **options)
    assert again.fingerprint == editor.fingerprint
    together = [pixels(frame) for frame in again.edit(edits)]
    assert np.array_equal(np.stack([first, second]), together)
    changes = replace(edits[0], seed=9), replace(edits[0], instruction="a calm sea")
    others = [again.edit([edit])[0] for edit in (edits[0], *changes)]
    assert [np.array_equal(first, pixels(frame)) for frame in others] == [
        True,
        False,
        False,
    ]


def test_hub_ids_with_revisions(
    folder_of: FolderOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot in the hub's cache needs no network; half of one is not taken for a whole."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    snapshot = tmp_path / "models--me--tiny" / "snapshots" / "abc"
    shutil.copytree(folder_of("sd-inpaint"), snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "v2").write_text("abc")
    editor = build(Inpaint, "me/tiny", revision="v2")
    assert editor.facts["weights"] == "me/tiny@v2"
    assert editor.fingerprint == build(Inpaint, folder_of("sd-inpaint")).fingerprint
    without_weights(snapshot)
    for revision in ("v2", "v3"):
        with pytest.raises(
            UserError, match=f"me/tiny@{revision} is not on this machine"
        ):
            build(Inpaint, "me/tiny", revision=revision)


def test_too_little_memory_is_told(
    folder_of: FolderOf, edits: list[ImageEdit], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = build(Inpaint, folder_of("sd-inpaint"))

    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(editor._editor.pipeline.pipe, "encode_prompt", full)
    with pytest.raises(
        UserError, match=r"got too little memory on the device\. Take a smaller size"
    ):
        editor.edit(edits)


class TestContract(ToolContract):
    plugin = Inpaint
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _folder(cls, folder_of: FolderOf) -> None:
        cls.options = {"model": str(folder_of("sd-inpaint")), "steps": 1}


def test_nothing_is_opened_for_a_plan(
    folder_of: FolderOf, edits: list[ImageEdit]
) -> None:
    """The fingerprint comes from files: with other weights or words it is another."""
    folder = folder_of("sd-inpaint")
    options = Inpaint.Options(model=str(folder))
    planned = Inpaint(options, Context(device="cpu", planning=True))
    assert planned.fingerprint == Inpaint(options, Context(device="cpu")).fingerprint
    with pytest.raises(PlanStopped, match="the weights of sd-inpaint"):
        planned.edit(edits)
    assert build(Inpaint, folder, steps=30).fingerprint == planned.fingerprint
    other = build(Inpaint, folder, steps=30, size=32)
    assert other.fingerprint != planned.fingerprint


def test_a_blackened_image_stays_as_it_was(
    folder_of: FolderOf, edits: list[ImageEdit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A safety checker that finds fault with the first of two images."""
    told: list[str] = []
    options = Inpaint.Options(model=str(folder_of("sd-inpaint")), steps=1)
    editor = Inpaint(options, Context(device="cpu", announce=told.append))
    pipe = editor._editor.pipeline.pipe
    verdicts = iter(([True], [False]))
    monkeypatch.setattr(
        pipe, "run_safety_checker", lambda image, *_: (image, next(verdicts))
    )
    first, second = editor.edit(edits)
    assert np.array_equal(pixels(first), pixels(edits[0].frame))
    assert not np.array_equal(pixels(second), pixels(edits[1].frame))
    assert len(told) == 1
    assert "safety checker refused an edit ('a snowy field')" in told[0]


# --------------------------------------------------------------------------------- what is refused


def without_weights(folder: Path) -> None:
    (folder / "unet" / "diffusion_pytorch_model.safetensors").unlink()


def cut_weights(folder: Path) -> None:
    file = folder / "vae" / "diffusion_pytorch_model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def without_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = folder / "text_encoder" / "model.safetensors"
    tensors = load_file(file)
    tensors.pop(next(name for name in tensors if "fc1.weight" in name))
    save_file(tensors, file, {"format": "pt"})


def without_a_shard(folder: Path) -> None:
    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    file.rename(file.with_name("diffusion_pytorch_model-00001-of-00002.safetensors"))
    shards = {"a": "diffusion_pytorch_model-00001-of-00002.safetensors"}
    shards["b"] = "diffusion_pytorch_model-00002-of-00002.safetensors"
    file.with_name(f"{file.name}.index.json").write_text(
        json.dumps({"weight_map": shards})
    )


def without_a_part(folder: Path) -> None:
    shutil.rmtree(folder / "scheduler")


def with_a_pickle(folder: Path) -> None:
    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    file.rename(file.with_suffix(".bin"))


def with_a_custom_part(folder: Path) -> None:
    _change_index(folder, unet=["my_unet", "UNet"])


def with_an_unknown_pipeline(folder: Path) -> None:
    _change_index(folder, _class_name="Zero123PlusPipeline")


def with_a_part_elsewhere(folder: Path) -> None:
    shutil.copytree(folder / "vae", folder.parent / "secret")
    _change_index(folder, **{"../secret": ["diffusers", "AutoencoderKL"]})


def with_a_shard_elsewhere(folder: Path) -> None:
    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    file.rename(folder.parent / file.name)
    file.with_name(f"{file.name}.index.json").write_text(
        json.dumps({"weight_map": {"a": f"../../{file.name}"}})
    )


def with_an_index_of_numbers(folder: Path) -> None:
    file = folder / "unet" / "diffusion_pytorch_model.safetensors"
    file.rename(file.with_name("other.safetensors"))
    file.with_name(f"{file.name}.index.json").write_text(
        json.dumps({"weight_map": {"a": 1, "b": ["c"]}})
    )


def with_no_class(folder: Path) -> None:
    _change_index(folder, _class_name=[])


def _change_index(folder: Path, **values: Any) -> None:
    file = folder / "model_index.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (without_weights, "unet of copy lacks its weights"),
        (cut_weights, "weights of vae of copy cannot be read"),
        (
            without_a_tensor,
            "text_encoder of copy lacks weights of a CLIPTextModel: .*got 1 without",
        ),
        (without_a_shard, "unet of copy lacks its weights"),
        (without_a_part, "the pipeline copy cannot be opened"),
        (with_a_pickle, "save a pickle"),
        (
            with_a_custom_part,
            "which is not run: .*got unet: .*my_unet",
        ),
        (
            with_an_unknown_pipeline,
            "which is not run: .*Zero123PlusPipeline",
        ),
        (with_a_part_elsewhere, "copy names a part elsewhere: .*got '../secret'"),
        (with_a_shard_elsewhere, r"names a file elsewhere: .*got '../../diff"),
        (with_an_index_of_numbers, r"index.json of copy cannot be read: expected the"),
        (with_no_class, "copy has code of its own"),
    ],
)
def test_damaged_and_strange_folders_are_refused(
    folder_of: FolderOf,
    edits: list[ImageEdit],
    tmp_path: Path,
    damage: Callable[[Path], None],
    words: str,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder_of("sd-inpaint"), copy)
    damage(copy)
    with pytest.raises(UserError, match=words) as raised:
        build(Inpaint, copy).edit(edits)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "name", "options", "words"),
    [
        (
            Inpaint,
            "pix2pix",
            {},
            "no inpainting pipeline: .*Use it with the tool instruct",
        ),
        (
            Instruct,
            "sd-inpaint",
            {},
            "no pipeline that edits by .*the tool inpaint",
        ),
        (
            Inpaint,
            "qwen-image-edit",
            {"size": 512},
            "takes no size",
        ),
    ],
)
def test_what_a_pipeline_cannot_do_is_told(
    folder_of: FolderOf,
    kind: type[DiffusionEditor],
    name: str,
    options: Any,
    words: str,
) -> None:
    with pytest.raises(UserError, match=words):
        build(kind, folder_of(name), **options)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"is no pipeline folder: expected model_index\.json"
    ):
        build(Inpaint, tmp_path)
