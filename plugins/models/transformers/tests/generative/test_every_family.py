"""Each family through the plugin: answers, embeddings, edits, or a refusal that the plan knows."""

import sys
from pathlib import Path

import pytest
import torch

from cuescope_sdk import Context, UserError
from cuescope_transformers.generative import TransformersVLM, VLMOptions
from cuescope_transformers.generative.loading import VIDEO_FAULTS

sys.path.insert(0, str(Path(__file__).parent))

import every_family
import tiny_families

# of unlike shape: features for later layers and positions in three axes, linear layers, a
# resampler, slices of an image, a resampler of few keys, convolutions, types of tokens that open
# the mask; whether tokens are hidden, and whether attention is averaged
QUICK = {
    "qwen3_vl": ("yes", True),
    "qwen3_5": ("yes", False),
    "idefics2": ("yes", True),
    "minicpmv4_6": ("yes", False),
    "molmo2": ("yes", True),
    "got_ocr2": ("", True),
    "gemma3": ("yes", True),
}
HIDE = 66  # families that hide tokens


# the dearest, whose plan says of each thing what that of another says too
LATER = {"qwen3_vl", "molmo2", "gemma3"}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.long if kind in LATER else ())
        for kind in QUICK
    ],
)
def test_a_family_does_what_its_plan_says(kind: str, tmp_path: Path) -> None:
    row = every_family.examine(kind, every_family.parts_of(kind, tmp_path))
    assert row.answers == row.embeds == "yes"
    assert (row.hides, bool(row.averages)) == QUICK[kind]
    assert bool(row.refuses) == (not row.averages or not row.hides)


def test_what_reads_no_question_or_sees_nothing_is_refused(tmp_path: Path) -> None:
    for kind, words in (
        ("pix2struct", "reads no question"),
        ("mistral4", "sees no picture"),
        ("pp_formulanet", "reads no question"),
        ("instructblipvideo", "cannot be shown frames"),
    ):
        row = every_family.examine(kind, every_family.parts_of(kind, tmp_path))
        assert words in row.refuses
        assert not row.answers


def test_a_model_that_fuses_in_its_linear_layers_alone_is_refused_in_the_plan(
    tmp_path: Path,
) -> None:
    """Its attention adds nothing, so that averaging it would tell of no fusion at all."""
    config, processor = tiny_families.tiny_parts("qwen3_5")
    text = config.text_config
    text.layer_types = ["linear_attention"] * 3 + ["full_attention"]
    text.num_hidden_layers = len(text.layer_types)
    network = tiny_families.random_network(config)
    with torch.no_grad():
        network.get_decoder().layers[-1].self_attn.o_proj.weight.zero_()
    network.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    model = every_family.open_plugin((network, processor))
    images = [every_family.pixels(seed) for seed in (0, 1)]
    one, other = model.respond([every_family.asking(image) for image in images])
    assert every_family.farthest([one], [other]) > 1e-3, "it sees the image"
    options = VLMOptions(model=str(tmp_path))
    planned = TransformersVLM(options, Context(device="cpu", planning=True))
    capabilities = planned.capabilities
    reason = " (Qwen3_5GatedDeltaNet mixes tokens beside attention in layer 0, 1, 2)"
    for edit in ("average-attention", "average-tokens"):
        assert edit not in capabilities.edits
        assert capabilities.why_not(edit) == reason


@pytest.mark.parametrize(
    "kind", ["kimi_k25", pytest.param("nemotron_h_omni", marks=pytest.mark.long)]
)
def test_frames_are_images_where_transformers_cannot_show_a_video(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = every_family.open_plugin(every_family.parts_of(kind, tmp_path)())
    film = every_family.asking_film(every_family.film(0))
    assert model.respond([film])
    shown = model.facts["frames are shown as"]
    assert shown.startswith("images: as a video transformers cannot show them")
    # a release that mends it is noticed here
    monkeypatch.delitem(VIDEO_FAULTS, kind)
    with pytest.raises((RuntimeError, TypeError, UserError)):
        model.respond([film])


@pytest.mark.long
def test_every_family_does_what_its_plan_says(tmp_path: Path) -> None:
    """And the page of families says it."""
    rows = [
        every_family.examine(kind, every_family.parts_of(kind, tmp_path))
        for kind in every_family.FAMILIES
    ]
    assert sum(bool(row.hides) for row in rows) >= HIDE
    assert every_family.RESULTS.read_text() == every_family.table(rows)
