"""Faults of a log that can be seen in its rows: does its number follow from them?"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cuescope_core.amounts import count_of
from cuescope_sdk.data import shorten_names
from cuescope_sdk.data._input_checks import InputCheck, Status
from cuescope_sdk.language import normalise_answer, strip_thinking
from cuescope_sdk.logs._choices import Choices
from cuescope_sdk.logs._judging import literal_matches
from cuescope_sdk.logs._option_lists import is_blank, option_letter
from cuescope_sdk.logs._records import Judgement, Log, Record

TOLERANCE = (
    0.001  # of an accuracy: harnesses print two decimals of a percentage, or three
)
# share of the rows from which on what is in single rows is a fault of the log, as for a join
MATTERS = 0.01
LEVEL = 0.001  # of places of right answers: a log in a thousand is told for nothing
DUPLICATES = "that stand there twice"
# how models decline, in the words of refusal classifiers (XSTest, Roettger et al., 2024)
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'|\u2019)?m sorry|i am sorry|sorry,|i can(?:no|')t (?:assist|help|answer|provide)|"
    r"i cannot (?:assist|help|answer|provide)|i(?:'|\u2019)?m (?:un|not )able to|i am unable to|"
    r"as an ai\b|unfortunately, i)",
    re.IGNORECASE,
)
# text of UTF-8 that was read as Latin-1, or had no letter at all for its bytes
_GARBLED = re.compile("\ufffd|\u00c3[\u0080-\u00bf\u2018-\u203a]|\u00e2\u20ac")


def examine(log: Log) -> list[InputCheck]:
    """Check a log that was judged: its figure, its rows, its options."""
    return [
        *figure_checks(log),
        *word_checks(log),
        *row_checks(log),
        *option_checks(log.records),
    ]


def share_of(count: int, total: int) -> Status:
    """A count of rows as a fault from a hundredth on, a note below."""
    return "fault" if count > MATTERS * total else "note"


# ------------------------------------------------------------------------------------- the figure


def figure_checks(log: Log) -> Iterator[InputCheck]:
    """Which figure counts, its direction, and whether it is the mean of its rows."""
    judgement = log.judgement
    if judgement is None or judgement.figure is None:
        yield InputCheck(
            "figure",
            "note",
            "none in the rows: answers are compared with the right ones by words",
        )
        if log.scores:
            yield from _recomputed_from_words(log)
        yield from _other_words(log.records)
        return
    status: Status = "ok"
    if judgement.contradicted:
        status = "fault"
    elif not judgement.stated:
        status = "note"
    detail = f"'{judgement.figure}': {judgement.source}"
    if judgement.contradicted:
        detail += ", but answers that are right word for word have the worse figure"
    right = sum(record.right is True for record in log.records)
    detail += (
        f"; {right:,} of {judgement.judged:,} correct ({right / judgement.judged:.2%})"
    )
    if judgement.partial:
        detail += (
            f"; {count_of(judgement.partial, 'answers')} with a part of the points"
        )
    yield InputCheck("figure", status, detail)
    for name, share in judgement.others.items():
        yield InputCheck(
            f"figure '{name}'", "note", f"judges {share:.1%} of the answers otherwise"
        )
    if judgement.unknown:
        unknown = sum(judgement.unknown.values())
        named = shorten_names([f"'{value}'" for value in judgement.unknown])
        yield InputCheck(
            "values", "note", f"{count_of(unknown, 'values')} not understood: {named}"
        )
    total = len(log.records)
    if judgement.judged + sum(judgement.unknown.values()) < total:
        missing = total - judgement.judged - sum(judgement.unknown.values())
        yield InputCheck(
            "not judged",
            share_of(missing, total),
            f"{missing:,} of {total:,} answers have no '{judgement.figure}': words decide there",
        )
    yield from _recomputed(log, judgement, judgement.figure)


def _recomputed(log: Log, judgement: Judgement, chosen: str) -> Iterator[InputCheck]:
    found = False
    for name, own in log.scores.items():
        mean = next(
            (m for figure, m in judgement.means.items() if _is_of(name, figure)), None
        )
        if mean is None:
            continue
        found = True
        yield _compare(name, own, mean)
    if not found:
        yield InputCheck(
            "accuracy",
            "note",
            f"'{chosen}' is {judgement.means[chosen]:.2%} in the rows; the log "
            "states no figure to compare it with",
        )


def _recomputed_from_words(log: Log) -> Iterator[InputCheck]:
    matches = [match for match in literal_matches(log.records) if match is not None]
    if len(matches) == len(log.records) and "accuracy" in log.scores:
        yield _compare("accuracy", log.scores["accuracy"], sum(matches) / len(matches))


def _other_words(records: Sequence[Record]) -> Iterator[InputCheck]:
    """Answers of which none is worded as any right one: "Yes" where "True" is right."""
    free = [r for r in records if r.said.strip() and r.right_texts and not r.choices]
    if free and set(literal_matches(free)) == {None}:
        said, right = free[0].said.strip(), free[0].right_texts[0]
        yield InputCheck(
            "wording",
            "fault",
            f"none of {count_of(len(free), 'answers')} is worded as any right one "
            f"('{said:.40}' where '{right:.40}' is right), so each counts as incorrect",
        )


def _compare(name: str, own: float, mean: float) -> InputCheck:
    # a harness may count in percent
    scale = 100 if own > 1 else 1
    differs = abs(own / scale - mean) > TOLERANCE
    return InputCheck(
        "accuracy",
        "fault" if differs else "ok",
        f"'{name}' is {mean:.2%} in the rows and {own / scale:.2%} in the log's own figure",
    )


def _is_of(name: str, figure: str) -> bool:
    """True if a figure of the results is the mean of one of the rows: "acc,none", "match mean"."""
    if name == figure or name.partition(",")[0] == figure:
        return "stderr" not in name
    return name in (f"{figure} accuracy", f"{figure} mean")


# -------------------------------------------------------------------------------------- the words


def word_checks(log: Log) -> Iterator[InputCheck]:
    """Answers whose words say something else than their judgement; refusals and empty ones."""
    records = log.records
    total = len(records)
    judgement = log.judgement
    against = judgement.against if judgement else {}
    if against and judgement:
        count = sum(against.values())
        reasons = " and ".join(
            f"of {number:,} {why}" for why, number in against.items()
        )
        yield InputCheck(
            "extraction",
            share_of(count, total),
            f"{reasons} (such as {shorten_names(judgement.examples)})",
        )
    misread = list(filter(_is_misread, records))
    if not against and not misread:
        yield InputCheck("extraction", "ok", "no answer is judged against its words")
    refused = [r for r in records if _REFUSAL.match(strip_thinking(r.said))]
    garbled = [
        r for r in records if _GARBLED.search(f"{r.question} {r.said} {r.choices}")
    ]
    yield from _of_rows(
        total,
        ("extraction", misread, "parsed as another option than the words name"),
        ("empty answers", _empty_answers(records), "without words"),
        ("refusals", refused, "that decline"),
        ("encoding", garbled, "with broken letters"),
    )


def _of_rows(
    total: int, *found: tuple[str, Sequence[Record], str]
) -> Iterator[InputCheck]:
    """Checks by name, each with the rows that it is about, where there are any."""
    for name, rows, words in found:
        if rows:
            detail = f"{count_of(len(rows), 'rows')} {words} ({_names(rows)})"
            yield InputCheck(name, share_of(len(rows), total), detail)


def _empty_answers(records: Sequence[Record]) -> list[Record]:
    """Records without words, of a format that has them, and without likelihoods."""
    silent = [r for r in records if not r.said.strip() and not r.log_probs]
    if len(silent) < len(records):
        return silent
    return [record for record in silent if record.answer is None]


def _is_misread(record: Record) -> bool:
    """True if the harness's reading is another option than the one that the answer names."""
    if not record.choices or not isinstance(record.answer, int) or record.labels:
        return False
    chosen = Choices(record.choices).stated(record.said)
    return chosen is not None and chosen != record.answer and not record.shuffled


