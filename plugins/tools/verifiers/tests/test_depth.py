"""Depth: what is before and behind, the camera's way ahead, and stock networks of a few layers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from cuescope_sdk import Context, Frame, Sample, UserError
from cuescope_sdk.grounding import Claim
from cuescope_sdk.torch import quiet
from cuescope_verifiers.depth import Depth, approach, box_depth, is_nearer
from cuescope_verifiers.depth_networks import DepthNetwork
from cuescope_verifiers.options import DepthOptions

LEFT, RIGHT = (10.0, 20.0, 40.0, 80.0), (60.0, 20.0, 90.0, 80.0)


def save_depth_anything(folder: Path, kind: str) -> None:
    """Depth Anything on a Dinov2 of four layers."""
    backbone: Any = transformers.Dinov2Config(
        image_size=28,
        patch_size=14,
        hidden_size=8,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=12,
        out_indices=[1, 2, 3, 4],
        apply_layernorm=True,
        reshape_hidden_states=False,
    )
    config: Any = transformers.DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=8,
        neck_hidden_sizes=[4, 4, 4, 4],
        fusion_hidden_size=4,
        head_hidden_size=4,
        depth_estimation_type=kind,
        max_depth=20,
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(2)
        transformers.DepthAnythingForDepthEstimation(config).save_pretrained(folder)
    size = {"height": 28, "width": 28}
    transformers.DPTImageProcessor(size=size, ensure_multiple_of=14).save_pretrained(
        folder
    )


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of a metric network and of one without a scale."""
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in ("metric", "relative")}
    for kind, folder in folders.items():
        save_depth_anything(folder, kind)
    return {kind: str(folder) for kind, folder in folders.items()}


Made = Callable[..., Depth]


@pytest.fixture
def depth_of(networks: dict[str, str], context: Context) -> Made:
    """`depth_of("metric", map of each frame)`: the tool, its network seeing what is planted."""

    def made(kind: str, planted: dict[str, np.ndarray] | None = None) -> Depth:
        tool = Depth(DepthOptions(model=networks[kind], detector="knowing"), context)
        if planted is not None:
            tool.network._maps._memory.update(planted)  # what it would have seen
        return tool

    return made


def relation(subject: str, name: str, other: str, **more: Any) -> Claim:
    return Claim(
        kind="relation", text="", subject=subject, predicate=name, object=other, **more
    )


def plane(left: float, right: float) -> np.ndarray:
    """A picture whose halves are at two depths."""
    return np.repeat([[left] * 50 + [right] * 50], 100, axis=0)


@pytest.mark.parametrize("kind", ["metric", "relative"])
def test_the_nearer_thing_is_in_front(
    kind: str, depth_of: Made, video: Callable[..., Sample]
) -> None:
    sample = video({"cup": [LEFT], "lamp": [RIGHT]}, {"cup": [LEFT], "lamp": [RIGHT]})
    tool = depth_of(
        kind, {sample.frames[0].key: plane(1, 4), sample.frames[1].key: plane(4, 1)}
    )
    claims = [
        relation("cup", "in front of", "lamp", frames=(0,)),
        relation("cup", "behind", "lamp", frames=(0,)),
        relation("lamp", "behind", "cup", frames=(0,)),
        relation("cup", "in front of", "lamp", frames=(1,)),
        relation("cup", "in front of", "lamp", frames=(1,), negated=True),
        relation("cup", "in front of", "dog", frames=(0,)),
        relation("cup", "left of", "lamp"),
    ]
    [judged] = tool.judge([(sample, claims)])
    assert [j.verdict for j in judged] == [
        "supported",
        "unsupported",
        "supported",
        "unsupported",
        "supported",
        "unsupported",  # there is no dog
        "unverifiable",  # another verifier's
    ]
    assert judged[0].box == LEFT


def test_things_at_one_depth_are_left_open(
    depth_of: Made, video: Callable[..., Sample]
) -> None:
    sample = video({"cup": [LEFT], "lamp": [RIGHT]})
    depths = plane(2.0, 2.01)
    depths[:10] = 9.0
    tool = depth_of("metric", {sample.frames[0].key: depths})
    [[judged]] = tool.judge([(sample, [relation("cup", "behind", "lamp")])])
    assert judged.reason == "no evidence"


def test_the_camera_goes_ahead_where_all_comes_nearer(
    depth_of: Made, video: Callable[..., Sample]
) -> None:
    sample = video({}, {}, {}, {})
    metres = (4.0, 3.0, 3.0, 5.0)  # a step ahead, a rest, two steps back
    maps = {f.key: plane(m, m) for f, m in zip(sample.frames, metres, strict=True)}
    claims = [
        Claim(kind="ego-motion", text="", predicate=way, frames=(index,))
        for index in (1, 2, 3)
        for way in ("move forward", "move backward")
    ]
    [judged] = depth_of("metric", maps).judge([(sample, claims)])
    yes, no = "supported", "unsupported"
    assert [j.verdict for j in judged] == [yes, no, no, no, no, yes]
    [judged] = depth_of("relative", maps).judge([(sample, claims)])
    assert {j.reason for j in judged} == {"no evidence"}  # no scale, no step


def test_a_stock_network_looks_at_each_frame_once(
    depth_of: Made,
    video: Callable[..., Sample],
    networks: dict[str, str],
    context: Context,
) -> None:
    sample = video({"cup": [LEFT], "lamp": [RIGHT]}, {"cup": [LEFT], "lamp": [RIGHT]})
    tool = depth_of("metric")
    calls: list[int] = []
    tool.network.files.network.register_forward_hook(lambda *_: calls.append(1))
    claims = [
        relation("cup", "behind", "lamp"),
        relation("lamp", "in front of", "cup"),
        Claim(kind="ego-motion", text="", predicate="move forward"),
    ]
    tool.judge([(sample, claims)])
    assert len(calls) == len(sample.frames)
    assert tool.network.fingerprint != depth_of("relative").network.fingerprint
    # Against transformers' own way from picture to depth.
    frame = Frame.from_array(
        (np.arange(7500) % 256).astype(np.uint8).reshape(50, 50, 3)
    )
    ours = DepthNetwork(networks["metric"], None, context).depth(frame)
    pipe: Any = transformers.pipeline("depth-estimation", model=networks["metric"])
    theirs = np.asarray(pipe(frame.load())["predicted_depth"])
    assert ours.shape == (50, 50)
    assert np.allclose(ours, theirs, rtol=0.05)


def test_a_model_without_depth_is_refused(tmp_path: Path, context: Context) -> None:
    config: Any = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2
    )
    config.intermediate_size = 8
    with quiet():
        transformers.ViTModel(config).save_pretrained(tmp_path / "vit")
    with pytest.raises(UserError, match="estimates no depth: expected a model of"):
        Depth(DepthOptions(model=str(tmp_path / "vit"), detector="knowing"), context)


def test_depths_are_read_in_the_middle_of_a_box() -> None:
    depths = np.full((40, 40), 9.0)
    depths[10:30, 10:30] = 2.0
    assert box_depth(depths, (10, 10, 30, 30), (40, 40)) == 2
    # a picture twice as large
    assert box_depth(depths, (20, 20, 60, 60), (80, 80)) == 2
    assert box_depth(depths, (39, 39, 40, 40), (40, 40)) == 9
    assert is_nearer(depths, 2, 9, 0.05) is True
    assert is_nearer(depths, 2, 2.1, 0.05) is None
    assert approach(depths, depths / 2) == pytest.approx(-np.log(2))
