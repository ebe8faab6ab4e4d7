"""Trunks of timm that are no plain ViT: refused in the plan, in a sentence, by their modules."""

import inspect
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import timm
import torch

from cuescope_open_clip import OpenCLIP
from cuescope_open_clip.of_timm import block_of, pooling_of, why_closed

# of another anatomy; what the plan says of each
CLOSED = {
    "relative-positions": ("test_vit_relpos", "avg", "attends by RelPosAttention"),
    "differences": ("vit_dwee_patch16_reg1_gap_256", "avg", "by DiffAttention"),
    "parallel": ("vit_base_patch16_xp_224", "token", "no attention of its own"),
    "conv-stem": ("vit_base_mci_224", "token", "cuts no patches that stand apart"),
    "beit": ("beit_base_patch16_224", "avg", "takes no mask in its Block"),
    "windows": ("samvit_base_patch16", "avg", "does not tell where its patches stand"),
    "greatest": ("vit_tiny_patch16_224", "max", "pools its tokens by 'max'"),
    "distilled": (
        "deit_tiny_distilled_patch16_224",
        "token",
        "reads a token of distillation",
    ),
    "swin": ("swin_tiny_patch4_window7_224", "avg", "is no row of blocks"),
    "convnext": ("convnext_atto", "avg", "is no row of blocks over patches"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_tower_of_another_anatomy_is_refused_in_the_plan(
    build: Callable[..., OpenCLIP],
    folder: Path,
    tmp_path: Path,
    name: str,
) -> None:
    """Its weights need not be there to know it."""
    architecture, pool, reason = CLOSED[name]
    copy = shutil.copytree(folder, tmp_path / name)
    path = copy / "open_clip_config.json"
    said = json.loads(path.read_text())
    tower = {"image_size": 32, "timm_model_name": architecture, "timm_pool": pool}
    said["model_cfg"]["vision_cfg"] = {**tower, "timm_proj": "linear"}
    path.write_text(json.dumps(said))
    capabilities = build(model=str(copy), planning=True).capabilities
    for need in ("hide-tokens", "image-tower", "patches"):
        assert reason in capabilities.why_not(need)
        assert need not in capabilities.edits | capabilities.exposes


def names_blocks(name: str) -> bool:
    """Whether the file of an architecture of timm has a row of blocks at all, or inherits one."""
    source = inspect.getsource(inspect.getmodule(timm.model_entrypoint(name)))
    return "self.blocks = " in source or "(VisionTransformer)" in source


@pytest.mark.long
def test_every_trunk_of_timm_opens_or_says_why() -> None:
    """Each kind of trunk, block and attention among all names; one that opens is read whole."""
    kinds = {}
    for name in filter(names_blocks, timm.list_models()):
        with torch.device("meta"):
            trunk = timm.create_model(name, pretrained=False)
        if not isinstance(getattr(trunk, "blocks", None), torch.nn.Module):
            assert "is no row of blocks over patches" in why_closed(trunk)
            continue
        reason = why_closed(trunk)
        block = trunk.blocks[0]
        attention = type(getattr(block, "attn", None))
        kind = (type(trunk), type(block), attention, reason)
        if kind in kinds:
            continue
        kinds[kind] = name
        if reason is not None:
            assert reason.startswith(f"its image tower, timm's {type(trunk).__name__}")
            continue
        pooling_of(trunk)
        for number in range(len(trunk.blocks)):
            part = block_of(trunk, number)
            tokens = part.out_weight().new_zeros(1, 1, trunk.embed_dim)
            with torch.device("meta"):
                shapes = {each.shape for each in part.project(tokens)}
            assert len(shapes) == 1
    opened = {kind[0].__name__ for kind in kinds if kind[-1] is None}
    assert opened >= {"VisionTransformer", "Eva"}
