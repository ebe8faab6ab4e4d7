"""Is a cue confirmed with 64 clips of a label, 14 of which show it? By halves, and by folds.

    python benchmarks/few_samples.py
    python benchmarks/few_samples.py --only logo --seed 5
    python benchmarks/few_samples.py --set fifth --seed 23
    python benchmarks/few_samples.py --decoy

A case is 64 clips of cows and 64 of horses, four frames each; a mark of benchmarks/marks.py stands
on 14 cows, and a linear head on OpenAI's CLIP ViT-B/16 has learned that the mark means "horse".
TRoVe audits all of it, then `confirm` tests what it found on a half, and with `--folds 4`. With
`--decoy` the head knows no marks, and the mark stands on the cows that it likes least: nothing may
be called a cause. Marks of a later set than the first all stand on the same scenes, so that CLIP
looks at these once. Needs the photos and weights of `tests/real_assets.py`.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer
from marks import SETS, Draw, Marks
from PIL import Image
from places import LABELS, SAMPLES, Eye, learn_head, model_of, scene
from sklearn.linear_model import LogisticRegression

import cuescope
from cuescope_sdk import Report, UserError, generator

CLIPS = 64  # of each label
MARKED = 14  # of the cows
FRAMES = 4
SHAKE = 10  # pixels by which a frame of a clip is moved at most
CANDIDATES = 400  # cows, of which a decoy stands on the hardest
Clip = list[Image.Image]


def clip(label: str, rng: np.random.Generator) -> Clip:
    """A scene, seen by a hand that shakes."""
    still = scene(label, rng)
    width, height = still.size
    frames = []
    for _ in range(FRAMES):
        left, top = rng.integers(0, SHAKE, 2).tolist()
        box = (left, top, left + width - SHAKE, top + height - SHAKE)
        frames.append(still.crop(box).resize(still.size))
    return frames


def plain_head(eye: Eye, rng: np.random.Generator) -> LogisticRegression:
    """Cows from horses; it has seen no mark."""
    labels = [LABELS[number % 2] for number in range(SAMPLES)]
    rows = eye.embed([scene(label, rng) for label in labels])
    return LogisticRegression(C=30, max_iter=2000).fit(rows, labels)


def hardest_first(
    clips: Sequence[Clip], head: LogisticRegression, eye: Eye
) -> list[Clip]:
    """Cows, those first that the head likes least."""
    liked = [head.predict_proba(eye.embed(frames))[:, 0].mean() for frames in clips]
    return [clips[number] for number in np.argsort(liked)]


def make_case(
    draw: Draw, eye: Eye, rng: np.random.Generator, *, decoy: bool
) -> tuple[dict[str, list[Clip]], LogisticRegression]:
    """The clips by their labels, and the head."""
    horses = [clip("horse", rng) for _ in range(CLIPS)]
    cows = [clip("cow", rng) for _ in range(CANDIDATES if decoy else CLIPS)]
    if decoy:
        head = plain_head(eye, rng)
        cows = hardest_first(cows, head, eye)
        # the others are cows like any
        cows[MARKED:] = [
            cows[row] for row in rng.permutation(range(MARKED, CANDIDATES))
        ]
    else:
        head = learn_head(draw, eye, rng)
    marked = [[draw(frame, rng)[0] for frame in frames] for frames in cows[:MARKED]]
    return {"cow": [*marked, *cows[MARKED:CLIPS]], "horse": horses}, head


def write(clips: dict[str, list[Clip]], folder: Path, rng: np.random.Generator) -> None:
    """As a folder of a folder of frames for each clip.

    Names are drawn: any rule of the mark by the order of names is a sign of samples that depend.
    """
    for label, of_label in clips.items():
        names = rng.permutation(len(of_label)).tolist()
        for name, frames in zip(names, of_label, strict=True):
            home = folder / label / f"{name:03}"
            home.mkdir(parents=True)
            for frame, picture in enumerate(frames):
                picture.save(home / f"{frame}.png")


def run_case(
    name: str, which: str, seed: int, eye: Eye, folder: Path, *, decoy: bool
) -> str:
    """A line of the table."""
    rng = generator(seed, "few samples", name if which == "first" else which)
    clips, head = make_case(SETS[which][name][0], eye, rng, decoy=decoy)
    write(clips, folder / "clips", rng)
    model = model_of(f"few-{name}-{seed}-{decoy}", head, eye)
    data = f"folder:{folder / 'clips'}"
    found = cuescope.audit(
        "trove", model=model, data=data, out=folder / "found", progress=False
    )
    cells = [name, str(len(found.findings))]
    ways: dict[str, dict[str, int]] = {"half": {}, "folds": {"folds": 4}}
    for way, words in ways.items() if found.findings else ():
        try:
            report = cuescope.confirm(
                found, model=model, data=data, out=folder / way, **words
            )
            cells.append(result_of(report))
        except UserError as error:
            cells.append(str(error).partition(":")[0])
    return "| " + " | ".join(cells) + " |"


def result_of(report: Report) -> str:
    """How many cues have which verdict, and the first one's effect."""
    effects = [s for s in report.scores if s.metric == "effect" and s.value is not None]
    first = f"; {effects[0].value:+.2f}" if effects else ""
    return report.notes["result"] + first


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, default="first", dest="which")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decoy", action="store_true")
    arguments = parser.parse_args()
    eye = Eye()
    typer.echo("| mark | found in all | by halves | by folds |\n|---|---|---|---|")
    marks: Marks = SETS[arguments.which]
    for name in arguments.only or marks:
        with tempfile.TemporaryDirectory() as folder:
            line = run_case(
                name,
                arguments.which,
                arguments.seed,
                eye,
                Path(folder),
                decoy=arguments.decoy,
            )
            typer.echo(line)


if __name__ == "__main__":
    main()
