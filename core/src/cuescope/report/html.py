"""The report as one offline HTML file: what the template draws, as plain mappings."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image, UnidentifiedImageError

from cuescope.report.bars import Axis, axis, bar, figure, p_value
from cuescope.report.tables import table_cells
from cuescope.runs import picture_key
from cuescope.types import Occurrence, Report, Score

MAX_CARDS = 40  # a page stays below some megabytes
MAX_TILES = 24
MAX_OPEN = 3
MAX_LABELS = 24

Drawn = dict[str, Any]


def render(report: Report, pictures: Mapping[str, bytes]) -> str:
    """One HTML file that needs nothing else, for a stranger to read.

    `pictures` maps `runs.picture_key` to the bytes of a thumbnail; those missing or unreadable
    are shown as absent. The first `MAX_CARDS` (feature, label) pairs get a card.
    """
    axes = _axes(report)
    cards = _cards(report, report.headlines[:MAX_CARDS], pictures, axes)
    asked = report.provenance
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            asked=asked,
            headline=report.metrics[0] if report.metrics else None,
            axis=axes[report.metrics[0].name] if report.metrics else None,
            findings=[_finding(report, score, cards) for score in report.findings],
            cards=cards,
            pairs=len(report.headlines),
            verdicts=Counter(sorted((c.verdict for c in report.evidence), reverse=True)),
            stamps=asked.stamps,
            tables=table_cells(report.tables),
            plates=[(plate, data_uri(plate.image)) for plate in report.pictures],
            max_labels=MAX_LABELS,
        )
    )


def _cards(
    report: Report, scores: Sequence[Score], pictures: Mapping[str, bytes], axes: Mapping[str, Axis]
) -> list[Drawn]:
    """A feature and label a card: figures, frames and checks that belong to them."""
    features = {feature.key: feature for feature in report.features}
    cards: list[Drawn] = []
    for rank, score in enumerate(scores, start=1):
        feature, name = features[score.feature], report.names[score.feature]
        tiles = [_tile(occurrence, pictures) for occurrence in feature.occurrences[:MAX_TILES]]
        fresh = all(card["score"].feature != score.feature for card in cards)
        cards.append(
            {
                "rank": rank,
                "score": score,
                "name": name,
                "key": feature.key if feature.key != name else None,
                "open": rank == 1 or (score.finding and rank <= MAX_OPEN and fresh),
                "bar": bar(score, axes[score.metric]),
                "rows": _rows(report, score, axes),
                "tiles": tiles,
                "pictured": any(tile["source"] for tile in tiles),
                "unseen": len(feature.occurrences) - len(tiles),
                "checks": [
                    check
                    for check in report.evidence
                    if check.feature == score.feature and check.label in (None, score.label)
                ],
            }
        )
    return cards


def _rows(report: Report, score: Score, axes: Mapping[str, Axis]) -> list[Drawn]:
    """Every metric of the feature for this label, or for no label in particular."""
    of_feature = {(s.metric, s.label): s for s in report.scores if s.feature == score.feature}
    rows = []
    for metric in report.metrics:
        of_label = of_feature.get((metric.name, score.label)) or of_feature.get((metric.name, None))
        if of_label is not None:
            scale = axes[metric.name]
            row = {"metric": metric, "axis": scale, "bar": bar(of_label, scale), "n": of_label.n}
            rows.append(row | {"p": p_value(of_label.p_value), "q": p_value(of_label.q_value)})
    return rows


def _tile(occurrence: Occurrence, pictures: Mapping[str, bytes]) -> Drawn:
    """One frame of a contact sheet; `source` is a data: URI, None where there is no picture."""
    tile = {
        "sample": occurrence.sample,
        "frame": occurrence.frame or 0,
        "strength": occurrence.strength,
    }
    picture = pictures.get(picture_key(occurrence), b"")
    try:
        with Image.open(BytesIO(picture)) as image:
            width, height = image.size
    except (UnidentifiedImageError, OSError):  # the page must come out, whatever a picture is
        return tile | {"source": None, "width": 1, "height": 1}
    return tile | {"source": data_uri(picture), "width": width, "height": height}


def data_uri(picture: bytes) -> str:
    """A PNG or JPEG inside the page."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{b64encode(picture).decode()}"


def _finding(report: Report, score: Score, cards: Sequence[Drawn]) -> Drawn:
    """A finding in the method's words, or in plain ones: the pieces between which `name` stands."""
    title = next(metric.title for metric in report.metrics if metric.name == score.metric)
    where = "" if score.label is None else f" for '{score.label}'"
    plain = f"The model leans on {{feature}}{where} ({title} {figure(score.value)})."
    return {
        "pieces": (score.statement or plain).split("{feature}"),
        "name": report.names[score.feature],
        "card": next((card for card in cards if card["score"] is score), None),
    }


def _axes(report: Report) -> dict[str, Axis]:
    """One axis a metric, so that bars of different features compare."""
    values: dict[str, list[float]] = {metric.name: [] for metric in report.metrics}
    for score in report.scores:
        known = (score.value, score.low, score.high)
        values[score.metric] += [value for value in known if value is not None]
    return {name: axis(of_metric) for name, of_metric in values.items()}


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
def environment() -> Environment:
    """The templates of this folder, with what they call."""
    environment = Environment(
        loader=PackageLoader("cuescope.report", ""),
        autoescape=True,  # labels and answers are strangers' text
        undefined=StrictUndefined,  # a misspelt name fails in tests, not as a gap
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, duration=duration)
    return environment
