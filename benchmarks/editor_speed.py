"""What an image editor costs beside the bare pipeline call of diffusers.

    python benchmarks/editor_speed.py                  # a small Stable Diffusion on one core
    python benchmarks/editor_speed.py --device cuda    # the networks of SDXL in bfloat16

Weights are random: what is timed does not depend on them. On the CPU processor seconds are
compared, so that other programs hardly move the ratio; on a GPU wall seconds, and images per second
are told. Checks, kept pixels, cache and the quality filter together may cost 5% of the bare call.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_diffusers import Inpaint, InpaintOptions
from cuescope_sdk import Context, Frame, ImageEdit, generator
from cuescope_sdk.editing import cached_editor
from cuescope_sdk.torch import quiet

LIMIT = 0.05  # of the bare call
SIDE = 512  # pixels of the images
WORDS = "a snowy field"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def save_pipeline(folder: Path, large: bool, device: str) -> None:
    """Stable Diffusion with a small U-Net, or one with the U-Net and the autoencoder of SDXL."""
    import diffusers

    # two layers of SDXL's text encoders: they read a prompt once, the U-Net runs at each step
    text, more_text = (768, 1280) if large else (64, 64)
    with torch.device(device) if large else nullcontext():
        network = diffusers.UNet2DConditionModel(
            sample_size=128 if large else 32,
            in_channels=9,
            out_channels=4,
            block_out_channels=(320, 640, 1280) if large else (64, 128),
            layers_per_block=2,
            down_block_types=(
                "DownBlock2D",
                *("CrossAttnDownBlock2D",) * (2 if large else 1),
            ),
            up_block_types=(
                *("CrossAttnUpBlock2D",) * (2 if large else 1),
                "UpBlock2D",
            ),
            transformer_layers_per_block=(1, 2, 10) if large else 1,
            attention_head_dim=(5, 10, 20) if large else 8,
            cross_attention_dim=text + more_text if large else text,
            use_linear_projection=large,
            addition_embed_type="text_time" if large else None,
            addition_time_embed_dim=256 if large else None,
            projection_class_embeddings_input_dim=6 * 256 + more_text
            if large
            else None,
        )
        widths = (128, 256, 512, 512) if large else (32, 32, 64, 64)
        autoencoder = diffusers.AutoencoderKL(
            block_out_channels=widths,
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            layers_per_block=2 if large else 1,
            latent_channels=4,
            sample_size=1024 if large else 256,
        )
    parts: dict[str, Any] = {
        "unet": network,
        "vae": autoencoder,
        "scheduler": diffusers.DDIMScheduler(),
        "tokenizer": read_letters(),
        "text_encoder": read_text(transformers.CLIPTextModel, text),
    }
    if large:
        parts["tokenizer_2"] = read_letters()
        parts["text_encoder_2"] = read_text(
            transformers.CLIPTextModelWithProjection, more_text
        )
        pipeline: Any = diffusers.StableDiffusionXLInpaintPipeline(
            **parts, add_watermarker=False
        )
    else:
        none: dict[str, Any] = {"safety_checker": None, "feature_extractor": None}
        pipeline = diffusers.StableDiffusionInpaintPipeline(
            **parts, **none, requires_safety_checker=False
        )
    pipeline.to(torch.bfloat16 if large else torch.float32).save_pretrained(folder)


def read_letters() -> Any:
    """A tokenizer whose words are letters."""
    ends = ["<|startoftext|>", "<|endoftext|>"]
    words = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), *ends]
    vocabulary = {word: number for number, word in enumerate(words)}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)


def read_text(cls: Any, width: int) -> Any:
    """A CLIP text encoder of two layers."""
    config = transformers.CLIPTextConfig(
        vocab_size=len(read_letters()),
        hidden_size=width,
        intermediate_size=4 * width,
        projection_dim=width,
        num_hidden_layers=2,
        num_attention_heads=width // 64,
        bos_token_id=read_letters().bos_token_id,
        eos_token_id=read_letters().eos_token_id,
    )
    return cls(config)


def silence() -> None:
    """No bars and hints of diffusers between the lines of the table."""
    from diffusers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def make_edits(count: int) -> list[ImageEdit]:
    """Photos of soft colours, an object in the middle of each that must be kept."""
    rows, cols = np.mgrid[:SIDE, :SIDE] / SIDE - 0.5
    background = np.hypot(rows, cols) > 0.25
    edits = []
    for seed in range(count):
        soft = generator(seed, "photo").integers(0, 256, (12, 12, 3), dtype=np.uint8)
        photo = Image.fromarray(soft).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        edits.append(
            ImageEdit(Frame.from_array(np.asarray(photo)), WORDS, background, seed)
        )
    return edits


def quality_filter(
    edits: Sequence[ImageEdit],
) -> Callable[[Sequence[Frame]], Any] | None:
    """What judges edited frames with COVAR's filter; None where that is not installed."""
    try:
        from cuescope_covar_build import quality
        from cuescope_covar_build.quality.thresholds import fit_thresholds
    except ImportError:
        return None

    def cases(frames: Sequence[Frame]) -> list[Any]:
        return [
            quality.Case(
                edit.frame, ~mask, frame, ~mask, "background", edit.frame, WORDS
            )
            for edit, frame in zip(edits, frames, strict=True)
            if (mask := edit.mask) is not None
        ]

    clean = cases([edit.frame for edit in edits])
    subsets = [case.subset for case in clean]
    sources = [case.source.key for case in clean]
    thresholds = fit_thresholds(subsets, list(quality.measure(clean)), sources)
    return lambda frames: quality.judge(cases(frames), thresholds)


