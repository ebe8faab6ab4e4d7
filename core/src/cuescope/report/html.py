"""The report as one offline HTML page: the findings in words, shown with their frames.

`render` turns the report into a small view of plain values, and the template beside this file
lays it out. Every word of the report is escaped; every picture is a data: URI.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image, UnidentifiedImageError

from cuescope.report.bars import Axis, Bar, axis, bar, figure, p_value
from cuescope.store import picture_key
from cuescope.types import Evidence, Feature, Metric, Occurrence, PluginStamp, Report, Score

MAX_CARDS = 40
MAX_TILES = 24
MAX_OPEN = 3
MAX_LABELS = 24


@dataclass(frozen=True, slots=True)
class Tile:
    """One frame of a contact sheet; `source` is a data: URI, None where no picture is at hand."""

    sample: str
    frame: int
    strength: float
    source: str | None
    width: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of a card: a bar on the axis that this metric has in the whole report."""

    metric: Metric
    axis: Axis
    bar: Bar
    p: str | None
    q: str | None
    n: int | None


@dataclass(frozen=True, slots=True)
class Card:
    """A feature and label, with the figures, frames and checks that belong to them."""

    rank: int
    name: str
    key: str | None
    label: str | None
    finding: bool
    open: bool
    bar: Bar
    rows: tuple[Row, ...]
    tiles: tuple[Tile, ...]
    unseen: int
    checks: tuple[Evidence, ...]

    @property
    def pictured(self) -> bool:
        """Whether any frame has a picture."""
        return any(tile.source for tile in self.tiles)


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in words: the pieces of the sentence, between which `name` stands."""

    pieces: tuple[str, ...]
    name: str
    card: Card | None


def render(report: Report, pictures: Mapping[str, bytes]) -> str:
    """One HTML file that needs nothing else, for a stranger to read.

    `pictures` maps `store.picture_key` to the bytes of a thumbnail; those missing or
    unreadable are shown as absent. The first `MAX_CARDS` (feature, label) pairs get a card.
    """
    ranked = report.headlines
    cards = make_cards(report, ranked[:MAX_CARDS], pictures)
    return _environment().get_template("report.html.jinja").render(
        report=report,
        asked=report.provenance,
        headline=report.metrics[0] if report.metrics else None,
        axis=_axes(report)[report.metrics[0].name] if report.metrics else None,
        findings=make_findings(report, cards),
        cards=cards,
        pairs=len(ranked),
        verdicts=count_verdicts(report.evidence),
        stamps=list_stamps(report),
        max_labels=MAX_LABELS,
    )  # fmt: skip


def make_cards(
    report: Report, scores: Sequence[Score], pictures: Mapping[str, bytes]
) -> tuple[Card, ...]:
    """A card for each headline score."""
    axes = _axes(report)
    features = {feature.key: feature for feature in report.features}
    by_place = {(s.feature, s.label, s.metric): s for s in report.scores}
    cards: list[Card] = []
    seen: set[str] = set()
    for rank, score in enumerate(scores, start=1):
        feature = features.get(score.feature, Feature(key=score.feature, kind="unknown"))
        name = report.names.get(feature.key, feature.key)
        tiles = make_tiles(feature.occurrences[:MAX_TILES], pictures)
        cards.append(
            Card(
                rank=rank,
                name=name,
                key=feature.key if feature.key != name else None,
                label=score.label,
                finding=score.finding,
                open=rank == 1 or (score.finding and rank <= MAX_OPEN and feature.key not in seen),
                bar=bar(score, axes[score.metric]),
                rows=_rows(score, report.metrics, by_place, axes),
                tiles=tiles,
                unseen=len(feature.occurrences) - len(tiles),
                checks=tuple(e for e in report.evidence if _is_about(e, score)),
            )
        )
        seen.add(feature.key)
    return tuple(cards)


def make_tiles(
    occurrences: tuple[Occurrence, ...], pictures: Mapping[str, bytes]
) -> tuple[Tile, ...]:
    """A tile for each occurrence, the one that stands for the feature first."""
    tiles = []
    for seen in occurrences:
        frame = seen.frame or 0
        source, width, height = _embed(pictures.get(picture_key(seen)))
        tiles.append(Tile(seen.sample, frame, seen.strength, source, width, height))
    return tuple(tiles)


def make_findings(report: Report, cards: tuple[Card, ...]) -> tuple[Finding, ...]:
    """Each finding in the method's words, or in plain ones where it gave none."""
    by_place = {
        (score.feature, score.label): card
        for score, card in zip(report.headlines, cards, strict=False)
    }
    titles = {metric.name: metric.title for metric in report.metrics}
    return tuple(
        Finding(
            pieces=tuple((score.statement or _plain(score, titles)).split("{feature}")),
            name=report.names.get(score.feature, score.feature),
            card=by_place.get((score.feature, score.label)),
        )
        for score in report.findings
    )


def count_verdicts(evidence: tuple[Evidence, ...]) -> dict[str, int]:
    """How many checks came to each verdict, the verdicts that occur only."""
    verdicts = [e.verdict for e in evidence]
    order = ("supported", "refuted", "inconclusive")
    return {verdict: verdicts.count(verdict) for verdict in order if verdict in verdicts}


def list_stamps(report: Report) -> list[tuple[str, PluginStamp]]:
    """Every plugin of the audit with its role."""
    asked = report.provenance
    return [
        ("method", asked.method),
        ("model", asked.model),
        ("data", asked.data),
        *((f"tool: {role}", stamp) for role, stamp in asked.tools.items()),
        *(("verifier", stamp) for stamp in asked.verifiers),
    ]


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


def _rows(
    score: Score,
    metrics: tuple[Metric, ...],
    by_place: Mapping[tuple[str, str | None, str], Score],
    axes: Mapping[str, Axis],
) -> tuple[Row, ...]:
    """Every metric of the feature for this label, or for no label in particular."""
    rows = []
    for metric in metrics:
        found = by_place.get((score.feature, score.label, metric.name)) or by_place.get(
            (score.feature, None, metric.name)
        )
        if found is not None:
            p, q = p_value(found.p_value), p_value(found.q_value)
            scale = axes[metric.name]
            rows.append(Row(metric, scale, bar(found, scale), p, q, found.n))
    return tuple(rows)


def _axes(report: Report) -> dict[str, Axis]:
    """One axis a metric, so that bars of different features compare."""
    return {
        metric.name: axis(
            value
            for score in report.scores
            if score.metric == metric.name
            for value in (score.value, score.low, score.high)
            if value is not None
        )
        for metric in report.metrics
    }


def _is_about(evidence: Evidence, score: Score) -> bool:
    return evidence.feature == score.feature and evidence.label in (None, score.label)


def _plain(score: Score, titles: Mapping[str, str]) -> str:
    where = "" if score.label is None else f" for '{score.label}'"
    title = titles.get(score.metric, score.metric)
    return f"The model leans on {{feature}}{where} ({title} {figure(score.value)})."


def _embed(picture: bytes | None) -> tuple[str | None, int, int]:
    """The data: URI of a picture, with its width and height in pixels."""
    if picture is None:
        return None, 1, 1
    try:
        with Image.open(BytesIO(picture)) as image:
            kind, (width, height) = (image.format or "jpeg").lower(), image.size
    except (UnidentifiedImageError, OSError):
        return None, 1, 1
    return f"data:image/{kind};base64,{b64encode(picture).decode()}", width, height


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cuescope.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, duration=duration)
    return environment
