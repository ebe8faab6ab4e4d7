"""Other words: templates around the labels for a text tower, of the question for a reader.

Templates are weighted without labels (Allingham et al., 2023): those that make the model sure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float, Float32
from pydantic import Field

from cuescope_mitigators.asking import LearnedPrompts, OtherWay, Way, require_way
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
    """Prompts that are tried."""

    sets: Annotated[tuple[str, ...], Names.file(or_words=True)] = Field(
        ("plain", "raw", "action28"),
        min_length=1,
        description="of a model with a text tower, template sets that are tried: plain, raw, "
        "action28, or files with one prompt a line, each with {label}",
    )
    way: Way = Field(
        "ensemble",
        description="of a model that reads questions: how samples with a cue are asked (ensemble, "
        "dual, guiding, spurious-list, spurious-top)",
    )


class PromptRows(Readout):
    """Unit embeddings of each label in each template, and those of the model itself last.

    (template + 1, label, dim)
    """

    name: ClassVar[str] = "prompt-rows"
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
        own = np.asarray(model.embed_choices(self.labels))
        shape = len(self.templates) + 1, len(self.labels), -1
        table = np.concatenate([rows, own]).reshape(shape).astype(np.float32)
        return [table] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row for each label in each template."""
        sizes = len(self.templates) + 1, len(self.labels)
        is_table = super().accepts(array, trial)
        return is_table and array.shape[:2] == sizes and array.size > 0


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
        """Raise UserError for a model of neither kind, and what this one has no use for."""
        unread = "way" if _compares(capabilities) else "sets"
        if unread in self.options.model_fields_set:
            # it would look as if it had been tried
            raise UserError(
                f"prompts: {unread} changes nothing for this model",
                remedy=f"Leave {unread} out",
            )
        if _compares(capabilities):
            return
        if "text" not in capabilities.outputs:
            raise UserError(
                "prompts cannot mitigate this model",
                expected="a model that compares its embedding with texts (choices), or one that "
                "reads questions and answers in words (text)",
                remedy="`cuescope plugins list` shows the other mitigators",
            )
        require_way(capabilities, names, self.options.way)

    def fit(self, task: Task) -> LearnedPrompts:
        """Weights of the templates, or a way of asking; raises UserError where it cannot be."""
        if _compares(task.capabilities):
            return self._fit_templates(task)
        require_way(task.capabilities, task.names, self.options.way)
        names = tuple(name or "" for name in task.names)
        return OtherWay(names, self.options.way, task.router)

    def _fit_templates(self, task: Task) -> PromptTable:
        """Weights of the templates; raises UserError where the model embeds no texts."""
        templates = tuple(dict.fromkeys(chain(*map(_templates, self.options.sets))))
        # texts do not depend on the sample that a readout is asked with
        readout = PromptRows(templates=templates, labels=task.labels)
        [answer] = task.ask([readout.of(task.samples[0])])
        *tables, choices = np.asarray(answer.readout, np.float64)
        embedding = normalise(task.embedding)
        cosine = embedding @ choices.T
        # a model does not tell them: its own answers do, as a line through its cosines
        scale, bias = np.polyfit(cosine.ravel(), task.logits.ravel(), 1)
        # a template that likes one label in all images says little: its mean goes
        logits = scale * np.einsum("sd,tld->tsl", embedding, tables)
        centred = logits - logits.mean(axis=1, keepdims=True)
        # the paper's score: how large the largest logit is, over all images
        sureness = centred.max(axis=2).mean(axis=1)
        weights = softmax(sureness[None])[0]
        # a mean of unit rows is shorter than 1
        rows = normalise(np.einsum("t,tld->ld", weights, tables))
        return PromptTable(
            task.labels, rows, templates, weights, float(scale), float(bias)
        )


def _compares(capabilities: Capabilities) -> bool:
    """True if texts are compared with the embedding, and no question is read."""
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
