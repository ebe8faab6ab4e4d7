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
        ("sd3", Inpaint, "StableDiffusion3InpaintPipeline", {"guidance": 3.0}),
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
            {"image_guidance": 1.2},
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
    """Kept pixels to the bit; equal seeds and reloaded weights to the bit; a batch but rounding."""
    editor = build(kind, folder_of(name), **options)
    assert editor.facts["pipeline"] == pipeline
    first, second = map(pixels, (editor.edit([edit])[0] for edit in edits))
    for edit, edited in zip(edits, (first, second), strict=True):
        assert edit.mask is not None
        same = (edited == pixels(edit.frame)).all(axis=2)
        assert same[~edit.mask].all()
        assert same[edit.mask].mean() < 0.05
    again = build(kind, folder_of(name), images=2, **options)
    assert again.fingerprint == editor.fingerprint
    together = [pixels(frame) for frame in again.edit(edits)]
    assert np.abs(np.stack([first, second]) - together).max() <= 2  # grey levels
    changes = replace(edits[0], seed=9), replace(edits[0], instruction="a calm sea")
    others = [again.edit([edit])[0] for edit in (edits[0], *changes)]
    assert [np.array_equal(first, pixels(frame)) for frame in others] == [
        True,
        False,
        False,
    ]


def test_a_controlnet_sees_what_is_masked(
    folder_of: FolderOf, edits: list[ImageEdit]
) -> None:
    """With it, and with another thing shown to it, the images are others."""
    folder, network = folder_of("sd-inpaint"), str(folder_of("controlnet"))
    guided = build(Inpaint, folder, controlnet=network)
    assert guided.facts["pipeline"] == "StableDiffusionControlNetInpaintPipeline"
    editors = (
        build(Inpaint, folder),
        guided,
        build(Inpaint, folder, controlnet=network, control="image"),
    )
    assert len({editor.fingerprint for editor in editors}) == 3
    images = [pixels(editor.edit(edits[:1])[0]) for editor in editors]
    assert not any(
        np.array_equal(images[i], images[j]) for i, j in ((0, 1), (1, 2), (0, 2))
    )
    with pytest.raises(
        UserError, match="no inpainting pipeline that takes this ControlNet"
    ):
        build(Inpaint, folder_of("flux-fill"), controlnet=network)
    with pytest.raises(
        UserError, match="is no ControlNet of diffusers: got UNet2DConditionModel"
    ):
        build(Inpaint, folder, controlnet=str(folder / "unet"))


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
        UserError, match=r"got too little memory on the device\. Take fewer images"
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
    changed = (
        {"negative_prompt": "text"},
        {"dtype": "bfloat16"},
        {"feather": 0},
        {"strength": 0.8},
    )
    fingerprints = {
        build(Inpaint, folder, steps=30, **each).fingerprint for each in changed
    }
    assert len(fingerprints | {planned.fingerprint}) == 5
    assert build(Inpaint, folder, steps=30, images=3).fingerprint == planned.fingerprint


def test_a_blackened_image_stays_as_it_was(
    folder_of: FolderOf, edits: list[ImageEdit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A safety checker that finds fault with the first of two images."""
    told: list[str] = []
    options = Inpaint.Options(model=str(folder_of("sd-inpaint")), steps=1, images=2)
    editor = Inpaint(options, Context(device="cpu", announce=told.append))
    pipe = editor._editor.pipeline.pipe
    monkeypatch.setattr(
        pipe, "run_safety_checker", lambda image, *_: (image, [True, False])
    )
    first, second = editor.edit(edits)
    assert np.array_equal(pixels(first), pixels(edits[0].frame))
    assert not np.array_equal(pixels(second), pixels(edits[1].frame))
    assert len(told) == 1
    assert "safety checker refused an edit ('a snowy field')" in told[0]


# --------------------------------------------------------------------------------- what is refused


def test_a_long_prompt_is_not_cut_in_silence(
    folder_of: FolderOf, edits: list[ImageEdit]
) -> None:
    """SD's CLIP reads 77 tokens. FLUX has T5 beside it, which reads 512: that one is told."""
    long = replace(edits[0], instruction="s n o w " * 25)
    words = (
        r"too long for the pipeline: expected at most 77 tokens, got 102 for 's n o w"
    )
    with pytest.raises(UserError, match=words):
        build(Inpaint, folder_of("sd-inpaint")).edit([long])
    told: list[str] = []
    options = Inpaint.Options(model=str(folder_of("flux-fill")), steps=1, size=32)
    editor = Inpaint(options, Context(device="cpu", announce=told.append))
    editor.edit([long, long])
    assert len(told) == 1
    assert "(tokenizer) reads the first 77 tokens of a prompt alone" in told[0]
    longer = replace(edits[0], instruction="s n o w " * 150)
    with pytest.raises(UserError, match="at most 512 tokens"):
        editor.edit([longer])


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


def with_code(folder: Path) -> None:
    (folder / "scheduler" / "mine.py").write_text("raise SystemExit('it ran')\n")


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
        (without_weights, "unet of copy has no weights"),
        (cut_weights, "vae of copy lacks a part of its weights: .*got a part of it"),
        (
            without_a_tensor,
            "text_encoder of copy lacks weights of a CLIPTextModel: .*got 1 without",
        ),
        (without_a_shard, "expected all of diffusion_pytorch_model-00002-of-00002"),
        (without_a_part, "copy lacks a part: expected the folder scheduler"),
        (with_a_pickle, "A pickle is not opened"),
        (
            with_a_custom_part,
            "which is not run unasked: got unet of the class my_unet.UNet",
        ),
        (
            with_an_unknown_pipeline,
            r"Zero123PlusPipeline, which .*trust_remote_code=true",
        ),
        (with_code, "which is not run unasked: got scheduler/mine.py"),
        (with_a_part_elsewhere, "copy names a part elsewhere: .*got '../secret'"),
        (with_a_shard_elsewhere, r"names a file elsewhere: .*got '../../diff"),
        (with_an_index_of_numbers, r"index.json of copy cannot be read: expected the"),
        (with_no_class, "of copy names no pipeline"),
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


def test_trusted_code_edits(
    folder_of: FolderOf, edits: list[ImageEdit], tmp_path: Path
) -> None:
    """A pipeline of the folder's own, as the stock one that it derives from."""
    copy = tmp_path / "copy"
    shutil.copytree(folder_of("sd-inpaint"), copy)
    stock = "StableDiffusionInpaintPipeline"
    code = f"from diffusers import {stock}\n\n\nclass Mine({stock}):\n    pass\n"
    (copy / "mine.py").write_text(code)
    _change_index(copy, _class_name=["mine", "Mine"])
    with pytest.raises(UserError, match=r"got the pipeline Mine of mine\.py"):
        build(Inpaint, copy)
    trusted = build(Inpaint, copy, trust_remote_code=True)
    wanted = build(Inpaint, folder_of("sd-inpaint")).edit(edits[:1])[0]
    assert np.array_equal(pixels(trusted.edit(edits[:1])[0]), pixels(wanted))


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
            "no pipeline that edits by .*Use it with the tool inpaint",
        ),
        (Inpaint, "flux-fill", {"negative_prompt": "text"}, "takes no negative_prompt"),
        (
            Inpaint,
            "qwen-image-edit",
            {"size": 512},
            "works on as many pixels as 1024 x 1024",
        ),
        (
            Inpaint,
            "sd-inpaint",
            {"steps": 2, "strength": 0.3},
            "strength 0.3 of 2 steps is none",
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
