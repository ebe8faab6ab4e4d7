"""`--tool embedder=SPEC`: another eye embeds the pictures of a model that tells no embedding."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import open_clip
import pytest
import torch
import transformers
from command_line import run, written_plugins
from safetensors.torch import save_file

from cuescope_confirm.locating import learned, patches
from cuescope_core.building import resolve_tool
from cuescope_core.context import Context
from cuescope_core.runs import load_report
from cuescope_core.separate_embedder import for_eye
from cuescope_core.trust.source import Source
from cuescope_embedders import EyeOptions, VisionTower
from cuescope_sdk import Capabilities, Frame, HideTokens, Sample, Trial, UserError
from cuescope_sdk.locating import Region
from cuescope_slices import Domino
from cuescope_testing import FAKE_TOOLS, FakeMethod, FakeModel, Setup, temporary_cache
from cuescope_testing._fake_data import points_at
from cuescope_trove import TRoVe

SHOWN = "samples shown to the embedder"
DATA = {"samples": 300}


class Mute(FakeModel):
    """As a model behind an API: it answers, and tells no embedding."""

    capabilities = Capabilities(outputs=frozenset({"logits", "text"}))

    def answer(self, trial: Trial) -> Any:
        if "embedding" in trial.outputs:
            raise AssertionError("asked for an embedding")
        return super().answer(trial)


def setup(method: Any, **tools: Any) -> Setup:
    return Setup(method, Mute, data_options=DATA, tools=tools)


@pytest.mark.parametrize(
    "method", [pytest.param(TRoVe, marks=pytest.mark.long), Domino]
)
def test_a_method_gets_embeddings_without_knowing_whose(method: Any) -> None:
    with pytest.raises(UserError, match="Add --tool embedder=SPEC"):
        setup(method).report()
    with_eye = setup(method, embedder=FAKE_TOOLS["embedder"])
    plan = with_eye.plan()
    with temporary_cache() as cache:
        session = with_eye.session(cache)
        report = session.run()
        again = with_eye.report(cache)
    assert "embedder, and not by the model" in report.notes["embeddings"]
    assert report.provenance.tools["embedder"].fingerprint
    assert plan.tool_calls[SHOWN] == report.cost.tool_calls[SHOWN] > 0
    assert (again.cost.model_calls, again.cost.tool_calls[SHOWN]) == (0, 0)
    if method is TRoVe:
        samples = {sample.key: sample for sample in session.samples}
        features = {feature.key: feature for feature in report.features}
        found = features[report.findings[0].feature]
        assert (points_at(found, samples) or 0) > 0.8


class TinyViT(VisionTower):
    """Of transformers, with seeded weights, which `saved_vit` writes."""

    folder: ClassVar[Path]

    def __init__(self, options: EyeOptions, context: Context) -> None:
        here = {"model": str(self.folder)}
        super().__init__(options.model_copy(update=here), context)


def saved_vit(folder: Path, kind: str = "ViT") -> Path:
    """A network of 32 x 32 pixels and 8 x 8 patches, with its processor."""
    config = getattr(transformers, f"{kind}Config")(
        hidden_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        image_size=32,
        patch_size=4,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = getattr(transformers, f"{kind}Model")(config)
    network.save_pretrained(folder)
    size = {"height": 32, "width": 32}
    transformers.ViTImageProcessor(size=size).save_pretrained(folder)
    return folder


def test_a_cue_is_located_by_patches_of_the_eye(tmp_path: Path) -> None:
    """The model answers and shows nothing; a tiny ViT is asked where the red corner is."""
    TinyViT.folder = saved_vit(tmp_path / "vit")
    eyes = {"embedder": TinyViT}
    data = {"samples": 60, "frames": 1, "scale": 4}
    asked = Setup(TRoVe, Mute, data_options=data, tools=eyes)
    with temporary_cache() as cache:
        session = asked.session(cache)
        cells = patches.seen_patches(session.audit)
        assert cells is not None
        samples = {sample.key: sample for sample in session.samples}
        frames = [(key, 0) for key in samples]
        planted = [sample.annotations["cues"] for sample in session.parts.data.plugin]
        shows = np.array([cues["red corner"][0] for cues in planted])
        grids = cells(samples, frames)
        # of a frame that is not square too: a long copy of the first that shows it
        first = session.samples[int(shows.argmax())]
        long = first.frames[0].load().resize((64, 32))
        copy = replace(first, frames=(Frame.from_array(np.array(long)),))
        of_long = cells({"long": copy}, [("long", 0)])
    data_of = learned.training(samples, frames, shows)
    region = Region.learn(grids, data_of, np.random.default_rng(0))
    assert region is not None
    assert not region.is_everywhere
    for grid in (*itertools.compress(grids, shows), *of_long):
        found = region.mask(grid)
        # the corner is 3 x 3 of 8 x 8 cells
        assert found[:3, :3].sum() > 0.8 * found.sum()


def test_an_eye_without_patches_says_why(tmp_path: Path) -> None:
    TinyViT.folder = saved_vit(tmp_path / "mae", "ViTMAE")
    with temporary_cache() as cache:
        audit = setup(TRoVe, embedder=TinyViT).session(cache).audit
    assert patches.seen_patches(audit) is None
    assert "no map of places" in audit.capabilities.notes["eye-patches"]


def test_an_eye_of_no_use_is_refused() -> None:
    with pytest.raises(UserError, match="has no use for a embedder"):
        setup(FakeMethod, embedder=FAKE_TOOLS["embedder"]).report()


def test_no_edit_of_the_model_reaches_another_eye() -> None:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    edit = HideTokens.from_mask(np.ones((1, 4, 4), bool))
    shown = Trial(sample=Sample(key="a", frames=(frame,)), edit=edit)
    assert for_eye(shown) is None
    asked = Trial(sample=shown.sample, edit=edit, outputs=frozenset({"embedding"}))
    with pytest.raises(UserError, match="no edit of the model reaches"):
        for_eye(asked)
    blind = Trial(sample=Sample(key="b", frames=()), outputs=asked.outputs)
    with pytest.raises(UserError, match="no frame"):
        for_eye(blind)


# ------------------------------------------------------------------------ by the command line

PLUGINS = """
[cuescope.models]
mute = eyes:Mute
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.tools]
cells = cuescope_testing._fake_tools:FakeEmbedder
"""
SOURCE = "from test_outside_eye import Mute"
AUDIT = (
    "audit",
    "trove",
    "--model",
    "mute",
    "--data",
    "fakes",
    "--device",
    "cpu",
    "-q",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("eyes")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        with written_plugins(place, "eyes", PLUGINS, SOURCE):
            yield place


@pytest.fixture(scope="module")
def found(place: Path) -> Path:
    """A run by another eye."""
    some = ("-O", "data.samples=600", "--part", "1/3", "--tool", "embedder=cells")
    run(*AUDIT, *some, "--out", str(place / "run"))
    return place / "run"


@pytest.mark.long
def test_a_remedy_is_tried_by_the_eye_of_the_run(place: Path, found: Path) -> None:
    """What is learned of it is not kept: a model without embeddings could not use it."""
    words = ("--with", "last-layer", "--placebos", "0", "-q", "--out", str(place / "m"))
    run("mitigate", str(found), *words)
    report = load_report(place / "m")
    assert "by cells" in report.notes["embeddings"]
    assert (report.headlines[0].value or 0) > 0.3
    assert not (place / "m" / "mitigated").exists()


@pytest.mark.long
def test_a_cause_is_confirmed_by_the_eye_of_the_run(place: Path, found: Path) -> None:
    run(
        "confirm",
        str(found),
        "-q",
        "-O",
        "samples=60",
        "--out",
        str(place / "c"),
    )
    report = load_report(place / "c")
    assert "by cells, and not by the model, patches too" in report.notes["embeddings"]
    assert report.findings


def save_clip(folder: Path) -> Path:
    """An open_clip of 16 x 16 pixels with seeded weights."""
    content = {
        "model_cfg": {
            "embed_dim": 16,
            "vision_cfg": {"image_size": 16, "layers": 1, "width": 64, "patch_size": 8},
            "text_cfg": {
                "context_length": 77,
                "vocab_size": 49408,
                "width": 16,
                "heads": 2,
                "layers": 1,
            },
        },
        "preprocess_cfg": {},
    }
    folder.mkdir()
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = open_clip.create_model(f"local-dir:{folder}")
    save_file(network.state_dict(), folder / "open_clip_model.safetensors")
    return folder


def test_any_model_that_embeds_is_an_eye(place: Path) -> None:
    """A CLIP of open_clip from the disk."""
    folder = save_clip(place / "clip")
    out = place / "by-clip"
    some = ("-O", "data.samples=90", "--tool", f"embedder=open-clip:{folder}")
    run(*AUDIT, *some, "--out", str(out))
    report = load_report(out)
    assert "open-clip" in report.notes["embeddings"]
    assert report.provenance.tools["embedder"].dist == "cuescope-open-clip"
    assert report.cost.tool_calls[SHOWN] == 90 * 4


def test_a_typed_model_is_no_word_on_an_eye_that_arrived(tmp_path: Path) -> None:
    """The eye of a mailed run is held to what may arrive, whatever model was typed."""
    source = Source("a mailed run", tmp_path / "mail")
    held = Context(source=source, typed=frozenset({"model"}))
    spec = f"open-clip:{save_clip(tmp_path / 'clip')}"
    assert held.resolve("model", spec).build(held)
    with pytest.raises(UserError, match="typed on the command line"):
        resolve_tool("embedder", spec, None, held)
