"""How often QUAG calls a loss *spared*, or says that it *costs*, where it lies at the margin.

python benchmarks/nulls/quag.py --audits 1000

Answers before and after are simulated and judged by QUAG's own `compare`; both words promise 2.5%.
The last table judges as a report does: four types of question, of which one needs the video and
loses the margin under the crossmodal short-circuit, and the others lose nothing. No model is asked.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from cuescope_quag.analysis import part_with_video
from cuescope_quag.measures import Measure
from cuescope_quag.scores import Rule, compare
from cuescope_quag.trials import CROSSMODAL, WITHOUT_VIDEO, Answers, Condition
from cuescope_quag.verdict import State, state
from cuescope_sdk import Sample
from cuescope_sdk.statistics import Groups

CHANCE, RULE, TOGETHER = 25.0, Rule(), 0.7


@dataclass(frozen=True)
class Row:
    """A kind of audit: questions, how many a video has, accuracy, and how many answers are won.

    `lost` is in units of the margin: 1 is the null, 0 a condition that costs nothing.
    """

    questions: int
    per_video: int
    accuracy: float
    won: float = 0.02
    lost: float = 1.0

    @property
    def margin(self) -> float:
        """In percent, of the true accuracy."""
        return max(RULE.drop, RULE.share * (100 * self.accuracy - CHANCE))


def shared(row: Row, rng: np.random.Generator) -> np.ndarray:
    """Uniform numbers, of which most are the same in all questions about a video."""
    videos = -(-row.questions // row.per_video)
    codes = np.repeat(np.arange(videos), row.per_video)[: row.questions]
    own, of_video = rng.random(row.questions), rng.random(videos)[codes]
    return np.where(rng.random(row.questions) < TOGETHER, of_video, own)


def draw(row: Row, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Groups]:
    """Right before, right after, and the videos."""
    before = shared(row, rng) < row.accuracy
    # What is lost less what is won is the margin, exactly, in the mean over all such audits.
    loses = (row.lost * row.margin / 100 + row.won * (1 - row.accuracy)) / row.accuracy
    after = np.where(before, shared(row, rng) >= loses, shared(row, rng) < row.won)
    videos = -(-row.questions // row.per_video)
    codes = np.repeat(np.arange(videos), row.per_video)[: row.questions]
    return before, after, Groups(codes, videos, declared=row.per_video > 1)


def share(row: Row, audits: int) -> tuple[float, float, float]:
    """Of audits the share that says spared, costs, and whose interval holds the true loss."""
    spared, costs, covered = 0, 0, 0
    for seed in range(audits):
        rng = np.random.default_rng(
            [seed, row.questions, row.per_video, int(100 * row.accuracy)]
        )
        before, after, videos = draw(row, rng)
        measure = Measure("accuracy", np.zeros(len(before), int), CHANCE)
        _, (loss,) = compare(before, after[:, None], measure, videos, rng, RULE)
        spared += loss.p_spared <= RULE.level
        costs += loss.p_costs <= RULE.level
        low, high = loss.low or 0.0, loss.high or 0.0
        covered += low <= row.lost * row.margin <= high
    return spared / audits, costs / audits, covered / audits


TYPES = "abcd"


def types_row(per_type: int, accuracy: float, lost: float) -> tuple[list[Sample], Row]:
    """The questions of four types, and what the first of them loses."""
    samples = [
        Sample(
            key=f"{kind}{number}",
            frames=(),
            question="?",
            label="xy"[number % 2],
            group=f"{kind}{number}",
            annotations={"question_type": kind},
        )
        for kind in TYPES
        for number in range(per_type)
    ]
    return samples, Row(per_type, 1, accuracy, lost=lost)


def share_of_types(
    per_type: int, accuracy: float, lost: float, audits: int
) -> tuple[float, float]:
    """Of audits the share that says spared, and costs, of the crossmodal short-circuit."""
    samples, row = types_row(per_type, accuracy, lost)
    keys = (WITHOUT_VIDEO, CROSSMODAL)
    conditions = [Condition(key, key, "modality") for key in keys]
    measure = Measure("accuracy", np.zeros(len(samples), int), CHANCE)
    said: list[State | None] = []
    for seed in range(audits):
        rng = np.random.default_rng([seed, per_type, int(100 * accuracy)])
        before, after, _ = draw(row, rng)
        others = rng.random(3 * per_type) < accuracy
        guessed = rng.random(per_type) < CHANCE / 100
        right = np.stack(
            [np.concatenate([guessed, others]), np.concatenate([after, others])], 1
        )
        plain = np.concatenate([before, others])
        answers = Answers(
            samples, conditions, [], [], plain, right, np.arange(len(samples))
        )
        part = part_with_video(Drawing(seed), RULE, answers, measure)
        losses = part.losses if part is not None else {}
        said.append(state(losses.get(CROSSMODAL), RULE.level))
    return said.count("spared") / audits, said.count("costs") / audits


@dataclass(frozen=True)
class Drawing:
    """What `part_with_video` needs of an audit."""

    seed: int

    def rng(self, *names: str) -> np.random.Generator:
        """Of these names."""
        return np.random.default_rng([self.seed, *map(len, names)])


SIZES = ((100, 1), (400, 1), (1500, 1), (400, 5), (1500, 10))
MARGIN = [Row(*size, accuracy) for size in SIZES for accuracy in (0.4, 0.6, 0.8, 0.95)]
MARGIN += [Row(400, 1, 0.8, won=0.3), Row(1500, 10, 0.8, won=0.3)]
NOTHING = [Row(*size, 0.8, won, lost=0.0) for size in SIZES for won in (0.0, 0.1)]
MUCH = [Row(*size, 0.8, lost=lost) for size in SIZES for lost in (2.0, 3.0)]


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--types", action="store_true", help="the last table alone")
    asked = parser.parse_args()
    count = asked.audits
    if asked.types:
        show_types(count)
        return
    for title, rows, least in (
        ("The loss is the margin: at most 0.025 of either", MARGIN, count),
        ("Nothing is lost: spared as often as can be", NOTHING, max(count // 5, 1)),
        (
            "More than the margin is lost: costs as often as can be",
            MUCH,
            max(count // 5, 1),
        ),
    ):
        show(f"{title} ({least} audits a row)")
        show("spared | costs | interval covers | row")
        for row in rows:
            start = time.perf_counter()
            spared, costs, covered = share(row, least)
            words = f"{row.questions} questions, {row.per_video} a video, accuracy {row.accuracy:g}"
            words += f", {row.won:.0%} of wrong ones won, {row.lost * row.margin:.1f} points lost"
            seconds = time.perf_counter() - start
            show(
                f"{spared:.3f} | {costs:.3f} | {covered:.3f} | {words} ({seconds:.0f} s)"
            )
    show_types(max(count // 2, 1))


def show_types(audits: int) -> None:
    """The verdict's own question, of one type among four."""
    show(
        f"One of four types needs the video, and loses the margin ({audits} audits a row)"
    )
    show("spared | costs | row")
    for per_type, accuracy, lost in (
        (100, 0.8, 1),
        (400, 0.8, 1),
        (400, 0.95, 1),
        (400, 0.8, 0),
    ):
        spared, costs = share_of_types(per_type, accuracy, lost, audits)
        words = (
            f"{per_type} questions a type, accuracy {accuracy:g}, {lost} margins lost"
        )
        show(f"{spared:.3f} | {costs:.3f} | {words}")


def show(line: str) -> None:
    """At once, for the rows take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
