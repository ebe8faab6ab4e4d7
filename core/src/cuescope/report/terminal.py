"""The report in a terminal: readable at 80 columns, and without colours in a pipe."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from cuescope.conclusions import Contrast, Cost, Evidence, Exhibit, Metric, Report, Score
from cuescope.report.bars import figure, p_value
from cuescope.report.steps import Step, command_words, next_steps
from cuescope.report.tables import render_table

MAX_ROWS = 10
NARROW = 72  # columns of a screen on which the headline alone has its column
LONGEST_WORD = 14  # of a name; longer ones are broken
VERDICT_STYLE = {"supported": "green", "refuted": "red", "inconclusive": "yellow"}


def show(report: Report, console: Console, run: str = "RUN", program: str = "cuescope") -> None:
    """Print a report: findings in words and samples, the ranked table, checks, what to do next.

    `run` is the folder of the run, for the commands that go on from here; `program` is what they
    must begin with to work as they stand.
    """
    sections: list[tuple[str, RenderableType]] = [
        ("Finding" if len(report.findings) < 2 else "Findings", _finding(report)),
        *((_contrast_title(report, each), _contrast(each)) for each in _first_contrast(report)),
        (_ranked_title(report), _ranked(report, console.width)),
        *((table.title, render_table(table)) for table in report.tables),
        ("Checks", _checks(report.evidence)),
        ("How to read the table", _legend(report)),
        ("Looked at", _facts(report)),
        ("Cost", Text(_cost(report.cost))),
    ]
    asked = report.provenance
    title = f"{asked.method.spec}: {asked.model.spec} on {asked.data.spec}"
    console.print(Rule(Text(title, "bold")))
    for head, body in sections:
        console.print(Text(head, "bold cyan"))
        indent = 0 if isinstance(body, Table) and body.box else 2  # a wide table needs the width
        console.print(Padding(body, (0, 0, 1, indent)))
    command = report.provenance.command
    again: list[tuple[str, list[Step]]] = [("Run it again", [("", command)])] if command else []
    for head, steps in [("Next", next_steps(report, run)), *again]:
        console.print(Text(head, "bold cyan"))
        for words, step in steps:
            if words:
                console.print(Padding(Text(words), (0, 0, 0, 2)))
            if step:
                typed = f"{program} {step.removeprefix('cuescope ')}"
                for line in copyable(typed, console.width - 4):
                    console.print(Text(f"    {line}", "bold"), soft_wrap=True)
        console.print()
    console.print(Text(f"report {report.hash}", "dim"))


def copyable(command: str, width: int) -> list[str]:
    """The lines of a command that a shell takes as one; an option stays with its value.

    >>> copyable("cuescope audit trove --model toy -M epochs=3", 24)
    ['cuescope audit trove \\\\', '  --model toy \\\\', '  -M epochs=3']
    """
    parts: list[str] = []
    for word in map(shlex.quote, command_words(command)):
        if parts and parts[-1].startswith("-") and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} {part}".lstrip() if len(lines) == 1 else f"{lines[-1]} {part}"
        if len(longer) + 2 <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines[-1] += " \\"
            lines.append(f"  {part}")
    return lines


def _finding(report: Report) -> RenderableType:
    asked = report.provenance.method.spec
    nothing = "Nothing could be tested; why is told below. This says nothing about the model."
    if any(score.value is not None for score in report.headlines):
        tried = len(report.headlines)
        nothing = f"No cue found. {tried} candidates were tried; none passes the rule of {asked}."
    # Text: rich would read [brackets] as markup
    first, *others = map(Text, report.statements or [nothing])
    first.stylize("bold")
    more = [Text(f"and {len(others) - 2} more, in the table.", "dim")] if len(others) > 2 else []
    return Group(first, *others[:2], *more, *_accuracy(report))


def _accuracy(report: Report) -> list[Text]:
    """How often the model is right, and a warning where that is no better than guessing."""
    if (accuracy := report.accuracy) is None:
        return []
    words = (
        f"The model is right in {accuracy.correct:,} of {accuracy.answered:,} answers "
        f"({accuracy.share:.1%}); guessing gives {accuracy.chance:.1%}."
    )
    if accuracy.above_chance:
        return [Text(words, "dim")]
    why = (
        " On these samples it is not clearly better than guessing: either it has not learned the "
        "task, or what it relies on misleads it here."
    )
    return [Text(words + why, "yellow")]


def _first_contrast(report: Report) -> list[Contrast]:
    """That of the strongest finding, or none."""
    if not report.findings:
        return []
    first = report.findings[0]
    own = [each for each in report.contrasts if each.feature == first.feature]
    return [each for each in own if each.label in (None, first.label)][:1]


def _contrast_title(report: Report, contrast: Contrast) -> str:
    own = {exhibit.label for side in contrast.sides for exhibit in side.exhibits}
    where = f", samples of '{contrast.label}'" if own == {contrast.label} != {None} else ""
    return f"What the model says: {report.names[contrast.feature]}{where}"


def _contrast(contrast: Contrast) -> RenderableType:
    """Both sides, a sample a line."""
    table = Table.grid(padding=(0, 2))
    for side in contrast.sides:
        table.add_row(Text(side.title, "bold"))
        for exhibit in side.exhibits:
            table.add_row(Text(_exhibit(exhibit)))
    return Group(table, Text(contrast.rule, "dim"))


def _exhibit(exhibit: Exhibit) -> str:
    mark = {True: "right: ", False: "WRONG: ", None: ""}[exhibit.correct]
    words = f"  {mark}{exhibit.occurrence.sample}"
    if exhibit.prediction is not None:
        sure = "" if exhibit.probability is None else f" {figure(exhibit.probability)}"
        words += f" - model says '{exhibit.prediction}'{sure}"
    if exhibit.label is not None and not exhibit.correct:
        words += f", right is '{exhibit.label}'"
    return words + (f"; {exhibit.words}" if exhibit.words else "")


def _facts(report: Report) -> Table:
    asked = report.provenance
    return _grid(
        ("samples", f"{asked.samples}" + f" of {len(asked.labels)} classes" * bool(asked.labels)),
        *report.notes.items(),
        *((f"data: {key}", fact) for key, fact in asked.data.facts.items()),
        *((f"model: {key}", fact) for key, fact in asked.model.facts.items()),
    )


def _grid(*rows: tuple[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for key, words in rows:
        table.add_row(Text(key, "dim"), Text(words))
    return table


def _ranked_title(report: Report) -> str:
    rows = len(report.headlines)
    return f"Ranked cues (first {MAX_ROWS} of {rows})" if rows > MAX_ROWS else "Ranked cues"


def _ranked(report: Report, width: int) -> RenderableType:
    if not report.scores:
        return Text("nothing to rank")
    # of a narrow screen the headline has all
    metrics = report.metrics if width >= NARROW else report.metrics[:1]
    for gap, with_intervals in ((1, True), (0, True), (1, False), (0, False)):
        table = _table(report, metrics, gap=gap, with_intervals=with_intervals)
        spare = width - 1 - sum((column.width or 0) + gap + 1 for column in table.columns)
        if spare >= 0:
            break
    for column in (table.columns[2], table.columns[1]):  # what is left over is the names'
        more = min(max(len(str(cell)) for cell in column.cells) - (column.width or 0), spare)
        column.width, spare = (column.width or 0) + max(0, more), spare - max(0, more)
    return table


def _table(report: Report, metrics: Sequence[Metric], *, gap: int, with_intervals: bool) -> Table:
    """The first rows; each column is as wide as what must not be broken, and not wider."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
    table.add_column("", width=1)  # a sign that survives a pipe
    table.add_column("cue", overflow="fold")
    table.add_column("label", overflow="fold")
    for metric in metrics:
        table.add_column(metric.title.replace(" ", "\n"), justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("q", justify="right", no_wrap=True)
    by_row = {(s.feature, s.label, s.metric): s for s in report.scores}
    for headline in report.headlines[:MAX_ROWS]:
        row = [by_row.get((headline.feature, headline.label, m.name)) for m in metrics]
        known = [score for score in row if score is not None]
        n = next((score.n for score in known if score.n is not None), None)
        q = next((score.q_value for score in known if score.q_value is not None), None)
        table.add_row(
            "*" if headline.finding else "",
            Text(report.names[headline.feature]),
            Text(headline.label or "all"),
            *[_value(score, with_intervals) for score in row],
            "" if n is None else str(n),
            (p_value(q) or "").removeprefix("= ").replace("< 0", "<"),
            style="bold" if headline.finding else "dim",
        )
    for column in table.columns[1:]:
        texts = [str(cell) for cell in (column.header, *column.cells)]
        if column.no_wrap:
            column.width = max(len(line) for text in texts for line in text.splitlines())
        else:
            longest = max(len(word) for text in texts for word in text.split())
            column.width = min(longest, LONGEST_WORD)
    return table


def _value(score: Score | None, with_interval: bool) -> str:
    if score is None or score.value is None:
        return "-"
    if score.low is None or score.high is None or not with_interval:
        return figure(score.value)
    places = 2 if abs(score.value) >= 0.01 else 6  # bounds are told no more exactly than the value
    ends = (figure(round(end, places)) for end in (score.low, score.high))
    return figure(score.value) + "\n" + " to ".join(ends)


def _checks(evidence: Iterable[Evidence]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for check in evidence:
        table.add_row(
            Text(check.verdict, VERDICT_STYLE[check.verdict]), Text(check.check), Text(check.detail)
        )
    return table if table.row_count else Text("none was made")


def _legend(report: Report) -> RenderableType:
    return _grid(
        *([("*", "a finding: it passes the rule of the method")] if report.findings else []),
        *((metric.title, metric.meaning) for metric in report.metrics),
        ("n", "samples behind the figure"),
        ("q", "p-value corrected for all that was tried"),
    )


def by_condition(conditions: Mapping[str, int]) -> str:
    """How many trials each condition has, in brackets; nothing where there is one only.

    >>> by_condition({"baseline": 400, "static": 2400})
    ' (baseline 400, static 2,400)'
    """
    parts = ", ".join(f"{name} {count:,}" for name, count in conditions.items())
    return f" ({parts})" if len(conditions) > 1 else ""


def _cost(cost: Cost) -> str:
    tools = "".join(f"; {work}: {count:,}" for work, count in cost.tool_calls.items())
    return (
        f"{cost.trials:,} trials{by_condition(cost.conditions)}: "
        f"{cost.model_calls:,} answered by the model, {cost.cache_hits:,} by the cache{tools}; "
        f"{cost.seconds:.1f} s"
    )
