"""The text tower: sentences to unit embeddings, labels to prompt ensembles."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from jaxtyping import Float
from pydantic import Field, TypeAdapter

from cuescope_core.amounts import count_of
from cuescope_core.errors import UserError, nearest

if TYPE_CHECKING:  # listing plugins must not pay for it
    from torch import Tensor
    from torch.nn import Module

SLOT = "{label}"
# of MS-CXR-T; TRoVe's appendix C prints the prompts of pneumonia
FINDINGS = ("consolidation", "edema", "pleural effusion", "pneumonia", "pneumothorax")
PROGRESSION = {
    "improving": "better, cleared, decreased, decreasing, improved, improving, reduced, resolved, "
    "resolving, smaller",
    "worsening": "bigger, developing, enlarged, enlarging, greater, growing, increased, "
    "increasing, larger, new, progressing, progressive, worse, worsened, worsening",
}

ByLabel = dict[str, Annotated[tuple[str, ...], Field(min_length=1)]]
PROMPTS: TypeAdapter[ByLabel] = TypeAdapter(Annotated[ByLabel, Field(min_length=1)])


@dataclass(frozen=True)
class Templates:
    """How labels become texts: templates that hold {label}, or prompts of each label's own."""

    content: tuple[str, ...] | Mapping[str, tuple[str, ...]]

    @classmethod
    def find(
        cls,
        name: str,
        owner: str,
        more: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """A named set, or a file.

        "plain" is "a photo of a {label}.", "raw" the text as it stands, "action28" TRoVe's
        appendix C, spelled as printed ("a example of"); "pneumonia-progression" and the like of
        other findings are its prompts for "improving" and "worsening". `more` are sets that a
        library carries; `owner` is the plugin that speaks in errors. A file has a template with
        `{label}` a line, or is JSON with a list of prompts for each label.
        """
        named = {
            "plain": (f"a photo of a {SLOT}.",),
            "raw": (SLOT,),
            "action28": _action_templates(),
            **(more or {}),
        }
        if name in named:
            return cls(tuple(named[name]))
        own = {
            f"{finding.replace(' ', '-')}-progression": finding for finding in FINDINGS
        }
        if name in own:
            return cls(_progression_prompts(own[name]))
        return cls(_from_file(name, owner, (*named, *own)))

    def __str__(self) -> str:
        count = len(self.content)
        if isinstance(self.content, Mapping):
            return f"prompts for {count_of(count, 'labels')}"
        return f"{count} templates"

    def prompts(self, label: str) -> list[str]:
        """The prompts of a label; raises UserError where the set has none for it."""
        content = self.content
        if not isinstance(content, Mapping):
            # not str.format: labels and prompts may hold braces
            return [template.replace(SLOT, label) for template in content]
        if label not in content:
            raise UserError(
                f"the set of prompts has none for '{label}'",
                expected=f"one of {', '.join(content)}",
                remedy=nearest(label, content)
                or "Other labels need -O model.templates=FILE.json",
            )
        return list(content[label])


def _progression_prompts(finding: str) -> dict[str, tuple[str, ...]]:
    """TRoVe's prompts for a finding that gets better or worse (appendix C), by label."""
    return {
        label: tuple(f"{finding} is {word}" for word in words.split(", "))
        for label, words in PROGRESSION.items()
    }


def _action_templates() -> tuple[str, ...]:
    """The 28 templates for actions (TRoVe, appendix C): 4 media times 7 wordings."""
    media = ("photo", "video", "example", "demonstration")
    # the paper's order
    verbs = ("", "using ", "doing ", "during ", "performing ", "practicing ")
    wordings = ["", *(f"a person {verb}" for verb in verbs)]
    return tuple(
        f"a {medium} of {wording}{SLOT}."
        for medium, wording in product(media, wordings)
    )


def _from_file(
    name: str,
    owner: str,
    named: tuple[str, ...],
) -> tuple[str, ...] | ByLabel:
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(
            f"{owner}: no template set or file '{name}'",
            expected=f"{', '.join(named)}, or a file",
            remedy=nearest(name, named),
        )
    if path.suffix == ".json":
        return _by_label(path, owner)
    templates = []
    for number, line in enumerate(
        path.read_text(encoding="utf-8").splitlines(), start=1
    ):
        template = line.strip()
        if not template:
            continue
        if SLOT not in template:
            raise UserError(
                f"{owner}: line {number} of {name} has no place for the label",
                expected=f"{SLOT} in every template",
                got=f"'{template}'",
            )
        templates.append(template)
    if not templates:
        raise UserError(f"{owner}: {name} holds no template", expected="one a line")
    return tuple(templates)


def _by_label(path: Path, owner: str) -> ByLabel:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{owner}: {path.name} is no JSON", got=str(error)[:80]
        ) from error
    try:
        return PROMPTS.validate_python(content)
    except ValueError as error:
        raise UserError(
            f"{owner}: prompts of {path.name}",
            expected='{"label": ["prompt", ...], ...}',
        ) from error


