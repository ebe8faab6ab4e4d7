"""The report in a terminal: a screen, and with -v what stands behind it."""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from cuescope.report.figures import figure, short_p_value, with_ends
from cuescope.report.screen import check_words, screen
from cuescope.report.steps import Step, copyable, next_steps
from cuescope.report.tables import render_table
from cuescope.report.words import Words
from cuescope_core.amounts import by_condition, count_of
from cuescope_core.conclusions import (
    OWN_STEP,
    Cost,
    Evidence,
    Metric,
    Report,
    Score,
    short_name,
)
from cuescope_core.next_commands import Typed

NARROW = 72  # columns of a screen on which the headline alone has its column
LONGEST_WORD = 14  # of a name; longer ones are broken
VERDICT_STYLE = {"passed": "green", "FAILED": "red", "note": "yellow"}


def show(
    report: Report,
    console: Console,
    run: str = "RUN",
    program: str = "cuescope",
    detail: int = 0,
) -> None:
    """Print the first screen of a report; with `detail` all that stands behind it.

    `run` is the folder of the run, for the commands that go on from here; `program` is what they
    must begin with to work as they stand.
    """
    for line in screen(report, run, program, console.width):
        # a command is longer than the screen rather than broken where no shell reads on
        console.print(line, soft_wrap=True)
    if not detail:
        return
    console.print()
    for head, body in _sections(report, console.width):
        _print_head(head, console)
        # a wide table needs the width
        indent = 0 if isinstance(body, Table) and body.box else 2
        console.print(Padding(body, (0, 0, 1, indent)))
    _print_steps("Next", next_steps(report, run), console, program)
    # of a stranger's run no command is shown
    if report.provenance.command:
        again = Typed(report.provenance.command).again()
        _print_steps("Run it again", [("", again)], console, program)
    console.print(Words(f"report {report.hash}", "dim"))


def _sections(report: Report, width: int) -> Iterator[tuple[str, RenderableType]]:
    """The parts of a report with their heads, in the order in which they are read."""
    if report.told:
        yield "In words", _finding(report)
    if report.portraits:
        yield "What is seen there", _portraits(report)
    count = len(report.headlines)
    yield (
        f"Ranked cues ({count}; starred: findings, ?: in doubt)",
        _ranking(report, width),
    )
    for table in report.tables:
        yield table.title, render_table(table)
    yield "Checks", _checks(report.evidence)
    yield "Looked at", _facts(report)
    yield "Cost", Words(_cost(report.cost))


def _print_head(head: str, console: Console) -> None:
    """Print the head; further lines are indented, so that a stranger's word begins no line."""
    first, *rest = Words(head, "bold cyan").wrap(console, console.width - 2)
    console.print(first)
    for line in rest:
        console.print(Padding(line, (0, 0, 0, 2)))


def _print_steps(
    head: str,
    steps: Iterable[Step],
    console: Console,
    program: str,
) -> None:
    """Words as they are; commands begin with `program`, and can be copied."""
    _print_head(head, console)
    for words, step in steps:
        if words:
            console.print(Padding(Words(words), (0, 0, 0, 2)))
        if step:
            for line in _lines_of(step, program, console.width - 4):
                # rich would break it where no shell reads on
                console.print(Words(f"    {line}", "bold"), soft_wrap=True)
    console.print()


def _lines_of(step: str, program: str, width: int) -> list[str]:
    # a call is for Python, which knows no program
    if not step.startswith("cuescope "):
        return [step]
    return copyable(f"{program} {step.removeprefix('cuescope ')}", width)


def _finding(report: Report) -> RenderableType:
    """Print the sentences, and how often the model is right."""
    # Text: rich would read [brackets] as markup
    lines = list(map(Words, report.statements))
    if report.accuracy is not None:
        words = report.accuracy.words(report.provenance.samples)
        lines.append(Words(words, "dim"))
    return Group(*lines)


def _portraits(report: Report) -> RenderableType:
    """Where each finding's cue is, what changes there, and how sure that is."""
    names = {feature.key: feature.name or feature.key for feature in report.features}
    for check in report.evidence:
        if check.feature and check.name:
            names[check.feature] = check.name
    names = {key: short_name(name) for key, name in names.items()}
    table = Table.grid(padding=(0, 2))
    for portrait in report.portraits:
        guess = f"{portrait.name}. " if portrait.name else ""
        name = names[portrait.feature]
        if name != portrait.feature:
            # findings say the name, tables and commands the key
            name += f" ({portrait.feature})"
        table.add_row(
            Words(name, "bold"),
            Words(guess + portrait.sentence),
        )
    return table


