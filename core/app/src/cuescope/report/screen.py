"""The first screen of a report: at most 30 lines of 80 columns and 200 words, for any findings.

What the model relies on, how bad it is, how sure that is, and what to do next.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from cuescope.report.figures import short_p_value
from cuescope.report.steps import copyable, next_commands, next_steps, tests_a_run
from cuescope_core.amounts import count_of
from cuescope_core.conclusions import Evidence, Finding, Report, Row, Score, cues_of
from cuescope_core.printable import one_line
from cuescope_core.signs import with_sign

LINES = 30
WORDS = 200  # about a minute of reading
WIDTH = 80
ROWS = 8  # of the table of the findings
BLOCKS = 4  # findings that have rows of their own; of more each has one row
HEAD = 10  # columns of "Impact", "Status" and the like
SUBJECT = 14  # columns that a subject has at least
NAME = 36  # columns of a name where several stand in a line
NARROW = 5  # points of an interval of which a tenth still says something
POWER = "power"  # the note of a method about its tests
RESULT = "result"  # and what came of all of it, where that is no list of cues
DETAILS = "(-v: all)"
MORE = "-v"
STATUS = {
    "correlation": "correlation; not yet tested as a cause",
    "cause": "CAUSE: measured by intervention",
    "not a cause": "not a cause: measured by intervention",
    "inconclusive": "inconclusive",
    "used": "USED: measured by changing it",
    "partly used": "PARTLY USED: measured by changing the input",
    "not used": "NOT USED: measured by changing the input",
    "unsupported": "NOT SUPPORTED: compared with the video",
}
Line = tuple[str, str]  # words and style


def screen(
    report: Report, run: str, program: str, width: int = WIDTH
) -> Iterator[Text]:
    """The lines, each no wider than `width`; `run` and `program` stand in the commands."""
    for words, style in _lines(report, run, program, min(width, WIDTH)):
        yield Text(words, style)


def _lines(report: Report, run: str, program: str, width: int) -> Iterator[Line]:
    shown = shown_cues(report)
    head = [*_title(report, width), *_at_chance(report, width)]
    head += _folded("", _verdict(report), width, "bold", most=2)
    tail: list[Line] = []
    if shown:
        tail += _impact(report, shown, width)
        tail += _status(shown, width)
        tail += _caution(shown, width)
    else:
        tail += _tested(report, width)
    tail += _checks(report.evidence, width)
    power = report.notes.get(POWER)
    if power:
        tail += _labelled("Power", power, width, most=2)
    tail += [("", ""), *_next(report, run, program, width)]
    yield from head
    yield "", ""
    if shown:
        # what the others leave, and a blank on either side
        lines = LINES - len(head) - len(tail) - 2
        words = WORDS - _count_words([*head, *tail])
        yield from _table(report, shown, width, lines, words)
        yield "", ""
    yield from tail


def _at_chance(report: Report, width: int) -> Iterator[Line]:
    if report.accuracy is not None and report.accuracy.looks_guessed:
        words = (
            f"Accuracy is at chance ({report.accuracy.guessing}): check labels and prompts, or a "
            "cue misleads the model."
        )
        yield from _folded("! ", words, width, "yellow", most=2)


def _title(report: Report, width: int) -> Iterator[Line]:
    origin = report.provenance
    name = report.title.partition(":")[0]
    about = one_line(f"{name}: {origin.model.spec} on {origin.data.spec}")
    facts = count_of(origin.samples, "samples")
    if report.accuracy is not None:
        facts += f", {report.accuracy.share:.1%} correct"
    if cell_len(about) + 2 + len(facts) <= width:
        yield about + facts.rjust(width - cell_len(about)), ""
    else:
        yield from _folded("", about, width, "", most=2)
        yield facts, ""
    yield "─" * width, "dim"


def _verdict(report: Report) -> str:
    """The number of cues, and what each does, or that none was found."""
    found = report.found
    # of a test of another run's cues, and of what found none
    if RESULT in report.notes and (tests_a_run(report) or not report.cues):
        return report.notes[RESULT]
    results = [cue for cue in report.cues if cue.kind == "result"]
    if not found and results:
        return "; ".join(_claim(report, cue) for cue in results)
    if not found and report.cues:
        return heading(report)
    if not found:
        if all(score.value is None for score in report.headlines):
            return "Nothing could be tested. This says nothing about the model."
        return "No cue found. This does not show that there is none."
    if len(found) == 1:
        return f"{heading(report)}: {_claim(report, found[0])}"
    # several may look alike: each name stands once, with how many have it
    counts = Counter(_short(cue_name(report, cue.feature).upper()) for cue in found)
    names = [f"{name} ({n})" if n > 1 else name for name, n in counts.items()]
    more = f"; {len(names) - BLOCKS} more" if len(names) > BLOCKS else ""
    return f"{heading(report)}: {'; '.join(names[:BLOCKS])}{more}"


def shown_cues(report: Report) -> tuple[Finding, ...]:
    """The cues to tell of: those that were found, and of a test each."""
    return report.cues if tests_a_run(report) else report.found or report.cues


def heading(report: Report) -> str:
    """How many of which kind were found, of a report with cues; of a test, what came of it."""
    if RESULT in report.notes and tests_a_run(report):
        return report.notes[RESULT]
    if report.found:
        words = kinds_words([cue.kind for cue in report.found])
        return words if words.endswith("findings") else f"{words} found"
    if any(cue.status == "used" for cue in report.cues):
        return "What the model uses"
    doubted = sum(bool(cue.doubts) for cue in report.cues)
    words = f": {count_of(doubted, 'candidates', 'are')} set aside" if doubted else ""
    return f"No finding{words}"


def kinds_words(kinds: Sequence[str]) -> str:
    """How many of which kind.

    >>> kinds_words(["problem"]), kinds_words(["cue", "problem"])
    ('1 problem', '2 findings')
    """
    same = len(set(kinds)) == 1
    return count_of(len(kinds), f"{kinds[0]}s" if same else "findings")


def _claim(report: Report, cue: Finding) -> str:
    return cue.claim.replace("{feature}", cue_name(report, cue.feature).upper())


def cue_claims(report: Report) -> list[str]:
    """A sentence about each cue: what it does, the errors that it explains, its status."""
    return [
        f"{_claim(report, cue)}: {impact_words(report, cue)}; {STATUS[cue.status]}."
        for cue in shown_cues(report)
    ]


def cue_name(report: Report, key: str) -> str:
    """The name of a cue: by a check, else by its method, else by what its pictures show."""
    for check in report.evidence:
        if check.feature == key and check.name:
            return one_line(check.name)
    [feature] = [feature for feature in report.features if feature.key == key]
    if feature.name:
        return one_line(feature.name)
    portrait = report.portrait_of(key)
    return one_line((portrait and portrait.name) or key)


def _short(name: str) -> str:
    return (
        name
        if cell_len(name) <= NAME
        else f"{set_cell_size(name, NAME - 4).rstrip()} ..."
    )


# ------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class _Column:
    head: str
    cells: list[str]

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *self.cells)))


def _count_words(lines: Iterable[Line]) -> int:
    return sum(len(words.split()) for words, _ in lines)


def _table(
    report: Report, cues: Sequence[Finding], width: int, most: int, most_words: int
) -> Iterator[Line]:
    """At most so many lines and words: the rows of each cue by change, one of each at least."""
    ranked = [(cue, sorted(cue.rows, key=_rank)) for cue in cues if cue.rows]
    # a heading, a row and room for another each
    if len(cues) > min(BLOCKS, most // 3) and len(cues) > 1:
        named = [
            rows[0].model_copy(update={"subject": ": ".join(filter(None, about))})
            for cue, rows in ranked
            for about in [(_short(cue_name(report, cue.feature)), rows[0].label)]
        ]
        blocks: list[tuple[str | None, list[Row]]] = [(None, named)]
    elif len(cues) == 1:
        blocks = [(None, rows) for _, rows in ranked]
    else:
        blocks = [(_claim(report, cue), rows) for cue, rows in ranked]
    total = sum(len(rows) for _, rows in blocks)
    if not total:
        return
    blocks = [(heading, rows[: ROWS // len(blocks)]) for heading, rows in blocks]
    shown = [row for _, rows in blocks for row in rows]
    columns, room = _columns(report, cues[0], shown, width)
    head = list(_head(cues[0], columns, room, width))
    yield from head
    # each block has a line of its own, and the last says how many there are more
    left = most - len(head) - 1 - sum(heading is not None for heading, _ in blocks)
    single = len(cues) == 1
    headings = [
        [] if heading is None else list(_folded("", heading, width, "cyan", most=1))
        for heading, _ in blocks
    ]
    drawn = [
        list(_row_lines(row, columns, number, room, 2 if single else 1))
        for number, row in enumerate(shown)
    ]
    # "12 more: -v" has three
    words_left = most_words - _count_words([*head, *chain.from_iterable(headings)]) - 3
    fits = _count_words(chain.from_iterable(drawn)) <= words_left
    # in any case the largest change of each cue, and of one block three
    least = 3 if len(blocks) == 1 else 1
    of_row = iter(drawn)
    printed = 0
    for place, (_, rows) in enumerate(blocks):
        yield from headings[place]
        share = left // (len(blocks) - place)
        words = words_left // (len(blocks) - place)
        for number, _ in enumerate(rows):
            lines = next(of_row)
            count = _count_words(lines)
            if len(lines) > share or not (fits or number < least or count <= words):
                continue
            share -= len(lines)
            left -= len(lines)
            words -= count
            words_left -= count
            printed += 1
            yield from lines
    if total > printed:
        yield f"  {total - printed} more: {MORE}", "dim"


def _head(
    cue: Finding, columns: Sequence[_Column], room: int, width: int
) -> Iterator[Line]:
    measure = "" if cue.measure == "correct" else one_line(cue.measure)
    heads = "".join(f"  {column.head:>{column.width}}" for column in columns)
    if cell_len(measure) > room:
        yield from _folded("  ", measure, width, "dim", most=1)
        measure = ""
    yield f"  {set_cell_size(measure, room)}{heads}", "dim"


def _row_lines(
    row: Row, columns: Sequence[_Column], number: int, room: int, most: int
) -> Iterator[Line]:
    cells = "".join(f"  {column.cells[number]:>{column.width}}" for column in columns)
    first, *rest = _wrapped(row.subject, room, most=most)
    style = "bold" if row.passes and not row.doubt else ""
    yield f"{row.mark or ' '} {set_cell_size(first, room)}{cells}", style
    for line in rest:
        yield f"  {line}", style


def _rank(row: Row) -> tuple[bool, bool, bool, float]:
    """Rank of a row: those without a change as given, the finding's own, what passes, by change."""
    if row.change is None:
        return False, False, False, 0.0
    of_others = row.feature is not None
    return True, of_others, not (row.passes or row.doubt), -abs(row.change)