def _names(records: Sequence[Record]) -> str:
    return f"such as {shorten_names([f'{record.key:.40}' for record in records])}"


# --------------------------------------------------------------------------------------- the rows


def row_checks(log: Log) -> Iterator[InputCheck]:
    """Rows that are there twice, missing or failed, and what they do to the denominator."""
    keys = dict.fromkeys(record.key for record in log.records)
    twice = log.left_out.get(DUPLICATES, 0)
    if twice:
        yield InputCheck(
            "duplicates",
            "fault",
            f"{count_of(twice, 'rows')} {DUPLICATES}: each counts once here",
        )
    missing = _missing(log, len(keys))
    if missing:
        yield missing
    if log.errors:
        right = sum(record.right is True for record in log.records)
        judged = sum(record.right is not None for record in log.records)
        detail = f"{count_of(log.errors, 'rows')} without an answer"
        if judged:
            detail += (
                f": {right / judged:.2%} correct of {judged:,} answered, "
                f"{right / (judged + log.errors):.2%} if they count as incorrect"
            )
        yield InputCheck("failed rows", share_of(log.errors, len(log.records)), detail)
    unlabelled = [r for r in log.records if r.label is None and not r.labels]
    if len(unlabelled) == len(log.records):
        unlabelled = []
    clashes = _contradictions(log.records)
    ask_alike = "that ask what others ask, and call another answer right"
    yield from _of_rows(
        len(log.records),
        ("right answers", unlabelled, "without one"),
        ("right answers", clashes, ask_alike),
    )
    if not twice and not missing and not log.errors:
        yield InputCheck(
            "rows", "ok", f"{count_of(len(keys), 'questions')}, each once, none failed"
        )


