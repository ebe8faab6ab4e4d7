"""The lines of the ranked table: what each is about, its figures, and what they prove."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit
from cuescope_sdk.grounding import ClaimKind
from cuescope_sdk.maths import exceeds_rate_p_value
from cuescope_step_grounding.chance import (
    exchanged_p_value,
    mean_above_p_value,
    mean_interval,
    share_interval,
)
from cuescope_step_grounding.measuring import (
    Findings,
    MeasuredTrace,
    existence,
    known,
    named,
    random_rates,
    restricted,
)
from cuescope_step_grounding.metrics import STAGES, Stage, Step, staged
from cuescope_step_grounding.perturbing import RELEVANT
from cuescope_step_grounding.reliance import Reliance
from cuescope_step_grounding.saying import Figure, percent, plain, points, share, unmeasured

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

SGR, TCS, HR, VRS, ACC = (
    "step_grounding_rate", "consistency", "hallucination", "reliance", "accuracy",
)  # fmt: skip
REASONING, ANSWERS, VIDEO = "reasoning", "answers", "video"
KINDS: dict[ClaimKind, str] = {
    "entity": "What is on screen", "attribute": "How things look", "action": "What happens",
    "relation": "Where things are", "temporal": "In which order",
    "ego-motion": "How the camera moves",
}  # fmt: skip
NAMED = "named: "
BETTER, NO_BETTER, OPEN = "better than random", "no better than random", "open"  # verdicts
TOLERATED = 0.1  # share of a detector's own errors: 2 to 8 % in the paper (section 6)


@dataclass(frozen=True)
class Row:
    """One line. `p_value` is of the test behind `statement`, which is told where it is `large`.

    `verdict` is that on the reasoning as a whole, which is told whatever it is.
    """

    feature: str
    n: int
    figures: dict[str, Figure] = field(default_factory=dict)
    statement: str | None = None
    p_value: float | None = None
    large: bool = False
    verdict: str | None = None

    @property
    def is_thing(self) -> bool:
        """Whether it is about one thing that is named."""
        return self.feature.startswith(NAMED)


class Rows:
    """The lines of one audit, each drawn from its own generator."""

    def __init__(self, audit: Audit, options: "StepGrounding.Options", found: Findings) -> None:
        self.audit, self.options, self.found = audit, options, found

    def figure(self, values: Iterable[float | None], *names: str) -> Figure | None:
        """The mean of what is known, over samples; None where nothing is."""
        there = known(list(values))
        if not there:
            return None
        low, high = mean_interval(
            there, self.audit.rng("interval", *names),
            confidence=self.options.confidence, resamples=self.options.resamples,
        )  # fmt: skip
        return Figure(float(np.mean(there)), low, high)

    def figures(self, of: Sequence[MeasuredTrace], feature: str) -> dict[str, Figure]:
        """SGR and HR of some traces."""
        found = {
            SGR: self.figure((one.grounding for one in of), feature, SGR),
            HR: self.figure((one.hallucination for one in of), feature, HR),
        }
        return {name: figure for name, figure in found.items() if figure is not None}

    # ------------------------------------------------------------------------ the verdict

    def reasoning(self, reliance: Reliance | None) -> Row:
        """All steps together, against random ones."""
        plain, answered = self.found.plain, self.found.answered
        figures = self.figures(answered, REASONING)
        more = {
            TCS: self.figure((one.consistency for one in plain), TCS),
            ACC: self.figure((_float(one.reasoning.right) for one in plain), ACC),
            VRS: _reliance(reliance),
        }
        figures |= {name: figure for name, figure in more.items() if figure is not None}
        if SGR not in figures:
            why = unmeasured(self.audit, self.found)
            return Row(REASONING, 0, figures, f"{{feature}}: {why}.")
        against = [
            (one.grounding or 0.0, rates)
            for place, one in enumerate(plain)
            if one.grounding is not None and (rates := random_rates(self.found, place)) is not None
        ]
        held = f"of what a step claims, {share(figures[SGR])} is supported on average"
        if not against:
            said = f"{{feature}}: {held}."
            return Row(REASONING, len(answered), figures, said, verdict=OPEN)
        own = np.array([rate for rate, _ in against])
        random = np.stack([rates for _, rates in against])
        better = exchanged_p_value(own, random, self.audit.rng("against random"))
        beyond = own - random.mean(axis=1)
        same = mean_above_p_value(self.options.margin - beyond, self.audit.rng("as random"))
        held += f", of random steps {percent(random.mean())}"
        wrong = f"{share(figures[HR])} of the steps claim something that has no support"
        verdict, p_value = OPEN, better
        said = f"{{feature}}: these samples do not tell whether it is better than random: {held}."
        if better <= self.options.level:
            verdict, said = BETTER, f"{{feature}} is better than random: {held}; {wrong}."
        elif same <= self.options.level:
            verdict, said = NO_BETTER, f"{{feature}} is no better than random: {held}."
            p_value = same
        return Row(REASONING, len(answered), figures, said, p_value, verdict=verdict)

    # ------------------------------------------------------------------------ parts of it

    def kinds(self) -> Iterator[Row]:
        """The claims of each kind that is made."""
        for kind in KINDS:
            of = [restricted(one, kind, self.found.verdicts) for one in self.found.plain]
            answered = [one for one in of if one.grounding is not None]
            if answered:
                yield Row(kind_key(kind), len(answered), self.figures(answered, kind))

    def stages(self) -> Iterator[Row]:
        """Early, middle and late steps; what is lost on the way is told of the late ones."""
        rates = {
            stage: [staged(one.steps, stage, self.options.unverifiable) for one in self.found.plain]
            for stage in STAGES
        }
        for stage, of in rates.items():
            sgr = self.figure((rate for rate, _ in of), stage, SGR)
            hr = self.figure((rate for _, rate in of), stage, HR)
            if sgr is None or hr is None:
                continue
            n = len(known([rate for rate, _ in of]))
            if stage != "late":
                yield Row(stage_key(stage), n, {SGR: sgr, HR: hr})
                continue
            pairs = [
                (one[0], two[0]) for one, two in zip(rates["early"], of, strict=True)
                if one[0] is not None and two[0] is not None
            ]  # fmt: skip
            yield self._late(n, {SGR: sgr, HR: hr}, pairs)

    def _late(
        self, n: int, figures: dict[str, Figure], pairs: Sequence[tuple[float, float]]
    ) -> Row:
        lost = np.array([early - late for early, late in pairs])
        fell = self.figure(lost.tolist(), "decay")
        if fell is None:
            return Row(stage_key("late"), n, figures)
        early, late = (float(np.mean([pair[side] for pair in pairs])) for side in (0, 1))
        said = (
            f"{{feature}}: support falls from {percent(early)} of the claims in the first quarter "
            f"of the steps to {percent(late)} in the last, by {points(fell)}."
        )
        p_value = mean_above_p_value(lost, self.audit.rng("decay"))
        return Row(stage_key("late"), n, figures, said, p_value, fell.value > self.options.margin)

    def answers(self) -> Row | None:
        """Right answers, and what the steps before them are worth; None where none is known."""
        judged = [one for one in self.found.answered if one.reasoning.right is not None]
        right = [one for one in judged if one.reasoning.right]
        figures = self.figures(right, ANSWERS)
        accuracy = self.figure((_float(one.reasoning.right) for one in judged), ANSWERS, ACC)
        if SGR not in figures or accuracy is None:
            return None
        gap = np.array(
            [float(bool(one.reasoning.right)) - (one.grounding or 0.0) for one in judged]
        )
        said = (
            f"{{feature}}: {share(accuracy)} of the answers are right, yet of what the steps "
            f"before a right answer claim, {percent(1 - figures[SGR].value)} has no support."
        )
        p_value = mean_above_p_value(gap, self.audit.rng("answers"))
        large = float(gap.mean()) > self.options.margin
        return Row(ANSWERS, len(right), figures | {ACC: accuracy}, said, p_value, large)

    # ------------------------------------------------------------- changed videos, and things

    def video(self, reliance: Reliance, grounded: bool) -> Row | None:
        """What changed videos cost; told where it is nothing, and there was something to lose."""
        lost = reliance.drops[:, 0]
        fell = self.figure(lost.tolist(), VIDEO)
        score = _reliance(reliance)
        if fell is None or score is None:
            return None
        changed = (one for one in self.found.variants if one.reasoning.asked_for.change in RELEVANT)
        sgr = self.figure((one.grounding for one in changed), VIDEO, SGR)
        said = (
            "{feature}: the reasoning does not change when the video does. With its things moved "
            f"or hidden or its frames in another order, support changes by {points(fell)} "
            f"(VRS {plain(score)})."
        )
        p_value = mean_above_p_value(self.options.margin - lost, self.audit.rng(VIDEO))
        figures = {VRS: score} | ({SGR: sgr} if sgr else {})
        return Row(VIDEO, len(lost), figures, said, p_value, grounded and score.value < 1)

    def things(self, names: Sequence[str]) -> Iterator[Row]:
        """What is named, by how many of the traces that name it do so of a video without it."""
        for name in names:
            said = [
                self.found.verdicts.of(one.reasoning.sample, existence(name)).verdict
                for one in self.found.plain if name in named(one.reasoning.claims)
            ]  # fmt: skip
            never, n = said.count("unsupported"), len(said) - said.count("unverifiable")
            if not n:
                continue
            low, high = share_interval(n - never, n, self.options.confidence)
            statement = (
                f"{{feature}}: named in {n} traces, of which {never} are of videos that never "
                "show it."
            )
            yield Row(
                thing_key(name), n, {SGR: Figure((n - never) / n, low, high)}, statement,
                exceeds_rate_p_value(never, n, TOLERATED), never / n > TOLERATED,
            )  # fmt: skip


def kind_key(kind: str) -> str:
    """The feature of a kind of claim."""
    return f"claims: {kind}"


def stage_key(stage: Stage) -> str:
    """The feature of a stage."""
    return f"steps: {stage}"


def thing_key(name: str) -> str:
    """The feature of a thing that is named."""
    return f"{NAMED}{name}"


def total(steps: Iterable[Step]) -> Step:
    """All claims together."""
    listed = list(steps)
    return Step(
        sum(s.supported for s in listed), sum(s.unsupported for s in listed),
        sum(s.unverifiable for s in listed),
    )  # fmt: skip


def _reliance(reliance: Reliance | None) -> Figure | None:
    if reliance is None or reliance.score is None:
        return None
    return Figure(reliance.score, *(reliance.interval or (None, None)))


def _float(right: bool | None) -> float | None:
    return None if right is None else float(right)
