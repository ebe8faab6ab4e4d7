"""Names, tags and folders; a hub that is out of reach."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants

from cuescope_open_clip import OpenCLIP
from cuescope_open_clip.sources import (
    Source,
    find_source as find_source_in,
    find_weights,
    split_name,
    weights_of_tag,
)
from cuescope_sdk import Context, PlanStopped, UserError

Build = Callable[..., OpenCLIP]


def find_source(model: str, checkpoint: Path | None) -> Source:
    """The source in an audit that is run, not planned."""
    return find_source_in(model, checkpoint, Context())


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No network and an empty hub cache; gives the cache folder."""

    def refuse(*args: object, **kwargs: object) -> socket.socket:
        raise OSError("Name or service not known")

    for proxy in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def cached(cache: Path, repository: str, *names: str) -> Path:
    """Files as the hub's client leaves them in its cache."""
    home = cache / f"models--{repository.replace('/', '--')}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("abc")
    folder = home / "snapshots" / "abc"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("ViT-B-16", ("ViT-B-16", None)),
        ("ViT-B/16", ("ViT-B-16", None)),
        ("ViT-B-16/openai", ("ViT-B-16", "openai")),
        ("ViT-B/16/openai", ("ViT-B-16", "openai")),
        ("ViT-B-32/laion2b-s34b-b79k", ("ViT-B-32", "laion2b-s34b-b79k")),
    ],
)
def test_architecture_and_tag(model: str, expected: tuple[str, str | None]) -> None:
    assert split_name(model) == expected


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("ViT-B-61", "no architecture 'ViT-B-61'.*Did you mean 'ViT-B-16'"),
        (
            "ViT-B-16/openia",
            "no pretrained tag 'openia' for ViT-B-16. Did you mean 'openai'",
        ),
        ("ViT-B-16-quickgelu", "without weights.*openai.*checkpoint=FILE"),
        ("local-dir:nowhere", "nowhere is no model folder"),
        ("./nowhere", "nowhere is no model folder"),
        ("ViT-B-16/qqq", "It has openai, .* and 9 more"),
    ],
)
def test_names_that_are_wrong_are_answered_in_one_line(model: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        find_source(model, None)
    assert "\n" not in str(caught.value)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("model", ["ViT-B-16/openai", "ViT-B-16/datacomp_xl_s13b_b90k"])
def test_a_tag_is_refused_at_once_without_network(offline: Path, model: str) -> None:
    with pytest.raises(
        UserError, match=f"{model} is not on this machine.*checkpoint=FILE"
    ):
        find_source(model, None)


def test_a_hub_name_is_refused_at_once_without_network(offline: Path) -> None:
    with pytest.raises(
        UserError, match=r"hf-hub:some/model.*huggingface.co\) cannot be reached"
    ):
        find_source("hf-hub:some/model", None)


def test_what_was_downloaded_before_needs_no_network(offline: Path) -> None:
    folder = cached(
        offline, "some/model", "open_clip_config.json", "open_clip_model.safetensors"
    )
    source = find_source("hf-hub:some/model", None)
    assert source.name == f"local-dir:{folder}"
    assert source.weights == folder / "open_clip_model.safetensors"
    assert source.title == source.architecture == "hf-hub:some/model"
    tag = cached(
        offline, "timm/vit_base_patch16_clip_224.openai", "open_clip_model.safetensors"
    )
    assert (
        find_source("ViT-B-16/openai", None).weights
        == tag / "open_clip_model.safetensors"
    )


def test_a_failed_download_is_one_line(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import open_clip

    def fail(cfg: object) -> str:
        raise RuntimeError("Not Found\nand a long page")

    monkeypatch.setattr(open_clip, "download_pretrained", fail)
    with pytest.raises(
        UserError, match=r"RN50/cc12m could not be downloaded.*\(Not Found\)"
    ) as e:
        weights_of_tag({"url": "https://example.org/x.pt"}, "RN50/cc12m", Context())
    assert "\n" not in str(e.value)


def test_a_tag_gives_the_preprocessing_of_a_checkpoint(image_tower: Path) -> None:
    openai = find_source("ViT-B-16/openai", image_tower)
    assert (openai.name, openai.weights, openai.quick_gelu) == (
        "ViT-B-16",
        image_tower,
        True,
    )
    siglip = find_source("ViT-B-16-SigLIP/webli", image_tower)
    assert siglip.preprocess["resize_mode"] == "squash"
    assert siglip.preprocess["mean"] == (0.5, 0.5, 0.5)
    assert not siglip.quick_gelu


def test_checkpoint_files_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint file"):
        find_source("ViT-B-16", tmp_path / "gone.pt")
    (tmp_path / "weights.onnx").touch()
    with pytest.raises(UserError, match=r"got .onnx"):
        find_source("ViT-B-16", tmp_path / "weights.onnx")


def test_weights_of_a_folder_are_open_clips_or_the_only_ones(tmp_path: Path) -> None:
    assert find_weights(tmp_path) is None
    (tmp_path / "mine.pt").touch()
    assert find_weights(tmp_path) == tmp_path / "mine.pt"
    (tmp_path / "other.pt").touch()
    assert find_weights(tmp_path) is None
    (tmp_path / "open_clip_pytorch_model.bin").touch()
    assert find_weights(tmp_path) == tmp_path / "open_clip_pytorch_model.bin"


@pytest.mark.parametrize("model", ["ViT-B-16/openai", "ViT-B-16/datacomp_xl_s13b_b90k"])
def test_a_plan_ends_before_a_download(offline: Path, model: str) -> None:
    with pytest.raises(
        PlanStopped, match=f"the weights of {model}, which must be downloaded"
    ):
        find_source_in(model, None, Context(planning=True))


def test_a_plan_refuses_what_the_hub_cannot_give(offline: Path) -> None:
    with pytest.raises(UserError, match="hf-hub:some/model is not on this machine"):
        find_source_in("hf-hub:some/model", None, Context(planning=True))


def test_a_plan_goes_on_with_what_was_downloaded_before(
    offline: Path, folder: Path
) -> None:
    home = cached(offline, "some/model")
    for file in folder.iterdir():
        (home / file.name).write_bytes(file.read_bytes())
    source = find_source_in("hf-hub:some/model", None, Context(planning=True))
    assert source.weights == home / "open_clip_model.safetensors"


def test_a_plan_still_refuses_wrong_names(offline: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'openai'"):
        find_source_in("ViT-B-16/openia", None, Context(planning=True))
