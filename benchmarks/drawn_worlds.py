"""Worlds that are drawn and trained from nothing: what their scripts of rankings share.

A small network learns a world's labels while a cue goes with one of them, and is audited on clips
where it goes with none. What the models answered is kept in a store; after a change of the world,
take another one.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from trove_rankings import LEAST, STRAY, Trained, losing, rows

SHARE = 0.3  # of each label's audited clips show the cue
STRENGTH = (0.6, 0.95)  # of the taught label's clips of training show it
TRIES = 3  # trainings at most, for each model that is wanted

# an embedding a frame, logits a frame, logits a clip
Answers = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class DrawnWorld:
    """A scene that is drawn, its cues, and the networks that learn from it."""

    name: str
    names: Sequence[str]  # of the labels
    cues: Mapping[str, Any]
    heads: Sequence[str]
    seed: int
    frames: int  # of a clip
    trained: int  # clips of each label
    audited: int  # clips of each label
    # with so many clips of a label, label by label: (cue or none, clip, frame, row, col, channel)
    draw_clips: Callable[[int], np.ndarray]
    fit: Callable[[str, np.ndarray, np.ndarray, int], Any]
    answers: Callable[[Any, np.ndarray], Answers]

    @cached_property
    def clips(self) -> np.ndarray:
        """Every clip, without a cue and with each."""
        return self.draw_clips(self.trained + self.audited)

    def shown_frames(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """(clip, frame): a cue comes and goes once, and is in at least one frame."""
        ends = np.sort(rng.integers(self.frames, size=(count, 2)), axis=1)
        frame = np.arange(self.frames)
        return np.asarray((ends[:, :1] <= frame) & (frame <= ends[:, 1:]))

    def plan(self, seed: int) -> tuple[int, int, float]:
        """The cue, the label that it is taught with, and how often."""
        rng = np.random.default_rng([self.seed, 23, seed])
        taught = int(rng.integers(len(self.names)))
        return seed % len(self.cues), taught, rng.uniform(*STRENGTH)

    def train(self, head: str, seed: int) -> Trained:
        """A network that saw the cue with one label, and its answers where it goes with none."""
        cue, taught, strength = self.plan(seed)
        rng = np.random.default_rng([self.seed, 29, seed])
        clips = self.trained + self.audited
        label = np.repeat(np.arange(len(self.names)), clips)
        first = np.zeros((len(self.names), clips), bool)
        first[:, : self.trained] = True
        is_trained = rng.permuted(first, axis=1).ravel()
        in_training = np.where(label == taught, strength, STRAY)
        has_cue = rng.random(len(label)) < np.where(is_trained, in_training, SHARE)
        shows = has_cue[:, None] & self.shown_frames(len(label), rng)
        is_shown = shows[..., None, None, None]
        pictures = np.where(is_shown, self.clips[1 + cue], self.clips[0])
        network = self.fit(head, pictures[is_trained], label[is_trained], seed)
        embedding, still_logits, logits = self.answers(network, pictures[~is_trained])
        return Trained(
            pictures=pictures[~is_trained],
            label=label[~is_trained],
            shows=shows[~is_trained],
            embedding=embedding,
            still_logits=still_logits,
            logits=logits,
        )

    def recall(self, head: str, seed: int, store: Path) -> Trained:
        """A training's answers, from the store where they are there."""
        file = store / f"{head}-{seed:03d}.npz"
        if file.exists():
            with np.load(file) as kept:
                return Trained(**kept)
        trained = self.train(head, seed)
        store.mkdir(parents=True, exist_ok=True)
        # a file that was begun and not ended would be taken for a whole one
        begun = file.with_suffix(".part.npz")
        np.savez_compressed(begun, **vars(trained))
        begun.rename(file)
        return trained

    def tried(self, head: str, trainings: int, store: Path) -> Iterator[Trained]:
        """One training after the other, whatever it lost."""
        for seed in range(TRIES * trainings):
            yield self.recall(head, seed, store)


def accuracies(
    world: DrawnWorld, head: str, trainings: int, store: Path
) -> Iterator[str]:
    """A line a training: no method is asked."""
    kept = 0
    for seed, trained in enumerate(world.tried(head, trainings, store)):
        cue, taught, strength = world.plan(seed)
        name = world.names[taught]
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
            f"{head} {seed:>3}  {list(world.cues)[cue]:<10}{name:<7}{100 * strength:>3.0f}%"
            f"   right {100 * right[~has_cue].mean():>3.0f}%, "
            f"with the cue {100 * right[has_cue].mean():>3.0f}%"
            f"   taken for a {name} {100 * drawn[0]:>3.0f}%, {100 * drawn[1]:>3.0f}%"
            f"   {world.names[worst]:<7}loses {100 * lost:>3.0f}{'' if enough else ', left out'}"
        )
        if kept == trainings:
            return


def draw_sheet(world: DrawnWorld, file: Path) -> None:
    """Two clips of each label: as they are, then with each cue."""
    drawn = world.draw_clips(2)
    lines = [
        np.concatenate(
            [frame for variant in drawn[:, clip] for frame in variant], axis=1
        )
        for clip in range(drawn.shape[1])
    ]
    sheet = Image.fromarray(np.concatenate(lines))
    double = (2 * sheet.width, 2 * sheet.height)
    sheet.resize(double, Image.Resampling.NEAREST).save(file)


def print_tables(world: DrawnWorld, description: str, store: Path) -> None:
    """Print what the command line asks for; `store` is where answers are kept by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--head", choices=world.heads, action="append")
    parser.add_argument("--trainings", type=int, default=20)
    parser.add_argument("--store", type=Path, default=store)
    parser.add_argument("--accuracies", action="store_true")
    parser.add_argument("--sheet", type=Path)
    given = parser.parse_args()
    if given.sheet:
        draw_sheet(world, given.sheet)
        return
    for head in given.head or world.heads:
        if given.accuracies:
            lines = accuracies(world, head, given.trainings, given.store)
        else:
            tried = world.tried(head, given.trainings, given.store)
            kept = losing(tried, given.trainings)
            lines = rows(f"{world.name}, {head}", world.names, kept)
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
