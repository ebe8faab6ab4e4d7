"""The verdict that the losses allow, and its words (docs/quag.md argues the rule)."""

from dataclasses import dataclass
from typing import Literal

from cuescope_quag.scores import Loss, Losses, Part, Rate, Rule
from cuescope_quag.trials import (
    CROSSMODAL,
    LEFT_OUT,
    SHORT_CIRCUITS,
    WITHOUT_QUESTION,
    WITHOUT_VIDEO,
)
from cuescope_sdk.report import interval, with_sign

State = Literal["costs", "spared", "open"]
Kind = Literal[
    "fuses",
    "text alone",
    "video alone",
    "needs neither",
    "fuses by means",
    "each alone",
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
# The conditions whose tests a verdict rests on; the loss of the first stands for it.
_NEEDS: dict[Kind, tuple[str, ...]] = {
    "fuses": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "fuses by means": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "each alone": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "does not fuse": (CROSSMODAL, WITHOUT_QUESTION),
    "text alone": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "needs neither": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "video alone": (WITHOUT_QUESTION, WITHOUT_VIDEO),
}
# Verdicts that leave room for what passes through a mean, where crossmodal attention is spared.
PASSING_BY_MEANS: frozenset[Kind] = frozenset(
    {"fuses by means", "does not fuse", "video alone", "each alone"}
)
# Said there.
LIMIT = (
    " Averaging keeps the mean of each modality, so what a model takes from a mean is not "
    "tested."
)


@dataclass(frozen=True)
class Verdict:
    """What the figures say.

    `decided_by` is the condition whose loss stands for it, `p_value` the largest of the p-values
    that it needs (an intersection-union test: Berger, 1982); None where nothing is decided.
    """

    kind: Kind
    decided_by: str | None = None
    p_value: float | None = None


def verdict(
    rate: Rate,
    losses: Losses,
    rule: Rule,
    part: Part | None = None,
) -> Verdict:
    """The verdict of one audit, or of published figures; on `part` where that is not all."""
    if rate.p_chance > rule.level:
        # Even all answers right would not be significant: the samples are too few, which says
        # nothing about the model.
        return Verdict("too few samples" if rate.p_best > rule.level else "at chance")
    # published figures may lack it
    if CROSSMODAL not in losses:
        return Verdict("not asked")
    # questions that need no video would dilute a loss: "spared" would be too easy
    judged = losses if part is None else part.losses
    without_video = state(judged.get(WITHOUT_VIDEO), rule.level)
    kind = verdict_kind(
        without_video,
        state(judged.get(WITHOUT_QUESTION), rule.level),
        state(judged.get(CROSSMODAL), rule.level) or "open",
        elsewhere=state(losses.get(WITHOUT_QUESTION), rule.level)
        if part is not None
        else None,
    )
    needed = _NEEDS.get(kind, ())
    used = [judged[key] for key in needed if key in judged]
    if kind == "each alone":  # the question is missed among all, the video in its part
        used.append(losses[WITHOUT_QUESTION])
    if not used:
        return Verdict(kind)
    # a model at chance has no verdict: that test has to hold, too
    p_value = rate.p_chance
    for loss in used:
        p_value = max(p_value, _p_of_state(loss, rule.level))
    return Verdict(kind, needed[0], p_value)


def state(loss: Loss | None, level: float) -> State | None:
    """Whether a condition surely costs more than the margin, surely less, or neither.

    It costs where it costs in one type of question.
    """
    if loss is None:
        return None
    # what one type loses another may win, and then all of them together lose nothing
    if loss.p_costs <= level or loss.worst is not None:
        return "costs"
    return "spared" if loss.p_spared <= level else "open"


def verdict_kind(
    without_video: State | None,
    without_question: State | None,
    crossmodal: State,
    *,
    elsewhere: State | None = None,
) -> Kind:
    """The rule (docs/quag.md argues it).

    A modality that is not missed when it is left out decides, whatever averaging does: an edit
    can disturb what it does not inform. Where both are missed, crossmodal attention decides; where
    that is spared, the two meet in a mean or outside of attention.
    `elsewhere` is of all questions without the question, where the others are of a part of them.
    """
    # published figures may lack it
    if without_question is None:
        return "not asked"
    if without_video == "spared":
        neither: dict[State, Kind] = {"costs": "text alone", "spared": "needs neither"}
        return neither.get(without_question, "open")
    if without_question == "spared":
        # missed in other questions than those that need the video
        if elsewhere == "costs":
            return "each alone"
        # None: the model takes no question without a video
        alone = without_video in ("costs", None) and elsewhere in ("spared", None)
        return "video alone" if alone else "open"
    if without_question == "open" or without_video == "open" or crossmodal == "open":
        return "open"
    if crossmodal == "costs":
        return "fuses"
    # untested, even the mean of the video may not be needed
    return "does not fuse" if without_video is None else "fuses by means"


def _p_of_state(loss: Loss, level: float) -> float:
    """Of the test that its state rests on."""
    if loss.p_costs > level and loss.worst is not None:
        return loss.worst[1].p_costs
    # at most one of the two nulls can be rejected: the state rests on that one
    return min(loss.p_costs, loss.p_spared)


# ------------------------------------------------------------------------- the verdict in words

# What the model does, and the figures for that in a sentence of their own.
ANSWERING: dict[Kind, str] = {
    "fuses": "fuses them and answers from both together. {Crossmodal}; {without}",
    "text alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "video alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "needs neither": "needs neither of them. {Without}; {crossmodal}{none}",
    "fuses by means": "uses both, and joins them by their means at most, or outside of this "
    "attention: its answers stay {well} when every token sees only the average of the other "
    "modality. {Without}, yet {crossmodal}{none}",
    "each alone": "uses both, but for different questions: {some} it answers from the video alone, "
    "{others} from the text. {Without}; {crossmodal}{none}",
    "does not fuse": "does not fuse them by attention. {Without}, yet {crossmodal}{none}",
    "not asked": "was not tested enough for a verdict. {Crossmodal}",
    "open": "cannot be judged from these samples. {Without}; {crossmodal}",
}


def verdict_sentence(
    kind: Kind,
    rate: Rate,
    losses: Losses,
    rule: Rule,
    measure: str = "accuracy",
    part: Part | None = None,
) -> str:
    """With `{feature}` for the name of the verdict; `measure` names what is lost."""
    judged, where = (losses, "") if part is None else (part.losses, _where(part))
    match kind:
        case "too few samples":
            few = f"so few samples (n = {rate.n}) or videos"
            words = f"no verdict. With {few}, even all right answers could be luck"
        case "at chance":
            words = (
                f"the model answers at chance, so nothing can be measured. Its {measure} is "
                f"{rate.value:.1f}%{interval(rate.low, rate.high)}, where the chance level is "
                f"{rate.chance:.1f}%"
            )
        case _ if CROSSMODAL not in losses:
            words = "no verdict, because the attention between video and text was not averaged"
        case _:
            # these are no place where it uses both, but what it answers from the video
            apart = where if kind == "each alone" else ""
            words = f"{'' if apart else where}the model {_answering(kind, judged, rule, apart)}"
    # a part has an accuracy of its own, and so a margin
    margin = rule.margin(rate if part is None else part.rate)
    only = (
        f" Only losses of {margin:.1f} points or more count." if kind == "open" else ""
    )
    return f"{{feature}}: {words}.{only}{_limit(kind, judged, rule)}"


def _where(part: Part) -> str:
    """ "On turn questions (100 of 400), the only ones in which the video surely matters, "."""
    *first, last = part.types
    names = f"{', '.join(first)} and {last}" if first else last
    return (
        f"on {names} questions ({part.n:,} of {part.total:,}), the only ones in which the video "
        "surely matters, "
    )


def _limit(kind: Kind, losses: Losses, rule: Rule) -> str:
    """What the verdict cannot say: said where averaging attention costs nothing."""
    if kind not in PASSING_BY_MEANS:
        return ""
    return LIMIT if state(losses.get(CROSSMODAL), rule.level) == "spared" else ""


def _answering(
    kind: Kind,
    losses: Losses,
    rule: Rule,
    apart: str = "",
) -> str:
    """What it does, and the figures for that in a sentence of their own.

    `apart` names the questions that it answers from the video alone, where they are known.
    """
    crossmodal = "averaging the attention between video and text "
    crossmodal += _loss("costs", losses[CROSSMODAL], rule.level)
    # `_loss` ends with a comma where it names a type of question
    crossmodal = crossmodal.removesuffix(",")
    without = _without_modalities(losses, rule.level)
    none = _no_short_circuit_costs(losses, rule.level)
    # A loss that is surely there, but below the margin, takes the edge off the words.
    key = {"text alone": WITHOUT_VIDEO, "video alone": WITHOUT_QUESTION}.get(
        kind, CROSSMODAL
    )
    lost = losses[key]
    small = lost.lost > rule.drop and lost.p_value <= rule.level
    return ANSWERING[kind].format(
        alone=f"almost only from {kind.removesuffix(' alone')}"
        if small
        else f"from {kind}",
        also=", and never combines the two" if none else "",
        well="nearly as good" if small else "as good",
        some=apart.removeprefix("on ").rstrip() or "some",
        others="the others" if apart else "others",
        # str.capitalize would lower the rest
        Without=f"Of the former, {without}"
        if apart
        else without[0].upper() + without[1:],
        without=without,
        Crossmodal=crossmodal[0].upper() + crossmodal[1:],
        crossmodal=crossmodal,
        none=none,
    )


def points(loss: Loss) -> str:
    """Points with their interval."""
    return f"{with_sign(loss.lost)} points{interval(loss.low, loss.high)}"


def _without_modalities(losses: Losses, level: float) -> str:
    """What it loses without each modality, as far as it was asked."""
    parts = []
    for key, name in LEFT_OUT.items():
        if key in losses:
            parts.append(f"{_loss('loses', losses[key], level)} {name}")
    words = " and ".join(parts)
    # "loses 3 points without the video and 4 points without the question" needs one verb.
    if words.startswith("loses ") and "nothing" not in words:
        words = words.replace(" and loses ", " and ")
    cannot = (
        "" if WITHOUT_VIDEO in losses else " (it takes no question without a video)"
    )
    return f"it {words}{cannot}"


def _no_short_circuit_costs(losses: Losses, level: float) -> str:
    """Added where all four short-circuits were made and each surely costs less than the margin."""
    short_circuits = [losses.get(f"SC: {name}") for name in SHORT_CIRCUITS]
    spared = [
        loss for loss in short_circuits if loss and state(loss, level) == "spared"
    ]
    if len(spared) < len(short_circuits):
        return ""
    most = max(spared, key=lambda loss: loss.lost)
    words = f"more than {points(most)}" if most.lost > 0 else "anything"
    return f", and no short-circuit costs {words}"


def _loss(verb: str, loss: Loss, level: float) -> str:
    """What is lost or gained, and the type of question on which the verdict rests in its place."""
    # as it is printed: a loss of 0.04 reads as none
    if with_sign(loss.lost) == "0.0":
        words = f"{verb} nothing ({points(loss)})"
    elif loss.lost > 0:
        words = f"{verb} {points(loss)}"
    else:
        # A gain is the loss with the other sign, and so its ends change places.
        low = None if loss.high is None else -loss.high
        high = None if loss.low is None else -loss.low
        words = f"gains {with_sign(-loss.lost)} points{interval(low, high)}"
    if loss.worst is None or loss.p_costs <= level:
        return words
    kind, worst = loss.worst
    return f"{words} in all, but {verb} {points(worst)} on {kind} questions,"
