"""Prompts that fit: a tokenizer would cut what is too long, and say so in a log at best."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cuescope_diffusers.files import PipelineFiles, class_of
from cuescope_sdk import UserError
from cuescope_sdk.torch import quiet

ENDLESS = 100_000  # tokenizers without a limit say 1e30


def open_tokenizers(files: PipelineFiles) -> dict[str, Any]:
    """The tokenizers by the names of the components; raises UserError where one cannot be read."""
    tokenizers = {}
    for name, where in files.components.items():
        if name.startswith("tokenizer"):
            source = replace(files.source, folder=files.source.folder / name)
            tokenizers[name] = source.read(name, class_of(*where))
    return tokenizers


def token_limits(tokenizers: Mapping[str, Any], sequence: int | None) -> dict[str, int]:
    """How many tokens each text encoder is given.

    CLIP reads as many as it has positions; the others as many as the pipeline gives them, which is
    `sequence` where it says so.
    """
    limits = {}
    for name, tokenizer in tokenizers.items():
        own = int(min(tokenizer.model_max_length, ENDLESS))
        is_clip = "CLIP" in type(tokenizer).__name__
        limits[name] = own if is_clip or sequence is None else sequence
    return limits


def require_fitting(
    owner: str,
    prompts: Iterable[str],
    tokenizers: Mapping[str, Any],
    limits: Mapping[str, int],
) -> list[str]:
    """The tokenizers that cut one of the prompts, while another reads all of it.

    Raises UserError for a prompt that none of them reads to its end.
    """
    cutting: dict[str, None] = {}
    for prompt in dict.fromkeys(prompts):
        with quiet():  # they would only log it
            lengths = {
                name: len(read(prompt).input_ids) for name, read in tokenizers.items()
            }
        short = [name for name, length in lengths.items() if length > limits[name]]
        if short and len(short) == len(lengths):
            longest = max(limits, key=lambda name: limits[name])
            raise UserError(
                f"{owner}: a prompt that is too long for the pipeline",
                expected=f"at most {limits[longest]} tokens",
                got=f"{lengths[longest]} for '{prompt[:60]}...'",
                remedy="Say it in fewer words: the end would be cut off",
            )
        cutting |= dict.fromkeys(short)
    return list(cutting)
