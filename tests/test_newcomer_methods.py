"""Two methods as a newcomer writes them, from `cuescope dev new` and the guide alone."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Context, Frame, Sample, Trial
from cuescope_testing import FakeDataset, MethodContract, Setup

HERE = Path(__file__).parent / "newcomer"
TINY = {
    "embed_dim": 16,
    "vision_cfg": {
        "image_size": 32,
        "layers": 2,
        "width": 32,
        "head_width": 16,
        "patch_size": 8,
    },
    "text_cfg": {
        "context_length": 32,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    },
}


def newcomer(module: str, name: str) -> Any:
    """A class of the newcomer's own files."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return getattr(import_module(module), name)


class TestRegionReliance(MethodContract):
    """Accuracy lost by hiding a region: every check of its paradigm."""

    plugin = newcomer("cuescope_region_reliance", "RegionReliance")
    paradigm = "reliance"


def test_the_region_that_right_answers_need_is_found() -> None:
    report = Setup(TestRegionReliance.plugin, data_options={"cue": "helps"}).report()
    sentence = report.sentence(report.findings[0]) or ""
    assert sentence.startswith("Hiding the top left loses")
    assert report.evidence[0].verdict == "supported"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stock open_clip model, scaled down, with seeded random weights."""
    import json

    open_clip, torch = pytest.importorskip("open_clip"), pytest.importorskip("torch")
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    preprocess = {"mean": [0.2, 0.4, 0.6], "std": [0.5, 0.5, 0.5]}
    content = {"model_cfg": TINY, "preprocess_cfg": preprocess}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


def test_every_head_of_a_stock_clip_is_tried(clip: Path) -> None:
    from cuescope_open_clip import OpenCLIP

    method = newcomer("head_ablation", "HeadAblation")
    setup = Setup(method, OpenCLIP, FakeDataset, model_options={"model": str(clip)})
    report = setup.report(limit=20, device="cpu")
    assert {feature.key for feature in report.features} == {"0.0", "0.1", "1.0", "1.1"}
    assert len(report.scores) == 4
    assert report.cost.conditions["ablated"] == 80


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (0, 1), (1, 1)])
def test_an_ablated_head_is_one_without_output_weights(
    clip: Path, layer: int, head: int
) -> None:
    from cuescope_open_clip import OpenCLIP, OpenCLIPOptions

    def build() -> OpenCLIP:
        return OpenCLIP(OpenCLIPOptions(model=str(clip)), Context(device="cpu"))

    pixels = np.random.default_rng(5).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    sample = Sample(
        key="s", frames=(Frame.from_array(pixels),), choices=("bird", "boat")
    )
    edit = newcomer("head_ablation", "AblateHead")(layer=layer, head=head)
    wanted = frozenset({"embedding"})
    (edited,) = build().respond([Trial(sample=sample, edit=edit, outputs=wanted)])
    model = build()
    weight = model.image_tower.blocks[layer].out_weight()
    size = len(weight) // 2
    weight.data[:, head * size : (head + 1) * size] = 0
    (expected,) = model.respond([Trial(sample=sample, outputs=wanted)])
    (plain,) = build().respond([Trial(sample=sample, outputs=wanted)])
    np.testing.assert_allclose(edited.embedding, expected.embedding, atol=1e-5)
    assert (
        np.abs(np.asarray(edited.embedding) - np.asarray(plain.embedding)).max() > 1e-4
    )