def _missing(log: Log, asked: int) -> InputCheck | None:
    if log.expected is not None and asked + log.errors < log.expected:
        lacking = log.expected - asked - log.errors
        return InputCheck(
            "missing rows",
            "fault",
            f"{lacking:,} of the {log.expected:,} questions that the harness asked are not here",
        )
    # numbers of rows that the harness counts itself: a gap is a row that is gone
    numbers = {r.position for r in log.records if r.position is not None}
    if not log.counts_rows or not numbers:
        return None
    gap = max(numbers) + 1 - len(numbers) - log.errors
    if gap <= 0:
        return None
    return InputCheck(
        "missing rows",
        "fault",
        f"{gap:,} of the numbers from 0 to {max(numbers):,} are not here",
    )


def _contradictions(records: Sequence[Record]) -> list[Record]:
    """Records that ask the same as another one, with other right answers."""
    asked: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in records:
        if record.question and record.right_texts and record.images:
            asked[record.question, frozenset(record.choices), record.images].append(
                record
            )
    clashes = []
    for group in asked.values():
        if len({tuple(map(normalise_answer, r.right_texts)) for r in group}) > 1:
            clashes += group
    return clashes


# ------------------------------------------------------------------------------------ the options


def option_checks(records: Sequence[Record]) -> Iterator[InputCheck]:
    """Blank options, right answers that are no option, and where the right ones stand."""
    with_choices = [record for record in records if record.choices]
    if not with_choices:
        return
    total = len(records)
    strange = [
        r
        for r in with_choices
        if isinstance(r.label, str) and Choices(r.choices).index(r.label) is None
    ]
    blank = [r for r in with_choices if any(map(is_blank, r.choices))]
    unanswerable = [r for r in blank if is_blank(r.text_of(r.label) or "")]
    twins = [r for r in with_choices if len(set(r.choices)) < len(r.choices)]
    yield from _of_rows(
        total,
        ("options", strange, "whose right answer is none of the options"),
        ("options", blank, "with a blank option"),
        ("options", unanswerable, "whose right answer is a blank option"),
        ("options", twins, "with an option twice"),
    )
    yield from _places(with_choices)


def _places(records: Sequence[Record]) -> Iterator[InputCheck]:
    places = Counter(r.label for r in records if isinstance(r.label, int))
    counts = Counter(len(r.choices) for r in records if isinstance(r.label, int))
    if not places or max(counts) > 26:
        return
    # each place as often as questions offer it
    expected: Mapping[int, float] = {
        place: sum(number / count for count, number in counts.items() if count > place)
        for place in range(max(counts))
    }
    words = ", ".join(
        f"{option_letter(place)} {places[place] / places.total():.0%}"
        for place in expected
    )
    from cuescope_sdk.statistics import uneven_p_value  # late: scipy takes a second

    counts_of_places = [places[place] for place in expected]
    uneven = uneven_p_value(counts_of_places, list(expected.values())) < LEVEL
    detail = f"the right one is {words}"
    if uneven:
        detail += (
            ": more uneven than chance, so a model that prefers a place gains by it"
        )
    yield InputCheck("option order", "note" if uneven else "ok", detail)
