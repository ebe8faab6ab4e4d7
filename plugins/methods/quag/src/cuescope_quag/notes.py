"""The facts at the head of the report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuescope_quag.answers import Measure, only_answer
from cuescope_quag.conditions import WITHOUT_VIDEO, chosen_layers, fusion_shape
from cuescope_quag.losing import Rate
from cuescope_quag.observing import Answered
from cuescope_quag.verdict import Verdict
from cuescope_sdk import Audit, Sample

if TYPE_CHECKING:
    from cuescope_quag import QUAG


def note(
    audit: Audit,
    options: "QUAG.Options",
    answered: Answered,
    chosen: Measure,
    rate: Rate,
    judged: Verdict,
) -> None:
    """All of them, the verdict first."""
    audit.note("verdict", judged.kind)
    audit.note(chosen.name, measured(answered, rate))
    audit.note(
        "counts for the verdict",
        f"{answered.rule.margin(rate):.1f} points: {options.margin:.0%} of what is above chance, "
        f"at least {options.drop:g}",
    )
    audit.note("layers", layers_in_words(audit, options))
    if words := left_out(audit.samples):
        audit.note("left out", words)
    if WITHOUT_VIDEO not in {one.key for one in answered.conditions}:
        audit.note("not asked", "without video: the model takes no question without a video")
    if options.quag_attention:
        able = "average-tokens" in audit.capabilities.edits
        skipped = "skipped: the model does not take the edit 'average-tokens'"
        terms = {"add": "log n added to the logit", "multiply": "the logit multiplied by log n"}
        audit.note("QUAG-attention", terms[options.size_term] if able else skipped)


def measured(answered: Answered, rate: Rate) -> str:
    """The accuracy beside what an answer without looking gives."""
    asked = f"{len(answered.samples)} questions about {answered.videos} videos"
    only = only_answer(answered.samples)
    guess = f"guessing gives {rate.chance:.1f} %"
    chance = guess if only is None else f"all have the same right answer, '{only}'"
    return f"{rate.value:.1f} % of {asked}; {chance}"


def layers_in_words(audit: Audit, options: "QUAG.Options") -> str:
    """Which layers are changed, of how many where the model tells."""
    known = "fusion" in audit.capabilities.exposes
    count = fusion_shape(audit).layers if known else None
    if chosen_layers(audit, options) is not None:
        return f"layers {options.layers}" + (f" of {count}" if count else "")
    return "the only one" if count == 1 else f"all {count} layers" if count else "all"


def left_out(samples: Sequence[Sample]) -> str:
    """How many samples are not asked, and why; "" where all are."""
    without = {
        "a question": sum(one.question is None for one in samples),
        "a label": sum(one.question is not None and one.label is None for one in samples),
    }
    told = [f"{count} samples without {what}" for what, count in without.items() if count]
    return ", ".join(told)