def _columns(
    report: Report, cue: Finding, rows: Sequence[Row], width: int
) -> tuple[list[_Column], int]:
    """Those that fit beside the subjects, and the room of these; what does not fit is in -v."""
    level = report.provenance.method.options.get("confidence", 0.95)
    level = level if isinstance(level, float) and 0 < level < 1 else 0.95
    shown, removed = (_short(one_line(head)) for head in cue.columns)
    columns = [
        _Column(shown, [percent_words(row.with_cue) for row in rows]),
        _Column(removed, [percent_words(row.without_cue) for row in rows]),
        _Column(f"change ({level:.0%} CI)", [change_words(row) for row in rows]),
        _Column("n", ["-" if row.n is None else f"{row.n:,}" for row in rows]),
        _Column("q", [short_p_value(row.q_value) or "-" for row in rows]),
    ]
    columns = [
        column for column in columns if any(cell != "-" for cell in column.cells)
    ]
    longest = max(cell_len(one_line(row.subject)) for row in rows)
    least = min(longest, SUBJECT)
    # n, then q: the change is what is read
    for head in ("n", "q", removed, shown):
        if _room(columns, width) >= least:
            break
        columns = [column for column in columns if column.head != head]
    return columns, max(min(_room(columns, width), longest), 1)


def _room(columns: Iterable[_Column], width: int) -> int:
    return width - 2 - sum(column.width + 2 for column in columns)


