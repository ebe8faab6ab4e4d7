"""Trials as rows of batches that go through the model together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuescope_sdk import HideTokens, Trial
from cuescope_transformers.generative.hiding import hidden
from cuescope_transformers.generative.loading import Loaded
from cuescope_transformers.generative.prompts import rendered, said_of
from cuescope_transformers.generative.scoring import Tokens
from cuescope_transformers.generative.showing import Batch, media_of, shown

if TYPE_CHECKING:
    from cuescope_transformers.generative import VLMOptions


@dataclass(frozen=True)
class Row:
    """A trial (the one at `index`) with its prompt, and what is fed after it.

    `serves` are the choices whose log-probability is read off the row.
    """

    index: int
    trial: Trial
    prompt: str
    fed: Tokens = ()
    serves: tuple[int, ...] = ()


def row_of(loaded: Loaded, options: "VLMOptions", index: int, trial: Trial) -> Row:
    """The row that shows a trial and feeds nothing."""
    sample = trial.sample
    said = said_of(sample, options.prompt, options.question, options.scoring == "letters")
    media = media_of(loaded, sample)
    return Row(index, trial, rendered(loaded.processor, loaded.kind, said, media))


def batches(
    loaded: Loaded, rows: Sequence[Row], fps: float, size: int
) -> Iterator[tuple[list[Row], Batch]]:
    """At most `size` rows at once, of one edit and one number of frames; any masks go together.

    One at a time, where a model would count padding as words.
    """
    size = size if loaded.takes_padding else 1
    alike: dict[object, list[Row]] = {}
    for row in rows:
        edit = row.trial.edit
        kind = edit.kind if isinstance(edit, HideTokens) else edit
        alike.setdefault((kind, len(row.trial.sample.frames)), []).append(row)
    for group in alike.values():
        for start in range(0, len(group), size):
            part = group[start : start + size]
            yield part, _batch(loaded, part, fps)


def _batch(loaded: Loaded, rows: Sequence[Row], fps: float) -> Batch:
    prompts = [row.prompt for row in rows]
    masked = [(t, t.edit) for t in (row.trial for row in rows) if isinstance(t.edit, HideTokens)]
    if masked:
        return hidden(loaded, masked, prompts, fps)
    return shown(loaded, [row.trial.sample for row in rows], prompts, fps)
