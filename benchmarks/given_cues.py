"""A cue that a person gives beside its answer sheet: is it recognised, and are its effects true?

    python benchmarks/given_cues.py [--seeds 10]
    python benchmarks/given_cues.py --tags FILE.npz [--seeds 10]

Worlds: the three cues of moving-shapes with the toy; with `--tags` a price tag in photos
(price_tags.py) with a head on CLIP's features that relies on it. A cue is given by ten samples that
somebody looked at, five with it and five without, which choose among what draws each wrong answer;
by the same ten alone; by forty alone; by a region drawn in one sample. The truth is that of 12,000
fresh clips, or of all pairs with and without the tag that the head was not trained on.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from headlines import CACHE, TAGGED, pictures, toy_request
from jaxtyping import Bool, Float
from price_tags import LABELS, MEAN, SPREAD, Pairs
from rich.console import Console
from rich.table import Table
from worlds.stamps.compositing import assets

from cuescope.application import Runner
from cuescope_cue.making import Clicks, Making
from cuescope_cue.options import CueOptions
from cuescope_cue.scores import analyse
from cuescope_sdk import (
    Audit,
    Context,
    Frame,
    Outcome,
    Request,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.cues import Cue, Embedded, Origin, Shown, make_cue
from cuescope_sdk.statistics import Roc
from cuescope_sdk.stills import Answers

CUES = ("background", "object", "attribute")
FRESH = 12_000
CLIPS = 4_000  # of a draw, from which audits take some
SIZES = (400, 800)
TRAINED = 400  # pairs that a head learns from
STRENGTH = 0.9  # of the fruit that it learns from, the share with a tag
BOXES = 1  # seeds for which CLIP looks at a drawn region: a minute of one core each
Edges = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class World:
    """Samples with the model's answers, who shows the cue, and the true change of each label."""

    audit: Audit
    data: Embedded
    shows: Bool[np.ndarray, " sample"]
    truth: Float[np.ndarray, " label"]
    # a sample with the cue and the region of it
    box: tuple[str, Edges] | None

    @property
    def changes(self) -> Float[np.ndarray, " label"]:
        """Accuracy with the cue less that without, as observed."""
        correct = np.array([outcome.correct() for outcome in self.data.outcomes])
        return np.array(
            [
                correct[mine & self.shows].mean() - correct[mine & ~self.shows].mean()
                for mine in (
                    self.data.label == code for code in range(len(self.data.labels))
                )
            ]
        )

    def clicks(self, count: int, rng: np.random.Generator) -> Clicks:
        """So many samples, half of them with the cue."""
        keys = np.array([sample.key for sample in self.data.samples])
        sides = [
            rng.choice(keys[self.shows == side], count // 2, replace=False).tolist()
            for side in (True, False)
        ]
        return Clicks(*sides)


class Recorded(Audit):
    """An audit whose answers are known."""

    data: Embedded

    def once(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """As in any audit, but for what the model answers."""
        return self.data if function == Embedded.ask else super().once(function, *args)


def recorded(
    outcomes: Sequence[Outcome], labels: tuple[str, ...], respond: Any, seed: int
) -> Recorded:
    """The audit of samples that were answered."""
    audit = Recorded(
        labels=labels,
        options=None,
        respond=respond,
        context=Context(cache=Path(), seed=seed),
        embedder="known",
        samples=tuple(outcome.trial.sample for outcome in outcomes),
    )
    audit.data = Embedded.of(audit, outcomes)
    return audit


def edges_of(there: Bool[np.ndarray, "row col"]) -> Edges:
    """The box around some pixels."""
    rows, cols = (np.flatnonzero(there.any(axis=1 - axis)) for axis in (0, 1))
    return float(cols[0]), float(rows[0]), float(cols[-1] + 1), float(rows[-1] + 1)


# -------------------------------------------------------------------------------------- the toy


@cache
def toy_answers(cue: str, seed: int, count: int) -> tuple[Any, Sequence[Outcome], Any]:
    """The toy's audit, what it answers to a draw, and which samples show the cue."""
    request = Request(method="cue", **toy_request(cue, seed, count))
    runner = Runner(Context(cache=CACHE), CACHE, cache_responses=False)
    session = runner.session(request)
    by_key = {sample.key: sample for sample in session.samples}
    outputs = Answers.outputs
    trials = list(Answers.trials(session.audit.samples_by_key(), outputs))
    outcomes = list(session.audit.respond(trials))
    shows = [
        any(any(flags) for flags in by_key[key].annotations["cues"].values())
        for key in (outcome.trial.sample.key for outcome in outcomes)
    ]
    return session.audit, outcomes, np.array(shows)


@cache
def toy_truth(cue: str) -> Float[np.ndarray, " label"]:
    """The change of each label in fresh clips."""
    audit, outcomes, shows = toy_answers(cue, 100, FRESH)
    of_all = recorded(outcomes, audit.labels, None, 0)
    return World(of_all, of_all.data, shows, np.zeros(0), None).changes


def toy_world(cue: str, n: int, seed: int) -> World:
    """Some clips of a draw."""
    audit, outcomes, shows = toy_answers(cue, 1 + seed, CLIPS)
    chosen = np.random.default_rng([5, n, seed]).permutation(CLIPS)[:n]
    mine = [outcomes[number] for number in chosen]
    known = recorded(mine, audit.labels, audit.respond, seed)
    shown = shows[chosen]
    first = known.data.samples[int(np.flatnonzero(shown)[0])]
    # each cue is something red, and shows in the middle
    middle = np.asarray(first.frames[len(first.frames) // 2].load())
    box = first.key, edges_of(np.asarray((middle == (255, 0, 0)).all(axis=2)))
    return World(known, known.data, shown, toy_truth(cue), box)


# ---------------------------------------------------------------------------- tags in photos


def tag_world(pairs: Pairs, n: int, seed: int) -> World:
    """Photos, a fifth of which have a tag, and a head that leans on it."""
    rng = np.random.default_rng([7, seed])
    order = rng.permutation(len(pairs.label))
    learned, rest = order[:TRAINED], order[TRAINED:]
    model = pairs.head(learned, STRENGTH, rng)
    chosen = rest[:n]
    shows = rng.random(len(chosen)) < TAGGED
    plain, tagged = pictures(len(pairs.label))
    rows = np.where(shows[:, None], pairs.tagged[chosen], pairs.plain[chosen])
    outcomes = []
    for number, (row, has) in enumerate(zip(chosen, shows, strict=True)):
        picture = np.asarray((tagged if has else plain)[row])
        sample = Sample(
            key=f"photo-{number:04d}",
            frames=(Frame.from_array(picture),),
            choices=LABELS,
            label=LABELS[pairs.label[row]],
        )
        logits = model.predict_log_proba(rows[number : number + 1])[0]
        response = Response(logits=logits, embedding=rows[number])
        outcomes.append(Outcome(Trial(sample=sample), response))
    right_with, right_without = (
        model.predict(features[rest]) == pairs.label[rest]
        for features in (pairs.tagged, pairs.plain)
    )
    truth = np.array(
        [
            right_with[mine].mean() - right_without[mine].mean()
            for mine in (pairs.label[rest] == code for code in range(len(LABELS)))
        ]
    )
    known = recorded(outcomes, LABELS, see, seed)
    box = None
    if seed < BOXES:
        first = int(np.flatnonzero(shows)[0])
        there = np.asarray(tagged[chosen[first]]) != np.asarray(plain[chosen[first]])
        box = known.data.samples[first].key, edges_of(there.any(axis=2))
    return World(known, known.data, shows, truth, box)


@cache
def tower() -> Any:
    """CLIP's image tower."""
    from transformers import CLIPVisionModelWithProjection

    folder = assets() / "clip-vit-b16-vision"
    return CLIPVisionModelWithProjection.from_pretrained(folder).eval()


def see(trials: Sequence[Trial]) -> list[Outcome]:
    """What CLIP makes of new pictures."""
    import torch

    outcomes = []
    for trial in trials:
        pixels = np.asarray(trial.sample.frames[0].load(), np.float32) / 255
        pixels = ((pixels - MEAN) / SPREAD).transpose(2, 0, 1)[None]
        with torch.inference_mode():
            row = tower()(pixel_values=torch.from_numpy(pixels)).image_embeds.numpy()
        outcomes.append(Outcome(trial, Response(embedding=row[0])))
    return outcomes


# ----------------------------------------------------------------------------------- the table


def ways(world: World, seed: int) -> Iterator[tuple[str, Callable[[], Cue]]]:
    """The ways of giving the cue."""
    making = Making(world.audit, world.data)
    ten = world.clicks(10, np.random.default_rng([11, seed]))
    forty = world.clicks(40, np.random.default_rng([12, seed]))
    yield "ten samples choose", lambda: making.of_clicks(ten)[0]
    for name, clicks in (("ten samples", ten), ("forty samples", forty)):
        yield f"{name} begin", partial(begun, world, clicks)
    if world.box is not None:
        key, edges = world.box
        yield "a region", lambda: making.of_box(edges, key)


def begun(world: World, clicks: Clicks) -> Cue:
    """A cue of the samples alone."""
    shows = np.full(len(world.data.samples), -1)
    for side, keys in ((1, clicks.shown), (0, clicks.others)):
        shows[world.data.listed(keys)] = side
    rng = world.audit.rng("begun")
    origin = Origin("cue", "samples")
    return make_cue(world.data, "known", Shown.told_of(shows), rng, origin)


def graded(world: World, cue: Cue) -> dict[str, Any]:
    """How well a cue is recognised in what nobody marked, and its effects beside the truth."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "given.cue"
        cue.save(file)
        [measured] = analyse(world.audit, CueOptions(cue=(file,))).cues
    found = measured.recognition
    left = ~found.told
    roc = Roc(found.log_odds[left], world.shows[left])
    effects = measured.effects
    assert effects is not None
    low, high = effects.interval(0.95)
    expected = np.bincount(world.data.label, found.probability, len(low))
    rows = [
        {
            "value": float(effects.value[code]),
            "low": float(low[code]),
            "high": float(high[code]),
            "truth": float(world.truth[code]),
        }
        for code in range(len(low))
        if expected[code] >= 0.5 and np.isfinite(world.truth[code])
    ]
    return {"auroc": roc.auroc(world.data.label[left]), "rows": rows}


def main() -> None:
    """Print a row for each world, size and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tags", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    pairs = Pairs.read(asked.tags) if asked.tags else None
    cells: dict[tuple[str, int, str], list[dict[str, Any]]] = defaultdict(list)
    console = Console(width=120)
    for seed in range(asked.seeds):
        for n in SIZES:
            worlds = [
                ("moving-shapes", partial(toy_world, cue, n, seed)) for cue in CUES
            ]
            if pairs is not None:
                worlds = [("price tag, CLIP", partial(tag_world, pairs, n, seed))]
            for name, draw in worlds:
                world = draw()
                for way, make in ways(world, seed):
                    cells[name, n, way].append(graded(world, make()))
        toy_answers.cache_clear()
        console.print(table_of(cells))


def table_of(cells: dict[tuple[str, int, str], list[dict[str, Any]]]) -> Table:
    """All cells."""
    table = Table(title="A given cue beside the truth")
    for column in (
        "world",
        "n",
        "given by",
        "cues",
        "AUROC",
        "rows",
        "inside",
        "error",
    ):
        table.add_column(column, justify="right")
    for (world, n, way), results in sorted(cells.items()):
        rows = [row for result in results for row in result["rows"]]
        held = sum(row["low"] <= row["truth"] <= row["high"] for row in rows)
        errors = [abs(row["value"] - row["truth"]) for row in rows]
        table.add_row(
            world,
            f"{n:,}",
            way,
            str(len(results)),
            f"{np.mean([result['auroc'] for result in results]):.2f}",
            str(len(rows)),
            f"{held} ({held / max(len(rows), 1):.0%})",
            f"{100 * np.mean(errors):.0f}" if rows else "-",
        )
    return table


if __name__ == "__main__":
    main()