def percent_words(value: float | None) -> str:
    """Whole percent; where that would say all or none, a decimal."""
    if value is None:
        return "-"
    near = 0 < value < 1 or 99 < value < 100
    return f"{value:.1f}%" if near else f"{value:.0f}%"


def change_words(row: Row) -> str:
    if row.change is None:
        return "-"
    if row.low is None or row.high is None:
        return _signed(row.change, 0 if abs(row.change) >= 1 else 1)
    decimals = 1 if row.high - row.low < NARROW else 0
    value, low, high = (
        _signed(end, decimals) for end in (row.change, row.low, row.high)
    )
    return f"{value} ({low} to {high})"


def _signed(value: float, decimals: int) -> str:
    words = with_sign(value, f".{decimals}f")
    return f"+{words}" if round(value, decimals) > 0 else words


# ------------------------------------------------------------------------------ what stands below


def _impact(report: Report, cues: Sequence[Finding], width: int) -> Iterator[Line]:
    if len(cues) == 1:
        yield from _labelled("Impact", impact_words(report, cues[0]), width, most=2)
        return
    known = [
        (_short(cue_name(report, cue.feature)), cue.impact)
        for cue in cues
        if cue.impact is not None
    ][:BLOCKS]
    totals = {(impact.total, impact.of) for _, impact in known}
    kinds = {impact.of for _, impact in known}
    if not known:
        words = impact_words(report, cues[0])
    elif len(totals) == 1:
        [(total, of)] = totals
        counts: dict[str, list[str]] = {}
        for name, impact in known:
            counts.setdefault(name, []).append(f"{impact.count:,}")
        parts = [f"{name} {', '.join(of_name)}" for name, of_name in counts.items()]
        words = f"of {total:,} {of}: {', '.join(parts)}"
    elif len(kinds) == 1:
        [of] = kinds
        counted = (f"{name} {i.count:,} of {i.total:,}" for name, i in known)
        words = f"{of}: {'; '.join(counted)}"
    else:
        words = "; ".join(
            f"{name}: {impact.count:,} of {impact.total:,} {impact.of}"
            for name, impact in known
        )
    yield from _labelled("Impact", words, width, most=2)


