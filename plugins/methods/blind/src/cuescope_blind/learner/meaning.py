"""What options mean to a sentence encoder: a word that no other question has tells by its sense."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cuescope_blind.questions import PerOption, Questions, number_texts
from cuescope_sdk import SentenceEncoder

Columns = Float[np.ndarray, "option column"]
Rows = Float[np.ndarray, "text dim"]
# of the encoder's space; columns are dense, and a hundred thousand questions must fit in memory
DIRECTIONS = 64


def meaning_columns(questions: Questions, encoder: SentenceEncoder) -> Columns:
    """What each option means, how it goes with the question, and how alike the others are.

    In the principal directions of all options, for which no label is looked at.
    """
    of_option = number_texts(questions.raw_options)
    of_question = number_texts(questions.texts)
    # each text once: benchmarks repeat their options a thousand times
    options = _encode(encoder, sorted(set(questions.raw_options)))
    directions = principal_directions(options)
    centre = options.mean(axis=0)
    shown = of_question[questions.owner]
    # centred: what all options have in common tells none of them apart
    option = ((options - centre) @ directions)[of_option]
    question = _encode(encoder, sorted(set(questions.texts)))
    about = ((question - centre) @ directions)[shown]
    # of the whole vectors: the directions are those of options, and likeness may lie outside
    likeness = np.einsum("od,od->o", options[of_option], question[shown])
    agreement = _agreement(questions, options[of_option])
    return np.hstack([option, option * about, likeness[:, None], agreement[:, None]])


def principal_directions(rows: Rows) -> Float[np.ndarray, "dim direction"]:
    """The directions in which rows vary most (Hotelling, 1933), the first ones first."""
    centred = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.asarray(vectors[:, ::-1][:, :DIRECTIONS])


def _encode(encoder: SentenceEncoder, texts: Sequence[str]) -> Rows:
    return np.asarray(encoder.encode(texts), dtype=float)


def _agreement(questions: Questions, rows: Rows) -> PerOption:
    """The mean cosine of each option with the others of its question."""
    together = np.add.reduceat(rows, questions.starts)[questions.owner]
    others = questions.counts[questions.owner] - 1
    # without the option itself, which is always like itself
    return np.asarray(np.einsum("od,od->o", rows, together - rows) / others)


__all__ = ["meaning_columns", "principal_directions"]
