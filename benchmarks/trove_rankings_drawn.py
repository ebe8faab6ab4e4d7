"""Do the frames come first that show the cue, where everything is drawn and trained from nothing?

Clips of three frames: a part on a conveyor belt, drawn as a field of heights. A small network
learns five kinds of parts while a cue goes with one of them, and is audited on clips where it goes
with none. The cues are a lamp at one place, banding of the whole frame, a glove that reaches in.
Rankings and table are those of trove_rankings.py. The author had not read how TRoVe works.

    python benchmarks/trove_rankings_drawn.py --trainings 20 --store FOLDER

What the models answered is kept in the store; after a change of benchmarks/belt, take another one.
`--accuracies` prints accuracies alone, and asks no method. `--sheet FILE` draws a picture.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from belt.clips import CLIPS, SEED, TRAINED, draw_clips
from belt.cues import CUES
from belt.networks import HEADS, answers, fit
from belt.scene import FRAMES, NAMES
from PIL import Image
from trove_rankings import LEAST, STRAY, Trained, losing, rows

SHARE = 0.3  # of each label's audited clips show the cue
STRENGTH = (0.6, 0.95)  # of the taught label's clips of training show it
TRIES = 3  # trainings at most, for each model that is wanted


@cache
def clips() -> np.ndarray:
    """Every clip, without a cue and with each."""
    return draw_clips()


def shown_frames(count: int, rng: np.random.Generator) -> np.ndarray:
    """(clip, frame): a cue comes and goes once, and is in at least one frame."""
    ends = np.sort(rng.integers(FRAMES, size=(count, 2)), axis=1)
    frame = np.arange(FRAMES)
    return np.asarray((ends[:, :1] <= frame) & (frame <= ends[:, 1:]))


def plan(seed: int) -> tuple[int, int, float]:
    """The cue, the label that it is taught with, and how often."""
    rng = np.random.default_rng([SEED, 23, seed])
    return seed % len(CUES), int(rng.integers(len(NAMES))), rng.uniform(*STRENGTH)


def train(head: str, seed: int) -> Trained:
    """A network that saw the cue with one label, and its answers where it goes with none."""
    cue, taught, strength = plan(seed)
    rng = np.random.default_rng([SEED, 29, seed])
    label = np.repeat(np.arange(len(NAMES)), CLIPS)
    is_trained = np.zeros((len(NAMES), CLIPS), bool)
    is_trained[:, :TRAINED] = True
    is_trained = rng.permuted(is_trained, axis=1).ravel()
    in_training = np.where(label == taught, strength, STRAY)
    has_cue = rng.random(len(label)) < np.where(is_trained, in_training, SHARE)
    shows = has_cue[:, None] & shown_frames(len(label), rng)
    pictures = np.where(shows[..., None, None, None], clips()[1 + cue], clips()[0])
    network = fit(head, pictures[is_trained], label[is_trained], seed)
    embedding, still_logits, logits = answers(network, pictures[~is_trained])
    return Trained(
        pictures=pictures[~is_trained],
        label=label[~is_trained],
        shows=shows[~is_trained],
        embedding=embedding,
        still_logits=still_logits,
        logits=logits,
    )


def recall(head: str, seed: int, store: Path) -> Trained:
    """A training's answers, from the store where they are there."""
    file = store / f"{head}-{seed:03d}.npz"
    if file.exists():
        with np.load(file) as kept:
            return Trained(**kept)
    trained = train(head, seed)
    store.mkdir(parents=True, exist_ok=True)
    # a file that was begun and not ended would be taken for a whole one
    begun = file.with_suffix(".part.npz")
    np.savez_compressed(begun, **vars(trained))
    begun.rename(file)
    return trained


def tried(head: str, trainings: int, store: Path) -> Iterator[Trained]:
    """One training after the other, whatever it lost."""
    for seed in range(TRIES * trainings):
        yield recall(head, seed, store)


def accuracies(head: str, trainings: int, store: Path) -> Iterator[str]:
    """A line a training: no method is asked."""
    kept = 0
    for seed, trained in enumerate(tried(head, trainings, store)):
        cue, taught, strength = plan(seed)
        answer = trained.logits.argmax(axis=1)
        right = answer == trained.label
        has_cue = trained.shows.any(axis=1)
        other = trained.label != taught
        drawn = [
            (answer[other & which] == taught).mean() for which in (~has_cue, has_cue)
        ]
        worst = trained.worst
        lost = trained.lost(worst)
        enough = lost >= LEAST
        kept += enough
        yield (
            f"{head} {seed:>3}  {list(CUES)[cue]:<8}{NAMES[taught]:<7}{100 * strength:>3.0f}%"
            f"   right {100 * right[~has_cue].mean():>3.0f}%, "
            f"with the cue {100 * right[has_cue].mean():>3.0f}%"
            f"   taken for a {NAMES[taught]} {100 * drawn[0]:>3.0f}%, {100 * drawn[1]:>3.0f}%"
            f"   {NAMES[worst]:<7}loses {100 * lost:>3.0f}{'' if enough else ', left out'}"
        )
        if kept == trainings:
            return


def draw_sheet(file: Path) -> None:
    """Two clips of each label: as they are, then with each cue."""
    drawn = draw_clips(clips=2)
    lines = [
        np.concatenate(
            [frame for variant in drawn[:, clip] for frame in variant], axis=1
        )
        for clip in range(drawn.shape[1])
    ]
    sheet = Image.fromarray(np.concatenate(lines))
    double = (2 * sheet.width, 2 * sheet.height)
    sheet.resize(double, Image.Resampling.NEAREST).save(file)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--head", choices=HEADS, action="append")
    parser.add_argument("--trainings", type=int, default=20)
    parser.add_argument(
        "--store", type=Path, default=Path(".cache/trove_rankings_drawn")
    )
    parser.add_argument("--accuracies", action="store_true")
    parser.add_argument("--sheet", type=Path)
    given = parser.parse_args()
    if given.sheet:
        draw_sheet(given.sheet)
        return
    for head in given.head or HEADS:
        if given.accuracies:
            lines = accuracies(head, given.trainings, given.store)
        else:
            kept = losing(tried(head, given.trainings, given.store), given.trainings)
            lines = rows(f"belt, {head}", NAMES, kept)
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
