"""A report as a piece of HTML for the output of a notebook cell: findings with their pictures."""

from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from cuescope.report.bars import figure, p_value
from cuescope.report.html import data_uri
from cuescope.runs import picture_key
from cuescope.types import Report, Score

CARDS, TILES, ROWS = 5, 6, 12  # a cell is looked at, the page is read


def fragment(report: Report, pictures: Mapping[str, bytes]) -> str:
    """Sentences of the findings, pictures of their cues, the ranked scores and the checks.

    It needs no script and no style sheet, so it is shown wherever a notebook is.
    """
    environment = Environment(
        loader=PackageLoader("cuescope.python", ""),
        autoescape=True,  # labels and answers are strangers' text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, p_value=p_value)
    features = {feature.key: feature for feature in report.features}
    shown: set[str] = set()
    cards: list[tuple[str, list[str]]] = []
    for score in report.findings:
        if len(cards) == CARDS:
            break
        # one cue may hurt several labels: its pictures stand once
        tiles = [] if score.feature in shown else features[score.feature].occurrences[:TILES]
        shown.add(score.feature)
        found = [pictures[key] for o in tiles if (key := picture_key(o)) in pictures]
        cards.append((_words(report, score), [data_uri(picture) for picture in found]))
    return environment.get_template("notebook.html.jinja").render(
        report=report,
        asked=report.provenance,
        cards=cards,
        more=len(report.findings) - len(cards),
        others=[s for s in report.statements if s not in {words for words, _ in cards}][:CARDS],
        undecided=any(score.value is None and score.statement for score in report.headlines),
        rows=report.headlines[:ROWS],
        tried=len(report.headlines),
        headline=report.metrics[0] if report.metrics else None,
    )


def _words(report: Report, score: Score) -> str:
    return report.sentence(score) or f"{report.names[score.feature]}: {score.label or 'all labels'}"
