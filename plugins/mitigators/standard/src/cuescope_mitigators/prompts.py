"""Prompts weighted without labels (Allingham et al., 2023): those that make the model sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field, PositiveFloat

from cuescope_sdk import Options, Readout, Requirements, Response, Trial, UserError
from cuescope_sdk.maths import normalise, softmax
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Task, columns_of, rescored
from cuescope_sdk.models import fill, templates_of


class PromptsOptions(Options):
    """Which prompts are tried."""

    sets: tuple[str, ...] = Field(
        ("plain", "raw", "action28"),
        min_length=1,
        description="template sets that are tried: plain, raw, action28, or files with one prompt "
        "a line, each with {label}",
    )
    sharpness: PositiveFloat = Field(
        1.0, description="factor on the scores before they become weights; large: the best alone"
    )


class TemplateRows(Readout):
    """Unit embeddings of each label in each template, (template, label, dim)."""

    name: ClassVar[str] = "template-rows"
    templates: tuple[str, ...]
    labels: tuple[str, ...]

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for each trial."""
        if not hasattr(model, "embed_texts"):
            raise UserError(
                "prompts: this model embeds no texts",
                expected="a model with a text tower",
                remedy="Take last-layer, which needs the embeddings alone",
            )
        texts = [fill(template, label) for template in self.templates for label in self.labels]
        rows = normalise(model.embed_texts(texts))
        shape = len(self.templates), len(self.labels), -1
        return [rows.reshape(shape).astype(np.float32)] * len(trials)


class ChoiceRows(Readout):
    """What the model compares its embedding with, (label, dim)."""

    name: ClassVar[str] = "choice-rows"
    labels: tuple[str, ...]

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for each trial."""
        return [np.asarray(model.embed_choices(self.labels), np.float32)] * len(trials)


@dataclass(frozen=True)
class PromptTable(Mitigation):
    """One embedding a label, of weighted prompts; `weights` are those of the templates."""

    labels: tuple[str, ...]
    rows: Float[np.ndarray, "label dim"]
    templates: tuple[str, ...]
    weights: Float[np.ndarray, " template"]
    scale: float
    bias: float

    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """scale * cosine + bias, as before with other texts."""

        def logits(place: int, answer: Response) -> np.ndarray:
            rows = self.rows[columns_of(trials[place].sample.choices, self.labels)]
            return np.asarray(self.scale * (rows @ np.asarray(answer.embedding)) + self.bias)

        return rescored(trials, ask, logits)


class Prompts(Mitigator):
    """The label's texts change, nothing else; labels of samples are not looked at."""

    title = "Prompts weighted without labels"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}), exposes=frozenset({"choices"}), labels=2
    )
    Options = PromptsOptions
    options: PromptsOptions
    learned = PromptTable

    def fit(self, task: Task) -> PromptTable:
        """Weights of the templates; raises UserError where the model embeds no texts."""
        sets = (templates_of(name, "prompts") for name in self.options.sets)
        templates = tuple(dict.fromkeys(each for of_set in sets for each in of_set))
        first = task.samples[0]
        of_templates, of_choices = task.ask(
            [
                TemplateRows(templates=templates, labels=task.labels).of(first),
                ChoiceRows(labels=task.labels).of(first),
            ]
        )
        tables = np.asarray(of_templates.readout, np.float64)
        embedding = normalise(task.embedding)
        cosine = embedding @ np.asarray(of_choices.readout, np.float64).T
        scale, bias = np.polyfit(cosine.ravel(), task.logits.ravel(), 1)
        # a template that likes one label in all images says little: its mean goes
        logits = scale * np.einsum("sd,tld->tsl", embedding, tables)
        sureness = (logits - logits.mean(axis=1, keepdims=True)).max(axis=2).mean(axis=1)
        weights = softmax(self.options.sharpness * sureness[None])[0]
        rows = normalise(np.einsum("t,tld->ld", weights, tables))
        return PromptTable(task.labels, rows, templates, weights, float(scale), float(bias))
