"""Confirm beside a bare loop over the same distinct trials: model calls, and processor seconds.

    python benchmarks/confirm_speed.py [--samples 60] [--width 768]

A stock open_clip ViT of random weights, as large as ViT-B/32, is asked about random photos, half of
which show a thing in an annotated box; every intervention that applies takes it out or puts it in.
The bare loop gives the model the same batches, whose changed frames are painted anew, and nothing
else: no locating, pairs, cache, statistics or pages. Processor seconds, so that other programs
hardly move the ratio.
"""

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
from PIL import Image
from safetensors.torch import save_file

from cuescope.application import Runner
from cuescope_core.respond import trial_key
from cuescope_sdk import (
    Audit,
    Context,
    Detection,
    Feature,
    Frame,
    Metric,
    Options,
    Outcome,
    Plugin,
    Request,
    Requirements,
    Response,
    Sample,
    Score,
    Trial,
    digest,
    generator,
    hookimpl,
)
from cuescope_sdk.interventions._pixels import forget_frames
from cuescope_testing import PluginShelf

SIDE, THING, BOX = 224, "stamp", (20, 20, 90, 90)
LABELS = ("left", "right")
MOST = 1.1  # ratio that is allowed


def write_model(folder: Path, width: int) -> Path:
    """Configuration and weights of a random model, as on the hub."""
    vision = {"image_size": SIDE, "layers": 12, "width": width, "patch_size": 32}
    text = {
        "context_length": 32,
        "vocab_size": 49408,
        "width": 64,
        "heads": 2,
        "layers": 2,
    }
    shape = {"embed_dim": 128, "vision_cfg": vision, "text_cfg": text}
    norm = {"mean": [0.48] * 3, "std": [0.27] * 3}
    content = json.dumps({"model_cfg": shape, "preprocess_cfg": norm})
    (folder / "open_clip_config.json").write_text(content)
    model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


class PhotosOptions(Options):
    """How many."""

    photos: int = 160


class Photos(Plugin):
    """Smooth random pictures; every other one has a bright square in an annotated box."""

    Options = PhotosOptions
    options: PhotosOptions
    labels = LABELS

    @property
    def fingerprint(self) -> str:
        """What decides the pictures."""
        return digest("confirm-speed", self.options.photos)

    def __len__(self) -> int:
        return self.options.photos

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        rng = generator(index, "confirm-speed")
        small = rng.integers(0, 256, (14, 14, 3), dtype=np.uint8)
        pixels = np.array(Image.fromarray(small).resize((SIDE, SIDE)))
        boxes = ()
        if index // 2 % 2:
            x0, y0, x1, y1 = BOX
            pixels[y0:y1, x0:x1] = (250, 240, 20)
            boxes = (Detection(name=THING, score=1.0, box=tuple(map(float, BOX))),)
        return Sample(
            key=f"photo-{index:04d}",
            frames=(Frame.from_array(pixels),),
            choices=LABELS,
            label=LABELS[index % 2],
            annotations={"boxes": boxes},
        )


class Named(Plugin):
    """Finds the thing, whatever the model does."""

    title = "A thing by its name"
    requires = Requirements()
    metrics = (Metric(name="gap", title="Gap", meaning="nothing is measured"),)

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """By name alone: its places are annotated."""
        yield Feature(key=THING, kind="thing by name", name=THING)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Each sample as it is."""
        return (Trial(sample=sample) for sample in audit.samples)

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterator[Score]:
        """A finding."""
        yield Score(feature=THING, label="left", metric="gap", value=0.5, finding=True)


class Listening:
    """Stands in for a model's `respond`, and keeps what it is asked."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind, self.own = kind, kind.respond
        self.batches: list[Sequence[Trial]] = []

    def __enter__(self) -> "Listening":
        def respond(model: Any, trials: Sequence[Trial]) -> list[Response]:
            self.batches.append(trials)
            return self.own(model, trials)

        self.kind.respond = respond
        return self

    def __exit__(self, *_: object) -> None:
        self.kind.respond = self.own


def confirmed(
    folder: Path, spec: str, samples: int, photos: int
) -> tuple[float, list[Any], int]:
    """Processor seconds of `confirm`, the batches that the model was asked, and calls as told."""
    shelf = PluginShelf(
        {("method", "named"): Named, ("dataset", "photos"): Photos}, installed=True
    )
    context = Context(registry=shelf, device="cpu", cache=folder / "cache")
    runner = Runner(context, folder, out=folder / "found")
    asked = Request(
        method="named",
        model=spec,
        data="photos",
        data_options={"photos": photos},
        part="1/2",
    )
    runner.run(asked)
    tested = asked.model_copy(
        update={
            "method": "confirm",
            "part": "2/2",
            "method_options": {"run": str(folder / "found"), "samples": samples},
        }
    )
    kind = type(context.build("model", spec))
    with Listening(kind) as heard:
        since = time.process_time()
        report = Runner(context, folder, out=folder / "confirmed").run(tested)
        seconds = time.process_time() - since
    return seconds, heard.batches, report.cost.model_calls


def main() -> None:
    """Print the figures; ends with 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=60, help="of each intervention")
    parser.add_argument(
        "--width", type=int, default=768, help="of the ViT; 768 is ViT-B"
    )
    given = parser.parse_args()
    # open_clip's, of weights that are random on purpose
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "model").mkdir()
        spec = f"open-clip:{write_model(folder / 'model', given.width)}"
        (folder / "warm").mkdir()
        # imports, and the first use of the weights
        confirmed(folder / "warm", spec, 10, 80)
        forget_frames()
        seconds, batches, calls = confirmed(
            folder, spec, given.samples, 8 * given.samples
        )
        model = Context(device="cpu").build("model", spec)
        model.respond(batches[0][:1])
        forget_frames()
        since = time.process_time()
        for batch in batches:
            model.respond(batch)
        floor = time.process_time() - since
    trials = [trial_key("floor", trial) for batch in batches for trial in batch]
    ratio = seconds / floor
    sys.stdout.write(
        f"model calls {calls:,}, asked {len(trials):,}, distinct {len(set(trials)):,} (equal)\n"
        f"confirm {seconds:.1f} s, bare loop {floor:.1f} s: {ratio:.2f} (at most {MOST})\n"
    )
    if not calls == len(trials) == len(set(trials)) or ratio > MOST:
        sys.exit("confirm costs more than its answers")


if __name__ == "__main__":
    main()
