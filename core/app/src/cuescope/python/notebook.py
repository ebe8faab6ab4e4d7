"""A report as a piece of HTML for the output of a notebook cell: findings with their pictures."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from cuescope.report.html import data_uri, environment
from cuescope.report.pictures import stored_picture
from cuescope_core.conclusions import Report, Score
from cuescope_core.errors import BadDataError
from cuescope_core.runs import exhibit_key, picture_key

CARDS = 5  # few: a cell is looked at, the page is read
TILES = 6
ROWS = 12
CONTRASTS = 3  # of the first findings
SIDE = 128  # pixels; a notebook keeps what its cells show


def fragment(report: Report, pictures: Mapping[str, bytes]) -> str:
    """Sentences of the findings with their contrasts, the ranked scores and the checks.

    It needs no script and no style sheet, so it is shown wherever a notebook is.
    """
    features = {feature.key: feature for feature in report.features}
    shown: set[str] = set()
    cards: list[dict[str, Any]] = []
    for rank, score in enumerate(report.findings[:CARDS]):
        contrast = _contrast(report, score, pictures) if rank < CONTRASTS else None
        # one cue may hurt several labels: its pictures stand once
        hidden = contrast is not None or score.feature in shown
        tiles = [] if hidden else features[score.feature].occurrences[:TILES]
        shown.add(score.feature)
        thumbnails = [
            _small(pictures.get(picture_key(occurrence))) for occurrence in tiles
        ]
        plain = f"{report.names[score.feature]}: {score.label or 'all labels'}"
        cards.append(
            {
                "words": report.sentence(score) or plain,
                "contrast": contrast,
                "pictures": list(filter(None, thumbnails)),
            }
        )
    sentences = {card["words"] for card in cards}
    others = [
        statement for statement in report.statements if statement not in sentences
    ]
    template = environment("cuescope.python").get_template("notebook.html.jinja")
    return template.render(
        report=report,
        asked=report.provenance,
        cards=cards,
        more=len(report.findings) - len(cards),
        others=others[:CARDS],
        undecided=any(
            score.value is None and score.statement for score in report.headlines
        ),
        rows=report.headlines[:ROWS],
        tried=len(report.headlines),
        headline=report.metrics[0] if report.metrics else None,
    )


def _contrast(
    report: Report,
    score: Score,
    pictures: Mapping[str, bytes],
) -> dict[str, Any] | None:
    """The finding's first contrast: its rule, and of each side the title and the samples."""
    contrast = report.contrast_of(score)
    if contrast is None:
        return None
    sides = []
    for side in contrast.sides:
        samples = []
        for exhibit in side.exhibits:
            views = (pictures.get(exhibit_key(exhibit.occurrence)), exhibit.drawing)
            small = list(filter(None, map(_small, views)))
            samples.append({"exhibit": exhibit, "pictures": small})
        sides.append({"title": side.title, "samples": samples})
    return {"rule": contrast.rule, "sides": sides}


def _small(picture: bytes | None) -> str | None:
    """A picture of at most `SIDE` pixels a side as a data: URI; None where there is none."""
    try:
        image = stored_picture(picture or b"")
    except BadDataError:  # the cell must come out, whatever a picture is
        return None
    if max(image.size) <= SIDE:
        return data_uri(picture or b"")
    small = image.convert("RGB")
    small.thumbnail((SIDE, SIDE))
    file = BytesIO()
    small.save(file, "JPEG", quality=70)
    return data_uri(file.getvalue())
