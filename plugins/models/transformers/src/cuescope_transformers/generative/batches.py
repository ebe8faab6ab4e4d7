"""Trials as rows of batches that go through the model together, and the edits of a batch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from torch import Tensor

from cuescope_sdk import HideTokens, Trial, UserError
from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_sdk.torch import Fusion
from cuescope_transformers.generative.hiding import hide, require_hiding
from cuescope_transformers.generative.inputs import (
    Batch,
    media_of,
    network_inputs,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.prefix import read_prefix, split_prompt
from cuescope_transformers.generative.prompts import Tokens, render_prompt, user_words

FEWEST = 4  # rows of an image that go by themselves: fewer are quicker among the others


@dataclass(frozen=True)
class Row:
    """A trial (the one at `index`) with its prompt, and what is fed after it.

    `choices` are those whose log-probability is read off the row.
    """

    index: int
    trial: Trial
    prompt: str
    fed: Tokens = ()
    choices: tuple[int, ...] = ()


Rows = Sequence[Row]


def rows_of(model: GenerativeModel, trials: Sequence[Trial]) -> Rows:
    """The rows that show the trials and feed nothing."""
    rows = []
    for index, trial in enumerate(trials):
        words = user_words(trial.sample, model.options)
        media = media_of(model, trial.sample)
        prompt = render_prompt(model.processor, model.kind, words, media)
        rows.append(Row(index, trial, prompt))
    return rows


def batches(
    model: GenerativeModel,
    rows: Rows,
    *,
    reuse: bool = False,
) -> Iterator[tuple[Rows, Batch]]:
    """Rows of one edit and one number of frames, as many as the context says; any masks together.

    One at a time, where a model would count padding as words. With `reuse` (no row has an edit)
    an image of several rows goes through the network once.
    """
    size = model.rows if model.takes_padding else 1  # one row has no padding
    # where words behind an image change its tokens, they cannot be kept for the next question
    if reuse and size > 1 and model.family.keeps_prefixes:
        by_image, rows = rows_by_image(model, rows)
        for group in by_image:
            prefix = read_prefix(model, group[0].trial.sample, group[0].prompt)
            # its words cannot go on behind the image: the prompts go whole
            if prefix is None:
                rows = [*rows, *group]
                continue
            for part in _parts(group, size):
                tails = [split_prompt(model, row.prompt)[1] for row in part]
                yield part, prefix.batch(model, tails)
    alike: dict[object, list[Row]] = {}
    for row in rows:
        edit = row.trial.edit
        # a mask changes the inputs of its own row; any other edit is one state of all layers
        kind = edit.kind if isinstance(edit, HideTokens) else edit
        # the processor is given equally many frames a row
        key = (kind, len(row.trial.sample.frames))
        alike.setdefault(key, []).append(row)
    for group in alike.values():
        for part in _parts(group, size):
            trials = [row.trial for row in part]
            prompts = [row.prompt for row in part]
            if isinstance(trials[0].edit, HideTokens):
                yield part, hide(model, trials, prompts)
            else:
                samples = [trial.sample for trial in trials]
                inputs = network_inputs(model, samples, prompts)
                yield part, with_modalities(model, inputs)


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    """Consecutive rows, `size` of them at most."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def rows_by_image(model: GenerativeModel, rows: Rows) -> tuple[Sequence[Rows], Rows]:
    """Those with the same frames behind the same words, where there are several; the rest."""
    alike: dict[tuple[Tokens, tuple[str, ...]], list[Row]] = {}
    for row in rows:
        head, _ = split_prompt(model, row.prompt)
        frames = tuple(frame.key for frame in row.trial.sample.frames)
        alike.setdefault((head, frames), []).append(row)
    shared = []
    for (head, _), group in alike.items():
        if head and len(group) >= FEWEST:
            shared.append(group)
    # by identity: the same may be asked twice
    taken = set(map(id, chain.from_iterable(shared)))
    return shared, [row for row in rows if id(row) not in taken]


def require_editable(model: GenerativeModel, trial: Trial) -> None:
    """Raises UserError where the layers are closed, or the edit names one that is not there.

    The same where tokens are to be hidden that cannot be.
    """
    if isinstance(trial.edit, HideTokens):
        require_hiding(model, trial, trial.edit)
    elif trial.edit is not None:
        asked = getattr(trial.edit, "layers", None)
        model.fusion.require_layers(model.title, asked or ())


def fusion_of(
    model: GenerativeModel,
    batch: Batch,
    trial: Trial,
    watch: Callable[[int, Tensor], None] | None = None,
) -> Fusion | None:
    """What happens in the fusion layers while a batch of the trial's kind is shown; None: nothing.

    Raises UserError where the model does not say which of its tokens are visual.
    """
    # hidden tokens are gone from the inputs: the layers have nothing to do about them
    averages = AverageAttention | AverageTokens
    edit = trial.edit if isinstance(trial.edit, averages) else None
    plain = edit is None and watch is None
    # also for a plain answer: no placeholder in the prompt means that no frame was seen
    if not plain or model.visual:
        require_visual_tokens(model, batch, trial)
    if plain:
        return None
    return Fusion(batch.modality, edit, batch.cross, watch)


def require_visual_tokens(model: GenerativeModel, batch: Batch, trial: Trial) -> None:
    """Raises UserError where frames are shown and no token is known to be visual.

    Where tokens are hidden those that are visual were known, and there may be none left.
    """
    hides = isinstance(trial.edit, HideTokens)
    if trial.sample.frames and not hides and not batch.shows_video:
        raise UserError(
            f"{model.title} does not say which of its tokens are visual",
            expected="a placeholder in the prompt, image_token_id or video_token_id in config.json",
            got=f"the architecture '{model.kind}'",
            remedy="Mend config.json, or ask a model with placeholders.",
        )