def impact_words(report: Report, cue: Finding) -> str:
    """The errors that a cue explains, or why none are counted."""
    if cue.impact:
        return cue.impact.words
    is_faultless = report.accuracy is not None and report.accuracy.share == 1
    return "no errors in these samples" if is_faultless else "not computed"


def _status(cues: Sequence[Finding], width: int) -> Iterator[Line]:
    said = list(dict.fromkeys(cue.status for cue in cues))
    if len(said) == 1:
        yield from _labelled("Status", STATUS[said[0]], width, most=1)
        return
    counted = [f"{sum(cue.status == one for cue in cues)} {one}" for one in said]
    yield from _labelled("Status", ", ".join(counted), width, most=2)


def _caution(cues: Sequence[Finding], width: int) -> Iterator[Line]:
    doubts = list(dict.fromkeys(doubt for cue in cues for doubt in cue.doubts))
    if not doubts:
        return
    more = f" ({len(doubts) - 1} more: {MORE})" if len(doubts) > 1 else ""
    words = doubts[0].removeprefix("But ")
    yield from _labelled("! Caution", words + more, width, most=2, style="yellow")


def _tested(report: Report, width: int) -> Iterator[Line]:
    """A line on what was tried without a finding, and the strongest of it."""
    if RESULT in report.notes:
        return
    headlines = [score for score in report.headlines if score.value is not None]
    if not headlines:
        reason = next(
            (report.sentence(score) for score in report.told if score.statement), None
        )
        if reason:
            yield from _labelled("Why", reason, width, most=4)
        return
    words = count_of(len(headlines), "candidates")
    strongest = headlines[0]
    about = f' for "{strongest.label}"' if strongest.label else ""
    words += f"; the strongest: {cue_name(report, strongest.feature)}{about}"
    rows = list(_rows_about(report, strongest))
    changes = (change_words(row) for row in rows if row.change is not None)
    words += "".join(f", {change} points" for change in islice(changes, 1))
    tested = (row.q_value for row in rows if row.q_value is not None)
    words += "".join(f", q {short_p_value(q)}" for q in islice(tested, 1))
    yield from _labelled("Tested", words, width, most=3)


