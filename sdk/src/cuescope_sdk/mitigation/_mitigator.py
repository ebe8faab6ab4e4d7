"""The base of a mitigator: what it is given, and how a model answers with what it learned."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import create_model

from cuescope_core.capabilities import Capabilities, Model, Requirements
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import UserError, reason_of
from cuescope_core.mitigated import REMEDY, WANTED, read_stamp
from cuescope_core.plugin import Plugin
from cuescope_core.registry import version_with_code
from cuescope_core.respond import answer_batch
from cuescope_core.types import Options, Outcome, Response, Sample, Trial
from cuescope_sdk.mitigation._mitigation import Mitigation
from cuescope_sdk.mitigation._routing import Ask, Router
from cuescope_sdk.stills import Answers

# what looks inside for the reason of an answer would look at answers that are no longer given
GONE = frozenset({"choices", "image-tower"})


@dataclass(frozen=True)
class Task:
    """Task of a mitigator: labelled samples, and which of the cues each of them shows.

    `hurts` has the label that each cue hurts, None for all of them, `names` what each cue is
    called, None where nobody has named it. `ask` puts trials to the model, `router` tells the cues
    of samples that are not here.
    """

    labels: tuple[str, ...]
    samples: tuple[Sample, ...]
    shows: Bool[np.ndarray, "sample cue"]
    hurts: tuple[str | None, ...]
    router: Router
    ask: Ask
    context: Context
    names: tuple[str | None, ...]
    capabilities: Capabilities

    @cached_property
    def targets(self) -> Int[np.ndarray, " sample"]:
        """The place of each sample's label."""
        # in the order of the columns of `logits`
        place = {label: number for number, label in enumerate(self.labels)}
        return np.array([place[str(sample.label)] for sample in self.samples], int)

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        trials = list(Answers.trials(self.samples))
        return list(map(Outcome, trials, self.ask(trials)))

    @property
    def embedding(self) -> Float[np.ndarray, "sample dim"]:
        """Embedding of each sample by the model."""
        return Answers.stack_embeddings(self._outcomes).astype(np.float64)

    @property
    def logits(self) -> Float[np.ndarray, "sample class"]:
        """The model's logits, a column a label."""
        return Answers.stack_logits(self._outcomes, self.labels)

    @property
    def groups(self) -> Int[np.ndarray, " sample"]:
        """A number for each label with and without each cue that was met."""
        rows = np.column_stack([self.targets, self.shows])
        # numbers without gaps: pairs of label and cues that nobody shows have none
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


class Mitigator(Plugin, ABC):
    """Learns from labelled samples, some of which show a cue, how the model can do without it.

    `requires` is what the model must have, `learned` the class of what `fit` gives. With
    `changes_answers` False the model stays as it is: what is written is for its next training.
    """

    title: ClassVar[str]
    requires: ClassVar[Requirements] = Requirements(outputs=Answers.outputs)
    learned: ClassVar[type[Mitigation]]
    # `reweight` only writes weights for a training of your own (docs/mitigation.md)
    changes_answers: ClassVar[bool] = True

    def check(self, capabilities: Capabilities, names: Sequence[str | None]) -> None:
        """Raise UserError, before anything is asked, where `fit` could not help with this model.

        For more than `requires` can say; `names` are those of the cues, as in `Task`.
        """

    @abstractmethod
    def fit(self, task: Task) -> Mitigation:
        """Learn from the task, the same each time. Raises UserError where nothing can be."""

    @classmethod
    def mitigated(cls, model: Any, folder: Path, context: Context) -> Model:
        """The model with what was saved in `folder`: answers change, the rest stays.

        Raises UserError for what was made of another model.
        """
        stamp = read_stamp(folder)
        # what was learned fits the embeddings and logits of one network
        if stamp.model != model.fingerprint:
            raise UserError(
                f"mitigated={folder} was made for another model",
                expected=f"{stamp.spec} as it was when `mitigate` ran",
                got=f"another fingerprint, {model.fingerprint[:8]}",
                remedy="Run cuescope mitigate on this model",
            )
        learned = cls.learned.load(folder)
        entry = context.registry.find("mitigator", stamp.mitigator)
        # shallow: the weights are shared, and the model as it was stays usable
        changed = copy(model)
        changed.__class__ = _changed_class(
            type(model),
            learned,
            # the cache must not answer for the model as it was, nor for another fit
            fingerprint=digest(
                model.fingerprint,
                entry.name,
                # other code may answer otherwise with the same arrays
                version_with_code(entry.dist),
                *learned.content(),
            ),
            # a function of the caller has none
            options=_wider(getattr(model, "options", Options()), folder),
            name=entry.name,
            folder=folder,
        )
        return changed  # type: ignore[no-any-return]


def _changed_class(
    kind: Any,
    learned: Mitigation,
    *,
    fingerprint: str,
    options: Any,
    name: str,
    folder: Path,
) -> type:
    """A class of the model's own kind, so that all that it exposes is found as before."""

    def respond(self: Any, trials: Sequence[Trial]) -> list[Response]:
        of_model: list[Exception] = []

        def ask(asked: Sequence[Trial]) -> list[Response]:
            try:
                return list(_in_batches(self, kind.respond, asked))
            except Exception as error:
                # a readout is the mitigator's own, with what was learned
                if all(trial.readout is None for trial in asked):
                    of_model.append(error)
                raise

        try:
            return learned.answer(trials, ask) if trials else []
        except Exception as error:
            if isinstance(error, UserError) or error in of_model:
                raise
            # a stranger's arrays fit each other, and nothing else
            raise UserError(
                f"mitigated={folder} does not fit what this model answers",
                expected=WANTED,
                got=reason_of(error),
                remedy=REMEDY,
            ) from error

    def facts(self: Any) -> dict[str, str]:
        # a model may set its facts in __init__ or compute them in a property
        of_class = getattr(kind, "facts", None)
        before = (
            of_class.__get__(self)
            if isinstance(of_class, property)
            else vars(self)["facts"]
        )
        return {**before, "mitigated": f"by {name} ({options.mitigated})"}

    def capabilities(self: Any) -> Any:
        # an instance may know its capabilities better than its class
        own = vars(self).get("capabilities") or kind.capabilities
        return own.model_copy(update={"exposes": own.exposes - GONE})

    members = {
        # type() would else name this module as the place of the class
        "__module__": kind.__module__,
        "__doc__": kind.__doc__,
        "respond": respond,
        "fingerprint": property(lambda self: fingerprint),
        "facts": property(facts),
        "options": property(lambda self: options),
        "capabilities": property(capabilities),
    }
    return type(f"Mitigated{kind.__name__}", (kind,), members)


def _wider(own: Any, mitigated: Path) -> Any:
    """The model's options, and the folder that it was mitigated by."""
    wider = create_model(
        type(own).__name__,
        __base__=type(own),
        mitigated=(Path | None, mitigated),
    )
    return wider(**{field: getattr(own, field) for field in type(own).model_fields})


def _in_batches(
    model: Any,
    respond: Any,
    trials: Sequence[Trial],
) -> Iterator[Response]:
    """The model's own answers, as the engine would ask for them."""
    # a model of the caller may have been built without a context
    owner = model if hasattr(model, "batch_size") else model.context
    size = owner.batch_size
    # `answer_batch` takes trials of one readout alone
    for readout, run in groupby(trials, key=lambda trial: trial.readout):
        same = list(run)
        for start in range(0, len(same), size):
            batch = same[start : start + size]
            yield from (
                respond(model, batch) if readout is None else answer_batch(model, batch)
            )
