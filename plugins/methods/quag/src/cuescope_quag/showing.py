"""The tables and the picture of a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope_quag.answers import Measure
from cuescope_quag.losing import Loss
from cuescope_quag.observing import Answered, Found
from cuescope_quag.paper import ATP_HARD, BENCHMARKS, paper_rows
from cuescope_quag.verdict import interval, signed
from cuescope_sdk import Audit, Cell, Picture, Table
from cuescope_sdk.maths import benjamini_hochberg

if TYPE_CHECKING:
    from cuescope_quag import QUAG

DROP = "\N{DOWNWARDS ARROW}"
FEW_VIDEOS = 10
# Question types of CLAVI (section 5.1), where a data set brings no words for its own.
CLAVI_TYPES = {
    "E": "existence of an action",
    "E-NC": "existence of an action that is not there",
    "BE": "at the beginning or at the end",
    "BA": "before or after",
    "BA-NC": "before or after an action that is not there",
}


def benchmark_of(audit: Audit) -> str | None:
    """The audited data set's name in the paper, None where it is none of theirs."""
    data = audit.context.dataset
    name = BENCHMARKS.get(type(data).__module__.partition(".")[0])
    options = getattr(data, "options", None)
    if name == "NExT-QA" and getattr(options, "subset", None) == "atp-hard":
        return ATP_HARD
    if name == "CLAVI" and not Path(str(getattr(options, "source", ""))).is_dir():
        return None  # built on other videos than Charades
    return name


def show_accuracies(
    audit: Audit,
    options: "QUAG.Options",
    answered: Answered,
    found: Mapping[str, Found],
    by_type: Mapping[str, Found],
) -> None:
    """Table 1 of the paper: accuracy under each condition, overall and by type of question."""
    columns = {name: found_rates(one) for name, one in (*found.items(), *by_type.items())}
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: _cell(columns[name], place, options.drop) for name in columns}}
        for place, key in enumerate(answered.columns)
    ]
    benchmark = benchmark_of(audit)
    paper = paper_rows(options.beside, benchmark) if benchmark else ()
    beside = f" In brackets: {options.beside} on {benchmark} in the paper." if paper else ""
    shown = {"condition", *columns}
    note = (
        f"{DROP}: {options.drop:g} points or more below the baseline. Without video, without "
        "question: the other modality alone. SC: short-circuit, attention averaged; merged: "
        f"QUAG-attention, the tokens of a modality made one.{beside}"
    )
    audit.attach(
        Table(
            title="Accuracy under each condition, %",
            columns=("condition", *columns),
            rows=tuple(rows),
            paper=tuple({k: v for k, v in row.items() if k in shown} for row in paper),
            notes=(note, *type_notes(answered, list(by_type), next(iter(found)))),
        )
    )


def type_notes(answered: Answered, types: Sequence[str], measure: str) -> list[str]:
    """What the columns of question types are: their words, and what is counted there."""
    if not types:
        return []
    about = [sample.annotations for sample in answered.samples]
    words = CLAVI_TYPES if set(types) <= set(CLAVI_TYPES) else {}
    words = words | {
        str(one["question_type"]): str(one["question_type_name"])
        for one in about
        if "question_type" in one and "question_type_name" in one
    }
    legend = "; ".join(f"{name}: {words[name]}" for name in types if name in words)
    plain = (
        "By type it is balanced accuracy too, which is plain accuracy in a type with one right "
        "answer."
    )
    return [*([f"{legend}."] if legend else []), *([plain] if measure != "accuracy" else [])]


def found_rates(found: Found) -> list[float]:
    """The plain rate, then that of each condition."""
    rate, losses = found
    return [rate.value, *(loss.rate for loss in losses.values())]


def _cell(values: list[float], place: int, drop: float) -> str:
    fell = place > 0 and values[0] - values[place] >= drop
    return f"{values[place]:.1f}{DROP if fell else ''}"


def show_losses(
    audit: Audit,
    options: "QUAG.Options",
    answered: Answered,
    chosen: Measure,
    columns: Mapping[str, Found],
) -> None:
    """Points lost with intervals, overall and by type; stars are corrected for the whole table."""
    losses = {name: of for name, (_, of) in columns.items()}
    cells = [(key, name) for key in losses["all"] for name in losses]
    q_values = benjamini_hochberg([losses[name][key].p_value for key, name in cells])
    words = {
        (key, name): points(losses[name][key], q is not None and q <= options.fdr)
        for (key, name), q in zip(cells, q_values, strict=True)
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: words[key, name] for name in losses}} for key in losses["all"]
    ]
    note = (
        f"In brackets: {options.confidence:.0%} intervals, paired by question, over draws of whole "
        f"videos. *: exact McNemar test, q at most {options.fdr:g} over the table, and an interval "
        "without 0."
    )
    audit.attach(
        Table(
            title=f"Points of {chosen.name} lost",
            columns=("condition", *losses),
            rows=tuple(rows),
            notes=(note, *few_videos(answered.videos)),
        )
    )


def few_videos(count: int) -> list[str]:
    """A warning of intervals over too few draws."""
    rough = "intervals over so few are rough, and mostly too narrow"
    return [f"Videos: {count}; {rough}."] if count < FEW_VIDEOS else []


def points(loss: Loss, tested: bool) -> str:
    """Points lost with their interval; a star where `tested`, and 0 is outside."""
    bounds = loss.low or 0.0, loss.high or 0.0
    sure = tested and (min(bounds) > 0 or max(bounds) < 0)
    return f"{signed(loss.lost)}{interval(loss.low, loss.high)}{' *' if sure else ''}"


def show_picture(audit: Audit, answered: Answered) -> None:
    """Bars: what stays right under each condition, what is lost, and what is won."""
    from cuescope_sdk.report import bar_chart

    shares = {
        key: {
            "right as before": float((answered.before & right).mean()),
            "lost": float((answered.before & ~right).mean()),
            "right only now": float((~answered.before & right).mean()),
        }
        for key, right in answered.columns.items()
    }
    title = "Right answers under each condition"
    audit.attach(
        Picture(
            title=title,
            caption="Of all questions: those that stay right, those that are lost, and those that "
            "become right. The first two together are what was right before.",
            image=bar_chart(shares, title, "share of the questions", limit=1.0),
        )
    )