def _facts(report: Report) -> Table:
    origin = report.provenance
    samples = f"{origin.samples}"
    if origin.labels:
        samples += f" of {len(origin.labels)} classes"
    facts = [("samples", samples)]
    # what is next has a place of its own
    facts += [note for note in report.notes.items() if note[0] != OWN_STEP]
    for role, stamp in (("data", origin.data), ("model", origin.model)):
        facts += [(f"{role}: {key}", fact) for key, fact in stamp.facts.items()]
    return _grid(facts)


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    # a long path goes on in the next line, and loses nothing
    table.add_column(overflow="fold")
    for key, words in rows:
        table.add_row(Words(key, "dim"), Words(words))
    return table


def _ranking(report: Report, width: int) -> RenderableType:
    if not report.scores:
        return Words("nothing to rank")
    # of a narrow screen the headline has all
    metrics = report.metrics if width >= NARROW else report.metrics[:1]
    # the room between columns goes first, then the intervals
    for gap, with_intervals in ((1, True), (0, True), (1, False), (0, False)):
        table = _table(report, metrics, gap=gap, with_intervals=with_intervals)
        spare = (
            width - 1 - sum((column.width or 0) + gap + 1 for column in table.columns)
        )
        if spare >= 0:
            break
    # what is left over is the names'
    for column in (table.columns[2], table.columns[1]):
        longest = max(map(len, map(str, column.cells)))
        least = column.width or 0
        more = max(0, min(longest - least, spare))
        column.width = least + more
        spare -= more
    return table


def _table(
    report: Report,
    metrics: Sequence[Metric],
    *,
    gap: int,
    with_intervals: bool,
) -> Table:
    """The rows; each column is as wide as what must not be broken, and not wider."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
    table.add_column("", width=1)  # a sign that survives a pipe
    table.add_column("cue", overflow="fold")
    table.add_column("label", overflow="fold")
    for metric in metrics:
        # a head of several lines, for figures are narrow
        table.add_column(metric.title.replace(" ", "\n"), justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("q", justify="right", no_wrap=True)
    by_row = {
        (score.feature, score.label, score.metric): score for score in report.scores
    }
    names = report.names
    for headline in report.headlines:
        row = [
            by_row.get((headline.feature, headline.label, metric.name))
            for metric in metrics
        ]
        table.add_row(
            headline.mark,
            Words(names[headline.feature]),
            Words(headline.label or "all"),
            *[_value(score, with_intervals) for score in row],
            *_n_and_q(row),
            style="bold" if headline.finding else "dim",
        )
    for column in table.columns[1:]:
        text = "\n".join(map(str, (column.header, *column.cells)))
        if column.no_wrap:
            column.width = max(map(len, text.splitlines()))
        else:
            longest = max(map(len, text.split()))
            column.width = min(longest, LONGEST_WORD)
    return table


def _n_and_q(row: Iterable[Score | None]) -> tuple[str, str]:
    """Return `n` and `q` of the first scores of a row that have them."""
    n = q = ""
    for score in row:
        if score is None:
            continue
        if not n and score.n is not None:
            n = str(score.n)
        if not q and score.q_value is not None:
            q = short_p_value(score.q_value)
    return n, q


def _value(score: Score | None, with_interval: bool) -> str:
    """The score as its column writes it."""
    if score is None or score.value is None:
        return "-"
    if score.low is None or score.high is None or not with_interval:
        return figure(score.value)
    value, low, high = with_ends(score.value, score.low, score.high)
    return f"{value}\n{low} to {high}"


def _checks(evidence: Iterable[Evidence]) -> RenderableType:
    """A line each."""
    table = Table.grid(padding=(0, 2))
    for check in evidence:
        verdict = check_words(check)
        table.add_row(
            Words(verdict, VERDICT_STYLE[verdict]),
            Words(check.check),
            Words(check.detail),
        )
    return table if table.row_count else Words("none was made")


def _cost(cost: Cost) -> str:
    tools = "".join(f"; {work}: {count:,}" for work, count in cost.tool_calls.items())
    read = cost.trials - cost.model_calls - cost.cache_hits
    recorded = f", {read:,} read from a recording" if read > 0 else ""
    work = f" in {cost.model_seconds:.1f} s" if cost.model_seconds else ""
    return (
        f"{count_of(cost.trials, 'trials')}{by_condition(cost.conditions)}: "
        f"{cost.model_calls:,} answered by the model{work}, {cost.cache_hits:,} by the cache"
        f"{recorded}{tools}; "
        f"{cost.seconds:.1f} s"
    )
