"""Many questions of one image: what `transformers-vlm` saves where the image is read once.

A Qwen2-VL of random weights, larger than the tests' and smaller than any published one, is asked
20 questions of an image. Its answers with and without `reuse_prefix` are compared, too.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from rich.console import Console
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope_core.context import Context
from cuescope_core.types import Frame, Sample, Trial
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM, VLMOptions

WORDS = [*"abcdefghijklmnopqrst", "is", "it", "yes", "no", "?"]
CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% endif %}{% endfor %}{% endfor %}<turn>"
)


def write(folder: Path, hidden: int, layers: int) -> None:
    """A model folder."""
    named = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_bos_token": "<|vision_start|>",
        "vision_eos_token": "<|vision_end|>",
        "turn_token": "<turn>",
    }
    words = {
        word: number for number, word in enumerate(["<unk>", "<pad>", "</s>", *WORDS])
    }
    rules = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="</s>",
        extra_special_tokens=named,
    )
    heads = hidden // 64
    rope = {"rope_type": "default", "type": "mrope", "mrope_section": [8, 12, 12]}
    text = {
        "hidden_size": hidden,
        "intermediate_size": 3 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "vocab_size": len(tokenizer),
        "rope_parameters": rope | {"rope_theta": 1e6},
        "bos_token_id": tokenizer.eos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {
        "depth": layers // 2,
        "num_heads": heads,
        "embed_dim": hidden,
        "hidden_size": hidden,
    }
    config = transformers.Qwen2VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        vision_start_token_id=tokenizer.vision_bos_token_id,
        vision_end_token_id=tokenizer.vision_eos_token_id,
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(0)
        transformers.AutoModelForImageTextToText.from_config(config).save_pretrained(
            folder
        )
        transformers.Qwen2VLProcessor(
            image_processor=transformers.Qwen2VLImageProcessor(),
            tokenizer=tokenizer,
            video_processor=transformers.Qwen2VLVideoProcessor(),
            chat_template=CHAT,
        ).save_pretrained(folder)


def main() -> None:
    """Print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--side", type=int, default=224, help="of the image, in pixels")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    pixels = np.random.default_rng(0).integers(
        0, 256, (options.side, options.side, 3), np.uint8
    )
    frames = (Frame.from_array(pixels),)
    letters = WORDS[:20]
    questions = [
        f"is it {letters[n % 20]} {letters[n // 20 % 20]} ?"
        for n in range(options.questions)
    ]
    samples = [
        Sample(key=question, frames=frames, question=question, choices=("yes", "no"))
        for question in questions
    ]
    seconds: dict[bool, float] = {}
    logits: dict[bool, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), options.hidden, options.layers)
        context = Context(device=options.device, batch_size=options.questions)
        for reuse in (False, True):
            model = TransformersVLM(VLMOptions(model=name, reuse_prefix=reuse), context)
            trials = [Trial(sample=sample) for sample in samples]
            model.respond(trials[:1])
            since = time.perf_counter()
            logits[reuse] = np.stack([each.logits for each in model.respond(trials)])
            seconds[reuse] = time.perf_counter() - since
    console, apart = Console(), np.abs(logits[True] - logits[False]).max()
    for reuse, said in ((False, "each with its image"), (True, "the image once")):
        console.print(f"{options.questions} questions, {said}: {seconds[reuse]:.2f} s")
    console.print(
        f"{seconds[False] / seconds[True]:.1f} times as fast; answers differ by {apart:.1g}"
    )


if __name__ == "__main__":
    main()
