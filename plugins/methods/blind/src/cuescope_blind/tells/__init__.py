"""Tells: groups of columns of what options show without a look, each a way to answer by itself.

The blind learner sees all of them; a tell is the learner with all other groups left out.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cuescope_blind.questions import PerOption, Questions

# a word or text of one option says nothing of another
LEAST_OPTIONS = 2


@dataclass(frozen=True)
class Tell:
    """A group of columns; `name` completes "Taking ... is right in 31% of the questions".

    `of_places` says that an option is at one of as many places as there are options.
    """

    key: str
    name: str
    columns: Callable[[Questions], sparse.csr_array]
    of_places: bool = False


def position(questions: Questions) -> sparse.csr_array:
    """The place of each option among those of its question."""
    return _one_hot(questions, _of_count(questions, questions.position))


def length(questions: Questions) -> sparse.csr_array:
    """The rank of each option by its characters, and their number as a logarithm."""
    sizes = np.log1p([float(len(text)) for text in questions.flat_options])
    ranks = _of_count(questions, _ranks_within(questions, sizes))
    return _stack(_one_hot(questions, ranks), _scaled(questions, sizes))


def answers(questions: Questions) -> sparse.csr_array:
    """The whole text of each option, and how many options of the data have it, as a logarithm."""
    texts = questions.text_numbers
    offered = np.log(np.bincount(texts)[texts])
    return _stack(
        _one_hot(questions, questions.flat_options), _scaled(questions, offered)
    )


def words(questions: Questions) -> sparse.csr_array:
    """Words of each option and pairs of them, also by kind of question."""
    terms = []
    for kind, own in zip(_kinds(questions), questions.words, strict=True):
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(own)]
        terms.append([*own, *pairs, *(f"{kind}\t{term}" for term in (*own, *pairs))])
    return _weighted(terms)


def question_words(questions: Questions) -> sparse.csr_array:
    """Words of the question with what the option is, and the words that the option shares.

    An option is its text where another one has it too, else its place.
    """
    offered = Counter(questions.flat_options)
    terms = []
    for owner, place, text in zip(
        questions.owner.tolist(),
        questions.position.tolist(),
        questions.flat_options,
        strict=True,
    ):
        what = text if offered[text] >= LEAST_OPTIONS else f"place {place}"
        terms.append([f"{word}\t{what}" for word in set(questions.asked_words[owner])])
    shared = [
        _scaled(questions, values)
        for values in (overlap(questions), consensus(questions))
    ]
    return _stack(_weighted(terms), *shared)


def overlap(questions: Questions) -> PerOption:
    """The share of an option's words that stand in the question too."""
    strengths = np.zeros(len(questions.owner))
    for number, owner in enumerate(questions.owner.tolist()):
        own = questions.words[number]
        if own:
            asked = set(questions.asked_words[owner])
            strengths[number] = sum(word in asked for word in own) / len(own)
    return strengths


def consensus(questions: Questions) -> PerOption:
    """How much of its words an option shares with the others of its question, on average.

    The share of two options' words that both have (Jaccard, 1901). A right answer often stands in
    the middle of its own distractors: they were made by changing it.
    """
    strengths = np.zeros(len(questions.owner))
    sets = [frozenset(own) for own in questions.words]
    for start, count in zip(
        questions.starts.tolist(), questions.counts.tolist(), strict=True
    ):
        for first, second in itertools.combinations(range(start, start + count), 2):
            # two options without a word share nothing
            union = len(sets[first] | sets[second])
            if union:
                shared = len(sets[first] & sets[second]) / union / (count - 1)
                strengths[[first, second]] += shared
    return strengths


TELLS = (
    Tell(
        "position",
        "the option at the place that is oftenest right",
        position,
        of_places=True,
    ),
    Tell(
        "length",
        "the option of the length that is oftenest right",
        length,
        of_places=True,
    ),
    Tell(
        "answer-prior",
        "the option that is oftenest right in this kind of question",
        answers,
    ),
    Tell("words", "the option whose words are oftenest in right options", words),
    Tell(
        "question-words",
        "the option that is oftenest right with the words of the question",
        question_words,
    ),
)


def _kinds(questions: Questions) -> Iterator[str]:
    return (questions.kind[owner] for owner in questions.owner.tolist())


def _of_count(questions: Questions, ranks: Int[np.ndarray, " option"]) -> list[str]:
    counts = questions.counts[questions.owner]
    return [f"{rank} of {count}" for rank, count in zip(ranks, counts, strict=True)]


def _ranks_within(
    questions: Questions, values: PerOption
) -> Int[np.ndarray, " option"]:
    """How many options of its question have less than each option."""
    less = [
        np.searchsorted(np.sort(own), own)
        for own in np.split(values, questions.starts[1:])
    ]
    return np.concatenate(less)


def _one_hot(questions: Questions, texts: Sequence[str]) -> sparse.csr_array:
    """A column for each text, and one for each in each kind of question."""
    by_kind = [
        f"{kind}\t{text}" for kind, text in zip(_kinds(questions), texts, strict=True)
    ]
    # as objects: an array of texts gives each as much room as the longest
    table = np.array([texts, by_kind], dtype=object).T
    encoder = OneHotEncoder(min_frequency=LEAST_OPTIONS)
    return sparse.csr_array(encoder.fit_transform(table))


def _weighted(terms: Sequence[Sequence[str]]) -> sparse.csr_array:
    """Tf-idf of the terms of each option."""
    counts = Counter(term for own in terms for term in set(own))
    known = [[term for term in own if counts[term] >= LEAST_OPTIONS] for own in terms]
    if not any(known):
        return sparse.csr_array((len(terms), 0))
    return sparse.csr_array(TfidfVectorizer(analyzer=list).fit_transform(known))


def _scaled(questions: Questions, values: PerOption) -> sparse.csr_array:
    """A column with the mean 0 within each question and a spread of 1."""
    means = questions.sum_within(values) / questions.counts
    column = (values - means[questions.owner])[:, None]
    return sparse.csr_array(StandardScaler(with_mean=False).fit_transform(column))


def _stack(*blocks: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))
