"""The loop: names, what becomes of them in known samples, and more names by that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Self

import numpy as np

from cuescope_hypotheses.options import HypothesesOptions
from cuescope_hypotheses.recognition import Answers, Points, Shown, concept_scores
from cuescope_sdk import Audit, Sample, Table, TakesResults
from cuescope_sdk.association import Candidate, Known
from cuescope_sdk.cues import text_directions
from cuescope_sdk.maths import normalise
from cuescope_sdk.report import count_of

TABLE = "What was named"


@dataclass(frozen=True)
class Hypothesis:
    """A thing that was named, in which round (0: a concept), and who shows it."""

    name: str
    number: int
    shown: Shown


@dataclass(eq=False)
class Rounds:
    """The samples, and what has been named so far, by name."""

    audit: Audit
    options: HypothesesOptions
    samples: Sequence[Sample]
    points: Points
    answers: Answers
    seed: int
    tried: dict[str, Hypothesis] = field(default_factory=dict)

    @classmethod
    def of(cls, audit: Audit, known: Known, options: HypothesesOptions) -> Self:
        """Take the samples, their embeddings and the answers that are known."""
        numbers = {label: number for number, label in enumerate(audit.labels)}
        answers = Answers(
            np.array([numbers[label] for label in known.labels.tolist()]),
            np.array([numbers.get(str(answer), -1) for answer in known.answers]),
            ~np.isnan(known.wrong),
            len(numbers),
        )
        points = normalise(known.seen).astype(np.float64)
        seed = int(known.rng.integers(2**32))
        return cls(audit, options, known.samples, points, answers, seed)

    def search(self) -> Iterator[Candidate]:
        """Yield what was named or learned, the strongest first."""
        for number in range(1, self.options.rounds + 1):
            names = self._names(number)
            if not names:
                break
            self._recognise(names, number)
        self._learn_concepts()
        ordered = sorted(self.tried.values(), key=lambda each: -each.shown.strength)
        self._report(ordered)
        for each in ordered:
            yield each.name, None, each.shown.probability

    def _names(self, number: int) -> list[str]:
        """New names for each label by turns, as many as are left, shared by the rounds to come."""
        proposer = self.audit.tools["proposer"]
        told = {name: each.shown.strength for name, each in self.tried.items()}
        goes_on = isinstance(proposer, TakesResults)
        if number == 1:
            lists = [proposer.propose(label) for label in self.audit.labels]
        elif goes_on:
            lists = [proposer.propose_more(label, told) for label in self.audit.labels]
        else:
            return []
        # a label is no cue, of itself or of another
        known = told.keys() | set(self.audit.labels)
        names = dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*lists))))
        left = self.options.most - len(told)
        rounds = self.options.rounds - number + 1 if goes_on else 1
        return [name for name in names if name not in known][: -(-left // rounds)]

    def _recognise(self, names: Sequence[str], number: int) -> None:
        labels = self.audit.labels
        directions = text_directions(self.audit, self.samples[0], names, labels)
        for name, score in zip(names, directions @ self.points.T, strict=True):
            shown = self.answers.recognise(score)
            if shown is not None:
                self.tried[name] = Hypothesis(name, number, shown)

    def _learn_concepts(self) -> None:
        if not self.options.concepts:
            return
        known = self.answers.known
        scores = concept_scores(
            self.points, self.answers.label, known, self.options.concepts, self.seed
        )
        for number, score in enumerate(scores.T, 1):
            shown = self.answers.recognise(score)
            if shown is not None:
                name = f"concept {number}"
                self.tried[name] = Hypothesis(name, 0, shown)

    def _report(self, ordered: Sequence[Hypothesis]) -> None:
        named = sum(each.number > 0 for each in ordered)
        rounds = max((each.number for each in ordered), default=0)
        self.audit.note(
            "hypotheses",
            f"{count_of(named, 'things')} named in {count_of(rounds, 'rounds')}, "
            f"{count_of(len(ordered) - named, 'concepts')} learned; all count in the correction",
        )
        rows = [
            (
                each.name,
                each.number or None,
                round(each.shown.strength, 1),
                round(float(each.shown.probability.sum())),
            )
            for each in ordered
        ]
        note = (
            "Strength: association with the answer that goes most with it, in standard deviations "
            "under no relation (Mantel, 1963), in the samples that are not for the test. Samples: "
            "how many of all are expected to show it."
        )
        columns = ("thing", "round", "strength", "samples")
        self.audit.attach(Table.of(TABLE, columns, rows, note))
