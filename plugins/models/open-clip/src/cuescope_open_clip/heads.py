"""From a sequence embedding to logits over choices: by prompts, or by a table of embeddings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float

from cuescope_open_clip.templates import templates_of
from cuescope_open_clip.texts import TextTower
from cuescope_sdk import UserError, digest, nearest

TABLE_LOGIT_SCALE = 100.0


class Head(Protocol):
    """Logits over named choices."""

    fingerprint: str
    facts: Mapping[str, str]
    uses_text_tower: bool

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError where a choice cannot be scored."""
        ...

    def logits(
        self, embedding: Float[np.ndarray, " dim"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """Scaled cosines of a unit embedding with each choice."""
        ...


class PromptHead:
    """The zero-shot head: each choice in every template, through the text tower, once."""

    facts: Mapping[str, str]
    uses_text_tower = True

    def __init__(self, tower: TextTower, templates: str, logit_scale: float | None) -> None:
        self._tower = tower
        self._templates = templates_of(templates)
        own_scale, self._bias = tower.scale_and_bias
        self._scale = own_scale if logit_scale is None else logit_scale
        self._rows: dict[str, np.ndarray] = {}
        self.fingerprint = digest("prompts", self._templates, self._scale, self._bias)
        self.facts = {
            "text": f"text tower, {len(self._templates)} templates ({Path(templates).name})",
            "logit scale": f"{self._scale:g}",
        }

    def check(self, choices: Sequence[str]) -> None:
        """Any text can be scored."""

    def logits(
        self, embedding: Float[np.ndarray, " dim"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """logit_scale * cosine + logit_bias."""
        for choice in choices:
            if choice not in self._rows:
                self._rows[choice] = self._tower.embed_label(choice, self._templates)
        rows = np.stack([self._rows[choice] for choice in choices])
        return np.asarray(self._scale * (rows @ embedding) + self._bias)


class Headless:
    """An image tower alone: it embeds, and can score no choice."""

    facts: Mapping[str, str]
    uses_text_tower = False

    def __init__(self, model: str) -> None:
        self._model = model
        self.fingerprint = digest("headless")
        self.facts = {"text": "none: the image tower alone"}

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError: there is nothing to name the choices with."""
        raise UserError(
            f"open-clip: {self._model} has no text tower to name the choices with",
            expected="a full checkpoint, or class_embeddings",
            got="the image tower alone",
            remedy="Add -M class_embeddings=FILE.npz (names and unit embeddings).",
        )

    def logits(
        self, embedding: Float[np.ndarray, " dim"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """Raises UserError."""
        self.check(choices)
        return np.zeros(0, np.float32)


class EmbeddingTable:
    """A table of class embeddings in place of the text tower: an ensemble, CoOp, LiT."""

    facts: Mapping[str, str]
    uses_text_tower = False

    def __init__(
        self, source: str, rows: Mapping[str, Float[np.ndarray, " dim"]], logit_scale: float | None
    ) -> None:
        self._source = source
        self._rows = dict(rows)
        self._scale = TABLE_LOGIT_SCALE if logit_scale is None else logit_scale
        self.fingerprint = digest("table", self._rows, self._scale)
        self.facts = {
            "text": f"{len(self._rows)} class embeddings ({source})",
            "logit scale": f"{self._scale:g}",
        }

    @classmethod
    def read(cls, path: Path, dim: int, logit_scale: float | None) -> "EmbeddingTable":
        """From an .npz of `names` and `embeddings` (name, dim); rows are made unit.

        Raises UserError for a file that is no such table or does not fit the image tower.
        """
        names, embeddings = read_table(path)
        if embeddings.shape[1] != dim:
            raise UserError(
                f"open-clip: {path.name} does not fit the image tower",
                expected=f"embeddings of {dim} dimensions",
                got=f"{embeddings.shape[1]}",
                remedy="Take the table that was made with the same model.",
            )
        return cls(path.name, dict(zip(names, embeddings, strict=True)), logit_scale)

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError for a choice that has no row."""
        unknown = [choice for choice in choices if choice not in self._rows]
        if unknown:
            raise UserError(
                f"open-clip: no class embedding for '{unknown[0]}' in {self._source}",
                expected="a row for every choice",
                got=f"{len(unknown)} of {len(choices)} choices without one",
                remedy=nearest(unknown[0], self._rows)
                or "Rename the labels as the table spells them, or drop class_embeddings.",
            )

    def logits(
        self, embedding: Float[np.ndarray, " dim"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """logit_scale * cosine."""
        self.check(choices)
        rows = np.stack([self._rows[choice] for choice in choices])
        return np.asarray(self._scale * (rows @ embedding))


def check_sources(templates: str, class_embeddings: Path | None) -> None:
    """Raises UserError for templates or a table that cannot be read, before any weights load."""
    if class_embeddings is None:
        templates_of(templates)
    else:
        read_table(class_embeddings)


def read_table(path: Path) -> tuple[list[str], Float[np.ndarray, "name dim"]]:
    """Names and unit float32 rows of a class-embedding table; raises UserError."""
    if not path.is_file():
        raise UserError(f"open-clip: no file {path}", expected="an .npz of class embeddings")
    try:
        with np.load(path, allow_pickle=False) as table:
            names, embeddings = table["names"], np.asarray(table["embeddings"], np.float32)
    except (ValueError, KeyError, OSError, BadZipFile, AttributeError, TypeError) as error:
        raise _bad_table(path, f"{error}".splitlines()[0]) from error
    if names.ndim != 1 or embeddings.ndim != 2 or len(names) != len(embeddings):
        raise _bad_table(path, f"shapes {names.shape} and {embeddings.shape}")
    words = [str(name) for name in names]
    if len(set(words)) != len(words):
        raise _bad_table(path, "a name twice")
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise _bad_table(path, "rows that are zero or not finite")
    return words, embeddings / norms


def _bad_table(path: Path, got: str) -> UserError:
    return UserError(
        f"open-clip: {path.name} is no table of class embeddings",
        expected="arrays `names` (name) and `embeddings` (name, dim) without pickled objects",
        got=got,
    )
