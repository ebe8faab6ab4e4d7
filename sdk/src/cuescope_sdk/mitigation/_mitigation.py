"""What a mitigator learned: arrays and numbers in a folder, and how the model answers with them."""

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np

from cuescope.errors import UserError
from cuescope.runs import write_atomically
from cuescope.types import Output, Response, Trial
from cuescope_sdk.mitigation._routing import Ask, CueRouter, Router
from cuescope_sdk.models._archives import require_small_archive

STAMP, ARRAYS = "mitigation.json", "arrays.npz"


class Mitigation(ABC):
    """What was learned. Subclass it as a frozen dataclass at module level.

    Its fields are arrays, numbers, text, tuples of them, another such dataclass, or the task's
    `Router`: they are what is saved, and what tells two of them apart.
    """

    @abstractmethod
    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """A response to each trial, in order, with what it asks for.

        `ask` puts any trials, readouts too, to the model as it was.
        """

    def files(self) -> Mapping[str, bytes]:
        """More files for the folder, by name: something for other programs to read."""
        return {}

    @classmethod
    def load(cls, folder: Path) -> Self:
        """From a folder that `save` wrote; raises UserError where it does not fit.

        Of the class that was saved, where that is a subclass of this one.
        """
        try:
            require_small_archive("mitigated", folder / ARRAYS)
            stamp = json.loads((folder / STAMP).read_bytes())
            kinds = {kind.__name__: kind for kind in cls.__subclasses__()}
            kind, plain = kinds.get(stamp.get("class"), cls), stamp["learned"]
            # a pickle runs code of whoever made the file
            with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
                return _built(kind, plain | dict(arrays), "")  # type: ignore[no-any-return]
        except UserError:
            raise
        except Exception as error:  # the reader of a stranger's bytes fails in any way it likes
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UserError(
                f"mitigated={folder}",
                expected=f"{STAMP} and {ARRAYS} as `cuescope mitigate` wrote them",
                got=reason,
            ) from error


def write(mitigation: Mitigation, stamp: Mapping[str, object], folder: Path) -> None:
    """Keep what was learned, the stamp last: a folder with a stamp is whole."""
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    for name, value in _parts(mitigation, ""):
        (arrays if isinstance(value, np.ndarray) else plain)[name] = value
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    write_atomically(folder / ARRAYS, content.getvalue())
    for name, file in mitigation.files().items():
        write_atomically(folder / name, file)
    stamp = {**stamp, "class": type(mitigation).__name__, "learned": plain}
    write_atomically(folder / STAMP, json.dumps(stamp, indent=1))


def content(mitigation: Mitigation) -> list[tuple[str, Any]]:
    """All that was learned, for a digest."""
    return [(type(mitigation).__name__, None), *_parts(mitigation, "")]


def _parts(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for each in fields(value):
        inner = getattr(value, each.name)
        if is_dataclass(inner):
            yield from _parts(inner, f"{prefix}{each.name}.")
        else:
            yield prefix + each.name, inner


def _built(kind: Any, stored: Mapping[str, Any], prefix: str) -> Any:
    hints, given = get_type_hints(kind), {}
    for each in fields(kind):
        name, hint = prefix + each.name, hints[each.name]
        if hint is Router:  # what is kept tells the cues; routers of chance are of placebos
            hint = CueRouter
        if is_dataclass(hint):
            given[each.name] = _built(hint, stored, f"{name}.")
        else:
            value = stored[name]
            given[each.name] = tuple(value) if isinstance(value, list) else value
    return kind(**given)


def rescored(
    trials: Sequence[Trial], ask: Ask, logits_of: Callable[[int, Response], np.ndarray]
) -> list[Response]:
    """The model's responses with other logits, where a trial asks for logits.

    `logits_of` is given a trial's place and the model's own response, with logits and embedding.
    """
    more: frozenset[Output] = frozenset({"logits", "embedding"})
    asked = [
        replace(trial, outputs=trial.outputs | more) if "logits" in trial.outputs else trial
        for trial in trials
    ]
    responses = []
    for place, (trial, answer) in enumerate(zip(trials, ask(asked), strict=True)):
        responses.append(
            Response(
                logits=logits_of(place, answer) if "logits" in trial.outputs else None,
                text=answer.text,
                embedding=answer.embedding if "embedding" in trial.outputs else None,
                readout=answer.readout,
            )
        )
    return responses


def columns_of(choices: Sequence[str], labels: Sequence[str]) -> list[int]:
    """The place of each choice among the labels that were learned; raises UserError."""
    for choice in choices:
        if choice not in labels:
            raise UserError(
                f"the mitigated model has not learned '{choice}'",
                expected=f"the {len(labels)} labels that it was mitigated for",
                got="another choice",
                remedy="Audit it on data with the same labels, or run cuescope mitigate on these",
            )
    return [labels.index(choice) for choice in choices]
