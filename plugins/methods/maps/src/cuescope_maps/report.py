"""The rows of the report, its sentences, tables and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_maps.options import CONTROLS, MapsOptions
from cuescope_maps.prior import Prior, sentence
from cuescope_maps.proof import Tested
from cuescope_maps.trials import Map, draw_maps
from cuescope_sdk import (
    Audit,
    Cell,
    Feature,
    Finding,
    Impact,
    Occurrence,
    Row,
    Score,
    Table,
)
from cuescope_sdk.report import shares_row
from cuescope_sdk.statistics import (
    DoseResponse,
    Estimate,
    Groups,
    Shift,
    Verdict,
    decide,
    dose_response,
)

NOT_SHOWN = "not shown to matter"
ANSWERS = 5  # rows of a finding: the screen has 30 lines
NEXT_STEP = (
    "Compare with other explainers: -O explainers=greedy,occlusion,rise,shapley,random."
)
CLAIMS: dict[Verdict, str] = {
    "cause": "{feature} cause the answer",
    "not a cause": "{feature} do no more than equal regions elsewhere",
    "inconclusive": f"{{feature}}: {NOT_SHOWN}",
}


@dataclass(frozen=True, eq=False)
class Result:
    """All regions that one explainer claims, which of them hold, and what they do together."""

    explainer: str
    tested: Sequence[Tested]
    held: Sequence[bool]
    posterior: DoseResponse
    verdict: Verdict
    error: float | None

    @property
    def means(self) -> tuple[float, float, float]:
        """Mean probability as it is, without the region, and without a control."""
        return means_of(self.tested)

    @property
    def share_held(self) -> Estimate[float]:
        """The share of its maps that hold."""
        held = np.array(self.held, dtype=np.float64)
        samples = [one.claim.map.target.sample for one in self.tested]
        return Estimate.of_mean(held, Groups.of(samples))


def means_of(tested: Sequence[Tested]) -> tuple[float, float, float]:
    """Mean probability as it is, without the region, and without a control."""
    intact = np.mean([one.claim.map.intact for one in tested])
    removed, control = np.mean([one.removed for one in tested], axis=0)
    return float(intact), float(removed), float(control)


def features(audit: Audit, options: MapsOptions) -> Iterator[Feature]:
    """One an explainer: its regions, the surest answers first."""
    drawn = audit.once(draw_maps, audit, options)
    for explainer in options.explainers:
        own = [one for one in drawn if one.explainer == explainer]
        occurrences = sorted(
            map(occurrence_of, own), key=lambda each: (-each.strength, each.sample)
        )
        yield Feature(
            key=explainer,
            kind="regions",
            name=f"the regions that {explainer} outlines",
            occurrences=tuple(occurrences),
        )


def occurrence_of(one: Map) -> Occurrence:
    """The box round a region, in the frame that has most of it."""
    cells = one.region.reshape(one.grid.shape)
    frame = int(cells.sum(axis=(1, 2)).argmax())
    rows, cols = np.nonzero(cells[frame])
    width, height = one.target.sample.frames[frame].load().size
    # as masks of pixels are cut: the first pixel of a cell is rounded up
    x0, x1 = (
        -(-edge * width // one.grid.cols) for edge in (cols.min(), cols.max() + 1)
    )
    y0, y1 = (
        -(-edge * height // one.grid.rows) for edge in (rows.min(), rows.max() + 1)
    )
    return Occurrence(
        sample=one.target.sample.key,
        frame=frame,
        region=(float(x0), float(y0), float(x1), float(y1)),
        strength=one.intact,
    )


def results(
    audit: Audit, options: MapsOptions, tested: Sequence[Tested]
) -> list[Result]:
    """One an explainer, causes first, by their effect; for `audit.once`."""
    groups: dict[str, list[Tested]] = {}
    for one in tested:
        groups.setdefault(one.claim.map.explainer, []).append(one)
    posteriors = []
    with audit.context.progress("weighing the evidence", len(groups)) as advance:
        for explainer, group in groups.items():
            rng = audit.rng("effect", explainer)
            posteriors.append(dose_response(_shifts(group), rng))
            advance(1)
    above = [posterior.above(options.margin) for posterior in posteriors]
    verdicts = decide(above, 1 - options.confidence)
    made = []
    for (explainer, group), posterior, (verdict, error) in zip(
        groups.items(), posteriors, verdicts, strict=True
    ):
        held = [one.proof.above(options.margin) >= options.confidence for one in group]
        made.append(Result(explainer, group, held, posterior, verdict, error))
    return sorted(
        made, key=lambda each: (each.verdict != "cause", -each.posterior.effect.value)
    )


def _shifts(tested: Sequence[Tested]) -> list[Shift]:
    """What each way did to the region, and to the controls, over samples."""
    shifts = []
    ways = dict.fromkeys(name for one in tested for name in one.names)
    for way in ways:
        moved = []
        control = []
        groups = []
        for one in tested:
            if way not in one.names:
                continue
            row = one.names.index(way)
            sample = one.claim.map.target.sample
            moved.append(one.proof.moved[row])
            control.append(one.proof.control[row])
            groups.append(sample.group or sample.key)
        shifts.append(Shift([way], way, np.array(moved), groups, dose=1.0))
        shifts.append(Shift([way], way, np.array(control), groups))
    return shifts


def scores(
    audit: Audit, made: Sequence[Result], rows: Sequence[Prior]
) -> Iterator[Score]:
    """The effect of each explainer's regions, and the share of its maps that holds."""
    margin = audit.options.margin
    for result in made:
        audit.note(f"maps of {result.explainer} that hold", share_words(result))
    audit.note("language prior", sentence(rows, margin))
    audit.note("next step", NEXT_STEP)
    for one in (one for result in made for one in result.tested):
        sample, explainer = one.claim.map.target.sample, one.claim.map.explainer
        audit.record(sample, explainer, "effect", one.proof.effect)
        audit.record(sample, explainer, "probability", one.proof.above(margin))
    for result in made:
        effect = result.posterior.effect
        about: dict[str, Any] = {
            "feature": result.explainer,
            "label": None,
            "n": len(result.tested),
        }
        yield Score(
            **about,
            metric="effect",
            value=effect.value,
            low=effect.low,
            high=effect.high,
            q_value=result.error,
            finding=result.verdict == "cause",
            always_reported=True,
            statement=statement(result),
        )
        share = result.share_held
        yield Score(
            **about, metric="held", value=share.value, low=share.low, high=share.high
        )
    audit.attach_each(
        {
            "table of explainers": lambda: explainers_table(audit, made),
            "table of interventions": lambda: ways_table(made),
            "table of the language prior": lambda: prior_table(rows, margin),
        }
    )


