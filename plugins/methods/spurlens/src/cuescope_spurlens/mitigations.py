"""Ways of asking that may help against spurious cues (section 6.2), compared as in table 4.

A strategy of your own is one more entry of `STRATEGIES`, and then an option by its name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Cell, Output, Sample, Table, Trial
from cuescope_spurlens.asking import Key, heard, key_of, questions, trial, unique, with_article
from cuescope_spurlens.cases import Study
from cuescope_spurlens.paper import MITIGATION_ROWS, mitigation_rows
from cuescope_spurlens.removing import blank
from cuescope_spurlens.scoring import Heard, Scored
from cuescope_spurlens.studying import module_of

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

DESCRIBE = "Describe this image: what is in it, and where?"
LONGEST = 800  # characters of a description
Words = Mapping[str, str]  # by frames: what the model said of the image


@dataclass(frozen=True)
class About:
    """What a strategy may tell the model: the class, its cues, and what it said of the image."""

    label: str
    cues: Sequence[str]
    strongest: str
    description: str = ""


@dataclass(frozen=True)
class Strategy:
    """How a question is put; `votes` takes the majority, `describes` asks for a description first.

    The words are ours.
    """

    put: Callable[[str, About], str] = lambda question, about: question
    votes: bool = False
    describes: bool = False


def _guided(question: str, about: About) -> str:
    return (
        f"Look for the parts that make up {with_article(about.label)}. What usually stands around "
        f"it may mislead you; judge by the object alone. {question}"
    )


def _warned(question: str, about: About, cues: Sequence[str]) -> str:
    return (
        f"{', '.join(cues)}: these often go with {with_article(about.label)}, but do not prove "
        f"that it is there. Judge by the object alone. {question}"
    )


STRATEGIES: dict[str, Strategy] = {
    "ensemble": Strategy(votes=True),
    "dual": Strategy(lambda q, a: f"You said of this image: {a.description}\n{q}", describes=True),
    "guiding": Strategy(_guided),
    "spurious-list": Strategy(lambda question, about: _warned(question, about, about.cues)),
    "spurious-top": Strategy(lambda question, about: _warned(question, about, [about.strongest])),
}


def compare(audit: Audit, options: "SpurLens.Options", study: Study, heard_before: Heard) -> None:
    """A table of the strategies, over the images of each class's strongest cue."""
    cases = [one for one in heard_before.cases if not one.case.is_changed]
    chosen = {"baseline": Strategy(), **{name: STRATEGIES[name] for name in options.mitigation}}
    if "text" not in audit.capabilities.outputs:
        described = [name for name, strategy in chosen.items() if strategy.describes]
        chosen = {name: strategy for name, strategy in chosen.items() if name not in described}
        if described:
            audit.note("mitigation", f"without {', '.join(described)}: the model writes no text")
    columns = {n: _column(audit, strategy, study, cases) for n, strategy in chosen.items()}
    rows: list[dict[str, Cell]] = [
        {"metric": metric, **{name: column.get(metric) for name, column in columns.items()}}
        for metric in MITIGATION_ROWS
        if any(metric in column for column in columns.values())
    ]
    known = tuple(
        {name: cell for name, cell in row.items() if name in ("metric", *columns)}
        for row in mitigation_rows(module_of(audit.context.dataset), options.beside)
    )
    audit.attach(
        Table(
            title="Other ways of asking", columns=("metric", *columns), rows=tuple(rows),
            paper=known, notes=(
                "Percent of yes, mean over the classes, in the images that show the strongest cue "
                "most and least. spurious-top knows what was found in these very images.",
                *([f"In brackets: the paper's {options.beside} on HardImageNet (PA) and Spurious "
                   "ImageNet (HR)."] if known else []),
            ),
        )
    )  # fmt: skip


def _column(
    audit: Audit, strategy: Strategy, study: Study, cases: Sequence[Scored]
) -> dict[str, float]:
    """Percent of yes by metric."""
    samples = [_samples(one) for one in cases]
    flat = [sample for of_case in samples for group in of_case for sample in group]
    words = _described(audit, flat) if strategy.describes else {}
    asked = [
        [[_questions(strategy, study, one, s, words) for s in group] for group in of_case]
        for one, of_case in zip(cases, samples, strict=True)
    ]
    every = (t for of_case in asked for group in of_case for row in group for t in row)
    answers = heard(audit.respond(unique(every)))
    found: dict[str, list[float]] = {}
    for one, of_case in zip(cases, asked, strict=True):
        kind = "PA" if one.case.task == "recognition" else "HR"
        for what, group in zip(("with the cue", "without", "blank"), of_case, strict=True):
            if not (kind == "PA" and what == "blank"):
                rates = [_rate(row, answers, strategy.votes) for row in group]
                found.setdefault(f"{kind} {what}", []).append(100 * float(np.mean(rates)))
    return {metric: float(np.mean(values)) for metric, values in found.items()}


def _samples(one: Scored) -> tuple[list[Sample], list[Sample], list[Sample]]:
    """The images that show the strongest cue most, those that show it least, and a black one."""
    case, cue = one.case, one.strongest
    top, bottom = ([case.samples[row] for row in p[cue].tolist()] for p in (case.top, case.bottom))
    return top, bottom, [blank(case.samples[0])]


def _questions(
    strategy: Strategy, study: Study, one: Scored, sample: Sample, words: Words
) -> list[Trial]:
    label = one.case.label
    about = About(label, study.cues[label], one.cue, words.get(_frames(sample), ""))
    asks = [strategy.put(ask, about) for ask in questions(study.wordings, label)]
    return [trial(sample, ask, study.output, condition="mitigation") for ask in asks]


def _rate(row: Sequence[Trial], answers: Mapping[Key, bool | None], votes: bool) -> float:
    yes = float(np.mean([answers[key_of(one)] is True for one in row]))
    return float(yes > 0.5) if votes else yes


def _described(audit: Audit, samples: Sequence[Sample]) -> dict[str, str]:
    """What the model says of each image, in one line."""
    distinct = {_frames(sample): sample for sample in samples}
    asked = [
        Sample(key=f"{sample.key}/described", frames=sample.frames, question=DESCRIBE)
        for sample in distinct.values()
    ]
    wanted = frozenset[Output]({"text"})
    outcomes = audit.respond(
        Trial(sample=one, condition="description", outputs=wanted) for one in asked
    )
    return {
        key: shorten(one.response.text or "", LONGEST, placeholder=" ...")
        for key, one in zip(distinct, outcomes, strict=True)
    }


def _frames(sample: Sample) -> str:
    return "|".join(frame.key for frame in sample.frames)
