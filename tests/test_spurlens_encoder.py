"""SpurLens's probe of the vision encoder (appendix M), on generative models with random weights.

What a random encoder keeps of an image still tells a table from none. A probe that learns a class
where the cue goes with it leans on the cue; where it does not, there is nothing to lean on.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope_sdk import Context, Lab, Report, Request
from cuescope_sdk.torch.quiet import quiet

PLANTED = {"cup": ["table"], "bird": ["tree"], "car": ["road"]}
MARKS = ("<unk>", "<pad>", "<s>", "</s>", "<image>", "<video>", "<start>", "<end>")
SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4}  # fmt: skip
TEXT = {**SMALL, "num_key_value_heads": 2, "bos_token_id": 2, "eos_token_id": 3,
        "pad_token_id": 1, "vocab_size": 64}  # fmt: skip
CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}{{ part['text'] if "
    "part['type'] == 'text' else '<image>' }} {% endfor %}{% endfor %}"
)
Parts = tuple[Any, Any]

pytestmark = pytest.mark.slow


def tokenizer() -> Any:
    """Whole words; what an image token is called differs from family to family."""
    words = (*MARKS, *"abcdefgh", "yes", "no", "there", "is", "image", "cup", "bird", "car")
    rules = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules, unk_token="<unk>", pad_token="<pad>", bos_token="<s>",
        eos_token="</s>", padding_side="left",
        extra_special_tokens={
            "image_token": "<image>", "video_token": "<video>", "vision_bos_token": "<start>",
            "vision_eos_token": "<end>",
        },
    )  # fmt: skip


def qwen2_vl() -> Parts:
    """Up to 64 x 64 pixels, in merged tokens of 8 x 8."""
    config = transformers.Qwen2VLConfig(
        text_config={**TEXT, "rope_parameters": {
            "rope_type": "default", "type": "mrope", "mrope_section": [1, 1, 2],
            "rope_theta": 1e4}},
        vision_config={"depth": 2, "num_heads": 2, "patch_size": 4, "hidden_size": 32,
                       "embed_dim": 32},
        image_token_id=4, video_token_id=5, vision_start_token_id=6, vision_end_token_id=7,
    )  # fmt: skip
    sizes = {"patch_size": 4, "size": {"shortest_edge": 64, "longest_edge": 4096}}
    return config, transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**sizes), tokenizer=tokenizer(),
        video_processor=transformers.Qwen2VLVideoProcessor(**sizes),
        chat_template=CHAT.replace("'<image>'", "'<start> <image> <end>'"),
    )  # fmt: skip


def llava_next() -> Parts:
    """The whole image in 32 x 32 pixels, and tiles."""
    square = {"height": 32, "width": 32}
    grid = [[32, 64], [64, 32]]
    config = transformers.LlavaNextConfig(
        text_config={**TEXT, "model_type": "llama"},
        vision_config={**SMALL, "model_type": "clip_vision_model", "projection_dim": 16,
                       "image_size": 32, "patch_size": 4},
        image_grid_pinpoints=grid, image_token_index=4,
    )  # fmt: skip
    return config, transformers.LlavaNextProcessor(
        image_processor=transformers.LlavaNextImageProcessor(
            image_grid_pinpoints=grid, size={"shortest_edge": 32}, crop_size=square
        ),
        tokenizer=tokenizer(), patch_size=4, vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=CHAT,
    )  # fmt: skip


FAMILIES: dict[str, Callable[[], Parts]] = {"qwen2-vl": qwen2_vl, "llava-next": llava_next}


@pytest.fixture(scope="module", params=FAMILIES)
def audited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Report]:
    """`audited("planted")`: a model asked about scenes where a cue goes with its class."""
    place = tmp_path_factory.mktemp(request.param)
    config, processor = FAMILIES[request.param]()
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(11)
        network = transformers.AutoModelForImageTextToText.from_config(config)
        for weight in network.parameters():
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.25)
        network.save_pretrained(place / "model")
        processor.save_pretrained(place / "model")
    (place / "cues.json").write_text(json.dumps(PLANTED))
    lab = Lab(Context(cache=place / "cache", device="cpu"), place / "runs")
    return partial(_report, lab, place)


def _report(lab: Lab, place: Path, audit: str) -> Report:
    asked = Request(
        method="spurlens", model=f"transformers-vlm:{place / 'model'}", data="object-scenes",
        tools={"proposer": f"cues:{place / 'cues.json'}", "detector": "annotations"},
        method_options={"classes": tuple(PLANTED), "k": 12, "task": "recognition", "draws": 100,
                        "questions": ("is there {object} ?",)},
        model_options={"max_new_tokens": 1}, data_options={"audit": audit, "val": 400},
        device="cpu",
    )  # fmt: skip
    return lab.session(asked).run()


def gaps(report: Report) -> dict[str, float]:
    table = next(table for table in report.tables if table.title.startswith("Vision encoder"))
    return {str(row["class"]): float(str(row["probe's gap"])) for row in table.rows}


def test_a_probe_leans_on_a_cue_that_goes_with_the_class(audited: Callable[[str], Report]) -> None:
    planted, independent = (gaps(audited(how)) for how in ("planted", "independent"))
    assert planted.keys() == independent.keys() == PLANTED.keys()
    assert min(planted.values()) > 0
    assert np.mean(list(planted.values())) > 25
    assert abs(np.mean(list(independent.values()))) < 15
