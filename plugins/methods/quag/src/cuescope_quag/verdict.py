"""The verdict that the losses allow, and its words (docs/quag.md argues the rule)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cuescope_quag.scores import Loss, Rate, Rule
from cuescope_quag.tables import points
from cuescope_quag.trials import CROSSMODAL, SHORT_CIRCUITS, WITHOUT_QUESTION, WITHOUT_VIDEO
from cuescope_sdk.report import interval, signed

State = Literal["costs", "spared", "open"]
Kind = Literal[
    "fuses",
    "text alone",
    "video alone",
    "needs neither",
    "never aligns",
    "does not fuse",
    "open",
    "not asked",
    "at chance",
    "too few samples",
    "one right answer",
    "no right answer",
]
UNMEASURED: frozenset[Kind] = frozenset(
    {"at chance", "too few samples", "one right answer", "no right answer"}
)
# Without the video, without the question, crossmodal attention averaged; None: was not asked.
_RULES: dict[tuple[State | None, State | None, State], Kind] = {
    ("costs", "costs", "costs"): "fuses",
    ("costs", "costs", "spared"): "never aligns",
    (None, "costs", "costs"): "fuses",
    (None, "costs", "spared"): "does not fuse",
    (None, "costs", "open"): "open",
}
# The conditions whose tests a verdict rests on; the loss of the first stands for it.
_NEEDS: dict[Kind, tuple[str, ...]] = {
    "fuses": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "never aligns": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "does not fuse": (CROSSMODAL, WITHOUT_QUESTION),
    "text alone": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "needs neither": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "video alone": (WITHOUT_QUESTION, WITHOUT_VIDEO),
}


@dataclass(frozen=True)
class Verdict:
    """What the figures say.

    `decided_by` is the condition whose loss stands for it, `p_value` the largest of the p-values
    that it needs (an intersection-union test: Berger, 1982); None where nothing is decided.
    """

    kind: Kind
    decided_by: str | None = None
    p_value: float | None = None


def verdict(rate: Rate, losses: Mapping[str, Loss], rule: Rule) -> Verdict:
    """The verdict of one audit, or of published figures."""
    if rate.p_chance > rule.level:
        # Even all answers right would not be significant: the samples are too few, which says
        # nothing about the model.
        return Verdict("too few samples" if rate.p_best > rule.level else "at chance")
    if CROSSMODAL not in losses:
        return Verdict("not asked")
    asked = (WITHOUT_VIDEO, WITHOUT_QUESTION, CROSSMODAL)
    states = [state(losses.get(key), rule.level) for key in asked]
    kind = verdict_kind(states[0], states[1], states[2] or "open")
    used = [losses[key] for key in _NEEDS.get(kind, ()) if key in losses]
    if not used:
        return Verdict(kind)
    p_values = [_p_of_state(loss, rule.level) for loss in used]
    return Verdict(kind, _NEEDS[kind][0], max([rate.p_chance, *p_values]))


def state(loss: Loss | None, level: float) -> State | None:
    """Whether a condition surely costs more than the margin, surely less, or neither.

    It costs where it costs in one type of question.
    """
    if loss is None:
        return None
    if loss.p_costs <= level or loss.worst is not None:
        return "costs"
    return "spared" if loss.p_spared <= level else "open"


def verdict_kind(
    without_video: State | None, without_question: State | None, crossmodal: State
) -> Kind:
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


def _p_of_state(loss: Loss, level: float) -> float:
    """Of the test that its state rests on."""
    if loss.p_costs > level and loss.worst is not None:
        return loss.worst[1].p_costs
    return min(loss.p_costs, loss.p_spared)


# ------------------------------------------------------------------------- the verdict in words

# What the model does, and the figures for that in a sentence of their own.
ANSWERING: dict[Kind, str] = {
    "fuses": "fuses them and answers from both together. {Crossmodal}; {without}",
    "text alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "video alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "needs neither": "needs neither of them. {Without}; {crossmodal}{none}",
    "never aligns": "uses both but {never} aligns them. {Without}, yet {crossmodal}{none}",
    "does not fuse": "does not fuse them. {Without}, yet {crossmodal}{none}",
    "not asked": "was not tested enough for a verdict. {Crossmodal}",
    "open": "cannot be judged from these samples. {Without}; {crossmodal}",
}


def verdict_sentence(
    kind: Kind, rate: Rate, losses: Mapping[str, Loss], rule: Rule, measure: str = "accuracy"
) -> str:
    """With `{feature}` for the name of the verdict; `measure` names what is lost."""
    match kind:
        case "too few samples":
            few = f"so few samples (n = {rate.n}) or videos"
            words = f"no verdict. With {few}, all answers could be luck"
        case "at chance":
            words = (
                f"the model answers at chance, so nothing can be measured. Its {measure} is "
                f"{rate.value:.1f} %{interval(rate.low, rate.high)}, where guessing gives "
                f"{rate.chance:.1f} %"
            )
        case _ if CROSSMODAL not in losses:
            words = "no verdict, because the attention between video and text was not averaged"
        case _:
            words = f"the model {_answering(kind, losses, rule)}"
    margin = f" Only losses of {rule.margin(rate):.1f} points or more count."
    return f"{{feature}}: {words}.{margin if kind == 'open' else ''}"


def _answering(kind: Kind, losses: Mapping[str, Loss], rule: Rule) -> str:
    """What it does, and the figures for that in a sentence of their own."""
    crossmodal = "averaging the attention between video and text "
    crossmodal += _loss("costs", losses[CROSSMODAL], rule.level)
    crossmodal = crossmodal.removesuffix(",")
    without = _without_modalities(losses, rule.level)
    none = _no_short_circuit_costs(losses, rule.level)
    # A loss that is surely there, but below the margin, takes the edge off the words.
    key = {"text alone": WITHOUT_VIDEO, "video alone": WITHOUT_QUESTION}.get(kind, CROSSMODAL)
    small = losses[key].lost > rule.drop and losses[key].p_value <= rule.level
    return ANSWERING[kind].format(
        alone=f"almost only from {kind.removesuffix(' alone')}" if small else f"from {kind}",
        also=", and never aligns the two" if none else "",
        never="hardly" if small else "never",
        # str.capitalize would lower the rest
        Without=without[0].upper() + without[1:],
        without=without,
        Crossmodal=crossmodal[0].upper() + crossmodal[1:],
        crossmodal=crossmodal,
        none=none,
    )


def _without_modalities(losses: Mapping[str, Loss], level: float) -> str:
    """What it loses without each modality, as far as it was asked."""
    names = {WITHOUT_VIDEO: "the video", WITHOUT_QUESTION: "the question"}
    words = " and ".join(
        f"{_loss('loses', losses[key], level)} without {name}"
        for key, name in names.items()
        if key in losses
    )
    # "loses 3 points without the video and 4 points without the question" needs one verb.
    if words.startswith("loses ") and "nothing" not in words:
        words = words.replace(" and loses ", " and ")
    cannot = "" if WITHOUT_VIDEO in losses else " (it takes no question without a video)"
    return f"it {words}{cannot}"


def _no_short_circuit_costs(losses: Mapping[str, Loss], level: float) -> str:
    """Added where all four short-circuits were made and each surely costs less than the margin."""
    keys = [f"SC: {name}" for name in SHORT_CIRCUITS]
    if any(state(losses.get(key), level) != "spared" for key in keys):
        return ""
    most = max((losses[key] for key in keys), key=lambda loss: loss.lost)
    words = f"more than {points(most)}" if most.lost > 0 else "anything"
    return f", and no short-circuit costs {words}"


def _loss(verb: str, loss: Loss, level: float) -> str:
    """What is lost or gained, and the type of question on which the verdict rests in its place."""
    if signed(loss.lost) == "0.0":
        words = f"{verb} nothing ({points(loss)})"
    elif loss.lost > 0:
        words = f"{verb} {points(loss)}"
    else:
        # A gain is the loss with the other sign, and so its ends change places.
        low, high = (None if end is None else -end for end in (loss.high, loss.low))
        words = f"gains {signed(-loss.lost)} points{interval(low, high)}"
    if loss.worst is None or loss.p_costs <= level:
        return words
    kind, worst = loss.worst
    return f"{words} in all, but {verb} {points(worst)} on {kind} questions,"
