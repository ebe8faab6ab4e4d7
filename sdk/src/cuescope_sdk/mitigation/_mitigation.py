"""Result of a mitigator: arrays and numbers in a folder, and how the model answers with them."""

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np
from jaxtyping import Float, jaxtyped
from pydantic import ConfigDict, TypeAdapter, ValidationError

from cuescope_core.errors import UserError
from cuescope_core.mitigated import (
    REMEDY,
    WANTED,
    read_files,
    read_stamp,
    write_mitigated,
)
from cuescope_core.types import Output, Response, Trial
from cuescope_sdk.mitigation._routing import Ask, CueRouter, Router
from cuescope_sdk.models._arrays import read_arrays

ARRAYS = "arrays.npz"
_PerLabel = Float[np.ndarray, " label"]


class Mitigation(ABC):
    """Result of a mitigator. Subclass it as a frozen dataclass at module level.

    Its fields are arrays, numbers, text, tuples of them, another such dataclass, or the task's
    `Router`: they are what is saved, and what tells two of them apart. `labels`, where it has
    them, are those that it was learned from, in order.
    """

    labels: tuple[str, ...]

    @abstractmethod
    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """A response to each trial, in order, with what it asks for.

        `ask` puts any trials, readouts too, to the model as it was.
        """

    def rescore(
        self,
        trials: Sequence[Trial],
        ask: Ask,
        logits_of: Callable[[int, Response], np.ndarray],
    ) -> list[Response]:
        """The model's responses with other logits, where a trial asks for logits.

        `logits_of` is given a trial's place and the model's own response, with logits and
        embedding.
        """
        # what `logits_of` needs may be more than the trial asks for
        more: frozenset[Output] = frozenset({"logits", "embedding"})
        requests = [
            replace(trial, outputs=trial.outputs | more)
            if "logits" in trial.outputs
            else trial
            for trial in trials
        ]
        responses = []
        answers = ask(requests)
        for place, (trial, answer) in enumerate(zip(trials, answers, strict=True)):
            outputs = trial.outputs
            # what a trial did not ask for must not be in its response
            changed = replace(
                answer,
                logits=logits_of(place, answer) if "logits" in outputs else None,
                embedding=answer.embedding if "embedding" in outputs else None,
            )
            responses.append(changed)
        return responses

    def columns(self, trial: Trial) -> list[int]:
        """The place of each choice of a trial among `labels`; raises UserError for another one."""
        for choice in trial.sample.choices:
            if choice not in self.labels:
                raise UserError(
                    f"the mitigated model has not learned '{choice}'",
                    expected=f"the {len(self.labels)} labels that it was mitigated for",
                    got="another choice",
                    remedy="Audit it on data with the same labels, or run cuescope mitigate on "
                    "these",
                )
        return [self.labels.index(choice) for choice in trial.sample.choices]

    def files(self) -> Mapping[str, bytes]:
        """More files for the folder, by name: something for other programs to read."""
        return {}

    def content(self) -> list[tuple[str, Any]]:
        """All that was learned, for a digest."""
        return [(type(self).__name__, None), *_parts(self, "")]

    def save(self, folder: Path, *, mitigator: str, model: Mapping[str, str]) -> None:
        """Write it, for `-O model.mitigated=FOLDER`; `model` has its fingerprint and spec."""
        arrays: dict[str, np.ndarray] = {}
        plain: dict[str, Any] = {}
        # numbers and text are JSON, which people can read; arrays keep their bits
        for name, value in _parts(self, ""):
            (arrays if isinstance(value, np.ndarray) else plain)[name] = value
        packed = io.BytesIO()
        # plain arrays, no pickle: such a folder may come by mail (SECURITY.md)
        np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
        stamp: dict[str, object] = {"mitigator": mitigator, **model}
        stamp |= {"class": type(self).__name__, "learned": plain}
        write_mitigated(folder, stamp, {ARRAYS: packed.getvalue(), **self.files()})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """From a folder that `save` wrote; raises UserError where it does not fit.

        Of the class that was saved, where that is a subclass of this one.
        """
        stamp = read_stamp(folder)
        files = read_files(folder, stamp)
        # by name among known classes: a stamp must not choose what is imported
        kinds = {kind.__name__: kind for kind in (cls, *cls.__subclasses__())}
        try:
            if stamp.kind not in kinds:
                raise ValueError(f"a {stamp.kind}, not {' or '.join(kinds)}")
            arrays = read_arrays(files.get(ARRAYS, b""), folder / ARRAYS)
            return _build(kinds[stamp.kind], stamp.learned | arrays, "")  # type: ignore[no-any-return]
        # it says already what is wrong, of the stamp or of the size
        except UserError:
            raise
        except (
            Exception
        ) as error:  # the reader of a stranger's bytes fails in any way it likes
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UserError(
                f"mitigated={folder}",
                expected=WANTED,
                got=reason,
                remedy=REMEDY,
            ) from error


def _parts(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        inner = getattr(value, field.name)
        if is_dataclass(inner):
            yield from _parts(inner, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, inner


def _build(kind: Any, stored: Mapping[str, Any], prefix: str) -> Any:
    """The dataclass of these values; raises ValueError for one that is missing or does not fit."""
    # fields hold text where annotations are postponed
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    with jaxtyped("context"):  # a dimension has one size in all of its arrays
        for field in fields(kind):
            name = prefix + field.name
            hint = hints[field.name]
            # what is kept tells the cues; routers of chance are of placebos
            if hint is Router:
                hint = CueRouter
            if is_dataclass(hint):
                given[field.name] = _build(hint, stored, f"{name}.")
            elif name in stored:
                given[field.name] = _check(name, stored[name], hint)
            else:
                raise ValueError(f"nothing for '{name}'")
        labels = given.get("labels")
        # the arrays that have a row a label name this dimension
        if labels is not None and not isinstance(np.ones(len(labels)), _PerLabel):
            raise ValueError(f"'{prefix}labels': {len(labels)}, and arrays of others")
    return kind(**given)


def _check(name: str, value: Any, hint: Any) -> Any:
    """A stored value as its field wants it; raises ValueError for another type or shape."""
    wanted = TypeAdapter(
        hint, config=ConfigDict(arbitrary_types_allowed=True, strict=True)
    )
    is_float = isinstance(value, float) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )
    if is_float and not np.isfinite(value).all():
        raise ValueError(f"'{name}': Input should be finite numbers")
    try:
        if isinstance(value, np.ndarray):
            return wanted.validate_python(value)
        # by way of JSON: there lists become tuples, and nothing else becomes anything
        return wanted.validate_json(json.dumps(value))
    except ValidationError as error:
        fault = error.errors()[0]
        is_array_wanted = fault["type"] == "needs_python_object"  # no JSON is one
        reason = (
            "Input should be an array of numbers" if is_array_wanted else fault["msg"]
        )
        raise ValueError(f"'{name}': {reason}") from error