def main() -> int:
    """A table; 1 where the editor costs more than its limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--images", type=int, default=0, help="edited in all")
    parser.add_argument("--batch", type=int, default=0, help="edited at once")
    parser.add_argument(
        "--steps", type=int, default=30, help="of denoising (COVAR, A.6)"
    )
    given = parser.parse_args()
    large = given.device != "cpu"
    count, batch = (
        given.images or (32 if large else 4),
        given.batch or (4 if large else 1),
    )
    steps, clock = given.steps, time.process_time
    if large:
        clock = time.perf_counter
    else:
        torch.set_num_threads(1)
    silence()
    edits = make_edits(count)
    judge = quality_filter(edits)
    with tempfile.TemporaryDirectory() as name, quiet():
        root = Path(name)
        save_pipeline(root / "pipeline", large, given.device)
        context = Context(device=given.device, cache=root / "cache")
        options = InpaintOptions(
            model=str(root / "pipeline"),
            steps=steps,
            images=batch,
            dtype="bfloat16" if large else "float32",
        )
        editor = Inpaint(options, context)
        keeping = cached_editor(editor, context)
        editor.open_weights()
        spent = measure(
            given.device, edits, editor, keeping, steps, batch, judge, clock
        )
    return tell(spent, count, large, judge is not None)


def measure(
    device: str,
    edits: Sequence[ImageEdit],
    editor: Inpaint,
    keeping: Any,
    steps: int,
    batch: int,
    judge: Callable[[Sequence[Frame]], Any] | None,
    clock: Callable[[], float],
) -> dict[str, float]:
    """Seconds of each way to edit all images; the ways take turns, batch by batch."""
    import diffusers

    pipe = diffusers.AutoPipelineForInpainting.from_pretrained(
        editor.options.model, dtype=torch.bfloat16 if device != "cpu" else torch.float32
    ).to(device)
    pipe.set_progress_bar_config(disable=True)
    side = pipe.unet.config.sample_size * pipe.vae_scale_factor

    def bare(part: Sequence[ImageEdit]) -> None:
        size = {
            "width": side,
            "height": side,
            "num_inference_steps": steps,
            "strength": 1.0,
        }
        pipe(
            [edit.instruction for edit in part],
            image=[edit.frame.load().resize((side, side)) for edit in part],
            mask_image=[
                Image.fromarray(edit.mask).resize((side, side)) for edit in part
            ],
            generator=[torch.Generator().manual_seed(edit.seed) for edit in part],
            **size,
        )

    spent = dict.fromkeys(
        ("the bare call", "editor and cache", "filter", "again, all cached"), 0.0
    )
    frames: list[Frame] = []

    def timed(what: str, work: Callable[[], Any]) -> Any:
        since = clock()
        result = work()
        if device != "cpu":
            torch.cuda.synchronize()
        spent[what] += clock() - since
        return result

    bare(edits[:batch])  # whatever is made once
    editor.edit(edits[:batch])
    for start in range(0, len(edits), batch):
        part = edits[start : start + batch]
        timed("the bare call", lambda part=part: bare(part))
        frames += timed("editor and cache", lambda part=part: keeping.edit(part))
    if judge is not None:
        judge(frames)  # whatever is made once
        timed("filter", lambda: judge(frames))
    timed("again, all cached", lambda: [frame.load() for frame in keeping.edit(edits)])
    return spent


def tell(spent: dict[str, float], count: int, large: bool, filtered: bool) -> int:
    """The table, and whether the limit is held."""
    bare = spent["the bare call"]
    table = Table("", "seconds an image", "images a second", "of the bare call")
    for name, seconds in spent.items():
        if name != "filter" or filtered:
            each = seconds / count
            table.add_row(
                name, f"{each:.4f}", f"{1 / each:,.2f}", f"{seconds / bare:.1%}"
            )
    overhead = (spent["editor and cache"] + spent["filter"]) / bare - 1
    console = Console()
    console.print(table)
    parts = (
        "editor, cache and filter"
        if filtered
        else "editor and cache (cuescope-covar: none)"
    )
    clock = "wall" if large else "processor"
    console.print(
        f"{parts}: {overhead:+.1%} over the bare call, {clock} time (limit {LIMIT:.0%})"
    )
    return int(overhead > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
