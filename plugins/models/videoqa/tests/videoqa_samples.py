"""Questions about small videos, and what a user gives each of the four plugins."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import videoqa_published as published
from PIL import Image

from cuescope_core.types import FrameSource
from cuescope_sdk import Frame, Sample
from cuescope_videoqa import AllInOne, FrozenBiLM, JustAsk, Singularity

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "yes",
    "no",
    "question",
    "answer",
    "is",
    "it",
    "?",
    ".",
    ":",
    "'",
    "what",
    "who",
    "does",
    "the",
    "man",
    "open",
    "close",
    "door",
    "before",
    "after",
    "red",
    "blue",
    "ball",
    "dog",
    "cat",
    "top",
    "middle",
    "bottom",
    "options",
)
ANSWERS = (
    "dog",
    "red ball",
    "yes",
    "no",
    "cat",
    "blue ball",
    "top",
    "middle",
    "bottom",
)
PLUGINS = {
    "just-ask": JustAsk,
    "frozen-bilm": FrozenBiLM,
    "singularity": Singularity,
    "all-in-one": AllInOne,
}


def draw(source: FrameSource) -> Image.Image:
    """Pixels that file name and index alone decide."""
    seed = sum(source.path.stem.encode()) * 31 + source.index
    pixels = np.random.default_rng(seed).integers(0, 256, (20, 28, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def video(name: str, count: int = published.FRAMES) -> tuple[Frame, ...]:
    """Frames of a video file, in order."""
    sources = [FrameSource(Path(f"{name}.mp4"), 4 * i, i, count) for i in range(count)]
    return tuple(
        Frame(f"{name}-{source.position}", partial(draw, source), source)
        for source in sources
    )


def asked(
    name: str,
    question: str | None,
    choices: tuple[str, ...] = ("yes", "no"),
    count: int = 3,
) -> Sample:
    """A question about a video; no video without a name."""
    frames = video(name, count) if name else ()
    return Sample(
        key=f"{name}:{question}", frames=frames, question=question, choices=choices
    )


SAMPLES = (
    asked("one", "does the man open the door before the red ball ?"),
    asked("two", "is the dog red ?"),
    asked("three", "what is it ?", ("dog", "red ball", "blue ball")),
    asked("", "does the man close the door ?"),
    asked("two", None),
)


def options(name: str, place: Path) -> dict[str, Any]:
    """What a user gives for each model."""
    common: dict[str, Any] = {"answers": place / "answers.json"}
    if name in ("just-ask", "all-in-one"):
        common["head_dim"] = published.HEAD
    match name:
        case "just-ask":
            own = {
                "checkpoint": place / "just-ask.pth",
                "features": place / "s3d.pth",
                "text_encoder": str(place / "words"),
                "question_tokens": published.QUESTION,
            }
        case "frozen-bilm":
            own = {
                "checkpoint": place / "frozen-bilm.pth",
                "features": place / "clip.pth",
                "text_encoder": str(place / "deberta"),
                "video_features": 5,
            }
        case "singularity":
            own = {
                "checkpoint": place / "singularity.pth",
                "text_encoder": str(place / "words"),
            }
        case _:
            own = {
                "checkpoint": place / "all-in-one.ckpt",
                "text_encoder": str(place / "words"),
            }
    return {**common, **own}
