"""From an image or sequence embedding to logits over choices: by prompts, or by a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from jaxtyping import Float

from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest
from cuescope_sdk.models._archives import require_small_archive
from cuescope_sdk.models._zero_shot.texts import Templates, TextTower

TABLE_LOGIT_SCALE = 100.0  # where CLIP's training is clipped (2021, section 2.5)


class Head:
    """Logits over named choices: scale * cosine + bias."""

    fingerprint: str
    facts: Mapping[str, str]
    uses_text_tower = False
    scale = 1.0
    bias = 0.0

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError where a choice cannot be scored."""
        raise NotImplementedError

    def rows(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Unit embeddings of the choices."""
        raise NotImplementedError


class PromptHead(Head):
    """The zero-shot head: each choice in every template, through the text tower, once."""

    uses_text_tower = True

    def __init__(
        self,
        tower: TextTower,
        name: str,
        templates: Templates,
        logit_scale: float | None,
    ) -> None:
        self._tower = tower
        self._templates = templates
        self.scale = tower.scale if logit_scale is None else logit_scale
        self.bias = tower.bias
        self._rows: dict[str, np.ndarray] = {}
        # one set of choices is asked thousands of times
        self._last: tuple[tuple[str, ...], np.ndarray] = ((), np.empty((0, tower.dim)))
        self.fingerprint = digest("prompts", templates.content, self.scale, self.bias)
        self.facts = {
            "text": f"text tower, {templates} ({name})",
            "logit scale": f"{self.scale:g}",
        }

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError for a label without prompts, where each label has its own."""
        for choice in choices:
            self._templates.prompts(choice)

    def rows(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Unit means over the templates."""
        asked = tuple(choices)
        if asked != self._last[0]:
            for choice in asked:
                if choice not in self._rows:
                    self._rows[choice] = self._tower.embed_label(
                        choice, self._templates
                    )
            self._last = asked, np.stack([self._rows[choice] for choice in asked])
        return self._last[1]


class Headless(Head):
    """An image tower alone: it embeds, and can score no choice."""

    def __init__(self, model: str) -> None:
        self._model = model
        self.fingerprint = digest("headless")
        self.facts = {"text": "none: the image tower alone"}

    def check(self, choices: Sequence[str]) -> NoReturn:
        """Raises UserError: there is nothing to name the choices with."""
        raise UserError(
            f"{self._model} has no text tower to name the choices with",
            expected="a full checkpoint, or class_embeddings",
            got="the image tower alone",
            remedy="Add -O model.class_embeddings=FILE.npz (names and unit embeddings).",
        )

    def rows(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Raises UserError."""
        self.check(choices)


class EmbeddingTable(Head):
    """A table of class embeddings in place of the text tower: an ensemble, CoOp, LiT."""

    def __init__(
        self,
        owner: str,
        source: str,
        rows: Mapping[str, Float[np.ndarray, " dim"]],
        logit_scale: float | None,
    ) -> None:
        self._owner = owner
        self._source = source
        self._rows = dict(rows)
        self.scale = TABLE_LOGIT_SCALE if logit_scale is None else logit_scale
        # of what enters an answer: the same rows in another file share the cache
        self.fingerprint = digest("table", self._rows, self.scale)
        self.facts = {
            "text": f"{len(self._rows)} class embeddings ({source})",
            "logit scale": f"{self.scale:g}",
        }

    @classmethod
    def read(
        cls,
        owner: str,
        path: Path,
        dim: int,
        logit_scale: float | None,
    ) -> "EmbeddingTable":
        """From an .npz of `names` and `embeddings` (name, dim); rows are made unit.

        Raises UserError for a file that is no such table or does not fit the image tower.
        """
        names, embeddings = read_table(path, owner)
        if embeddings.shape[1] != dim:
            raise UserError(
                f"{owner}: {path.name} does not fit the image tower",
                expected=f"embeddings of {dim} dimensions",
                got=f"{embeddings.shape[1]}",
                remedy="Take the table that was made with the same model.",
            )
        return cls(
            owner, path.name, dict(zip(names, embeddings, strict=True)), logit_scale
        )

    def check(self, choices: Sequence[str]) -> None:
        """Raises UserError for a choice that has no row."""
        unknown = [choice for choice in choices if choice not in self._rows]
        if unknown:
            raise UserError(
                f"{self._owner}: no class embedding for '{unknown[0]}' in {self._source}",
                expected="a row for every choice",
                got=f"{len(unknown)} of {len(choices)} choices without one",
                remedy=nearest(unknown[0], self._rows)
                or "Rename the labels as the table spells them, or drop class_embeddings.",
            )

    def rows(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """The table's rows."""
        self.check(choices)
        return np.stack([self._rows[choice] for choice in choices])


def read_table(
    path: Path, owner: str
) -> tuple[list[str], Float[np.ndarray, "name dim"]]:
    """Names and unit float32 rows of a class-embedding table; raises UserError."""
    if not path.is_file():
        raise UserError(
            f"{owner}: no file {path}", expected="an .npz of class embeddings"
        )
    require_small_archive(owner, path)
    try:
        # a pickle runs code of whoever made the file
        with path.open("rb") as file, np.load(file, allow_pickle=False) as table:
            names = table["names"]
            embeddings = np.asarray(table["embeddings"], np.float32)
    except (
        Exception
    ) as error:  # the reader of a stranger's bytes fails in any way it likes
        reason = f"{error}".splitlines()[:1] or [type(error).__name__]
        raise _bad_table(owner, path, reason[0]) from error
    if names.ndim != 1 or embeddings.ndim != 2 or len(names) != len(embeddings):
        raise _bad_table(owner, path, f"shapes {names.shape} and {embeddings.shape}")
    words = [str(name) for name in names]
    if len(set(words)) != len(words):  # a dict would silently keep the last of them
        raise _bad_table(owner, path, "a name twice")
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise _bad_table(owner, path, "rows that are zero or not finite")
    return words, embeddings / norms


def _bad_table(owner: str, path: Path, got: str) -> UserError:
    return UserError(
        f"{owner}: {path.name} is no table of class embeddings",
        expected="arrays `names` (name) and `embeddings` (name, dim) without pickled objects",
        got=got,
    )
