"""The verdict in words, from what it costs to leave out a modality or to average attention."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cuescope_quag.conditions import WITHOUT_QUESTION, WITHOUT_VIDEO
from cuescope_quag.losing import Loss, Rate, Rule

State = Literal["costs", "spared", "open"]
Kind = Literal[
    "fuses", "text alone", "video alone", "needs neither", "never aligns", "does not fuse",
    "open", "not asked", "at chance", "too few samples", "one right answer", "no right answer",
]  # fmt: skip
UNMEASURED: tuple[Kind, ...] = (
    "at chance", "too few samples", "one right answer", "no right answer",
)  # fmt: skip
CROSSMODAL = "SC: crossmodal"
SHORT_CIRCUITS = ("SC: unimodal", CROSSMODAL, "SC: video", "SC: text")

# Without the video, without the question, crossmodal attention averaged; None: was not asked.
_RULES: dict[tuple[State | None, State | None, State], Kind] = {
    ("costs", "costs", "costs"): "fuses",
    ("costs", "costs", "spared"): "never aligns",
    (None, "costs", "costs"): "fuses",
    (None, "costs", "spared"): "does not fuse",
    (None, "costs", "open"): "open",
}


@dataclass(frozen=True)
class Verdict:
    """What the figures say, in a sentence with `{feature}` for the name of the verdict.

    `decided_by` is the condition whose loss stands for it, `p_value` the largest of the p-values
    that it needs (an intersection-union test: Berger, 1982); None where nothing is decided.
    """

    kind: Kind
    sentence: str
    decided_by: str | None = None
    p_value: float | None = None


def state(loss: Loss | None, level: float) -> State | None:
    """Whether a condition surely costs more than the margin, surely less, or neither.

    It costs where it costs in one type of question.
    """
    if loss is None:
        return None
    if loss.p_costs <= level or loss.worst is not None:
        return "costs"
    return "spared" if loss.p_spared <= level else "open"


def kind_of(without_video: State | None, without_question: State | None, crossmodal: State) -> Kind:
    """The rule (docs/quag.md argues it).

    A modality that is not missed when it is left out decides, whatever averaging does: an edit
    can disturb what it does not inform. Where both are missed, crossmodal attention decides.
    """
    if without_question is None:
        return "not asked"
    if without_video == "spared":
        neither: dict[State, Kind] = {"costs": "text alone", "spared": "needs neither"}
        return neither.get(without_question, "open")
    if without_question == "spared":
        return "video alone" if without_video in ("costs", None) else "open"
    return _RULES.get((without_video, without_question, crossmodal), "open")


def verdict(
    rate: Rate, losses: Mapping[str, Loss], rule: Rule, measure: str = "accuracy"
) -> Verdict:
    """The verdict of one audit, or of published figures; `measure` names what is lost."""
    if rate.p_chance > rule.level:
        return unmeasured(rate, rule, measure)
    if CROSSMODAL not in losses:
        return Verdict("not asked", "{feature}: none, crossmodal attention was not averaged.")
    asked = [losses.get(key) for key in (WITHOUT_VIDEO, WITHOUT_QUESTION, CROSSMODAL)]
    states = [state(loss, rule.level) for loss in asked]
    kind = kind_of(states[0], states[1], states[2] or "open")
    needs: dict[Kind, tuple[str, ...]] = {
        "fuses": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
        "never aligns": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
        "does not fuse": (CROSSMODAL, WITHOUT_QUESTION),
        "text alone": (WITHOUT_VIDEO, WITHOUT_QUESTION),
        "needs neither": (WITHOUT_VIDEO, WITHOUT_QUESTION),
        "video alone": (WITHOUT_QUESTION, WITHOUT_VIDEO),
    }
    used = [losses[key] for key in needs.get(kind, ()) if key in losses]
    tests = [_p_value(loss, rule.level) for loss in used]
    sentence = f"{{feature}}: the model {_words(kind, losses, rule)}."
    if kind == "open":
        sentence += f" A loss counts from {rule.margin(rate):.1f} points."
    if not used:
        return Verdict(kind, sentence)
    return Verdict(kind, sentence, needs[kind][0], max([rate.p_chance, *tests]))


def unmeasured(rate: Rate, rule: Rule, measure: str) -> Verdict:
    """Where it does not answer better than by chance, or so few samples could not show it."""
    if rate.p_best > rule.level:
        few = f"too few samples (n = {rate.n}) to tell: all could be answered rightly by luck"
        return Verdict("too few samples", f"{{feature}}: {few}.")
    value = f"{rate.value:.1f} %{interval(rate.low, rate.high)}"
    return Verdict(
        "at chance",
        f"{{feature}}: the model answers at chance, so nothing can be measured. Its {measure} is "
        f"{value}, where guessing gives {rate.chance:.1f} %.",
    )


def _p_value(loss: Loss, level: float) -> float:
    """Of the test that its state rests on."""
    if loss.p_costs > level and loss.worst is not None:
        return loss.worst[1].p_costs
    return min(loss.p_costs, loss.p_spared)


# --------------------------------------------------------------------------------- in words


def _words(kind: Kind, losses: Mapping[str, Loss], rule: Rule) -> str:
    """What it does, and the figures for that in a sentence of their own."""
    crossmodal = f"averaging crossmodal attention {_told('costs', losses[CROSSMODAL], rule.level)}"
    crossmodal = crossmodal.removesuffix(",")
    both = _left_out(losses, rule.level)
    tail = _nothing_costs(losses, rule.level)
    match kind:
        case "fuses":
            return f"fuses them. {_opening(crossmodal)}; {both}"
        case "text alone" | "video alone":
            key = WITHOUT_VIDEO if kind == "text alone" else WITHOUT_QUESTION
            almost = "almost " if _small_but_sure(losses[key], rule) else ""
            also = ", and never aligns the two" if tail else ""
            name = kind.replace(" ", f" {almost}", 1)
            return f"answers from {name}{also}. {_opening(both)}; {crossmodal}{tail}"
        case "needs neither":
            return f"needs neither of them. {_opening(both)}; {crossmodal}{tail}"
        case "never aligns":
            never = "hardly" if _small_but_sure(losses[CROSSMODAL], rule) else "never"
            return f"uses both but {never} aligns them. {_opening(both)}, yet {crossmodal}{tail}"
        case "does not fuse":
            return f"does not fuse them. {_opening(both)}, yet {crossmodal}{tail}"
        case "not asked":
            return f"was not asked enough for a verdict. {_opening(crossmodal)}"
    return f"is not to be judged by these samples yet. {_opening(both)}; {crossmodal}"


def _opening(words: str) -> str:
    """With a capital letter."""
    return words[0].upper() + words[1:]


def _left_out(losses: Mapping[str, Loss], level: float) -> str:
    """What it loses without each modality, as far as it was asked."""
    names = {WITHOUT_VIDEO: "the video", WITHOUT_QUESTION: "the question"}
    told = {key: _told("loses", losses[key], level) for key in names if key in losses}
    lost = [f"{words} without {names[key]}" for key, words in told.items()]
    words = " and ".join(lost)
    if words.startswith("loses ") and "nothing" not in words:
        words = words.replace(" and loses ", " and ")
    cannot = "" if WITHOUT_VIDEO in losses else " (it takes no question without a video)"
    return f"it {words}{cannot}"


def _nothing_costs(losses: Mapping[str, Loss], level: float) -> str:
    """Said where all four short-circuits were made and each surely costs less than the margin."""
    made = [losses[key] for key in SHORT_CIRCUITS if key in losses]
    if len(made) < len(SHORT_CIRCUITS) or any(state(loss, level) != "spared" for loss in made):
        return ""
    most = max(made, key=lambda loss: loss.lost)
    words = f"more than {in_words(most)}" if most.lost > 0 else "anything"
    return f", and no short-circuit costs {words}"


def _small_but_sure(loss: Loss, rule: Rule) -> bool:
    """Below the margin of the verdict, but above the drop of a finding."""
    return loss.lost > rule.drop and loss.p_value <= rule.level


def in_words(loss: Loss) -> str:
    """Points with their interval."""
    return f"{signed(loss.lost)} points{interval(loss.low, loss.high)}"


def _told(verb: str, loss: Loss, level: float) -> str:
    """What is lost or gained, and the type of question on which the verdict rests in its place."""
    if signed(loss.lost) == "0.0":
        told = f"{verb} nothing ({in_words(loss)})"
    elif loss.lost > 0:
        told = f"{verb} {in_words(loss)}"
    else:
        low, high = (None if end is None else -end for end in (loss.high, loss.low))
        told = f"gains {signed(-loss.lost)} points{interval(low, high)}"
    if loss.worst is None or loss.p_costs <= level:
        return told
    name, worst = loss.worst
    return f"{told} in all, but {verb} {in_words(worst)} on {name} questions,"


def interval(low: float | None, high: float | None) -> str:
    """What follows a figure, "" where there are no samples behind it."""
    return "" if low is None or high is None else f" [{signed(low)}, {signed(high)}]"


def signed(value: float) -> str:
    """One decimal, a true minus, and no negative zero."""
    text = f"{abs(value):.1f}"
    return f"\N{MINUS SIGN}{text}" if value < 0 and float(text) else text


# ---------------------------------------------------------------------- of published figures


def of_points(
    baseline: float, after: Mapping[str, float], chance: float, rule: Rule
) -> tuple[Rate, dict[str, Loss]]:
    """Rates without samples behind them, taken at their word: a loss is above the margin or not."""
    rate, losses = Rate(baseline, chance, float(baseline <= chance)), {}
    for key, value in after.items():
        lost = round(baseline - value, 6)
        costs = lost >= rule.margin(rate)
        losses[key] = Loss(value, lost, 1.0 - (lost > rule.drop), float(not costs), float(costs))
    return rate, losses
