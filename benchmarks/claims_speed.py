"""Steps read and claims verified a second.

Reading: the labelled steps of step grounding by spaCy's parser. Verifying: a frame looked at once
for all claims, against a pass a claim.

Both ask the same OWLv2 of stock parts with random weights, through `box-geometry`, about the same
videos, and must come to the same judgements. One thread, processor seconds, a ratio in one run.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from cuescope_detectors import Owl, OwlOptions
from cuescope_sdk import Context, Detection, Frame, Sample, generator
from cuescope_sdk.grounding import Case, Claim
from cuescope_sdk.testing import PluginShelf
from cuescope_sdk.torch import quiet
from cuescope_step_grounding.claims import Clock, parser, read_steps
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.options import BoxOptions

NOUNS = (
    "chair",
    "table",
    "cup",
    "lamp",
    "door",
    "man",
    "sofa",
    "book",
    "plate",
    "window",
)
PREDICATES: Mapping[str, Sequence[str]] = {
    "entity": ("",),
    "attribute": ("red", "blue", "green", "white"),
    "relation": ("left of",),
    "action": ("move left",),
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def save_owl(folder: Path) -> None:
    """OWLv2 with 196 patches, 4 layers of width 192."""
    tokens = [
        *LETTERS,
        *(f"{x}</w>" for x in LETTERS),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    tokenizer = transformers.CLIPTokenizer(
        vocab={token: index for index, token in enumerate(tokens)},
        merges=[],
        model_max_length=16,
    )
    tower = {
        "hidden_size": 192,
        "intermediate_size": 768,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
    }
    ends = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    config = transformers.Owlv2Config(
        text_config={**tower, **ends, "vocab_size": 64, "max_position_embeddings": 16},
        vision_config={**tower, "image_size": 224, "patch_size": 16},
        projection_dim=192,
    )
    images = transformers.Owlv2ImageProcessor(size={"height": 224, "width": 224})
    transformers.Owlv2ForObjectDetection(config).save_pretrained(folder)
    processor: Any = transformers.Owlv2Processor
    processor(images, tokenizer).save_pretrained(folder)


def traces(videos: int, frames: int, claims: int) -> list[Case]:
    """Videos of noise, each with claims about single frames and about the whole."""
    rng = generator(0, "claims-speed")
    pixels = rng.integers(0, 256, (videos, frames, 120, 160, 3), dtype=np.uint8)
    return [
        (
            Sample(key=f"video-{index}", frames=tuple(map(Frame.from_array, video))),
            [_claim(rng, frames) for _ in range(claims)],
        )
        for index, video in enumerate(pixels)
    ]


def _claim(rng: np.random.Generator, frames: int) -> Claim:
    kind = tuple(PREDICATES)[rng.integers(len(PREDICATES))]
    subject, other = rng.choice(NOUNS, 2, replace=False).tolist()
    return Claim(
        kind=kind,
        text="",
        subject=subject,
        predicate=str(rng.choice(PREDICATES[kind])),
        object=other if kind == "relation" else None,
        frames=None if rng.random() < 0.2 else (int(rng.integers(frames)),),
    )


STEPS = (
    Path(__file__).parents[1] / "plugins/methods/step-grounding/tests/open_steps.jsonl"
)


def reading_speed(steps: int) -> str:
    """Steps a second of the parser, in processor seconds."""
    rows = [json.loads(line)["step"] for line in STEPS.read_text("utf-8").splitlines()]
    texts = [rows[index % len(rows)] for index in range(steps)]
    clock = Clock(8, tuple(float(second) for second in range(8)))
    reader = parser()
    start = time.process_time()
    read_steps(reader, texts, clock)
    speed = steps / (time.process_time() - start)
    return f"{steps} steps read: {speed:.0f} a second\n"


class Counted(Owl):
    """Counts the frames that it is shown, and has nothing kept from one call to the next."""

    passes = 0

    def __init__(self, options: OwlOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = ""

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        Counted.passes += len(frames)
        return super().detect(frames, names)


def verified(
    tool: BoxGeometry, batches: Sequence[Sequence[Case]]
) -> tuple[list[str], float]:
    """The verdicts, batch after batch with nothing remembered between, and processor seconds."""
    start = time.process_time()
    verdicts: list[str] = []
    for batch in batches:
        vars(tool).pop("finder", None)
        verdicts += [
            judgement.verdict
            for of_video in tool.judge(batch)
            for judgement in of_video
        ]
    return verdicts, time.process_time() - start


def measured(cases: list[Case], model: Path) -> str:
    context = Context(
        registry=PluginShelf({("tool", "owl"): Counted}),
        cache=model / "cache",
        device="cpu",
    )
    options = BoxOptions(detector="owl", detector_options={"model": str(model)})
    tool = BoxGeometry(options, context)
    tool.open_weights()
    claims = sum(len(of_video) for _, of_video in cases)
    one_by_one = [
        [(sample, [claim])] for sample, of_video in cases for claim in of_video
    ]
    rows, answers = [], []
    for name, batches in (("once a frame", [cases]), ("a pass a claim", one_by_one)):
        Counted.passes = 0
        verdicts, seconds = verified(tool, batches)
        answers.append(verdicts)
        rows.append((name, seconds, Counted.passes))
    if answers[0] != answers[1]:
        raise SystemExit("the judgements differ")
    ratio = rows[1][1] / rows[0][1]
    head = f"{claims} claims, {len(cases)} videos of {len(cases[0][0].frames)} frames"
    lines = [head, f"{'':<16}{'claims/s':>10}{'passes':>8}"]
    lines += [f"{name:<16}{claims / s:>10.1f}{passes:>8}" for name, s, passes in rows]
    return "\n".join([*lines, f"{'ratio':<16}{ratio:>9.1f}x"]) + "\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--videos", type=int, default=2)
    arguments.add_argument("--frames", type=int, default=8)
    arguments.add_argument("--claims", type=int, default=24, help="claims a video")
    arguments.add_argument(
        "--steps", type=int, default=1000, help="steps that are read"
    )
    options = arguments.parse_args()
    sys.stdout.write(reading_speed(options.steps))
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.random.fork_rng(), quiet():
        save_owl(Path(folder))
        cases = traces(options.videos, options.frames, options.claims)
        sys.stdout.write(measured(cases, Path(folder)))


if __name__ == "__main__":
    main()
