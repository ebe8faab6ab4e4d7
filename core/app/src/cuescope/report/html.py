"""The report as one offline HTML file: what the template draws, as plain mappings."""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from cuescope.report.figures import figure, p_value, with_ends
from cuescope.report.pictures import picture_header, thumbnail
from cuescope.report.screen import (
    STATUS,
    change_words,
    check_words,
    cue_name,
    heading,
    impact_words,
    percent_words,
    shown_cues,
)
from cuescope.report.steps import next_commands, next_steps
from cuescope.report.tables import table_cells
from cuescope_core.conclusions import (
    Contrast,
    Exhibit,
    Finding,
    Occurrence,
    Portrait,
    Report,
    Row,
    Score,
)
from cuescope_core.errors import BadDataError
from cuescope_core.next_commands import Typed
from cuescope_core.printable import printable
from cuescope_core.runs import exhibit_key, picture_key

# a page stays below a megabyte: of the first candidates it shows some frames, and of more the row
MAX_CARDS = 50
MAX_SHEETS = 12
MAX_TILES = 8
# told in full, with their contrasts; the others are marked in the list
MAX_FINDINGS = 8
MAX_CONTRASTS = 3  # of one finding
LONG_NOTE = 160  # characters: a longer one takes the width of the page
MAX_LABELS = 24
EDGE = 3  # percent of a plot's width, so that the marks at its ends are whole

Drawn = dict[str, Any]


def render(report: Report, pictures: Mapping[str, bytes], run: str = "RUN") -> str:
    """One HTML file that needs nothing else, for a stranger to read.

    `pictures` maps `runs.picture_key` and `exhibit_key` to the bytes of pictures; those missing
    or unreadable are shown as absent. The first `MAX_CARDS` features get a card; `run` is the
    folder of the run, for the commands that go on from here.
    """
    cards = _cards(report, pictures)
    by_key = {card["feature"]: card for card in cards}
    cues = shown_cues(report)
    told = [
        _cue(report, cue, by_key.get(cue.feature), pictures)
        for cue in cues[:MAX_FINDINGS]
    ]
    headline = report.metrics[0] if report.metrics else None
    verdicts = sorted(map(check_words, report.evidence), reverse=True)
    template = environment().get_template("report.html.jinja")
    return template.render(
        report=report,
        asked=report.provenance,
        headline=headline,
        heading=heading(report),
        cues=cues,
        first=None if cues else _first_told(report, pictures),
        told=told,
        commands=next_commands(report, run, "cuescope"),
        steps=next_steps(report, run),
        again=Typed(report.provenance.command).again(),
        cards=cards,
        features=len({score.feature for score in report.headlines}),
        pairs=len(report.headlines),
        verdicts=Counter(verdicts),
        stamps=report.provenance.stamps,
        tables=table_cells(report.tables),
        plates=[
            (picture, data_uri(picture.image), _is_chart(picture.image))
            for picture in report.pictures
        ],
        max_labels=MAX_LABELS,
        words_of=check_words,
        long_note=LONG_NOTE,
    )


def _first_told(report: Report, pictures: Mapping[str, bytes]) -> Drawn | None:
    """The first feature to tell of where there is no finding: its name, and what it did."""
    if not report.told:
        return None
    first = report.told[0]
    return {
        "name": report.names[first.feature],
        "portrait": report.portrait_of(first.feature),
        "contrasts": _contrasts(report, first.feature, [first], pictures),
    }


def _cue(
    report: Report,
    cue: Finding,
    card: Drawn | None,
    pictures: Mapping[str, bytes],
) -> Drawn:
    """A finding: its claim in pieces, rows with their plot, impact, status, pictures."""
    labels = [
        score
        for score in report.headlines
        if score.feature == cue.feature and (score.finding or score.doubt)
    ]
    return {
        "pieces": cue.claim.split("{feature}"),
        "name": cue_name(report, cue.feature),
        "measure": cue.measure,
        "columns": cue.columns,
        "rows": list(map(_row, cue.rows)),
        "impact": impact_words(report, cue),
        "status": STATUS[cue.status],
        "doubts": cue.doubts,
        "sentences": [_sentence(report, score) for score in labels],
        "contrasts": _contrasts(report, cue.feature, labels, pictures),
        "portrait": report.portrait_of(cue.feature),
        "rank": card and card["rank"],
    }


