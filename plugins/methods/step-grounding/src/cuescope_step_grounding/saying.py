"""Figures as a report says them, and why there may be none."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuescope_sdk import Audit
from cuescope_sdk.grounding import scene_of
from cuescope_step_grounding.asking import Reasoning, is_recorded

if TYPE_CHECKING:
    from cuescope_step_grounding.measuring import Findings

ADD = "--tool claim-verifier=box-geometry -T claim-verifier.detector=owl"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Figure:
    """A value with its interval; a value that is clipped has none."""

    value: float
    low: float | None = None
    high: float | None = None


def percent(value: float) -> str:
    """A share from 0 to 1; with a decimal where it would else read as none or all.

    >>> percent(0.718), percent(0.998), percent(0.004), percent(0)
    ('72%', '99.8%', '0.4%', '0%')
    """
    return f"{_hundredths(value)}%"


def share(figure: Figure) -> str:
    """A share with its interval.

    >>> share(Figure(0.718, 0.65, 0.771))
    '72% [65, 77]'
    """
    return f"{percent(figure.value)}{_interval(figure, _hundredths)}"


def points(figure: Figure) -> str:
    """A difference of shares, in points, with its interval."""
    return f"{_hundredths(figure.value)} points{_interval(figure, _hundredths)}"


def plain(figure: Figure) -> str:
    """A ratio with its interval."""
    return f"{figure.value:.2f}{_interval(figure, '{:.2f}'.format)}"


def unmeasured(audit: Audit, found: "Findings") -> str:
    """Why no claim is supported or unsupported, and what would help."""
    traces = [one.reasoning for one in found.plain]
    written = [one for one in traces if one.trace.steps]
    if not written and is_recorded(audit):
        return f"none is recorded for any of the {len(traces)} samples"
    if not written:
        return f"none was written in any of the {len(traces)} answers"
    if not any(step for one in written for step in one.claims):
        return f"{len(written)} traces claim nothing that could be seen"
    if unseen(audit):
        return f"nothing to hold its claims against. Add a verifier, as {ADD}"
    reasons = unverifiable_reasons(found)
    return f"none of its claims could be verified ({', '.join(reasons)})"


def unseen(audit: Audit) -> bool:
    """Whether there is neither a verifier nor an annotated scene."""
    verifier = "claim-verifier" in audit.tools
    return not verifier and all(scene_of(sample) is None for sample in audit.samples)


def unverifiable_reasons(found: "Findings") -> list[str]:
    """Of the claims that could not be verified the reasons, each with its share."""
    said = [
        found.verdicts.of(one.reasoning.sample, claim)
        for one in found.plain for step in one.reasoning.claims for claim in step
    ]  # fmt: skip
    count = Counter(one.reason for one in said if one.reason is not None)
    return [f"{reason} {percent(n / count.total())}" for reason, n in count.most_common()]


def counted(words: Iterable[str]) -> str:
    """ "a 3, b 1", the commonest first."""
    return ", ".join(f"{word} {n}" for word, n in Counter(words).most_common())


def traces_in_words(traces: list[Reasoning]) -> str:
    """How many traces came, in which forms, and what is wrong with some."""
    written = [one.trace for one in traces if one.trace.steps]
    steps = sum(len(trace.steps) for trace in written)
    mean = f" of {steps / len(written):.1f} steps on average" if written else ""
    forms = counted(trace.form for trace in written)
    problems = counted(problem for one in traces for problem in one.trace.problems)
    return (
        f"{len(written)} of {len(traces)}{mean}"
        + f" ({forms})" * bool(forms)
        + f"; malformed, and kept: {problems}" * bool(problems)
    )


def _interval(figure: Figure, told: Callable[[float], str]) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" [{told(figure.low)}, {told(figure.high)}]"


def _hundredths(value: float) -> str:
    """A true minus, no negative zero, and a decimal where the whole number would mislead."""
    size = abs(100 * value)
    text = f"{size:.0f}"
    if text in ("0", "100") and abs(size - float(text)) >= 0.05:
        text = f"{size:.1f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text
