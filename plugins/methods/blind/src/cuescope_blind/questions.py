"""Questions as arrays: all options of all questions in one row, question after question."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from cuescope_sdk import Sample, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups

PerOption = Float[np.ndarray, " option"]
PerQuestion = Float[np.ndarray, " question"]
OneAQuestion = Int[np.ndarray, " question"]
Codes = Int[np.ndarray, " option"]

# letters of any script, and numbers with their point
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
# scripts that set no space between words: a letter stands for a word
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# the same question with the same options, so often or less, is a copy; more often a template
# three is a choice: with four copies of each question a benchmark looks easier
COPIES = 3


@dataclass(frozen=True, eq=False)
class Questions:
    """What is asked, the options, and which of them is right (`right`, from 0).

    `groups` are the videos. `kind` is the kind of question, its first word where no kind is known.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    right: OneAQuestion
    kind: tuple[str, ...]
    groups: Groups

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Questions":
        """Those of samples that have a label and two choices or more.

        Raises UserError where there are none.
        """
        # by key: folds are the same in whatever order samples come
        ordered = sorted(samples, key=lambda sample: sample.key)
        usable = [s for s in ordered if s.label is not None and len(s.choices) > 1]
        if not usable:
            raise UserError(
                "blind: there is nothing to answer",
                expected="questions with two options or more and a right answer",
                got=f"none in {count_of(len(samples), 'samples')}",
            )
        # the first of equal texts: a sample tells its answers apart by text
        right = []
        kinds = []
        for sample in usable:
            right.append(sample.choices.index(str(sample.label)))
            text = sample.question or ""
            kinds.append(
                str(sample.annotations.get("question_type") or first_word(text))
            )
        return cls(
            keys=tuple(sample.key for sample in usable),
            texts=tuple(sample.question or "" for sample in usable),
            options=tuple(sample.choices for sample in usable),
            right=np.array(right),
            kind=tuple(kinds),
            # where the data name no video, each question counts by itself
            groups=Groups.of(usable),
        )

    def __len__(self) -> int:
        return len(self.options)

    @cached_property
    def counts(self) -> OneAQuestion:
        """How many options each question has."""
        return np.array([len(options) for options in self.options])

    @cached_property
    def starts(self) -> OneAQuestion:
        """The place of each question's first option."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    @cached_property
    def owner(self) -> Int[np.ndarray, " option"]:
        """The question of each option."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def position(self) -> Int[np.ndarray, " option"]:
        """The place of each option among those of its question, from 0."""
        return np.asarray(np.arange(len(self.owner)) - self.starts[self.owner])

    @cached_property
    def chance(self) -> PerQuestion:
        """What guessing gives on each question."""
        return np.asarray(1 / self.counts)

    @cached_property
    def kind_codes(self) -> OneAQuestion:
        """The number of each question's kind, in the order of their names."""
        return number_texts(self.kind)

    @cached_property
    def flat_options(self) -> list[str]:
        """The text of every option, without case and outer spaces."""
        texts = chain.from_iterable(self.options)
        return [text.casefold().strip(" .") for text in texts]

    @cached_property
    def text_numbers(self) -> Int[np.ndarray, " option"]:
        """The number of the text of every option, in the order of the alphabet."""
        return number_texts(self.flat_options)

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of every option."""
        return [words_of(text) for text in self.flat_options]

    @cached_property
    def asked_words(self) -> list[list[str]]:
        """The words of every question."""
        return [words_of(text) for text in self.texts]

    @cached_property
    def fold_groups(self) -> Groups:
        """The videos, and copies of a question joined with what they are copies of.

        A question that comes with the same options up to `COPIES` times is taken for a copy; one
        that comes more often is a template, asked of many videos.
        """
        # a set: a copy may have its options in another order
        asked = [
            (text, frozenset(options))
            for text, options in zip(self.texts, self.options, strict=True)
        ]
        # templates joined would be one group, and nothing could be held out
        times = Counter(asked)
        keys = [
            question if times[question] <= COPIES else number
            for number, question in enumerate(asked)
        ]
        # for folds alone: intervals are over videos all the same
        return joined_groups(self.groups, keys)

    def most_within(self, values: PerOption) -> PerQuestion:
        """The largest value of each question."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    def sum_within(self, values: PerOption) -> PerQuestion:
        """The sum of each question."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def softmax(self, values: PerOption) -> PerOption:
        """Softmax within each question."""
        # exp would overflow
        shifted = values - self.most_within(values)[self.owner]
        powers = np.exp(shifted)
        return np.asarray(powers / self.sum_within(powers)[self.owner])

    def is_right(self, right: OneAQuestion | None = None) -> PerOption:
        """1 for the right option of each question, 0 for others."""
        right = self.right if right is None else right
        values = np.zeros(len(self.owner))
        values[self.starts + right] = 1.0
        return values


def joined_groups(groups: Groups, keys: Sequence[Hashable]) -> Groups:
    """Groups that share no key, each of as many groups as are joined by one."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    # a node for each group, and one for each key
    own = groups.count + np.array([numbers[key] for key in keys])
    nodes = groups.count + len(numbers)
    entries = (np.ones(len(keys)), (groups.codes, own))
    edges = sparse.coo_array(entries, shape=(nodes, nodes))
    joined, component = connected_components(edges, directed=False)
    # every key is of a group, so no component is of keys alone
    return Groups(component[groups.codes], int(joined), groups.declared)


def number_texts(texts: Sequence[str]) -> Int[np.ndarray, " text"]:
    """The number of each text, equal ones the same, in the order of the alphabet."""
    # an array of texts, as `np.unique` makes it, gives each as much room as the longest
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([numbers[text] for text in texts], dtype=np.int64)


def first_word(text: str) -> str:
    """The first word of a question: "why", "how"; "" where there is none."""
    words = words_of(text)
    return words[0] if words else ""


def words_of(text: str) -> list[str]:
    """Words and numbers in order, in lower case; of scripts without spaces each letter."""
    # else a whole sentence would be one word, and share none with another
    spaced = _WITHOUT_SPACES.sub(lambda match: f" {match[0]} ", text.casefold())
    return _WORD.findall(spaced)


def deal_folds(groups: Groups, folds: int, rng: np.random.Generator) -> OneAQuestion:
    """The fold of each question: whole groups, dealt by chance; no more folds than groups."""
    from sklearn.model_selection import GroupKFold

    seed = int(rng.integers(np.iinfo(np.int32).max))
    split = GroupKFold(min(folds, groups.count), shuffle=True, random_state=seed)
    fold = np.zeros(len(groups.codes), dtype=np.int64)
    for number, (_, held_out) in enumerate(split.split(fold, groups=groups.codes)):
        fold[held_out] = number
    return fold
