"""CoOp's training for one cue beside a bare loop of the same steps, as a ratio in one run.

The bare loop has the text tower, the learned vectors and the optimizer, and nothing of cuescope:
the same forward and backward, as a script would write it. Both are timed in turn, for a cue with 96
samples and 8 labels on a text tower as small as toy-clip's, untrained: no weights are needed for a
time. `--model ViT-B-32 --labels 400 --device cuda` is a real size. The ratio is the median over
pairs, in processor seconds on a CPU, so that other programs hardly move it.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import open_clip
import torch
from torch.nn.functional import cross_entropy, normalize

from cuescope_mitigators.coop import CoOpOptions
from cuescope_mitigators.prompt_learning import PLACEHOLDER, LearnedPrompts
from cuescope_sdk.models import PromptTower

MOST = 1.1  # ratio that is allowed
TINY = {
    "embed_dim": 64,
    "vision_cfg": {
        "image_size": 32,
        "patch_size": 16,
        "width": 64,
        "layers": 1,
        "head_width": 32,
    },
    "text_cfg": {
        "context_length": 32,
        "vocab_size": 49408,
        "width": 64,
        "heads": 2,
        "layers": 2,
    },
}


def network(name: str, device: str) -> tuple[Any, Any]:
    """An untrained model of open_clip and its tokenizer; `tiny` is as large as toy-clip."""
    torch.manual_seed(0)
    if name == "tiny":
        model, length = open_clip.model.CLIP(**TINY), TINY["text_cfg"]["context_length"]
        tokenizer = open_clip.SimpleTokenizer(context_length=length)
    else:
        model, tokenizer = open_clip.create_model(name), open_clip.get_tokenizer(name)
    return model.to(device).eval().requires_grad_(False), tokenizer


def bare(
    model: Any,
    tokens: torch.Tensor,
    images: torch.Tensor,
    targets: torch.Tensor,
    epochs: int,
) -> None:
    """CoOp as a script: 16 vectors after the first token of each prompt."""
    options = CoOpOptions()
    width = model.token_embedding.weight.shape[1]
    context = (
        (0.02 * torch.randn(options.context, width)).to(images.device).requires_grad_()
    )
    optimizer = torch.optim.SGD(
        [context], lr=options.learning_rate, momentum=options.momentum
    )
    scale = 14.0

    def put(module: Any, given: Any, vectors: torch.Tensor) -> torch.Tensor:
        words = context.expand(len(vectors), -1, -1)
        rest = vectors[:, 1 + options.context :]
        return torch.cat([vectors[:, :1], words, rest], dim=1)

    hook = model.token_embedding.register_forward_hook(put)
    for _ in range(epochs):
        order = torch.randperm(len(targets)).to(images.device)
        for batch in torch.split(order, options.batch_size):
            rows = normalize(model.encode_text(tokens), dim=-1)
            loss = cross_entropy(scale * images[batch] @ rows.T, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    hook.remove()


def main() -> None:
    """Print seconds for one cue and the ratio; ends with 1 where it is above `MOST`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", default="tiny", help="tiny, or a name of open_clip")
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--samples", type=int, default=96, help="that show the cue")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1 if given.device == "cpu" else torch.get_num_threads())
    model, tokenizer = network(given.model, given.device)
    tower = PromptTower(
        tokenize=lambda texts: {"input_ids": tokenizer(texts).to(given.device)},
        embedding=model.token_embedding,
        encode=lambda inputs: model.encode_text(inputs["input_ids"]),
        scale=14.0,
        bias=0.0,
    )
    rng = np.random.default_rng(0)
    labels = tuple(f"label {number}" for number in range(given.labels))
    dim = model.text_projection.shape[1]
    embeddings = rng.standard_normal((given.samples, dim)).astype(np.float32)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    targets = rng.integers(given.labels, size=given.samples)
    options = CoOpOptions(epochs=given.epochs, steps=0)
    ours = LearnedPrompts(
        labels=labels,
        embeddings=embeddings.tobytes(),
        targets=tuple(targets.tolist()),
        **options.model_dump(),
    )
    words = " ".join([PLACEHOLDER] * options.context)
    tokens = tokenizer([f"{words} {label}." for label in labels]).to(given.device)
    images = torch.from_numpy(embeddings).to(given.device)
    wanted = torch.from_numpy(targets).to(given.device)

    def seconds(work: Callable[[], Any]) -> float:
        clock = time.process_time if given.device == "cpu" else time.perf_counter
        start = clock()
        work()
        if given.device != "cpu":
            torch.cuda.synchronize()
        return clock() - start

    def theirs() -> None:
        bare(model, tokens, images, wanted, given.epochs)

    def learn() -> None:
        ours.learn(tower)

    learn()
    theirs()
    pairs = [(seconds(learn), seconds(theirs)) for _ in range(given.pairs)]
    ratio = statistics.median(a / b for a, b in pairs)
    best = [min(column) for column in zip(*pairs, strict=True)]
    sys.stdout.write(
        f"CoOp for a cue with {given.samples} samples of {given.labels} labels, {given.epochs} "
        f"epochs, {given.model} on {given.device}: {best[0]:.2f} s, bare loop {best[1]:.2f} s, "
        f"ratio {ratio:.2f} (at most {MOST})\n"
    )
    sys.exit(ratio > MOST)


if __name__ == "__main__":
    main()
