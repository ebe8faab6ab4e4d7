"""The tables and the picture of a report."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from cuescope_quag.answers import Measure
from cuescope_quag.losing import Loss, rates
from cuescope_quag.observing import Answered, Found
from cuescope_quag.paper import ATP_HARD, BENCHMARKS, paper_rows
from cuescope_quag.verdict import interval, signed
from cuescope_sdk import Audit, Cell, Picture, Table
from cuescope_sdk.stats import benjamini_hochberg

if TYPE_CHECKING:
    from cuescope_quag import QUAG

DROP = "\N{DOWNWARDS ARROW}"
Types = Mapping[str, Int[np.ndarray, " kept"]]


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
    types: Types,
) -> None:
    """Table 1 of the paper: accuracy under each condition, overall and by type of question."""
    columns = answered.columns
    plain = {name: found_rates(rate_and_losses) for name, rate_and_losses in found.items()}
    for name, kept in types.items():
        one = np.zeros(len(kept), dtype=int)
        values = rates(np.stack([right[kept] for right in columns.values()], axis=1), one)
        plain[name] = values.tolist()
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: _cell(plain[name], place, options.drop) for name in plain}}
        for place, key in enumerate(columns)
    ]
    benchmark = benchmark_of(audit)
    paper = paper_rows(options.beside, benchmark) if benchmark else ()
    beside = f" In brackets: {options.beside} on {benchmark} in the paper." if paper else ""
    shown = {"condition", *plain}
    audit.show(
        Table(
            title="Accuracy under each condition, %",
            columns=("condition", *plain),
            rows=tuple(rows),
            paper=tuple({k: v for k, v in row.items() if k in shown} for row in paper),
            notes=(
                f"{DROP}: {options.drop:g} points or more below the baseline. SC: short-circuit, "
                "attention averaged; merged: QUAG-attention, the tokens of a modality made one."
                + beside,
            ),
        )
    )


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
    chosen: Measure,
    columns: Mapping[str, Mapping[str, Loss]],
) -> None:
    """Points lost with intervals, overall and by type; stars are corrected for the whole table."""
    cells = [(key, name) for key in columns["all"] for name in columns]
    q_values = benjamini_hochberg([columns[name][key].p_value for key, name in cells])
    words = {
        (key, name): _points(columns[name][key], q is not None and q <= options.fdr)
        for (key, name), q in zip(cells, q_values, strict=True)
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: words[key, name] for name in columns}} for key in columns["all"]
    ]
    audit.show(
        Table(
            title=f"Points of {chosen.name} lost",
            columns=("condition", *columns),
            rows=tuple(rows),
            notes=(
                f"In brackets: {options.confidence:.0%} intervals, paired by question, over draws "
                f"of whole videos. *: exact McNemar test, q at most {options.fdr:g} over the "
                "table.",
            ),
        )
    )


def _points(loss: Loss, sure: bool) -> str:
    return f"{signed(loss.lost)}{interval(loss.low, loss.high)}{' *' if sure else ''}"


def show_picture(audit: Audit, answered: Answered) -> None:
    """Bars: what stays right under each condition, what is won, and what is lost."""
    from cuescope_sdk.figures import bars

    shares = {
        key: {
            "right as before": float((answered.before & right).mean()),
            "right only now": float((~answered.before & right).mean()),
            "lost": float((answered.before & ~right).mean()),
        }
        for key, right in answered.columns.items()
    }
    title = "Right answers under each condition"
    audit.show(
        Picture(
            title=title,
            caption="Of all questions: those that stay right, those that become right, and those "
            "that are lost.",
            image=bars(shares, title, "share of the questions"),
        )
    )