def _row(row: Row) -> Drawn:
    """The words of a row, and where its ends lie on a plot from 0 to 100%."""
    ends = [
        None
        if share is None
        else EDGE + (100 - 2 * EDGE) * min(max(share, 0), 100) / 100
        for share in (row.with_cue, row.without_cue)
    ]
    return {
        "row": row,
        "with": percent_words(row.with_cue),
        "without": percent_words(row.without_cue),
        "ends": [None if end is None else round(end, 2) for end in ends],
        "change": change_words(row),
    }


def _cards(report: Report, pictures: Mapping[str, bytes]) -> list[Drawn]:
    """A feature a card, in the order of its first headline: labels, frames, checks, contrasts."""
    features = {feature.key: feature for feature in report.features}
    by_feature: dict[str, list[Score]] = defaultdict(list)
    for score in report.headlines:
        by_feature[score.feature].append(score)
    names = report.names
    cards: list[Drawn] = []
    for rank, (key, scores) in enumerate(
        islice(by_feature.items(), MAX_CARDS), start=1
    ):
        occurrences = features[key].occurrences
        shown = occurrences[:MAX_TILES] if rank <= MAX_SHEETS else ()
        portrait = report.portrait_of(key)
        tiles = []
        for number, frame in enumerate(shown):
            stored = pictures.get(picture_key(frame), b"")
            # the most typical one is larger
            tiles.append(_picture(frame, stored, portrait, is_small=number > 0))
        passing = [score for score in scores if score.finding or score.doubt]
        # a finding stands for its feature, also where another label ranks before it
        best = (passing or scores)[0]
        cards.append(
            {
                "rank": rank,
                "feature": key,
                "score": best,
                "finding": any(score.finding for score in scores),
                "doubt": all(score.doubt for score in passing) and bool(passing),
                "name": names[key],
                "key": key if key != names[key] else None,
                "number": _number(best),
                "labels": [_label_rows(report, score) for score in scores],
                "tiles": tiles,
                "pictured": any(tile["source"] for tile in tiles),
                "unseen": len(occurrences) - len(tiles),
                "checks": [check for check in report.evidence if check.feature == key],
            }
        )
    return cards


def _label_rows(report: Report, headline: Score) -> Drawn:
    """Every metric of the feature for this label, or for no label in particular."""
    scores: dict[tuple[str, str | None], Score] = {}
    for score in report.scores:
        if score.feature == headline.feature:
            scores[score.metric, score.label] = score
    rows = []
    for metric in report.metrics:
        by_label = scores.get((metric.name, headline.label)) or scores.get(
            (metric.name, None)
        )
        if by_label is not None:
            rows.append(
                {
                    "metric": metric,
                    "number": _number(by_label),
                    "n": by_label.n,
                    "p": p_value(by_label.p_value),
                    "q": p_value(by_label.q_value),
                }
            )
    return {"label": headline.label, "finding": headline.finding, "rows": rows}


def _contrasts(
    report: Report,
    feature: str,
    findings: Sequence[Score],
    pictures: Mapping[str, bytes],
) -> list[Drawn]:
    """The contrasts of a feature's findings, those of its labels before the others."""
    # a contrast without a label is about all of them
    labels = {None, *(score.label for score in findings)}
    shown = [
        contrast
        for contrast in report.contrasts
        if contrast.feature == feature and contrast.label in labels
    ]
    portrait = report.portrait_of(feature)
    return [
        _contrast(contrast, pictures, portrait) for contrast in shown[:MAX_CONTRASTS]
    ]


def _contrast(
    contrast: Contrast,
    pictures: Mapping[str, bytes],
    portrait: Portrait | None,
) -> Drawn:
    sides = []
    for side in contrast.sides:
        exhibits = [_exhibit(exhibit, pictures, portrait) for exhibit in side.exhibits]
        sides.append({"title": side.title, "exhibits": exhibits})
    return {
        "label": contrast.label,
        "of_label": contrast.shows_its_label_only,
        "rule": contrast.rule,
        "sides": sides,
    }


def _exhibit(
    exhibit: Exhibit,
    pictures: Mapping[str, bytes],
    portrait: Portrait | None,
) -> Drawn:
    """One captioned sample; `source` is a data: URI, None where there is no picture."""
    picture = pictures.get(exhibit_key(exhibit.occurrence), b"")
    drawing = data_uri(exhibit.drawing) if exhibit.drawing else None
    return _picture(exhibit.occurrence, picture, portrait) | {
        "exhibit": exhibit,
        "drawing": drawing,
    }


