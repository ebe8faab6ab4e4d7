"""The samples whose answer changed, with what each run said."""

from collections.abc import Iterator, Mapping, Sequence

from cuescope_commands.comparing._pairs import Pairs
from cuescope_commands.comparing._runs import Row
from cuescope_sdk import Frame, Picture, Sample
from cuescope_sdk.report import count_of, frame_strips

SHOWN = 12


def flipped_samples(
    first: str,
    second: str,
    pairs: Pairs,
    samples: Mapping[str, Sample],
) -> Iterator[Picture]:
    """A sheet of what was lost and one of what was won, of the plain answers of two named runs."""
    lost, won = pairs.flips(pairs.conditions[0])
    for title, flips in (
        ("Right before, wrong now", lost),
        ("Wrong before, right now", won),
    ):
        strips: list[tuple[str, Sequence[Frame]]] = []
        for before, after in flips:
            sample = samples.get(after["sample"])
            if sample is not None and len(strips) < SHOWN:
                answers = f"{_answer(first, before)}; {_answer(second, after)}"
                caption = f"{sample.key} ({after['label']})\n{answers}"
                strips.append((caption, sample.frames))
        if strips:
            caption = (
                f"{count_of(len(flips), 'samples')}, of which {len(strips)} are shown"
            )
            yield Picture(title=title, caption=caption, image=frame_strips(strips))


def _answer(name: str, row: Row) -> str:
    chance = row["p_prediction"]
    probability = f" {chance:.2f}" if chance else ""
    return f"{name}: {row['prediction'] or row['text']}{probability}"
