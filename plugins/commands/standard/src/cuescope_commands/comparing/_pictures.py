"""The samples whose answer changed, with what each run said."""

from collections.abc import Callable, Iterator, Mapping

from cuescope_commands.comparing._pairs import Pairs, Row
from cuescope_commands.comparing._tables import unlike
from cuescope_sdk import Picture, Report, Sample
from cuescope_sdk.report import StripRow, frame_strips, thumbnail

SHOWN = 12


def flipped_samples(
    names: tuple[str, str],
    reports: tuple[Report, Report],
    pairs: Pairs,
    open_samples: Callable[[], Mapping[str, Sample]],
) -> Iterator[Picture]:
    """A sheet of what was lost and one of what was won, of the plain answers."""
    if unlike(reports, pairs):
        return
    lost, won = pairs.flips(pairs.conditions[0])
    samples = open_samples()
    for title, flips in (("Right before, wrong now", lost), ("Wrong before, right now", won)):
        strips = []
        for flip in flips:
            sample = samples.get(flip[1]["sample"])
            if sample is not None and len(strips) < SHOWN:
                strips.append(_strip(names, flip, sample))
        if strips:
            caption = f"{len(flips)} samples, of which {len(strips)} are shown"
            yield Picture(title=title, caption=caption, image=frame_strips(strips))


def _strip(names: tuple[str, str], flip: tuple[Row, Row], sample: Sample) -> StripRow:
    answers = "; ".join(map(_answer, names, flip))
    caption = f"{sample.key} ({flip[1]['label']})\n{answers}"
    return StripRow(caption=caption, frames=[thumbnail(frame) for frame in sample.frames])


def _answer(name: str, row: Row) -> str:
    chance = row["p_prediction"]
    probability = f" {chance:.2f}" if chance else ""
    return f"{name}: {row['prediction'] or row['text']}{probability}"