def _picture(
    occurrence: Occurrence,
    picture: bytes,
    portrait: Portrait | None,
    *,
    is_small: bool = False,
) -> Drawn:
    """An occurrence and its picture; `source` is a data: URI, None where there is no picture.

    `outline` goes round the cue's place: what is drawn over the picture, in its pixels.
    """
    tile: Drawn = {
        "outline": None,
        "sample": occurrence.sample,
        "frame": occurrence.frame or 0,
        "strength": occurrence.strength,
    }
    try:
        if is_small:
            picture = thumbnail(picture)
        with picture_header(picture) as image:
            width, height = image.size
    except BadDataError:  # the page must come out, whatever a picture is
        return tile | {"source": None, "width": 1, "height": 1}
    outline = portrait and portrait.outline_of(occurrence)
    if outline:
        tile["outline"] = _path_around(outline.mask, width, height)
    return tile | {"source": data_uri(picture), "width": width, "height": height}


def data_uri(picture: bytes) -> str:
    """A PNG or JPEG inside the page."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{b64encode(picture).decode()}"


def _is_chart(picture: bytes) -> bool:
    """True if it is drawn in a palette of few colours (lines and letters), as no photo is.

    A dark page shows charts with dark paper; photos and maps keep their colours.
    """
    try:
        with picture_header(picture) as image:
            return image.format == "PNG" and image.mode == "P"
    except BadDataError:
        return False


def _sentence(report: Report, score: Score) -> Drawn:
    """A finding in the method's words, or in plain ones: the pieces between which `name` stands."""
    title = next(
        metric.title for metric in report.metrics if metric.name == score.metric
    )
    where = "" if score.label is None else f" for '{score.label}'"
    plain = f"The model relies on {{feature}}{where} ({title} {figure(score.value)})."
    words = " ".join(filter(None, (score.statement or plain, score.doubt)))
    return {
        # in pieces: braces in a name are no place for another name
        "pieces": words.split("{feature}"),
        "name": report.names[score.feature],
    }


def _number(score: Score) -> Drawn:
    """The words of a score and its interval."""
    if score.value is None or score.low is None or score.high is None:
        return {"text": figure(score.value), "interval": None}
    value, low, high = with_ends(score.value, score.low, score.high)
    return {"text": value, "interval": f"{low} to {high}"}


def duration(seconds: float) -> str:
    """Seconds as a person says them.

    >>> duration(0.42), duration(71), duration(7260)
    ('0.4 s', '1 min 11 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@cache
def environment(package: str = "cuescope.report") -> Environment:
    """The templates in the folder of a package, with what they call."""
    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,  # labels and answers are strangers' text
        finalize=_visible,
        undefined=StrictUndefined,  # a misspelt name fails in tests, not as a gap
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, p_value=p_value, duration=duration)
    return environment


def _visible(value: Any) -> Any:
    """A text with its control characters written out: some turn the direction of writing."""
    # what is marked as safe is ours, and no plain text
    if type(value) is not str:
        return value
    # a page has texts of several lines
    return "\n".join(map(printable, value.split("\n")))


def _path_around(mask: np.ndarray, width: int, height: int) -> str:
    """The edges between cells of the mask (row, col) and others, in a picture of this size.

    >>> _path_around(np.array([[True, False]]), 20, 10)
    'M0 0H10M0 10H10M0 0V10M10 0V10'
    """
    rows, cols = mask.shape
    high = height / rows
    wide = width / cols
    # what lies outside of the frame is no part of the mask
    framed = np.pad(mask, 1)
    across = framed[1:, 1:-1] != framed[:-1, 1:-1]
    down = framed[1:-1, 1:] != framed[1:-1, :-1]
    path = []
    for row, start, end in _runs_of_edges(across):
        path.append(f"M{start * wide:g} {row * high:g}H{end * wide:g}")
    for col, start, end in _runs_of_edges(down.T):
        path.append(f"M{col * wide:g} {start * high:g}V{end * high:g}")
    return "".join(path)


def _runs_of_edges(lines: np.ndarray) -> list[tuple[int, int, int]]:
    """Yield the number of each line, and where a run of True starts and ends."""
    steps = np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    numbers, starts = np.nonzero(steps == 1)
    _, ends = np.nonzero(steps == -1)
    return list(zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True))