def share_words(result: Result) -> str:
    """How many maps hold, with the interval of their share."""
    share = result.share_held
    return (
        f"{sum(result.held)} of {len(result.held)}, {share.value:.0%} ({share.low:.0%} to "
        f"{share.high:.0%}); the others are {NOT_SHOWN}"
    )


def statement(result: Result) -> str:
    """How many regions hold, and what taking them out does."""
    intact, removed, control = result.means
    ending = "." if result.verdict == "cause" else f": {NOT_SHOWN}."
    return (
        f"{{feature}}: {sum(result.held)} of {len(result.held)} hold. The answer has probability "
        f"{intact:.2f}, {removed:.2f} without the region, {control:.2f} without an equal region "
        f"elsewhere{ending}"
    )


def findings(made: Sequence[Result]) -> Iterator[Finding]:
    """A finding an explainer: all answers together, then the commonest."""
    for result in made:
        _, removed, control = result.means
        effect = result.posterior.effect
        taken_out = Estimate(-effect.value, -effect.high, -effect.low)
        first = shares_row(
            "all answers", control, removed, taken_out, n=len(result.tested)
        )
        yield Finding(
            feature=result.explainer,
            claim=CLAIMS[result.verdict],
            measure="probability of the answer",
            columns=("control out", "region out"),
            rows=(first, *_rows_of_answers(result)),
            impact=Impact(
                count=sum(result.held),
                total=len(result.held),
                of="maps",
                detail="the region does more than equal regions elsewhere",
            ),
            status="used" if result.verdict == "cause" else result.verdict,
        )


def _rows_of_answers(result: Result) -> Iterator[Row]:
    """The answers that several samples have, the commonest first."""
    answers: dict[str, list[Tested]] = {}
    for one in result.tested:
        answers.setdefault(one.claim.map.target.words_explained, []).append(one)
    common = sorted(answers.items(), key=lambda item: (-len(item[1]), item[0]))
    for answer, group in common[:ANSWERS]:
        if len(group) > 1:
            _, removed, control = means_of(group)
            row = shares_row(f'"{answer}"', control, removed, None, n=len(group))
            # a feature of its own: the score is of all answers
            about = f"{result.explainer}: {answer}"
            yield row.model_copy(update={"feature": about})


def explainers_table(audit: Audit, made: Sequence[Result]) -> Table:
    """One row an explainer: the share of its maps that hold, and how good its order is."""
    drawn = audit.once(draw_maps, audit, audit.options)
    rows: list[tuple[Cell, ...]] = []
    for result in made:
        share = result.share_held
        own = [one for one in drawn if one.explainer == result.explainer]
        percents = [
            *(share.value, share.low, share.high),
            np.mean([one.region.mean() for one in own]),
            np.mean([one.insertion for one in own]),
            np.mean([one.deletion for one in own]),
        ]
        calls = float(np.mean([one.calls for one in own]))
        cells = [100 * float(value) for value in percents]
        rows.append((result.explainer, len(result.held), *cells, calls))
    columns = ("explainer", "maps", "hold %", "low", "high", "area %")
    return Table.of(
        "Maps that hold, of each explainer",
        (*columns, "insertion", "deletion", "calls a map"),
        rows,
        "A map holds if its region moves the answer's probability by more than the margin beyond "
        f"equal regions elsewhere ({', '.join(CONTROLS)}), by all interventions. Insertion (higher "
        "is better) and deletion (lower) are areas under the curves of the answer's probability.",
    )


def ways_table(made: Sequence[Result]) -> Table:
    """What each intervention did to the regions, and to their controls, %."""
    rows: list[tuple[Cell, ...]] = []
    for result in made:
        for way in dict.fromkeys(name for one in result.tested for name in one.names):
            figures = []
            for one in result.tested:
                if way in one.names:
                    row = one.names.index(way)
                    control = one.controls[row].mean()
                    figures.append((one.before[row], one.changed[row], control))
            means = 100 * np.mean(figures, axis=0)
            rows.append((result.explainer, way, len(figures), *means.tolist()))
    return Table.of(
        "Interventions: probability of the answer, %",
        ("explainer", "intervention", "maps", "before", "region", "control"),
        rows,
    )


def prior_table(rows: Sequence[Prior], margin: float) -> Table:
    """Probability of each answer or word with its picture, with another, and with none."""
    cells: list[tuple[Cell, ...]] = []
    for row in rows[:20]:
        needs = "no" if row.needs_no_picture(margin) else "yes or unknown"
        cells.append((row.name, len(row.right), *(100 * p for p in row.means()), needs))
    columns = ("answer or word", "samples", "with its picture", "another", "none")
    return Table.of(
        "Language prior: probability of the answer, %",
        (*columns, "needs a picture"),
        cells,
    )
