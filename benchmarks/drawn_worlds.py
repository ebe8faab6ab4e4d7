"""Worlds that are drawn and trained from nothing: what their scripts of rankings share.

A small network learns a world's labels while a cue goes with one of them, and is audited on clips
where it goes with none. What the models answered is kept in a store; after a change of the world,
take another one. What a cue costs by itself is told by networks that never saw one (`control`).
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


def with_cue(variants: np.ndarray, cue: int, shows: np.ndarray) -> np.ndarray:
    """(clip, frame, ...) of (cue or none, clip, frame, ...): the cue where it shows."""
    is_shown = np.expand_dims(shows, tuple(range(2, variants.ndim - 1)))
    return np.asarray(np.where(is_shown, variants[1 + cue], variants[0]))


def recalls(logits: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Of each label's clips, the share that is answered right."""
    is_right = logits.argmax(axis=1) == label
    return np.array([is_right[label == mine].mean() for mine in np.unique(label)])


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
    # (picture, dim) that networks read in place of pictures (picture, row, col, channel)
    look: Callable[[np.ndarray], np.ndarray] | None = None

    @cached_property
    def clips(self) -> np.ndarray:
        """Every clip, without a cue and with each."""
        return self.draw_clips(self.trained + self.audited)

    def read(self, store: Path) -> np.ndarray:
        """(cue or none, clip, frame, ...): what networks read of every clip.

        What `look` makes of the pictures is made once, and kept in the store.
        """
        if self.look is None:
            return self.clips
        file = store / f"{self.name}.npy"
        if not file.exists():
            pictures = self.clips.reshape(-1, *self.clips.shape[3:])
            looks = self.look(pictures).reshape(*self.clips.shape[:3], -1)
            store.mkdir(parents=True, exist_ok=True)
            begun = file.with_suffix(".part.npy")
            np.save(begun, looks)
            begun.rename(file)
        return np.asarray(np.load(file))

    def shown_frames(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """(clip, frame): a cue comes and goes once, and is in at least one frame."""
        ends = np.sort(rng.integers(self.frames, size=(count, 2)), axis=1)
        frame = np.arange(self.frames)
        return np.asarray((ends[:, :1] <= frame) & (frame <= ends[:, 1:]))

    def split(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The label of each clip, and which clips are trained on."""
        clips = self.trained + self.audited
        label = np.repeat(np.arange(len(self.names)), clips)
        first = np.zeros((len(self.names), clips), bool)
        first[:, : self.trained] = True
        return label, rng.permuted(first, axis=1).ravel()

    def plan(self, seed: int) -> tuple[int, int, float]:
        """The cue, the label that it is taught with, and how often."""
        rng = np.random.default_rng([self.seed, 23, seed])
        taught = int(rng.integers(len(self.names)))
        return seed % len(self.cues), taught, rng.uniform(*STRENGTH)

    def train(self, head: str, seed: int, store: Path) -> Trained:
        """A network that saw the cue with one label, and its answers where it goes with none."""
        cue, taught, strength = self.plan(seed)
        rng = np.random.default_rng([self.seed, 29, seed])
        label, is_trained = self.split(rng)
        in_training = np.where(label == taught, strength, STRAY)
        has_cue = rng.random(len(label)) < np.where(is_trained, in_training, SHARE)
        shows = has_cue[:, None] & self.shown_frames(len(label), rng)
        pictures = with_cue(self.clips, cue, shows)
        inputs = with_cue(self.read(store), cue, shows)
        network = self.fit(head, inputs[is_trained], label[is_trained], seed)
        embedding, still_logits, logits = self.answers(network, inputs[~is_trained])
        return Trained(
            pictures=pictures[~is_trained],
            label=label[~is_trained],
            shows=shows[~is_trained],
            embedding=embedding,
            still_logits=still_logits,
            logits=logits,
        )

    def untaught(
        self, head: str, seed: int, store: Path
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accuracies of a network that saw no cue: (label,) without one, (cue, label) with each.

        The audited clips are the same with a cue and without.
        """
        rng = np.random.default_rng([self.seed, 31, seed])
        label, is_trained = self.split(rng)
        shows = self.shown_frames(len(label), rng)
        variants = self.read(store)
        network = self.fit(head, variants[0][is_trained], label[is_trained], seed)
        shown = [with_cue(variants, cue, shows) for cue in range(len(self.cues))]
        right = []
        for inputs in (variants[0], *shown):
            logits = self.answers(network, inputs[~is_trained])[2]
            right.append(recalls(logits, label[~is_trained]))
        return right[0], np.stack(right[1:])

    def recall(self, head: str, seed: int, store: Path) -> Trained:
        """A training's answers, from the store where they are there.

        Where there is a `look`, what took long is in the store already.
        """
        if self.look is not None:
            return self.train(head, seed, store)
        file = store / f"{head}-{seed:03d}.npz"
        if file.exists():
            with np.load(file) as kept:
                return Trained(**kept)
        trained = self.train(head, seed, store)
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


def control(world: DrawnWorld, head: str, trainings: int, store: Path) -> Iterator[str]:
    """What each cue costs where none was taught: a line a training, then one for each cue."""
    costs = []
    for seed in range(trainings):
        without, with_each = world.untaught(head, seed, store)
        cost = 100 * (without - with_each)
        costs.append(cost)
        worst = zip(world.cues, cost.max(axis=1), strict=True)
        losses = "".join(f"   {cue} {lost:>4.1f}" for cue, lost in worst)
        right = 100 * without.mean()
        yield f"{head} {seed:>3}  untaught   right {right:>3.0f}%, worst label loses{losses}"
    for number, cue in enumerate(world.cues):
        of_cue = np.array([cost[number] for cost in costs])
        worst = of_cue.max(axis=1)
        yield (
            f"{head}, {cue} untaught: the worst label loses {worst.mean():.1f} points on average, "
            f"{worst.max():.1f} at most, over 5 in {(worst > 5).mean():.0%} of networks; the same "
            f"label {of_cue.mean(axis=0).max():.1f}, all labels {of_cue.mean():.1f}"
        )


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
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--sheet", type=Path)
    given = parser.parse_args()
    if given.sheet:
        draw_sheet(world, given.sheet)
        return
    for head in given.head or world.heads:
        if given.control:
            lines = control(world, head, given.trainings, given.store)
        elif given.accuracies:
            lines = accuracies(world, head, given.trainings, given.store)
        else:
            tried = world.tried(head, given.trainings, given.store)
            kept = losing(tried, given.trainings)
            lines = rows(f"{world.name}, {head}", world.names, kept)
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