# ------------------------------------------------------------------------------------------- texts


CHUNK = 128  # texts: 1000 classes in 80 templates would not fit at once


def unit_mean(rows: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " dim"]:
    """Mean of unit rows, made unit: a sequence from its frames, a class from its prompts.

    TRoVe (section 5.1) says of frames only "the mean of its constituent image-level embeddings".
    Rows come normalised, so that none outweighs the others by its norm, which in CLIP follows
    the content; the mean is normalised again because logits are cosines. For prompts it is the
    ensemble of Radford et al. (2021).
    """
    # an ensemble of 80 near-equal rows loses digits in float32
    return unit(rows.mean(axis=0, dtype=np.float64))


def unit(vector: Float[np.ndarray, "*rows dim"]) -> Float[np.ndarray, "*rows dim"]:
    """Rows of length 1, float32; a row of zeros stays."""
    norms = np.linalg.norm(vector, axis=-1, keepdims=True)
    # norms in the rows' own precision, as CLIP's code has it, unlike maths.normalise
    return np.asarray(vector / np.maximum(norms, 1e-12), dtype=np.float32)


@dataclass(frozen=True)
class PromptTower:
    """A text tower whose word vectors can be learned (CoOp, Zhou et al., 2022).

    `tokenize` gives "input_ids" (text, token) and what else the tower takes; `embedding` is the
    module that takes ids to vectors (text, token, width), and `encode` takes all through it to
    unnormalised rows (text, dim), with gradients. Cosines times `scale` plus `bias` are the model's
    logits.
    """

    tokenize: Callable[[list[str]], Mapping[str, "Tensor"]]
    embedding: "Module"
    encode: Callable[[Mapping[str, "Tensor"]], "Tensor"]
    scale: float
    bias: float


@dataclass(frozen=True)
class TextTower:
    """A model's text encoder: `encode` takes a few texts to unnormalised rows (text, dim).

    Cosines times `scale` plus `bias` are the model's logits (bias is 0 but for SigLIP). `prompts`
    opens the tower for learning, where it can be learned through.
    """

    encode: Callable[[list[str]], Float[np.ndarray, "text dim"]]
    dim: int
    scale: float
    bias: float = 0.0
    prompts: Callable[[], PromptTower] | None = None

    def embed(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit float32 rows of the texts as they stand, without a template."""
        if not texts:
            # numpy cannot concatenate an empty list
            return np.zeros((0, self.dim), np.float32)
        starts = range(0, len(texts), CHUNK)
        rows = [
            unit(self.encode(list(texts[start : start + CHUNK]))) for start in starts
        ]
        return np.concatenate(rows)

    def embed_label(
        self,
        label: str,
        templates: Templates,
    ) -> Float[np.ndarray, " dim"]:
        """Unit mean of the unit embeddings of a label's prompts (Radford et al., 2021)."""
        return unit_mean(self.embed(templates.prompts(label)))
