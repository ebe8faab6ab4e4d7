"""Prompts weighted without labels (Allingham et al., 2023): those that make the model sure.

Templates around the labels for a model with a text tower, ways of asking for one that reads
questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float, Float32
from pydantic import Field, PositiveFloat

from cuescope_mitigators.asking import (
    NAMED,
    LearnedPrompts,
    OtherWays,
    Way,
    fit_way,
    ways_of,
)
from cuescope_mitigators.reading import Trials
from cuescope_sdk import (
    Capabilities,
    Names,
    Options,
    Readout,
    Requirements,
    Response,
    Trial,
    UserError,
)
from cuescope_sdk.maths import normalise, softmax
from cuescope_sdk.mitigation import Ask, Mitigator, Task
from cuescope_sdk.models import Templates


class PromptsOptions(Options):
    """Which prompts are tried."""

    sets: Annotated[tuple[str, ...], Names.file(or_words=True)] = Field(
        ("plain", "raw", "action28"),
        min_length=1,
        description="template sets that are tried: plain, raw, action28, or files with one prompt "
        "a line, each with {label}",
    )
    sharpness: PositiveFloat = Field(
        1.0,
        description="factor on the scores before they become weights; large: the best alone",
    )
    ways: tuple[Way, ...] = Field(
        (),
        description="of a model that reads questions: how samples with a cue are asked (plain, "
        "ensemble, dual, guiding, spurious-list, spurious-top); of several the one whose answers "
        "tell most; none: all that the model and the cues' names allow",
    )


class TemplateRows(Readout):
    """Unit embeddings of each label in each template, (template, label, dim)."""

    name: ClassVar[str] = "template-rows"
    gives: ClassVar[Any] = Float32[np.ndarray, "template label dim"]
    templates: tuple[str, ...]
    labels: tuple[str, ...]

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """The same for each trial."""
        if not hasattr(model, "embed_texts"):
            raise UserError(
                "prompts: this model embeds no texts",
                expected="a model with a text tower",
                remedy="Take last-layer, which needs the embeddings alone",
            )
        templates = Templates(self.templates)
        prompts = [templates.prompts(label) for label in self.labels]
        # template by template, as the shape below cuts them up
        texts = list(chain(*zip(*prompts, strict=True)))
        rows = normalise(model.embed_texts(texts))
        shape = len(self.templates), len(self.labels), -1
        return [rows.reshape(shape).astype(np.float32)] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row for each label in each template."""
        sizes = len(self.templates), len(self.labels)
        is_table = super().accepts(array, trial)
        return is_table and array.shape[:2] == sizes and array.size > 0


class ChoiceRows(Readout):
    """What the model compares its embedding with, (label, dim)."""

    name: ClassVar[str] = "choice-rows"
    gives: ClassVar[Any] = Float32[np.ndarray, "label dim"]
    labels: tuple[str, ...]

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """The same for each trial."""
        return [np.asarray(model.embed_choices(self.labels), np.float32)] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row for each label."""
        is_table = super().accepts(array, trial)
        return is_table and len(array) == len(self.labels) and array.size > 0


@dataclass(frozen=True)
class PromptTable(LearnedPrompts):
    """One embedding a label, of weighted prompts; `weights` are those of the templates."""

    labels: tuple[str, ...]
    rows: Float[np.ndarray, "label dim"]
    templates: tuple[str, ...]
    weights: Float[np.ndarray, " template"]
    scale: float
    bias: float

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """scale * cosine + bias, as before with other texts."""

        def logits(place: int, answer: Response) -> np.ndarray:
            columns = self.columns(trials[place])
            cosine = self.rows[columns] @ np.asarray(answer.embedding)
            return np.asarray(self.scale * cosine + self.bias)

        return self.rescore(trials, ask, logits)


class Prompts(Mitigator):
    """Other words: around the labels for a text tower, of the question for a model that reads one.

    Labels of samples are not looked at.
    """

    title = "Prompts weighted without labels"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = PromptsOptions
    options: PromptsOptions
    learned = LearnedPrompts

    def check(self, capabilities: Capabilities, names: Sequence[str | None]) -> None:
        """A model of either kind, options for it, and a name where a way needs one."""
        if _compares(capabilities):
            self._refuse("ways", what="a model that reads questions")
        elif "text" in capabilities.outputs:
            self._refuse("sets", "sharpness", what="a model with a text tower")
            ways = ways_of(capabilities, names, self.options.ways)
            unnamed = sum(name is None for name in names)
            # the warnings would be left out without a word
            if unnamed and (NAMED.intersection(ways) or not self.options.ways):
                self.context.announce(
                    f"prompts: no warning of {unnamed} of {len(names)} cues "
                    f"({', '.join(sorted(NAMED))}), for they have no name; "
                    "--name cluster-03='red corner' says one"
                )
        else:
            raise UserError(
                "prompts cannot mitigate this model",
                expected="a model that compares its embedding with texts (choices), or one that "
                "reads questions and answers in words (text)",
                remedy="`cuescope plugins list` shows the other mitigators",
            )

    def fit(self, task: Task) -> LearnedPrompts:
        """Weights of the templates, or a way; raises UserError where neither is read."""
        if _compares(task.capabilities):
            return self._fit_templates(task)
        asker, way = fit_way(task, self.options.ways)
        return OtherWays(asker, way, task.router)

    def _refuse(self, *names: str, what: str) -> None:
        """Raise UserError for an option that this model has no use for."""
        for name in names:
            # an option without an effect would look as if it had been tried
            if getattr(self.options, name) != PromptsOptions.model_fields[name].default:
                raise UserError(
                    f"prompts: {name} changes nothing for this model",
                    expected=what,
                    remedy=f"Leave {name} out",
                )

    def _fit_templates(self, task: Task) -> PromptTable:
        """Weights of the templates; raises UserError where the model embeds no texts."""
        templates = tuple(dict.fromkeys(chain(*map(_templates, self.options.sets))))
        # texts do not depend on the sample that a readout is asked with
        first = task.samples[0]
        of_templates = TemplateRows(templates=templates, labels=task.labels)
        of_choices = ChoiceRows(labels=task.labels)
        answers = task.ask([of_templates.of(first), of_choices.of(first)])
        tables, choices = (np.asarray(answer.readout, np.float64) for answer in answers)
        embedding = normalise(task.embedding)
        cosine = embedding @ choices.T
        # a model does not tell them: its own answers do, as a line through its cosines
        scale, bias = np.polyfit(cosine.ravel(), task.logits.ravel(), 1)
        # a template that likes one label in all images says little: its mean goes
        logits = scale * np.einsum("sd,tld->tsl", embedding, tables)
        centred = logits - logits.mean(axis=1, keepdims=True)
        # the paper's score: how large the largest logit is, over all images
        sureness = centred.max(axis=2).mean(axis=1)
        weights = softmax(self.options.sharpness * sureness[None])[0]
        # a mean of unit rows is shorter than 1
        rows = normalise(np.einsum("t,tld->ld", weights, tables))
        return PromptTable(
            task.labels, rows, templates, weights, float(scale), float(bias)
        )


def _compares(capabilities: Capabilities) -> bool:
    """Whether texts are compared with the embedding, and no question is read."""
    return "choices" in capabilities.exposes


def _templates(name: str) -> tuple[str, ...]:
    templates = Templates.find(name, "prompts").content
    # as "pneumonia-progression", whose prompts are for two labels of its own
    if isinstance(templates, Mapping):
        raise UserError(
            f"prompts: the set {name} has prompts of its own for each label",
            expected="templates with {label}",
            remedy="Leave it out of sets",
        )
    return templates