def _rows_about(report: Report, headline: Score) -> Iterator[Row]:
    """A row for each metric of a headline's feature and label."""
    for metric in report.metrics:
        for score in report.scores:
            place = score.feature, score.label
            if score.metric == metric.name and place == (
                headline.feature,
                headline.label,
            ):
                told = score.model_copy(update={"finding": True})
                [cue] = cues_of((metric,), [told])
                yield cue.rows[0]


def _checks(evidence: Sequence[Evidence], width: int) -> Iterator[Line]:
    """How many passed; a check that takes findings away fails, what changes none is a note."""
    if not evidence:
        return
    failed = [check for check in evidence if check_words(check) == "FAILED"]
    passed = sum(check_words(check) == "passed" for check in evidence)
    notes = len(evidence) - passed - len(failed)
    parts = [f"{passed} passed"]
    parts += [count_of(notes, "notes")] if notes else []
    parts += [f"{len(failed)} FAILED"] if failed else []
    yield from _labelled("Checks", f"{', '.join(parts)} {DETAILS}", width, most=1)
    named = dict.fromkeys(check.check for check in failed)
    for name in list(named)[:2]:
        yield from _labelled("", f"FAILED {name}", width, most=1, style="red")


def check_words(check: Evidence) -> str:
    """Word for a check: passed, failed (it takes findings away), or a note that changes none."""
    if check.verdict == "supported":
        return "passed"
    return "FAILED" if check.verdict == "refuted" and check.doubt else "note"


def _next(report: Report, run: str, program: str, width: int) -> Iterator[Line]:
    commands = next_commands(report, run, program)
    for words, _ in [] if commands else next_steps(report, run)[:1]:
        yield from _folded("Next  ", words, width, "", most=3)
    for number, (command, words) in enumerate(commands):
        head = "Next" if number == 0 else ""
        first, *rest = copyable(command, width - 6)
        said = f"   {words}" if words and not rest else ""
        if cell_len(first) + 6 + len(said) > width:
            said = ""
        yield f"{head:<6}{first}{said}", ""
        for line in rest:
            yield f"      {line}", ""


def _labelled(
    head: str, words: str, width: int, *, most: int, style: str = ""
) -> Iterator[Line]:
    """Words behind a head, what follows further in."""
    yield from _folded(f"{head:<{HEAD}} ", words, width, style, most=most)


def _folded(
    head: str, words: str, width: int, style: str, *, most: int
) -> Iterator[Line]:
    # a stranger's word stands at no line's begin
    room = max(len(head), 2)
    first, *rest = _wrapped(words, width - room, most=most)
    yield f"{head}{first}".rstrip(), style
    for line in rest:
        yield f"{' ' * room}{line}", style


def _wrapped(words: str, width: int, *, most: int) -> list[str]:
    """At most so many lines; the last says that there is more."""
    # of a name at least so much, whatever the screen
    width = max(width, 8)
    # rich knows which letters take two columns
    wrapped = Text(one_line(words)).wrap(Console(width=width), width)
    lines = [line.plain.rstrip() for line in wrapped] or [""]
    if len(lines) <= most:
        return lines
    last = set_cell_size(lines[most - 1], width - 4).rstrip()
    return [*lines[: most - 1], f"{last} ..."]
